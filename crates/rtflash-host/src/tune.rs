//! Choosing the queue bound and the size of pieces: what K2, K2-split and k2-ahead cost and gain on
//! a workload, for the objectives of paper 000, Section 5, and for deadlines.

use rayon::prelude::*;
use rtflash_model::Span;

use crate::bound::bounds;
use crate::run::{HostDevice, HostRunError, JobReport, Scenario, run};
use crate::scheduler::{Cut, K2Settings, SchedulerSettings, Split};

/// A share, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millionths(u32);

impl Millionths {
    /// Of so many millionths, from 1 to a million.
    pub fn of_million(millionths: u32) -> Option<Millionths> {
        (1..=1_000_000).contains(&millionths).then_some(Millionths(millionths))
    }

    /// Whether `part` is at most this share of `whole`.
    fn holds(self, part: u128, whole: u128) -> bool {
        part.saturating_mul(1_000_000) <= whole.saturating_mul(self.0.into())
    }
}

/// What is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// O1: each real-time job's 99.9th percentile is at most this share of `none`'s; then the most
    /// bandwidth of all jobs together.
    LatencyShare(Millionths),
    /// O2: the bandwidth of all jobs together is at least this share of `none`'s; then the shortest
    /// 99.9th percentile, beside `none`'s, of the worst real-time job.
    BandwidthShare(Millionths),
    /// Each real-time job has a bound, which is at most this, if it is said; then the most
    /// bandwidth. A job with a period has no bound above it.
    Deadline(Option<Span>),
}

/// A setting and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// The scheduler.
    pub settings: SchedulerSettings,
    /// The 99.9th percentile of each real-time job's latency, in nanoseconds; `None` where no I/O
    /// counts.
    pub tails: Vec<Option<u64>>,
    /// Bytes a second of all jobs together.
    pub bytes_per_s: u128,
    /// The bound on each real-time job's latency, in nanoseconds.
    pub bounds: Vec<Option<u64>>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuning {
    /// The scheduler `none`, beside which shares are.
    pub none: Measured,
    /// All settings that were tried, in order: schedulers, pieces, queue bounds.
    pub measured: Vec<Measured>,
    /// The position of the one that is best; `None` if none is as wanted.
    pub chosen: Option<usize>,
}

/// Queue bounds that are tried, as in paper 000.
const BOUNDS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// The shortest pieces, in bytes.
const SHORTEST: u64 = 4 << 10;

/// The parameters of a scheduler of K2's kind.
pub fn k2(settings: &SchedulerSettings) -> Option<&K2Settings> {
    match settings {
        SchedulerSettings::K2(k2) => Some(k2),
        _ => None,
    }
}

/// The settings of schedulers of K2's kind that are tried for a scenario; what its own scheduler
/// says of levels, places and of what is cut is kept.
pub fn candidates(scenario: &Scenario, schedulers: &[SchedulerSettings]) -> Vec<SchedulerSettings> {
    let own = k2(&scenario.scheduler);
    let (cut, multiples) = own.and_then(|own| own.split).map_or((Cut::Rest, false), |own| (own.cut, own.multiples));
    let request = |size: u64| size.min(scenario.host.max_sectors);
    let rest = scenario.jobs.iter().filter(|job| !job.is_real_time());
    let longest = rest.map(|job| request(job.size)).fold(0, u64::max);
    let useful = match &scenario.device {
        HostDevice::Emmc(emmc) => emmc.depth.checked_next_power_of_two().unwrap_or(u32::MAX),
        HostDevice::Nvme(_) | HostDevice::Clusters(_) => u32::MAX,
    };
    let mut all = Vec::new();
    for base in schedulers.iter().filter_map(k2) {
        let pieces: Vec<Option<u64>> = match base.split {
            None => vec![None],
            Some(_) => {
                let sizes = std::iter::successors(Some(SHORTEST), |size| size.checked_mul(2));
                sizes.take_while(|&size| size < longest).map(Some).collect()
            }
        };
        for piece in pieces {
            for max_inflight in BOUNDS.into_iter().filter(|&bound| bound <= useful) {
                all.push(SchedulerSettings::K2(K2Settings {
                    max_inflight,
                    max_inflight_rest: own.and_then(|own| own.max_inflight_rest),
                    levels: own.map_or(base.levels, |own| own.levels),
                    split: piece.map(|max_sectors| match base.max_inflight_ahead {
                        None => Split { cut, max_sectors, multiples },
                        Some(_) => Split { cut: Cut::Rest, max_sectors, multiples: false },
                    }),
                    max_inflight_ahead: base.max_inflight_ahead.map(|_| max_inflight),
                }));
            }
        }
    }
    all.retain(|settings| has_tags(scenario, settings));
    all
}

/// Whether each request finds tags for all of its pieces at once.
fn has_tags(scenario: &Scenario, settings: &SchedulerSettings) -> bool {
    let scheduler = scenario.device.in_front(settings);
    (0..scenario.jobs.len()).all(|job| {
        let whole = scenario.whole(job, scenario.jobs[job].from);
        whole.into_iter().flat_map(|whole| scenario.requests(whole)).all(|request| {
            let piece = scheduler.piece(&request).unwrap_or(request.size).max(1);
            request.size.div_ceil(piece) <= scenario.host.requests.into()
        })
    })
}

