//! Clusters with certificates: static stripes and zones, where every chip is an EDF processor of
//! its own, and superblocks, where a cluster is one.
//!
//! Both are *processors*: a queue, a map, a frontier, garbage collection. A processor does one step
//! at a time; a step ends when all its chips have ended.

mod backfill;
mod changes;
mod decide;
mod operate;
mod processor;
mod registers;
mod releases;
mod servers;
mod slab;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use rtflash_model::{Id, Instant};
use serde::{Deserialize, Serialize};

use super::arrivals::Arrival;
use super::cluster::max_pending;
use super::sequencer::Sequencer;
use crate::earliest::{Earliest, earlier};
use crate::error::RunError;
use crate::flash::Channels;
use crate::ftl::PagePlace;
use crate::ids::{ChannelId, ChipId, ClusterId, Lpn, PerId};
use crate::lengths::Lengths;
use crate::options::Options;
use crate::plan::{self, Certified, Plan, Releases};
use crate::resume::{Resume, resume};
use crate::ties::TieBreaker;
use crate::trace::{Complete, Observer, Record};
use operate::{ChipAtWork, Planned};
use processor::{OpenJob, Part, ProcessorState};
use releases::RequestSource;
pub(crate) use servers::Servers;
use slab::Slab;

/// What happens to a request, which is given by its source (by position in the group) and number;
/// or to a processor, given by its position and the number of the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum RequestEvent {
    /// A request is released.
    Release(usize, u64),
    /// A request may be released from now on.
    Arm(usize, u64),
    /// A processor may go on by other terms from now on.
    Change(usize, u64),
    /// A processor's counter is put forward, so that an extra GC job is released.
    Advance(usize, u64),
}

/// A cluster at run time.
#[derive(Debug, Serialize, Deserialize)]
struct ProcessorGroup {
    /// Its position in the plan.
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
    lengths: Lengths,
    chips_per_channel: u32,
    clusters: Vec<ProcessorGroup>,
    processors: Vec<ProcessorState>,
    /// All chips of the device; those of other groups have nothing to do.
    chips: PerId<ChipId, ChipAtWork>,
    jobs: Slab<OpenJob>,
    parts: Slab<Part>,
    /// Jobs and pages that may be pending.
    pending: usize,
    /// Pages that have been entered and are not finished.
    entered: u64,
    sources: Vec<RequestSource>,
    arrivals: VecDeque<Arrival>,
    events: BinaryHeap<Reverse<(Instant, RequestEvent)>>,
    /// When each processor's step ends, as far as that is known: with its last chip.
    ends: Earliest,
    channels: Channels,
    ties: TieBreaker,
    /// Processors that may begin a step.
    changed: Vec<usize>,
    observer: Sequencer<O>,
    // Kept for their memory.
    lpns: Vec<Lpn>,
    parts_of: Vec<Option<usize>>,
    planned: Vec<Planned>,
    row: Vec<(PagePlace, Lpn)>,
}

