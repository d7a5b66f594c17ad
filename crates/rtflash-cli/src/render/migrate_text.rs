//! The answer of `migrate` for a person.

use std::collections::BTreeSet;

use rtflash_answers::{MigrateAnswer, MissingCluster, MovingStage, MovingTask};
use rtflash_model::Device;

use super::admit_text::{left_out, running, stream};
use super::numbers::{chips, count, names, plain, separated, time, volume};
use super::{data, verdicts};
use crate::output::{DIM, GREEN, RED, YELLOW, paint};

pub fn text(answer: &MigrateAnswer<'_>, device: &Device) -> String {
    let by = paint(DIM, &format!("(analysis: {})", answer.analysis));
    if !answer.found {
        let mut missing: String = answer.missing.iter().map(missing).collect();
        if let Some(of) = &answer.unserved {
            missing += &stream(of);
        }
        let headline = verdicts::text(&answer.verdicts);
        return format!("{headline}{}: no way was found {by}\n{missing}", paint(YELLOW, "cannot tell"));
    }
    // A task that first moves aside moves twice.
    let moves = answer.stages.iter().flat_map(|stage| &stage.moves);
    let moved = moves.map(|of| &*of.task).collect::<BTreeSet<&str>>().len();
    let within = answer.within_ns.map_or_else(|| "an endless time".to_owned(), |within| time(within as f64));
    let mut text = verdicts::text(&answer.verdicts);
    text += &match moved {
        0 => format!("{}: its tasks run on these chips already {by}\n", paint(GREEN, "found")),
        _ => format!(
            "{}: {} to move, in {}, within {within} {by}\n",
            paint(GREEN, "found"),
            count(moved, "task"),
            count(answer.stages.len(), "stage")
        ),
    };
    if let Some(of) = &answer.left_out {
        text += &left_out(of);
    }
    for (stage, number) in answer.stages.iter().zip(1..) {
        text += &moved_together(device, stage, number);
    }
    let by = match &answer.accepted_by {
        Some(by) if *by != answer.analysis => format!(" these, which `check --analysis {by}` accepts"),
        _ => String::new(),
    };
    text += &format!("\nIt then runs on{by}:\n");
    text + &running(&answer.clusters)
}

fn missing(of: &MissingCluster<'_>) -> String {
    let tasks = names(of.tasks.iter().map(|name| &**name), 6);
    let task = of.task.as_ref().map_or_else(String::new, |task| format!("{}: ", plain(task)));
    format!("  cluster {} ({}: {tasks}): {task}{}\n", of.cluster, chips(&of.chips), of.detail)
}

fn moved_together(device: &Device, stage: &MovingStage<'_>, number: usize) -> String {
    let to = match (stage.joins.is_empty(), stage.chips.len()) {
        (true, 1) => "which is free",
        (true, _) => "which are free",
        (false, 1) => "which runs, and goes on",
        (false, _) => "which run, and go on",
    };
    let mut text = format!("\n{number}. To {}, {to}\n", chips(&stage.chips));
    if let Some(erase) = stage.erase_ns {
        text += &format!("   erased first, {}\n", time(erase as f64));
    }
    for join in &stage.joins {
        let how =
            if join.stages.is_empty() { "by the certificate that there is" } else { "by new terms of collection" };
        let within = match join.ready_within_ns {
            0 => "at once".to_owned(),
            within => format!("within {}", time(within as f64)),
        };
        text += &format!("   {} is taken {how}, {within}\n", plain(&join.task));
    }
    let writers: Vec<&str> = stage.moves.iter().filter(|of| of.mirrored).map(|of| &*of.task).collect();
    if writers.len() == stage.moves.len() {
        text += "   writes go to both places from then on\n";
    } else if !writers.is_empty() {
        text += &format!("   writes of {} go to both places from then on\n", names(writers.into_iter(), 6));
    }
    text += &stage.moves.iter().map(|of| moving(device, of)).collect::<String>();
    text += &format!(
        "   requests go to the new place alone within {}; nothing is left at the old ones within {}\n",
        time(stage.switched_within_ns as f64),
        time(stage.over_within_ns as f64)
    );
    if let Some(executed) = &stage.executed {
        let operations = separated(executed.operations.into());
        let simulated = time(executed.duration_ns as f64);
        text += &match executed.passes {
            true => format!("   {}: {operations} operations in {simulated}, no check broken\n", paint(GREEN, "run")),
            false => {
                let broken = names(executed.broken.iter().map(|name| &**name), 6);
                format!("   {}: {operations} operations in {simulated}; broken: {broken}\n", paint(RED, "run"))
            }
        };
    }
    text
}

fn moving(device: &Device, of: &MovingTask<'_>) -> String {
    let after = match of.copying_after_ns {
        0 => "0 s".to_owned(),
        after => time(after as f64),
    };
    let (from, within) = (chips(&of.from), time(of.copied_within_ns as f64));
    let (name, pages) = (plain(&of.task), data::amount(device, of.pages));
    let copied = of.pages_a_period.zip(of.period_ns).zip(of.buffer_pages);
    match (copied, of.round_requests) {
        (Some(((each, period), held)), _) => {
            let rate = volume(device.bytes(each.into()) as f64 * 1e9 / period as f64);
            let (period, held) = (time(period as f64), data::amount(device, held));
            format!(
                "   {name}: {pages} from {from}, {each} read each {period} ({rate}/s) and written in the next, \
                 from {after} to {within}; {held} held\n"
            )
        }
        (None, Some(requests)) => {
            let requests = count(requests, "request");
            format!(
                "   {name}: {pages} from {from}, by its own next {requests}, from {after} to {within} if they \
                 come each period\n"
            )
        }
        (None, None) => format!("   {name}: {pages} from {from}, from {after} to {within}\n"),
    }
}
