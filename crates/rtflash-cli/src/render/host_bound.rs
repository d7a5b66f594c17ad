//! The answer of `host bound` for a person.

use rtflash_answers::BoundAnswer;
use rtflash_drive::three_digits;
use rtflash_model::format_ns;

use super::numbers::{bound, plain};
use super::table::table;

/// The answer for a person.
pub fn text(answer: &BoundAnswer<'_>) -> String {
    if answer.jobs.is_empty() {
        return format!("{}\nno job is real-time\n", answer.scheduler);
    }
    let headings = ["job", ">at most", ">deadline", "rule", ">inside", ">ahead", ">own"];
    // Measurements carry three digits.
    let digits = if answer.measured.is_some() { three_digits } else { bound };
    let time = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), digits);
    let rows = answer.jobs.iter().flat_map(|job| {
        let terms = job.terms.as_ref();
        let steps = job.steps.iter().flatten().map(|step| {
            let times = if step.times > 1 { format!(", {} times", step.times) } else { String::new() };
            let name = format!("{} {} {}{times}", plain(&job.name), step.step, step.op);
            let none = || "-".to_owned();
            vec![name, digits(step.bound_ns), none(), job.rule.to_string(), none(), none(), none()]
        });
        let whole = vec![
            plain(&job.name),
            job.bound_ns.map_or_else(|| "none".to_owned(), digits),
            job.deadline_ns.map_or_else(|| "-".to_owned(), format_ns),
            job.rule.to_string(),
            time(terms.map(|terms| terms.inside_ns)),
            time(terms.map(|terms| terms.ahead_ns)),
            time(terms.map(|terms| terms.own_ns)),
        ];
        std::iter::once(whole).chain(steps)
    });
    let table = table(&headings, rows);
    let late = answer.jobs.iter().filter(|job| job.in_time == Some(false));
    let late = late.map(|job| format!("{}: its bound is longer than its deadline\n", plain(&job.name)));
    let whys = answer.jobs.iter().filter_map(|job| Some(format!("{}: {}\n", plain(&job.name), job.why.as_ref()?)));
    let mut text = format!("{}\n{table}{}", answer.scheduler, late.chain(whys).collect::<String>());
    if answer.jobs.iter().any(|job| job.bound_ns.is_some()) {
        text += "the bounds rest on:\n";
        let all = answer.rests_on.iter().chain(answer.measured.iter().flatten());
        all.for_each(|clause| text += &format!("  {clause}\n"));
    }
    text
}
