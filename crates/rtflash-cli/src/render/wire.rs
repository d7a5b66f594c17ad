//! What the commands print as JSON. Times are numbers of nanoseconds and their names end in `_ns`; utilizations are shares of one.

use rtflash_alloc::Fraction;
use rtflash_alloc::advice::Advice;
use rtflash_alloc::allocator::{Limit, Outcome};
use rtflash_alloc::analysis::{Analysis, ClusterReport};
use rtflash_alloc::sound::reliances;
use rtflash_alloc::verdict::report;
use rtflash_check::{Judgement, SoundJudgement};
use rtflash_model::{Certificate, Cluster, Reliance, TaskSet};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::data::DataAnswer;
pub use super::envelope::{line, pretty};
use super::unplaced::UnplacedAnswer;
use crate::commands::guarantee::Guarantee;

/// What `rtflash alloc --format json` prints for one task set, on one line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AllocAnswer<'a> {
    /// Whether every deadline is met, and the declared data fit: true, false, or null where the algorithm cannot tell.
    pub schedulable: Option<bool>,
    /// The algorithm that divided the chips.
    pub algorithm: &'a str,
    /// The analysis that decided.
    pub analysis: &'a str,
    /// The clusters, in order; those without tasks serve jobs that are not real-time. Empty where there is no complete allocation.
    pub clusters: Vec<ClusterAnswer<'a>>,
    /// The task that could not be placed, and why.
    pub unplaced: Option<UnplacedAnswer<'a>>,
    /// Whether the set is promised on the device: `--analysis sound` accepts it, with these clusters or with clusters of its own. Null where that was
    /// not asked (`--guarantee`, `--no-guarantee`) or cannot be told.
    pub guaranteed: Option<bool>,
    /// Whether the clusters printed here are; null as above, and where none are printed.
    pub guaranteed_as_placed: Option<bool>,
    /// What the promise relies on: `nothing`, `neighbours` or `queue`, the most that any of the clusters needs; null where nothing is promised.
    pub relies_on: Option<&'static str>,
    /// What would make the set schedulable: for a single set that is not, null otherwise.
    pub advice: Option<AdviceAnswer>,
    /// Where tasks declare their data: those of all tasks beside the logical pages of the whole device (with `part-ftl`, of its data chips). That they
    /// fit there does not say that they fit the clusters.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub meta: Option<&'a RawValue>,
}

/// Changes each of which alone makes the set schedulable, in an [`AllocAnswer`]; null where none was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AdviceAnswer {
    /// A number of chips that is enough.
    pub chips: Option<u32>,
    /// Whether every number of chips between was tried and fails; null without such a number.
    pub chips_fewest: Option<bool>,
    /// The next number of chips that fills whole channels and is enough, where `chips` does not.
    pub chips_whole_channels: Option<u32>,
    /// A λ that is small enough; where data do not fit, one that is large enough.
    pub logical_ratio: Option<f64>,
    /// The share of the load that can be carried: every period divided by it.
    pub load: Option<f64>,
    /// Where data do not fit: the share of each task's data that would.
    pub data: Option<f64>,
    /// All data then, in pages.
    pub data_pages: Option<u128>,
    /// Where data do not fit: another algorithm whose clusters hold them.
    pub algorithm: Option<&'static str>,
}

impl From<Advice> for AdviceAnswer {
    fn from(advice: Advice) -> AdviceAnswer {
        AdviceAnswer {
            chips: advice.chips.map(|more| more.chips),
            chips_fewest: advice.chips.map(|more| more.fewest),
            chips_whole_channels: advice.chips.and_then(|more| more.whole_channels),
            logical_ratio: advice.logical_ratio.map(|ratio| ratio.to_f64()),
            load: advice.load_permille.map(|permille| f64::from(permille) / 1_000.0),
            data: advice.less_data.map(|less| f64::from(less.permille) / 1_000.0),
            data_pages: advice.less_data.map(|less| less.pages),
            algorithm: advice.algorithm,
        }
    }
}

