//! The answer of `rtflash host run --format json`.

use rtflash_host::SchedulerSettings;
use rtflash_host::bound::BoundAssumption;
use rtflash_host::run::{JobReport, Latencies, QueueLength, QueueLengths, StepReport};
use rtflash_model::{Instant, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::numbers::{quantity, separated};
use crate::parts::Text;
use crate::table::{AnswerTable, Cell, Tone};

/// The answer of `rtflash host run --format json` for each scheduler, a line each.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct HostAnswer<'a> {
    /// The scheduler.
    pub scheduler: Text<'a>,
    /// Parameters of a kernel's scheduler of this name that are fixed here, with their values; null
    /// where there are none.
    pub stands_for: Option<Text<'a>>,
    /// The jobs, in the scenario's order.
    pub jobs: Vec<HostJob<'a>>,
    /// The lengths of the queues, from the warm-up to the duration.
    pub queues: HostQueues,
    /// The assumptions of `host bound`, as they were seen in the run.
    pub assumptions: Vec<HostAssumption>,
}

/// Something that bounds suppose, in a [`HostAnswer`]: docs/host.md has the list.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct HostAssumption {
    /// Its name.
    pub name: Text<'static>,
    /// Whether it held; null where there was nothing to be looked at.
    pub holds: Option<bool>,
    /// When it first did not, in nanoseconds; null where it held.
    pub broken_at_ns: Option<u64>,
}

impl HostAssumption {
    fn new(seen: &BoundAssumption) -> HostAssumption {
        HostAssumption {
            name: seen.name.into(),
            holds: (seen.observed || seen.broken.is_some()).then_some(seen.broken.is_none()),
            broken_at_ns: seen.broken.map(Instant::as_ns),
        }
    }
}

/// Queues in a [`HostAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct HostQueues {
    /// Requests and pieces that wait at the scheduler.
    pub waiting: HostQueue,
    /// Requests and pieces that the device has.
    pub inside: HostQueue,
}

/// A queue in [`HostQueues`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct HostQueue {
    /// Its mean length over time.
    pub mean: f64,
    /// The longest that it was for any time at all.
    pub max: u64,
}

impl HostQueue {
    fn new(queue: &QueueLength) -> HostQueue {
        HostQueue { mean: queue.mean(), max: queue.max }
    }
}

/// Latencies of I/Os.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct HostLatencies {
    /// I/Os that count.
    pub completed: u64,
    /// Their mean latency, rounded down.
    pub mean_ns: Option<u64>,
    /// The least latency that half of them do not exceed.
    pub p50_ns: Option<u64>,
    /// The least latency that 99 % of them do not exceed.
    pub p99_ns: Option<u64>,
    /// The least latency that 99.9 % of them do not exceed.
    pub p999_ns: Option<u64>,
    /// The least latency that 99.99 % of them do not exceed.
    pub p9999_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
}

impl HostLatencies {
    fn new(of: &Latencies) -> HostLatencies {
        HostLatencies {
            completed: of.count(),
            mean_ns: of.mean(),
            p50_ns: of.percentile(5_000),
            p99_ns: of.percentile(9_900),
            p999_ns: of.percentile(9_990),
            p9999_ns: of.percentile(9_999),
            max_ns: of.max(),
        }
    }

    /// The mean latency, its percentiles, and the longest.
    pub fn times(&self) -> [Option<u64>; 6] {
        [self.mean_ns, self.p50_ns, self.p99_ns, self.p999_ns, self.p9999_ns, self.max_ns]
    }
}

/// A job in a [`HostAnswer`]: its I/Os that ended from the warm-up to the duration, both included.
/// Latencies, from release to the end of the last request, are in nanoseconds; null where no I/O
/// counts.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct HostJob<'a> {
    /// Its name.
    pub name: Text<'a>,
    /// Its latencies.
    #[serde(flatten)]
    pub latencies: HostLatencies,
    /// All together.
    pub sum_ns: u128,
    /// Bytes of these I/Os for each second of the job's time between warm-up and duration, rounded
    /// down.
    pub bytes_per_s: u128,
    /// These I/Os for each second of the job's time between warm-up and duration.
    pub iops: f64,
    /// I/Os that have not ended at the end of the run.
    pub open: u64,
    /// How long before the end the first of them was released, in nanoseconds; null where there are
    /// none.
    pub oldest_open_ns: Option<u64>,
    /// The job's `deadline`, in nanoseconds; null if the scenario states none.
    pub deadline_ns: Option<u64>,
    /// I/Os that took longer than the deadline, and open ones that are older; null without a
    /// deadline.
    pub late: Option<u64>,
    /// The steps of a chain, in order, or the flushes of a job with `fsync`; null for other jobs.
    /// The I/Os of a chain's job are chains, from their begin to the end of their last step.
    pub steps: Option<Vec<HostStep<'a>>>,
}

/// A step of a [`HostJob`]: each of its I/Os from its own release on. Latencies are in nanoseconds;
/// null where no I/O counts.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct HostStep<'a> {
    /// Its operation.
    pub op: Text<'a>,
    /// Its latencies.
    #[serde(flatten)]
    pub latencies: HostLatencies,
}

