//! The answer of `rtflash size --format json`.

mod tables;

use std::borrow::Cow;

use rtflash_alloc::sizing::{
    AllocationCost, Amplification, ClusterCost, Expected, Front, FrontAxes, RATIO_STEPS, RequestLimits, Sizing,
    SizingLimit, Wear,
};
use rtflash_analysis::Analysis;
use rtflash_model::{Request, TaskSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::alloc::{FrontPointAnswer, undecided};
use crate::data::DataAnswer;
use crate::guarantee::Guarantee;
use crate::necessary::{ImpossibleAnswer, proof};
use crate::parts::{RawMeta, Text, chip_numbers, meta, task_names};
use crate::unplaced::UnplacedAnswer;
use crate::verdicts::Verdicts;

/// The answer of `rtflash size --format json` for one task set, on one line.
///
/// Every limit was found by allocating again: it passes, and the next step beyond it fails. If not
/// every step was tried, the limit was found by bisection, and a step further out can pass again.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SizeAnswer<'a> {
    /// Whether the set passes as it is: true, false, or null where the algorithm cannot tell.
    pub schedulable: Option<bool>,
    /// The verdict of Theorem 1 on the set, and its guarantee.
    #[serde(flatten)]
    pub verdicts: Verdicts,
    /// The algorithm that divided the chips.
    pub algorithm: Text<'a>,
    /// The analysis that decided.
    pub analysis: Text<'a>,
    /// The fewest chips, everything else as it is.
    pub chips: ChipsAnswer,
    /// The largest λ, everything else as it is.
    pub logical_ratio: RatioAnswer,
    /// The load that passes: all periods divided by a factor.
    pub load: LoadAnswer,
    /// The limits of each request, everything else as it is; in the order of the task set.
    pub tasks: Vec<TaskAnswer<'a>>,
    /// By `--over`: devices on which the set passes, none better than another in every respect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<FrontAnswer>,
    /// The cost of the allocation at most, every request arriving as often as it may; if the set
    /// fails as it is, of the allocation to the fewest chips. Null if there is none. By `--spread`,
    /// of the allocation that uses free chips, if that is a gain.
    pub cost: Option<CostAnswer<'a>>,
    /// The cost of the allocation with `--spread`, which gives free chips to the clusters that wear
    /// fastest; null if the option is given, or would gain nothing.
    pub with_spread: Option<CostAnswer<'a>>,
    /// For a set that fails as it is: the task that could not be placed, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unplaced: Option<UnplacedAnswer<'a>>,
    /// If the set fails: a proof that no allocation meets every deadline, if one was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impossible: Option<ImpossibleAnswer<'a>>,
    /// For tasks that declare their data: the data of all tasks beside the logical pages of the
    /// whole device (with `part-ftl`, of its data chips). Limits at which data do not fit are no
    /// limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataAnswer<'a>>,
    /// Why the algorithm cannot tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The task set's own `meta`, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "meta")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub meta: Option<RawMeta<'a>>,
}

/// A Pareto front, in a [`SizeAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct FrontAnswer {
    /// The axes of the front: `chips`, `channels`, `logical_ratio`, `algorithm`.
    pub over: Vec<Text<'static>>,
    /// Its points: chips ascending, then channels.
    pub points: Vec<FrontPointAnswer>,
    /// Whether every number of chips up to the front's end was tried; false if that takes too long.
    pub complete: bool,
    /// The steps of λ that were tried: 0.001, or coarser ones if these would take too long.
    pub resolution: f64,
}

impl FrontAnswer {
    /// The answer for a front.
    pub fn new(axes: FrontAxes, front: &Front) -> FrontAnswer {
        let over = [
            (axes.chips, "chips"),
            (axes.channels, "channels"),
            (axes.logical_ratio, "logical_ratio"),
            (axes.algorithm, "algorithm"),
        ];
        FrontAnswer {
            over: over.into_iter().filter(|(is_axis, _)| *is_axis).map(|(_, name)| name.into()).collect(),
            points: front.points.iter().map(FrontPointAnswer::from).collect(),
            complete: front.complete,
            resolution: 1.0 / f64::from(front.steps),
        }
    }
}

