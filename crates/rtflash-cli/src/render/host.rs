//! What `host run` answers.

use std::fmt::Write;

use rtflash_host::bound::Assumption;
use rtflash_host::run::{JobReport, QueueLength, QueueLengths};
use rtflash_model::{Instant, Span, format_ns};
use schemars::JsonSchema;
use serde::Serialize;

use super::numbers::{plain, quantity, separated};
use super::table::table;

/// What `rtflash host run --format json` prints for each scheduler, a line each.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HostAnswer<'a> {
    /// The scheduler.
    pub scheduler: &'a str,
    /// The jobs, in the scenario's order.
    pub jobs: Vec<HostJob<'a>>,
    /// The lengths of the queues, from the warm-up to the duration.
    pub queues: HostQueues,
    /// What `host bound` supposes, as it was seen in the run.
    pub assumptions: Vec<HostAssumption>,
}

/// Something that bounds suppose, in a [`HostAnswer`]: docs/host.md has the list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HostAssumption {
    /// What it is called.
    pub name: &'static str,
    /// Whether it held; null where there was nothing to be looked at.
    pub holds: Option<bool>,
    /// When it first did not, in nanoseconds; null where it held.
    pub broken_at_ns: Option<u64>,
}

impl HostAssumption {
    fn new(seen: &Assumption) -> HostAssumption {
        HostAssumption {
            name: seen.name,
            holds: (seen.observed || seen.broken.is_some()).then_some(seen.broken.is_none()),
            broken_at_ns: seen.broken.map(Instant::as_ns),
        }
    }
}

/// Queues in a [`HostAnswer`].
#[derive(Debug, Serialize, JsonSchema)]
pub struct HostQueues {
    /// Requests and pieces that wait at the scheduler.
    pub waiting: HostQueue,
    /// Requests and pieces that the device has.
    pub inside: HostQueue,
}

/// A queue in [`HostQueues`].
#[derive(Debug, Serialize, JsonSchema)]
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

/// A job in a [`HostAnswer`]: its I/Os that ended from the warm-up to the duration, both included. Latencies, from release to the end of the last request, are
/// in nanoseconds; null where no I/O counts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HostJob<'a> {
    /// Its name.
    pub name: &'a str,
    /// I/Os that count.
    pub completed: u64,
    /// Their mean latency, rounded down.
    pub mean_ns: Option<u64>,
    /// The least latency that half of them do not exceed.
    pub p50_ns: Option<u64>,
    /// The same for 99 %.
    pub p99_ns: Option<u64>,
    /// The same for 99.9 %.
    pub p999_ns: Option<u64>,
    /// The same for 99.99 %.
    pub p9999_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
    /// All together.
    pub sum_ns: u128,
    /// Bytes of these I/Os, for each second between warm-up and duration, rounded down.
    pub bytes_per_s: u128,
    /// These I/Os, for each second between warm-up and duration.
    pub iops: f64,
}

impl<'a> HostAnswer<'a> {
    /// What is told of a run.
    pub fn new(
        scheduler: &'a str,
        jobs: &'a [JobReport],
        (queues, assumptions): (&QueueLengths, &[Assumption]),
        span: Span,
    ) -> HostAnswer<'a> {
        let assumptions = assumptions.iter().map(HostAssumption::new).collect();
        let seconds = span.as_ns() as f64 / 1e9;
        let queues = HostQueues { waiting: HostQueue::new(&queues.waiting), inside: HostQueue::new(&queues.inside) };
        let job = |job: &'a JobReport| {
            let latencies = &job.latencies;
            HostJob {
                name: &job.name,
                completed: latencies.count(),
                mean_ns: latencies.mean(),
                p50_ns: latencies.percentile(5_000),
                p99_ns: latencies.percentile(9_900),
                p999_ns: latencies.percentile(9_990),
                p9999_ns: latencies.percentile(9_999),
                max_ns: latencies.max(),
                sum_ns: latencies.sum(),
                bytes_per_s: job.bytes_per_s,
                iops: latencies.count() as f64 / seconds,
            }
        };
        HostAnswer { scheduler, jobs: jobs.iter().map(job).collect(), queues, assumptions }
    }

    fn times(job: &HostJob<'_>) -> [Option<u64>; 6] {
        [job.mean_ns, job.p50_ns, job.p99_ns, job.p999_ns, job.p9999_ns, job.max_ns]
    }

    /// For a person.
    pub fn text(&self) -> String {
        let headings = ["job", ">I/Os", ">mean", ">p50", ">p99", ">p99.9", ">p99.99", ">max", ">MB/s", ">IOPS"];
        let rows = self.jobs.iter().map(|job| {
            let times = Self::times(job).map(|time| time.map_or_else(|| "-".to_owned(), format_ns));
            let mut row = vec![plain(job.name), separated(job.completed.into())];
            row.extend(times);
            row.push(quantity(job.bytes_per_s as f64 / 1e6));
            row.push(quantity(job.iops));
            row
        });
        let length = |queue: &HostQueue| format!("{} ({} at most)", quantity(queue.mean), separated(queue.max.into()));
        let (waiting, inside) = (length(&self.queues.waiting), length(&self.queues.inside));
        let queues = format!("requests at the scheduler: {waiting}; in the device: {inside}");
        let broken = self.assumptions.iter().filter_map(|seen| {
            let at = format_ns(seen.broken_at_ns?);
            Some(format!("not as bounds suppose: {} (docs/host.md), first at {at}\n", seen.name))
        });
        format!("{}\n{}{queues}\n{}", self.scheduler, table(&headings, rows), broken.collect::<String>())
    }

    /// A line for each job, without a heading.
    pub fn csv(&self) -> String {
        let mut text = String::new();
        for job in &self.jobs {
            let quoted = format!("\"{}\"", job.name.replace('"', "\"\""));
            // Writing to a string cannot fail.
            let _ = write!(text, "{},{quoted},{}", self.scheduler, job.completed);
            for time in Self::times(job) {
                let _ = write!(text, ",{}", time.map_or_else(String::new, |time| time.to_string()));
            }
            let _ = writeln!(text, ",{},{},{}", job.sum_ns, job.bytes_per_s, job.iops);
        }
        text
    }
}

/// The heading of [`HostAnswer::csv`].
pub const CSV: &str = "scheduler,job,completed,mean_ns,p50_ns,p99_ns,p999_ns,p9999_ns,max_ns,sum_ns,bytes_per_s,iops\n";
