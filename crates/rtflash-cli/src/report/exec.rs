//! The report of `exec`.

use rtflash_draw::figure::{BarSeries, Bars};
use rtflash_draw::page::{HtmlReport, Picture, ReportPart, SortableTable, TableCell, Tone};
use rtflash_model::{Instant, TaskSet, format_ns};
use rtflash_wire::{Answer, CheckLine, ExecAnswer, JobsLine};

use super::cells::{amount, count, exact, list, name, places, share};
use super::{Origin, labelled};
use crate::render::exec_text::run;
use crate::render::numbers::{lifetime, period, plain, runs, time};

/// Requests that bars are drawn of: more could not be distinguished.
const BARS: usize = 24;
/// Rows of a table; all of them are in the data.
const ROWS: usize = 2_000;
/// Periods of the slowest request that are drawn where no stretch is asked for, and of the fastest
/// one at most.
const PERIODS: (u64, u64) = (2, 100);

/// The end of the stretch that is drawn where none is asked for; it begins with the run.
pub fn chart_end(set: &TaskSet, duration: Instant) -> Instant {
    let requests = set.tasks().iter().flat_map(|task| [task.read, task.write]).flatten();
    let periods: Vec<u64> = requests.map(|request| request.period().as_ns()).collect();
    let slowest = periods.iter().max().map_or(u64::MAX, |period| period.saturating_mul(PERIODS.0));
    let fastest = periods.iter().min().map_or(u64::MAX, |period| period.saturating_mul(PERIODS.1));
    Instant::from_ns(slowest.min(fastest)).map_or(duration, |end| end.min(duration))
}

/// The page of a run. `chart` is a stretch of it.
pub fn exec(answer: &ExecAnswer<'_>, chart: Option<Picture>) -> HtmlReport {
    let origin = Origin::of_call(answer.settings.seed);
    let tone = match answer.verdict.as_deref() {
        Some("pass") if answer.reason.is_none() => Tone::Good,
        Some(_) => Tone::Bad,
        None => Tone::Open,
    };
    let text = anstream::adapter::strip_str(&run(answer)).to_string();
    let mut parts = Vec::new();
    if let Some(disobeys) = &answer.disobeys {
        parts.push(ReportPart::Note(disobeys.clone()));
    }
    parts.extend(answer.notes.iter().cloned().map(ReportPart::Note));
    if answer.verdict.is_some() {
        let bars = (1..=BARS)
            .contains(&answer.requests.len())
            .then(|| Picture::bars("Response times of requests", &responses(answer)));
        let pictures: Vec<Picture> = bars.into_iter().chain(chart).collect();
        if !pictures.is_empty() {
            parts.push(ReportPart::Pictures(pictures));
        }
        let mut table = |heading: &str, table: SortableTable, all: usize| {
            parts.extend([ReportPart::Heading(heading.into()), ReportPart::Table(table)]);
            if all > ROWS {
                parts.push(ReportPart::Note(format!("{} further rows are in the data alone.", all - ROWS)));
            }
        };
        table("What was promised, and the worst that was observed", checks(answer), answer.checks.len());
        let jobs = answer.requests.len() + answer.gc.len() + answer.jobs.len();
        table("Requests, garbage collection and other jobs", self::jobs(answer), jobs);
        table("Clusters", clusters(answer), answer.clusters.len());
        table("Chips", chips(answer), answer.chips.len());
        table("Channels", channels(answer), answer.channels.len());
    }
    HtmlReport {
        title: format!("A run of {}", format_ns(answer.settings.duration_ns)),
        verdicts: labelled(&answer.verdicts),
        verdict: Some((tone, text.trim_end().to_owned())),
        parts,
        facts: origin.facts(),
        manifest: origin.json(),
        answer: answer.line(),
    }
}

/// Response times as shares of the deadline.
fn responses(answer: &ExecAnswer<'_>) -> Bars {
    let of = |response: fn(&JobsLine<'_>) -> Option<u64>| {
        let share = |line: &JobsLine<'_>| {
            let deadline = line.deadline_ns.map_or(f64::NAN, |deadline| deadline.to_f64());
            response(line).map_or(f64::NAN, |time| time as f64 / deadline)
        };
        answer.requests.iter().map(share).collect()
    };
    Bars {
        y_label: "Response time / deadline".into(),
        groups: answer.requests.iter().map(|line| format!("{} {}", plain(&line.task), line.kind)).collect(),
        series: vec![
            BarSeries::new("median", of(|line| line.p50_ns)),
            BarSeries::new("99 %", of(|line| line.p99_ns)),
            BarSeries::new("longest", of(|line| line.max_response_ns)),
        ],
        logarithmic: false,
    }
}

