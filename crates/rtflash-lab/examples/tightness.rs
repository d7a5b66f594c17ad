//! How near the tests of one channel come to late sets: writes `docs/tests/tightness.csv`.
//!
//! `cargo run --release -p rtflash-lab --example tightness` takes more than 26 minutes on one busy core. Behind
//! `--`: how many sets of each kind, 40 where nothing is said; and the rows to write (`stripes`,
//! `registers`, `superblocks`, `commands`, `zones`), all where none is named.

use std::{error::Error, fs};

use rayon::prelude::*;
use rtflash_alloc::allocator::{Allocator, EqualSplit};
use rtflash_analysis::certified::{Certification, certify};
use rtflash_analysis::{Analysis, Stripe, Work, analysis_relying_on};
use rtflash_lab::climb::channel::{ChannelModel, ChannelTask, ChannelTies, ChannelWork, UnitTimes};
use rtflash_lab::climb::rows::OnChannel;
use rtflash_lab::climb::{ClimbOptions, OnExecutor, climb};
use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Allocation, Cluster, Device, DeviceSpec, Instant, LogicalRatio, Placement, Reliance, Request, Span, Task,
    TaskSet,
};
use rtflash_plan::Options;

/// The device's times in units of 10 µs: t_r and t_d are those of `dgist-2021`. Programs are
/// shorter.
const TIMES: UnitTimes = UnitTimes { t_r: 5, t_w: 20, t_d: 4, t_e: 40 };

/// How long a climber goes on at each period.
const OPTIONS: ClimbOptions = ClimbOptions { seed: 1, starts: 24, moves: 60, until_late: true };

/// Chips of one channel, the first of which is looked at.
struct Channel {
    /// Pages that the first chip reads at a time.
    pages: i128,
    others: Vec<Vec<ChannelTask>>,
}

impl Channel {
    fn draw(number: u64, writes: bool) -> Channel {
        let mut random = Stream::numbered(1, if writes { b"writers-" } else { b"readers-" }, number);
        let mut within = |low: u64, high: u64| i128::from(low + random.below(high - low + 1));
        let pages = within(4, 40);
        let others = (0..3).map(|_| {
            let read = within(1, 40);
            // Between a tenth and half of the chip's time, bus apart.
            let mut tasks = vec![ChannelTask { work: ChannelWork::Read(read), T: read * 9 * within(20, 100) / 10 }];
            if writes {
                let write = within(1, 4);
                tasks.push(ChannelTask { work: ChannelWork::Write(write), T: write * 24 * within(50, 200) / 10 });
            }
            tasks
        });
        Channel { pages, others: others.collect() }
    }

    fn first(&self, period: i128) -> Vec<ChannelTask> {
        vec![ChannelTask { work: ChannelWork::Read(self.pages), T: period }]
    }

    /// As a set of the library, the first chip's task last.
    fn set(&self, period: i128) -> Option<TaskSet> {
        self.set_on(Device::profile("dgist-2021")?.spec(), period, 1, Access::Random)
    }

    /// As a set on the device `spec` with other times and chips: a unit is `unit` nanoseconds, and
    /// writes are of the access `writes`.
    fn set_on(&self, spec: DeviceSpec, period: i128, unit: i128, writes: Access) -> Option<TaskSet> {
        let span = |time: i128| Span::from_ns(u64::try_from(time * unit).ok()?);
        let [page_read, page_program, page_transfer, block_erase] =
            [TIMES.t_r, TIMES.t_w, TIMES.t_d, TIMES.t_e].map(span);
        let spec = DeviceSpec {
            chips: 4,
            chips_per_channel: 4,
            logical_ratio: LogicalRatio::from_decimal(1, 1).ok()?,
            page_read: page_read?,
            page_program: page_program?,
            page_transfer: page_transfer?,
            block_erase: block_erase?,
            ..spec
        };
        let task = |tasks: &[ChannelTask]| {
            let mut task = Task { name: "chip".into(), read: None, write: None, data_pages: None };
            for ChannelTask { work, T } in tasks {
                let period = span(*T)?;
                match work {
                    ChannelWork::Read(pages) => task.read = Request::new(u64::try_from(*pages).ok()?, period),
                    ChannelWork::Write(pages) => {
                        let write = Request::new(u64::try_from(*pages).ok()?, period);
                        task.write = write.map(|write| write.with_access(writes));
                    }
                    ChannelWork::Collect(_) => return None,
                }
            }
            Some(task)
        };
        let first = self.first(period);
        let named = self.others.iter().map(Vec::as_slice).chain([first.as_slice()]).enumerate();
        let tasks = named.map(|(number, tasks)| Some(Task { name: format!("chip-{number}"), ..task(tasks)? }));
        TaskSet::new(Device::new(spec).ok()?, tasks.collect::<Option<Vec<Task>>>()?, vec![]).ok()
    }

