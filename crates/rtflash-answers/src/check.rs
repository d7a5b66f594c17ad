//! The answer of `rtflash check --format json` about an allocation.

use std::borrow::Cow;

use rtflash_analysis::Analysis;
use rtflash_model::{Reliance, TaskSet, capped, format_ns};
use rtflash_verify::{CertifiedVerification, Shares, Verification};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::data::DataAnswer;
use crate::parts::{RawMeta, Text, chip_numbers, meta, reliance_name, task_names};
use crate::reasons::load_above_one;
use crate::verdicts::{Verdict, Verdicts};

/// The answer of `rtflash check --format json` for one task set and its allocation, on one line.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CheckAnswer<'a> {
    /// Whether every cluster passes; null if that is not decided.
    pub schedulable: Option<bool>,
    /// The verdict of Theorem 1 on the set, and its guarantee.
    #[serde(flatten)]
    pub verdicts: Verdicts,
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
    /// data fit, and the certificate states no less than the load needs. Null if that is not
    /// decided.
    pub schedulable: Option<bool>,
    /// Whether its test of time passes, whatever space the data take. Null if that is not decided.
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
    /// needed, and what is relied on that is not granted. Under one of the field's schemes: what
    /// forbids the cluster whatever its utilization.
    pub complaints: Vec<String>,
    /// Statements that no longer hold and do not change the verdict: numbers that another load had,
    /// tasks that are gone.
    pub notes: Vec<String>,
    /// For tasks of the cluster that declare their data: these beside its logical pages. If they do
    /// not fit, `schedulable` is false under every analysis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataAnswer<'a>>,
}

impl<'a> CheckAnswer<'a> {
    /// The answer for a verification.
    pub fn new(
        set: &'a TaskSet,
        analysis: &dyn Analysis,
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
            complaints: judged.obstacle.iter().cloned().collect(),
            notes: Vec::new(),
            data: DataAnswer::new(set, judged.cluster.tasks.iter().copied(), &judged.space),
        });
        CheckAnswer::tested(set, analysis, clusters.collect(), |_| String::new(), meta)
    }

    /// The answer where there is no allocation to test.
    pub fn nothing(
        set: &TaskSet,
        analysis: &dyn Analysis,
        own: Verdict,
        meta: Option<&'a RawValue>,
    ) -> CheckAnswer<'a> {
        CheckAnswer {
            schedulable: own.holds(),
            verdicts: Verdicts::of(set, analysis, &own),
            analysis: analysis.name().into(),
            clusters: Vec::new(),
            reason: own.reason,
            meta: meta.map(Cow::Borrowed),
        }
    }

    /// The answer for a verification of certificates, where so much is granted.
    pub fn sound(
        set: &'a TaskSet,
        analysis: &dyn Analysis,
        verification: &CertifiedVerification,
        granted: Reliance,
        meta: Option<&'a RawValue>,
    ) -> CheckAnswer<'a> {
        let clusters = verification.clusters.iter().map(|judged| {
            let beyond = judged.relies_on.filter(|&needed| needed > granted);
            let refusal = beyond.map(|needed| {
                format!("it relies on {}, more than `--assume {}` grants", relied_on(needed), granted.assumption())
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
        let lack = |position: usize| lack(verification.clusters[position].shares);
        CheckAnswer::tested(set, analysis, clusters.collect(), lack, meta)
    }

    /// The answer for clusters that were tested; `lack` is the reason where a cluster has neither a
    /// load above 1 nor a complaint.
    fn tested(
        set: &TaskSet,
        analysis: &dyn Analysis,
        clusters: Vec<CheckedCluster<'a>>,
        lack: impl Fn(usize) -> String,
        meta: Option<&'a RawValue>,
    ) -> CheckAnswer<'a> {
        let own = own(analysis, &clusters, lack);
        CheckAnswer {
            schedulable: own.holds(),
            verdicts: Verdicts::of(set, analysis, &own),
            analysis: analysis.name().into(),
            clusters,
            reason: None,
            meta: meta.map(Cow::Borrowed),
        }
    }
}

/// Loads from here on are those of certificates whose interval is none.
const OVERLOAD: f64 = 1e9;

/// The verdict on tested clusters: of a no, by the first cluster that fails.
fn own(analysis: &dyn Analysis, clusters: &[CheckedCluster<'_>], lack: impl Fn(usize) -> String) -> Verdict {
    let first = |verdict: Option<bool>| clusters.iter().position(|cluster| cluster.schedulable == verdict);
    let is_of_demand = analysis.demand_test().is_some();
    if let Some(position) = first(Some(false)) {
        let cluster = &clusters[position];
        return Verdict::no(match &cluster.data {
            Some(data) if !data.fits => {
                let time = match cluster.in_time {
                    Some(true) => "its test of time passes",
                    Some(false) => "it fails its test of time, too",
                    None => "its test of time was given up",
                };
                format!("the data of cluster {position} do not fit, and {time}")
            }
            _ if is_of_demand && cluster.utilization > 1.0 && cluster.utilization < OVERLOAD => {
                let filled = load_above_one(cluster.utilization);
                format!("cluster {position} has a demand of {filled} in its tightest interval, the limit is 1")
            }
            // A scheme of the field may have another obstacle.
            _ if analysis.is_theorem()
                || (!is_of_demand && cluster.utilization > 1.0 && cluster.complaints.is_empty()) =>
            {
                format!("cluster {position} has U = {}, the limit is 1", load_above_one(cluster.utilization))
            }
            _ => {
                let reason = cluster.complaints.first().cloned().unwrap_or_else(|| lack(position));
                format!("cluster {position} fails: {reason}")
            }
        });
    }
    match first(None) {
        Some(position) => Verdict::cannot_tell(format!("the test of cluster {position} was given up")),
        None => Verdict::YES,
    }
}

/// The reason of a test of time that fails where the tightest interval has a demand of at most 1.
fn lack(shares: Option<Shares>) -> String {
    match shares {
        Some(Shares { slack_ns, length_ns, .. }) if slack_ns < 0 => {
            let [lacking, length] = [capped(slack_ns.unsigned_abs()), length_ns].map(format_ns);
            format!("demand, blocking and the server's share exceed an interval of {length} by {lacking}")
        }
        _ => "its load in the long run leaves no room".into(),
    }
}

/// The reliance of a cluster, in words.
pub fn relied_on(reliance: Reliance) -> &'static str {
    match reliance {
        Reliance::Nothing => "nothing but its own certificate",
        Reliance::Neighbours => "its neighbours",
        Reliance::Queue => "its neighbours and the queue for the bus",
    }
}
