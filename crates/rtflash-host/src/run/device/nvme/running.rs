//! A drive at run time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rtflash_model::{Instant, Span};
use rtflash_plan::Options;
use rtflash_sim::Hosted;
use rtflash_trace::{JobId, Record};

use super::buffer::Buffer;
use super::cache::Cache;
use super::streams::Streams;
use super::{CommandCost, Costs, Nvme};
use crate::run::device::flash::Kept;
use crate::run::device::slow::Episodes;
use crate::run::device::{Handed, Target};
use crate::{Command, Op};

/// Pages that may wait for the buffer.
const MAX_STALLED: usize = 1 << 22;

/// An event at a known time, by slot of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DriveEvent {
    /// The controller is done with it.
    Controlled(usize),
    /// It ends: the one that was fetched first goes first.
    Ends(u64, usize),
}

/// The purpose of reading or programming a page of the flash.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    /// A command, by slot.
    Command(usize),
    /// The cache, and who waits there.
    Ahead(u32),
    /// The buffer: the page, and its number there.
    Drain(u32, u64),
}

/// A command that has been fetched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fetched {
    pub(super) command: Command,
    /// Its number, and when that was.
    pub(super) number: u64,
    pub(super) at: Instant,
    pub(super) sequential: bool,
    /// See [`Handed::fua`].
    pub(super) fua: bool,
    pub(super) cost: CommandCost,
    /// Pages that it waits for.
    pub(super) left: u64,
}

/// The state of the episodes of a drive's commands.
#[derive(Debug)]
pub(super) struct SlowTimes {
    /// Sequential and random ones. Those of the same numbers are the same, as both are drawn alike.
    reads: [Option<Episodes>; 2],
    writes: [Option<Episodes>; 2],
}

impl SlowTimes {
    fn new(of: &Nvme, seed: u64) -> SlowTimes {
        let both = |Costs { sequential, random }, what| {
            [sequential, random].map(|cost: CommandCost| cost.slow.map(|slow| Episodes::new(slow, seed, what)))
        };
        SlowTimes { reads: both(of.read, b"slow-rea"), writes: both(of.write, b"slow-wri") }
    }

    /// The additional time of a command that the controller takes now.
    fn extra(&mut self, fetched: &Fetched, now: Instant) -> Span {
        let both = if fetched.command.op == Op::Read { &mut self.reads } else { &mut self.writes };
        let episodes = both[usize::from(!fetched.sequential)].as_mut();
        episodes.map_or(Span::ZERO, |episodes| episodes.extra(now))
    }
}

/// An [`Nvme`] drive at run time.
#[derive(Debug)]
pub(crate) struct RunningNvme<'a> {
    pub(super) of: &'a Nvme,
    pub(super) hosted: Option<Hosted<'a, Kept>>,
    pub(super) logical: u64,
    pub(super) page_size: u32,
    pub(super) queues: Vec<VecDeque<Handed>>,
    /// Their lengths.
    pub(super) unfetched: Vec<u32>,
    /// The queue that is fetched from next.
    pub(super) turn: usize,
    /// Commands inside, in slots that are used again.
    pub(super) slots: Vec<Option<Fetched>>,
    pub(super) free: Vec<usize>,
    pub(super) inside: u32,
    pub(super) fetched: u64,
    pub(super) streams: Streams,
    pub(super) slow: SlowTimes,
    /// Commands that wait for the controller, and whether it has one.
    pub(super) queued: VecDeque<usize>,
    pub(super) controls: bool,
    pub(super) events: BinaryHeap<Reverse<(Instant, DriveEvent)>>,
    pub(super) buffer: Buffer,
    /// Pages that wait for the buffer, with their commands.
    pub(super) stalled: VecDeque<(usize, u32)>,
    /// Flushes that the controller is done with, with the mark of the buffer that each waits for.
    pub(super) flushes: VecDeque<(usize, u64)>,
    pub(super) cache: Cache,
    /// By number of the flash's job, from the first one on that is not over.
    pub(super) purposes: VecDeque<Option<Purpose>>,
    pub(super) first_job: u64,
    pub(super) late: Vec<(Command, Span)>,
    // Kept for its memory.
    pub(super) over: Vec<JobId>,
}