resume!(['a, O: Resume] CertifiedGroup<'a, O> {
    values: [clusters, processors, chips, jobs, parts, entered, arrivals, events, ends, changed],
    parts: [channels, observer],
    lists: [sources],
    made: [
        plan, certified, options, lengths, chips_per_channel, pending, ties, lpns, parts_of, planned, row
    ],
});

impl<'a, O: Observer> CertifiedGroup<'a, O> {
    /// The clusters at these positions of the plan, ascending, with their certificates.
    pub(crate) fn new(
        (plan, certified): (&'a Plan, &'a PerId<ClusterId, Certified>),
        options: &'a Options,
        clusters: &[ClusterId],
        observer: O,
    ) -> Self {
        let mut placed = CertifiedGroup::hosted((plan, certified), options, clusters, observer);
        placed.begin();
        placed
    }

    /// The same where a host releases all requests.
    pub(crate) fn hosted(
        (plan, certified): (&'a Plan, &'a PerId<ClusterId, Certified>),
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
                let collected = |source: &plan::Source| {
                    source.cluster == Some(position) && source.releases == Releases::Collected { chip }
                };
                let source = plan.sources().enumerate().find(|(_, source)| collected(source));
                let gc = (source.map(|(number, _)| number), device.chips_per_channel());
                processors.push(ProcessorState::new((of, by), (cluster, position), place, gc, options));
            }
            for (place, &chip) in of.chips.iter().enumerate() {
                let others = device.chips_on(plan.channel_of(chip).0) - 1;
                let processor = if by.is_stripe() { first + place } else { first };
                used[plan.channel_of(chip)] = true;
                chips[chip] = ChipAtWork { processor, foreign_chips: plan.foreign_chips(of, chip), others, open: None };
            }
            runs.push(ProcessorGroup { position, processors: first..processors.len(), background: 0 });
        }
        CertifiedGroup {
            plan,
            certified,
            options,
            lengths: Lengths::new(plan, options),
            chips_per_channel: device.chips_per_channel(),
            clusters: runs,
            processors,
            jobs: Slab::default(),
            parts: Slab::default(),
            pending: max_pending(plan, options, true),
            entered: 0,
            sources: RequestSource::all((plan, certified), clusters, options),
            arrivals: VecDeque::new(),
            events: BinaryHeap::new(),
            ends: Earliest::new(chips.len()),
            chips,
            channels: Channels::new(&used, options),
            ties: options.into(),
            changed: Vec::new(),
            observer: Sequencer::new(observer),
            lpns: Vec::new(),
            parts_of: Vec::new(),
            planned: Vec::new(),
            row: Vec::new(),
        }
        .awaiting_changes()
    }

    /// A host hands over a job that is not real-time.
    pub(crate) fn hand_over(&mut self, arrival: Arrival) {
        self.arrivals.push_back(arrival);
    }

    /// What ends now ends.
    pub(crate) fn ends_at(&mut self, now: Instant) {
        self.observer.passes(now);
        self.ends(now);
    }

    /// Everything of this instant but the ends.
    pub(crate) fn goes_on(&mut self, now: Instant) {
        self.releases(now);
        self.dispatch(now);
        self.grants(now);
    }

    /// More arrivals, in order, none before what has been run already.
    pub(crate) fn arrive(&mut self, arrivals: impl Iterator<Item = Arrival>) {
        self.arrivals.extend(arrivals);
    }

    /// Runs everything before `limit`, which is at most the run's duration.
    ///
    /// # Errors
    /// Where too many jobs or pages are pending.
    pub(crate) fn run_until(&mut self, limit: Instant) -> Result<(), RunError> {
        while let Some(now) = self.next_instant().filter(|&now| now < limit) {
            self.observer.passes(now);
            self.releases(now);
            self.ends(now);
            if !self.changed.is_empty() {
                self.dispatch(now);
            }
            if self.channels.grants_by(now) {
                self.grants(now);
            }
            if self.is_overloaded() {
                return Err(RunError::TooManyPending { at: now, limit: self.pending });
            }
        }
        Ok(())
    }

    /// Whether more is pending than can be kept.
    pub(crate) fn is_overloaded(&self) -> bool {
        self.jobs.len() > self.pending || self.entered > self.pending as u64
    }

    /// Every record of what starts before this instant has been passed on.
    pub(crate) fn settled(&mut self, limit: Instant) -> Instant {
        self.observer.notify_before(limit)
    }

    /// Ends the run at its duration: what is under way is followed to its end.
    pub(crate) fn finish(mut self) -> O {
        self.arrivals.clear();
        self.events.clear();
        while let Some(now) = self.next_instant() {
            self.ends(now);
            self.grants(now);
        }
        self.observer.finish()
    }

    /// The observer.
    pub(crate) fn observer(&mut self) -> &mut O {
        self.observer.observer()
    }

    /// When something happens next.
    pub(crate) fn next_instant(&self) -> Option<Instant> {
        let event = self.events.peek().map(|&Reverse((at, _))| at);
        let arrival = self.arrivals.front().map(|arrival| arrival.at);
        let end = Instant::from_ns(self.ends.first_ns().min(self.channels.least_ns()));
        earlier(end, earlier(event, arrival))
    }

    fn channel_of(&self, chip: ChipId) -> ChannelId {
        ChannelId(chip.0 / self.chips_per_channel)
    }

    #[inline]
    fn ends(&mut self, now: Instant) {
        while let Some(chip) = self.ends.first_at(now) {
            self.ends.set(chip, None);
            self.end(ChipId::from_index(chip), now);
        }
    }

    /// A part of a job is over.
    fn part_is_over(&mut self, part: usize, now: Instant) {
        let Part { job, processor, key, .. } = self.parts[part];
        self.processors[processor].queue.remove(&key);
        self.parts.remove(part);
        let of = &mut self.jobs[job];
        of.parts -= 1;
        if of.parts == 0 {
            let id = of.id;
            self.jobs.remove(job);
            self.observer.observer().over(id);
            if now <= self.options.duration {
                self.observer.push(Record::Complete(Complete { at: now, job: id }));
            }
        }
    }
}
