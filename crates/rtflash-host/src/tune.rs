//! The choice of the queue bound and the size of pieces of K2, K2-split and k2-ahead, and of the
//! batches of mq-deadline. It compares their costs and gains on a workload, for the objectives of
//! Park and Lee (2021), Section 5, and for deadlines.

mod queue_files;

use rayon::prelude::*;
use rtflash_model::{Instant, Span};

use crate::bound::{Bound, bounds};
use crate::run::{HostDevice, HostRunError, JobReport, Latencies, Scenario, run};
use crate::scheduler::{Cut, K2Settings, MqDeadlineSettings, SchedulerSettings, Split};

pub use queue_files::{queue_files, sysfs};

/// A share, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millionths(u32);

impl Millionths {
    /// A share of `millionths` millionths; `None` unless it is from 1 to a million.
    pub fn of_million(millionths: u32) -> Option<Millionths> {
        (1..=1_000_000).contains(&millionths).then_some(Millionths(millionths))
    }

    /// Whether `part` is at most this share of `whole`.
    fn holds(self, part: u128, whole: u128) -> bool {
        part.saturating_mul(1_000_000) <= whole.saturating_mul(self.0.into())
    }
}

/// The objective of a choice. A job's own deadline counts beside each of these.
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

/// How much a choice rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TuneOptions {
    /// The seed of the randomness.
    pub seed: u64,
    /// Runs of each setting, each of a seed of its own; above zero.
    pub runs: u32,
    /// I/Os of each real-time job that count in all runs together: runs are lengthened, up to 64
    /// times, while `none` has fewer.
    pub samples: u64,
}

impl TuneOptions {
    /// Five runs: a setting that is as wanted in half of all runs is so in all five with a chance
    /// of 1/32. An objective of percentiles needs ten I/Os of each real-time job above its 99.9th.
    pub fn new(objective: Objective, seed: u64) -> TuneOptions {
        let samples = if matches!(objective, Objective::Deadline(_)) { 0 } else { 10_000 };
        TuneOptions { seed, runs: 5, samples }
    }

    fn seeds(self) -> impl Iterator<Item = u64> {
        (0..u64::from(self.runs.max(1))).map(move |run| self.seed.wrapping_add(run << 32))
    }
}

/// The measurements of a setting in one run, or in all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TuneRun {
    /// The 99.9th percentile of each real-time job's latency, in nanoseconds; `None` where no I/O
    /// counts.
    pub tails: Vec<Option<u64>>,
    /// Bytes a second of all jobs together.
    pub bytes_per_s: u128,
    /// Bytes a second of the jobs that are not real-time.
    pub background_bytes_per_s: u128,
    /// I/Os of real-time jobs that took longer than their deadline.
    pub late: u64,
}

/// A setting and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// The scheduler.
    pub settings: SchedulerSettings,
    /// All runs together: the percentiles are those of all their I/Os, the bandwidth is the mean.
    pub all: TuneRun,
    /// Each run.
    pub runs: Vec<TuneRun>,
    /// I/Os of each real-time job that count in all runs together.
    pub samples: Vec<u64>,
    /// The bound on each real-time job's latency, in nanoseconds.
    pub bounds: Vec<Option<u64>>,
    /// Whether each bound is within the deadline of its job, where that has one.
    pub in_time: bool,
}

/// The settings that were found, best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuning {
    /// The scheduler `none`, beside which shares are.
    pub none: Measured,
    /// All settings that were tried, in order: schedulers, pieces, queue bounds.
    pub measured: Vec<Measured>,
    /// How long each run was, warm-up included.
    pub length: Span,
}

/// Queue bounds that are tried, as in Park and Lee (2021).
const BOUNDS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Batches of mq-deadline that are tried.
const BATCHES: [u32; 5] = [1, 2, 4, 8, 16];
/// How often a run is lengthened: to 64 times at most.
const DOUBLINGS: u32 = 6;
/// The shortest pieces, in bytes.
const SHORTEST: u64 = 4 << 10;

