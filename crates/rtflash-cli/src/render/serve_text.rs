//! The answer of `serve` for a person.

use rtflash_answers::{ServeAnswer, ServedDirection};
use rtflash_model::Device;

use super::data;
use super::numbers::{count, names, plain, separated, time};
use crate::output::{GREEN, RED, paint};

pub fn text(answer: &ServeAnswer<'_>, device: &Device) -> String {
    let verdict = if answer.passes { paint(GREEN, "pass") } else { paint(RED, "fail") };
    let (ran, clients) = (time(answer.duration_ns as f64), count(answer.clients, "client"));
    let slow = if answer.slow > 1 { format!(", {} times as slow", answer.slow) } else { String::new() };
    let behind = time(answer.behind_ns as f64);
    let mut text = format!("{verdict}: {clients} in {ran} of the device{slow} (behind it by at most {behind})\n");
    for of in &answer.exports {
        for (does, of_one) in [("read", &of.read), ("write", &of.write)] {
            if let Some(of_one) = of_one {
                text += &direction(&format!("{}.{does}", plain(&of.task)), of_one);
            }
        }
        if of.trimmed_pages > 0 {
            text += &format!("  {}: {} trimmed\n", plain(&of.task), data::amount(device, of.trimmed_pages));
        }
    }
    if answer.malformed > 0 {
        text += &format!("{} ended: what came was not of the protocol\n", count(answer.malformed, "connection"));
    }
    if answer.refused > 0 {
        text += &format!("{} refused: the task owns zones, and writes them in order\n", count(answer.refused, "write"));
    }
    if answer.overloaded {
        text += "more was pending than can be kept: all ended there\n";
    }
    match &answer.broken[..] {
        [] => text += "no check fails\n",
        broken => text += &format!("checks that fail: {}\n", names(broken.iter().map(|name| &**name), 20)),
    }
    text
}

fn direction(name: &str, of: &ServedDirection) -> String {
    if of.requests == 0 {
        return format!("  {name}: nothing\n");
    }
    let late =
        if of.late == 0 { "none late".to_owned() } else { paint(RED, &format!("{} late", separated(of.late.into()))) };
    let held = if of.held == 0 { String::new() } else { format!(", {} of them held back", separated(of.held.into())) };
    format!(
        "  {name}: {} requests, {} at most of {}, {late}; {} commands{held}, {} at most\n",
        separated(of.requests.into()),
        time(of.longest_ns as f64),
        time(of.deadline_ns as f64),
        separated(of.commands.into()),
        time(of.longest_command_ns as f64),
    )
}
