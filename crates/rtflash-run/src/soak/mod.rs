//! Random search for a broken assumption.
//!
//! A case is drawn, allocated, and, where the analysis promises that it is schedulable, run and
//! judged. For every assumption that breaks, the first case is shrunk.

mod certified;
mod draw;
mod shrink;
mod tally;

use rtflash_analysis::certified::{is_independent, load_millionths};
use rtflash_judge::Finding;
use rtflash_model::{Allocation, Reliance};
use rtflash_plan::Waits;

pub use certified::{faults, jobs, with_deadlines};
pub use draw::{Case, World};
pub use shrink::shrink;
pub use tally::{Broken, FailedRuns, SoakTally, SoakWatch, Soaked, soak, tally};

use crate::case::execute;

/// The settings of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    /// The seed of the randomness.
    pub seed: u64,
    /// A world that cases are drawn from.
    pub world: World,
}

/// `None` where the device or the set drawn is not valid, or cannot be accepted.
pub fn draw(Search { seed, world }: Search, run: u64) -> Option<Case> {
    let case = match world {
        World::Any | World::Supposed => draw::draw(seed, run, world),
        World::Sound => certified::draw(seed, run),
    };
    case.map(draw::with_adversaries)
}

/// The outcome of a case.
#[derive(Debug)]
pub enum SoakOutcome {
    /// The analysis promises nothing, or the case cannot be run.
    Nothing,
    /// Promised and run.
    Judged {
        /// The findings of the checkers.
        findings: Vec<Finding>,
        /// The real-time load of the fullest cluster, in millionths; with certificates only.
        load: u64,
    },
}

/// Allocates a case and, if that is said to be schedulable, runs it.
pub fn judge(case: &Case) -> SoakOutcome {
    let outcome = case.allocator.allocate(&case.set, case.analysis);
    match outcome.allocation().filter(|_| outcome.is_schedulable() == Some(true)) {
        Some(allocation) => judge_allocated(case, allocation),
        None => SoakOutcome::Nothing,
    }
}

/// A cluster that was tested next to its neighbours is run next to them alone: then no page waits
/// as long as any neighbour can make it.
pub fn judge_allocated(case: &Case, allocation: &Allocation) -> SoakOutcome {
    let mut options = case.options.clone();
    if case.analysis.relies_on() != Reliance::Nothing && !is_independent(&case.set, allocation) {
        options.placed.waits = Waits::Actual;
    }
    match execute(&case.set, allocation, case.analysis, &options, None) {
        Ok(executed) => SoakOutcome::Judged {
            findings: executed.findings,
            load: load_millionths(&case.set, allocation, case.analysis.relies_on()),
        },
        Err(_) => SoakOutcome::Nothing,
    }
}
