//! The answer of `host run` for a person, and as CSV.

use std::fmt::Write;

use rtflash_answers::HostAnswer;
use rtflash_model::format_ns;

use super::numbers::{plain, separated};
use super::table::answer_table;

pub fn text(answer: &HostAnswer<'_>) -> String {
    // The longest latency does not show these.
    let open = answer.jobs.iter().filter_map(|job| {
        let oldest = job.oldest_open_ns.filter(|&oldest| job.latencies.max_ns.is_none_or(|max| oldest > max))?;
        let (name, number) = (plain(&job.name), separated(job.open.into()));
        let (unit, oldest) = (job.unit(), format_ns(oldest));
        Some(format!("{name}: {unit}s open at the end: {number}, the first released {oldest} before\n"))
    });
    let broken = answer.assumptions.iter().filter_map(|seen| {
        let at = format_ns(seen.broken_at_ns?);
        Some(format!("not as bounds suppose: {} (docs/host.md), first at {at}\n", seen.name))
    });
    let late = answer.jobs.iter().filter_map(|job| {
        let (name, deadline, late) = (plain(&job.name), format_ns(job.deadline_ns?), job.late?);
        let unit = job.unit();
        Some(match late {
            0 => format!("{name}: every {unit} kept its deadline of {deadline}\n"),
            _ => format!("{name}: {unit}s later than its deadline of {deadline}: {}\n", separated(late.into())),
        })
    });
    let findings = late.chain(open).chain(broken).collect::<String>();
    format!("{}\n{}{}\n{findings}", answer.scheduler, answer_table(&answer.table()), answer.lengths())
}

/// A line for each job, without a heading.
pub fn csv(answer: &HostAnswer<'_>) -> String {
    let mut text = String::new();
    for job in &answer.jobs {
        let quoted = format!("\"{}\"", job.name.replace('"', "\"\""));
        // Writing to a string cannot fail.
        let _ = write!(text, "{},{quoted},{}", answer.scheduler, job.latencies.completed);
        for time in job.latencies.times() {
            let _ = write!(text, ",{}", time.map_or_else(String::new, |time| time.to_string()));
        }
        let _ = write!(text, ",{},{},{}", job.sum_ns, job.bytes_per_s, job.iops);
        let or_none = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
        let _ = writeln!(text, ",{},{}", or_none(job.deadline_ns), or_none(job.late));
    }
    text
}

pub const CSV: &str =
    "scheduler,job,completed,mean_ns,p50_ns,p99_ns,p999_ns,p9999_ns,max_ns,sum_ns,bytes_per_s,iops,deadline_ns,late\n";
