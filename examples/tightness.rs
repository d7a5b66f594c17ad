//! How near the tests of one channel come to what is late: writes the table in `docs/analysis.md`.
//!
//! `cargo run --release --example tightness` takes a minute or two; with a number behind `--`, that
//! many sets of each kind instead of 40.

use std::fmt::Write;
use std::{error::Error, fs};

use rayon::prelude::*;
use rtflash::alloc::Work;
use rtflash::alloc::allocator::{Allocator, EqualSplit};
use rtflash::alloc::analysis::Stripe;
use rtflash::alloc::certified::certify;
use rtflash::model::random::Stream;
use rtflash::model::{Device, DeviceSpec, LogicalRatio, Placement, Reliance, Request, Span, Task, TaskSet};
use rtflash::run::climb::channel::{ChannelModel, ChannelTask, ChannelTies, ChannelWork, UnitTimes};
use rtflash::run::climb::rows::OnChannel;
use rtflash::run::climb::{Effort, climb};

/// Of the device, in units of 10 µs: t_r and t_d are those of `dgist-2021`. Programs are shorter.
const TIMES: UnitTimes = UnitTimes { t_r: 5, t_w: 20, t_d: 4, t_e: 40 };

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
        let spec = Device::profile("dgist-2021")?.spec();
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
        let alone = self.pages * (TIMES.t_r + TIMES.t_d);
        let (mut failing, mut passing) = (alone - 1, 64 * alone);
        if !self.is_accepted(passing, granted) {
            return None;
        }
        while failing + 1 < passing {
            let middle = i128::midpoint(failing, passing);
            if self.is_accepted(middle, granted) { passing = middle } else { failing = middle }
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
            let effort = Effort { seed: 1, starts: 24, moves: 60, until_late: true };
            climb(&OnChannel::new(model, 3 * period), 0, effort).is_late()
        };
        let alone = self.pages * (TIMES.t_r + TIMES.t_d);
        let step = (below / 200).max(1);
        let mut periods = (0..).map(|steps| below - 1 - steps * step).take_while(|&period| period >= alone - 1);
        periods.find(is_late)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let each: u64 = std::env::args().nth(1).map_or(Ok(40), |number| number.parse())?;
    let mut text = String::from("| test | reads alone: mean, least | with writes: mean, least |\n|---|---|---|\n");
    let kinds: Vec<Vec<[f64; 3]>> = [false, true]
        .map(|writes| {
            let tightness = |number: u64| {
                let channel = Channel::draw(number, writes);
                let [nothing, neighbours, queue] = Reliance::ALL.map(|granted| channel.shortest(granted));
                let late = channel.late(queue?)? as f64;
                Some([late / nothing? as f64, late / neighbours? as f64, late / queue? as f64])
            };
            (0..each).into_par_iter().filter_map(tightness).collect()
        })
        .into();
    for (test, name) in ["(T)", "(T')", "(T'')"].into_iter().enumerate() {
        let columns = kinds.iter().map(|sets| {
            let of = || sets.iter().map(|set| set[test]);
            let mean = of().sum::<f64>() / sets.len() as f64;
            format!("{mean:.3}, {:.3}", of().fold(f64::INFINITY, f64::min))
        });
        writeln!(text, "| {name} | {} |", columns.collect::<Vec<String>>().join(" | "))?;
    }
    let counts: Vec<String> = kinds.iter().map(|sets| sets.len().to_string()).collect();
    writeln!(text, "\nOf {each} sets of each kind these were accepted at some period: {}.", counts.join(" and "))?;
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/analysis.md");
    let page = fs::read_to_string(document)?;
    let (start, end) = ("<!-- tightness -->\n", "<!-- /tightness -->");
    let from = page.find(start).ok_or("no mark")? + start.len();
    let to = from + page[from..].find(end).ok_or("no mark")?;
    fs::write(document, format!("{}{text}{}", &page[..from], &page[to..]))?;
    Ok(())
}
