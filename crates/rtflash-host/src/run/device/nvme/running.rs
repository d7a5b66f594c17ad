//! A drive at run time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use rtflash_exec::trace::{JobId, Record};
use rtflash_exec::{HostJob, Hosted, Options};
use rtflash_model::{Instant, Span};

use super::buffer::Buffer;
use super::cache::{Cache, Found};
use super::streams::Streams;
use super::{CommandCost, Nvme};
use crate::run::device::flash::{Kept, pages};
use crate::run::device::{Handed, Target};
use crate::{Command, Op};

/// What happens at a time that is known, by slot of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The controller is done with it.
    Controlled(usize),
    /// It ends: the one that was fetched first goes first.
    Ends(u64, usize),
}

/// What a page of the flash is read or programmed for.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    /// A command, by slot.
    Command(usize),
    /// The cache, and who waits there.
    Ahead(u32),
    /// The buffer.
    Drain(u32),
}

/// A command that has been fetched.
#[derive(Debug, Clone, Copy)]
struct Fetched {
    command: Command,
    /// Its number, and when that was.
    number: u64,
    at: Instant,
    sequential: bool,
    cost: CommandCost,
    /// Pages that it waits for.
    left: u64,
}

/// An [`Nvme`] drive at run time.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    of: &'a Nvme,
    hosted: Option<Hosted<'a, Kept>>,
    logical: u64,
    page_size: u32,
    queues: Vec<VecDeque<Command>>,
    /// Their lengths.
    unfetched: Vec<u32>,
    /// The queue that is fetched from next.
    turn: usize,
    /// Commands inside, in slots that are used again.
    slots: Vec<Option<Fetched>>,
    free: Vec<usize>,
    inside: u32,
    fetched: u64,
    streams: Streams,
    /// Commands that wait for the controller, and whether it has one.
    queued: VecDeque<usize>,
    controls: bool,
    events: BinaryHeap<Reverse<(Instant, Event)>>,
    buffer: Buffer,
    /// Pages that wait for the buffer, with their commands.
    stalled: VecDeque<(usize, u32)>,
    cache: Cache,
    purposes: HashMap<JobId, Purpose>,
    late: Vec<(Command, Span)>,
    // Kept for its memory.
    over: Vec<JobId>,
}

impl<'a> Running<'a> {
    /// With nothing in it, behind a host of so many cores.
    pub(crate) fn new(of: &'a Nvme, cpus: u32, options: &'a Options, told: bool) -> Running<'a> {
        let queues = of.queues.unwrap_or(cpus).max(1) as usize;
        let chips = of.plan.device().chips();
        Running {
            of,
            hosted: Some(Hosted::new(&of.plan, options, Kept::new(told))),
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
            queued: VecDeque::new(),
            controls: false,
            events: BinaryHeap::new(),
            buffer: Buffer::new(of.buffer, of.drain.unwrap_or(chips)),
            stalled: VecDeque::new(),
            cache: Cache::new(of.read_ahead),
            purposes: HashMap::new(),
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
            let Some(command) = self.queues[queue].pop_front() else {
                empty += 1;
                continue;
            };
            empty = 0;
            self.unfetched[queue] -= 1;
            self.inside += 1;
            let sequential = self.streams.is_sequential(&command);
            let costs = self.of.costs(command.op);
            let cost = if sequential { costs.sequential } else { costs.random };
            let fetched = Fetched { command, number: self.fetched, at: now, sequential, cost, left: 0 };
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
        let done = now.saturating_add(fetched.cost.controller(fetched.command.size));
        self.events.push(Reverse((done, Event::Controlled(slot))));
    }

    /// The controller is done with a command: its pages are looked for, or take their places.
    fn controlled(&mut self, slot: usize, now: Instant) {
        self.controls = false;
        let Some(Fetched { command, sequential, .. }) = self.slots[slot] else { return };
        let (first, count) = pages(&command, self.page_size);
        let mut left = 0;
        for number in first..first.saturating_add(count) {
            let page = self.page(number);
            left += u64::from(if command.op == Op::Read {
                self.read(slot, page, sequential, now)
            } else {
                self.write(slot, page, now)
            });
        }
        if command.op == Op::Read && sequential {
            let next = first.saturating_add(count);
            for number in next..next.saturating_add(self.of.read_ahead.into()) {
                let page = self.page(number);
                if !self.buffer.holds(page) && self.cache.read(page) {
                    self.flash(page, true, Purpose::Ahead(page), now);
                }
            }
        }
        self.waits(slot, left, now);
    }

    /// The logical page behind an address.
    fn page(&self, number: u64) -> u32 {
        // Logical pages are counted in 32 bits.
        u32::try_from(number % self.logical).unwrap_or(0)
    }

