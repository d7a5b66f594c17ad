//! The necessary terms of (T''): the table of that name in docs/analysis.md, Section 6.1. Each set
//! is accepted by (T'') without one of its terms, or runs on a device without one of its rules.
//! Each set is late in a run.

#![allow(non_snake_case)] // The document's letters.

mod plain;

use rtflash_analysis::Work;
use rtflash_analysis::certified::{Contention, Demand, DemandVerdict, Processor, SharedBus};
use rtflash_lab::climb::{
    ClimbOptions,
    channel::{ChannelModel, ChannelTask, ChannelTies, ChannelWork, Chips},
    climb,
    rows::{LeftOutOfRow, OnChannel, Row, TABLE},
};
use rtflash_model::{Device, DeviceSpec, LogicalRatio, Placement, Request, Span};

use plain::Plain;

const fn reads(pages: i128, T: i128) -> ChannelTask {
    ChannelTask { work: ChannelWork::Read(pages), T }
}

const fn writes(pages: i128, T: i128) -> ChannelTask {
    ChannelTask { work: ChannelWork::Write(pages), T }
}

/// An older row of σ. Chip 0 needs 21 · 27 = 567 even without a neighbour, more than its period.
const SIGMA_OF_ONE_ALONE: Row = Row {
    left_out: LeftOutOfRow::Term("sigma-of-one"),
    times: [17, 17, 10, 6],
    chips: &[&[reads(21, 539)], &[reads(3, 187)]],
};

/// The neighbours program, σ > φ and W2 < W1: all terms of W2 and W3 count. This set is for the
/// comparison alone.
const WRITERS: Row = Row {
    left_out: LeftOutOfRow::Term("sum-fresh"),
    times: [8, 9, 4, 4],
    chips: &[&[reads(400, 20_000)], &[reads(400, 20_000), writes(5, 4_000)], &[reads(390, 20_000), writes(4, 5_000)]],
};

/// (T'') for these chips, with all its terms.
fn all_terms<'a>(row: &Row, chips: Chips<'a>) -> Plain<'a> {
    Plain { times: row.times(), chips, left_out: None }
}

/// Looks for arrivals with which a job of chip 0 is late.
fn is_late(channel: ChannelModel, T: i128) -> bool {
    let options = ClimbOptions { seed: 1, starts: 100, moves: 100, until_late: true };
    climb(&OnChannel::new(channel, 3 * T), 0, options).is_late()
}

/// Whether every chip passes.
fn all_accepted(test: &Plain) -> bool {
    (0..test.chips.len()).all(|i| test.accepts(i))
}

#[test]
fn each_set_is_accepted_without_the_term_and_late() {
    for row in TABLE.iter().chain([&SIGMA_OF_ONE_ALONE]) {
        let test = all_terms(row, row.chips);
        if row.left_out.term().is_none() {
            assert!(all_accepted(&test), "{row:?}");
        } else {
            // Chip 0 fails at its period. All other chips pass.
            assert!(test.dbf(0, row.T()) + test.B(0, row.T()) > row.T() && !test.accepts(0), "{row:?}");
            assert!((1..row.chips.len()).all(|i| test.accepts(i)), "{row:?}");
            assert!(all_accepted(&Plain { left_out: row.left_out.term(), ..test }), "{row:?}");
        }
        assert!(is_late(row.channel(), row.T()), "{row:?}");
    }
}

/// The rows are those of the table beside the document, one for one.
#[test]
fn the_document_has_these_rows() {
    let table = include_str!("../../../../docs/analysis/necessity.csv");
    let printed: Vec<&str> = table.lines().skip(1).collect();
    assert_eq!(printed.len(), TABLE.len());
    for (line, row) in printed.iter().zip(TABLE) {
        let times = row.times.map(|time| time.to_string()).join(", ");
        let cells = format!(",{},\"{times}\",", row.chips.len());
        let (_, tasks) = line.split_once(&cells).unwrap_or_else(|| panic!("{line} has no {cells}"));
        let numbers: Vec<&str> = tasks.split(|letter: char| !letter.is_ascii_digit()).collect();
        for task in row.chips.iter().flat_map(|tasks| tasks.iter()) {
            let (ChannelWork::Read(pages) | ChannelWork::Write(pages) | ChannelWork::Collect(pages)) = task.work;
            let is_there = |number: i128| number == 0 || numbers.contains(&number.to_string().as_str());
            assert!(is_there(pages) && is_there(task.T), "{line}: {task:?}");
        }
    }
}

/// If nothing is left out, the same search finds nothing late. Rows that leave out a rule run with
/// the rule. The others run with the least period of chip 0 at which (T'') accepts the set.
#[test]
fn with_all_terms_nothing_is_late() {
    for row in TABLE.iter().chain([&SIGMA_OF_ONE_ALONE]) {
        let accepted = (row.T()..2 * row.T()).find_map(|T| {
            let chip_0: Vec<ChannelTask> = row.chips[0]
                .iter()
                .map(|task| if task.T == row.T() { ChannelTask { T, ..*task } } else { *task })
                .collect();
            let mut chips = row.chips.to_vec();
            chips[0] = &chip_0;
            let by_the_rules = ChannelModel {
                times: row.times(),
                chips: &chips,
                ties: ChannelTies::Fixed,
                others_sense: row.times().t_r,
            };
            all_accepted(&all_terms(row, &chips)).then(|| (T, is_late(by_the_rules, T)))
        });
        let (T, late) = accepted.expect("a period at which it is accepted");
        assert_eq!(T == row.T(), row.left_out.term().is_none(), "{row:?}");
        assert!(!late, "T = {T}: {row:?}");
    }
}

fn device(times: [u16; 4], chips: usize) -> Device {
    let [t_r, t_w, t_d, t_e] = times.map(|time| Span::from_ns(time.into()).expect("a time"));
    let chips = u32::try_from(chips).expect("few");
    let spec = Device::profile("dgist-2021").expect("a profile").spec();
    let spec = DeviceSpec { chips, chips_per_channel: chips, logical_ratio: LogicalRatio::HALF, ..spec };
    Device::new(DeviceSpec { page_read: t_r, page_program: t_w, page_transfer: t_d, block_erase: t_e, ..spec })
        .expect("a device")
}

/// A chip's tasks as the library has them, a unit of time as a nanosecond. `None` if collection is
/// among them.
fn library_tasks(tasks: &[ChannelTask]) -> Option<Vec<rtflash_model::Task>> {
    let request = |pages: i128, T: i128| {
        let period = Span::from_ns(u64::try_from(T).expect("a time"))?;
        Request::new(u64::try_from(pages).expect("a count"), period)
    };
    let task = |task: &ChannelTask| {
        let (read, write) = match task.work {
            ChannelWork::Read(pages) => (request(pages, task.T), None),
            ChannelWork::Write(pages) => (None, request(pages, task.T)),
            ChannelWork::Collect(_) => return None,
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
        let (device, plain) = (device(row.times, chips.len()), all_terms(row, row.chips));
        let all = u32::try_from(chips.len()).expect("few");
        let bus = SharedBus { ways: 1, most: all, foreign: all - 1, most_foreign: all - 1 };
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
    assert_eq!(compared, 25, "the chips of ten sets");
}