/// The parameters of a scheduler of K2's kind.
pub fn k2(settings: &SchedulerSettings) -> Option<&K2Settings> {
    match settings {
        SchedulerSettings::K2(k2) => Some(k2),
        _ => None,
    }
}

/// The parameters of mq-deadline.
pub fn mq_deadline(settings: &SchedulerSettings) -> Option<&MqDeadlineSettings> {
    match settings {
        SchedulerSettings::MqDeadline(settings) => Some(settings),
        _ => None,
    }
}

/// The settings that are tried for a scenario. Parameters of its own scheduler are kept but those
/// that are tried. A scheduler without such parameters is tried as the scenario or its defaults
/// have it.
pub fn candidates(scenario: &Scenario, schedulers: &[SchedulerSettings]) -> Vec<SchedulerSettings> {
    let all = schedulers.iter().flat_map(|base| match base {
        SchedulerSettings::K2(base) => queue_bounds(scenario, base),
        SchedulerSettings::MqDeadline(base) => batches(scenario, base),
        SchedulerSettings::None => Vec::new(),
        base if scenario.scheduler.name() == base.name() => vec![scenario.scheduler],
        base => vec![*base],
    });
    all.collect()
}

/// mq-deadline whose writes can have all tags, with each length of batches.
fn batches(scenario: &Scenario, base: &MqDeadlineSettings) -> Vec<SchedulerSettings> {
    let own = mq_deadline(&scenario.scheduler).unwrap_or(base);
    let async_depth = Some(scenario.host.requests);
    let of = |fifo_batch| SchedulerSettings::MqDeadline(MqDeadlineSettings { fifo_batch, async_depth, ..*own });
    BATCHES.map(of).to_vec()
}