/// Tries all [`candidates`] on a scenario, and `none`, each from the same seed, and chooses. The
/// same on any number of threads.
///
/// # Errors
/// As [`run`].
pub fn tune(
    scenario: &Scenario,
    schedulers: &[SchedulerSettings],
    objective: Objective,
    seed: u64,
) -> Result<Tuning, HostRunError> {
    let settings: Vec<SchedulerSettings> =
        std::iter::once(SchedulerSettings::None).chain(candidates(scenario, schedulers)).collect();
    let measured: Result<Vec<Measured>, HostRunError> =
        settings.into_par_iter().map(|settings| measure(scenario, settings, seed)).collect();
    let mut measured = measured?;
    let none = measured.remove(0);
    let chosen = choose(&none, &measured, objective);
    Ok(Tuning { none, measured, chosen })
}

impl Tuning {
    /// The position of the one that is best for another objective; `None` if none is as wanted.
    /// Nothing is run for it.
    pub fn best(&self, objective: Objective) -> Option<usize> {
        choose(&self.none, &self.measured, objective)
    }
}

fn measure(scenario: &Scenario, settings: SchedulerSettings, seed: u64) -> Result<Measured, HostRunError> {
    let scenario = Scenario { scheduler: settings, ..scenario.clone() };
    let reports = run(&scenario, seed)?;
    let real_time = reports.iter().zip(&scenario.jobs).filter(|(_, job)| job.is_real_time());
    let tail = |(report, _): (&JobReport, _)| report.latencies.percentile(9_990);
    let limit = |bound: crate::bound::Bound| bound.terms.ok().map(|terms| terms.bound().as_ns());
    Ok(Measured {
        settings,
        tails: real_time.map(tail).collect(),
        bytes_per_s: reports.iter().map(|report| report.bytes_per_s).sum(),
        bounds: bounds(&scenario).into_iter().map(limit).collect(),
    })
}

/// The best of what is as wanted: of equal bandwidth the shorter worst percentile, of equal
/// percentiles (in millionths of `none`'s) the more bandwidth, then the first.
fn choose(none: &Measured, measured: &[Measured], objective: Objective) -> Option<usize> {
    let is_wanted = |of: &Measured| match objective {
        Objective::LatencyShare(share) => {
            let mut pairs = of.tails.iter().zip(&none.tails);
            pairs.all(|pair| matches!(pair, (Some(tail), Some(none)) if share.holds((*tail).into(), (*none).into())))
        }
        Objective::BandwidthShare(share) => {
            of.bytes_per_s.saturating_mul(1_000_000) >= none.bytes_per_s.saturating_mul(share.0.into())
        }
        Objective::Deadline(limit) => {
            of.bounds.iter().all(|bound| bound.is_some_and(|bound| limit.is_none_or(|limit| bound <= limit.as_ns())))
        }
    };
    // The worst tail in millionths of `none`'s; no tail at all is the worst.
    let worst = |of: &Measured| {
        let share = |(tail, none): (&Option<u64>, &Option<u64>)| match (tail, none) {
            (Some(tail), Some(none)) => u128::from(*tail) * 1_000_000 / u128::from((*none).max(1)),
            _ => u128::MAX,
        };
        of.tails.iter().zip(&none.tails).map(share).fold(0, u128::max)
    };
    let wanted = measured.iter().enumerate().filter(|(_, of)| is_wanted(of));
    let by_bandwidth = |of: &Measured| (u128::MAX - of.bytes_per_s, worst(of));
    let by_latency = |of: &Measured| (worst(of), u128::MAX - of.bytes_per_s);
    wanted
        .min_by_key(|(at, of)| match objective {
            Objective::LatencyShare(_) | Objective::Deadline(_) => (by_bandwidth(of), *at),
            Objective::BandwidthShare(_) => (by_latency(of), *at),
        })
        .map(|(at, _)| at)
}

/// The lines that make a Linux host do so, with `<device>` for the device's name; `None` where no
/// kernel has the scheduler.
pub fn sysfs(settings: &SchedulerSettings, requests: u32) -> Option<Vec<String>> {
    let k2 = k2(settings)?;
    if k2.max_inflight_ahead.is_some() || k2.max_inflight_rest.is_some() {
        return None;
    }
    let queue = "/sys/block/<device>/queue";
    let name = if k2.split.is_some() { "k2-split" } else { "k2" };
    let mut lines = vec![
        format!("echo {requests} > {queue}/nr_requests"),
        format!("echo {name} > {queue}/scheduler"),
        format!("echo {} > {queue}/iosched/max_inflight", k2.max_inflight),
    ];
    if let Some(split) = k2.split {
        lines.push(format!("echo {} > {queue}/iosched/max_sectors", split.piece() >> 10));
    }
    Some(lines)
}