    fn is_accepted(&self, period: i128, granted: Reliance) -> bool {
        let Some(set) = self.set(period) else { return false };
        let analysis = Stripe::relying_on(granted);
        let Some(clusters) = EqualSplit.allocate(&set, &analysis).allocation().map(|found| found.clusters()) else {
            return false;
        };
        let placements = vec![Placement::Stripe; clusters.len()];
        certify(&set, &clusters, &placements, granted, &Work::new()).failing.is_empty()
    }

    /// The shortest period of the first chip with which the channel is accepted.
    fn shortest(&self, granted: Reliance) -> Option<i128> {
        self.shortest_accepted(self.pages * (TIMES.t_r + TIMES.t_d), &|period| self.is_accepted(period, granted))
    }

    /// The shortest period, no shorter than one, with which something is accepted.
    fn shortest_accepted(&self, least: i128, is_accepted: &dyn Fn(i128) -> bool) -> Option<i128> {
        let (mut failing, mut passing) = (least - 1, 64 * self.pages * (TIMES.t_r + TIMES.t_d));
        if !is_accepted(passing) {
            return None;
        }
        while failing + 1 < passing {
            let middle = i128::midpoint(failing, passing);
            if is_accepted(middle) { passing = middle } else { failing = middle }
        }
        Some(passing)
    }

    /// The longest period below this one with which a run is found in which the first chip is late.
    fn late(&self, below: i128) -> Option<i128> {
        let is_late = |&period: &i128| {
            let first = self.first(period);
            let chips: Vec<&[ChannelTask]> =
                [first.as_slice()].into_iter().chain(self.others.iter().map(Vec::as_slice)).collect();
            let model = ChannelModel { times: TIMES, chips: &chips, ties: ChannelTies::Fixed, others_sense: TIMES.t_r };
            climb(&OnChannel::new(model, 3 * period), 0, OPTIONS).is_late()
        };
        periods(below, self.pages * (TIMES.t_r + TIMES.t_d) - 1).find(is_late)
    }
}

/// From below one period down to the least, in steps of half a percent.
fn periods(below: i128, least: i128) -> impl Iterator<Item = i128> {
    let step = (below / 200).max(1);
    (0..).map(move |steps| below - 1 - steps * step).take_while(move |&period| period >= least)
}

/// The executor's view of a channel: the first chip, or two chips in its place as a superblock,
/// beside stripes.
#[derive(Clone, Copy)]
struct Organised {
    first: Placement,
    others: Placement,
    registers: u32,
    /// The command of each operation, in tenths of a unit.
    command: u64,
}

impl Organised {
    const STRIPES: Organised =
        Organised { first: Placement::Stripe, others: Placement::Stripe, registers: 1, command: 0 };
    const COMMANDS: Organised = Organised { command: 1, ..Organised::STRIPES };
    const CACHED_STRIPES: Organised =
        Organised { first: Placement::CachedStripe, others: Placement::CachedStripe, registers: 2, command: 0 };
    const SUPERBLOCK: Organised = Organised { first: Placement::Superblock, ..Organised::STRIPES };
    const CACHED_SUPERBLOCK: Organised = Organised { first: Placement::CachedSuperblock, ..Organised::CACHED_STRIPES };
    const ZONES: Organised = Organised { first: Placement::Zoned, others: Placement::Zoned, ..Organised::STRIPES };

    /// Nanoseconds of a unit.
    fn unit(self) -> i128 {
        if self.command > 0 { 10 } else { 1 }
    }

    /// The channel with enough others that all chips have a task.
    fn channel(self, number: u64, writes: bool) -> Channel {
        let mut channel = Channel::draw(number, writes);
        channel.others.truncate(if self.first.is_by_chip() { 3 } else { 2 });
        channel
    }

