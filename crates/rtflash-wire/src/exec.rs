//! What `exec`, and `check` of a trace, print as JSON.

use std::borrow::Cow;

use rtflash_alloc::Fraction;
use rtflash_exec::check::{Finding, Unit};
use rtflash_exec::report::{Operations, Report, SourceReport, Wear};
use rtflash_exec::trace::{Kind, Setup};
use rtflash_exec::{Aging, Plan, Releases, Service, Source, Victims, Waits};
use rtflash_model::{Instant, Span, TaskSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::{Meta, Nanoseconds, Text, meta, task_name, task_names};

/// What `rtflash exec --format json` prints for one task set, on one line.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ExecAnswer<'a> {
    /// "pass" where no check fails, "fail" where one does, null where nothing could be run.
    pub verdict: Option<Text<'static>>,
    /// Why nothing could be run; or what the allocation relies on beyond what was granted, which
    /// makes the exit status 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The algorithm that divided the chips; null for an allocation that was given.
    pub algorithm: Option<Text<'a>>,
    /// The analysis whose costs, delays, periods and shares were obeyed.
    pub analysis: Text<'a>,
    /// Whether the analysis accepts the allocation.
    pub predicted_schedulable: Option<bool>,
    /// What clusters with certificates rely on, where they hold: `nothing`, `neighbours` or
    /// `queue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relies_on: Option<Text<'static>>,
    /// How it was run.
    #[serde(flatten)]
    pub settings: Settings,
    /// What every checker found.
    pub checks: Vec<CheckLine<'a>>,
    /// Real-time reads and writes.
    pub requests: Vec<JobsLine<'a>>,
    /// GC jobs.
    pub gc: Vec<JobsLine<'a>>,
    /// Jobs that are not real-time.
    pub jobs: Vec<JobsLine<'a>>,
    /// All operations that were begun.
    pub operations: OperationCounts,
    /// Pages a second that were read and written for jobs that are not real-time.
    pub non_rt_pages_per_s: f64,
    /// The chip of the device that was erased most often; null where nothing was run.
    pub wear: Option<WearLine>,
    /// The clusters, in order.
    pub clusters: Vec<ClusterLine<'a>>,
    /// The chips, in order.
    pub chips: Vec<ChipLine>,
    /// The channels, in order.
    pub channels: Vec<ChannelLine>,
    /// The task set's own `meta`, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "meta")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub meta: Option<Meta<'a>>,
}

/// How a run was made; for a trace, as far as it tells.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// How long, in simulated time.
    pub duration_ns: u64,
    /// `serial` or `parallel`.
    pub dispatch: Text<'static>,
    /// `tbs` or `background`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Text<'static>>,
    /// `actual` or `worst`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub victims: Option<Text<'static>>,
    /// `worst`, `random` or `fresh`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aging: Option<Text<'static>>,
    /// `uniform`, `sequential`, `hot-cold` or `one-chip`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Text<'static>>,
    /// `worst`, `best` or `random`: how long operations take where the device states ranges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<Text<'static>>,
    /// `actual` or `worst`: what a page waits for its bus, with certificates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Text<'static>>,
    /// `periodic` or `at-erases`: when requests are released, with certificates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phases: Option<Text<'static>>,
    /// Whether idle chips of a superblock take pages of other requests, with certificates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backfill: Option<bool>,
    /// Where the randomness started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// A check in an [`ExecAnswer`]. Bound and observation are those of the worst observation: bounds
/// differ from task to task.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CheckLine<'a> {
    /// The assumption's name.
    pub name: Text<'a>,
    /// The assumption in a sentence.
    pub assumption: Text<'a>,
    /// What bound and observation are counted in: `ns`, `pages` or `times`.
    pub unit: Text<'static>,
    /// What was promised; null where nothing was observed.
    pub bound: Option<u64>,
    /// The worst that was observed.
    pub observed: Option<u64>,
    /// Whether no observation was above its bound; null where nothing of the kind was observed.
    pub holds: Option<bool>,
    /// How many were.
    pub violations: u64,
    /// When and where the worst happened.
    pub worst: Option<WorstLine>,
}

