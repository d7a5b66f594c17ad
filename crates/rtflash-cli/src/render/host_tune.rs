//! What `host tune` answers.

use rtflash_host::run::Scenario;
use rtflash_host::tune::{Measured, Objective, Tuning, k2, sysfs};
use rtflash_model::format_ns;
use schemars::JsonSchema;
use serde::Serialize;

use super::numbers::{plain, quantity};
use super::table::table;

/// What `rtflash host tune --format json` prints: one line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TuneAnswer<'a> {
    /// What was wanted: `latency-share`, `bandwidth-share` or `deadline`.
    pub objective: &'static str,
    /// The real-time jobs, in the scenario's order.
    pub jobs: Vec<&'a str>,
    /// The scheduler `none`, beside which shares are.
    pub none: TuneSetting,
    /// All settings that were tried.
    pub settings: Vec<TuneSetting>,
    /// The best of them; null if none is as wanted.
    pub chosen: Option<TuneSetting>,
    /// The lines that make a Linux host do so; null where nothing was chosen, or no kernel has the scheduler.
    pub sysfs: Option<Vec<String>>,
    /// Whether what was chosen cuts all that is not real-time; the published K2-split cuts class idle alone.
    pub cuts_rest: bool,
}

/// A setting in a [`TuneAnswer`], and what came of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TuneSetting {
    /// The scheduler.
    pub scheduler: &'static str,
    /// Commands that may be inside; null for any number.
    pub max_inflight: Option<u32>,
    /// Bytes of a piece; null where nothing is cut.
    pub max_sectors: Option<u64>,
    /// The 99.9th percentile of each real-time job's latency, in nanoseconds; null where no I/O counts.
    pub p999_ns: Vec<Option<u64>>,
    /// The worst of these beside `none`'s.
    pub latency_share: Option<f64>,
    /// Bytes a second of all jobs together.
    pub bytes_per_s: u128,
    /// The same beside `none`'s.
    pub bandwidth_share: Option<f64>,
    /// The bound on each real-time job's latency, in nanoseconds; null where there is none.
    pub bound_ns: Vec<Option<u64>>,
}

impl TuneSetting {
    fn new(of: &Measured, none: &Measured) -> TuneSetting {
        let k2 = k2(&of.settings);
        let shares = of.tails.iter().zip(&none.tails).map(|(tail, none)| match (tail, none) {
            (Some(tail), Some(none)) if *none > 0 => Some(*tail as f64 / *none as f64),
            _ => None,
        });
        let latency_share = shares.reduce(|one, other| Some(one?.max(other?))).flatten();
        TuneSetting {
            scheduler: of.settings.name(),
            max_inflight: k2.map(|k2| k2.max_inflight),
            max_sectors: k2.and_then(|k2| k2.split).map(|split| split.piece()),
            p999_ns: of.tails.clone(),
            latency_share,
            bytes_per_s: of.bytes_per_s,
            bandwidth_share: (none.bytes_per_s > 0).then(|| of.bytes_per_s as f64 / none.bytes_per_s as f64),
            bound_ns: of.bounds.clone(),
        }
    }

    fn row(&self, is_chosen: bool) -> Vec<String> {
        let percent =
            |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        let times = |times: &[Option<u64>]| {
            let worst = times.iter().copied().reduce(|one, other| Some(one?.max(other?))).flatten();
            worst.map_or_else(|| "none".to_owned(), format_ns)
        };
        vec![
            if is_chosen { "→".to_owned() } else { String::new() },
            self.scheduler.to_owned(),
            self.max_inflight.map_or_else(String::new, |inside| inside.to_string()),
            self.max_sectors.map_or_else(|| "whole".to_owned(), |size| format!("{} KiB", size >> 10)),
            times(&self.p999_ns),
            percent(self.latency_share),
            quantity(self.bytes_per_s as f64 / 1e6),
            percent(self.bandwidth_share),
            times(&self.bound_ns),
        ]
    }
}

impl<'a> TuneAnswer<'a> {
    /// What was found for a scenario.
    pub fn new(scenario: &'a Scenario, objective: &Objective, tuning: &Tuning) -> TuneAnswer<'a> {
        let setting = |of: &Measured| TuneSetting::new(of, &tuning.none);
        let chosen = tuning.chosen.and_then(|at| tuning.measured.get(at));
        TuneAnswer {
            objective: match objective {
                Objective::LatencyShare(_) => "latency-share",
                Objective::BandwidthShare(_) => "bandwidth-share",
                Objective::Deadline(_) => "deadline",
            },
            jobs: scenario.jobs.iter().filter(|job| job.is_real_time()).map(|job| job.name.as_str()).collect(),
            none: setting(&tuning.none),
            settings: tuning.measured.iter().map(setting).collect(),
            chosen: chosen.map(setting),
            cuts_rest: chosen
                .and_then(|of| k2(&of.settings)?.split)
                .is_some_and(|split| split.cut == rtflash_host::scheduler::Cut::Rest),
            sysfs: chosen.and_then(|of| sysfs(&of.settings, scenario.host.requests)),
        }
    }

    /// For a person.
    pub fn text(&self) -> String {
        let headings = ["", "scheduler", ">inside", ">pieces", ">p99.9", ">of none's", ">MB/s", ">of none's", ">bound"];
        let same = |one: &TuneSetting, other: &TuneSetting| {
            let key = |of: &TuneSetting| (of.scheduler, of.max_inflight, of.max_sectors);
            key(one) == key(other)
        };
        let is_chosen = |of: &TuneSetting| self.chosen.as_ref().is_some_and(|chosen| same(chosen, of));
        let rows = std::iter::once(&self.none).chain(&self.settings).map(|of| of.row(is_chosen(of)));
        let jobs: Vec<String> = self.jobs.iter().map(|name| plain(name)).collect();
        let mut text = format!("{}; real-time: {}\n{}", self.objective, jobs.join(", "), table(&headings, rows));
        let Some(chosen) = &self.chosen else { return text + "no setting is as wanted\n" };
        let cost = chosen.bandwidth_share.map_or_else(String::new, |share| {
            format!("it costs {:.1} % of the bandwidth under none", 100.0 * (1.0 - share).max(0.0))
        });
        let gain = chosen
            .latency_share
            .map_or_else(String::new, |share| format!("; p99.9 is {:.1} % of none's", 100.0 * share));
        text += &format!("{cost}{gain}\n");
        match &self.sysfs {
            Some(lines) => {
                lines.iter().for_each(|line| text += &format!("{line}\n"));
                if self.cuts_rest {
                    text += "(for a k2-split that cuts all that is not real-time; the published one cuts class idle alone: `cut`)\n";
                }
            }
            None => text += "no kernel has this scheduler yet\n",
        }
        text
    }
}
