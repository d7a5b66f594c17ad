//! What `rtflash soak` says.

use rtflash_answers::SoakAnswer;
use serde_json::value::RawValue;

use crate::output::{GREEN, RED, paint};
use crate::render::numbers::count;
use crate::render::table::table;

pub fn text(answer: &SoakAnswer) -> String {
    let cases = cases(answer);
    let drawn =
        format!("{cases} drawn from seed {}, {} accepted by their analysis and run", answer.seed, answer.judged);
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
            broken.name.to_string(),
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

fn cases(answer: &SoakAnswer) -> String {
    match answer.stopped_after {
        None => format!("{} cases", answer.runs),
        Some(cases) => format!("{cases} of {} cases (stopped by a signal)", answer.runs),
    }
}
