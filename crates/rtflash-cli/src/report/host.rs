//! The report of `host run`.

use rtflash_draw::page::{HtmlReport, Picture, ReportPart, SortableTable, TableCell, Tone};
use rtflash_wire::{Answer, HostAnswer};

use super::Origin;
use super::cells::{amount, count, exact, name};

/// The page of runs of one scenario: their figures, and a table of all jobs. Its data are the
/// answers as the command prints them, one for each scheduler, in one array.
pub fn host(answers: &[HostAnswer<'_>], seed: u64, pictures: Vec<Picture>) -> HtmlReport {
    let origin = Origin::of_call(Some(seed));
    let schedulers: Vec<&str> = answers.iter().map(|answer| &*answer.scheduler).collect();
    let broken = answers.iter().flat_map(|answer| &answer.assumptions).any(|seen| seen.holds == Some(false));
    let verdict = match broken {
        false => (Tone::Good, format!("done: {}", schedulers.join(", "))),
        true => (Tone::Open, format!("done: {}; not all that bounds suppose held", schedulers.join(", "))),
    };
    let lines: Vec<String> = answers.iter().map(|answer| answer.line().trim_end().to_owned()).collect();
    HtmlReport {
        title: "Host: a scenario run by I/O schedulers".into(),
        verdicts: Vec::new(),
        verdict: Some(verdict),
        parts: vec![
            ReportPart::Pictures(pictures),
            ReportPart::Heading("Latencies and bandwidths".into()),
            ReportPart::Table(latencies(answers)),
            ReportPart::Heading("Lengths of queues".into()),
            ReportPart::Table(queues(answers)),
            ReportPart::Heading("What bounds suppose (docs/host.md)".into()),
            ReportPart::Table(assumptions(answers)),
        ],
        facts: origin.facts(),
        manifest: origin.json(),
        answer: format!("[{}]", lines.join(",")),
    }
}

fn latencies(answers: &[HostAnswer<'_>]) -> SortableTable {
    let mut table = SortableTable::new(&[
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
    for (answer, job) in answers.iter().flat_map(|answer| answer.jobs.iter().map(move |job| (answer, job))) {
        let mut cells = vec![TableCell::text(&*answer.scheduler), name(&job.name), count(job.completed)];
        let times = [job.mean_ns, job.p50_ns, job.p99_ns, job.p999_ns, job.p9999_ns, job.max_ns];
        cells.extend(times.map(exact));
        cells.extend([amount(Some(job.bytes_per_s as f64 / 1e6)), amount(Some(job.iops))]);
        table.rows.push(cells);
    }
    table
}

fn queues(answers: &[HostAnswer<'_>]) -> SortableTable {
    let mut table = SortableTable::new(&[
        "scheduler",
        ">waiting at the scheduler, mean",
        ">at most",
        ">in the device, mean",
        ">at most",
    ]);
    for answer in answers {
        let (waiting, inside) = (&answer.queues.waiting, &answer.queues.inside);
        table.rows.push(vec![
            TableCell::text(&*answer.scheduler),
            amount(Some(waiting.mean)),
            count(waiting.max),
            amount(Some(inside.mean)),
            count(inside.max),
        ]);
    }
    table
}

fn assumptions(answers: &[HostAnswer<'_>]) -> SortableTable {
    let mut table = SortableTable::new(&["scheduler", "assumption", "seen", ">first broken at"]);
    for (answer, seen) in answers.iter().flat_map(|answer| answer.assumptions.iter().map(move |seen| (answer, seen))) {
        let held = match seen.holds {
            Some(true) => TableCell::text("holds").toned(Tone::Good),
            Some(false) => TableCell::text("broken").toned(Tone::Bad),
            None => TableCell::text("not observed"),
        };
        let at = exact(seen.broken_at_ns);
        table.rows.push(vec![TableCell::text(&*answer.scheduler), TableCell::text(&*seen.name), held, at]);
    }
    table
}