    /// As [`Channel::set`], with few blocks, as each run makes a page map of them.
    fn set(self, channel: &Channel, period: i128) -> Option<TaskSet> {
        let spec = Device::profile("dgist-2021")?.spec();
        let page_registers = Some(self.registers);
        let command = if self.command > 0 { Some(Span::from_ns(self.command)?) } else { None };
        // Zones are written by streams, and are so short that they are reset within a run.
        let (writes, pages_per_block) =
            if self.others == Placement::Zoned { (Access::Stream, 4) } else { (Access::Random, 64) };
        let spec = DeviceSpec { blocks_per_chip: 64, pages_per_block, page_size: 512, page_registers, command, ..spec };
        channel.set_on(spec, period, self.unit(), writes)
    }

    /// The clusters, the first chip's last, and what is certified of them.
    fn certified(self, set: &TaskSet, granted: Reliance) -> (Vec<Cluster>, Certification) {
        let last = u32::try_from(set.tasks().len()).expect("four at most") - 1;
        let mut clusters: Vec<Cluster> = (0..last).map(|task| Cluster::of([task], [task])).collect();
        clusters.push(Cluster::of(last..4, [last]));
        let mut placements = vec![self.others; clusters.len() - 1];
        placements.push(self.first);
        let found = certify(set, &clusters, &placements, granted, &Work::new());
        (clusters, found)
    }

    /// By which the channel is run.
    fn analysis(self, granted: Reliance) -> &'static dyn Analysis {
        let name = if self.others == Placement::Zoned { "zoned" } else { "stripe" };
        analysis_relying_on(name, granted).expect("an analysis of that name")
    }

    /// No page is read faster, however little waits.
    fn least(self, channel: &Channel) -> i128 {
        let cached = TIMES.t_r.max(TIMES.t_d);
        channel.pages * if self.registers > 1 { cached } else { TIMES.t_r + TIMES.t_d }
    }

    /// The shortest period of the first chip with which the channel is accepted.
    fn shortest(self, channel: &Channel, granted: Reliance) -> Option<i128> {
        let is_accepted = |period: i128| {
            let set = self.set(channel, period);
            set.is_some_and(|set| self.certified(&set, granted).1.failing.is_empty())
        };
        channel.shortest_accepted(self.least(channel), &is_accepted)
    }

    /// As [`Channel::late`], by the certificates of the shortest period that is accepted: a task
    /// that only reads has no numbers in them.
    fn late(self, channel: &Channel, shortest: i128, granted: Reliance) -> Option<i128> {
        let set = self.set(channel, shortest)?;
        let (clusters, found) = self.certified(&set, granted);
        let allocation = Allocation::new(4, set.tasks().len(), &clusters).ok()?.with_certificates(found.certificates);
        let is_late = |&period: &i128| {
            let run = || {
                let set = self.set(channel, period)?;
                let duration = Instant::from_ns(u64::try_from(3 * period * self.unit()).ok()?)?;
                let options = Options { duration, ..Options::default() };
                let unit = Span::from_ns(u64::try_from(self.unit()).ok()?)?;
                let on = OnExecutor::new(&set, &allocation, self.analysis(granted), options, unit).ok()?;
                let watched = on.names().position(|name| name == format!("chip-{}.read", clusters.len() - 1))?;
                Some(climb(&on, watched, OPTIONS).is_late())
            };
            run().expect("what is certified can be run")
        };
        periods(shortest, self.least(channel) - 1).find(is_late)
    }
}