impl<'a> RunningNvme<'a> {
    /// A device with nothing in it, behind a host of `cpus` cores.
    pub(crate) fn new(of: &'a Nvme, cpus: u32, options: &'a Options, watched: bool) -> RunningNvme<'a> {
        let queues = of.queues.unwrap_or(cpus).max(1) as usize;
        let chips = of.plan.device().chips();
        RunningNvme {
            of,
            hosted: Some(Hosted::new(&of.plan, options, Kept::new(watched))),
            logical: of.logical_pages(),
            page_size: of.plan.device().page_size(),
            queues: vec![VecDeque::new(); queues],
            unfetched: vec![0; queues],
            turn: 0,
            slots: Vec::new(),
            free: Vec::new(),
            inside: 0,
            fetched: 0,
            streams: Streams::default(),
            slow: SlowTimes::new(of, options.seed),
            queued: VecDeque::new(),
            controls: false,
            events: BinaryHeap::new(),
            buffer: Buffer::new(of.buffer, of.drain.unwrap_or(chips)),
            stalled: VecDeque::new(),
            flushes: VecDeque::new(),
            cache: Cache::new(of.read_ahead),
            purposes: VecDeque::new(),
            first_job: 0,
            late: Vec::new(),
            over: Vec::new(),
        }
    }

    /// Fetches as many commands as it may, a queue after the other.
    fn fetch(&mut self, now: Instant) {
        let count = self.queues.len();
        let mut empty = 0;
        while self.inside < self.of.inside && empty < count {
            let queue = self.turn;
            self.turn = (queue + 1) % count;
            let Some(Handed { command, fua, .. }) = self.queues[queue].pop_front() else {
                empty += 1;
                continue;
            };
            empty = 0;
            self.unfetched[queue] -= 1;
            self.inside += 1;
            let flush = self.of.flush.filter(|_| command.is_flush());
            let sequential = flush.is_none() && self.streams.is_sequential(&command);
            let costs = self.of.costs(command.op);
            let cost = flush.unwrap_or(if sequential { costs.sequential } else { costs.random });
            let fetched = Fetched { command, number: self.fetched, at: now, sequential, fua, cost, left: 0 };
            self.fetched += 1;
            let slot = self.free.pop().unwrap_or(self.slots.len());
            if slot == self.slots.len() {
                self.slots.push(None);
            }
            self.slots[slot] = Some(fetched);
            self.queued.push_back(slot);
        }
    }

    /// The controller takes the next command if it has none.
    fn control(&mut self, now: Instant) {
        if self.controls {
            return;
        }
        let Some(slot) = self.queued.pop_front() else { return };
        let Some(fetched) = self.slots[slot] else { return };
        self.controls = true;
        let extra = self.slow.extra(&fetched, now);
        let done = now.saturating_add(fetched.cost.controller(fetched.command.size)).saturating_add(extra);
        self.events.push(Reverse((done, DriveEvent::Controlled(slot))));
    }

    fn is_late(&self, took: Span) -> bool {
        self.of.ends_within.is_some_and(|within| took > within)
    }

    fn ends(&mut self, slot: usize, now: Instant, ended: &mut Vec<Command>) {
        let Some(Fetched { command, at, .. }) = self.slots[slot].take() else { return };
        self.free.push(slot);
        self.inside -= 1;
        let took = now.since(at);
        if self.is_late(took) && !command.is_flush() {
            self.late.push((command, took));
        }
        ended.push(command);
    }
}

impl Target for RunningNvme<'_> {
    fn has_room(&self) -> bool {
        self.unfetched.iter().all(|&unfetched| unfetched < self.of.entries)
    }

    fn unfetched(&self) -> &[u32] {
        &self.unfetched
    }

    fn take(&mut self, handed: Handed, now: Instant) {
        let queue = handed.queue % self.queues.len();
        self.queues[queue].push_back(handed);
        self.unfetched[queue] += 1;
        self.fetch(now);
    }

    fn next(&self) -> Option<Instant> {
        let event = self.events.peek().map(|&Reverse((at, _))| at);
        event.into_iter().chain(self.hosted.as_ref().and_then(Hosted::next_instant)).min()
    }

    fn advance(&mut self, now: Instant, ended: &mut Vec<Command>) {
        let mut over = std::mem::take(&mut self.over);
        if let Some(hosted) = &mut self.hosted {
            hosted.advance(now, &mut over);
        }
        over.drain(..).for_each(|job| self.flashed(job, now));
        self.over = over;
        // First the flash, then the controller; what ends then, ends now.
        self.drain(now);
        while let Some(&Reverse((at, event))) = self.events.peek()
            && at == now
        {
            self.events.pop();
            match event {
                DriveEvent::Controlled(slot) => {
                    self.controlled(slot, now);
                    self.drain(now);
                }
                DriveEvent::Ends(_, slot) => self.ends(slot, now, ended),
            }
        }
        // At once, so that there is room when the host asks.
        self.fetch(now);
    }

    fn settle(&mut self, now: Instant) {
        self.control(now);
        if let Some(hosted) = &mut self.hosted {
            hosted.settle(now);
        }
    }

    fn is_overloaded(&self) -> bool {
        self.stalled.len() > MAX_STALLED || self.hosted.as_ref().is_some_and(Hosted::is_overloaded)
    }

    fn late(&mut self) -> Vec<(Command, Span)> {
        std::mem::take(&mut self.late)
    }

    fn overdue(&self, now: Instant) -> Vec<(Command, Span)> {
        let inside = self.slots.iter().flatten().map(|fetched| (fetched.command, now.since(fetched.at)));
        inside.filter(|&(command, took)| self.is_late(took) && !command.is_flush()).collect()
    }

    fn records(&mut self, _: Instant, over: bool) -> Vec<Record> {
        if over {
            return self.hosted.take().map_or_else(Vec::new, |hosted| hosted.finish().take());
        }
        self.hosted.as_mut().map_or_else(Vec::new, |hosted| hosted.observer().take())
    }
}
