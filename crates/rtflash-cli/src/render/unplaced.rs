//! The task that could not be placed, and why, in words. A load, a demand and a number of pages
//! each have a name of their own.

use rtflash_alloc::allocator::{Failure, Unplaced};
use rtflash_alloc::reason::{Excess, Reason};
use rtflash_model::TaskSet;
use rtflash_wire::task_name;

use super::data::{self, Beside};
use super::kind::KindText;
use super::numbers::{count, names, plain, separated, time};
use crate::output::{BOLD, paint};

/// Names of tasks shown for a cluster.
const NAMES: usize = 4;

/// Where a task fits nowhere, or a cluster is too much, and why: a sentence or two.
pub fn text(set: &TaskSet, failure: &Failure, kind: &dyn KindText) -> String {
    let unplaced = &failure.unplaced;
    let task = paint(BOLD, &plain(task_name(set, unplaced.task)));
    let others = match unplaced.others.len() {
        0 => "alone".to_owned(),
        _ => format!("with {}", names(unplaced.others.iter().map(|&task| task_name(set, task)), NAMES)),
    };
    let (size, cluster) = (count(unplaced.chips, "chip"), unplaced.cluster);
    let why = why(set, unplaced, kind, data::beside);
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

/// The same within a sentence, in plain words: for programs, too.
pub fn sentence(set: &TaskSet, failure: &Failure, kind: &dyn KindText) -> String {
    let unplaced = &failure.unplaced;
    format!(
        "task {} is not placed: {}",
        plain(task_name(set, unplaced.task)),
        why(set, unplaced, kind, |_, _| String::new())
    )
}

/// The reason with its numbers.
fn why(set: &TaskSet, unplaced: &Unplaced, kind: &dyn KindText, beside: Beside) -> String {
    match unplaced.reason {
        Reason::Load { utilization } => kind.load(utilization),
        Reason::Demand(excess) => demand(&excess),
        Reason::Data(space) => data::sentence(set.device(), &space),
        Reason::Request(request) => {
            let bytes = beside(set.device(), request.pages.into());
            let pages = separated(request.pages.into());
            let limit = if request.window < request.period {
                format!("it is due {} after its release", request.window)
            } else {
                format!("its period is {}", request.period)
            };
            let noun = if request.pages == 1 { "page" } else { "pages" };
            format!(
                "its {} of {pages} {noun}{bytes} takes {} at least, and {limit}",
                if request.writes { "write" } else { "read" },
                time(request.least_ns as f64)
            )
        }
        Reason::Blocks(few) => format!(
            "its write requests and the data need {} blocks of each chip, and there are {}",
            separated(few.needed_blocks.into()),
            separated(few.blocks.into())
        ),
    }
}

fn demand(excess: &Excess) -> String {
    let length = time(excess.interval.as_ns() as f64);
    let [demand, excess] = [excess.demand_ns, excess.excess_ns()].map(|nanoseconds| time(nanoseconds as f64));
    format!("demand and blocking of {demand} in an interval of {length}, {excess} too much")
}
