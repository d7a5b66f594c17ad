//! What is necessary in (T''): the table of that name in docs/analysis.md, Section 6.1. Each set is
//! accepted by (T'') without one of its parts, or runs on a device without one of its rules. Each
//! set is late in a run.

#![allow(non_snake_case)] // The document's letters.

mod channel;
#[path = "necessary/plain.rs"]
mod plain;

use channel::{Arrivals, Channel, Chips, Task, Ties, Times};
use plain::{Part, Plain};
use rtflash_alloc::Work;
use rtflash_alloc::certified::{Contention, Demand, DemandVerdict, Processor, SharedBus};
use rtflash_model::{Device, DeviceSpec, LogicalRatio, Placement, Request, Span};

/// A row of the table.
#[derive(Debug)]
struct Row {
    left_out: Part,
    /// t_r, t_w, t_d and t_e.
    times: [i128; 4],
    chips: Chips<'static>,
}

const fn reads(pages: i128, T: i128) -> Task {
    Task { work: channel::Work::Read(pages), T }
}

const fn writes(pages: i128, T: i128) -> Task {
    Task { work: channel::Work::Write(pages), T }
}

/// So many copies and an erase, which stand for garbage collection.
const fn collects(copies: i128, T: i128) -> Task {
    Task { work: channel::Work::Collect(copies), T }
}

const fn row(left_out: Part, times: [i128; 4], chips: Chips<'static>) -> Row {
    Row { left_out, times, chips }
}

#[rustfmt::skip] // A row of the table is a line.
const TABLE: &[Row] = &[
    row(Part::MinE, [10, 10, 8, 6], &[&[reads(5, 112)], &[reads(1, 42)]]),
    row(Part::SumE, [8, 4, 4, 4], &[&[reads(15, 214)], &[reads(1, 28)], &[reads(50, 36_000)]]),
    row(Part::J, [4, 4, 4, 4], &[&[reads(12, 153), collects(0, 21)], &[reads(60, 4_000)]]),
    row(Part::R, [4, 4, 4, 4], &[&[reads(60, 740)], &[reads(140, 36_000), writes(1, 33)], &[reads(140, 36_000)]]),
    row(Part::SigmaOfOne, [17, 17, 10, 6], &[&[reads(12, 325)], &[reads(3, 36_000)]]),
    row(Part::Q3, [4, 1, 4, 4], &[&[reads(6, 92)], &[reads(44, 36_000)], &[reads(44, 36_000)]]),
    row(Part::Q4, [4, 8, 4, 4], &[&[reads(7, 168), collects(7, 168)], &[reads(48, 36_000)]]),
];

/// An older row of σ. Chip 0 needs 21 · 27 = 567 even without a neighbour, more than its period.
const SIGMA_OF_ONE_ALONE: Row = row(Part::SigmaOfOne, [17, 17, 10, 6], &[&[reads(21, 539)], &[reads(3, 187)]]);

/// The neighbours program, σ > φ and W2 < W1: all parts of W2 count. This set is for the comparison
/// alone.
const WRITERS: Row = row(
    Part::SumE,
    [8, 9, 4, 4],
    &[&[reads(400, 20_000)], &[reads(400, 20_000), writes(5, 4_000)], &[reads(390, 20_000), writes(4, 5_000)]],
);

impl Row {
    fn times(&self) -> Times {
        let [t_r, t_w, t_d, t_e] = self.times;
        Times { t_r, t_w, t_d, t_e }
    }

