//! Space beside the timing verdict of the thesis's analyses, which know nothing of it.

use rtflash_analysis::PartFtl;
use rtflash_analysis::reason::Reason;
use rtflash_model::{Allocation, Cluster, TaskId, TaskSet};

use super::{Failure, Outcome, Unplaced};

/// A failure where the clusters found do not hold the declared data.
pub(super) fn checked(set: &TaskSet, outcome: Outcome) -> Outcome {
    // Most sets declare nothing, and are to cost nothing.
    if set.tasks().iter().all(|task| task.data_pages.is_none()) {
        return outcome;
    }
    match outcome {
        Outcome::Schedulable(allocation) => match first_too_full(set, &allocation) {
            None => Outcome::Schedulable(allocation),
            Some(unplaced) => {
                Outcome::NotSchedulable(Failure { unplaced, overloaded: Some(allocation), by_merge: false })
            }
        },
        other => other,
    }
}

/// The first cluster whose data do not fit, and the first task with which they no longer do.
fn first_too_full(set: &TaskSet, allocation: &Allocation) -> Option<Unplaced> {
    let full = |cluster: &Cluster| set.space(&cluster.tasks, cluster.size(), None);
    let mut clusters = allocation.clusters().into_iter().enumerate();
    let (position, cluster) = clusters.find(|(_, cluster)| !full(cluster).fits())?;
    let chips = cluster.size();
    let task = first_too_many(&cluster.tasks, |tasks| set.space(tasks, chips, None).fits())?;
    Some(Unplaced {
        task,
        reason: Reason::Data(full(&cluster)),
        cluster: position,
        chips,
        others: cluster.tasks.into_iter().filter(|&other| other != task).collect(),
    })
}

/// The last task of the shortest failing run from the first on; more tasks never pass again.
pub(super) fn first_too_many(tasks: &[TaskId], passes: impl Fn(&[TaskId]) -> bool) -> Option<TaskId> {
    let (mut fitting, mut failing) = (0, tasks.len());
    while fitting + 1 < failing {
        let middle = usize::midpoint(fitting, failing);
        if passes(&tasks[..middle]) { fitting = middle } else { failing = middle }
    }
    tasks.get(failing.checked_sub(1)?).copied()
}

/// The first task with which the data do not fit the data chips, its cluster.
pub fn unplaced_by_part_ftl(verdict: &PartFtl, set: &TaskSet) -> Option<Unplaced> {
    if verdict.space.fits() {
        return None;
    }
    let chips = set.device().chips() - set.device().chips() / 4;
    let all: Vec<TaskId> = set.tasks().ids().collect();
    let task = first_too_many(&all, |tasks| set.space(tasks, chips, None).fits())?;
    let others = all.into_iter().filter(|&other| other != task).collect();
    Some(Unplaced { task, reason: Reason::Data(verdict.space), cluster: 0, chips, others })
}
