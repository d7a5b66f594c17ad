//! The parts of a task that moves, as tasks of a larger set.

use rtflash_model::{Device, Id, Placement, Task, TaskId, TaskSet};

use super::CopyServer;

/// The numbers of a task that moves, in its stage's set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedParts {
    /// The task at its old place: its own number.
    pub task: TaskId,
    /// Its writes at its new place, before the switch; `None` where it writes nothing.
    pub mirror: Option<TaskId>,
    /// All of it at its new place.
    pub moved: TaskId,
}

#[derive(Debug)]
pub(super) struct StageTasks {
    pub(super) all: Vec<Task>,
    pub(super) parts: Vec<MovedParts>,
}

/// A name that no task has: the task's own, and what is behind it.
fn name(all: &[Task], of: &Task, what: &str) -> String {
    let mut name = format!("{} ({what})", of.name);
    while all.iter().any(|task| task.name == name) {
        name.push('\'');
    }
    name
}

fn next(all: &[Task]) -> TaskId {
    TaskId::from_index(all.len())
}

impl StageTasks {
    pub(super) fn new(set: &TaskSet, moving: &[TaskId]) -> StageTasks {
        let mut all: Vec<Task> = set.tasks().iter().cloned().collect();
        let mut parts = Vec::with_capacity(moving.len());
        for &task in moving {
            let of = all[task.index()].clone();
            let mirror = of.write.map(|_| {
                let mirror = Task { read: None, name: name(&all, &of, "mirror"), ..of.clone() };
                all.push(mirror);
                TaskId::from_index(all.len() - 1)
            });
            let moved = next(&all);
            all.push(Task { name: name(&all, &of, "moved"), ..of });
            parts.push(MovedParts { task, mirror, moved });
        }
        StageTasks { all, parts }
    }

    pub(super) fn set(&self, device: &Device) -> Option<TaskSet> {
        TaskSet::new(*device, self.all.clone(), Vec::new()).ok()
    }

    /// The set with the reads and the writes of a copy server at the end, and their numbers.
    pub(super) fn copying(&self, device: &Device, task: TaskId, server: CopyServer) -> Option<(TaskSet, [TaskId; 2])> {
        let mut all = self.all.clone();
        let of = all[task.index()].clone();
        let request = server.request()?;
        let numbers = [next(&all), TaskId(next(&all).0.checked_add(1)?)];
        for (what, reads) in [("copied from", true), ("copied to", false)] {
            let name = name(&all, &of, what);
            let (read, write) = (Some(request).filter(|_| reads), Some(request).filter(|_| !reads));
            all.push(Task { name, read, write, data_pages: None });
        }
        Some((TaskSet::new(*device, all, Vec::new()).ok()?, numbers))
    }
}

pub(super) fn goes_round(task: &Task) -> bool {
    task.requests().any(|(request, _)| request.access().is_consecutive())
}

/// The logical pages that `pages` pages of data take: whole rows where the cluster is a stripe.
pub(super) fn whole_rows(pages: u64, size: u32, placement: Placement) -> u64 {
    let row = if placement.is_by_chip() { u64::from(size) } else { 1 };
    pages.div_ceil(row).saturating_mul(row)
}
