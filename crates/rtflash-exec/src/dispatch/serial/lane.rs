//! A cluster with a clock of its own: releases, ends, and who is next.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::slice;

use rtflash_model::Instant;
use serde::{Deserialize, Serialize};

use super::Common;
use crate::dispatch::cluster::{ClusterState, Jobs, PendingJob, Priority};
use crate::dispatch::releases::Periodics;
use crate::error::RunError;
use crate::ids::{ChannelId, ChipId, ColumnId, PerId};
use crate::plan::Plan;
use crate::resume::resume;
use crate::trace::{Complete, Observer, Operation, Release};

/// Later than everything that happens.
pub(super) const NEVER: Instant = Instant::END;

/// What a cluster is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum LaneStep {
    /// A page of a job's own.
    Page,
    GcRead,
    GcProgram,
    Erase,
}

/// What came of an attempt to go on with a job.
pub(super) enum LaneAttempt {
    /// It is busy until then.
    Started(Instant),
    /// It will ask for a bus.
    Asks(Ask),
    Over,
    Starved,
}

/// A lane asks for the bus of a channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask {
    pub(super) since: Instant,
    pub(super) channel: ChannelId,
    pub(super) chip: ChipId,
}

/// A chip of the cluster, and its bus.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) chip: ChipId,
    pub(super) channel: ChannelId,
    /// Whether other lanes are on that bus.
    pub(super) shared: bool,
}

/// The jobs that are pending, by priority. Who comes first is asked for every page, and changes
/// seldom.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct PendingJobs {
    first: Option<Priority>,
    all: BTreeSet<Priority>,
}

impl PendingJobs {
    #[inline]
    pub(super) fn first(&self) -> Option<Priority> {
        self.first
    }

    fn insert(&mut self, job: Priority) {
        self.all.insert(job);
        self.first = Some(self.first.map_or(job, |first| first.min(job)));
    }

    fn remove(&mut self, job: &Priority) {
        self.all.remove(job);
        if self.first.as_ref() == Some(job) {
            self.first = self.all.first().copied();
        }
    }
}

/// A cluster under serial dispatch.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) cluster: ClusterState,
    pub(super) columns: PerId<ColumnId, Column>,
    pub(super) jobs: Jobs,
    pub(super) pending: PendingJobs,
    /// Jobs that are starved: they are looked at again when an erase has ended.
    starved: Vec<Priority>,
    sources: Periodics,
    /// When each periodic source releases next.
    releases: BinaryHeap<Reverse<(Instant, usize)>>,
    /// When the next job is released.
    released: Instant,
    /// Jobs that have arrived and that the lane has not come to yet, in order.
    arrivals: VecDeque<(Release, PendingJob)>,
    /// The job that is served, and with what; until when is in `busy_until`.
    pub(super) running: Option<(usize, LaneStep)>,
    pub(super) busy_until: Instant,
    /// An operation that waits for its bus, or will: nobody has been notified of it.
    pub(super) open: Option<Operation>,
    /// Whether chips hold copies that have been read and not programmed.
    pub(super) holds_copies: bool,
    /// Operations of one step.
    pub(super) batch: Vec<Operation>,
}

resume!([] Lane {
    values: [cluster, jobs, pending, starved, releases, released, arrivals, running, busy_until, open, holds_copies],
    parts: [sources],
    lists: [],
    made: [columns, batch],
});

impl AsMut<ClusterState> for Lane {
    fn as_mut(&mut self) -> &mut ClusterState {
        &mut self.cluster
    }
}

impl Lane {
    /// `sources` release jobs before the end of the run. `shared` says of each channel whether
    /// other lanes are on it.
    pub(super) fn new(
        plan: &Plan,
        cluster: ClusterState,
        (sources, end): (Periodics, Instant),
        shared: &PerId<ChannelId, bool>,
    ) -> Lane {
        let column = |&chip: &ChipId| {
            let channel = plan.channel_of(chip);
            Column { chip, channel, shared: shared[channel] }
        };
        let releases: BinaryHeap<_> = sources.first(end).map(Reverse).collect();
        Lane {
            columns: cluster.chips.iter().map(column).collect(),
            cluster,
            jobs: Jobs::default(),
            pending: PendingJobs::default(),
            starved: Vec::new(),
            released: releases.peek().map_or(Instant::END, |&Reverse((at, _))| at),
            releases,
            sources,
            arrivals: VecDeque::new(),
            running: None,
            busy_until: NEVER,
            open: None,
            holds_copies: false,
            batch: Vec::new(),
        }
    }

    /// Since when an operation has been under way that nobody has been notified of.
    pub(super) fn holds_since(&self) -> Option<Instant> {
        self.open.map(|operation| operation.start)
    }