/// Why there is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Reason")]
#[serde(rename_all = "kebab-case")]
pub enum NoLimit {
    /// Nothing that was tried passes.
    NothingPasses,
    /// To look for it would take too long: too many tasks on too many chips.
    TooMuchWork,
}

fn reason<T>(limit: &SizingLimit<T>) -> Option<NoLimit> {
    match limit {
        SizingLimit::At(_) => None,
        SizingLimit::Nothing => Some(NoLimit::NothingPasses),
        SizingLimit::TooMuchWork => Some(NoLimit::TooMuchWork),
    }
}

/// Chips, in a [`SizeAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ChipsAnswer {
    /// Those of the device.
    pub now: u32,
    /// The fewest that pass; null where none was found.
    pub fewest: Option<u32>,
    /// Fewer chips than this have no allocation that meets every deadline, whatever the algorithm
    /// and the analysis, if all logical pages are in use (docs/analysis.md, Section 12); null if no
    /// number would do.
    pub at_least: Option<u32>,
    /// Whether every smaller number was tried and fails; otherwise found by bisection.
    pub every_smaller_tried: bool,
    /// Why there is no number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<NoLimit>,
}

/// λ, in a [`SizeAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RatioAnswer {
    /// That of the device.
    pub now: f64,
    /// The largest that passes, or the device's own: every larger step of the resolution was tried
    /// and fails.
    pub largest: Option<f64>,
    /// The steps that were tried: 0.001, or coarser ones if these would take too long.
    pub resolution: f64,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<NoLimit>,
}

/// The load, in a [`SizeAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LoadAnswer {
    /// A factor that all periods can be divided by, in steps of 0.001, the next of which fails:
    /// above 1 where there is room, below where the set fails. Found by bisection; 1000 at most.
    pub largest_factor: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<NoLimit>,
}

/// A task, in a [`SizeAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TaskAnswer<'a> {
    /// Its name.
    pub task: Text<'a>,
    /// Its read requests; null where it reads nothing.
    pub read: Option<RequestAnswer>,
    /// Its write requests; null where it writes nothing.
    pub write: Option<RequestAnswer>,
}

/// A request, in a [`TaskAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RequestAnswer {
    /// Its pages.
    pub pages: u64,
    /// How many more pages pass, while one more fails; below zero where the set fails as it is.
    /// Found by bisection.
    pub more_pages: Option<i64>,
    /// Its period.
    pub period_ns: u64,
    /// A period that passes, the next below which fails: its own, or one of four significant
    /// digits; above its own where the set fails as it is, up to a thousand times. Found by
    /// bisection.
    pub shortest_period_ns: Option<u64>,
    /// Why there is no such number of pages, or no such period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<NoLimit>,
}

/// The cost of an allocation, in a [`SizeAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CostAnswer<'a> {
    /// Chips that the allocation is for: the device's, or the fewest where the set fails on them.
    pub chips: u32,
    /// The clusters, in order.
    pub clusters: Vec<ClusterCostAnswer<'a>>,
    /// The whole device under its real-time tasks: pages of all clusters, erases of the chip with
    /// most, the shortest lifetime.
    #[serde(flatten)]
    pub tasks: WearAnswer,
    /// The whole device with jobs that are not real-time, too, their pages spread evenly over the
    /// chips of clusters with a server, as if all of them could be served; null where none writes
    /// at a known rate, or no cluster serves them.
    pub with_jobs: Option<WearAnswer>,
    /// An estimate of the real-time tasks where each overwrites its data in order, round and round
    /// (docs/lifetime.md says how far off it was); null where none writes.
    pub in_rings: Option<ExpectedAnswer>,
    /// An estimate where each task overwrites any of its pages; null where none writes.
    pub anywhere: Option<ExpectedAnswer>,
    /// Names of jobs that write and are left out: they arrive at single times and have no rate.
    pub jobs_left_out: Vec<Text<'a>>,
}

