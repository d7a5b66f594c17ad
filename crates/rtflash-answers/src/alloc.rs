//! The answer of `rtflash alloc --format json`.

use std::borrow::Cow;

use rtflash_alloc::advice::{Advice, RequestTime, ServedBy, Supposed};
use rtflash_alloc::allocator::{Limit, Outcome};
use rtflash_alloc::sizing::FrontPoint;
use rtflash_analysis::certified::reliances;
use rtflash_analysis::verdict::report;
use rtflash_analysis::{Analysis, ClusterReport};
use rtflash_model::{Certificate, Cluster, Span, TaskSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::data::DataAnswer;
use crate::guarantee::Guarantee;
use crate::necessary::{ImpossibleAnswer, proof};
use crate::parts::{
    CertificateAnswer, Nanoseconds, RawMeta, Text, chip_numbers, meta, reliance_name, task_name, task_names,
};
use crate::unplaced::UnplacedAnswer;
use crate::verdicts::Verdicts;

/// The answer of `rtflash alloc --format json` for one task set, on one line.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AllocAnswer<'a> {
    /// Whether every deadline is met, and the declared data fit: true, false, or null where the
    /// algorithm cannot tell.
    pub schedulable: Option<bool>,
    /// The verdict of Theorem 1 on the set, and its guarantee.
    #[serde(flatten)]
    pub verdicts: Verdicts,
    /// The algorithm that divided the chips.
    pub algorithm: Text<'a>,
    /// The analysis that decided.
    pub analysis: Text<'a>,
    /// The clusters, in order; those without tasks serve jobs that are not real-time. Empty where
    /// there is no complete allocation.
    pub clusters: Vec<ClusterAnswer<'a>>,
    /// The task that could not be placed, and why.
    pub unplaced: Option<UnplacedAnswer<'a>>,
    /// Beside any other answer than yes: a proof that no allocation meets every deadline, whatever
    /// the algorithm and the analysis, if one was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impossible: Option<ImpossibleAnswer<'a>>,
    /// Whether the set is guaranteed on the device: `--analysis sound` accepts it, with these
    /// clusters or with others, and the device's times are maxima. Null if that was not asked
    /// (`--guarantee`, `--no-guarantee`), is not decided, or the set has no tasks.
    pub guaranteed: Option<bool>,
    /// Whether the clusters printed here are; null as above, and where none are printed.
    pub guaranteed_as_placed: Option<bool>,
    /// The reliance of the promise: `nothing`, `neighbours` or `queue`, the most that any of the
    /// clusters needs; null if nothing is promised.
    pub relies_on: Option<Text<'static>>,
    /// Changes that make the set schedulable: for a single set that is not, null otherwise.
    pub advice: Option<AdviceAnswer<'a>>,
    /// For tasks that declare their data: the data of all tasks beside the logical pages of the
    /// whole device (with `part-ftl`, of its data chips). Data that fit there need not fit the
    /// clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataAnswer<'a>>,
    /// U_R of PaRT-FTL (only with `part-ftl`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_utilization: Option<f64>,
    /// U_W of PaRT-FTL (only with `part-ftl`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_utilization: Option<f64>,
    /// Why the algorithm cannot tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The task set's own `meta`, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "meta")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub meta: Option<RawMeta<'a>>,
}

