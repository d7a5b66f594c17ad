//! Serial dispatch: one page operation, or one step of a GC pass on all chips, at a time in a
//! cluster.

mod steps;

use rtflash_model::{ChipId, ClusterId, Instant, Lpn, PerId};
use rtflash_plan::resume::{Resume, resume};
use rtflash_plan::{Arrival, BlockId, Options, Plan, SourceId};
use rtflash_trace::{JobId, Observer, Operation, Record};
use serde::{Deserialize, Serialize};

use super::cluster::{ClusterState, Jobs, PendingJob, max_pending};
use crate::engine::core::{ChipPolicy, Core};
use crate::engine::priority::{Priority, PriorityQueue};
use crate::engine::sequencer::Ticket;
use crate::flash::BusRequest;
use crate::organisation::releases::{ReleasedJob, Releaser};

/// A cluster that does one thing at a time.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Lane {
    /// The jobs that wait for the cluster, by priority.
    pending: PriorityQueue,
    /// Jobs that are starved: they wait again when an erase has ended.
    starved: Vec<Priority>,
    /// The job that is served, by its slot, and with what.
    serving: Option<(usize, LaneStep)>,
    /// The page that waits for its bus.
    asking: Option<(Operation, Ticket)>,
    /// Whether chips hold copies that have been read and not programmed.
    holds_copies: bool,
}

/// What a cluster is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum LaneStep {
    /// A page of a job's own.
    Page,
    GcRead,
    GcProgram,
    Erase,
}

/// What came of an attempt to go on with a job.
enum LaneAttempt {
    Started,
    Over,
    Starved,
}

/// A page that a pass reads or programs, or a block that it erases.
struct GcPage {
    chip: ChipId,
    block: BlockId,
    page: u32,
    lpn: Lpn,
}

/// A group of clusters under serial dispatch. Clusters that share a channel have to be in one
/// group.
pub(crate) struct Serial<'a, O> {
    options: &'a Options,
    core: Core<O>,
    clusters: Vec<ClusterState>,
    /// For each of them.
    lanes: Vec<Lane>,
    /// The cluster of each chip, by position in the group.
    cluster_of: PerId<ChipId, usize>,
    jobs: Jobs,
    /// Jobs that may be pending.
    pending: usize,
    releaser: Releaser,
    /// Clusters that may have something to begin at this instant.
    touched: Vec<usize>,
    /// Pages of the step that begins, kept for its memory.
    gc_pages: Vec<GcPage>,
}

resume!(['a, O: Resume] Serial<'a, O> {
    values: [clusters, lanes, jobs, touched],
    parts: [releaser, core],
    lists: [],
    made: [options, cluster_of, pending, gc_pages],
});

impl<'a, O: Observer> Serial<'a, O> {
    /// The clusters at these positions of the plan, ascending.
    pub(crate) fn new(plan: &Plan, options: &'a Options, clusters: &[ClusterId], observer: O) -> Self {
        let mut used = plan.per_channel(false);
        let mut cluster_of = plan.per_chip(0);
        for (number, &position) in clusters.iter().enumerate() {
            for &chip in &plan.clusters()[position].chips {
                used[plan.channel_of(chip)] = true;
                cluster_of[chip] = number;
            }
        }
        Serial {
            options,
            core: Core::new(plan, options, &used, observer),
            clusters: clusters.iter().map(|&position| ClusterState::new(plan, position, options)).collect(),
            lanes: clusters.iter().map(|_| Lane::default()).collect(),
            cluster_of,
            jobs: Jobs::default(),
            pending: max_pending(plan, options, false),
            releaser: Releaser::new(plan, clusters, options),
            touched: Vec::new(),
            gc_pages: Vec::new(),
        }
    }

    fn admit(&mut self, job: PendingJob) {
        let cluster = job.cluster;
        let slot = self.jobs.insert(job);
        self.lanes[cluster].pending.insert(self.jobs[slot].priority(slot));
        self.touched.push(cluster);
    }

    fn complete(&mut self, slot: usize, now: Instant) {
        self.core.complete(self.jobs[slot].id, now);
        self.jobs.remove(slot);
    }

    /// Lets an idle cluster go on, until it is busy or has nothing to do.
    fn dispatch_cluster(&mut self, cluster: usize, now: Instant) {
        while self.lanes[cluster].serving.is_none()
            && let Some(priority) = self.lanes[cluster].pending.first()
        {
            let slot = priority.slot;
            match self.go_on(slot, now) {
                LaneAttempt::Started => {}
                LaneAttempt::Over => {
                    self.lanes[cluster].pending.remove(&priority);
                    self.complete(slot, now);
                }
                LaneAttempt::Starved => {
                    self.lanes[cluster].pending.remove(&priority);
                    self.lanes[cluster].starved.push(priority);
                }
            }
        }
    }
}

impl<O: Observer> ChipPolicy for Serial<'_, O> {
    type Notified = O;

    fn core(&mut self) -> &mut Core<O> {
        &mut self.core
    }

    fn as_core(&self) -> &Core<O> {
        &self.core
    }

    fn into_core(self) -> Core<O> {
        self.core
    }

    fn hand_over(&mut self, arrival: Arrival) {
        self.releaser.arrives(arrival);
    }

    /// A host steps no cluster under serial dispatch.
    fn request(&mut self, _: SourceId, _: Instant, _: Instant, _: &[Lpn]) -> Option<JobId> {
        None
    }

    #[inline]
    fn next_release(&self) -> Option<Instant> {
        self.releaser.next_release()
    }

    fn release_no_more(&mut self) {
        self.releaser.release_no_more();
    }

    fn releases(&mut self, now: Instant) {
        while let Some(ReleasedJob { release, policed, job }) = self.releaser.next(now, &mut self.clusters) {
            self.core.observer.push(Record::Release(release));
            policed.into_iter().for_each(|policed| self.core.observer.push(Record::Policed(policed)));
            job.into_iter().for_each(|job| self.admit(job));
        }
    }

    /// What a cluster was busy with is over. The chip is the one of the page, or the first one of
    /// the cluster.
    fn end(&mut self, chip: ChipId, now: Instant) {
        let number = self.cluster_of[chip];
        let (cluster, lane) = (&mut self.clusters[number], &mut self.lanes[number]);
        let (slot, step) = lane.serving.take().expect("a cluster that is busy serves a job");
        self.touched.push(number);
        let job = &mut self.jobs[slot];
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
            self.complete(slot, now);
        }
    }

    /// Looks at the clusters in which something has happened.
    fn dispatch(&mut self, now: Instant) {
        self.touched.sort_unstable();
        self.touched.dedup();
        for place in 0..self.touched.len() {
            self.dispatch_cluster(self.touched[place], now);
        }
        self.touched.clear();
    }

    fn granted(&mut self, request: BusRequest, now: Instant) {
        let BusRequest { chip, channel, lane, .. } = request;
        let (mut operation, ticket) = self.lanes[lane].asking.take().expect("a cluster that asks has a page");
        let end = self.core.moves(&mut operation, ticket, channel, now);
        self.core.ends.set(chip, Some(end));
    }

    fn overload(&self) -> Option<usize> {
        (self.jobs.len() > self.pending).then_some(self.pending)
    }
}
