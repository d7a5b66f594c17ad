//! What `rtflash check --format json` prints of an allocation.

use std::borrow::Cow;

use rtflash_check::{CertifiedVerification, Verification};
use rtflash_model::{Reliance, TaskSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::data::DataAnswer;
use crate::parts::{RawMeta, Text, chip_numbers, meta, reliance_name, task_names};

/// What `rtflash check --format json` prints for one task set and its allocation, on one line.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CheckAnswer<'a> {
    /// Whether every cluster passes; null where that cannot be told.
    pub schedulable: Option<bool>,
    /// The analysis that was tested with.
    pub analysis: Text<'a>,
    /// The clusters, in order; none where there is no allocation.
    pub clusters: Vec<CheckedCluster<'a>>,
    /// Why there is no allocation to test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The task set's own `meta`, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "meta")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub meta: Option<RawMeta<'a>>,
}

/// A cluster in a [`CheckAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CheckedCluster<'a> {
    /// Its chips.
    pub chips: Vec<u32>,
    /// The names of its tasks.
    pub tasks: Vec<Text<'a>>,
    /// Whether it passes, exactly: U ≤ 1, and the declared data fit; under a sound analysis,
    /// whether demand and blocking fit into every interval, relying on no more than is granted, the
    /// data fit, and the certificate states no less than the load needs. Null where that cannot be
    /// told.
    pub schedulable: Option<bool>,
    /// Whether its test of time passes, whatever space the data take. Null where that cannot be
    /// told.
    pub in_time: Option<bool>,
    /// U, Eq. (IV.9), to the nearest double. Under a sound analysis the same as `demand_share`,
    /// which is no utilization.
    pub utilization: f64,
    /// Under a sound analysis: demand and blocking of the tightest interval, (dbf(L) + B(L)) / L.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demand_share: Option<f64>,
    /// t_e / min(T); under a sound analysis the share of that interval that is blocking.
    pub blocking: f64,
    /// Under a sound analysis the least that the cluster relies on to hold, whether it is granted
    /// or not: `nothing`, `neighbours` or `queue`, as in what `alloc` prints. Null where it does
    /// not hold, and under other analyses.
    pub relies_on: Option<Text<'static>>,
    /// Under a sound analysis: what is stated that promises more than is so, or less than is
    /// needed, and what is relied on that is not granted.
    pub complaints: Vec<String>,
    /// What is stated and is not so any more, and of no consequence for the verdict: numbers that
    /// another load had, tasks that are gone.
    pub notes: Vec<String>,
    /// Where tasks of the cluster declare their data: these beside its logical pages. Where they do
    /// not fit, `schedulable` is false under every analysis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataAnswer<'a>>,
}

impl<'a> CheckAnswer<'a> {
    /// The answer for a verification.
    pub fn new(
        set: &'a TaskSet,
        analysis: &'a str,
        verification: &Verification,
        meta: Option<&'a RawValue>,
    ) -> CheckAnswer<'a> {
        let clusters = verification.clusters.iter().map(|judged| CheckedCluster {
            chips: chip_numbers(&judged.cluster.chips),
            tasks: task_names(set, &judged.cluster.tasks),
            schedulable: Some(judged.schedulable),
            in_time: Some(judged.in_time),
            demand_share: None,
            utilization: judged.utilization,
            blocking: judged.blocking,
            relies_on: None,
            complaints: Vec::new(),
            notes: Vec::new(),
            data: DataAnswer::new(set, judged.cluster.tasks.iter().copied(), &judged.space),
        });
        CheckAnswer {
            schedulable: Some(verification.schedulable()),
            analysis: analysis.into(),
            clusters: clusters.collect(),
            reason: None,
            meta: meta.map(Cow::Borrowed),
        }
    }

    /// The answer where there is no allocation to test.
    pub fn nothing(
        analysis: &'a str,
        schedulable: Option<bool>,
        reason: String,
        meta: Option<&'a RawValue>,
    ) -> CheckAnswer<'a> {
        let meta = meta.map(Cow::Borrowed);
        CheckAnswer { schedulable, analysis: analysis.into(), clusters: Vec::new(), reason: Some(reason), meta }
    }

    /// The answer for a verification of certificates, where so much is granted.
    pub fn sound(
        set: &'a TaskSet,
        analysis: &'a str,
        verification: &CertifiedVerification,
        granted: Reliance,
        meta: Option<&'a RawValue>,
    ) -> CheckAnswer<'a> {
        let clusters = verification.clusters.iter().map(|judged| {
            let beyond = judged.relies_on.filter(|&needed| needed > granted);
            let refusal = beyond.map(|needed| {
                format!("it relies on {}, more than `--rely-on {}` grants", relied_on(needed), granted.name())
            });
            CheckedCluster {
                chips: chip_numbers(&judged.cluster.chips),
                tasks: task_names(set, &judged.cluster.tasks),
                schedulable: if judged.discrepancies.is_empty() { judged.holds } else { Some(false) },
                in_time: judged.in_time,
                demand_share: Some(judged.shares.as_ref().map_or(0.0, |shares| shares.utilization)),
                utilization: judged.shares.as_ref().map_or(0.0, |shares| shares.utilization),
                blocking: judged.shares.as_ref().map_or(0.0, |shares| shares.blocking),
                relies_on: reliance_name(judged.relies_on),
                complaints: refusal.into_iter().chain(judged.discrepancies.iter().cloned()).collect(),
                notes: judged.notes.clone(),
                data: DataAnswer::new(set, judged.cluster.tasks.iter().copied(), &judged.space),
            }
        });
        let clusters: Vec<CheckedCluster<'a>> = clusters.collect();
        let schedulable = if clusters.iter().any(|cluster| cluster.schedulable == Some(false)) {
            Some(false)
        } else {
            clusters.iter().all(|cluster| cluster.schedulable.is_some()).then_some(true)
        };
        let meta = meta.map(Cow::Borrowed);
        CheckAnswer { schedulable, analysis: analysis.into(), clusters, reason: None, meta }
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