    /// A command reads a page. Says whether it has to wait for it.
    fn read(&mut self, slot: usize, page: u32, sequential: bool, now: Instant) -> bool {
        if self.buffer.holds(page) {
            return false;
        }
        match self.cache.find(page, slot) {
            Found::Ready => return false,
            Found::Reading => return true,
            Found::Nothing => {}
        }
        if sequential && self.cache.read(page) {
            self.cache.find(page, slot);
            self.flash(page, true, Purpose::Ahead(page), now);
        } else {
            self.flash(page, true, Purpose::Command(slot), now);
        }
        true
    }

    /// A command writes a page. Says whether it has to wait for it.
    fn write(&mut self, slot: usize, page: u32, now: Instant) -> bool {
        self.cache.written(page);
        if self.of.buffer == 0 {
            self.flash(page, false, Purpose::Command(slot), now);
            return true;
        }
        if self.stalled.is_empty() && self.buffer.take(page) {
            return false;
        }
        self.stalled.push_back((slot, page));
        true
    }

    /// Hands a page over to the flash.
    fn flash(&mut self, page: u32, reads: bool, purpose: Purpose, now: Instant) {
        let (read_pages, write_pages) = if reads { (1, 0) } else { (0, 1) };
        let job = HostJob { source: 0, read_pages, write_pages, first_page: Some(page.into()) };
        let id = self.hosted.as_mut().and_then(|hosted| hosted.hand_over(job, now));
        self.purposes.extend(id.map(|id| (id, purpose)));
    }

    /// A command waits for so many pages more.
    fn waits(&mut self, slot: usize, pages: u64, now: Instant) {
        let Some(fetched) = &mut self.slots[slot] else { return };
        fetched.left += pages;
        if fetched.left == 0 {
            self.events.push(Reverse((now.saturating_add(fetched.cost.latency), Event::Ends(fetched.number, slot))));
        }
    }

    /// A page that a command waited for is there.
    fn has(&mut self, slot: usize, now: Instant) {
        if let Some(fetched) = &mut self.slots[slot] {
            fetched.left = fetched.left.saturating_sub(1);
        }
        self.waits(slot, 0, now);
    }

    /// The flash is done with a page.
    fn flashed(&mut self, job: JobId, now: Instant) {
        match self.purposes.remove(&job) {
            Some(Purpose::Command(slot)) => self.has(slot, now),
            Some(Purpose::Ahead(page)) => {
                for slot in self.cache.arrived(page) {
                    self.has(slot, now);
                }
            }
            Some(Purpose::Drain(page)) => self.buffer.programmed(page),
            None => {}
        }
    }

    /// Pages that wait for the buffer go there, and from there to the flash.
    fn drain(&mut self, now: Instant) {
        loop {
            while let Some(&(slot, page)) = self.stalled.front()
                && self.buffer.take(page)
            {
                self.stalled.pop_front();
                self.has(slot, now);
            }
            let Some(page) = self.buffer.next() else { return };
            self.flash(page, false, Purpose::Drain(page), now);
        }
    }

    fn ends(&mut self, slot: usize, now: Instant, ended: &mut Vec<Command>) {
        let Some(Fetched { command, at, .. }) = self.slots[slot].take() else { return };
        self.free.push(slot);
        self.inside -= 1;
        let took = now.since(at);
        if self.of.ends_within.is_some_and(|within| took > within) {
            self.late.push((command, took));
        }
        ended.push(command);
    }
}

impl Target for Running<'_> {
    fn has_room(&self) -> bool {
        self.unfetched.iter().all(|&unfetched| unfetched < self.of.entries)
    }

    fn unfetched(&self) -> &[u32] {
        &self.unfetched
    }

    fn take(&mut self, Handed { command, queue, .. }: Handed, now: Instant) {
        let queue = queue % self.queues.len();
        self.queues[queue].push_back(command);
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
                Event::Controlled(slot) => {
                    self.controlled(slot, now);
                    self.drain(now);
                }
                Event::Ends(_, slot) => self.ends(slot, now, ended),
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
        self.hosted.as_ref().is_some_and(Hosted::is_overloaded)
    }

    fn late(&mut self) -> Vec<(Command, Span)> {
        std::mem::take(&mut self.late)
    }

    fn told(&mut self, _: Instant, over: bool) -> Vec<Record> {
        if over {
            return self.hosted.take().map(|hosted| hosted.finish().take()).unwrap_or_default();
        }
        self.hosted.as_mut().map(|hosted| hosted.observer().take()).unwrap_or_default()
    }
}
