//! A stock drive, event by event: whole passes, and two queues. It shares nothing with the analysis
//! but the device's numbers.

use std::collections::VecDeque;

use rtflash_model::random::Stream;

use super::memory::{StockAddresses, StockMemory};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StockArrivals {
    /// All at once, and then as often as they may.
    Together,
    Apart,
    Seldom,
    /// Reads just after an operation as long as any has begun, as far as they may; all at once.
    BehindOperations,
    ToldStock,
}

/// The checks of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StockCheck {
    /// Requests meet their deadlines.
    Deadlines,
    /// A victim has no more valid pages than is said.
    VictimBound,
    /// A pass frees α pages.
    Reclaimed,
    /// There is a page to write to.
    FreePage,
}

impl StockCheck {
    /// All of them.
    pub const ALL: [StockCheck; 4] =
        [StockCheck::Deadlines, StockCheck::VictimBound, StockCheck::Reclaimed, StockCheck::FreePage];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            StockCheck::Deadlines => "deadlines",
            StockCheck::VictimBound => "victim-bound",
            StockCheck::Reclaimed => "reclaimed",
            StockCheck::FreePage => "free-page",
        }
    }
}

/// A check that fails: by how much, in nanoseconds or pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StockFinding {
    /// Which one.
    pub check: StockCheck,
    /// The allowed value.
    pub bound: u64,
    /// The observed value.
    pub observed: u64,
}

type Broken = Option<StockFinding>;

fn pages(check: StockCheck, bound: usize, observed: usize) -> StockFinding {
    StockFinding { check, bound: bound as u64, observed: observed as u64 }
}

struct Waiting {
    released: u64,
    deadline: u64,
    pages: u64,
}

/// A stream of requests: its earliest next release, and when it is to come.
pub(super) struct StockSource {
    pub(super) pages: u64,
    pub(super) period: u64,
    pub(super) writes: bool,
    pub(super) may: u64,
    pub(super) comes: Option<u64>,
    pub(super) releases: usize,
    /// The moves of a climber: gaps, one after another, and then none.
    pub(super) gaps: Vec<u64>,
}

/// The pages that it has to copy, whether the first has been read, and its block.
struct StockPass {
    block: usize,
    copies: Vec<usize>,
    read: bool,
    began: usize,
}

pub(super) const RELEASES: usize = 24;

pub(super) struct StockDrive<'a> {
    times: [u64; 3],
    memory: StockMemory,
    sources: Vec<StockSource>,
    reads: VecDeque<Waiting>,
    writes: VecDeque<Waiting>,
    pass: Option<StockPass>,
    now: u64,
    coming: StockArrivals,
    addresses: StockAddresses,
    victim_bound: usize,
    pub(super) passes: u64,
    /// At the deadline of the read, and of the write, that had least; below zero where it was late.
    pub(super) least: [i128; 2],
    pub(super) began: Vec<u64>,
    rng: &'a mut Stream,
}

