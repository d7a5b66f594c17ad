//! The answer of `rtflash explain --format json`: every term, with the equation's letters spelled
//! out.

use std::borrow::Cow;

use rtflash_analysis::certified::{Held, held, reliances};
use rtflash_analysis::verdict::{report, spaces};
use rtflash_analysis::{Analysis, Assumption, ClusterReport, DemandTest, StreamDemand};
use rtflash_model::{Allocation, Cluster, Device, Reliance, Space, Span, TaskId, TaskSet};
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;

use crate::check::{CheckAnswer, CheckedCluster};
use crate::data::{DataAnswer, on_device};
use crate::grounds::{GroundText, rests_on};
use crate::guarantee::beyond;
use crate::parts::{CertificateAnswer, Nanoseconds, RawMeta, Text, chip_numbers, meta};
use crate::scheme::SchemeTerms;
use crate::verdicts::Verdicts;

/// The terms of one task set, on one line.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Explanation<'a> {
    /// The analysis.
    pub analysis: Text<'a>,
    /// Whether every cluster passes, and the declared data fit, as `check` says it; false where
    /// there is no allocation, null if that is not decided.
    pub schedulable: Option<bool>,
    /// The verdict of Theorem 1, and whether the device guarantees the set.
    #[serde(flatten)]
    pub verdicts: Verdicts,
    /// t_r. Under the thesis's analyses a page's transfer is in it, and in t_w; under the sound
    /// ones it comes on top. If the device says what its times contain, this is the time with the
    /// transfer under the ones, and without it under the others; `gc_pass_ns` has the latter.
    pub page_read_ns: u64,
    /// t_w.
    pub page_program_ns: u64,
    /// t_d.
    pub page_transfer_ns: u64,
    /// t_c: the time that the commands of an operation hold the bus; 0 where they are not counted.
    pub command_ns: u64,
    /// t_e.
    pub block_erase_ns: u64,
    /// Whether t_r and t_w contain the transfer under this analysis.
    pub transfer_included: bool,
    /// ⌈λP⌉: valid pages of a victim block, at most; null, as the next two, under a sound analysis,
    /// which has a bound for each cluster.
    pub valid_pages_bound: Option<u32>,
    /// α: pages that a GC pass frees on a chip, at least.
    pub reclaimed_per_chip: Option<u32>,
    /// C^g, Eq. (IV.3).
    pub gc_pass_ns: Option<u64>,
    /// Why an allocation that would hold is refused: it relies on more than was granted, and the
    /// flag that would do is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The clusters, in order.
    pub clusters: Vec<ExplainedCluster<'a>>,
    /// If tasks declare their data: those of all tasks beside the logical pages of the whole
    /// device. That they fit there does not say that they fit the clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataAnswer<'a>>,
    /// The assumptions of the analysis.
    pub assumes: Vec<AssumptionText>,
    /// The task set's own `meta`, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "meta")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub meta: Option<RawMeta<'a>>,
}

/// The answer without terms to show.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Unexplained<'a> {
    /// Null: it is not decided.
    pub schedulable: Option<bool>,
    /// The verdict of Theorem 1, and whether the device guarantees the set.
    #[serde(flatten)]
    pub verdicts: Verdicts,
    /// The analysis.
    pub analysis: Text<'a>,
    /// Why there are none.
    pub reason: String,
    /// The task set's own `meta`, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "meta")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub meta: Option<RawMeta<'a>>,
}

/// The answer of `rtflash explain --format json` for one task set, on one line.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum ExplainAnswer<'a> {
    /// The terms.
    Terms(Box<Explanation<'a>>),
    /// Why there are none.
    Nothing(Box<Unexplained<'a>>),
}

impl<'de, 'a> Deserialize<'de> for ExplainAnswer<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ExplainAnswer<'a>, D::Error> {
        /// The field that tells one from the other.
        #[derive(Deserialize)]
        struct Found {
            clusters: Option<IgnoredAny>,
        }
        let text = Box::<RawValue>::deserialize(deserializer)?;
        let read = || match serde_json::from_str(text.get())? {
            Found { clusters: Some(_) } => serde_json::from_str(text.get()).map(ExplainAnswer::Terms),
            Found { clusters: None } => serde_json::from_str(text.get()).map(ExplainAnswer::Nothing),
        };
        read().map_err(de::Error::custom)
    }
}

/// An assumption of an analysis.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AssumptionText {
    /// Its name.
    pub name: Text<'static>,
    /// Its words.
    pub statement: Text<'static>,
}

impl AssumptionText {
    fn new(assumption: &Assumption) -> AssumptionText {
        AssumptionText { name: assumption.name.into(), statement: assumption.statement.into() }
    }
}