/// Changes each of which alone makes the set schedulable, in an [`AllocAnswer`]; null where none
/// was found.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AdviceAnswer<'a> {
    /// Tasks with requests that no number of chips serves in time, and what lets them be served.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub served: Vec<ServedByAnswer<'a>>,
    /// Beside such tasks: the assumption of the other changes; left out if nothing was found that
    /// serves all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supposes: Option<SupposedAnswer<'a>>,
    /// Chips and λ together, perhaps by another algorithm: none of these is better than another in
    /// both. Chips ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<FrontPointAnswer>,
    /// The steps of λ that were tried for `together`: 0.001, or coarser ones if these would take
    /// too long. Left out without `together`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together_resolution: Option<f64>,
    /// Whether each number of chips up to the last one of `together` was tried; false if that would
    /// take too long. Left out without `together`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together_complete: Option<bool>,
    /// A number of channels that is enough, with as many chips.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<u32>,
    /// A number of chips that is enough.
    pub chips: Option<u32>,
    /// Whether every number of chips between was tried and fails; null without such a number.
    pub chips_fewest: Option<bool>,
    /// The next number of chips that fills whole channels and is enough, where `chips` does not.
    pub chips_whole_channels: Option<u32>,
    /// The largest λ that passes; where data do not fit, one that is large enough.
    pub logical_ratio: Option<f64>,
    /// The steps of λ that were tried for `logical_ratio`: 0.001, or coarser ones if these would
    /// take too long. Null without `logical_ratio`.
    #[serde(default)]
    pub logical_ratio_resolution: Option<f64>,
    /// The share of the load that can be carried: every period divided by it.
    pub load: Option<f64>,
    /// For data that do not fit: the share of each task's data that would.
    pub data: Option<f64>,
    /// All data then, in pages.
    pub data_pages: Option<u128>,
    /// Another algorithm that finds an allocation.
    pub algorithm: Option<Text<'static>>,
    /// For programs that can fail: a `program_failures` of the device that is few enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_failures: Option<u32>,
}

/// A task with requests that take longer than they have, in an [`AdviceAnswer`]: changes with each
/// of which it passes alone on the device.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ServedByAnswer<'a> {
    /// Its name.
    pub task: Text<'a>,
    /// Those requests: `read`, `write`.
    pub kinds: Vec<Text<'static>>,
    /// Later relative deadlines of those requests, together: the first steps with which it passes.
    /// Empty if none up to their periods do.
    pub deadlines: Vec<RequestTimeAnswer<'a>>,
    /// If no such deadlines are found: longer periods of those requests, which are the deadlines
    /// too, together: the first steps with which it passes, up to 16 times their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub periods: Vec<RequestTimeAnswer<'a>>,
    /// An `erase_suspend` and `erase_resume` of the device, equally long, with which it passes: the
    /// longest step; null where these do not help, or the device states them.
    pub longest_erase_suspend_ns: Option<u64>,
}

/// A time of one request, in an [`AdviceAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RequestTimeAnswer<'a> {
    /// The name of its task.
    pub task: Text<'a>,
    /// `read` or `write`.
    pub kind: Text<'static>,
    /// The time.
    pub time_ns: u64,
}

/// Changes with which every request can be served, in an [`AdviceAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SupposedAnswer<'a> {
    /// The `erase_suspend` and the `erase_resume` of the device: the time of reading a page, or the
    /// least `longest_erase_suspend_ns`. Null without.
    pub erase_suspend_ns: Option<u64>,
    /// Later relative deadlines of requests that cannot be served otherwise.
    pub deadlines: Vec<RequestTimeAnswer<'a>>,
    /// Whether nothing else is needed then.
    pub enough: bool,
}

fn kind(writes: bool) -> Text<'static> {
    if writes { "write" } else { "read" }.into()
}

fn name(set: &TaskSet, task: usize) -> Text<'_> {
    set.tasks().as_slice().get(task).map_or("", |task| task.name.as_str()).into()
}

fn times<'a>(set: &'a TaskSet, times: &[RequestTime]) -> Vec<RequestTimeAnswer<'a>> {
    let answer = |of: &RequestTime| RequestTimeAnswer {
        task: name(set, of.task),
        kind: kind(of.writes),
        time_ns: of.time.as_ns(),
    };
    times.iter().map(answer).collect()
}

