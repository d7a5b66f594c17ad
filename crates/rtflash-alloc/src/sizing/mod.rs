//! How large the device has to be, and how much more it could carry: limits of a task set, and what
//! its allocation costs.
//!
//! Every limit is found by allocating again, with the algorithm and analysis asked, and nothing is
//! guessed: what is reported passes, and the next step beyond it was tried and fails. Passing is
//! not monotone, so the search for the largest λ tries every step. Load, periods and pages have too
//! many steps: their limits are found by bisection, and a step further out can pass again.
//!
//! - [`limits`]: fewest chips, largest λ, largest load, and for each request its shortest period
//!   and the most pages.
//! - [`front`]: chips, channels, λ and the algorithm together.
//! - [`cost`]: write amplification, pages written, erases, lifetime: at most, and as they are to be
//!   expected (docs/lifetime.md).

mod cost;
mod expected;
mod front;
mod overwriting;
mod request;
mod search;
mod wear;
mod whole;

use rtflash_analysis::necessary::fewest_chips;
use rtflash_analysis::{Analysis, Work};
use rtflash_model::{Allocation, LogicalRatio, Span, TaskSet};

use crate::allocator::{Allocator, Outcome};
use crate::spread::spread;

pub use cost::{AllocationCost, cost};
pub use front::{Front, FrontAxes, FrontPoint, MORE_CHIPS, TIMES_CHIPS, front};
pub(crate) use front::{UnservedTask, front_within, largest_ratio, unserved};
pub use overwriting::Amplification;
pub use wear::{ClusterCost, Expected, Wear};

use search::Trials;
pub(crate) use search::{nearest, with_device};
pub(crate) use whole::at_load;

/// Tasks times chips times trials above which no limit is searched: a person would not wait. A
/// trial by a demand test or a search counts by its longer time.
pub const MOST_WORK: u64 = 64_000_000;

/// Requests looked at, for all limits together; where a limit's share does not suffice it is
/// [`SizingLimit::TooMuchWork`].
pub const MAX_TEST_WORK: u64 = 800_000_000;

/// A limit, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizingLimit<T> {
    /// The limit: it passes, and the next step beyond it does not, or cannot be.
    At(T),
    /// Nothing that was tried passes.
    Nothing,
    /// It would take more than [`MOST_WORK`] or [`MAX_TEST_WORK`].
    TooMuchWork,
}

impl<T> SizingLimit<T> {
    /// The limit, where there is one.
    pub fn value(self) -> Option<T> {
        match self {
            SizingLimit::At(value) => Some(value),
            SizingLimit::Nothing | SizingLimit::TooMuchWork => None,
        }
    }
}

/// How far one thing at a time can be moved so that the set passes.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// The fewest chips.
    pub chips: SizingLimit<FewestChips>,
    /// The largest λ.
    pub logical_ratio: SizingLimit<LargestRatio>,
    /// In thousandths, the next fails: periods divided by it, rounded up. At most [`MOST_LOAD`].
    pub load_permille: SizingLimit<u32>,
    /// The limits of each task, in the order of the set.
    pub tasks: Vec<TaskLimits>,
}

/// Steps of λ that are tried, between 0 and 1.
pub const RATIO_STEPS: u32 = 1_000;

/// The largest load that is tried, in thousandths of today's.
pub const MOST_LOAD: u32 = 1_000_000;

/// A λ that passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LargestRatio {
    /// The λ: a step of 1/[`RATIO_STEPS`], or the device's own.
    pub ratio: LogicalRatio,
    /// Larger steps of 1/`steps` fail: [`RATIO_STEPS`], or fewer without work enough.
    pub steps: u32,
}

/// A number of chips that is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FewestChips {
    /// The number.
    pub chips: u32,
    /// Whether every smaller number was tried and fails.
    pub all_tried: bool,
}

/// The limits of a task's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskLimits {
    /// The limits of its reads.
    pub read: Option<RequestLimits>,
    /// The limits of its writes.
    pub write: Option<RequestLimits>,
}

/// The limits of one request, everything else as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// The shortest period (and deadline), of four significant digits or the request's own: up to a
    /// thousand times its own where the set fails as it is.
    pub period: SizingLimit<Span>,
    /// Pages that each request can have more; below zero where the set fails as it is.
    pub more_pages: SizingLimit<i64>,
}

/// A task set sized.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizing {
    /// The algorithm's outcome for the set as it is.
    pub outcome: Outcome,
    /// The fewest chips that no necessary test excludes ([`fewest_chips`]).
    pub at_least: Option<u32>,
    /// Its limits.
    pub limits: Limits,
    /// The cost of the allocation; `None` where there is none to be run.
    pub cost: Option<AllocationCost>,
    /// Free chips given to the clusters that wear fastest ([`spread`]), where that gains.
    pub spread: Option<Spread>,
}

/// An allocation whose free chips are used.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// The allocation.
    pub allocation: Allocation,
    /// The cost.
    pub cost: AllocationCost,
}

/// Its limits, and the cost of the allocation; where there is none, of one to the fewest chips.
pub fn size(set: &TaskSet, allocator: &dyn Allocator, analysis: &dyn Analysis) -> Sizing {
    let outcome = allocator.allocate(set, analysis);
    let work = Work::new();
    let trials = Trials::new(set, allocator, analysis, &work);
    let limits = limits_of(&trials, outcome.is_schedulable() == Some(true));
    let (cost, spread) = match (&outcome, limits.chips) {
        (Outcome::Schedulable(allocation), _) => costs(set, analysis, allocation),
        (Outcome::NotSchedulable(_), SizingLimit::At(fewest)) => {
            let on = trials.on_chips(fewest.chips).map(|set| (allocator.allocate(&set, analysis), set));
            match &on {
                Some((Outcome::Schedulable(allocation), set)) => costs(set, analysis, allocation),
                _ => (None, None),
            }
        }
        _ => (None, None),
    };
    // The tests suppose a device that collects.
    let at_least = if analysis.owns_zones() { Some(1) } else { fewest_chips(set, analysis.occupancy(set.device())) };
    Sizing { outcome, at_least, limits, cost, spread }
}

fn costs(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> (Option<AllocationCost>, Option<Spread>) {
    let better = spread(set, analysis, allocation)
        .map(|allocation| Spread { cost: cost(set, analysis, &allocation), allocation });
    (Some(cost(set, analysis, allocation)), better)
}

/// The limits of a set alone.
pub fn limits(set: &TaskSet, allocator: &dyn Allocator, analysis: &dyn Analysis) -> Limits {
    let work = Work::new();
    let trials = Trials::new(set, allocator, analysis, &work);
    limits_of(&trials, trials.passes(Some(set.clone())))
}

fn limits_of(trials: &Trials<'_>, passes: bool) -> Limits {
    let requests = request::count(trials);
    Limits {
        chips: trials.limit(2 * requests + 3, || whole::fewest_chips(trials, passes)),
        logical_ratio: trials.largest_ratio(2 * requests + 2),
        load_permille: trials.limit(2 * requests + 1, || whole::largest_load(trials, passes)),
        tasks: request::tasks(trials, passes),
    }
}

#[cfg(test)]
mod tests;