    /// (T'') for these chips, with all its parts.
    fn all_parts<'a>(&self, chips: Chips<'a>) -> Plain<'a> {
        Plain { times: self.times(), chips, left_out: None }
    }

    /// The channel with these chips, on a device that keeps all rules.
    fn channel<'a>(&self, chips: Chips<'a>) -> Channel<'a> {
        Channel { times: self.times(), chips, ties: Ties::Fixed, others_sense: self.times().t_r }
    }

    /// Whether the row leaves out a rule of the device, and no part of the test.
    fn is_rule(&self) -> bool {
        matches!(self.left_out, Part::Q3 | Part::Q4)
    }

    /// The row's channel, on a device without the rule that the row leaves out.
    fn channel_without(&self) -> Channel<'_> {
        let channel = self.channel(self.chips);
        match self.left_out {
            Part::Q3 => Channel { others_sense: 0, ..channel },
            Part::Q4 => Channel { ties: Ties::ByTurns, ..channel },
            _ => channel,
        }
    }

    /// Chip 0's period of reads, T.
    fn T(&self) -> i128 {
        self.chips[0][0].T
    }
}

/// Random numbers (xorshift) from a fixed seed.
struct Rng(u64);

impl Rng {
    /// From 0 to `bound` − 1.
    fn below(&mut self, bound: i128) -> i128 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        i128::from(self.0) % bound
    }
}

/// Looks for arrivals with which a job of chip 0 is late, and by how much. The search climbs
/// towards late ends from random phases within two periods of chip 0.
///
/// The first half of the starts is strictly periodic. In the second half each task may come up to 8
/// units later each time, since requests are *at least* a period apart. The row of φ min E_j needs
/// that.
fn late(channel: &Channel) -> Option<(Vec<Arrivals>, i128)> {
    const STARTS: u32 = 100;
    const MOVES: u32 = 100;
    let tasks: Vec<Task> = channel.chips.iter().copied().flatten().copied().collect();
    let T = channel.chips[0].iter().map(|task| task.T).max().expect("a task");
    let mut rng = Rng(1);
    for start in 0..STARTS {
        let max_more = if start < STARTS / 2 { 0 } else { 8 };
        let phase = |rng: &mut Rng, task: &Task| rng.below(task.T.min(2 * T));
        let mut best: Vec<Arrivals> =
            tasks.iter().map(|task| Arrivals { first: phase(&mut rng, task), more: rng.below(max_more + 1) }).collect();
        let mut latest = channel.run(&best, 3 * T);
        for _ in 0..MOVES {
            if latest.chip_0 > 0 {
                assert!(latest.others <= 0, "chip 0 is the first to be late: {latest:?}");
                return Some((best, latest.chip_0));
            }
            let mut next = best.clone();
            let moved = usize::try_from(rng.below(tasks.len() as i128)).expect("small");
            match rng.below(3) {
                0 => next[moved].first = phase(&mut rng, &tasks[moved]),
                1 => next[moved].first = (next[moved].first + rng.below(9) - 4).max(0),
                _ => next[moved].more = rng.below(max_more + 1),
            }
            let found = channel.run(&next, 3 * T);
            if found.chip_0 >= latest.chip_0 {
                (best, latest) = (next, found);
            }
        }
    }
    None
}

/// Whether every chip passes.
fn all_accepted(test: &Plain) -> bool {
    (0..test.chips.len()).all(|i| test.accepts(i))
}

#[test]
fn each_set_is_accepted_without_the_part_and_late() {
    for row in TABLE.iter().chain([&SIGMA_OF_ONE_ALONE]) {
        let test = row.all_parts(row.chips);
        if row.is_rule() {
            assert!(all_accepted(&test), "{row:?}");
        } else {
            // Chip 0 fails at its period. All other chips pass.
            assert!(test.dbf(0, row.T()) + test.B(0, row.T()) > row.T() && !test.accepts(0), "{row:?}");
            assert!((1..row.chips.len()).all(|i| test.accepts(i)), "{row:?}");
            assert!(all_accepted(&Plain { left_out: Some(row.left_out), ..test }), "{row:?}");
        }
        assert!(late(&row.channel_without()).is_some(), "{row:?}");
    }
}

