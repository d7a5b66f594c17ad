//! Allocators: one trait, a file for each algorithm.
//!
//! An allocator divides the device's chips into clusters and gives each task to one of them, so
//! that every cluster passes the analysis. Doubles decide only if rounding cannot matter; elsewhere
//! exact arithmetic decides.
//!
//! Every algorithm here takes every [`Test`]. Those of the thesis have fast paths, which suppose
//! that utilizations are linear in pages; `general` supposes nothing of a test, and asks it for
//! every cluster. An algorithm of your own is an [`Allocator`] too: `examples/own_allocator.rs` has
//! one, and [`cluster_verdict`], [`decreasing_order`], [`tested`] and [`unplaceable`] are what it
//! is made of.

mod any;
mod best_fit;
mod certified;
mod clustering_bfd;
mod clusters;
mod exact;
mod fixed;
mod general;
mod loads;
mod merge;
mod merging;
mod own;
mod part_ftl;
mod search;
mod sizes;
mod space;
mod ties;
mod unplaced;

use rtflash_analysis::necessary::Impossible;
use rtflash_analysis::reason::Reason;
use rtflash_analysis::{Analysis, PartFtl, Test, Untestable, Work, cluster_verdict};
use rtflash_model::{Allocation, AllocationError, TaskId, TaskSet};

use self::best_fit::Filled;
use self::loads::Loads;
use self::sizes::{LinearSizes, Sizes, TaskGroup, in_order};

pub use any::{AnyAllocation, excluded};
pub use best_fit::BestFit;
pub use clustering_bfd::{ClusteringBfd, FullIsolation};
pub use exact::Exact;
pub use fixed::{EqualSplit, Global};
pub use own::{decreasing_order, tested, unplaceable};
pub use part_ftl::PartFtlTest;
pub use search::ClusteringSearch;
pub use space::unplaced_by_part_ftl;

/// The outcome of an allocator.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Every task has a cluster, every cluster passes the analysis, and the declared data fit.
    Schedulable(Allocation),
    /// The algorithm found no such allocation (for [`Exact`]: there is none).
    NotSchedulable(Failure),
    /// PaRT-FTL's verdict, and whether the declared data fit its data chips.
    Partitioned(PartFtl),
    /// From [`AnyAllocation`], and from other algorithms where they could not tell.
    Impossible(Impossible),
    /// A limit was reached, or the algorithm does not apply.
    CannotTell(Limit),
}

impl Outcome {
    /// Yes, no, or `None`: cannot tell.
    pub fn is_schedulable(&self) -> Option<bool> {
        match self {
            Outcome::Schedulable(_) => Some(true),
            Outcome::NotSchedulable(_) | Outcome::Impossible(_) => Some(false),
            Outcome::Partitioned(verdict) => Some(verdict.schedulable && verdict.space.fits()),
            Outcome::CannotTell(_) => None,
        }
    }

    /// The allocation to run: found, or complete but overloaded.
    pub fn allocation(&self) -> Option<&Allocation> {
        match self {
            Outcome::Schedulable(allocation) => Some(allocation),
            Outcome::NotSchedulable(failure) => failure.overloaded.as_ref(),
            Outcome::Partitioned(_) | Outcome::Impossible(_) | Outcome::CannotTell(_) => None,
        }
    }
}

/// Why an algorithm found no allocation.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The task that could not be placed.
    pub unplaced: Unplaced,
    /// Complete, but failing the test, or without room for the data.
    pub overloaded: Option<Allocation>,
    /// A merge, made for another task, left its cluster overloaded.
    pub by_merge: bool,
}

/// A task that could not be placed, and how near it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Unplaced {
    /// The task.
    pub task: TaskId,
    /// In the cluster that comes nearest, of the lowest U(φ); of a given cluster, or one that a
    /// merge overloaded, with all its tasks.
    pub reason: Reason,
    /// That cluster's position when the algorithm gave up.
    pub cluster: usize,
    /// Its chips, by number.
    pub chips: u32,
    /// The other tasks in it, ascending.
    pub others: Vec<TaskId>,
}

