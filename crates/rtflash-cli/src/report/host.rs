//! The report of `host run`.

use rtflash_answers::{Answer, AnswerTable, HostAnswer, Tone};
use rtflash_draw::page::{HtmlReport, Picture, ReportPart};

use super::{Origin, table_parts};

/// The page of runs of one scenario: their figures, and a table of all jobs. Its data are the
/// answers as the command prints them, one for each scheduler, in one array.
pub fn host(answers: &[HostAnswer<'_>], seed: u64, pictures: Vec<Picture>) -> HtmlReport {
    let origin = Origin::of_call(Some(seed));
    let schedulers: Vec<&str> = answers.iter().map(|answer| &*answer.scheduler).collect();
    let broken = answers.iter().flat_map(|answer| &answer.assumptions).any(|seen| seen.holds == Some(false));
    let late: Vec<String> =
        answers.iter().flat_map(|answer| answer.late().map(|job| format!("{job} by {}", answer.scheduler))).collect();
    let verdict = match broken {
        _ if !late.is_empty() => (Tone::Bad, format!("deadlines are missed: {}", late.join(", "))),
        false => (Tone::Good, format!("done: {}", schedulers.join(", "))),
        true => (Tone::Open, format!("done: {}; not all that bounds suppose held", schedulers.join(", "))),
    };
    let lines: Vec<String> = answers.iter().map(|answer| answer.line().trim_end().to_owned()).collect();
    let mut parts = vec![ReportPart::Pictures(pictures)];
    parts.extend(table_parts("Latencies and bandwidths", joined(answers, HostAnswer::table)));
    parts.push(ReportPart::Heading("Lengths of queues".into()));
    let lengths = |answer: &HostAnswer<'_>| ReportPart::Note(format!("{}: {}", answer.scheduler, answer.lengths()));
    parts.extend(answers.iter().map(lengths));
    parts.extend(table_parts("What bounds suppose (docs/host.md)", joined(answers, HostAnswer::assumptions_table)));
    origin.page("Host: a scenario run by I/O schedulers", verdict, parts, format!("[{}]", lines.join(",")))
}

fn joined<'a>(answers: &[HostAnswer<'a>], table: fn(&HostAnswer<'a>) -> AnswerTable) -> AnswerTable {
    let all = answers.iter().map(table);
    let join = |one: AnswerTable, other: AnswerTable| AnswerTable { rows: [one.rows, other.rows].concat(), ..one };
    all.reduce(join).expect("a scenario is run by a scheduler or more")
}