fn checks(answer: &ExecAnswer<'_>) -> SortableTable {
    let mut table = SortableTable::new(&[
        "check",
        "what is assumed",
        ">bound",
        ">observed",
        "verdict",
        ">violations",
        ">worst at",
        "of",
    ]);
    for check in &answer.checks {
        let number = |check: &CheckLine<'_>, number: Option<u64>| match check.unit.as_ref() {
            "ns" => exact(number),
            unit => TableCell::some(number.map(|number| (format!("{number} {unit}"), number as f64))),
        };
        let verdict = match check.holds {
            Some(true) => TableCell::text("holds").toned(Tone::Good),
            Some(false) => TableCell::text("fails").toned(Tone::Bad),
            None => TableCell::text("not observed"),
        };
        let worst = check.worst.as_ref();
        table.rows.push(vec![
            TableCell::text(&*check.name),
            TableCell::text(&*check.assumption),
            number(check, check.bound),
            number(check, check.observed),
            verdict,
            count(check.violations),
            exact(worst.map(|worst| worst.at_ns)),
            name(worst.and_then(|worst| worst.job.as_deref()).unwrap_or("-")),
        ]);
    }
    table
}

fn jobs(answer: &ExecAnswer<'_>) -> SortableTable {
    let mut table = SortableTable::new(&[
        "task",
        "kind",
        ">complete",
        ">pending",
        ">late",
        ">median",
        ">p99",
        ">p99.9",
        ">longest",
        ">deadline",
        ">slack",
    ]);
    for line in answer.requests.iter().chain(&answer.gc).chain(&answer.jobs).take(ROWS) {
        let deadline = line.deadline_ns.map(|deadline| deadline.to_f64());
        let slack = deadline.zip(line.max_response_ns).map(|(deadline, worst)| deadline - worst as f64);
        let signed = |slack: f64| format!("{}{}", if slack < 0.0 { "-" } else { "" }, time(slack.abs()));
        let late = line.misses + line.overdue;
        let shown = count(late);
        table.rows.push(vec![
            name(&line.task),
            TableCell::text(&*line.kind),
            count(line.completed),
            count(line.pending),
            if late > 0 { shown.toned(Tone::Bad) } else { shown },
            exact(line.p50_ns),
            exact(line.p99_ns),
            exact(line.p999_ns),
            exact(line.max_response_ns),
            TableCell::some(line.deadline_ns.map(|deadline| (period(deadline), deadline.to_f64()))),
            TableCell::some(slack.map(|slack| (signed(slack), slack))),
        ]);
    }
    table
}

fn clusters(answer: &ExecAnswer<'_>) -> SortableTable {
    let mut table = SortableTable::new(&[
        ">cluster",
        "chips",
        "tasks",
        ">chips busy",
        ">GC passes",
        ">pages copied",
        ">pages written",
        ">write amplification",
        ">other jobs' pages/s",
        ">erases a day",
        ">lifetime",
    ]);
    for (position, cluster) in answer.clusters.iter().enumerate().take(ROWS) {
        let years = cluster.wear.and_then(|wear| wear.lifetime_years);
        table.rows.push(vec![
            count(position as u64),
            TableCell::text(runs(&cluster.chips)),
            list(cluster.tasks.iter().map(AsRef::as_ref)),
            share(cluster.used),
            count(cluster.gc_passes),
            count(cluster.pages_copied),
            count(cluster.pages_written),
            places(cluster.write_amplification, 3),
            places(Some(cluster.non_rt_pages_per_s), 1),
            amount(cluster.wear.map(|wear| wear.erases_per_day)),
            TableCell::some(years.map(|years| (lifetime(years), years))),
        ]);
    }
    table
}

fn chips(answer: &ExecAnswer<'_>) -> SortableTable {
    let mut table = SortableTable::new(&[">chip", ">busy", ">pages read", ">pages programmed", ">blocks erased"]);
    for chip in answer.chips.iter().take(ROWS) {
        let counts = [chip.reads, chip.programs, chip.erases].map(count);
        table.rows.push([count(chip.chip as u64), share(chip.used)].into_iter().chain(counts).collect());
    }
    table
}

fn channels(answer: &ExecAnswer<'_>) -> SortableTable {
    let mut table = SortableTable::new(&[">channel", ">busy", ">pages moved"]);
    for channel in answer.channels.iter().take(ROWS) {
        table.rows.push(vec![count(channel.channel as u64), share(channel.used), count(channel.transfers)]);
    }
    table
}
