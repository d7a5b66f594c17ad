//! Tasks that use the pages of others: what moves a task's data (docs/migration.md).

use rtflash_model::{Cluster, TaskId, TaskSet};

use super::ranges::{declared, ranges};
use super::zones::{ZoneRing, rings};
use super::{Certified, ClusterPlan, Plan, PlanError, Promise};
use crate::ids::{BlockId, ClusterId, Lpn, SourceId};
use crate::jobs::Kind;

/// Whose addresses a source draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DrawnAs {
    /// This source's, seen from the start of its range.
    pub(crate) source: SourceId,
    /// From its request of this number on.
    pub(crate) skipped: u64,
}

/// The zones of a cluster divided among some of its tasks; the others own none.
fn shared_zones(
    set: &TaskSet,
    (of, owning): (&ClusterPlan, &Cluster),
    by: &mut Certified,
    position: usize,
) -> Result<(), PlanError> {
    let mut found = rings(set, owning, &of.layout, position)?.into_iter();
    let mut after = (BlockId(0), Lpn(0));
    let jobs = by.ranges.split_off(of.tasks.len().min(by.ranges.len()));
    let owns = |task: &TaskId| owning.tasks.binary_search(task).is_ok();
    by.rings = of
        .tasks
        .iter()
        .map(|task| match if owns(task) { found.next() } else { None } {
            Some(ring) => {
                after = (ring.blocks.end, ring.pages.end);
                ring
            }
            None => ZoneRing { blocks: after.0..after.0, pages: after.1..after.1, writes: false },
        })
        .collect();
    by.ranges = by.rings.iter().map(|ring| ring.pages.clone()).chain(jobs).collect();
    Ok(())
}

impl Plan {
    /// The same where some tasks of a cluster with a certificate read and write the logical pages
    /// of others there, and have none of their own: each `(task, whose)`. What the others have is
    /// divided anew.
    ///
    /// # Errors
    /// Where the cluster has no certificate, does not serve these tasks, or has a server for job
    /// streams; where a task has no page, or one that writes to zones would own none.
    pub fn with_shared_pages(
        mut self,
        set: &TaskSet,
        cluster: ClusterId,
        shared: &[(TaskId, TaskId)],
    ) -> Result<Plan, PlanError> {
        let Some(of) = self.clusters.get(cluster).cloned() else { return Err(PlanError::OtherAllocation) };
        let Promise::Certified(certified) = &mut self.promise else { return Err(PlanError::OtherAllocation) };
        let by = &mut certified[cluster];
        let place = |task: TaskId| of.tasks.binary_search(&task).map_err(|_| PlanError::OtherAllocation);
        let shares = |task: &TaskId| shared.iter().any(|(other, _)| other == task);
        if by.certificate.server_thousandths > 0 && !set.jobs().is_empty() {
            return Err(PlanError::OtherAllocation);
        }
        let owners: Vec<TaskId> = of.tasks.iter().copied().filter(|task| !shares(task)).collect();
        if by.is_zoned() {
            let owning = Cluster { chips: of.chips.clone(), tasks: owners };
            shared_zones(set, (&of, &owning), by, cluster.index())?;
            for &(task, whose) in shared {
                let writes = set.tasks().get(task).is_none_or(|task| task.write.is_some());
                if shares(&whose) || writes {
                    return Err(PlanError::OtherAllocation);
                }
                by.ranges[place(task)?] = by.ranges[place(whose)?].clone();
            }
            self.clusters[cluster].data = declared(set, &owning, Some(by.certificate.placement));
            return Ok(self);
        }
        let own: Vec<Option<u64>> = owners.iter().map(|&task| set.tasks()[task].data_pages).collect();
        let (all, row) = (of.layout.logical_pages(), if by.is_stripe() { of.layout.chips() } else { 1 });
        let equal = || ranges(all.into(), row, &vec![None; own.len()]);
        let room = PlanError::NoRoom { cluster: cluster.index() };
        let found = ranges(all.into(), row, &own).or_else(equal).ok_or(room)?;
        by.ranges.resize(of.tasks.len(), Lpn(0)..Lpn(0));
        for (&task, range) in owners.iter().zip(found) {
            by.ranges[place(task)?] = range;
        }
        for &(task, whose) in shared {
            if shares(&whose) {
                return Err(PlanError::OtherAllocation);
            }
            by.ranges[place(task)?] = by.ranges[place(whose)?].clone();
        }
        let owning = Cluster { chips: of.chips.clone(), tasks: owners };
        self.clusters[cluster].data = declared(set, &owning, Some(by.certificate.placement));
        Ok(self)
    }

    /// The same where the writes of a task draw the addresses of another's, from that one's request
    /// of this number on: its mirror at another place. Where addresses are drawn by where pages
    /// are, they are not the same.
    ///
    /// # Errors
    /// Where one of them does not write, and where the mirror owns zones, which are written from
    /// their start.
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
    pub(crate) fn drawn_as(&self, number: SourceId) -> DrawnAs {
        let mirror = self.mirrors.iter().find(|(mirror, _)| *mirror == number);
        mirror.map_or(DrawnAs { source: number, skipped: 0 }, |&(_, drawn)| drawn)
    }
}