/// When and where the worst happened.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct WorstLine {
    /// When.
    pub at_ns: u64,
    /// For which job.
    pub job: Option<String>,
    /// In which cluster.
    pub cluster: Option<u32>,
    /// On which chip.
    pub chip: Option<u32>,
}

/// The jobs of one source.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct JobsLine<'a> {
    /// The task's name; for jobs that are not real-time, the stream's.
    pub task: Text<'a>,
    /// The stream's name, for jobs that are not real-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<Text<'a>>,
    /// `read`, `write`, `gc` or `server`.
    pub kind: Text<'static>,
    /// Jobs released.
    pub released: u64,
    /// Jobs complete.
    pub completed: u64,
    /// Jobs released and not complete.
    pub pending: u64,
    /// Complete jobs that were late.
    pub misses: u64,
    /// Pending jobs that are late.
    pub overdue: u64,
    /// The longest response time; null where no job is complete.
    pub max_response_ns: Option<u64>,
    /// The relative deadline; null for jobs that are not real-time: each has its own, or none.
    pub deadline_ns: Option<Nanoseconds>,
    /// Half of all response times are not longer.
    pub p50_ns: Option<u64>,
    /// 99 of 100 are not longer.
    pub p99_ns: Option<u64>,
    /// 999 of 1000 are not longer.
    pub p999_ns: Option<u64>,
}

/// Operations that were begun.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct OperationCounts {
    /// Pages read, GC included.
    pub reads: u64,
    /// Pages programmed, GC included.
    pub programs: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Pages moved over buses.
    pub transfers: u64,
}

/// A cluster in an [`ExecAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClusterLine<'a> {
    /// Its chips.
    pub chips: Cow<'a, [u32]>,
    /// The names of its tasks.
    pub tasks: Vec<Text<'a>>,
    /// The mean share of time in which its chips were occupied.
    #[serde(rename = "use")]
    pub used: f64,
    /// GC passes.
    pub gc_passes: u64,
    /// Pages that GC copied.
    pub pages_copied: u64,
    /// Pages that tasks and jobs wrote.
    pub pages_written: u64,
    /// Pages programmed over pages written; null where none was.
    pub write_amplification: Option<f64>,
    /// Pages a second that were read and written for jobs that are not real-time.
    pub non_rt_pages_per_s: f64,
    /// The chip of the cluster that was erased most often.
    pub wear: Option<WearLine>,
}

/// The chip that was erased most often, the lowest among equals, as measured from the start of the
/// run to its end.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct WearLine {
    /// What was measured: the whole run.
    pub measured_ns: u64,
    /// The chip.
    pub chip: u32,
    /// Its erases.
    pub erases: u64,
    /// As many a day.
    pub erases_per_day: f64,
    /// How often each of its blocks was erased, in the mean. Below one, what was on the device at
    /// the start is still at work.
    pub turns: f64,
    /// Years of 365.25 days until its blocks have been erased as often as they endure, all alike,
    /// if it goes on so; null where it was not erased, or the device has no `erase_cycles`.
    pub lifetime_years: Option<f64>,
}

impl WearLine {
    fn new(wear: Wear, settings: &Settings) -> WearLine {
        let Wear { chip, erases, erases_per_day, turns, lifetime_years } = wear;
        WearLine { measured_ns: settings.duration_ns, chip, erases, erases_per_day, turns, lifetime_years }
    }
}

/// A chip in an [`ExecAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ChipLine {
    /// Its number.
    pub chip: usize,
    /// The share of time in which it was occupied.
    #[serde(rename = "use")]
    pub used: f64,
    /// Pages read.
    pub reads: u64,
    /// Pages programmed.
    pub programs: u64,
    /// Blocks erased.
    pub erases: u64,
}

