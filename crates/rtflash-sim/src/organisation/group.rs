//! A group of clusters without certificates, under either dispatch.

use rtflash_model::{ChipId, ClusterId, Instant, Lpn};
use rtflash_plan::resume::{Resume, resume};
use rtflash_plan::{Arrival, Options, Plan, SourceId};
use rtflash_trace::{JobId, Observer, Record};

use super::cluster::{ClusterState, Jobs, PendingJob, max_pending};
use super::releases::{ReleasedJob, Releaser};
use crate::engine::core::{ChipPolicy, Core};
use crate::flash::BusRequest;

/// Clusters, and the jobs that they have. Those that share a channel have to be in one group.
pub(crate) struct ClusterGroup<'a, O, D> {
    pub(super) options: &'a Options,
    pub(super) core: Core<O>,
    pub(super) clusters: Vec<ClusterState>,
    pub(super) jobs: Jobs,
    /// Jobs (with parallel dispatch also pages) that may be pending when a job that is not
    /// real-time is taken; others have as much room again.
    pub(super) pending: usize,
    releaser: Releaser,
    pub(super) by: D,
}

resume!(['a, O, D: Resume] ClusterGroup<'a, O, D> {
    values: [clusters, jobs],
    parts: [releaser, core, by],
    lists: [],
    made: [options, pending],
});

pub(crate) trait Dispatcher: Resume + Sized {
    /// Whether chips of a cluster do different things at a time.
    const SIDE_BY_SIDE: bool;

    fn new(plan: &Plan, clusters: &[ClusterState]) -> Self;

    fn admit<O: Observer>(group: &mut ClusterGroup<'_, O, Self>, job: PendingJob, now: Instant);

    fn end<O: Observer>(group: &mut ClusterGroup<'_, O, Self>, chip: ChipId, now: Instant);

    fn dispatch<O: Observer>(group: &mut ClusterGroup<'_, O, Self>, now: Instant);

    fn granted<O: Observer>(group: &mut ClusterGroup<'_, O, Self>, request: BusRequest, now: Instant);

    /// Pages that can still be entered, if at most `pending` can be pending.
    fn room(&self, pending: u64) -> u64 {
        let _ = pending;
        u64::MAX
    }

    fn has_too_many(&self) -> bool {
        false
    }
}

impl<'a, O: Observer, D: Dispatcher> ClusterGroup<'a, O, D> {
    pub(crate) fn new(plan: &Plan, options: &'a Options, positions: &[ClusterId], observer: O) -> Self {
        let mut used = plan.per_channel(false);
        let chips = positions.iter().flat_map(|&position| &plan.clusters()[position].chips);
        chips.for_each(|&chip| used[plan.channel_of(chip)] = true);
        let clusters: Vec<ClusterState> =
            positions.iter().map(|&position| ClusterState::new(plan, position, options)).collect();
        ClusterGroup {
            options,
            core: Core::new(plan, options, &used, observer),
            by: D::new(plan, &clusters),
            clusters,
            jobs: Jobs::default(),
            pending: max_pending(plan, options, D::SIDE_BY_SIDE),
            releaser: Releaser::new(plan, positions, options),
        }
    }

    pub(crate) fn hosted(plan: &Plan, options: &'a Options, positions: &[ClusterId], observer: O) -> Self {
        let mut group = ClusterGroup::new(plan, options, positions, observer);
        group.releaser.periodic.clear();
        group
    }

    pub(super) fn complete(&mut self, slot: usize, now: Instant) {
        self.core.complete(self.jobs[slot].id, now);
        self.jobs.remove(slot);
    }
}

impl<O: Observer, D: Dispatcher> ChipPolicy for ClusterGroup<'_, O, D> {
    type Notified = O;

    fn core(&mut self) -> &mut Core<O> {
        &mut self.core
    }

    fn as_core(&self) -> &Core<O> {
        &self.core
    }

    fn into_core(self: Box<Self>) -> Core<O> {
        self.core
    }

    fn hand_over(&mut self, arrival: Arrival) {
        self.releaser.arrivals.push_back(arrival);
    }

    fn request(&mut self, _: SourceId, _: Instant, _: Instant, _: &[Lpn]) -> Option<JobId> {
        None
    }

    #[inline]
    fn next_release(&self) -> Option<Instant> {
        self.releaser.next_release()
    }

    fn release_no_more(&mut self) {
        self.releaser.periodic.clear();
        self.releaser.arrivals.clear();
    }

    fn releases(&mut self, now: Instant) {
        loop {
            let room = if self.jobs.len() < self.pending { self.by.room(self.pending as u64) } else { 0 };
            let released = self.releaser.next(now, &mut self.clusters, room);
            let Some(ReleasedJob { release, policed, job }) = released else { break };
            self.core.observer.push(Record::Release(release));
            policed.into_iter().for_each(|policed| self.core.observer.push(Record::Policed(policed)));
            job.into_iter().for_each(|job| D::admit(self, job, now));
        }
    }

    #[inline]
    fn end(&mut self, chip: ChipId, now: Instant) {
        D::end(self, chip, now);
    }

    #[inline]
    fn dispatch(&mut self, now: Instant) {
        D::dispatch(self, now);
    }

    #[inline]
    fn granted(&mut self, request: BusRequest, now: Instant) {
        D::granted(self, request, now);
    }

    #[inline]
    fn overload(&self) -> Option<usize> {
        (self.jobs.len() > 2 * self.pending || self.by.has_too_many()).then_some(2 * self.pending)
    }
}
