//! Releases and deadlines: a lane for the reads and one for the writes of each task.

use std::collections::BTreeMap;

use rtflash_model::{ClusterId, PerId};
use rtflash_plan::{Plan, Source, SourceId};
use rtflash_trace::{JobId, Kind};

use super::look::Look;
use super::printable;

/// Jobs that are kept in lanes, 32 bytes each; further ones are counted.
const MAX_JOBS: usize = 1 << 17;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LaneJob {
    pub(super) release: u64,
    pub(super) deadline: u64,
    /// `None` where it is pending at the end of the run.
    pub(super) completed: Option<u64>,
}

impl LaneJob {
    /// Whether it is late; one that is pending at `end` only if it was due until then.
    pub(super) fn is_late(&self, end: u64) -> bool {
        self.completed.map_or(self.deadline <= end, |completed| completed > self.deadline)
    }
}

#[derive(Debug)]
pub(super) struct RequestLane {
    pub(super) name: String,
    pub(super) look: Look,
    /// The task's position in its cluster.
    pub(super) member: usize,
    pub(super) group: usize,
    jobs: Vec<LaneJob>,
}

impl RequestLane {
    pub(super) fn jobs(&self) -> Vec<LaneJob> {
        let mut jobs = self.jobs.clone();
        jobs.sort_unstable();
        jobs
    }
}

#[derive(Debug)]
pub(super) struct Lanes {
    pub(super) lanes: Vec<RequestLane>,
    of_source: PerId<SourceId, Option<usize>>,
    from: u64,
    to: u64,
    kept: usize,
    pub(super) more: u64,
}

impl Lanes {
    /// Lanes in the order of clusters and of the tasks in them; `members` are the tasks' positions
    /// in their clusters, by source.
    pub(super) fn new(plan: &Plan, members: &PerId<SourceId, usize>, from: u64, to: u64) -> Lanes {
        let of_requests = |&(_, source): &(SourceId, &Source)| matches!(source.kind, Kind::Read | Kind::Write);
        let mut order: BTreeMap<(ClusterId, usize, bool, SourceId), SourceId> = BTreeMap::new();
        for (position, source) in plan.sources().enumerate().filter(of_requests) {
            if let Some(cluster) = source.cluster {
                order.insert((cluster, members[position], source.kind == Kind::Write, position), position);
            }
        }
        let (mut lanes, mut of_source) = (Vec::new(), PerId::filled(None, plan.sources().count()));
        for ((cluster, member, _, _), position) in order {
            let source = &plan.sources()[position];
            of_source[position] = Some(lanes.len());
            let (name, group) = (printable(&source.name), cluster.index());
            let look = if source.kind == Kind::Write { Look::Write } else { Look::Read };
            lanes.push(RequestLane { name, look, member, group, jobs: Vec::new() });
        }
        Lanes { lanes, of_source, from, to, kept: 0, more: 0 }
    }

    /// Those of the group at this position, of the first `count`.
    pub(super) fn of(&self, group: usize, count: usize) -> &[RequestLane] {
        let lanes = self.lanes.get(..count).unwrap_or(&self.lanes);
        let start = lanes.partition_point(|lane| lane.group < group);
        let end = lanes.partition_point(|lane| lane.group <= group);
        &lanes[start..end]
    }

    pub(super) fn has(&self, job: JobId) -> bool {
        self.of_source[job.source].is_some()
    }

    /// A job that is complete, or still pending at the end.
    pub(super) fn note(&mut self, id: JobId, job: LaneJob) {
        let Some(lane) = self.of_source[id.source] else { return };
        let end = job.completed.unwrap_or(self.to).max(job.deadline);
        if job.release >= self.to || end < self.from {
            return;
        }
        if self.kept >= MAX_JOBS {
            self.more += 1;
            return;
        }
        self.kept += 1;
        self.lanes[lane].jobs.push(job);
    }
}