/// A cluster in an [`AllocAnswer`].
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClusterAnswer<'a> {
    /// Its chips, ascending.
    pub chips: Vec<u32>,
    /// The names of its tasks, in the order of the task set.
    pub tasks: Vec<&'a str>,
    /// U of the cluster, blocking included, Eq. (IV.9). With a certificate the same as `demand_share`, which is no utilization.
    pub utilization: f64,
    /// With a certificate: demand and blocking of the tightest interval, (dbf(L) + B(L)) / L.
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
    /// U_s = 1 − U, the share of the server for jobs that are not real-time, Eq. (IV.10); 0 where U is above 1.
    pub server_utilization: f64,
    /// The GC task of each writing task.
    pub gc: Vec<GcAnswer<'a>>,
    /// What a sound analysis promises of the cluster, and the device runs by. Under such an analysis the shares above are those of the tightest interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<CertificateAnswer>,
    /// With a certificate, where the cluster holds: `nothing`, it holds whatever other clusters do; `neighbours`, because the clusters on its channels
    /// move no more than their tasks; `queue`, because moreover the bus serves first come, first served, and page reads and transfers take exactly as
    /// long as the device says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relies_on: Option<&'static str>,
    /// Where tasks of the cluster declare their data: these beside its logical pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataAnswer<'a>>,
}

/// A certificate, in a [`ClusterAnswer`]: docs/analysis.md.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CertificateAnswer {
    /// How pages are placed: `stripe` or `superblock`.
    pub kind: &'static str,
    /// D_g: relative deadline of a GC job; null where no real-time task writes.
    pub gc_deadline_ns: Option<u64>,
    /// α: pages that a pass reclaims, at least; null, as the next three, where nothing is ever written.
    pub reclaimed_pages: Option<u64>,
    /// H: free pages kept in reserve.
    pub reserve_pages: Option<u64>,
    /// v: valid pages of a victim, at most.
    pub victim_pages: Option<u64>,
    /// F: blocks that cannot be victims, at most.
    pub open_blocks: Option<u64>,
    /// U_s in thousandths, of each chip of a stripe.
    pub server_thousandths: u32,
    /// The tightest interval L; null without tasks.
    pub tightest_ns: Option<u64>,
    /// What is left of it beside demand, blocking and the server, rounded down. Below zero where the test fails.
    pub slack_ns: Option<i64>,
}

impl CertificateAnswer {
    /// The certificate as it is written.
    pub fn new(certificate: &Certificate) -> CertificateAnswer {
        let (gc, tightest) = (certificate.collection, certificate.tightest);
        CertificateAnswer {
            kind: certificate.placement.name(),
            gc_deadline_ns: gc.and_then(|gc| gc.deadline).map(rtflash_model::Span::as_ns),
            reclaimed_pages: gc.map(|gc| gc.reclaimed_pages),
            reserve_pages: gc.map(|gc| gc.reserve_pages),
            victim_pages: gc.map(|gc| gc.victim_pages),
            open_blocks: gc.map(|gc| gc.open_blocks),
            server_thousandths: certificate.server_thousandths,
            tightest_ns: tightest.map(|tightest| tightest.length.as_ns()),
            slack_ns: tightest.map(|tightest| tightest.slack_ns),
        }
    }
}

/// A GC task in a [`ClusterAnswer`].
#[derive(Debug, Serialize, JsonSchema)]
pub struct GcAnswer<'a> {
    /// The writing task.
    pub task: &'a str,
    /// C^g, Eq. (IV.3).
    pub cost_ns: u64,
    /// T^g, Eq. (IV.4).
    pub period_ns: Nanoseconds,
}

/// A time in nanoseconds that need not be whole.
#[derive(Debug, Clone, Copy)]
pub struct Nanoseconds(pub Fraction);

impl Serialize for Nanoseconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_whole() {
            serializer.serialize_u128(self.0.floor())
        } else {
            serializer.serialize_f64(self.0.to_f64())
        }
    }
}