/// The terms of one cluster.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ClusterTerms")]
pub struct ExplainedCluster<'a> {
    /// Its chips.
    pub chips: Vec<u32>,
    /// Whether it passes, exactly, as `check` says it: in time, and the declared data fit. Null if
    /// that is not decided.
    pub schedulable: Option<bool>,
    /// Whether its test of time passes, exactly, whatever space the data take: U ≤ 1, or what its
    /// certificate says. Null if that is not decided.
    pub in_time: Option<bool>,
    /// Under a sound analysis what `check` has against the verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<String>,
    /// Statements that are wrong, and of no consequence for the verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// If tasks of the cluster declare their data: these beside its logical pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataAnswer<'a>>,
    /// D(s): transfer delay of a page, Eqs. (IV.5) and (IV.6); null under an analysis that does not
    /// have it.
    pub page_delay_ns: Option<u64>,
    /// min(T); null without tasks.
    pub min_period_ns: Option<Nanoseconds>,
    /// t_e / min(T).
    pub blocking: f64,
    /// U, Eq. (IV.9). Under a certificate it equals `demand_share`, which is no utilization.
    pub utilization: f64,
    /// Under a certificate: demand and blocking of the tightest interval, (dbf(L) + B(L)) / L.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demand_share: Option<f64>,
    /// U_s, Eq. (IV.10); 0 where U is above 1.
    pub server_utilization: f64,
    /// Its tasks, by the equations of the thesis; empty under another analysis.
    pub tasks: Vec<TaskTerms<'a>>,
    /// Under one of the field's own schemes (docs/baselines.md): its terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<SchemeTerms<'a>>,
    /// The certificate of a sound analysis, its tightest interval as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<CertificateAnswer>,
    /// Under a certificate: c_r and c_w, the charge of a page that is read or programmed (a row, in
    /// a superblock), and C_g, the longest time of a GC pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<UnitCosts>,
    /// Under a certificate that passes its test of time: its reliance, as `check` says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relies_on: Option<Text<'static>>,
    /// Under a certificate that holds: the grounds of each step, in the order of the argument.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rests_on: Vec<GroundText>,
}

/// The costs of operations in a cluster with a certificate: docs/analysis.md.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct UnitCosts {
    /// c_r; waits for chips whose load is known come on top.
    pub read_ns: u64,
    /// c_w; waits come on top, too.
    pub write_ns: u64,
    /// C_g; null where nothing is ever written.
    pub gc_pass_ns: Option<u64>,
}

/// The terms of one task.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TaskTerms<'a> {
    /// Its name.
    pub task: Text<'a>,
    /// The terms of its read request.
    pub read: Option<StreamTerms>,
    /// The terms of its write request.
    pub write: Option<StreamTerms>,
    /// The terms of its GC task.
    pub gc: Option<GcTerms>,
    /// U_i(s), Eq. (IV.7).
    pub utilization: f64,
}

/// The terms of a read or write request.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct StreamTerms {
    /// r or w.
    pub pages: u64,
    /// C^r or C^w, Eqs. (IV.1) and (IV.2).
    pub service_ns: u64,
    /// D^r or D^w, Eqs. (IV.5) and (IV.6).
    pub delay_ns: u64,
    /// T^r or T^w.
    pub period_ns: u64,
    /// (C + D) / T.
    pub utilization: f64,
}

/// The terms of a GC task.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct GcTerms {
    /// C^g, Eq. (IV.3).
    pub cost_ns: u64,
    /// T^g, Eq. (IV.4).
    pub period_ns: Nanoseconds,
    /// C^g / T^g.
    pub utilization: f64,
}

/// t_r and t_w as the analysis has them: with the transfer under Theorem 1, if the device says what
/// its times contain.
fn page_times(device: &Device, analysis: &dyn Analysis, theorem: bool) -> (Span, Span) {
    let costs = analysis.page_costs(device);
    let time = |on_chip: Span, whole: Span, includes: Option<bool>| {
        if theorem && includes.is_some() { whole } else { on_chip }
    };
    (
        time(device.page_read(), costs.read, device.page_read_includes_transfer()),
        time(device.page_program(), costs.write, device.page_program_includes_transfer()),
    )
}

/// An allocation, and what `check` says of it.
#[derive(Debug)]
pub struct CheckedAllocation<'a> {
    /// The tightest intervals of its certificates are those of the verdict, whatever was stated.
    pub allocation: Allocation,
    /// The verdict on the allocation as it was stated.
    pub verdict: CheckAnswer<'a>,
}