/// The cost of a cluster, in a [`CostAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClusterCostAnswer<'a> {
    /// Its chips, ascending.
    pub chips: Vec<u32>,
    /// The names of its tasks, in the order of the task set.
    pub tasks: Vec<Text<'a>>,
    /// Pages programmed for each page written, at most: 1 + v/α by the certificate of a sound
    /// analysis, 1 + ⌈λP⌉/α under the others; null where nothing is ever written.
    pub write_amplification: Option<f64>,
    /// Under its real-time tasks.
    #[serde(flatten)]
    pub tasks_alone: WearAnswer,
    /// The wear by its tasks and by its part of the jobs that are not real-time; null if it serves
    /// none.
    pub with_jobs: Option<WearAnswer>,
    /// An estimate of its tasks where each overwrites its data in order, round and round; null
    /// where none writes.
    pub in_rings: Option<ExpectedAnswer>,
    /// An estimate of its tasks where each overwrites any of its pages; null where none writes.
    pub anywhere: Option<ExpectedAnswer>,
}

/// An estimate for the long run, from the least (a start in order, data that are never overwritten
/// in blocks of their own) to the most (a start with strewn data, as `exec` begins by default).
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ExpectedAnswer {
    /// Pages programmed for each page written.
    pub write_amplification: Range,
    /// The most of them from a start in order (`--aging fresh`).
    pub write_amplification_in_order: f64,
    /// Block erases a day and chip; of the device, of the chip with most.
    pub erases_per_chip_per_day: Range,
    /// Years of 365.25 days until blocks have been erased as often as they endure, all blocks of a
    /// cluster being worn evenly; null where the device has no `erase_cycles`.
    pub lifetime_years: Option<Range>,
}

/// From the least to the most.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Range {
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

impl ExpectedAnswer {
    fn new(expected: Expected) -> ExpectedAnswer {
        let Expected { amplification: Amplification { least, in_order, most }, least: less, most: more } = expected;
        ExpectedAnswer {
            write_amplification: Range { least, most },
            write_amplification_in_order: in_order,
            erases_per_chip_per_day: Range { least: less.erases, most: more.erases },
            // The more is copied, the shorter it lasts.
            lifetime_years: more.lifetime_years.zip(less.lifetime_years).map(|(least, most)| Range { least, most }),
        }
    }
}

/// The effects of writes on chips.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct WearAnswer {
    /// Pages written a day.
    pub pages_per_day: f64,
    /// Pages that garbage collection copies a day, at most.
    pub gc_pages_per_day: f64,
    /// Block erases a day and chip that this makes, if all blocks of a cluster are worn evenly: in
    /// a stripe, addresses may spread wear unevenly.
    pub erases_per_chip_per_day: f64,
    /// Years of 365.25 days until blocks have been erased as often as they endure, all blocks of a
    /// cluster being worn evenly; null where the device has no `erase_cycles`, or nothing is
    /// written.
    pub lifetime_years: Option<f64>,
}

impl WearAnswer {
    fn new(wear: &Wear) -> WearAnswer {
        WearAnswer {
            pages_per_day: wear.pages,
            gc_pages_per_day: wear.gc_pages,
            erases_per_chip_per_day: wear.erases,
            lifetime_years: wear.lifetime_years,
        }
    }
}

