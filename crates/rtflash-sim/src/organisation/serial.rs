//! Serial dispatch: one page operation, or one step of a GC pass on all chips, at a time in a
//! cluster.

mod steps;

use rtflash_model::{ChipId, Instant, Lpn, PerId};
use rtflash_plan::resume::resume;
use rtflash_plan::{BlockId, Plan};
use rtflash_trace::{Observer, Operation};
use serde::{Deserialize, Serialize};

use super::cluster::{ClusterState, PendingJob};
use super::group::{ClusterGroup, Dispatcher};
use crate::engine::priority::{Priority, PriorityQueue};
use crate::engine::sequencer::Ticket;
use crate::flash::BusRequest;

/// A cluster that does one thing at a time.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Lane {
    pending: PriorityQueue,
    /// Jobs that are starved: they wait again when an erase has ended.
    starved: Vec<Priority>,
    serving: Option<(usize, LaneStep)>,
    asking: Option<(Operation, Ticket)>,
    /// Whether chips hold copies that have been read and not programmed.
    holds_copies: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum LaneStep {
    Page,
    GcRead,
    GcProgram,
    Erase,
}

enum LaneAttempt {
    Started,
    Over,
    Starved,
}

struct GcPage {
    chip: ChipId,
    block: BlockId,
    page: u32,
    lpn: Lpn,
}

pub(crate) struct Serial {
    lanes: Vec<Lane>,
    cluster_of: PerId<ChipId, usize>,
    /// Clusters that may have something to begin at this instant.
    touched: Vec<usize>,
    gc_pages: Vec<GcPage>,
}

resume!([] Serial {
    values: [lanes, touched],
    parts: [],
    lists: [],
    made: [cluster_of, gc_pages],
});

impl<O: Observer> ClusterGroup<'_, O, Serial> {
    fn dispatch_cluster(&mut self, cluster: usize, now: Instant) {
        while self.by.lanes[cluster].serving.is_none()
            && let Some(priority) = self.by.lanes[cluster].pending.first()
        {
            let slot = priority.slot;
            match self.go_on(slot, now) {
                LaneAttempt::Started => {}
                LaneAttempt::Over => {
                    self.by.lanes[cluster].pending.remove(&priority);
                    self.complete(slot, now);
                }
                LaneAttempt::Starved => {
                    self.by.lanes[cluster].pending.remove(&priority);
                    self.by.lanes[cluster].starved.push(priority);
                }
            }
        }
    }
}

impl Dispatcher for Serial {
    const SIDE_BY_SIDE: bool = false;

    fn new(plan: &Plan, clusters: &[ClusterState]) -> Serial {
        let mut cluster_of = plan.per_chip(0);
        for (number, cluster) in clusters.iter().enumerate() {
            cluster.chips.iter().for_each(|&chip| cluster_of[chip] = number);
        }
        let lanes = clusters.iter().map(|_| Lane::default()).collect();
        Serial { lanes, cluster_of, touched: Vec::new(), gc_pages: Vec::new() }
    }

    fn admit<O: Observer>(group: &mut ClusterGroup<'_, O, Serial>, job: PendingJob, _: Instant) {
        let cluster = job.cluster;
        let slot = group.jobs.insert(job);
        group.by.lanes[cluster].pending.insert(group.jobs[slot].priority(slot));
        group.by.touched.push(cluster);
    }

    /// The work of a cluster is over. The chip is the one of the page, or the first one of the
    /// cluster.
    fn end<O: Observer>(group: &mut ClusterGroup<'_, O, Serial>, chip: ChipId, now: Instant) {
        let number = group.by.cluster_of[chip];
        let (cluster, lane) = (&mut group.clusters[number], &mut group.by.lanes[number]);
        assert!(lane.asking.is_none(), "a page ends once it has had its bus");
        let (slot, step) = lane.serving.take().expect("a cluster that is busy serves a job");
        group.by.touched.push(number);
        let job = &mut group.jobs[slot];
        match step {
            LaneStep::Page => cluster.background -= u64::from(job.is_background()),
            LaneStep::GcRead | LaneStep::GcProgram => return,
            LaneStep::Erase => {
                cluster.chips.ids().for_each(|chip| cluster.collector.erased(&mut cluster.map, chip));
                job.passes -= 1;
                lane.starved.drain(..).for_each(|starved| lane.pending.insert(starved));
            }
        }
        if job.is_over() {
            lane.pending.remove(&job.priority(slot));
            group.complete(slot, now);
        }
    }

    fn dispatch<O: Observer>(group: &mut ClusterGroup<'_, O, Serial>, now: Instant) {
        group.by.touched.sort_unstable();
        group.by.touched.dedup();
        for place in 0..group.by.touched.len() {
            group.dispatch_cluster(group.by.touched[place], now);
        }
        group.by.touched.clear();
    }

    fn granted<O: Observer>(group: &mut ClusterGroup<'_, O, Serial>, request: BusRequest, now: Instant) {
        let BusRequest { chip, channel, lane, .. } = request;
        let (mut operation, ticket) = group.by.lanes[lane].asking.take().expect("a cluster that asks has a page");
        let end = group.core.moves(&mut operation, ticket, channel, now);
        group.core.ends(chip, Some(end));
    }
}
