//! The task that could not be placed, and why, in words. A load, a demand and a number of pages
//! each have a name of their own.

use rtflash_alloc::allocator::Failure;
use rtflash_analysis::Analysis;
use rtflash_analysis::reason::Reason;
use rtflash_answers::reasons::{beside, unplaced_reason};
use rtflash_answers::task_name;
use rtflash_model::TaskSet;

use super::numbers::{count, names, plain};
use crate::output::{BOLD, paint};

const NAMES: usize = 4;

/// The cause if a task fits nowhere, or a cluster is too much: a sentence or two.
pub fn text(set: &TaskSet, failure: &Failure, analysis: &dyn Analysis) -> String {
    let unplaced = &failure.unplaced;
    let task = paint(BOLD, &plain(task_name(set, unplaced.task)));
    let others = match unplaced.others.len() {
        0 => "alone".to_owned(),
        _ => format!("with {}", names(unplaced.others.iter().map(|&task| task_name(set, task)), NAMES)),
    };
    let (size, cluster) = (count(unplaced.chips, "chip"), unplaced.cluster);
    let why = unplaced_reason(set, analysis, unplaced, beside);
    match (failure.overloaded.is_some(), unplaced.reason) {
        (true, Reason::Data(_)) => format!("Task {task} is the first whose data do not fit in cluster {cluster}.\n"),
        (_, Reason::Request(_)) => format!("Task {task} can be served nowhere: {why}.\n"),
        (true, _) => format!(
            "Cluster {cluster} ({size}) is overloaded: {why}. Task {task} is the first that does not fit in it.\n"
        ),
        _ if failure.by_merge => {
            format!(
                "Merging clusters to place all tasks left one of {size} overloaded: task {task}, {others}: {why}.\n"
            )
        }
        _ => format!("Task {task} fits nowhere. It comes nearest in cluster {cluster} ({size}), {others}: {why}.\n"),
    }
}