/// A channel in an [`ExecAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ChannelLine {
    /// Its number.
    pub channel: usize,
    /// The share of time in which its bus was occupied.
    #[serde(rename = "use")]
    pub used: f64,
    /// Pages moved.
    pub transfers: u64,
}

impl From<Operations> for OperationCounts {
    fn from(operations: Operations) -> OperationCounts {
        let Operations { reads, programs, erases, transfers } = operations;
        OperationCounts { reads, programs, erases, transfers }
    }
}

/// A part of the run's time.
#[allow(clippy::cast_precision_loss)]
fn part(of: Span, settings: &Settings) -> f64 {
    of.as_ns() as f64 / settings.duration_ns.max(1) as f64
}

/// So many in the run, by the second.
#[allow(clippy::cast_precision_loss)]
fn per_second(count: u64, settings: &Settings) -> f64 {
    count as f64 * 1e9 / settings.duration_ns.max(1) as f64
}

impl<'a> ExecAnswer<'a> {
    /// The answer where nothing could be run.
    pub fn refused(
        algorithm: Option<&'a str>,
        analysis: &'a str,
        predicted: Option<bool>,
        settings: Settings,
        reason: String,
    ) -> ExecAnswer<'a> {
        ExecAnswer {
            verdict: None,
            reason: Some(reason),
            algorithm: algorithm.map(Text::from),
            analysis: analysis.into(),
            predicted_schedulable: predicted,
            relies_on: None,
            settings,
            checks: Vec::new(),
            requests: Vec::new(),
            gc: Vec::new(),
            jobs: Vec::new(),
            operations: Operations::default().into(),
            non_rt_pages_per_s: 0.0,
            wear: None,
            clusters: Vec::new(),
            chips: Vec::new(),
            channels: Vec::new(),
            meta: None,
        }
    }

    /// Fills in what a run came to.
    #[must_use]
    pub fn with(self, set: &'a TaskSet, plan: &'a Plan, findings: &'a [Finding], report: &Report) -> ExecAnswer<'a> {
        let settings = &self.settings;
        let lines = |wanted: &[Kind]| -> Vec<JobsLine<'a>> {
            let sources = plan.sources().iter().zip(&report.sources);
            sources
                .filter(|(source, _)| wanted.contains(&source.kind))
                .map(|(of, jobs)| jobs_line(set, of, jobs))
                .collect()
        };
        let holds = findings.iter().all(|finding| finding.gauge.holds());
        let end = Instant::from_ns(settings.duration_ns).unwrap_or(Instant::END);
        let wear = |chips: &mut dyn Iterator<Item = u32>| {
            report.wear(plan.device(), chips, end).map(|wear| WearLine::new(wear, settings))
        };
        let clusters = plan.clusters().iter().zip(&report.clusters).map(|(cluster, did)| {
            let busy = cluster.chips.iter().map(|&chip| part(report.chips[chip as usize].busy, settings));
            #[allow(clippy::cast_precision_loss)]
            let used = busy.sum::<f64>() / cluster.chips.len() as f64;
            ClusterLine {
                chips: Cow::Borrowed(&cluster.chips),
                tasks: task_names(set, &cluster.tasks),
                used,
                gc_passes: did.gc_passes,
                pages_copied: did.copied,
                pages_written: did.written,
                write_amplification: did.write_amplification(),
                non_rt_pages_per_s: per_second(did.non_real_time, settings),
                wear: wear(&mut cluster.chips.iter().copied()),
            }
        });
        let chips = report.chips.iter().enumerate().map(|(chip, did)| ChipLine {
            chip,
            used: part(did.busy, settings),
            reads: did.operations.reads,
            programs: did.operations.programs,
            erases: did.operations.erases,
        });
        let channels = report.channels.iter().enumerate().map(|(channel, did)| ChannelLine {
            channel,
            used: part(did.busy, settings),
            transfers: did.transfers,
        });
        let non_real_time = report.clusters.iter().map(|cluster| cluster.non_real_time).sum();
        ExecAnswer {
            verdict: Some(if holds { "pass" } else { "fail" }.into()),
            checks: findings.iter().map(|finding| check_line(plan, finding)).collect(),
            requests: lines(&[Kind::Read, Kind::Write]),
            gc: lines(&[Kind::Gc]),
            jobs: lines(&[Kind::Server]),
            operations: report.operations().into(),
            non_rt_pages_per_s: per_second(non_real_time, settings),
            wear: wear(&mut plan.clusters().iter().flat_map(|cluster| cluster.chips.iter().copied())),
            clusters: clusters.collect(),
            chips: chips.collect(),
            channels: channels.collect(),
            ..self
        }
    }
}