/// If nothing is left out, the same search finds nothing late. Rows that leave out a rule run with
/// the rule. The others run with the least period of chip 0 at which (T'') accepts the set.
#[test]
fn with_all_parts_nothing_is_late() {
    for row in TABLE.iter().chain([&SIGMA_OF_ONE_ALONE]) {
        let accepted = (row.T()..2 * row.T()).find_map(|T| {
            let chip_0: Vec<Task> =
                row.chips[0].iter().map(|task| if task.T == row.T() { Task { T, ..*task } } else { *task }).collect();
            let mut chips = row.chips.to_vec();
            chips[0] = &chip_0;
            all_accepted(&row.all_parts(&chips)).then(|| (T, late(&row.channel(&chips))))
        });
        let (T, late) = accepted.expect("a period at which it is accepted");
        assert_eq!(T == row.T(), row.is_rule(), "{row:?}");
        assert!(late.is_none(), "T = {T}: {late:?}, {row:?}");
    }
}

fn device(times: [i128; 4], chips: usize) -> Device {
    let [t_r, t_w, t_d, t_e] = times.map(|time| Span::from_ns(u64::try_from(time).expect("a time")).expect("a time"));
    let chips = u32::try_from(chips).expect("few");
    let spec = Device::profile("dgist-2021").expect("a profile").spec();
    let spec = DeviceSpec { chips, chips_per_channel: chips, logical_ratio: LogicalRatio::HALF, ..spec };
    Device::new(DeviceSpec { page_read: t_r, page_program: t_w, page_transfer: t_d, block_erase: t_e, ..spec })
        .expect("a device")
}

/// A chip's tasks as the library has them, a unit of time as a nanosecond. `None` if collection is
/// among them.
fn library_tasks(tasks: &[Task]) -> Option<Vec<rtflash_model::Task>> {
    let request = |pages: i128, T: i128| {
        let period = Span::from_ns(u64::try_from(T).expect("a time"))?;
        Request::new(u64::try_from(pages).expect("a count"), period)
    };
    let task = |task: &Task| {
        let (read, write) = match task.work {
            channel::Work::Read(pages) => (request(pages, task.T), None),
            channel::Work::Write(pages) => (None, request(pages, task.T)),
            channel::Work::Collect(_) => return None,
        };
        Some(rtflash_model::Task { name: "task".into(), read, write, data_pages: None })
    };
    tasks.iter().map(task).collect()
}

/// The library's (T'') is the plain one on the sets that it can express: those without collection.
#[test]
fn the_library_agrees() {
    let mut compared = 0;
    for row in TABLE.iter().chain([&SIGMA_OF_ONE_ALONE, &WRITERS]) {
        let Some(chips) = row.chips.iter().map(|tasks| library_tasks(tasks)).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let (device, plain) = (device(row.times, chips.len()), row.all_parts(row.chips));
        let all = u32::try_from(chips.len()).expect("few");
        let bus = SharedBus { ways: 1, most: all, foreign: all - 1 };
        let unit = |tasks, bus| Processor::new(&device, tasks, 1, Placement::Stripe, bus).expect("a unit");
        for (i, tasks) in chips.iter().enumerate() {
            let mut contention = Contention::new(&device);
            for (_, tasks) in chips.iter().enumerate().filter(|(j, _)| *j != i) {
                contention.add(&unit(tasks, SharedBus::alone()), None, 1);
            }
            let contention = contention.in_a_queue(&device, 0);
            let unit = unit(tasks, bus);
            let work = Work::new();
            let demand = Demand::new(&unit, &contention, None, 0, &work);
            for L in (1..3_000).chain((3_000..100_000).step_by(500)) {
                let length = u64::try_from(L).ok().and_then(Span::from_ns).expect("a length");
                assert_eq!(Ok(demand.at(length).as_ns()), plain.dbf(i, L).try_into(), "chip {i}, {L}: {row:?}");
                assert_eq!(i128::from(demand.blocking(length).as_ns()), plain.B(i, L), "chip {i}, {L}: {row:?}");
            }
            assert_eq!(demand.test() == DemandVerdict::Holds, plain.accepts(i), "chip {i}: {row:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 18, "the chips of seven sets");
}
