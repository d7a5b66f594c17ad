//! What `rtflash soak` says.

use rtflash_wire::line;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::output::{GREEN, RED, paint};
use crate::render::Render;
use crate::render::numbers::count;
use crate::render::table::table;

/// What `rtflash soak --format json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SoakAnswer {
    /// The seed that repeats the search.
    pub seed: u64,
    /// Cases drawn.
    pub runs: u64,
    /// Sets that the analysis accepts, where each is run many times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sets: Option<u64>,
    /// Cases that the analysis accepts and that were run.
    pub judged: u64,
    /// The mean real-time load of the fullest cluster of each case, garbage collection included
    /// (world `sound`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_load: Option<f64>,
    /// What broke.
    pub broken: Vec<BrokenLine>,
    /// What a term that is left out of the test is for (`--without`). What was accepted so was no
    /// promise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<WithoutLine>,
}

/// A term that was left out of the test, and what broke.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WithoutLine {
    pub term: &'static str,
    /// The term in the letters of docs/analysis.md.
    pub letters: &'static str,
    /// Sets that the test accepts without it. Where certificates state the same with the term, it
    /// rejects each of them.
    pub sets: u64,
    /// Runs of them.
    pub runs: u64,
    /// Runs in which a request or a job of garbage collection was late.
    pub late: u64,
    /// The first of these, else the first in which anything broke.
    pub first_run: Option<u64>,
    /// The checks that fail, each with the number of runs.
    pub checks: Vec<CheckCount>,
    /// A small set with which it does. `exec` refuses it, as nothing is promised.
    #[schemars(with = "serde_json::Value")]
    pub task_set: Option<Box<RawValue>>,
}

/// How often a check failed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckCount {
    pub name: &'static str,
    pub runs: u64,
}

/// An assumption that broke.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BrokenLine {
    pub name: &'static str,
    pub runs: u64,
    pub first_run: u64,
    pub bound: Option<u64>,
    pub observed: Option<u64>,
    /// The command that runs the smallest case found, with the task set on standard input.
    pub command: String,
    /// The smallest case found.
    #[schemars(with = "serde_json::Value")]
    pub task_set: Option<Box<RawValue>>,
}

impl Render for SoakAnswer {
    fn text(&self) -> String {
        text(self)
    }

    fn json(&self) -> String {
        line(self)
    }
}

fn text(answer: &SoakAnswer) -> String {
    if !answer.without.is_empty() {
        return text_without(answer);
    }
    let drawn = match answer.sets {
        Some(sets) => format!(
            "{} cases drawn from seed {}, {sets} sets accepted by their analysis, {} runs of them",
            answer.runs, answer.seed, answer.judged
        ),
        None => format!(
            "{} cases drawn from seed {}, {} accepted by their analysis and run",
            answer.runs, answer.seed, answer.judged
        ),
    };
    let drawn = match answer.mean_load {
        Some(load) => format!("{drawn} (mean real-time load of the fullest cluster {load:.3})"),
        None => drawn,
    };
    if answer.broken.is_empty() {
        return format!("{}: {drawn}: no check fails\n", paint(GREEN, "pass"));
    }
    let assumptions = count(answer.broken.len(), "assumption");
    let verb = if answer.broken.len() == 1 { "breaks" } else { "break" };
    let mut text = format!("{}: {drawn}: {assumptions} {verb}\n\n", paint(RED, "fail"));
    let number = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
    let rows = answer.broken.iter().map(|broken| {
        vec![
            broken.name.to_owned(),
            broken.runs.to_string(),
            broken.first_run.to_string(),
            number(broken.bound),
            number(broken.observed),
        ]
    });
    text += &table(&["check", ">runs", ">first", ">bound", ">observed"], rows.collect::<Vec<_>>());
    text += "\nThe smallest cases found (bound and observation above are theirs):\n";
    for broken in &answer.broken {
        let set = broken.task_set.as_deref().map_or("", RawValue::get);
        text += &format!("\n{}\n  {}\n  {set}\n", broken.name, broken.command);
    }
    text
}

fn text_without(answer: &SoakAnswer) -> String {
    let rows = answer.without.iter().map(|line| {
        let checks: Vec<String> = line.checks.iter().map(|check| format!("{} {}", check.name, check.runs)).collect();
        vec![
            line.term.to_owned(),
            line.letters.to_owned(),
            line.sets.to_string(),
            line.runs.to_string(),
            line.late.to_string(),
            line.first_run.map_or("-".to_owned(), |run| run.to_string()),
            if checks.is_empty() { "none".to_owned() } else { checks.join(", ") },
        ]
    });
    let table = table(&["left out", "is", ">sets", ">runs", ">late", ">first", "checks that fail"], rows);
    format!(
        "{} cases for each term, drawn from seed {}. A term is left out of the test, so nothing of this is \
         promised.\n\n{table}",
        answer.runs, answer.seed
    )
}