impl<'a> SizeAnswer<'a> {
    /// The answer for a sized set.
    pub fn new(
        set: &'a TaskSet,
        algorithm: &'a str,
        analysis: &'a dyn Analysis,
        sizing: &Sizing,
        guarantee: &Guarantee,
        meta: Option<&'a RawValue>,
    ) -> SizeAnswer<'a> {
        let limits = &sizing.limits;
        let tasks = set.tasks().iter().zip(&limits.tasks).map(|(task, limits)| TaskAnswer {
            task: task.name.as_str().into(),
            read: task.read.zip(limits.read).map(|(request, limits)| RequestAnswer::new(request, limits)),
            write: task.write.zip(limits.write).map(|(request, limits)| RequestAnswer::new(request, limits)),
        });
        let fewest = limits.chips.value();
        SizeAnswer {
            schedulable: sizing.outcome.is_schedulable(),
            verdicts: Verdicts::of_outcome(set, algorithm, analysis, &sizing.outcome, &guarantee.verdict),
            algorithm: algorithm.into(),
            analysis: analysis.name().into(),
            chips: ChipsAnswer {
                now: set.device().chips(),
                fewest: fewest.map(|fewest| fewest.chips),
                at_least: sizing.at_least,
                every_smaller_tried: fewest.is_some_and(|fewest| fewest.all_tried),
                reason: reason(&limits.chips),
            },
            logical_ratio: RatioAnswer {
                now: set.device().logical_ratio().to_f64(),
                largest: limits.logical_ratio.value().map(|largest| largest.ratio.to_f64()),
                resolution: 1.0 / f64::from(limits.logical_ratio.value().map_or(RATIO_STEPS, |largest| largest.steps)),
                reason: reason(&limits.logical_ratio),
            },
            load: LoadAnswer {
                largest_factor: limits.load_permille.value().map(|permille| f64::from(permille) / 1_000.0),
                reason: reason(&limits.load_permille),
            },
            tasks: tasks.collect(),
            front: None,
            cost: sizing.cost.as_ref().map(|cost| CostAnswer::new(set, cost)),
            with_spread: sizing.spread.as_ref().map(|spread| CostAnswer::new(set, &spread.cost)),
            unplaced: UnplacedAnswer::of(set, &sizing.outcome),
            impossible: proof(set, analysis, &sizing.outcome).map(|proof| ImpossibleAnswer::new(set, &proof)),
            data: DataAnswer::of_outcome(set, &sizing.outcome),
            reason: undecided(&sizing.outcome),
            meta: meta.map(Cow::Borrowed),
        }
    }
}

impl RequestAnswer {
    fn new(request: Request, limits: RequestLimits) -> RequestAnswer {
        RequestAnswer {
            pages: request.pages(),
            more_pages: limits.more_pages.value(),
            period_ns: request.period().as_ns(),
            shortest_period_ns: limits.period.value().map(rtflash_model::Span::as_ns),
            reason: reason(&limits.period).or(reason(&limits.more_pages)),
        }
    }
}

impl<'a> CostAnswer<'a> {
    fn new(set: &'a TaskSet, cost: &AllocationCost) -> CostAnswer<'a> {
        let cluster = |cluster: &ClusterCost| ClusterCostAnswer {
            chips: chip_numbers(&cluster.chips),
            tasks: task_names(set, &cluster.tasks),
            write_amplification: cluster.write_amplification,
            tasks_alone: WearAnswer::new(&cluster.wear),
            with_jobs: cluster.with_jobs.as_ref().map(WearAnswer::new),
            in_rings: cluster.in_rings.map(ExpectedAnswer::new),
            anywhere: cluster.anywhere.map(ExpectedAnswer::new),
        };
        let job = |&job: &usize| Some(set.jobs().get(job)?.name.as_str().into());
        CostAnswer {
            chips: cost.chips,
            clusters: cost.clusters.iter().map(cluster).collect(),
            tasks: WearAnswer::new(&cost.tasks),
            with_jobs: cost.with_jobs.as_ref().map(WearAnswer::new),
            in_rings: cost.in_rings.map(ExpectedAnswer::new),
            anywhere: cost.anywhere.map(ExpectedAnswer::new),
            jobs_left_out: cost.left_out.iter().filter_map(job).collect(),
        }
    }
}
