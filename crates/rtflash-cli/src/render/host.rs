//! The answer of `host run` for a person, and as CSV.

use std::fmt::Write;

use rtflash_model::format_ns;
use rtflash_wire::{Answer, HostAnswer, HostJob, HostQueue};

use super::Render;
use super::numbers::{plain, quantity, separated};
use super::table::table;

impl Render for HostAnswer<'_> {
    fn text(&self) -> String {
        let headings = ["job", ">I/Os", ">mean", ">p50", ">p99", ">p99.9", ">p99.99", ">max", ">MB/s", ">IOPS"];
        let rows = self.jobs.iter().map(|job| {
            let times = times(job).map(|time| time.map_or_else(|| "-".to_owned(), format_ns));
            let mut row = vec![plain(&job.name), separated(job.completed.into())];
            row.extend(times);
            row.push(quantity(job.bytes_per_s as f64 / 1e6));
            row.push(quantity(job.iops));
            row
        });
        let length = |queue: &HostQueue| format!("{} ({} at most)", quantity(queue.mean), separated(queue.max.into()));
        let (waiting, inside) = (length(&self.queues.waiting), length(&self.queues.inside));
        let queues = format!("requests at the scheduler: {waiting}; in the device: {inside}");
        // The longest latency does not show these.
        let open = self.jobs.iter().filter_map(|job| {
            let oldest = job.oldest_open_ns.filter(|&oldest| job.max_ns.is_none_or(|max| oldest > max))?;
            let (name, number) = (plain(&job.name), separated(job.open.into()));
            Some(format!("{name}: I/Os open at the end: {number}, the first released {} before\n", format_ns(oldest)))
        });
        let broken = self.assumptions.iter().filter_map(|seen| {
            let at = format_ns(seen.broken_at_ns?);
            Some(format!("not as bounds suppose: {} (docs/host.md), first at {at}\n", seen.name))
        });
        let findings = open.chain(broken).collect::<String>();
        format!("{}\n{}{queues}\n{findings}", self.scheduler, table(&headings, rows))
    }

    fn json(&self) -> String {
        self.line()
    }
}

fn times(job: &HostJob<'_>) -> [Option<u64>; 6] {
    [job.mean_ns, job.p50_ns, job.p99_ns, job.p999_ns, job.p9999_ns, job.max_ns]
}

/// A line for each job, without a heading.
pub fn csv(answer: &HostAnswer<'_>) -> String {
    let mut text = String::new();
    for job in &answer.jobs {
        let quoted = format!("\"{}\"", job.name.replace('"', "\"\""));
        // Writing to a string cannot fail.
        let _ = write!(text, "{},{quoted},{}", answer.scheduler, job.completed);
        for time in times(job) {
            let _ = write!(text, ",{}", time.map_or_else(String::new, |time| time.to_string()));
        }
        let _ = writeln!(text, ",{},{},{}", job.sum_ns, job.bytes_per_s, job.iops);
    }
    text
}

/// The heading of [`csv`].
pub const CSV: &str = "scheduler,job,completed,mean_ns,p50_ns,p99_ns,p999_ns,p9999_ns,max_ns,sum_ns,bytes_per_s,iops\n";