/// A scheduler of K2's kind with each queue bound and size of pieces.
fn queue_bounds(scenario: &Scenario, base: &K2Settings) -> Vec<SchedulerSettings> {
    let own = k2(&scenario.scheduler);
    let (cut, multiples) = own.and_then(|own| own.split).map_or((Cut::Rest, false), |own| (own.cut, own.multiples));
    let request = |size: u64| size.min(scenario.host.max_sectors);
    let rest = scenario.jobs.iter().filter(|job| !job.is_real_time());
    let longest = rest.flat_map(|job| job.ios()).map(|io| request(io.size)).fold(0, u64::max);
    let depth = match &scenario.device {
        HostDevice::Measured(measured) => measured.depth,
        HostDevice::Emmc(emmc) => emmc.depth,
        HostDevice::Nvme(_) | HostDevice::Clusters(_) => u32::MAX,
    };
    let pieces: Vec<Option<u64>> = match base.split {
        None => vec![None],
        Some(_) => {
            let sizes = std::iter::successors(Some(SHORTEST), |size| size.checked_mul(2));
            sizes.take_while(|&size| size < longest).map(Some).collect()
        }
    };
    let mut all = Vec::new();
    for piece in pieces {
        // The least bound that is no less than the depth is the last useful one.
        for max_inflight in BOUNDS.into_iter().filter(|&bound| bound / 2 < depth) {
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
    all.retain(|settings| has_tags(scenario, settings));
    all
}

/// Whether each request finds tags for all of its pieces at once.
fn has_tags(scenario: &Scenario, settings: &SchedulerSettings) -> bool {
    let scheduler = scenario.device.in_front(settings);
    (0..scenario.jobs.len()).all(|job| {
        let of = &scenario.jobs[job];
        let whole = of.ios().filter_map(|io| scenario.whole_of(job, io, of.from));
        whole.flat_map(|whole| scenario.requests(whole)).all(|request| {
            let piece = scheduler.piece(&request).unwrap_or(request.size).max(1);
            request.size.div_ceil(piece) <= scenario.host.requests.into()
        })
    })
}

/// Tries all [`candidates`] on a scenario, and `none`, each from the same seeds. The answer is the
/// same on any number of threads.
///
/// # Errors
/// As [`run`].
pub fn tune(
    scenario: &Scenario,
    schedulers: &[SchedulerSettings],
    options: TuneOptions,
) -> Result<Tuning, HostRunError> {
    let settings: Vec<SchedulerSettings> =
        std::iter::once(SchedulerSettings::None).chain(candidates(scenario, schedulers)).collect();
    let measured = |length: Span| -> Result<Tuning, HostRunError> {
        let all = settings.par_iter().map(|&settings| measure(scenario, settings, length, options));
        let mut measured = all.collect::<Result<Vec<Measured>, HostRunError>>()?;
        Ok(Tuning { none: measured.remove(0), measured, length })
    };
    let length = lengthened(scenario, options)?;
    let own = scenario.duration.since(Instant::START);
    // By some setting more can pile up in the longer time than is kept.
    measured(length).or_else(|error| if length > own { measured(own) } else { Err(error) })
}

/// A time in which `none` has as many I/Os of each real-time job as are wanted, or the scenario's
/// own where a longer one does not help.
fn lengthened(scenario: &Scenario, options: TuneOptions) -> Result<Span, HostRunError> {
    // Without real-time jobs there is no fewest.
    let fewest = |length: Span| {
        let reports = run(&of_length(scenario, SchedulerSettings::None, length), options.seed)?;
        let real_time = reports.iter().zip(&scenario.jobs).filter(|(_, job)| job.is_real_time());
        Ok(real_time.map(|(report, _)| report.latencies.count()).min())
    };
    let warmup = scenario.warmup.since(Instant::START);
    let mut length = scenario.duration.since(Instant::START);
    let mut there = fewest(length)?;
    for _ in 0..DOUBLINGS {
        if there.is_some_and(|there| there.saturating_mul(options.runs.into()) >= options.samples) {
            break;
        }
        // The measured part of the run doubles.
        let longer = length.saturating_add(length.saturating_sub(warmup));
        let Ok(more) = fewest(longer) else { break };
        if more <= there {
            break;
        }
        (length, there) = (longer, more);
    }
    Ok(length)
}

fn of_length(scenario: &Scenario, scheduler: SchedulerSettings, length: Span) -> Scenario {
    Scenario { scheduler, duration: Instant::START.saturating_add(length), ..scenario.clone() }
}

fn measure(
    scenario: &Scenario,
    settings: SchedulerSettings,
    length: Span,
    options: TuneOptions,
) -> Result<Measured, HostRunError> {
    let longer = of_length(scenario, settings, length);
    let tail = |latencies: &Latencies| latencies.percentile(9_990);
    let mut latencies: Vec<Latencies> =
        scenario.jobs.iter().filter_map(|job| job.is_real_time().then(Latencies::default)).collect();
    let mut runs = Vec::new();
    for seed in options.seeds() {
        let reports = run(&longer, seed)?;
        let bytes_per_s = reports.iter().map(|report| report.moved_per_s).sum();
        let late = reports.iter().map(|report| report.late).sum();
        let background = reports.iter().zip(&scenario.jobs).filter(|(_, job)| !job.is_real_time());
        let background_bytes_per_s = background.map(|(report, _)| report.moved_per_s).sum();
        let real_time = reports.into_iter().zip(&scenario.jobs).filter(|(_, job)| job.is_real_time());
        let own: Vec<Latencies> = real_time.map(|(report, _): (JobReport, _)| report.latencies).collect();
        runs.push(TuneRun { tails: own.iter().map(tail).collect(), bytes_per_s, background_bytes_per_s, late });
        latencies.iter_mut().zip(own).for_each(|(all, own)| all.add(own));
    }
    let mean = |of: fn(&TuneRun) -> u128| runs.iter().map(of).sum::<u128>() / runs.len() as u128;
    let (bytes_per_s, background_bytes_per_s) = (mean(|run| run.bytes_per_s), mean(|run| run.background_bytes_per_s));
    let late = runs.iter().map(|run| run.late).sum();
    let limit = |bound: &Bound| bound.terms.as_ref().ok().map(|terms| terms.bound().as_ns());
    // Requests that pile up are bounded for the scenario's own time.
    let found = bounds(&Scenario { scheduler: settings, ..scenario.clone() });
    Ok(Measured {
        settings,
        all: TuneRun { tails: latencies.iter().map(tail).collect(), bytes_per_s, background_bytes_per_s, late },
        samples: latencies.iter().map(Latencies::count).collect(),
        bounds: found.iter().map(limit).collect(),
        in_time: found.iter().all(|bound| bound.is_in_time(scenario) != Some(false)),
        runs,
    })
}

impl Objective {
    /// Whether a setting was as wanted in a run: bounds decide about deadlines for that objective,
    /// and the run for others.
    fn is_met(self, of: &Measured, run: &TuneRun, none: &TuneRun) -> bool {
        match self {
            Objective::LatencyShare(share) => {
                let mut pairs = run.tails.iter().zip(&none.tails);
                run.late == 0
                    && pairs.all(
                        |pair| matches!(pair, (Some(tail), Some(none)) if share.holds((*tail).into(), (*none).into())),
                    )
            }
            Objective::BandwidthShare(share) => {
                let wanted = none.bytes_per_s.saturating_mul(share.0.into());
                run.late == 0 && run.bytes_per_s.saturating_mul(1_000_000) >= wanted
            }
            Objective::Deadline(limit) => {
                let is_short = |bound: u64| limit.is_none_or(|limit| bound <= limit.as_ns());
                of.in_time && of.bounds.iter().all(|bound| bound.is_some_and(is_short))
            }
        }
    }

    /// The order of settings that meet the objective, the least first: of equal bandwidth the
    /// shorter worst percentile, of equal percentiles (in millionths of `none`'s) the more
    /// bandwidth.
    fn key(self, of: &TuneRun, none: &TuneRun) -> (u128, u128) {
        // The worst tail in millionths of `none`'s; no tail at all is the worst.
        let share = |(tail, none): (&Option<u64>, &Option<u64>)| match (tail, none) {
            (Some(tail), Some(none)) => u128::from(*tail) * 1_000_000 / u128::from((*none).max(1)),
            _ => u128::MAX,
        };
        let worst = of.tails.iter().zip(&none.tails).map(share).fold(0, u128::max);
        match self {
            Objective::LatencyShare(_) | Objective::Deadline(_) => (u128::MAX - of.bytes_per_s, worst),
            Objective::BandwidthShare(_) => (worst, u128::MAX - of.bytes_per_s),
        }
    }
}

impl Tuning {
    /// The runs, by their positions, in which a setting is as wanted.
    fn wanted<'a>(&'a self, objective: Objective, of: &'a Measured) -> impl Iterator<Item = usize> + 'a {
        let pairs = of.runs.iter().zip(&self.none.runs).enumerate();
        pairs.filter(move |(_, (run, none))| objective.is_met(of, run, none)).map(|(at, _)| at)
    }

    /// In how many runs a setting is as wanted.
    pub fn times(&self, objective: Objective, of: &Measured) -> usize {
        self.wanted(objective, of).count()
    }

    /// The position of the setting that is best of those that are as wanted in every run; then the
    /// first. `None` if there is none.
    pub fn best(&self, objective: Objective) -> Option<usize> {
        let wanted = self.measured.iter().enumerate();
        let wanted = wanted.filter(|(_, of)| self.times(objective, of) == of.runs.len());
        wanted.min_by_key(|(at, of)| (objective.key(&of.all, &self.none.all), *at)).map(|(at, _)| at)
    }

    /// The positions of the settings that can be better than the one that is [`Tuning::best`], so
    /// far as the runs tell: in some run one of these was as wanted, and better.
    pub fn rivals(&self, objective: Objective) -> Vec<usize> {
        let best = self.best(objective);
        let is_better = |of: &Measured, run: usize| {
            let key = |of: &Measured| objective.key(&of.runs[run], &self.none.runs[run]);
            best.is_none_or(|best| key(of) < key(&self.measured[best]))
        };
        let is_rival = |of: &Measured| self.wanted(objective, of).any(|run| is_better(of, run));
        (0..self.measured.len()).filter(|&at| Some(at) != best && is_rival(&self.measured[at])).collect()
    }
}
