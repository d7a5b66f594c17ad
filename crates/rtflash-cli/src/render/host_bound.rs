//! The answer of `host bound` for a person.

use rtflash_answers::BoundAnswer;
use rtflash_drive::three_digits;
use rtflash_model::format_ns;

use super::numbers::{bound, plain};
use super::table::table;

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
    let is_bounded = answer.jobs.iter().any(|job| job.bound_ns.is_some());
    if is_bounded {
        text += "the bounds rest on:\n";
        answer.rests_on.iter().for_each(|clause| text += &format!("  {clause}\n"));
    }
    if let Some(claims) = &answer.measured {
        text += if is_bounded { "" } else { "the measurement says:\n" };
        claims.iter().for_each(|claim| text += &format!("  {claim}\n"));
        if answer.jobs.iter().any(|job| job.bound_ns.is_none() || job.in_time == Some(false)) {
            text += TO_DO;
        }
    }
    text
}

const TO_DO: &str = "advice: a bound counts the longest command again and again. Measure on a machine that does \
                     nothing else: the longest command of a busy one is often the machine's. Let fewer commands out \
                     (k2 with a `max_inflight` of 1), cut long ones (k2-split), or give real-time jobs longer periods. \
                     If some I/Os can be late, `host run` and the 95 % sentences say how many\n";