impl<'a> HostStep<'a> {
    fn new(step: &'a StepReport) -> HostStep<'a> {
        HostStep { op: step.op.into(), latencies: HostLatencies::new(&step.latencies) }
    }
}

impl<'a> HostAnswer<'a> {
    /// The answer about a run.
    pub fn new(
        scheduler: &'a str,
        jobs: &'a [JobReport],
        queues: &QueueLengths,
        assumptions: &[BoundAssumption],
    ) -> HostAnswer<'a> {
        let assumptions = assumptions.iter().map(HostAssumption::new).collect();
        let queues = HostQueues { waiting: HostQueue::new(&queues.waiting), inside: HostQueue::new(&queues.inside) };
        let job = |job: &'a JobReport| {
            let latencies = &job.latencies;
            HostJob {
                name: job.name.as_str().into(),
                latencies: HostLatencies::new(latencies),
                sum_ns: latencies.sum(),
                bytes_per_s: job.bytes_per_s,
                iops: if job.span == Span::ZERO {
                    0.0
                } else {
                    latencies.count() as f64 * 1e9 / job.span.as_ns() as f64
                },
                open: job.open,
                oldest_open_ns: (job.open > 0).then_some(job.oldest.as_ns()),
                deadline_ns: job.deadline.map(Span::as_ns),
                late: job.deadline.map(|_| job.late),
                steps: (!job.steps.is_empty()).then(|| job.steps.iter().map(HostStep::new).collect()),
            }
        };
        let stands_for = SchedulerSettings::named(scheduler).and_then(|of| of.stands_for()).map(Text::from);
        HostAnswer {
            scheduler: scheduler.into(),
            stands_for,
            jobs: jobs.iter().map(job).collect(),
            queues,
            assumptions,
        }
    }
}

impl HostAnswer<'_> {
    /// The latencies and bandwidths of the jobs.
    pub fn table(&self) -> AnswerTable {
        let headings = ["job", ">I/Os", ">mean", ">p50", ">p99", ">p99.9", ">p99.99", ">max", ">MB/s", ">IOPS"];
        let mut table = AnswerTable::new(["+scheduler"].into_iter().chain(headings));
        let mut row = |name: &str, of: &HostLatencies, tail: [Option<f64>; 2]| {
            let head = [Cell::text(&*self.scheduler), Cell::name(name), Cell::separated(of.completed)];
            table.rows.push(head.into_iter().chain(time_cells(of.times())).chain(tail.map(Cell::quantity)).collect());
        };
        for job in &self.jobs {
            row(&job.name, &job.latencies, [job.bytes_per_s as f64 / 1e6, job.iops].map(Some));
            for (step, number) in job.steps.iter().flatten().zip(1..) {
                row(&format!("{} {number} {}", job.name, step.op), &step.latencies, [None; 2]);
            }
        }
        table
    }

    /// The assumptions of bounds, as they were seen.
    pub fn assumptions_table(&self) -> AnswerTable {
        let mut table = AnswerTable::new(["+scheduler", "assumption", "seen", ">first broken at"]);
        table.rows.extend(self.assumptions.iter().map(|seen| {
            let held = match seen.holds {
                Some(true) => Cell::text("holds").toned(Tone::Good),
                Some(false) => Cell::text("broken").toned(Tone::Bad),
                None => Cell::text("not observed").toned(Tone::Open),
            };
            vec![Cell::text(&*self.scheduler), Cell::text(&*seen.name), held, Cell::exact(seen.broken_at_ns)]
        }));
        table
    }

    /// The names of the jobs that missed their deadline.
    pub fn late(&self) -> impl Iterator<Item = &str> {
        self.jobs.iter().filter(|job| job.late.is_some_and(|late| late > 0)).map(|job| &*job.name)
    }

    /// The lengths of queues, and what the scheduler stands for.
    pub fn lengths(&self) -> String {
        let length = |queue: &HostQueue| format!("{} ({} at most)", quantity(queue.mean), separated(queue.max.into()));
        let (waiting, inside) = (length(&self.queues.waiting), length(&self.queues.inside));
        let stands_for =
            self.stands_for.as_ref().map_or_else(String::new, |of| format!("; {} has {of}", self.scheduler));
        format!("requests at the scheduler: {waiting}; in the device: {inside}{stands_for}")
    }
}

impl HostJob<'_> {
    /// The name of one of its I/Os: a chain is a transaction.
    pub fn unit(&self) -> &'static str {
        let is_chain = self.steps.iter().flatten().any(|step| &*step.op != "flush");
        if is_chain { "transaction" } else { "I/O" }
    }
}

/// Latencies as cells. A mean has three digits, because its further ones say nothing.
fn time_cells([mean, rest @ ..]: [Option<u64>; 6]) -> impl Iterator<Item = Cell> {
    [Cell::rounded(mean)].into_iter().chain(rest.map(Cell::exact))
}