impl JsonSchema for Nanoseconds {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Nanoseconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "number", "exclusiveMinimum": 0 })
    }
}

/// The name of a task by its position.
pub fn task_name(set: &TaskSet, task: usize) -> &str {
    set.tasks().get(task).map_or("", |task| task.name.as_str())
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
            let holds = outcome.is_schedulable() == Some(true) && !analysis.placements().is_empty();
            let reliances = if holds { reliances(set, allocation) } else { Vec::new() };
            let answer = |(position, (cluster, report))| ClusterAnswer {
                relies_on: reliances.get(position).and_then(|reliance: &Option<Reliance>| reliance.map(Reliance::name)),
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
            algorithm,
            analysis: analysis.name(),
            clusters,
            unplaced: UnplacedAnswer::of(set, outcome),
            data: DataAnswer::of_outcome(set, outcome),
            guaranteed: guarantee.set,
            guaranteed_as_placed: guarantee.as_placed,
            relies_on: guarantee.relies_on.map(Reliance::name),
            advice: None,
            read_utilization,
            write_utilization,
            reason: match outcome {
                Outcome::CannotTell(limit) => Some(Limit::to_string(limit)),
                _ => None,
            },
            meta,
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
            tasks: cluster.tasks.iter().map(|&task| task_name(set, task)).collect(),
            chips: cluster.chips,
            utilization: report.utilization,
            blocking: report.blocking,
            read_utilization: report.read,
            write_utilization: report.write,
            gc_utilization: report.gc,
            min_period_ns: report.min_period.map(Nanoseconds),
            server_utilization: report.server,
            gc: gc
                .map(|gc| GcAnswer {
                    task: task_name(set, gc.task),
                    cost_ns: gc.cost.as_ns(),
                    period_ns: Nanoseconds(gc.period),
                })
                .collect(),
            demand_share: certificate.map(|_| report.utilization),
            certificate: certificate.map(CertificateAnswer::new),
            relies_on: None,
            data: None,
        }
    }
}

/// What `rtflash check --format json` prints for one task set and its allocation, on one line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckAnswer<'a> {
    /// Whether every cluster passes; null where that cannot be told.
    pub schedulable: Option<bool>,
    /// The analysis that was tested with.
    pub analysis: &'a str,
    /// The clusters, in order; none where there is no allocation.
    pub clusters: Vec<CheckedCluster<'a>>,
    /// Why there is no allocation to test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The task set's own `meta`, as it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub meta: Option<&'a RawValue>,
}

/// A cluster in a [`CheckAnswer`].
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckedCluster<'a> {
    /// Its chips.
    pub chips: Vec<u32>,
    /// The names of its tasks.
    pub tasks: Vec<&'a str>,
    /// Whether it passes, exactly: U ≤ 1, and the declared data fit; under a sound analysis, whether demand and blocking fit into every interval, relying on
    /// no more than is granted, the data fit, and the certificate states no less than the load needs. Null where that cannot be told.
    pub schedulable: Option<bool>,
    /// Whether its test of time passes, whatever space the data take. Null where that cannot be told.
    pub in_time: Option<bool>,
    /// U, Eq. (IV.9), to the nearest double. Under a sound analysis the same as `demand_share`, which is no utilization.
    pub utilization: f64,
    /// Under a sound analysis: demand and blocking of the tightest interval, (dbf(L) + B(L)) / L.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demand_share: Option<f64>,
    /// t_e / min(T); under a sound analysis the share of that interval that is blocking.
    pub blocking: f64,
    /// Under a sound analysis the least that the cluster relies on to hold, whether it is granted or not: `nothing`, `neighbours` or `queue`, as in
    /// what `alloc` prints. Null where it does not hold, and under other analyses.
    pub relies_on: Option<&'static str>,
    /// Under a sound analysis: what is stated that promises more than is so, or less than is needed, and what is relied on that is not granted.
    pub complaints: Vec<String>,
    /// What is stated and is not so any more, and of no consequence for the verdict: numbers that another load had, tasks that are gone.
    pub notes: Vec<String>,
    /// The utilization by each of the tests, where there are several.
    #[serde(skip)]
    #[schemars(skip)]
    pub utilizations: Vec<f64>,
    /// Where tasks of the cluster declare their data: these beside its logical pages. Where they do not fit, `schedulable` is false under every analysis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataAnswer<'a>>,
}