impl<'a> ServedByAnswer<'a> {
    fn new(set: &'a TaskSet, served: &ServedBy) -> ServedByAnswer<'a> {
        ServedByAnswer {
            task: name(set, served.task),
            kinds: served.too_long.iter().map(|of| kind(of.writes)).collect(),
            deadlines: times(set, &served.deadlines),
            periods: times(set, &served.periods),
            longest_erase_suspend_ns: served.suspension.map(Span::as_ns),
        }
    }
}

impl<'a> SupposedAnswer<'a> {
    fn new(set: &'a TaskSet, supposed: &Supposed) -> SupposedAnswer<'a> {
        SupposedAnswer {
            erase_suspend_ns: supposed.suspension.map(Span::as_ns),
            deadlines: times(set, &supposed.deadlines),
            enough: supposed.enough,
        }
    }
}

/// A device on which the set passes, in a front.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct FrontPointAnswer {
    /// Its chips.
    pub chips: u32,
    /// Its channels.
    pub channels: u32,
    /// Its λ: the largest step that passes there, or the device's own.
    pub logical_ratio: f64,
    /// The algorithm that finds an allocation.
    pub algorithm: Text<'static>,
}

impl From<&FrontPoint> for FrontPointAnswer {
    fn from(point: &FrontPoint) -> FrontPointAnswer {
        let FrontPoint { chips, channels, logical_ratio, algorithm } = *point;
        FrontPointAnswer { chips, channels, logical_ratio: logical_ratio.to_f64(), algorithm: algorithm.into() }
    }
}

impl<'a> AdviceAnswer<'a> {
    /// The answer for advice about a set.
    pub fn new(set: &'a TaskSet, advice: &Advice) -> AdviceAnswer<'a> {
        let together = advice.together.as_ref();
        AdviceAnswer {
            served: advice.served.iter().map(|served| ServedByAnswer::new(set, served)).collect(),
            supposes: advice.supposed.as_ref().map(|supposed| SupposedAnswer::new(set, supposed)),
            together: together.map_or_else(Vec::new, |front| front.points.iter().map(FrontPointAnswer::from).collect()),
            together_resolution: together.map(|front| 1.0 / f64::from(front.steps)),
            together_complete: together.map(|front| front.complete),
            channels: advice.channels,
            chips: advice.chips.map(|more| more.chips),
            chips_fewest: advice.chips.map(|more| more.fewest),
            chips_whole_channels: advice.chips.and_then(|more| more.whole_channels),
            logical_ratio: advice.logical_ratio.map(|found| found.ratio.to_f64()),
            logical_ratio_resolution: advice.logical_ratio.map(|found| 1.0 / f64::from(found.steps)),
            load: advice.load_permille.map(|permille| f64::from(permille) / 1_000.0),
            data: advice.less_data.map(|less| f64::from(less.permille) / 1_000.0),
            data_pages: advice.less_data.map(|less| less.pages),
            algorithm: advice.algorithm.map(Text::from),
            program_failures: advice.program_failures,
        }
    }
}

/// A cluster in an [`AllocAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClusterAnswer<'a> {
    /// Its chips, ascending.
    pub chips: Vec<u32>,
    /// The names of its tasks, in the order of the task set.
    pub tasks: Vec<Text<'a>>,
    /// U of the cluster, blocking included, Eq. (IV.9). Under a certificate it equals
    /// `demand_share`, which is no utilization.
    pub utilization: f64,
    /// Under a certificate: demand and blocking of the tightest interval, (dbf(L) + B(L)) / L.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demand_share: Option<f64>,
    /// The share lost to blocking, t_e / min(T).
    pub blocking: f64,
    /// The share of reads.
    pub read_utilization: f64,
    /// The share of writes.
    pub write_utilization: f64,
    /// The share of garbage collection.
    pub gc_utilization: f64,
    /// min(T); null without tasks.
    pub min_period_ns: Option<Nanoseconds>,
    /// U_s = 1 − U, the share of the server for jobs that are not real-time, Eq. (IV.10); 0 where U
    /// is above 1.
    pub server_utilization: f64,
    /// The GC task of each writing task.
    pub gc: Vec<GcAnswer<'a>>,
    /// The certificate: the promise of a sound analysis to the cluster, by which the device runs.
    /// Under such an analysis the shares above are those of the tightest interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<CertificateAnswer>,
    /// Under a certificate that holds: `nothing`, it holds whatever other clusters do;
    /// `neighbours`, because the clusters on its channels move no more than their tasks; `queue`,
    /// because moreover the bus serves first come, first served, transfers take exactly as long as
    /// the device says, and reads sense for no longer, and for less than a transfer shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relies_on: Option<Text<'static>>,
    /// For tasks of the cluster that declare their data: these beside its logical pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataAnswer<'a>>,
}

/// A GC task in a [`ClusterAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct GcAnswer<'a> {
    /// The writing task.
    pub task: Text<'a>,
    /// C^g, Eq. (IV.3).
    pub cost_ns: u64,
    /// T^g, Eq. (IV.4).
    pub period_ns: Nanoseconds,
}

