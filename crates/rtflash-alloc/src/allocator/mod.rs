//! Allocators: one trait, a file for each algorithm.
//!
//! An allocator divides the device's chips into clusters and gives each task to one of them, so that every cluster passes the
//! analysis. What it decides in doubles it decides only where rounding cannot matter; elsewhere exact arithmetic decides.

mod best_fit;
mod clusters;
mod exact;
mod fixed;
mod loads;
mod merge;
mod part_ftl;
mod placed;
mod search;
mod sizes;
mod space;
mod ties;

use std::fmt;

use rtflash_model::{Allocation, TaskSet};

use crate::analysis::{Analysis, PartFtl};
use crate::reason::Reason;

pub use best_fit::{ClusteringBfd, FullIsolation};
pub use exact::Exact;
pub use fixed::{EqualSplit, Global};
pub use part_ftl::PartFtlTest;
pub use placed::Strategy;
pub use search::ClusteringSearch;

/// What an allocator found.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Every task has a cluster, every cluster passes the analysis, and the declared data fit.
    Schedulable(Allocation),
    /// The algorithm found no such allocation (for [`Exact`]: there is none).
    NotSchedulable(Failure),
    /// The verdict of PaRT-FTL's test, which divides the device in its own way, and whether the declared data fit its data chips.
    Partitioned(PartFtl),
    /// A limit was reached, or the algorithm does not apply.
    CannotTell(Limit),
}

impl Outcome {
    /// Yes, no, or `None`: cannot tell.
    pub fn is_schedulable(&self) -> Option<bool> {
        match self {
            Outcome::Schedulable(_) => Some(true),
            Outcome::NotSchedulable(_) => Some(false),
            Outcome::Partitioned(verdict) => Some(verdict.schedulable && verdict.space.fits()),
            Outcome::CannotTell(_) => None,
        }
    }

    /// The allocation to run: the one found, or the complete but overloaded one of an algorithm that always gives one.
    pub fn allocation(&self) -> Option<&Allocation> {
        match self {
            Outcome::Schedulable(allocation) => Some(allocation),
            Outcome::NotSchedulable(failure) => failure.overloaded.as_ref(),
            Outcome::Partitioned(_) | Outcome::CannotTell(_) => None,
        }
    }
}

/// Why an algorithm found no allocation.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The task that could not be placed.
    pub unplaced: Unplaced,
    /// The complete allocation that fails the test, from algorithms whose clusters do not depend on it; or the one that passes the timing test, and
    /// whose clusters the data do not fit.
    pub overloaded: Option<Allocation>,
    /// Whether the task had been placed, and a merge, made for another task, left its cluster overloaded.
    pub by_merge: bool,
}

/// A task that could not be placed, and how near it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Unplaced {
    /// The task, as a position in the set.
    pub task: usize,
    /// Why, in the cluster that comes nearest: the one with the lowest U(φ). Where its cluster was given, or left overloaded by a merge, of that
    /// cluster with all its tasks.
    pub reason: Reason,
    /// That cluster's position when the algorithm gave up.
    pub cluster: usize,
    /// Its chips, by number.
    pub chips: u32,
    /// The other tasks in it, as positions in the set, ascending.
    pub others: Vec<usize>,
}

/// Why an algorithm cannot tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limit {
    /// More tasks than [`Exact`] searches.
    TooManyTasks {
        /// Tasks in the set.
        tasks: usize,
        /// Tasks it can search.
        limit: usize,
    },
    /// A processor-demand test was given up: the load is so near to one that too many intervals would have to be looked at.
    TestGivenUp,
    /// The algorithm is not one for this analysis.
    OtherAnalysis,
    /// The search was given up after so many steps.
    TooMuchWork {
        /// Steps allowed.
        limit: u64,
    },
    /// Fewer chips than PaRT-FTL needs.
    TooFewChips {
        /// Chips of the device.
        chips: u32,
        /// Chips needed.
        needed: u32,
    },
}

impl Unplaced {
    /// The utilization that would have been reached, where that was the measure: above one, or under the sound analyses at least one.
    pub fn best_utilization(&self) -> Option<f64> {
        self.reason.utilization()
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::TooManyTasks { tasks, limit } => {
                write!(f, "{tasks} tasks are more than the {limit} that the exact search takes")
            }
            Limit::TestGivenUp => f.write_str("a demand test was given up: the load is too near to one"),
            Limit::OtherAnalysis => f.write_str("the algorithm has a test of its own, and none under this analysis"),
            Limit::TooMuchWork { limit } => write!(f, "the exact search was given up after {limit} steps"),
            Limit::TooFewChips { chips, needed } => {
                write!(f, "PaRT-FTL needs at least {needed} chips, one of them for parity, and the device has {chips}")
            }
        }
    }
}

/// An algorithm that divides chips among tasks.
pub trait Allocator: Sync {
    /// What the user calls it.
    fn name(&self) -> &'static str;

    /// What it is, in a line.
    fn summary(&self) -> &'static str;

    /// Divides the chips of the set's device among its tasks, each cluster passing Theorem 1 with the utilizations of the analysis.
    fn by_utilization(&self, set: &TaskSet, analysis: &dyn Analysis) -> Outcome;

    /// How it forms clusters for an analysis that tests them where they are placed; `None` where it has no way.
    fn strategy(&self) -> Option<Strategy>;

    /// Divides the chips of the set's device among its tasks. The same input gives the same outcome, always.
    ///
    /// The thesis's analyses know nothing of space: the clusters are those of [`Allocator::by_utilization`], and where declared data do not fit them
    /// the outcome is [`Reason::Data`].
    fn allocate(&self, set: &TaskSet, analysis: &dyn Analysis) -> Outcome {
        match (analysis.placements(), self.strategy()) {
            ([], _) => space::checked(set, self.by_utilization(set, analysis)),
            (_, Some(strategy)) => placed::allocate(set, analysis, strategy),
            (_, None) => Outcome::CannotTell(Limit::OtherAnalysis),
        }
    }
}

/// Every algorithm that has a name.
pub static ALLOCATORS: [&dyn Allocator; 7] =
    [&ClusteringBfd, &ClusteringSearch, &Global, &FullIsolation, &EqualSplit, &PartFtlTest, &Exact];

/// The algorithm of that name.
pub fn allocator(name: &str) -> Option<&'static dyn Allocator> {
    ALLOCATORS.into_iter().find(|allocator| allocator.name() == name)
}
