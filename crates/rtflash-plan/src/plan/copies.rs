//! Tasks that use the pages of others: what moves a task's data (docs/migration.md).

use std::ops::Range;

use rtflash_model::{Cluster, TaskId, TaskSet};

use super::zones::ZoneRing;
use super::{Plan, PlanError, Promise};
use crate::ids::{BlockId, ClusterId, Lpn, SourceId};
use crate::jobs::Kind;

/// Whose addresses a source draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawnAs {
    /// This source's, seen from the start of its range.
    pub source: SourceId,
    /// From its request of this number on.
    pub skipped: u64,
}

/// Pages of another task in the cluster, with a certificate; the task has none of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedPages {
    /// The cluster.
    pub cluster: ClusterId,
    /// The task.
    pub task: TaskId,
    /// Whose pages they are.
    pub whose: TaskId,
}

pub(super) struct PageOwners<'a> {
    /// The cluster with those of its tasks that own pages.
    pub(super) owning: Cluster,
    tasks: &'a [TaskId],
    shared: &'a [SharedPages],
}

impl<'a> PageOwners<'a> {
    pub(super) fn new(cluster: &'a Cluster, shared: &'a [SharedPages]) -> PageOwners<'a> {
        let owns = |task: &TaskId| !shared.iter().any(|of| of.task == *task);
        let tasks = cluster.tasks.iter().copied().filter(owns).collect();
        PageOwners { owning: Cluster { chips: cluster.chips.clone(), tasks }, tasks: &cluster.tasks, shared }
    }

    /// The pages of each task, and of job streams behind them, from those of the owners.
    pub(super) fn pages_of_all(&self, owned: &[Range<Lpn>]) -> Result<Vec<Range<Lpn>>, PlanError> {
        let (own, jobs) = owned.split_at(self.owning.tasks.len());
        let of = |task: &TaskId| {
            let owner = self.shared.iter().find(|of| of.task == *task).map_or(task, |of| &of.whose);
            let at = self.owning.tasks.binary_search(owner).map_err(|_| PlanError::OtherAllocation)?;
            Ok(own[at].clone())
        };
        self.tasks.iter().map(of).chain(jobs.iter().cloned().map(Ok)).collect()
    }

    /// The zones of each task, from those of the owners: a task that shares pages owns none.
    pub(super) fn rings_of_all(&self, owned: Vec<ZoneRing>) -> Vec<ZoneRing> {
        let (mut owned, mut after) = (owned.into_iter(), (BlockId(0), Lpn(0)));
        let ring = |task: &TaskId| match self.owning.tasks.binary_search(task).ok().and_then(|_| owned.next()) {
            Some(ring) => {
                after = (ring.blocks.end, ring.pages.end);
                ring
            }
            None => ZoneRing { blocks: after.0..after.0, pages: after.1..after.1, writes: false },
        };
        self.tasks.iter().map(ring).collect()
    }

    pub(super) fn others_write(&self, set: &TaskSet) -> bool {
        let writes = |of: &SharedPages| set.tasks().get(of.task).is_none_or(|task| task.write.is_some());
        self.shared.iter().any(writes)
    }
}

impl Plan {
    /// A task whose writes draw the addresses of `of` after `skipped` requests: its mirror at
    /// another place. Addresses drawn by places of pages differ.
    ///
    /// # Errors
    /// If one does not write, or the mirror owns zones, which are written from their start.
    pub fn with_mirror(mut self, mirror: TaskId, of: TaskId, skipped: u64) -> Result<Plan, PlanError> {
        let writes = |task| {
            let is =
                |&(_, source): &(SourceId, &super::Source)| source.task() == Some(task) && source.kind == Kind::Write;
            self.sources.enumerate().find(is).map(|(number, _)| number).ok_or(PlanError::OtherAllocation)
        };
        let (mirror, source) = (writes(mirror)?, writes(of)?);
        let cluster = self.sources[mirror].cluster;
        if matches!(&self.promise, Promise::Certified(by) if cluster.is_some_and(|at| by[at].is_zoned())) {
            return Err(PlanError::OtherAllocation);
        }
        self.mirrors.push((mirror, DrawnAs { source, skipped }));
        Ok(self)
    }

    /// Whose addresses a source draws: its own, unless it is a mirror.
    pub fn drawn_as(&self, number: SourceId) -> DrawnAs {
        let mirror = self.mirrors.iter().find(|(mirror, _)| *mirror == number);
        mirror.map_or(DrawnAs { source: number, skipped: 0 }, |&(_, drawn)| drawn)
    }
}
