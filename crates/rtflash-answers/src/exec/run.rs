//! An answer of what a run came to.

use rtflash_analysis::Fraction;
use rtflash_judge::report::{MostWorn, Operations, Report, SourceReport};
use rtflash_judge::{Finding, Unit};
use rtflash_model::{ChipId, Instant, Span, TaskSet};
use rtflash_plan::{Dispatch, Options, Placed, Plan, Policy, Releases, Source};
use rtflash_trace::{Kind, Setup};

use super::{
    ChannelLine, CheckLine, ChipLine, ClusterLine, ExecAnswer, JobsLine, NotTaken, OperationCounts, Settings, WearLine,
    WorstLine,
};
use crate::numbers::time;
use crate::parts::{Nanoseconds, Text, chip_numbers, task_name, task_names};

impl WearLine {
    fn new(wear: MostWorn, settings: &Settings) -> WearLine {
        let MostWorn { chip, erases, erases_per_day, turns, lifetime_years } = wear;
        WearLine { measured_ns: settings.duration_ns, chip: chip.0, erases, erases_per_day, turns, lifetime_years }
    }
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

/// A count in the run as a rate, by the second.
#[allow(clippy::cast_precision_loss)]
fn per_second(count: u64, settings: &Settings) -> f64 {
    count as f64 * 1e9 / settings.duration_ns.max(1) as f64
}

impl<'a> ExecAnswer<'a> {
    /// A note for each stream that asks for more than its server gives.
    #[allow(clippy::cast_precision_loss)]
    pub fn outgrown(&self) -> impl Iterator<Item = String> {
        self.jobs.iter().filter_map(|line| {
            let NotTaken { jobs, since_ns } = line.not_taken?;
            let (name, waiting, rate) = (&line.task, line.pending - jobs, self.non_rt_pages_per_s);
            let since = time(since_ns as f64);
            Some(format!(
                "aperiodic requests of {name} ask for more than the servers give, {rate:.1} pages a second: {waiting} \
                 wait, and {jobs} found the queue full, from {since} on, and were not taken"
            ))
        })
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
        let wear = |chips: &mut dyn Iterator<Item = ChipId>| {
            report.wear(plan.device(), chips, end).map(|wear| WearLine::new(wear, settings))
        };
        let clusters = plan.clusters().iter().zip(&report.clusters).map(|(cluster, did)| {
            let busy = cluster.chips.iter().map(|&chip| part(report.chips[chip].busy, settings));
            #[allow(clippy::cast_precision_loss)]
            let used = busy.sum::<f64>() / cluster.chips.len() as f64;
            ClusterLine {
                chips: chip_numbers(&cluster.chips).into(),
                tasks: task_names(set, &cluster.tasks),
                used,
                gc_passes: did.gc_passes,
                pages_copied: did.copied,
                pages_written: did.written,
                pages_trimmed: (did.trimmed > 0).then_some(did.trimmed),
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
        name: finding.assumption.name().into(),
        assumption: finding.statement.into(),
        unit: match finding.assumption.unit() {
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
            cluster: worst.place.cluster.map(|cluster| cluster.0),
            chip: worst.place.chip.map(|chip| chip.0),
        }),
    }
}

/// A stream without jobs taken has no cluster that serves it.
fn not_taken(jobs: &SourceReport) -> Option<NotTaken> {
    let since = jobs.untaken_since.filter(|_| jobs.untaken < jobs.released)?;
    Some(NotTaken { jobs: jobs.untaken, since_ns: since.as_ns() })
}

fn jobs_line<'a>(set: &'a TaskSet, source: &'a Source, jobs: &SourceReport) -> JobsLine<'a> {
    let stream = source.stream().is_some();
    let name = source.task().map_or(source.name.as_str(), |task| task_name(set, task));
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
        not_taken: not_taken(jobs),
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

impl Settings {
    /// The settings of a run with these options; what they do not show is left out.
    pub fn of(options: &Options) -> Settings {
        let Placed { waits, backfill, faults } = options.placed;
        Settings {
            duration_ns: options.duration.as_ns(),
            dispatch: options.dispatch.name().into(),
            server: Some(options.service.name().into()),
            victims: Some(options.victims.name().into()),
            aging: Some(options.aging.name().into()),
            pattern: Some(options.pattern.name().into()),
            times: Some(options.times.name().into()),
            waits: Some(waits.name().into()),
            phases: Some(options.phases.name().into()),
            arrivals: options.recurrence.stated().map(Text::from),
            police: options.police.then_some(true),
            arbitration: options.arbitration.stated().map(Text::from),
            ties: options.ties.stated().map(Text::from),
            backfill: Some(backfill),
            faults: (faults > 0).then_some(faults),
            seed: Some(options.seed),
            ..Settings::default()
        }
    }

    /// The settings of a recorded run, as far as its trace tells.
    pub fn traced(setup: &Setup, duration: Instant, dispatch: Dispatch) -> Settings {
        Settings {
            duration_ns: duration.as_ns(),
            dispatch: dispatch.name().into(),
            server: Some(setup.service.name().into()),
            victims: Some(setup.victims.name().into()),
            aging: setup.aging.map(|aging| aging.name().into()),
            waits: Some(setup.waits.name().into()),
            arbitration: setup.arbitration.stated().map(Text::from),
            ties: setup.ties.stated().map(Text::from),
            backfill: Some(setup.backfill),
            seed: setup.seed,
            ..Settings::default()
        }
    }
}