/// Why an algorithm cannot tell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// More tasks than [`Exact`] searches.
    #[error("{tasks} tasks are more than the {limit} that the exact search takes")]
    TooManyTasks {
        /// Tasks in the set.
        tasks: u32,
        /// Tasks it can search.
        limit: u32,
    },
    /// The load is so near to one that too many intervals would have to be looked at.
    #[error("a demand test was given up: the load is too near to one")]
    TestGivenUp,
    /// The algorithm is not one for this analysis.
    #[error("the algorithm has a test of its own, and none under this analysis")]
    OtherAnalysis,
    /// The analysis does not know a deadline, a jitter, or the device's commands.
    #[error("{0}")]
    Untestable(Untestable),
    /// The algorithm was given up after a number of steps.
    #[error("the algorithm was given up after {limit} steps")]
    TooMuchWork {
        /// Steps allowed.
        limit: u64,
    },
    /// No necessary test fails, which proves nothing: from [`AnyAllocation`].
    #[error("no necessary test fails, which proves nothing: the other analyses say what is enough")]
    NotExcluded,
    /// There is an allocation, and no layout of its clusters as rectangles was found.
    #[error("there is an allocation, but no layout of its clusters as rectangles of channels and ways was found")]
    NoRectangles,
    /// The result of an algorithm is no division of the chips and tasks.
    #[error("the algorithm did not divide the chips among the tasks: {0}")]
    NoDivision(AllocationError),
    /// Fewer chips than PaRT-FTL needs.
    #[error("PaRT-FTL needs at least {needed} chips, one of them for parity, and the device has {chips}")]
    TooFewChips {
        /// Chips of the device.
        chips: u32,
        /// Chips needed.
        needed: u32,
    },
}

impl Unplaced {
    /// The utilization that would be reached, where that is the measure.
    pub fn best_utilization(&self) -> Option<f64> {
        self.reason.utilization()
    }
}

