//! What `rtflash explain --format json` prints: every term, with the equation's letters spelled out.

use rtflash_alloc::analysis::{Analysis, ClusterReport, StreamDemand};
use rtflash_alloc::verdict::{passing, report};
use rtflash_model::{Allocation, Cluster, TaskSet};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use super::wire::{CertificateAnswer, Nanoseconds};

/// The terms of one task set, on one line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explanation<'a> {
    /// The analysis.
    pub analysis: &'a str,
    /// Whether every cluster passes; false where there is no allocation.
    pub schedulable: bool,
    /// ⌈λP⌉: valid pages of a victim block, at most.
    pub valid_pages_bound: u32,
    /// α: pages that a GC pass frees on a chip, at least.
    pub reclaimed_per_chip: u32,
    /// C^g, Eq. (IV.3).
    pub gc_pass_ns: u64,
    /// The clusters, in order.
    pub clusters: Vec<ClusterTerms<'a>>,
    /// What the analysis takes for granted.
    pub assumes: Vec<AssumptionText>,
    /// The task set's own `meta`, as it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub meta: Option<&'a RawValue>,
}

/// An assumption of an analysis.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AssumptionText {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub statement: &'static str,
}

/// The terms of one cluster.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClusterTerms<'a> {
    /// Its chips.
    pub chips: Vec<u32>,
    /// Whether U ≤ 1, exactly.
    pub schedulable: bool,
    /// D(s): transfer delay of a page, Eqs. (IV.5) and (IV.6); null under an analysis that does not have it.
    pub page_delay_ns: Option<u64>,
    /// min(T); null without tasks.
    pub min_period_ns: Option<Nanoseconds>,
    /// t_e / min(T).
    pub blocking: f64,
    /// U, Eq. (IV.9).
    pub utilization: f64,
    /// U_s, Eq. (IV.10); 0 where U is above 1.
    pub server_utilization: f64,
    /// Its tasks, by the equations of the thesis; empty under another analysis.
    pub tasks: Vec<TaskTerms<'a>>,
    /// What a sound analysis promises of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<CertificateAnswer>,
}

/// The terms of one task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskTerms<'a> {
    /// Its name.
    pub task: &'a str,
    /// Of its read request.
    pub read: Option<StreamTerms>,
    /// Of its write request.
    pub write: Option<StreamTerms>,
    /// Of its GC task.
    pub gc: Option<GcTerms>,
    /// U_i(s), Eq. (IV.7).
    pub utilization: f64,
}

/// The terms of a read or write request.
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
pub struct GcTerms {
    /// C^g, Eq. (IV.3).
    pub cost_ns: u64,
    /// T^g, Eq. (IV.4).
    pub period_ns: Nanoseconds,
    /// C^g / T^g.
    pub utilization: f64,
}

impl<'a> Explanation<'a> {
    /// The terms of an allocation, if there is one.
    pub fn new(
        set: &'a TaskSet,
        analysis: &'a dyn Analysis,
        allocation: Option<&Allocation>,
        meta: Option<&'a RawValue>,
    ) -> Explanation<'a> {
        let clusters = allocation.map_or_else(Vec::new, |allocation| {
            let reports = report(set, analysis, allocation).into_iter().zip(passing(set, analysis, allocation));
            let clusters = allocation.clusters().into_iter().zip(reports).enumerate();
            let terms = |(position, (cluster, (report, passes)))| ClusterTerms {
                certificate: allocation.certificate(position).map(CertificateAnswer::new),
                ..ClusterTerms::new(set, analysis, &cluster, &report, passes)
            };
            clusters.map(terms).collect()
        });
        let assumes = analysis.assumes().iter();
        Explanation {
            analysis: analysis.name(),
            schedulable: allocation.is_some() && clusters.iter().all(|cluster| cluster.schedulable),
            valid_pages_bound: set.device().valid_pages_bound(),
            reclaimed_per_chip: set.device().reclaimed_per_chip(),
            gc_pass_ns: set.device().gc_pass().as_ns(),
            clusters,
            assumes: assumes
                .map(|assumption| AssumptionText { name: assumption.name, statement: assumption.statement })
                .collect(),
            meta,
        }
    }
}

impl<'a> ClusterTerms<'a> {
    fn new(
        set: &'a TaskSet,
        analysis: &dyn Analysis,
        cluster: &Cluster,
        report: &ClusterReport,
        schedulable: bool,
    ) -> ClusterTerms<'a> {
        let size = cluster.size();
        let placed = !analysis.placements().is_empty();
        ClusterTerms {
            chips: cluster.chips.clone(),
            schedulable,
            page_delay_ns: (!placed).then(|| analysis.transfer_delay(set.device(), size).as_ns()),
            min_period_ns: report.min_period.map(Nanoseconds),
            blocking: report.blocking,
            utilization: report.utilization,
            server_utilization: report.server,
            tasks: match placed {
                true => Vec::new(),
                false => cluster.tasks.iter().filter_map(|&task| TaskTerms::new(set, analysis, task, size)).collect(),
            },
            certificate: None,
        }
    }
}

impl<'a> TaskTerms<'a> {
    fn new(set: &'a TaskSet, analysis: &dyn Analysis, task: usize, size: u32) -> Option<TaskTerms<'a>> {
        let task = set.tasks().get(task)?;
        let demand = analysis.demand(set.device(), task, size);
        let stream = |stream: StreamDemand| StreamTerms {
            pages: stream.pages,
            service_ns: stream.service.as_ns(),
            delay_ns: stream.delay.as_ns(),
            period_ns: stream.period.as_ns(),
            utilization: stream.utilization().to_f64(),
        };
        let gc = demand.gc.map(|gc| GcTerms {
            cost_ns: gc.cost.as_ns(),
            period_ns: Nanoseconds(gc.period),
            utilization: gc.utilization().to_f64(),
        });
        Some(TaskTerms {
            task: &task.name,
            read: demand.read.map(stream),
            write: demand.write.map(stream),
            gc,
            utilization: demand.utilizations().map(rtflash_alloc::Fraction::to_f64).fold(0.0, |sum, share| sum + share),
        })
    }
}
