//! The report of `host run`.

use rtflash_draw::page::{HtmlReport, Picture, ReportPart, SortableTable, TableCell, Tone};
use rtflash_wire::{Answer, HostAnswer};

use super::Origin;
use super::cells::{amount, count, exact, name};

/// The page of runs of one scenario: their figures, and a table of all jobs. `answer` has one
/// answer for each scheduler, as the command prints them, in one array.
pub fn host(answers: &[HostAnswer<'_>], seed: u64, pictures: Vec<Picture>) -> HtmlReport {
    let origin = Origin::of_call(Some(seed));
    let mut latencies = SortableTable::new(&[
        "scheduler",
        "job",
        ">I/Os",
        ">mean",
        ">p50",
        ">p99",
        ">p99.9",
        ">p99.99",
        ">max",
        ">MB/s",
        ">IOPS",
    ]);
    let mut queues = SortableTable::new(&[
        "scheduler",
        ">waiting at the scheduler, mean",
        ">at most",
        ">in the device, mean",
        ">at most",
    ]);
    let mut assumptions = SortableTable::new(&["scheduler", "assumption", "seen", ">first broken at"]);
    let mut broken = 0_u64;
    for answer in answers {
        for job in &answer.jobs {
            let mut cells = vec![TableCell::text(&*answer.scheduler), name(&job.name), count(job.completed)];
            let times = [job.mean_ns, job.p50_ns, job.p99_ns, job.p999_ns, job.p9999_ns, job.max_ns];
            cells.extend(times.map(exact));
            cells.extend([amount(Some(job.bytes_per_s as f64 / 1e6)), amount(Some(job.iops))]);
            latencies.rows.push(cells);
        }
        let (waiting, inside) = (&answer.queues.waiting, &answer.queues.inside);
        queues.rows.push(vec![
            TableCell::text(&*answer.scheduler),
            amount(Some(waiting.mean)),
            count(waiting.max),
            amount(Some(inside.mean)),
            count(inside.max),
        ]);
        for seen in &answer.assumptions {
            broken += u64::from(seen.holds == Some(false));
            let held = match seen.holds {
                Some(true) => TableCell::text("holds").toned(Tone::Good),
                Some(false) => TableCell::text("broken").toned(Tone::Bad),
                None => TableCell::text("not observed"),
            };
            let at = exact(seen.broken_at_ns);
            assumptions.rows.push(vec![TableCell::text(&*answer.scheduler), TableCell::text(&*seen.name), held, at]);
        }
    }
    let schedulers: Vec<&str> = answers.iter().map(|answer| &*answer.scheduler).collect();
    let verdict = match broken {
        0 => (Tone::Good, format!("done: {}", schedulers.join(", "))),
        _ => (Tone::Open, format!("done: {}; not all that bounds suppose held", schedulers.join(", "))),
    };
    let lines: Vec<String> = answers.iter().map(|answer| answer.line().trim_end().to_owned()).collect();
    HtmlReport {
        title: "Host: a scenario run by I/O schedulers".into(),
        verdict: Some(verdict),
        parts: vec![
            ReportPart::Pictures(pictures),
            ReportPart::Heading("Latencies and bandwidths".into()),
            ReportPart::Table(latencies),
            ReportPart::Heading("Lengths of queues".into()),
            ReportPart::Table(queues),
            ReportPart::Heading("What bounds suppose (docs/host.md)".into()),
            ReportPart::Table(assumptions),
        ],
        facts: origin.facts(),
        manifest: origin.json(),
        answer: format!("[{}]", lines.join(",")),
    }
}