fn check_line<'a>(plan: &Plan, finding: &'a Finding) -> CheckLine<'a> {
    let worst = finding.gauge.worst();
    CheckLine {
        name: finding.assumption.name.into(),
        assumption: finding.assumption.statement.into(),
        unit: match finding.assumption.unit {
            Unit::Nanoseconds => "ns",
            Unit::Pages => "pages",
            Unit::Occurrences => "times",
        }
        .into(),
        bound: worst.map(|worst| worst.bound),
        observed: worst.map(|worst| worst.observed),
        holds: finding.gauge.verdict(),
        violations: finding.gauge.violations(),
        worst: worst.map(|worst| WorstLine {
            at_ns: worst.place.at.as_ns(),
            job: worst.place.job.map(|job| plan.job_name(job)),
            cluster: worst.place.cluster,
            chip: worst.place.chip,
        }),
    }
}

fn jobs_line<'a>(set: &'a TaskSet, source: &'a Source, jobs: &SourceReport) -> JobsLine<'a> {
    let stream = source.kind == Kind::Server;
    let unit = matches!(source.releases, Releases::Collected { .. });
    let name = if stream || unit { source.name.as_str() } else { task_name(set, source.owner) };
    let percentile = |per_mille| jobs.responses.percentile(per_mille).map(Span::as_ns);
    JobsLine {
        task: name.into(),
        job: stream.then(|| name.into()),
        kind: source.kind.name().into(),
        released: jobs.released,
        completed: jobs.completed,
        pending: jobs.released.saturating_sub(jobs.completed),
        misses: jobs.misses,
        overdue: jobs.overdue,
        max_response_ns: jobs.responses.max().map(Span::as_ns),
        deadline_ns: match source.releases {
            Releases::Periodic(period) => Some(match source.deadline {
                Some(deadline) => Nanoseconds::Whole(deadline.as_ns().into()),
                None => Fraction::new(period.numerator(), period.denominator()).into(),
            }),
            Releases::Arrivals(_) | Releases::Handed | Releases::Collected { .. } => None,
        },
        p50_ns: percentile(500),
        p99_ns: percentile(990),
        p999_ns: percentile(999),
    }
}

/// The settings of a recorded run, as far as its trace tells.
pub fn traced(setup: &Setup, duration: Instant, dispatch: &'static str) -> Settings {
    Settings {
        duration_ns: duration.as_ns(),
        dispatch: dispatch.into(),
        server: Some(match setup.service {
            Service::Tbs => "tbs".into(),
            Service::Background => "background".into(),
        }),
        victims: Some(match setup.victims {
            Victims::Actual => "actual".into(),
            Victims::Worst => "worst".into(),
        }),
        aging: setup.aging.map(|aging| match aging {
            Aging::Worst => "worst".into(),
            Aging::Random => "random".into(),
            Aging::Fresh => "fresh".into(),
        }),
        pattern: None,
        times: None,
        waits: Some(match setup.waits {
            Waits::Actual => "actual".into(),
            Waits::Worst => "worst".into(),
        }),
        phases: None,
        backfill: Some(setup.backfill),
        seed: setup.seed,
    }
}
