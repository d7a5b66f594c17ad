//! Clusters with certificates: static stripes and zones, where every chip is an EDF processor of
//! its own, and superblocks, where a cluster is one.
//!
//! Both are *processors*: a queue, a map, a frontier, garbage collection. A processor does one step
//! at a time; a step ends when all its chips have ended.

mod backfill;
mod changes;
mod decide;
mod faults;
mod operate;
mod padding;
mod processor;
mod registers;
mod releases;
mod suspend;
mod trims;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use rtflash_model::{ChipId, ClusterId, Instant, Lpn, PerId};
use rtflash_plan::resume::resume;
use rtflash_plan::{Arrival, Certified, Options, Plan, Releases, Source, SourceId, TieBreaker};
use rtflash_trace::{JobId, Observer};
use serde::{Deserialize, Serialize};

use super::cluster::max_pending;
use crate::earliest::earlier;
use crate::engine::core::{ChipPolicy, Core};
use crate::engine::slab::Slab;
use crate::flash::BusRequest;
use crate::store::PagePlace;
use operate::{ChipAtWork, Planned};
use processor::{OpenJob, Part, ProcessorState};
use releases::RequestSource;
use trims::TaskTrims;

/// An event of a request, which is given by its source (by position in the group) and number; or of
/// a processor, given by its position and the number of the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum RequestEvent {
    Release(usize, u64),
    /// A request may be released from now on.
    Arm(usize, u64),
    /// A processor may go on by other terms from now on.
    Change(usize, u64),
    /// A processor's counter is put forward, so that an extra GC job is released.
    Advance(usize, u64),
    /// Pages are trimmed, by the position of the [`TaskTrims`] and the number of the trim.
    Trim(usize, u64),
}

#[derive(Debug, Serialize, Deserialize)]
struct ProcessorGroup {
    position: ClusterId,
    processors: Range<usize>,
    /// Pages of background jobs that are not finished.
    background: u64,
}

/// A group of clusters with certificates. Clusters that share a channel have to be in one group.
pub(crate) struct CertifiedGroup<'a, O> {
    plan: &'a Plan,
    certified: &'a PerId<ClusterId, Certified>,
    options: &'a Options,
    core: Core<O>,
    clusters: Vec<ProcessorGroup>,
    processors: Vec<ProcessorState>,
    /// All chips of the device; those of other groups have nothing to do.
    chips: PerId<ChipId, ChipAtWork>,
    jobs: Slab<OpenJob>,
    parts: Slab<Part>,
    /// Jobs and pages that may be pending when a job that is not real-time is taken.
    pending: usize,
    entered: u64,
    sources: Vec<RequestSource>,
    arrivals: VecDeque<Arrival>,
    events: BinaryHeap<Reverse<(Instant, RequestEvent)>>,
    ties: TieBreaker,
    trims: Vec<TaskTrims>,
    trims_due: Vec<(usize, u64)>,
    changed: Vec<usize>,
    // Kept for their memory.
    lpns: Vec<Lpn>,
    parts_of: Vec<Option<usize>>,
    planned: Vec<Planned>,
    row: Vec<(PagePlace, Lpn)>,
}