impl<'a> CheckAnswer<'a> {
    /// The answer for a judgement.
    pub fn new(
        set: &'a TaskSet,
        analysis: &'a str,
        judgement: &Judgement,
        meta: Option<&'a RawValue>,
    ) -> CheckAnswer<'a> {
        let clusters = judgement.clusters.iter().map(|judged| CheckedCluster {
            chips: judged.cluster.chips.clone(),
            tasks: judged.cluster.tasks.iter().map(|&task| task_name(set, task)).collect(),
            schedulable: Some(judged.schedulable),
            in_time: Some(judged.in_time),
            demand_share: None,
            utilization: judged.utilization,
            blocking: judged.blocking,
            relies_on: None,
            complaints: Vec::new(),
            notes: Vec::new(),
            utilizations: Vec::new(),
            data: DataAnswer::new(set, judged.cluster.tasks.iter().copied(), &judged.space),
        });
        CheckAnswer {
            schedulable: Some(judgement.schedulable()),
            analysis,
            clusters: clusters.collect(),
            reason: None,
            meta,
        }
    }

    /// The answer where there is no allocation to test.
    pub fn nothing(
        analysis: &'a str,
        schedulable: Option<bool>,
        reason: String,
        meta: Option<&'a RawValue>,
    ) -> CheckAnswer<'a> {
        CheckAnswer { schedulable, analysis, clusters: Vec::new(), reason: Some(reason), meta }
    }

    /// The answer for a judgement of certificates, where so much is granted.
    pub fn sound(
        set: &'a TaskSet,
        analysis: &'a str,
        judgement: &SoundJudgement,
        granted: Reliance,
        meta: Option<&'a RawValue>,
    ) -> CheckAnswer<'a> {
        let clusters = judgement.clusters.iter().map(|judged| {
            let beyond = judged.relies_on.filter(|&needed| needed > granted);
            let refusal = beyond.map(|needed| {
                format!("it relies on {}, more than `--rely-on {}` grants", relied_on(needed), granted.name())
            });
            CheckedCluster {
                chips: judged.cluster.chips.clone(),
                tasks: judged.cluster.tasks.iter().map(|&task| task_name(set, task)).collect(),
                schedulable: if judged.complaints.is_empty() { judged.holds } else { Some(false) },
                in_time: judged.in_time,
                demand_share: Some(judged.shares.as_ref().map_or(0.0, |shares| shares.utilization)),
                utilization: judged.shares.as_ref().map_or(0.0, |shares| shares.utilization),
                blocking: judged.shares.as_ref().map_or(0.0, |shares| shares.blocking),
                relies_on: judged.relies_on.map(Reliance::name),
                complaints: refusal.into_iter().chain(judged.complaints.iter().cloned()).collect(),
                notes: judged.notes.clone(),
                utilizations: judged.utilizations.clone(),
                data: DataAnswer::new(set, judged.cluster.tasks.iter().copied(), &judged.space),
            }
        });
        let clusters: Vec<CheckedCluster<'a>> = clusters.collect();
        let schedulable = if clusters.iter().any(|cluster| cluster.schedulable == Some(false)) {
            Some(false)
        } else {
            clusters.iter().all(|cluster| cluster.schedulable.is_some()).then_some(true)
        };
        CheckAnswer { schedulable, analysis, clusters, reason: None, meta }
    }
}

/// What a cluster relies on, in words.
pub fn relied_on(reliance: Reliance) -> &'static str {
    match reliance {
        Reliance::Nothing => "nothing but its own certificate",
        Reliance::Neighbours => "its neighbours",
        Reliance::Queue => "its neighbours and the queue for the bus",
    }
}
