//! Whether what moves has the pages at its new place that it had.

use rtflash_model::{Placement, Task, TaskId, TaskSet, capped};

use super::StageRefusal;
use super::parts::{StageTasks, goes_round, whole_rows};
use super::stage::{Leaving, Scene};
use crate::admission::RunningDevice;

impl Scene<'_> {
    /// Those that it states, whole rows where it goes round in these, or its share.
    pub(super) fn pages(&self, task: TaskId) -> u64 {
        let place = self.now.clusters.iter().position(|cluster| cluster.tasks.contains(&task));
        let Some(place) = place else { return 0 };
        let (cluster, placement) = (&self.now.clusters[place], self.now.certificates[place].placement);
        match &self.set.tasks()[task] {
            Task { data_pages: None, .. } => self.share(&cluster.tasks, place),
            of @ Task { data_pages: Some(pages), .. } if goes_round(of) => {
                whole_rows(*pages, cluster.size(), placement)
            }
            Task { data_pages: Some(pages), .. } => *pages,
        }
    }

    fn share(&self, tasks: &[TaskId], position: usize) -> u64 {
        let (cluster, placement) = (&self.now.clusters[position], self.now.certificates[position].placement);
        share(self.set, tasks, cluster.size(), placement)
    }

    pub(super) fn fits(
        &self,
        together: &RunningDevice,
        cluster: usize,
        tasks: &StageTasks,
        leaving: &[Leaving],
    ) -> Result<(), StageRefusal> {
        let own = |task: &TaskId| tasks.parts.iter().find(|parts| parts.moved == *task).map_or(*task, |of| of.task);
        let of: Vec<TaskId> = together.clusters[cluster].tasks.iter().map(own).collect();
        let (size, placement) = (together.clusters[cluster].size(), together.certificates[cluster].placement);
        let space = self.set.space(&of, size, Some(placement));
        // A task that writes copies to zones resets one while the others are kept.
        let copied = leaving.iter().filter(|(parts, ..)| placement.is_zoned() && parts.mirror.is_none()).count();
        let more = copied as u128 * u128::from(self.set.device().zone_pages(size));
        if space.needed_pages + more > space.logical_pages {
            return Err(StageRefusal::Data);
        }
        // A task that goes round would jump if its range is another; if it states no data, that is
        // not known of the range that it has. A mirror of zones is written from the start.
        let other = |&&(parts, from, pages): &&Leaving| {
            let task = &self.set.tasks()[parts.task];
            if self.goes_by_rounds(parts, from, placement) {
                return false;
            }
            let range = task.data_pages.map(|data| whole_rows(data, size, placement));
            goes_round(task) && range != Some(pages)
        };
        if let Some((parts, ..)) = leaving.iter().find(other) {
            return Err(StageRefusal::Range(parts.task));
        }
        let share = share(self.set, &of, size, placement);
        let undeclared = leaving.iter().filter(|(parts, ..)| self.set.tasks()[parts.task].data_pages.is_none());
        let mut short = undeclared.filter(|&&(_, _, pages)| pages > share);
        // A task that stays in a cluster that runs has the pages that it had.
        let stays = self.now.clusters.get(cluster).map_or(&[][..], |cluster| &cluster.tasks);
        if let Some(&task) = stays.iter().find(|&&task| self.set.tasks()[task].data_pages.is_none())
            && self.share(stays, cluster) > share
        {
            return Err(StageRefusal::Share(task));
        }
        short.next().map_or(Ok(()), |(parts, ..)| Err(StageRefusal::Share(parts.task)))
    }
}

/// Equal shares of the cluster's logical pages that are left, whole rows in a stripe.
fn share(set: &TaskSet, tasks: &[TaskId], size: u32, placement: Placement) -> u64 {
    let row = if placement.is_by_chip() { u128::from(size) } else { 1 };
    let declared: Vec<TaskId> = tasks.iter().copied().filter(|&task| set.tasks()[task].data_pages.is_some()).collect();
    let sharers = (tasks.len() - declared.len()) as u128;
    let space = set.space(&declared, size, Some(placement));
    let left = space.logical_pages.saturating_sub(space.needed_pages) / row;
    left.checked_div(sharers).map_or(0, |rows| capped(rows * row))
}