impl<'a> Explanation<'a> {
    /// The terms of an allocation, if there is one.
    pub fn new(
        set: &'a TaskSet,
        analysis: &'a dyn Analysis,
        checked: Option<&CheckedAllocation<'_>>,
        verdicts: Verdicts,
        meta: Option<&'a RawValue>,
    ) -> Explanation<'a> {
        let test = analysis.demand_test();
        let allocation = checked.map(|checked| &checked.allocation);
        let clusters = checked.map_or_else(Vec::new, |CheckedAllocation { allocation, verdict }| {
            let verdicts = verdict.clusters.iter().zip(spaces(set, analysis, allocation));
            let reports = report(set, analysis, allocation).into_iter().zip(verdicts);
            let (helds, reliances): (Vec<Option<Held>>, Vec<Option<Reliance>>) = match test {
                None => (Vec::new(), Vec::new()),
                Some(test) => (held(set, allocation, test.rely_on), reliances(set, allocation)),
            };
            let clusters = allocation.clusters().into_iter().zip(reports).enumerate();
            let terms = |(position, (cluster, (report, (checked, space))))| ExplainedCluster {
                costs: helds.get(position).and_then(Option::as_ref).map(costs),
                rests_on: rests_on(
                    set,
                    allocation,
                    position,
                    helds.get(position).and_then(Option::as_ref),
                    reliances.get(position).copied().flatten(),
                ),
                certificate: allocation.certificate(position).map(CertificateAnswer::new),
                ..ExplainedCluster::new(set, analysis, test, &cluster, &report, checked, &space)
            };
            clusters.map(terms).collect()
        });
        let (device, theorem) = (set.device(), test.is_none());
        let page_times = page_times(device, analysis, theorem);
        Explanation {
            analysis: analysis.name().into(),
            verdicts,
            schedulable: checked.map_or(Some(false), |checked| checked.verdict.schedulable),
            page_read_ns: page_times.0.as_ns(),
            page_program_ns: page_times.1.as_ns(),
            page_transfer_ns: device.page_transfer().as_ns(),
            command_ns: device.command().as_ns(),
            block_erase_ns: device.block_erase().as_ns(),
            transfer_included: theorem,
            valid_pages_bound: theorem.then(|| device.valid_pages_bound()),
            reclaimed_per_chip: theorem.then(|| device.reclaimed_per_chip()),
            gc_pass_ns: theorem.then(|| device.gc_pass().as_ns()),
            reason: allocation.zip(test).and_then(|(allocation, test)| beyond(set, allocation, test.rely_on)),
            clusters,
            data: DataAnswer::new(
                set,
                TaskId::first(if allocation.is_some() { 0 } else { set.tasks().count() }),
                &on_device(set),
            ),
            assumes: analysis.assumes().iter().map(AssumptionText::new).collect(),
            meta: meta.map(Cow::Borrowed),
        }
    }
}

/// The costs of operations in a cluster.
fn costs(held: &Held) -> UnitCosts {
    let (read, write) = held.placed.processor.page_costs();
    UnitCosts { read_ns: read.as_ns(), write_ns: write.as_ns(), gc_pass_ns: held.gc.map(|gc| gc.cost.as_ns()) }
}

impl<'a> ExplainedCluster<'a> {
    fn new(
        set: &'a TaskSet,
        analysis: &dyn Analysis,
        test: Option<DemandTest>,
        cluster: &Cluster,
        report: &ClusterReport,
        checked: &CheckedCluster<'_>,
        space: &Space,
    ) -> ExplainedCluster<'a> {
        let size = cluster.size();
        let placed = test.is_some();
        ExplainedCluster {
            chips: chip_numbers(&cluster.chips),
            schedulable: checked.schedulable,
            in_time: checked.in_time,
            complaints: checked.complaints.clone(),
            notes: checked.notes.clone(),
            data: DataAnswer::new(set, cluster.tasks.iter().copied(), space),
            demand_share: checked.demand_share,
            page_delay_ns: (!placed).then(|| analysis.transfer_delay(set.device(), size).as_ns()),
            min_period_ns: report.min_period.map(Nanoseconds::from),
            blocking: checked.blocking,
            utilization: checked.utilization,
            server_utilization: report.server,
            tasks: match placed {
                true => Vec::new(),
                false => cluster.tasks.iter().filter_map(|&task| TaskTerms::new(set, analysis, task, size)).collect(),
            },
            scheme: SchemeTerms::new(set, analysis.name(), cluster),
            certificate: None,
            costs: None,
            relies_on: checked.relies_on.clone(),
            rests_on: Vec::new(),
        }
    }
}

impl<'a> TaskTerms<'a> {
    fn new(set: &'a TaskSet, analysis: &dyn Analysis, task: TaskId, size: u32) -> Option<TaskTerms<'a>> {
        let task = set.tasks().get(task)?;
        let demand = analysis.demand(set.device(), task, size)?;
        let stream = |stream: StreamDemand| StreamTerms {
            pages: stream.pages,
            service_ns: stream.service.as_ns(),
            delay_ns: stream.delay.as_ns(),
            period_ns: stream.period.as_ns(),
            utilization: stream.utilization().to_f64(),
        };
        let gc = demand.gc.map(|gc| GcTerms {
            cost_ns: gc.cost.as_ns(),
            period_ns: gc.period.into(),
            utilization: gc.utilization().to_f64(),
        });
        Some(TaskTerms {
            task: task.name.as_str().into(),
            read: demand.read.map(stream),
            write: demand.write.map(stream),
            gc,
            utilization: demand
                .utilizations()
                .map(rtflash_analysis::Fraction::to_f64)
                .fold(0.0, |sum, share| sum + share),
        })
    }
}