/// A line for each test: its name, and of each kind of sets the part of the load that it accepts.
type Lines = Vec<(&'static str, [Vec<f64>; 2])>;

/// The tests of stripes with one register, on a plain simulation.
fn on_channels(each: u64) -> Lines {
    let kinds = [false, true].map(|writes| {
        let tightness = |number: u64| {
            let channel = Channel::draw(number, writes);
            let [nothing, neighbours, queue] = Reliance::ALL.map(|granted| channel.shortest(granted));
            let late = channel.late(queue?)? as f64;
            Some([late / nothing? as f64, late / neighbours? as f64, late / queue? as f64])
        };
        (0..each).into_par_iter().filter_map(tightness).collect::<Vec<[f64; 3]>>()
    });
    let of = |test: usize| kinds.each_ref().map(|sets| sets.iter().map(|set| set[test]).collect());
    vec![("(T)", of(0)), ("(T')", of(1)), ("(T'')", of(2))]
}

/// Tests on the executor, each by what it relies on, the sharpest last.
fn on_executor(organised: Organised, tests: &[(&'static str, Reliance)], each: u64) -> Lines {
    let kinds = [false, true].map(|writes| {
        let tightness = |number: u64| {
            let channel = organised.channel(number, writes);
            let shortest = |&(_, granted): &(&str, Reliance)| organised.shortest(&channel, granted);
            let periods = tests.iter().map(shortest).collect::<Option<Vec<i128>>>()?;
            let late = organised.late(&channel, *periods.last()?, tests.last()?.1)? as f64;
            Some(periods.into_iter().map(|period| late / period as f64).collect())
        };
        (0..each).into_par_iter().filter_map(tightness).collect::<Vec<Vec<f64>>>()
    });
    let of = |test: usize| kinds.each_ref().map(|sets| sets.iter().map(|set| set[test]).collect());
    tests.iter().enumerate().map(|(test, &(name, _))| (name, of(test))).collect()
}

/// A line of the table: mean and least of each kind, and of how many sets.
fn row((name, kinds): &(&str, [Vec<f64>; 2])) -> String {
    let columns = kinds.each_ref().map(|sets| {
        let mean = sets.iter().sum::<f64>() / sets.len() as f64;
        let least = sets.iter().copied().fold(f64::INFINITY, f64::min);
        format!("{},{mean:.3},{least:.3}", sets.len())
    });
    format!("{}{}", cell(name), columns.join(","))
}

/// The first cell of a line, with the comma behind it.
fn cell(name: &str) -> String {
    if name.contains(',') { format!("\"{name}\",") } else { format!("{name},") }
}

/// The lines of a table with these in the place of those of the same name, or behind them.
fn with_rows(table: &str, lines: &Lines) -> String {
    let mut rows: Vec<String> = table.lines().map(str::to_owned).collect();
    for line in lines {
        let of_name = rows.iter().position(|row| row.starts_with(&cell(line.0)));
        match of_name {
            Some(position) => rows[position] = row(line),
            None => rows.push(row(line)),
        }
    }
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// Rows of the table by what they are of, which is their name behind `--`.
type Part = (&'static str, fn(u64) -> Lines);

const NOTHING: Reliance = Reliance::Nothing;
const NEIGHBOURS: Reliance = Reliance::Neighbours;

const PARTS: [Part; 5] = [
    ("stripes", on_channels),
    ("registers", |each| {
        on_executor(Organised::CACHED_STRIPES, &[("(T2), nothing relied on", NOTHING), ("(T2)", NEIGHBOURS)], each)
    }),
    ("superblocks", |each| {
        let single = [("(T), superblock", NOTHING), ("(T'), superblock", NEIGHBOURS)];
        let mut lines = on_executor(Organised::SUPERBLOCK, &single, each);
        lines.extend(on_executor(Organised::CACHED_SUPERBLOCK, &[("(T2), superblock", NOTHING)], each));
        lines
    }),
    ("commands", |each| {
        let (nobodys, known) = (("(T), commands of 1 µs", NOTHING), ("(T'), commands of 1 µs", NEIGHBOURS));
        on_executor(Organised::COMMANDS, &[nobodys, known, ("(T''), commands of 1 µs", Reliance::Queue)], each)
    }),
    ("zones", |each| on_executor(Organised::ZONES, &[("(T), zones", NOTHING), ("(T'), zones", NEIGHBOURS)], each)),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let each = arguments.next_if(|word| word.parse::<u64>().is_ok()).map_or(Ok(40), |number| number.parse())?;
    let wanted: Vec<String> = arguments.collect();
    for (name, lines) in PARTS {
        if !wanted.is_empty() && wanted.iter().all(|word| word != name) {
            continue;
        }
        eprintln!("{name} …");
        let lines = lines(each);
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tests/tightness.csv");
        fs::write(path, with_rows(&fs::read_to_string(path)?, &lines))?;
    }
    Ok(())
}
