//! How near the tests of one channel come to what is late: writes the tables in `docs/analysis.md`.
//!
//! `cargo run --release --example tightness` takes 26 minutes on one busy core; with a number
//! behind `--`, that many sets of each kind instead of 40.

use std::fmt::Write;
use std::{error::Error, fs};

use rayon::prelude::*;
use rtflash::alloc::Work;
use rtflash::alloc::allocator::{Allocator, EqualSplit};
use rtflash::alloc::analysis::Stripe;
use rtflash::alloc::certified::{Certification, certify};
use rtflash::exec::Options;
use rtflash::model::random::Stream;
use rtflash::model::{
    Allocation, Cluster, Device, DeviceSpec, Instant, LogicalRatio, Placement, Reliance, Request, Span, Task, TaskSet,
};
use rtflash::run::climb::channel::{ChannelModel, ChannelTask, ChannelTies, ChannelWork, UnitTimes};
use rtflash::run::climb::rows::OnChannel;
use rtflash::run::climb::{Effort, OnExecutor, climb};

/// Of the device, in units of 10 µs: t_r and t_d are those of `dgist-2021`. Programs are shorter.
const TIMES: UnitTimes = UnitTimes { t_r: 5, t_w: 20, t_d: 4, t_e: 40 };

/// How long a climber goes on at each period.
const EFFORT: Effort = Effort { seed: 1, starts: 24, moves: 60, until_late: true };

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
        self.set_on(Device::profile("dgist-2021")?.spec(), period)
    }

    /// The same on a device like this one, but for its times and its chips.
    fn set_on(&self, spec: DeviceSpec, period: i128) -> Option<TaskSet> {
        let [page_read, page_program, page_transfer, block_erase] =
            [TIMES.t_r, TIMES.t_w, TIMES.t_d, TIMES.t_e].map(|time| Span::from_ns(u64::try_from(time).ok()?));
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
                let period = Span::from_ns(u64::try_from(*T).ok()?)?;
                match work {
                    ChannelWork::Read(pages) => task.read = Request::new(u64::try_from(*pages).ok()?, period),
                    ChannelWork::Write(pages) => task.write = Request::new(u64::try_from(*pages).ok()?, period),
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
            climb(&OnChannel::new(model, 3 * period), 0, EFFORT).is_late()
        };
        periods(below, self.pages * (TIMES.t_r + TIMES.t_d) - 1).find(is_late)
    }
}

/// From below one period down to the least, in steps of half a percent.
fn periods(below: i128, least: i128) -> impl Iterator<Item = i128> {
    let step = (below / 200).max(1);
    (0..).map(move |steps| below - 1 - steps * step).take_while(move |&period| period >= least)
}

/// What the executor runs of a channel: the first chip, or two chips in its place as a superblock,
/// beside stripes.
#[derive(Clone, Copy)]
struct Organised {
    first: Placement,
    others: Placement,
    registers: u32,
}

impl Organised {
    const CACHED_STRIPES: Organised =
        Organised { first: Placement::CachedStripe, others: Placement::CachedStripe, registers: 2 };
    const SUPERBLOCK: Organised = Organised { first: Placement::Superblock, others: Placement::Stripe, registers: 1 };
    const CACHED_SUPERBLOCK: Organised =
        Organised { first: Placement::CachedSuperblock, others: Placement::CachedStripe, registers: 2 };

    /// The channel with so many others that all chips have a task.
    fn channel(self, number: u64, writes: bool) -> Channel {
        let mut channel = Channel::draw(number, writes);
        channel.others.truncate(if self.first.is_by_chip() { 3 } else { 2 });
        channel
    }

    /// As [`Channel::set`], with few blocks, as each run makes a page map of them.
    fn set(self, channel: &Channel, period: i128) -> Option<TaskSet> {
        let spec = Device::profile("dgist-2021")?.spec();
        let page_registers = Some(self.registers);
        let spec = DeviceSpec { blocks_per_chip: 64, pages_per_block: 64, page_size: 512, page_registers, ..spec };
        channel.set_on(spec, period)
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

    /// As [`Channel::late`], by the certificates of the shortest period that is accepted: whoever
    /// reads alone has no numbers in them.
    fn late(self, channel: &Channel, shortest: i128, granted: Reliance) -> Option<i128> {
        let set = self.set(channel, shortest)?;
        let (clusters, found) = self.certified(&set, granted);
        let allocation = Allocation::new(4, set.tasks().len(), &clusters).ok()?.with_certificates(found.certificates);
        let is_late = |&period: &i128| {
            let run = || {
                let set = self.set(channel, period)?;
                let duration = Instant::from_ns(u64::try_from(3 * period).ok()?)?;
                let options = Options { duration, ..Options::default() };
                let analysis = Stripe::relying_on(granted);
                let on = OnExecutor::new(&set, &allocation, &analysis, options, Span::NANOSECOND).ok()?;
                let watched = on.names().position(|name| name == format!("chip-{}.read", clusters.len() - 1))?;
                Some(climb(&on, watched, EFFORT).is_late())
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

/// Mean and least of each kind, and of how many sets.
fn table(lines: &Lines) -> Result<String, Box<dyn Error>> {
    let mut text = String::from("| test | reads alone: sets, mean, least | with writes: sets, mean, least |\n");
    text += "|---|---|---|\n";
    for (name, kinds) in lines {
        let columns = kinds.each_ref().map(|sets| {
            let mean = sets.iter().sum::<f64>() / sets.len() as f64;
            let least = sets.iter().copied().fold(f64::INFINITY, f64::min);
            format!("{}, {mean:.3}, {least:.3}", sets.len())
        });
        writeln!(text, "| {name} | {} |", columns.join(" | "))?;
    }
    Ok(text)
}

fn main() -> Result<(), Box<dyn Error>> {
    let each: u64 = std::env::args().nth(1).map_or(Ok(40), |number| number.parse())?;
    let mut lines = on_channels(each);
    let (nothing, neighbours) = (Reliance::Nothing, Reliance::Neighbours);
    let stripes = [("(T2), nothing relied on", nothing), ("(T2)", neighbours)];
    lines.extend(on_executor(Organised::CACHED_STRIPES, &stripes, each));
    let superblocks = [("(T), superblock", nothing), ("(T'), superblock", neighbours)];
    lines.extend(on_executor(Organised::SUPERBLOCK, &superblocks, each));
    lines.extend(on_executor(Organised::CACHED_SUPERBLOCK, &[("(T2), superblock", nothing)], each));
    let text = table(&lines)?;
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/analysis.md");
    let page = fs::read_to_string(document)?;
    let (start, end) = ("<!-- tightness -->\n", "<!-- /tightness -->");
    let from = page.find(start).ok_or("no mark")? + start.len();
    let to = from + page[from..].find(end).ok_or("no mark")?;
    fs::write(document, format!("{}{text}{}", &page[..from], &page[to..]))?;
    Ok(())
}