    /// Goes on with everything before `limit`, until it asks for a bus. Not to be called while it
    /// does.
    ///
    /// # Errors
    /// Where too many jobs are pending.
    pub(super) fn run(
        &mut self,
        common: &Common<'_>,
        limit: Instant,
        observer: &mut impl Observer,
    ) -> Result<Option<Ask>, RunError> {
        let mut released = self.released;
        loop {
            let next = self.busy_until.min(released);
            if next >= limit {
                return Ok(None);
            }
            if released == next {
                self.release(common, next, observer);
                if self.jobs.len() > common.pending {
                    return Err(RunError::TooManyPending { at: next, limit: common.pending });
                }
                released = self.released;
            }
            if self.busy_until == next {
                self.end(common, next, observer);
            }
            if self.running.is_none()
                && let Some(ask) = self.dispatch(common, next, observer)
            {
                return Ok(Some(ask));
            }
        }
    }

    fn next_release(&self) -> Instant {
        let periodic = self.releases.peek().map_or(Instant::END, |&Reverse((at, _))| at);
        self.arrivals.front().map_or(periodic, |(release, _)| release.at.min(periodic))
    }

    /// All releases of an instant.
    fn release(&mut self, common: &Common<'_>, now: Instant, observer: &mut impl Observer) {
        while let Some(&Reverse((at, source))) = self.releases.peek()
            && at == now
        {
            self.releases.pop();
            let (job, next, policed) = self.sources.release(source);
            if next < common.duration {
                self.releases.push(Reverse((next, source)));
            }
            let release = Release {
                at: now,
                job: job.id,
                kind: job.kind,
                deadline: Instant::from_ns(job.deadline),
                pages: job.reads + job.writes,
                cluster: Some(self.cluster.position),
            };
            self.admit(&release, job, observer);
            if let Some(policed) = policed {
                observer.policed(&policed);
            }
        }
        while self.arrivals.front().is_some_and(|(release, _)| release.at == now) {
            let (release, job) = self.arrivals.pop_front().expect("one has arrived");
            self.admit(&release, job, observer);
        }
        self.released = self.next_release();
    }

    /// A job that is not real-time arrives: behind what else is released then.
    pub(super) fn arrives(&mut self, release: Release, job: PendingJob) {
        self.released = self.released.min(release.at);
        self.arrivals.push_back((release, job));
    }

    fn admit(&mut self, release: &Release, job: PendingJob, observer: &mut impl Observer) {
        observer.release(release);
        let slot = self.jobs.insert(job);
        self.pending.insert(self.jobs[slot].priority(slot));
    }

    /// What the cluster was busy with is over.
    fn end(&mut self, common: &Common<'_>, now: Instant, observer: &mut impl Observer) {
        self.busy_until = NEVER;
        let (slot, step) = self.running.take().expect("a cluster that is busy serves a job");
        let job = &mut self.jobs[slot];
        match step {
            LaneStep::Page => {
                if job.is_background() {
                    self.cluster.background -= 1;
                }
            }
            LaneStep::GcRead | LaneStep::GcProgram => return,
            LaneStep::Erase => {
                let cluster = &mut self.cluster;
                for chip in cluster.chips.ids() {
                    cluster.collector.erased(&mut cluster.map, chip);
                }
                job.passes -= 1;
                self.starved.drain(..).for_each(|starved| self.pending.insert(starved));
            }
        }
        if job.is_over() && now <= common.duration {
            self.pending.remove(&job.priority(slot));
            self.complete(slot, now, observer);
        }
    }

    fn complete(&mut self, slot: usize, now: Instant, observer: &mut impl Observer) {
        observer.complete(&Complete { at: now, job: self.jobs[slot].id });
        self.jobs.remove(slot);
    }

    /// Lets the idle cluster go on, until it is busy or asks for a bus.
    fn dispatch(&mut self, common: &Common<'_>, now: Instant, observer: &mut impl Observer) -> Option<Ask> {
        loop {
            let priority = self.pending.first()?;
            let slot = priority.4;
            match self.go_on(common, slot, now, observer) {
                LaneAttempt::Started(until) => {
                    self.busy_until = until;
                    return None;
                }
                LaneAttempt::Asks(ask) => return Some(ask),
                LaneAttempt::Over => {
                    self.pending.remove(&priority);
                    self.complete(slot, now, observer);
                }
                LaneAttempt::Starved => {
                    self.pending.remove(&priority);
                    self.starved.push(priority);
                }
            }
        }
    }

    /// A job is served with a step.
    pub(super) fn serves(&mut self, slot: usize, step: LaneStep) {
        self.running = Some((slot, step));
    }

    /// It has the bus of a channel. Says until when.
    #[inline(always)]
    pub(super) fn granted(
        &mut self,
        common: &Common<'_>,
        channel: ChannelId,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Instant {
        let operation = self.open.as_mut().expect("a lane that has asked has an operation");
        let bus = common.lengths.moves(operation, channel, now);
        self.busy_until = operation.end;
        observer.operations(slice::from_ref(operation));
        observer.transfer(&operation.transfer(&bus));
        self.open = None;
        bus.end
    }

    /// The run is over: what is under way is followed to its end, behind all that is released by
    /// then.
    pub(super) fn finish(&mut self, common: &Common<'_>, observer: &mut impl Observer) {
        while self.next_release() < common.duration {
            self.release(common, self.next_release(), observer);
        }
        if self.running.is_some() {
            self.end(common, self.busy_until, observer);
        }
    }
}
