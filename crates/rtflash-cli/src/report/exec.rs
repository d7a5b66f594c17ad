//! The report of `exec`.

use rtflash_answers::{Answer, ExecAnswer, JobsLine, Tone};
use rtflash_draw::figure::{BarSeries, Bars};
use rtflash_draw::page::{HtmlReport, Picture, ReportPart};
use rtflash_model::{Instant, TaskSet, format_ns};

use super::{Origin, labelled, subject, table_parts};
use crate::render::exec_text::run;
use crate::render::numbers::plain;

/// Requests that bars are drawn of: more could not be distinguished.
const BARS: usize = 24;
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

pub fn exec(answer: &ExecAnswer<'_>, set: &TaskSet, chart: Option<Picture>) -> HtmlReport {
    let origin = Origin::of_call(answer.settings.seed);
    let tone = match answer.verdict.as_deref() {
        Some("pass") if answer.reason.is_none() => Tone::Good,
        Some(_) => Tone::Bad,
        None => Tone::Open,
    };
    let text = anstream::adapter::strip_str(&run(answer)).to_string();
    let tasks: Vec<&str> = set.tasks().iter().map(|task| &*task.name).collect();
    let mut parts = vec![subject(&tasks, set.device())];
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
        let tables = [
            ("Bounds, and the worst that was observed", answer.checks_table()),
            ("Requests, garbage collection and other jobs", answer.jobs_table()),
            ("Clusters (W: write amplification)", answer.clusters_table(set.device().page_size())),
            ("Chips", answer.chips_table()),
            ("Channels", answer.channels_table()),
        ];
        parts.extend(tables.into_iter().flat_map(|(heading, table)| table_parts(heading, table)));
    }
    let title = format!("A run of {}", format_ns(answer.settings.duration_ns));
    let page = origin.page(&title, (tone, text.trim_end().to_owned()), parts, answer.line());
    HtmlReport { verdicts: labelled(&answer.verdicts), ..page }
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
