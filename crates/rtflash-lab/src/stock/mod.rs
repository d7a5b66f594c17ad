//! `stock` before a small drive, event by event.
//!
//! The executor serves by deadlines, which a stock drive does not know; so this is one: a page map,
//! an open block, whole passes, and two queues. It has the rules of docs/baselines.md and no more:
//! it says whether the arithmetic holds for a drive that works so, and nothing of drives that are
//! bought. Sets are brought to the limit of the test. Each is run many times, under random
//! adversaries or under a climber.

mod drive;
mod limit;
mod memory;
mod told;

use rayon::prelude::*;
use rtflash_model::{Task, TaskSet};

pub use drive::{StockCheck, StockFinding};

use rtflash_model::random::Stream;
use rtflash_run::soak::SoakWatch;

/// Runs of each set.
pub const STOCK_RUNS: u64 = 16;

/// The settings of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StockSearch {
    /// The seed of the randomness.
    pub seed: u64,
    /// The term that is left out of the test.
    pub left_out: Option<&'static str>,
    /// Whether releases are not drawn but moved towards late ends.
    pub climbs: bool,
}

/// A check that failed.
#[derive(Debug)]
pub struct StockBroken {
    /// In how many runs.
    pub runs: u64,
    /// The first of these.
    pub first: u64,
    /// The set with the fewest requests and pages in which it did.
    pub smallest: TaskSet,
    /// The finding in that.
    pub finding: StockFinding,
}

/// The outcome of a search.
#[derive(Debug)]
pub struct StockSoaked {
    /// Cases that are over: fewer than asked for if the search was stopped.
    pub cases: u64,
    /// Sets that the test accepts.
    pub sets: u64,
    /// Runs of them.
    pub runs: u64,
    /// Passes of garbage collection in these; of a climb those of its last run.
    pub passes: u64,
    /// The checks that failed, in the order of [`StockCheck::ALL`].
    pub broken: Vec<StockBroken>,
}

#[derive(Debug, Clone, Copy)]
struct StockCount {
    runs: u64,
    first: u64,
    /// Requests and pages of the smallest set, the run, and what was found there.
    smallest: (u64, u64, StockFinding),
}

impl StockCount {
    fn join(self, other: StockCount) -> StockCount {
        let key = |of: &StockCount| (of.smallest.0, of.smallest.1);
        StockCount {
            runs: self.runs + other.runs,
            first: self.first.min(other.first),
            smallest: if key(&other) < key(&self) { other.smallest } else { self.smallest },
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct StockTally {
    cases: u64,
    sets: u64,
    runs: u64,
    passes: u64,
    broken: [Option<StockCount>; StockCheck::ALL.len()],
}

impl StockTally {
    fn join(mut self, other: StockTally) -> StockTally {
        self.cases += other.cases;
        self.sets += other.sets;
        self.runs += other.runs;
        self.passes += other.passes;
        for (one, more) in self.broken.iter_mut().zip(other.broken) {
            *one = match (*one, more) {
                (Some(one), Some(more)) => Some(one.join(more)),
                (one, more) => one.or(more),
            };
        }
        self
    }
}

/// At the limit; `None` where it is accepted at no load, or also with the term left out.
pub fn stock_set(search: StockSearch, number: u64) -> Option<TaskSet> {
    let set = limit::at_limit(search.left_out, &mut Stream::numbered(search.seed, b"stock\0\0\0", number))?;
    let shows = search.left_out.is_none() || !limit::accepts(None, &set);
    shows.then_some(set)
}

/// The check that breaks in this run of a set, if any does, and the passes of garbage collection.
pub fn stock_run(search: StockSearch, set: &TaskSet, run: u64) -> (Option<StockFinding>, u64) {
    let mut rng = Stream::numbered(search.seed, b"drive\0\0\0", run);
    if search.climbs {
        return told::climbed(usize::from(run % 2 == 1), set, &mut rng);
    }
    let mut drive = limit::by_chance(set, &mut rng);
    let broken = drive.run();
    (broken, drive.passes)
}

/// Draws `runs` cases, [`STOCK_RUNS`] of each set, on the current rayon pool, and judges them.
/// `watch` observes the search, and can stop it.
pub fn soak_stock(search: StockSearch, runs: u64, watch: &dyn SoakWatch) -> StockSoaked {
    let of = |number: u64| {
        let tally = run_set(search, number);
        watch.over(STOCK_RUNS);
        StockTally { cases: STOCK_RUNS, ..tally }
    };
    // Begun in order: a search that is stopped is one of fewer cases.
    let numbers = (0..runs.div_ceil(STOCK_RUNS)).take_while(|_| !watch.stops());
    let StockTally { cases, sets, runs, passes, broken } =
        numbers.par_bridge().map(of).reduce(StockTally::default, StockTally::join);
    let broken = broken.into_iter().flatten().filter_map(|of| {
        let (_, run, finding) = of.smallest;
        let smallest = stock_set(search, run / STOCK_RUNS)?;
        Some(StockBroken { runs: of.runs, first: of.first, smallest, finding })
    });
    StockSoaked { cases, sets, runs, passes, broken: broken.collect() }
}

fn run_set(search: StockSearch, number: u64) -> StockTally {
    let Some(set) = stock_set(search, number) else { return StockTally::default() };
    let size = set.tasks().iter().flat_map(Task::requests).map(|(request, _)| 100 + request.pages()).sum();
    let mut tally = StockTally { sets: 1, ..StockTally::default() };
    for run in number * STOCK_RUNS..(number + 1) * STOCK_RUNS {
        let (broken, passes) = stock_run(search, &set, run);
        let mut one = StockTally { runs: 1, passes, ..StockTally::default() };
        if let Some(finding) = broken {
            one.broken[finding.check as usize] =
                Some(StockCount { runs: 1, first: run, smallest: (size, run, finding) });
        }
        tally = tally.join(one);
    }
    tally
}
