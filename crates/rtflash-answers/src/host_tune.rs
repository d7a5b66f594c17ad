//! The answer of `rtflash host tune --format json`.

use rtflash_host::run::Scenario;
use rtflash_host::tune::{Measured, Objective, Tuning, k2, mq_deadline, sysfs};
use rtflash_model::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::Text;

/// The answer of `rtflash host tune --format json`: one line.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TuneAnswer<'a> {
    /// The objective: `latency-share`, `bandwidth-share` or `deadline`.
    pub objective: Text<'static>,
    /// The real-time jobs, in the scenario's order.
    pub jobs: Vec<Text<'a>>,
    /// The `deadline` of each, in nanoseconds; null if the scenario states none.
    pub deadline_ns: Vec<Option<u64>>,
    /// The scheduler `none`, beside which shares are.
    pub none: TuneSetting,
    /// All settings that were tried.
    pub settings: Vec<TuneSetting>,
    /// The best of those that are as wanted in every run; null if there is none.
    pub chosen: Option<TuneSetting>,
    /// Settings that can be better, so far as the runs tell: in some run each of these was as
    /// wanted, and better than what was chosen.
    pub rivals: Vec<TuneSetting>,
    /// Runs of each setting, each of a seed of its own.
    pub runs: u32,
    /// How long each run was, in nanoseconds, warm-up included: at least the scenario's `duration`.
    pub run_ns: u64,
    /// The lines that make a Linux host do so; null where nothing was chosen, or no kernel has the
    /// scheduler.
    pub sysfs: Option<Vec<String>>,
    /// Whether what was chosen cuts all that is not real-time; the published K2-split cuts class
    /// idle alone.
    pub cuts_rest: bool,
}

/// A setting in a [`TuneAnswer`], and what came of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TuneSetting {
    /// The scheduler.
    pub scheduler: Text<'static>,
    /// Commands that may be inside; null for any number.
    pub max_inflight: Option<u32>,
    /// Bytes of a piece; null where nothing is cut.
    pub max_sectors: Option<u64>,
    /// Requests of one direction in a row, of mq-deadline; null for other schedulers.
    pub fifo_batch: Option<u32>,
    /// In how many runs it is as wanted.
    pub wanted_in: u32,
    /// I/Os of each real-time job that count in all runs together.
    pub samples: Vec<u64>,
    /// The 99.9th percentile of each real-time job's latency, in nanoseconds, over these; null
    /// where no I/O counts.
    pub p999_ns: Vec<Option<u64>>,
    /// The worst of these beside `none`'s.
    pub latency_share: Option<f64>,
    /// Bytes a second of all jobs together, the mean over the runs.
    pub bytes_per_s: u128,
    /// Bytes a second of the jobs that are not real-time, in the same way.
    pub background_bytes_per_s: u128,
    /// Bytes a second as a share of those with `none`.
    pub bandwidth_share: Option<f64>,
    /// The bound on each real-time job's latency, in nanoseconds; null where there is none.
    pub bound_ns: Vec<Option<u64>>,
    /// I/Os of real-time jobs that took longer than their deadline, in all runs together.
    pub late: u64,
}

impl TuneSetting {
    fn new(of: &Measured, objective: Objective, tuning: &Tuning) -> TuneSetting {
        let k2 = k2(&of.settings);
        let (all, none) = (&of.all, &tuning.none.all);
        let shares = all.tails.iter().zip(&none.tails).map(|(tail, none)| match (tail, none) {
            (Some(tail), Some(none)) if *none > 0 => Some(*tail as f64 / *none as f64),
            _ => None,
        });
        let latency_share = shares.reduce(|one, other| Some(one?.max(other?))).flatten();
        TuneSetting {
            scheduler: of.settings.name().into(),
            max_inflight: k2.map(|k2| k2.max_inflight),
            max_sectors: k2.and_then(|k2| k2.split).map(|split| split.piece()),
            fifo_batch: mq_deadline(&of.settings).map(|of| of.fifo_batch),
            wanted_in: u32::try_from(tuning.times(objective, of)).expect("fewer than 2^32 runs"),
            samples: of.samples.clone(),
            p999_ns: all.tails.clone(),
            latency_share,
            bytes_per_s: all.bytes_per_s,
            background_bytes_per_s: all.background_bytes_per_s,
            bandwidth_share: (none.bytes_per_s > 0).then(|| all.bytes_per_s as f64 / none.bytes_per_s as f64),
            bound_ns: of.bounds.clone(),
            late: all.late,
        }
    }
}

impl<'a> TuneAnswer<'a> {
    /// The answer for a scenario.
    pub fn new(scenario: &'a Scenario, objective: Objective, tuning: &Tuning) -> TuneAnswer<'a> {
        let real_time = || scenario.jobs.iter().filter(|job| job.is_real_time());
        let setting = |of: &Measured| TuneSetting::new(of, objective, tuning);
        let chosen = tuning.best(objective).map(|at| &tuning.measured[at]);
        TuneAnswer {
            objective: match objective {
                Objective::LatencyShare(_) => "latency-share",
                Objective::BandwidthShare(_) => "bandwidth-share",
                Objective::Deadline(_) => "deadline",
            }
            .into(),
            jobs: real_time().map(|job| job.name.as_str().into()).collect(),
            deadline_ns: real_time().map(|job| job.deadline.map(Span::as_ns)).collect(),
            none: setting(&tuning.none),
            settings: tuning.measured.iter().map(setting).collect(),
            chosen: chosen.map(setting),
            rivals: tuning.rivals(objective).into_iter().map(|at| setting(&tuning.measured[at])).collect(),
            runs: u32::try_from(tuning.none.runs.len()).expect("fewer than 2^32 runs"),
            run_ns: tuning.length.as_ns(),
            cuts_rest: chosen
                .and_then(|of| k2(&of.settings)?.split)
                .is_some_and(|split| split.cut == rtflash_host::scheduler::Cut::Rest),
            sysfs: chosen.and_then(|of| sysfs(&of.settings, scenario.host.requests)),
        }
    }
}