/// An algorithm that divides chips among tasks.
pub trait Allocator: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Its description, in a line.
    fn summary(&self) -> &'static str;

    /// Divides the chips so that each cluster passes, a function of its input; [`tested`] makes a
    /// true outcome of any division. `work` counts the requests of its tests.
    fn divide(&self, set: &TaskSet, analysis: &dyn Analysis, work: &Work) -> Outcome;

    /// [`divide`](Allocator::divide) without a bound.
    fn allocate(&self, set: &TaskSet, analysis: &dyn Analysis) -> Outcome {
        self.divide(set, analysis, &Work::new())
    }

    /// How many times best fit's time it takes, roughly: sizing bounds its trials by it.
    fn relative_work(&self, _tasks: usize) -> u64 {
        1
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strategy {
    OneChipEach,
    /// Clusters of one chip, best fit, that merge where a task fits in none: Algorithm 1.
    Merging,
    Growing,
    Search,
    Exact,
}

/// Only demand tests know of space: under others, where declared data do not fit the clusters, the
/// outcome is [`Reason::Data`].
fn allocate(set: &TaskSet, analysis: &dyn Analysis, work: &Work, strategy: Strategy) -> Outcome {
    if let Some(cause) = analysis.refuses(set) {
        return Outcome::CannotTell(Limit::Untestable(cause));
    }
    match divided(set, analysis, work, strategy) {
        // A necessary test may decide a set that an algorithm leaves open. Only demand tests are
        // sound: what another test accepts need not be possible.
        Outcome::CannotTell(limit) if matches!(analysis.test(), Test::Demand(_)) => {
            excluded(set, analysis).map_or(Outcome::CannotTell(limit), Outcome::Impossible)
        }
        told => told,
    }
}

fn divided(set: &TaskSet, analysis: &dyn Analysis, work: &Work, strategy: Strategy) -> Outcome {
    match analysis.test() {
        // The fast paths: each cluster passes Theorem 1 with utilizations that are linear in pages.
        Test::Linear(test) => {
            let sizes = |limit| LinearSizes::new(Loads::new(set, test), limit);
            let algorithm_1 = |merging| clustering_bfd::by_utilization(set, test, merging);
            space::checked(set, by_size(set, analysis, work, strategy, sizes, algorithm_1))
        }
        Test::Utilization(_) | Test::Cluster(_) => {
            let sizes = |_| general::Asked::new(set, analysis, work);
            let algorithm_1 =
                |merging| general::algorithm_1(set, analysis, merging && most_chips(set, analysis) > 1, work);
            space::checked(set, by_size(set, analysis, work, strategy, sizes, algorithm_1))
        }
        Test::Demand(test) => certified::allocate(set, test, work, strategy),
    }
}

/// `sizes` takes the work after which it gives up.
fn by_size<S: Sizes>(
    set: &TaskSet,
    analysis: &dyn Analysis,
    work: &Work,
    strategy: Strategy,
    sizes: impl FnOnce(u64) -> S,
    algorithm_1: impl Fn(bool) -> Outcome,
) -> Outcome {
    let schedulable = |groups| {
        let allocation = in_order(set, groups);
        // Not reached: groups are searched for until they need no more chips than there are.
        allocation.map_or(Outcome::CannotTell(Limit::TooMuchWork { limit: 0 }), Outcome::Schedulable)
    };
    match strategy {
        Strategy::OneChipEach => algorithm_1(false),
        Strategy::Merging => algorithm_1(true),
        Strategy::Growing => match best_fit::filled(sizes(ClusteringSearch::MAX_WORK)) {
            Filled::Fits(groups) => schedulable(groups),
            Filled::Full { task, before } => {
                let clusters = best_fit::clusters(set, before, most_chips(set, analysis));
                unplaceable(set, analysis, &clusters, task, work)
            }
            Filled::GivenUp(limit) => Outcome::CannotTell(limit),
        },
        Strategy::Search => match algorithm_1(true) {
            found @ Outcome::Schedulable(_) => found,
            first => {
                let groups = search::search(sizes(ClusteringSearch::MAX_WORK));
                // Under a test that is not monotone a group that lost tasks may fail.
                let pass =
                    |group: &TaskGroup<S::Held>| cluster_verdict(set, analysis, &group.tasks, group.size, work).passes;
                groups.filter(|groups| groups.iter().all(pass)).map_or(first, schedulable)
            }
        },
        Strategy::Exact => match exact::search(&mut sizes(Exact::MAX_WORK)) {
            Ok(Some(groups)) => schedulable(groups),
            // If there is no allocation, Algorithm 1 finds none either, and knows where it got
            // stuck.
            Ok(None) => algorithm_1(true),
            Err(limit) => Outcome::CannotTell(limit),
        },
    }
}

fn most_chips(set: &TaskSet, analysis: &dyn Analysis) -> u32 {
    match analysis.test() {
        Test::Cluster(test) => test.most_chips(set.device()),
        Test::Linear(_) | Test::Utilization(_) | Test::Demand(_) => set.device().chips(),
    }
}

/// Every algorithm that has a name.
pub static ALLOCATORS: [&dyn Allocator; 8] =
    [&ClusteringBfd, &BestFit, &ClusteringSearch, &Global, &FullIsolation, &EqualSplit, &PartFtlTest, &Exact];

/// [`ClusteringBfd`], and under a demand test [`BestFit`], which finds about as much in less time.
pub fn usual(analysis: &dyn Analysis) -> &'static dyn Allocator {
    match analysis.test() {
        Test::Demand(_) => &BestFit,
        Test::Linear(_) | Test::Utilization(_) | Test::Cluster(_) => &ClusteringBfd,
    }
}

/// The algorithm of that name.
pub fn allocator(name: &str) -> Option<&'static dyn Allocator> {
    ALLOCATORS.into_iter().find(|allocator| allocator.name() == name)
}
