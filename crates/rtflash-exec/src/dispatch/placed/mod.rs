//! Clusters with certificates: static stripes, where every chip is an EDF processor of its own, and
//! superblocks, where a cluster is one.
//!
//! Both are *units*: a queue, a map, a frontier, garbage collection. A unit does one step at a
//! time; a step ends when all its chips have ended.

mod backfill;
mod decide;
mod operate;
mod pass;
mod releases;
mod servers;
mod slab;
mod store;
mod unit;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use rtflash_model::Instant;

use super::arrivals::Arrival;
use super::cluster::max_pending;
use super::sequencer::Sequencer;
use crate::flash::Bus;
use crate::lengths::Lengths;
use crate::options::Options;
use crate::plan::{Plan, Releases};
use crate::run::RunError;
use crate::trace::{Complete, Observer, Record};
use operate::{Chip, Planned};
use releases::Source;
pub(crate) use servers::Servers;
use slab::Slab;
use unit::{Job, Part, Unit};

/// Events of one instant: releases come before ends.
const RELEASE: u8 = 0;
/// A request may be released from now on.
const ARM: u8 = 1;
const END: u8 = 2;

/// A cluster at run time.
#[derive(Debug)]
struct Cluster {
    /// Its position in the plan.
    position: u32,
    units: Range<usize>,
    /// Pages of background jobs that are not finished.
    background: u64,
}

/// A group of clusters with certificates. Clusters that share a channel have to be in one group.
pub(crate) struct Placed<'a, O> {
    plan: &'a Plan,
    options: &'a Options,
    lengths: Lengths,
    chips_per_channel: u32,
    clusters: Vec<Cluster>,
    units: Vec<Unit>,
    /// All chips of the device; those of other groups have nothing to do.
    chips: Vec<Chip>,
    jobs: Slab<Job>,
    parts: Slab<Part>,
    /// Jobs and pages that may be pending.
    pending: usize,
    /// Pages that have been entered and are not finished.
    entered: u64,
    sources: Vec<Source>,
    arrivals: VecDeque<Arrival>,
    /// When, what, of which source or chip; for releases the number of the request.
    events: BinaryHeap<Reverse<(Instant, u8, usize, u64)>>,
    buses: Vec<Bus>,
    asked: Vec<usize>,
    /// Units that may begin a step.
    changed: Vec<usize>,
    observer: Sequencer<O>,
    // Kept for their memory.
    lpns: Vec<u32>,
    parts_of: Vec<Option<usize>>,
    planned: Vec<Planned>,
    steps: Vec<unit::Step>,
}

impl<'a, O: Observer> Placed<'a, O> {
    /// The clusters at these positions of the plan, ascending.
    pub(crate) fn new(plan: &'a Plan, options: &'a Options, clusters: &[u32], observer: O) -> Self {
        let mut placed = Placed::hosted(plan, options, clusters, observer);
        placed.begin();
        placed
    }

    /// The same where a host releases all requests.
    pub(crate) fn hosted(plan: &'a Plan, options: &'a Options, clusters: &[u32], observer: O) -> Self {
        let device = plan.device();
        let mut chips: Vec<Chip> = (0..device.chips()).map(|_| Chip::default()).collect();
        let mut units = Vec::new();
        let mut runs = Vec::new();
        for (cluster, &position) in clusters.iter().enumerate() {
            let of = &plan.clusters()[position as usize];
            let first = units.len();
            let count = if of.is_stripe() { of.chips.len() } else { 1 };
            for place in 0..count {
                let chip = of.is_stripe().then(|| of.chips[place]);
                let source = plan.sources().iter().zip(0..).find(|(source, _)| {
                    source.cluster == Some(position) && source.releases == Releases::Collected { chip }
                });
                let source = source.map_or(u32::MAX, |(_, number)| number);
                units.push(Unit::new(of, cluster, place, (source, device.chips_per_channel()), options));
            }
            for (place, &chip) in of.chips.iter().enumerate() {
                let channel = device.channel_of(chip);
                let own = of.chips.iter().filter(|&&other| device.channel_of(other) == channel).count();
                let ways = device.chips_on(channel);
                let foreign = ways.saturating_sub(u32::try_from(own).unwrap_or(ways));
                let unit = if of.is_stripe() { first + place } else { first };
                chips[chip as usize] = Chip { unit, foreign, others: ways.saturating_sub(1), doing: None };
            }
            runs.push(Cluster { position, units: first..units.len(), background: 0 });
        }
        Placed {
            plan,
            options,
            lengths: Lengths::new(plan, options),
            chips_per_channel: device.chips_per_channel(),
            clusters: runs,
            units,
            chips,
            jobs: Slab::default(),
            parts: Slab::default(),
            pending: max_pending(plan, options),
            entered: 0,
            sources: Source::all(plan, clusters, options),
            arrivals: VecDeque::new(),
            events: BinaryHeap::new(),
            buses: (0..device.channels()).map(|_| Bus::default()).collect(),
            asked: Vec::new(),
            changed: Vec::new(),
            observer: Sequencer::new(observer),
            lpns: Vec::new(),
            parts_of: Vec::new(),
            planned: Vec::new(),
            steps: Vec::new(),
        }
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
            self.dispatch(now);
            self.grants(now);
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

    /// Nothing that starts before this instant is still to be told of.
    pub(crate) fn settled(&mut self, limit: Instant) -> Instant {
        self.observer.tell_before(limit)
    }

    /// Ends the run at its duration: what is under way is followed to its end.
    pub(crate) fn finish(mut self) -> O {
        while let Some(Reverse((now, class, chip, _))) = self.events.pop() {
            if class == END {
                self.end(chip, now);
            }
            if self.events.peek().is_none_or(|&Reverse((next, ..))| next > now) {
                self.grants(now);
            }
        }
        self.observer.finish()
    }

    /// Who has been told.
    pub(crate) fn observer(&mut self) -> &mut O {
        self.observer.observer()
    }

    /// When something happens next.
    pub(crate) fn next_instant(&self) -> Option<Instant> {
        let event = self.events.peek().map(|&Reverse((at, ..))| at);
        event.into_iter().chain(self.arrivals.front().map(|arrival| arrival.at)).min()
    }

    fn ends(&mut self, now: Instant) {
        while let Some(&Reverse((at, END, chip, _))) = self.events.peek()
            && at == now
        {
            self.events.pop();
            self.end(chip, now);
        }
    }

    /// A part of a job is over.
    fn part_is_over(&mut self, part: usize, now: Instant) {
        let Part { job, unit, key, .. } = self.parts[part];
        self.units[unit].queue.remove(&key);
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