/// Why an algorithm cannot tell, if it cannot.
pub(crate) fn undecided(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::CannotTell(limit) => Some(Limit::to_string(limit)),
        _ => None,
    }
}

impl<'a> AllocAnswer<'a> {
    /// The answer for an outcome.
    pub fn new(
        set: &'a TaskSet,
        algorithm: &'a str,
        analysis: &'a dyn Analysis,
        outcome: &Outcome,
        guarantee: &Guarantee,
        meta: Option<&'a RawValue>,
    ) -> AllocAnswer<'a> {
        let clusters = outcome.allocation().map_or_else(Vec::new, |allocation| {
            let clusters = allocation.clusters().into_iter().zip(report(set, analysis, allocation)).enumerate();
            let holds = outcome.is_schedulable() == Some(true);
            let reliances = if holds { reliances(set, allocation) } else { Vec::new() };
            let answer = |(position, (cluster, report))| ClusterAnswer {
                relies_on: reliance_name(reliances.get(position).copied().flatten()),
                data: DataAnswer::of(set, &cluster, allocation.certificate(position).map(|each| each.placement)),
                ..ClusterAnswer::new(set, cluster, &report, allocation.certificate(position))
            };
            clusters.map(answer).collect()
        });
        let (read_utilization, write_utilization) = match outcome {
            Outcome::Partitioned(verdict) => (Some(verdict.read_utilization), Some(verdict.write_utilization)),
            _ => (None, None),
        };
        AllocAnswer {
            schedulable: outcome.is_schedulable(),
            verdicts: Verdicts::of_outcome(set, algorithm, analysis, outcome, &guarantee.verdict),
            algorithm: algorithm.into(),
            analysis: analysis.name().into(),
            clusters,
            unplaced: UnplacedAnswer::of(set, outcome),
            impossible: proof(set, analysis, outcome).map(|proof| ImpossibleAnswer::new(set, &proof)),
            data: DataAnswer::of_outcome(set, outcome),
            guaranteed: guarantee.verdict.holds(),
            guaranteed_as_placed: guarantee.as_placed,
            relies_on: reliance_name(guarantee.relies_on),
            advice: None,
            read_utilization,
            write_utilization,
            reason: undecided(outcome),
            meta: meta.map(Cow::Borrowed),
        }
    }
}

impl<'a> ClusterAnswer<'a> {
    fn new(
        set: &'a TaskSet,
        cluster: Cluster,
        report: &ClusterReport,
        certificate: Option<&Certificate>,
    ) -> ClusterAnswer<'a> {
        let gc = report.gc_tasks.iter();
        ClusterAnswer {
            tasks: task_names(set, &cluster.tasks),
            chips: chip_numbers(&cluster.chips),
            utilization: report.utilization,
            blocking: report.blocking,
            read_utilization: report.read,
            write_utilization: report.write,
            gc_utilization: report.gc,
            min_period_ns: report.min_period.map(Nanoseconds::from),
            server_utilization: report.server,
            gc: gc
                .map(|gc| GcAnswer {
                    task: task_name(set, gc.task).into(),
                    cost_ns: gc.cost.as_ns(),
                    period_ns: gc.period.into(),
                })
                .collect(),
            demand_share: certificate.map(|_| report.utilization),
            certificate: certificate.map(CertificateAnswer::new),
            relies_on: None,
            data: None,
        }
    }
}