impl<'a> StockDrive<'a> {
    pub(super) fn new(
        times: [u64; 3],
        memory: StockMemory,
        victim_bound: usize,
        sources: Vec<StockSource>,
        coming: StockArrivals,
        addresses: StockAddresses,
        rng: &'a mut Stream,
    ) -> StockDrive<'a> {
        StockDrive {
            times,
            memory,
            sources,
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            pass: None,
            now: 0,
            coming,
            addresses,
            victim_bound,
            passes: 0,
            least: [i128::MAX; 2],
            began: Vec::new(),
            rng,
        }
    }

    fn admit(&mut self) {
        // The order of requests at one moment is free: a case draws one.
        let mut order: Vec<usize> = (0..self.sources.len()).collect();
        if self.coming != StockArrivals::ToldStock && self.rng.within(0, 1) == 0 {
            order.reverse();
        }
        for at in order {
            while let Some(comes) = self.sources[at].comes.filter(|&comes| comes <= self.now) {
                self.release(at, comes);
            }
        }
    }

    fn release(&mut self, at: usize, comes: u64) {
        let source = &mut self.sources[at];
        let waiting = Waiting { released: comes, deadline: comes + source.period, pages: source.pages };
        let queue = if source.writes { &mut self.writes } else { &mut self.reads };
        let behind = queue.iter().position(|other| other.released > comes).unwrap_or(queue.len());
        queue.insert(behind, waiting);
        source.may = comes + source.period;
        source.releases += 1;
        let gap = match self.coming {
            StockArrivals::Seldom => self.rng.within(0, source.period),
            StockArrivals::ToldStock => source.gaps.get(source.releases - 1).map_or(0, |&gap| gap),
            StockArrivals::Together | StockArrivals::Apart | StockArrivals::BehindOperations => 0,
        };
        let held = self.coming == StockArrivals::BehindOperations && !source.writes;
        source.comes = (source.releases < RELEASES && !held).then_some(source.may + gap);
    }

    /// Lets the reads go that wait for a long operation, where all of them may and none is there.
    fn begin(&mut self, time: u64) {
        let longest = self.times.iter().all(|&other| other <= time);
        let (now, held) = (self.now, |source: &StockSource| source.comes.is_none() && source.releases < RELEASES);
        let reads = || self.sources.iter().filter(|source| !source.writes);
        if self.coming == StockArrivals::BehindOperations
            && longest
            && self.reads.is_empty()
            && reads().all(|source| source.releases >= RELEASES || (held(source) && source.may <= now + 1))
        {
            for source in self.sources.iter_mut().filter(|source| !source.writes && held(source)) {
                source.comes = Some(now + 1);
            }
        }
        self.began.push(self.now);
        self.now += time;
    }

    fn step(&mut self) -> Broken {
        let [read, write, _] = self.times;
        if let Some(first) = self.reads.front_mut() {
            self.now += read;
            first.pages -= 1;
            return if first.pages == 0 { self.over(true) } else { None };
        }
        if let Some(pass) = self.pass.take() {
            return self.step_of_pass(pass);
        }
        if self.memory.free() <= self.memory.pages() {
            let Some((block, copies)) = self.memory.victim() else {
                return Some(pages(StockCheck::FreePage, 1, 0));
            };
            let valid = copies.len();
            self.pass = Some(StockPass { block, copies, read: false, began: self.memory.free() });
            self.passes += 1;
            let bound = self.victim_bound;
            return (valid > bound).then(|| pages(StockCheck::VictimBound, bound, valid));
        }
        let page = self.memory.overwritten(self.addresses, self.rng);
        if !self.memory.program(page) {
            return Some(pages(StockCheck::FreePage, 1, 0));
        }
        self.begin(write);
        let first = self.writes.front_mut()?;
        first.pages -= 1;
        if first.pages == 0 { self.over(false) } else { None }
    }

    /// A page read, the same page programmed, or, behind all of them, the erase.
    fn step_of_pass(&mut self, mut pass: StockPass) -> Broken {
        let [read, write, erase] = self.times;
        match (pass.copies.last().copied(), pass.read) {
            (Some(_), false) => {
                pass.read = true;
                self.begin(read);
            }
            (Some(page), true) => {
                pass.read = false;
                pass.copies.pop();
                if !self.memory.program(page) {
                    return Some(pages(StockCheck::FreePage, 1, 0));
                }
                self.begin(write);
            }
            (None, _) => {
                self.begin(erase);
                self.memory.erase(pass.block);
                let gained = self.memory.free().saturating_sub(pass.began);
                let least = self.memory.pages() - self.victim_bound;
                return (gained < least).then(|| pages(StockCheck::Reclaimed, least, gained));
            }
        }
        self.pass = Some(pass);
        None
    }

    fn over(&mut self, reads: bool) -> Broken {
        let done = if reads { self.reads.pop_front()? } else { self.writes.pop_front()? };
        let least = &mut self.least[usize::from(!reads)];
        *least = (*least).min(i128::from(done.deadline) - i128::from(self.now));
        late(&done, self.now)
    }

    pub(super) fn run(&mut self) -> Broken {
        loop {
            self.admit();
            if self.reads.is_empty() && self.writes.is_empty() {
                // Reads that wait for an operation which never comes do not come.
                self.now = self.sources.iter().filter_map(|source| source.comes).min()?;
                continue;
            }
            let broken = self.step();
            let overdue = || self.reads.iter().chain(&self.writes).find_map(|waiting| late(waiting, self.now));
            if let Some(broken) = broken.or_else(overdue) {
                return Some(broken);
            }
        }
    }
}

fn late(of: &Waiting, now: u64) -> Broken {
    let (bound, observed) = (of.deadline - of.released, now - of.released);
    (observed > bound).then_some(StockFinding { check: StockCheck::Deadlines, bound, observed })
}
