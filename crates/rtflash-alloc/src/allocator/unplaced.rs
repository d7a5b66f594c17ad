//! A task that an algorithm finds no room for, under a test that knows tasks and a number of chips.

use rtflash_model::{TaskId, TaskSet, sorting};

use super::Unplaced;
use crate::analysis::Analysis;
use crate::reason::overload;

/// A task that fits nowhere: what its load says, or that one request of it is too long on every
/// cluster.
pub(super) fn unplaced(
    (set, analysis): (&TaskSet, &dyn Analysis),
    task: TaskId,
    total: f64,
    cluster: usize,
    chips: u32,
    mut others: Vec<TaskId>,
) -> Unplaced {
    sorting::unstable(&mut others);
    // Above one exactly, whatever became of it in doubles.
    let reason = overload(set, analysis, task, total.max(1.0f64.next_up()));
    Unplaced { task, reason, cluster, chips, others }
}
