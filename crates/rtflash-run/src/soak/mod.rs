//! Random search for a broken assumption.
//!
//! A case is drawn, allocated, and, where the analysis promises that it is schedulable, run and
//! judged. Of every assumption that breaks, the first case is shrunk. In some worlds a set is run
//! many times, and a term may be left out of the test that accepts it.

mod attack;
mod carried;
mod certified;
mod copied;
mod devices;
mod directed;
mod drained;
mod draw;
mod limit;
mod prescribed;
mod queued;
mod shrink;
mod stock;
mod tally;
mod told;

use rtflash_alloc::certified::Term;
use rtflash_judge::Finding;
use rtflash_model::{Allocation, Reliance};
use rtflash_plan::{Options, Waits};

pub use draw::{Case, World};
pub use shrink::shrink;
pub use stock::{
    STOCK_RUNS, StockBroken, StockCheck, StockFinding, StockSearch, StockSoaked, soak_stock, stock_run, stock_set,
};
pub use tally::{Broken, LeftOut, SoakWatch, Soaked, soak, soak_watched, soak_without};

use crate::case::execute;
use limit::LimitSet;

/// What is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    /// Where the randomness starts.
    pub seed: u64,
    /// What cases are drawn from.
    pub world: World,
    /// The term, one of [`World::terms`], that is left out of the world's test.
    pub left_out: Option<Term>,
    /// Whether releases are not drawn but moved towards late ends, in the worlds that run a set
    /// many times.
    pub climbs: bool,
}

impl Search {
    /// A search of this world, nothing left out, releases as they are drawn.
    pub fn new(seed: u64, world: World) -> Search {
        Search { seed, world, left_out: None, climbs: false }
    }
}

/// The case of this number; `None` where the device or the set that was drawn is not valid, or
/// cannot be accepted.
pub fn draw(search: Search, run: u64) -> Option<Case> {
    let Search { seed, world, left_out, climbs } = search;
    match world {
        World::Any | World::Supposed => draw::draw(seed, run, world).map(draw::with_adversaries),
        World::Sound => certified::draw(seed, run).map(draw::with_adversaries),
        World::Stripe
        | World::Queue
        | World::Superblock
        | World::Mixed
        | World::Stream
        | World::Command
        | World::QueueCommand
        | World::Register
        | World::RegisterCommand
        | World::Zoned
        | World::Failing
        | World::Suspending
        | World::Levelling => {
            let limit = directed::set_at_the_limit(seed, run / world.runs_of_a_set(), world, left_out)?;
            let options = attack::options(seed, run, &limit, climbs)?;
            let LimitSet { set, allocator, analysis, left_out, .. } = limit;
            Some(Case { seed, run, set, allocator, analysis, options, left_out })
        }
    }
}

/// What came of a case.
#[derive(Debug)]
pub enum SoakOutcome {
    /// The analysis promises nothing, or the case cannot be run.
    Nothing,
    /// Promised and run.
    Judged {
        /// What the checkers found.
        findings: Vec<Finding>,
        /// The real-time load of the fullest cluster, in millionths; with certificates only.
        load: u64,
    },
}

/// Allocates a case and, if that is said to be schedulable, runs it.
pub fn judge(case: &Case) -> SoakOutcome {
    let allocation = match case.left_out {
        Some(term) => limit::accepted(&case.set, case.allocator, case.analysis, term),
        None => {
            let outcome = case.allocator.allocate(&case.set, case.analysis);
            outcome.allocation().filter(|_| outcome.is_schedulable() == Some(true)).cloned()
        }
    };
    let Some(allocation) = allocation else { return SoakOutcome::Nothing };
    match run(case, &allocation, waits_as_it_may(case, &allocation)) {
        Some(findings) => {
            let load = rtflash_alloc::certified::load_millionths(&case.set, &allocation, case.analysis.relies_on());
            SoakOutcome::Judged { findings, load }
        }
        None => SoakOutcome::Nothing,
    }
}

/// Whether every cluster is promised to hold with pages that wait as long as any neighbour can make
/// them. What was tested next to its neighbours is promised next to them only.
fn waits_as_it_may(case: &Case, allocation: &Allocation) -> bool {
    case.analysis.relies_on() == Reliance::Nothing || rtflash_alloc::certified::is_independent(&case.set, allocation)
}

/// What the checkers find in a run; `None` where it cannot be made.
fn run(case: &Case, allocation: &Allocation, may_wait: bool) -> Option<Vec<Finding>> {
    let mut options: Options = case.options.clone();
    if !may_wait {
        options.placed.waits = Waits::Actual;
    }
    Some(execute(&case.set, allocation, case.analysis, &options, None).ok()?.findings)
}