resume!(['a, O] CertifiedGroup<'a, O> {
    values: [clusters, processors, chips, jobs, parts, entered, arrivals, events, changed],
    parts: [core],
    lists: [sources],
    made: [
        plan, certified, options, pending, ties, trims, trims_due, lpns, parts_of, planned, row
    ],
});

impl<'a, O: Observer> CertifiedGroup<'a, O> {
    /// The clusters at these positions of the plan, ascending, with their certificates. Nothing is
    /// released until the group [begins](CertifiedGroup::begin): a host releases requests itself.
    pub(crate) fn new(
        plan: &'a Plan,
        certified: &'a PerId<ClusterId, Certified>,
        options: &'a Options,
        clusters: &[ClusterId],
        observer: O,
    ) -> Self {
        let device = plan.device();
        let mut chips: PerId<_, ChipAtWork> = ChipId::first(device.chips()).map(|_| Default::default()).collect();
        let (mut processors, mut runs) = (Vec::new(), Vec::new());
        let mut used = plan.per_channel(false);
        for (cluster, &position) in clusters.iter().enumerate() {
            let (of, by) = (&plan.clusters()[position], &certified[position]);
            let first = processors.len();
            let count = if by.is_stripe() { of.chips.len() } else { 1 };
            for place in 0..count {
                let chip = by.is_stripe().then(|| of.chips[place]);
                let collected = |source: &Source| {
                    source.cluster == Some(position) && source.releases == Releases::Collected { chip }
                };
                let source = plan.sources().enumerate().find(|(_, source)| collected(source));
                let source = source.map(|(number, _)| number);
                processors.push(ProcessorState::new(plan, by, cluster, position, place, source, options));
            }
            for (place, &chip) in of.chips.iter().enumerate() {
                let processor = if by.is_stripe() { first + place } else { first };
                used[plan.channel_of(chip)] = true;
                chips[chip] = ChipAtWork::new(plan, of, chip, processor);
            }
            runs.push(ProcessorGroup { position, processors: first..processors.len(), background: 0 });
        }
        let mut group = CertifiedGroup {
            plan,
            certified,
            options,
            core: Core::new(plan, options, &used, observer),
            clusters: runs,
            processors,
            jobs: Slab::default(),
            parts: Slab::default(),
            pending: max_pending(plan, options, true),
            entered: 0,
            sources: RequestSource::all(plan, clusters, options),
            arrivals: VecDeque::new(),
            events: BinaryHeap::new(),
            chips,
            ties: options.into(),
            trims: TaskTrims::all(plan, clusters, options),
            trims_due: Vec::new(),
            changed: Vec::new(),
            lpns: Vec::new(),
            parts_of: Vec::new(),
            planned: Vec::new(),
            row: Vec::new(),
        };
        (0..group.processors.len()).for_each(|processor| group.await_change(processor, Instant::START));
        group
    }

    pub(crate) fn begin(&mut self) {
        (0..self.sources.len()).for_each(|source| self.later(source));
        (0..self.trims.len()).for_each(|which| self.trim_later(which, 0, Instant::START));
    }

    fn has_room(&self, pages: u64) -> bool {
        self.jobs.len() < self.pending && self.entered.saturating_add(pages) <= self.pending as u64
    }

    /// Real-time requests have as much room again.
    fn is_overloaded(&self) -> bool {
        self.jobs.len() > 2 * self.pending || self.entered > 2 * self.pending as u64
    }

    fn part_is_over(&mut self, part: usize, now: Instant) {
        let Part { job, processor, key, .. } = self.parts[part];
        self.processors[processor].queue.remove(&key);
        self.parts.remove(part);
        let of = &mut self.jobs[job];
        assert!(of.parts > 0, "a job is over with its last part");
        of.parts -= 1;
        if of.parts == 0 {
            let id = of.id;
            self.jobs.remove(job);
            self.core.complete(id, now);
        }
    }
}

impl<O: Observer> ChipPolicy for CertifiedGroup<'_, O> {
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
        self.arrivals.push_back(arrival);
    }

    fn request(&mut self, source: SourceId, nominal: Instant, now: Instant, pages: &[Lpn]) -> Option<JobId> {
        let source = self.sources.iter().position(|of| of.number == source)?;
        Some(self.release_as_of(source, nominal, now, pages))
    }

    fn trim(&mut self, source: SourceId, pages: Range<Lpn>, now: Instant) -> bool {
        let of = self.plan.sources()[source].cluster;
        let cluster = self.clusters.iter().position(|cluster| Some(cluster.position) == of);
        let is_zoned = |cluster: usize| self.certified[self.clusters[cluster].position].is_zoned();
        let Some(cluster) = cluster.filter(|&cluster| !is_zoned(cluster) && self.options.placed.faults == 0) else {
            return false;
        };
        self.trim_pages(cluster, (pages.start.0..pages.end.0).map(Lpn), now);
        true
    }

    #[inline]
    fn next_release(&self) -> Option<Instant> {
        let event = self.events.peek().map(|&Reverse((at, _))| at);
        earlier(event, self.arrivals.front().map(|arrival| arrival.at))
    }

    fn release_no_more(&mut self) {
        self.arrivals.clear();
        self.events.clear();
    }

    #[inline]
    fn releases(&mut self, now: Instant) {
        self.release_all(now);
    }

    fn trims(&mut self, now: Instant) {
        if !self.trims_due.is_empty() {
            self.trim_all(now);
        }
    }

    /// With its last chip, what a processor does ends.
    #[inline]
    fn end(&mut self, chip: ChipId, now: Instant) {
        let processor = self.chips[chip].processor;
        let of = &mut self.processors[processor];
        if std::mem::take(&mut of.step.is_under_way) {
            self.step_ends(processor, now);
        } else {
            assert!(of.registers.is_some(), "a step is under way until it ends");
            self.registers_go_on(processor, now);
        }
    }

    #[inline]
    fn dispatch(&mut self, now: Instant) {
        if !self.changed.is_empty() {
            self.dispatch_processors(now);
        }
    }

    #[inline(always)]
    fn granted(&mut self, request: BusRequest, now: Instant) {
        self.goes_over_bus(request, now);
    }

    #[inline]
    fn overload(&self) -> Option<usize> {
        self.is_overloaded().then_some(2 * self.pending)
    }
}
