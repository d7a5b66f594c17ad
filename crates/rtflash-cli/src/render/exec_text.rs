//! The answer of `exec`, and of `check` for a trace, for a person.

use rtflash_answers::ExecAnswer;
use rtflash_model::format_ns;

use super::numbers::{count, lifetime, names, quantity, volume};
use super::table::{answer_table, first_rows};
use super::verdicts;
use crate::output::{DIM, GREEN, RED, YELLOW, paint};

pub struct ExecView<'a> {
    pub answer: ExecAnswer<'a>,
    pub page_size: u32,
    pub alone: bool,
    pub drawing: String,
}

impl ExecView<'_> {
    pub fn text(&self) -> String {
        match (self.alone, self.drawing.is_empty()) {
            (false, _) => headline(&self.answer),
            (true, true) => answer(&self.answer, self.page_size),
            (true, false) => format!("{}\n{}", answer(&self.answer, self.page_size), self.drawing),
        }
    }
}

fn headline(answer: &ExecAnswer<'_>) -> String {
    verdicts::text(&answer.verdicts) + &run(answer)
}

/// The result of the run in a line, after one that says why checks can fail if the set is not
/// guaranteed.
pub fn run(answer: &ExecAnswer<'_>) -> String {
    let why = answer.verdicts.why_checks_can_fail().filter(|_| answer.verdict.is_some());
    why.map_or_else(String::new, |why| format!("{}\n", paint(YELLOW, why))) + &came_to(answer)
}

fn came_to(answer: &ExecAnswer<'_>) -> String {
    let relies = match answer.relies_on.as_deref() {
        None => String::new(),
        Some("nothing") => ", relies on no neighbour".into(),
        Some(on) => format!(", relies on {on}"),
    };
    let by = match &answer.algorithm {
        Some(algorithm) => format!("({algorithm}, analysis: {}{relies})", answer.analysis),
        None => format!("(given allocation, analysis: {}{relies})", answer.analysis),
    };
    let by = paint(DIM, &by);
    let ran = match answer.settings.stopped_before_ns {
        None => format_ns(answer.settings.duration_ns),
        Some(asked) => {
            format!(
                "{}, where a signal stopped the run of {}",
                format_ns(answer.settings.duration_ns),
                format_ns(asked)
            )
        }
    };
    match (answer.verdict.as_deref(), answer.reason.as_deref()) {
        (None, reason) => {
            let reason = reason.expect("what is not run has a reason");
            format!("{}: {reason} {by}\n", paint(YELLOW, "not run"))
        }
        (Some("pass"), Some(reason)) => {
            format!("{}: every check holds over {ran}, but {reason} {by}\n", paint(RED, "not granted"))
        }
        (Some("pass"), None) => {
            let late = answer.requests.iter().map(|line| line.completed).sum::<u64>();
            let jobs = count(late, "request");
            format!("{}: no check fails over {ran}, {jobs} in time {by}\n", paint(GREEN, "pass"))
        }
        (Some(_), _) => {
            let broken: Vec<&str> = answer
                .checks
                .iter()
                .filter(|check| check.holds == Some(false))
                .map(|check| check.name.as_ref())
                .collect();
            let late: u64 = answer.requests.iter().chain(&answer.gc).map(|line| line.misses + line.overdue).sum();
            let late = match late {
                0 => "no real-time deadline was missed, but".to_owned(),
                1 => "1 real-time job was late;".to_owned(),
                many => format!("{many} real-time jobs were late;"),
            };
            let broken = names(broken.into_iter(), 8);
            let because = answer.reason.as_ref().map_or_else(String::new, |reason| format!("; {reason}"));
            format!("{}: over {ran} {late} these checks fail: {broken}{because} {by}\n", paint(RED, "fail"))
        }
    }
}

fn answer(answer: &ExecAnswer<'_>, page_size: u32) -> String {
    let mut text = headline(answer);
    if answer.verdict.is_none() {
        return text;
    }
    if let Some(disobeys) = &answer.disobeys {
        text += &format!("{}: {disobeys}\n", paint(YELLOW, "note"));
    }
    for note in &answer.notes {
        text += &format!("{}: {note}\n", paint(YELLOW, "note"));
    }
    text += &format!("\n{}", first_rows(answer.jobs_table(), "jobs"));
    text += &format!("\n{}", answer_table(&answer.checks_table()));
    text += &format!("\n{}", first_rows(answer.clusters_table(page_size), "clusters"));
    text += "  (W: write amplification; jobs: aperiodic requests)\n";
    let operations = answer.operations;
    let page = f64::from(page_size);
    text += &format!(
        "\n{} pages read ({}), {} programmed ({}), {} blocks erased, {} transfers",
        operations.reads,
        volume(operations.reads as f64 * page),
        operations.programs,
        volume(operations.programs as f64 * page),
        operations.erases,
        operations.transfers
    );
    let trimmed: u64 = answer.clusters.iter().filter_map(|cluster| cluster.pages_trimmed).sum();
    if trimmed > 0 {
        text += &format!(", {trimmed} pages trimmed");
    }
    if !answer.jobs.is_empty() {
        let pages = answer.non_rt_pages_per_s;
        text += &format!("; {pages:.0} pages a second not real-time ({}/s)", volume(pages * page));
    }
    text + "\n" + &worn(answer)
}

fn worn(answer: &ExecAnswer<'_>) -> String {
    let Some(wear) = answer.wear.filter(|wear| wear.erases > 0) else { return String::new() };
    let years = match wear.lifetime_years {
        Some(years) => format!("its blocks last {} if it goes on so", lifetime(years)),
        None => "no lifetime, as the device does not say how many erases a block endures (`erase_cycles`)".to_owned(),
    };
    let early = if wear.turns < 1.0 { ": what was on the device at the start is still at work" } else { "" };
    format!(
        "worn fastest: chip {}, {} erases a day; {years} (measured over {}, each block erased {:.2} times{early})\n",
        wear.chip,
        quantity(wear.erases_per_day),
        format_ns(wear.measured_ns),
        wear.turns
    )
}
