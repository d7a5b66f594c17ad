//! `stock` before a small drive, event by event.
//!
//! The executor has no drive without deadlines, so this is one: a page map, an open block, whole
//! passes, and two queues. It shares nothing with the analysis but the device's numbers, and is no
//! more than the rules of docs/baselines.md: it says whether the arithmetic holds for a drive that
//! works so, and nothing of drives that are bought.

use std::collections::VecDeque;

#[path = "../../../tests/common/cases.rs"]
mod cases;

use cases::cases;
use rtflash_alloc::analysis::{Analysis, Stock, StockTerm, test_cluster};
use rtflash_model::random::Stream;
use rtflash_model::{Device, DeviceSpec, LogicalRatio, Request, Shortest, Span, Task, TaskId, TaskSet};

struct Rng(Stream);

impl Rng {
    fn from(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    fn index(&mut self, below: usize) -> usize {
        usize::try_from(self.0.below(below as u64)).expect("a position")
    }
}

/// How requests come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coming {
    /// All at once, and then as often as they may.
    Together,
    /// From random moments on.
    Apart,
    /// With random gaps.
    Seldom,
    /// Reads just after an operation as long as any has begun, as far as they may; all at once.
    BehindOperations,
    /// As a climber says.
    Told,
}

/// What is overwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Addresses {
    Random,
    Sequential,
    /// A page of the block with the most data, so that no block is a good victim.
    Levelled,
}

/// A block: the pages of data that it holds, and how many it has left to write.
#[derive(Debug, Clone, Default)]
struct Block {
    valid: Vec<usize>,
    left: usize,
}

/// What is broken, in words; `None` where all holds.
type Broken = Option<String>;

/// The flash memory.
struct Memory {
    blocks: Vec<Block>,
    pages: usize,
    open: usize,
    /// Where each page of data is.
    at: Vec<usize>,
    next: usize,
}

impl Memory {
    /// All blocks but one are full, and hold the data evenly.
    fn aged(blocks: usize, pages: usize, data: usize) -> Memory {
        let mut memory = Memory { blocks: vec![Block::default(); blocks], pages, open: 0, at: vec![0; data], next: 0 };
        memory.blocks[0].left = pages;
        for page in 0..data {
            let block = 1 + page % (blocks - 1);
            memory.blocks[block].valid.push(page);
            memory.at[page] = block;
        }
        memory
    }

    fn free(&self) -> usize {
        self.blocks.iter().map(|block| block.left).sum()
    }

    /// Programs a page of data; false where there is no room.
    fn program(&mut self, page: usize) -> bool {
        if self.blocks[self.open].left == 0 {
            let Some(empty) = self.blocks.iter().position(|block| block.left == self.pages) else { return false };
            self.open = empty;
        }
        let old = self.at[page];
        self.blocks[old].valid.retain(|&other| other != page);
        self.blocks[self.open].left -= 1;
        self.blocks[self.open].valid.push(page);
        self.at[page] = self.open;
        true
    }

    /// The full block with the fewest valid pages.
    fn victim(&self) -> usize {
        let full = (0..self.blocks.len()).filter(|&block| self.blocks[block].left == 0);
        full.min_by_key(|&block| self.blocks[block].valid.len()).expect("a full block")
    }

    fn overwritten(&mut self, addresses: Addresses, rng: &mut Rng) -> usize {
        match addresses {
            Addresses::Random => rng.index(self.at.len()),
            Addresses::Sequential => {
                self.next = (self.next + 1) % self.at.len();
                self.next
            }
            Addresses::Levelled => {
                let most = self.blocks.iter().max_by_key(|block| block.valid.len()).expect("a block");
                most.valid[rng.index(most.valid.len())]
            }
        }
    }
}

/// A request that waits.
struct Waiting {
    released: u64,
    deadline: u64,
    pages: u64,
}

/// A stream of requests: its earliest next release, and when it is to come.
struct Source {
    pages: u64,
    period: u64,
    writes: bool,
    may: u64,
    comes: Option<u64>,
    releases: u32,
    /// What a climber says: gaps, one after another, and then none.
    gaps: Vec<u64>,
}

/// A pass under way: the pages that it has to copy, whether the first of these has been read, and
/// its block.
struct Pass {
    block: usize,
    copies: Vec<usize>,
    read: bool,
    began: usize,
}

struct Drive<'a> {
    times: [u64; 3],
    memory: Memory,
    sources: Vec<Source>,
    reads: VecDeque<Waiting>,
    writes: VecDeque<Waiting>,
    pass: Option<Pass>,
    now: u64,
    coming: Coming,
    addresses: Addresses,
    victim_bound: usize,
    passes: u32,
    /// How much time was left at the deadline of the read, and of the write, that had least, below
    /// zero where it was late.
    least: [i128; 2],
    /// When operations of writers began.
    began: Vec<u64>,
    rng: &'a mut Rng,
}

const RELEASES: u32 = 24;

impl Drive<'_> {
    fn admit(&mut self) {
        // Who comes first at one moment is nobody's choice: any order.
        let mut order: Vec<usize> = (0..self.sources.len()).collect();
        if self.coming != Coming::Told && self.rng.from(0, 1) == 0 {
            order.reverse();
        }
        for at in order {
            while let Some(comes) = self.sources[at].comes.filter(|&comes| comes <= self.now) {
                let source = &mut self.sources[at];
                let waiting = Waiting { released: comes, deadline: comes + source.period, pages: source.pages };
                let queue = if source.writes { &mut self.writes } else { &mut self.reads };
                let behind = queue.iter().position(|other| other.released > comes).unwrap_or(queue.len());
                queue.insert(behind, waiting);
                source.may = comes + source.period;
                source.releases += 1;
                let gap = match self.coming {
                    Coming::Seldom => self.rng.from(0, source.period),
                    Coming::Told => source.gaps.get(source.releases as usize - 1).copied().unwrap_or(0),
                    Coming::Together | Coming::Apart | Coming::BehindOperations => 0,
                };
                let held = self.coming == Coming::BehindOperations && !source.writes;
                source.comes = (source.releases < RELEASES && !held).then_some(source.may + gap);
            }
        }
    }

    /// Lets the reads go that wait for a long operation, where all of them may and none is there.
    fn begin(&mut self, time: u64) {
        let longest = *self.times.iter().max().expect("three");
        let (now, held) = (self.now, |source: &Source| source.comes.is_none() && source.releases < RELEASES);
        let reads = || self.sources.iter().filter(|source| !source.writes);
        if self.coming == Coming::BehindOperations
            && time == longest
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

    /// One step of the drive; what is broken by it.
    fn step(&mut self) -> Broken {
        let [read, write, erase] = self.times;
        if !self.reads.is_empty() {
            self.now += read;
            self.reads[0].pages -= 1;
            return if self.reads[0].pages == 0 { self.over("read", true) } else { None };
        }
        if let Some(pass) = &mut self.pass {
            match (pass.copies.last().copied(), pass.read) {
                (Some(_), false) => {
                    pass.read = true;
                    self.begin(read);
                }
                (Some(page), true) => {
                    pass.read = false;
                    pass.copies.pop();
                    if !self.memory.program(page) {
                        return Some("no room for a copy".into());
                    }
                    self.begin(write);
                }
                (None, _) => {
                    let (block, began) = (pass.block, pass.began);
                    self.pass = None;
                    self.begin(erase);
                    self.memory.blocks[block] = Block { valid: vec![], left: self.memory.pages };
                    let gained = self.memory.free() - began;
                    if gained + self.victim_bound < self.memory.pages {
                        return Some(format!("a pass gained {gained} pages"));
                    }
                }
            }
            return None;
        }
        if self.memory.free() <= self.memory.pages {
            let block = self.memory.victim();
            let copies = self.memory.blocks[block].valid.clone();
            let broken = copies.len() > self.victim_bound;
            let broken = broken.then(|| format!("a victim of {} pages, {} at most", copies.len(), self.victim_bound));
            self.pass = Some(Pass { block, copies, read: false, began: self.memory.free() });
            self.passes += 1;
            return broken;
        }
        let page = self.memory.overwritten(self.addresses, self.rng);
        if !self.memory.program(page) {
            return Some("no room for a page".into());
        }
        self.begin(write);
        self.writes[0].pages -= 1;
        if self.writes[0].pages == 0 { self.over("write", false) } else { None }
    }

    /// The first request of a queue is done.
    fn over(&mut self, kind: &str, reads: bool) -> Broken {
        let done = if reads { self.reads.pop_front()? } else { self.writes.pop_front()? };
        let least = &mut self.least[usize::from(!reads)];
        *least = (*least).min(i128::from(done.deadline) - i128::from(self.now));
        late(kind, done, self.now)
    }

    /// Runs to the end of all releases; the first that is broken.
    fn run(&mut self) -> Broken {
        loop {
            self.admit();
            if self.reads.is_empty() && self.writes.is_empty() {
                // Reads that wait for an operation which never comes do not come.
                self.now = self.sources.iter().filter_map(|source| source.comes).min()?;
                continue;
            }
            let broken = self.step();
            let overdue = self.reads.iter().chain(&self.writes).find(|waiting| waiting.deadline < self.now);
            let overdue = overdue.map(|waiting| format!("due {}, not done at {}", waiting.deadline, self.now));
            if let Some(broken) = broken.or(overdue) {
                return Some(broken);
            }
        }
    }
}

fn late(kind: &str, done: Waiting, now: u64) -> Broken {
    (now > done.deadline).then(|| format!("{kind} of {}: due {}, done {now}", done.released, done.deadline))
}

/// A device and requests whose periods are stretched until the test accepts: (pages, period in
/// thousandths, writes).
struct Drawn {
    device: Device,
    requests: Vec<(u64, u64, bool)>,
}

fn draw(rng: &mut Rng) -> Option<Drawn> {
    let ns = |time| Span::from_ns(time).expect("short");
    let few = |number| u32::try_from(number).expect("few");
    let device = Device::new(DeviceSpec {
        chips: 1,
        chips_per_channel: 1,
        blocks_per_chip: few(rng.from(3, 9)),
        pages_per_block: few(rng.from(2, 9)),
        page_size: 4096,
        logical_ratio: LogicalRatio::from_decimal(rng.from(20, 85).into(), 2).ok()?,
        page_read: ns(rng.from(1, 20)),
        page_program: ns(rng.from(5, 60)),
        block_erase: ns(rng.from(20, 400)),
        page_transfer: ns(1),
        shortest: Shortest::default(),
        erase_cycles: None,
        command: None,
        page_registers: None,
        spare_blocks: None,
        program_failures: None,
        wear_gap: None,
        wear_passes: None,
        erase_suspend: None,
        erase_resume: None,
        page_read_includes_transfer: None,
        page_program_includes_transfer: None,
    })
    .ok()
    .filter(|device| device.logical_pages() > 0)?;
    let requests = (0..rng.from(1, 4)).map(|_| (rng.from(1, 9), rng.from(200, 1_000), rng.from(0, 1) == 0)).collect();
    Some(Drawn { device, requests })
}

fn set(drawn: &Drawn, stretched: u64) -> Option<TaskSet> {
    let task = |(at, &(pages, share, writes)): (usize, &(u64, u64, bool))| {
        let request = Request::new(pages, Span::from_ns((share * stretched / 1_000).max(1))?);
        let (read, write) = if writes { (None, request) } else { (request, None) };
        Some(Task { name: format!("t{at}"), read, write, data_pages: None })
    };
    TaskSet::new(drawn.device, drawn.requests.iter().enumerate().map(task).collect::<Option<_>>()?, vec![]).ok()
}

/// The set at its limit: it is accepted, and with periods a bit shorter it is not.
fn at_limit(test: &Stock, drawn: &Drawn) -> Option<TaskSet> {
    let accepts = |stretched| {
        let set = set(drawn, stretched)?;
        let tasks: Vec<TaskId> = set.tasks().ids().collect();
        Some(test_cluster(&set, test as &dyn Analysis, &tasks, 1))
    };
    let (mut no, mut yes) = (0, 1 << 20);
    if !accepts(yes)? {
        return None;
    }
    while no + 1 < yes {
        let middle = u64::midpoint(no, yes);
        if accepts(middle)? { yes = middle } else { no = middle }
    }
    set(drawn, yes)
}

/// What a set breaks on a drive, under random adversaries; `None` where nothing, with the passes.
fn judged(test: &Stock, set: &TaskSet, rng: &mut Rng) -> (Broken, u32) {
    let (coming, addresses) = adversary(rng);
    let sources = sources(set, coming, rng);
    let mut drive = drive(test, set, (sources, coming, addresses), rng);
    let broken = drive.run();
    (broken, drive.passes)
}

/// How requests come, and what is overwritten, by chance.
fn adversary(rng: &mut Rng) -> (Coming, Addresses) {
    let coming = [Coming::Together, Coming::Apart, Coming::Seldom, Coming::BehindOperations][rng.index(4)];
    (coming, [Addresses::Random, Addresses::Sequential, Addresses::Levelled][rng.index(3)])
}

fn sources(set: &TaskSet, coming: Coming, rng: &mut Rng) -> Vec<Source> {
    let source = |(request, writes): (Request, bool)| {
        let period = request.period().as_ns();
        let first = if coming == Coming::Apart { rng.from(0, period) } else { 0 };
        let held = coming == Coming::BehindOperations && !writes;
        let (pages, comes) = (request.pages(), (!held).then_some(first));
        Source { pages, period, writes, may: 0, comes, releases: 0, gaps: Vec::new() }
    };
    set.tasks().iter().flat_map(|task| task.requests()).map(source).collect()
}

/// A drive before its first request.
fn drive<'a>(
    test: &Stock,
    set: &TaskSet,
    (sources, coming, addresses): (Vec<Source>, Coming, Addresses),
    rng: &'a mut Rng,
) -> Drive<'a> {
    let device = set.device();
    let blocks = usize::try_from(device.blocks_per_chip()).expect("few");
    let pages = usize::try_from(device.pages_per_block()).expect("few");
    let data = usize::try_from(device.logical_pages()).expect("few");
    let bound = test.victim_pages(device, 1).and_then(|bound| usize::try_from(bound).ok()).unwrap_or(pages);
    Drive {
        times: [device.page_read(), device.page_program(), device.block_erase()].map(Span::as_ns),
        memory: Memory::aged(blocks, pages, data),
        sources,
        reads: VecDeque::new(),
        writes: VecDeque::new(),
        pass: None,
        now: 0,
        coming,
        addresses,
        victim_bound: bound,
        passes: 0,
        least: [i128::MAX; 2],
        began: Vec::new(),
        rng,
    }
}

/// When requests come, as a climber has it: of each stream the first release, the gaps behind its
/// releases, and its pages, no more than the set says.
#[derive(Debug, Clone)]
struct Told {
    streams: Vec<(u64, Vec<u64>, u64)>,
    addresses: Addresses,
    seed: u64,
}

/// What a climber's run came to.
struct ToldRun {
    broken: Broken,
    /// The time left at the deadline of a read, and of a write, that came nearest.
    least: [i128; 2],
    /// When operations of writers began.
    began: Vec<u64>,
}

impl Told {
    /// By chance.
    fn random(set: &TaskSet, rng: &mut Rng) -> Told {
        let mut stream = |(request, _): (Request, bool)| {
            let period = request.period().as_ns();
            let mut gap = || if rng.index(2) == 0 { 0 } else { rng.from(0, period) };
            let (first, gaps) = (gap(), (1..RELEASES).map(|_| gap()).collect());
            (first, gaps, if rng.index(2) == 0 { request.pages() } else { rng.from(1, request.pages()) })
        };
        let streams = set.tasks().iter().flat_map(|task| task.requests()).map(&mut stream).collect();
        let addresses = [Addresses::Random, Addresses::Sequential, Addresses::Levelled][rng.index(3)];
        Told { streams, addresses, seed: rng.from(0, u64::MAX - 1) }
    }

    /// The same with releases, a gap, lengths or the addresses moved.
    fn moved(&self, set: &TaskSet, began: &[u64], rng: &mut Rng) -> Told {
        let mut told = self.clone();
        let requests: Vec<(Request, bool)> = set.tasks().iter().flat_map(|task| task.requests()).collect();
        let at = rng.index(requests.len());
        let (request, _) = requests[at];
        let period = request.period().as_ns();
        match rng.index(8) {
            // Reads, or all, together, just behind the begin of an operation.
            0..=2 if !began.is_empty() => {
                let (wanted, all) = (began[rng.index(began.len())] + rng.from(0, 1), rng.index(2) == 0);
                for ((request, writes), stream) in requests.iter().zip(&mut told.streams) {
                    if all || !writes {
                        release_at(stream, request.period().as_ns(), wanted);
                    }
                }
            }
            0..=4 => {
                let (first, gaps, _) = &mut told.streams[at];
                let release = rng.index(gaps.len() + 1);
                let gap = if release == 0 { first } else { &mut gaps[release - 1] };
                *gap = match rng.index(4) {
                    0 => rng.from(0, period),
                    1 => 0,
                    2 => (*gap + 1 + rng.from(0, period / 16)).min(period),
                    _ => gap.saturating_sub(1 + rng.from(0, period / 16)),
                };
            }
            5 => told.streams[at].1.iter_mut().for_each(|gap| *gap = 0),
            6 if rng.index(4) > 0 => {
                told.streams.iter_mut().zip(&requests).for_each(|(stream, (request, _))| stream.2 = request.pages());
            }
            6 => told.streams[at].2 = rng.from(1, request.pages()),
            _ => {
                told.addresses = [Addresses::Random, Addresses::Sequential, Addresses::Levelled][rng.index(3)];
                told.seed = rng.from(0, u64::MAX - 1);
            }
        }
        told
    }

    fn run(&self, set: &TaskSet) -> ToldRun {
        let requests = set.tasks().iter().flat_map(|task| task.requests()).zip(&self.streams);
        let source = |((request, writes), (first, gaps, pages)): ((Request, bool), &(u64, Vec<u64>, u64))| Source {
            pages: *pages,
            period: request.period().as_ns(),
            writes,
            may: 0,
            comes: Some(*first),
            releases: 0,
            gaps: gaps.clone(),
        };
        let sources = requests.map(source).collect();
        let mut rng = Rng(Stream::numbered(self.seed, b"stock\0\0\0", 0));
        let mut drive = drive(&Stock::WHOLE, set, (sources, Coming::Told, self.addresses), &mut rng);
        let broken = drive.run();
        ToldRun { broken, least: drive.least, began: drive.began }
    }
}

/// Moves the last release of a stream that may come by then to an instant.
fn release_at((first, gaps, _): &mut (u64, Vec<u64>, u64), period: u64, wanted: u64) {
    let mut may = 0;
    for release in 0..=gaps.len() {
        let gap = if release == 0 { &mut *first } else { &mut gaps[release - 1] };
        let next = may + *gap + period;
        if next > wanted || release == GAPS {
            *gap = wanted.saturating_sub(may);
            return;
        }
        may = next;
    }
}

/// Gaps of a stream.
const GAPS: usize = RELEASES as usize - 1;

/// Runs of a set.
const RUNS_OF_A_SET: u32 = 64;

/// What a climber towards late ends finds broken: of reads, and then of writes.
fn climbed(set: &TaskSet, rng: &mut Rng) -> Broken {
    [0, 1].into_iter().find_map(|watched| climbed_towards(watched, set, rng))
}

fn climbed_towards(watched: usize, set: &TaskSet, rng: &mut Rng) -> Broken {
    let mut best = Told { addresses: Addresses::Levelled, ..Told::random(set, rng) };
    let mut run = best.run(set);
    for _ in 1..RUNS_OF_A_SET / 2 {
        if run.broken.is_some() {
            break;
        }
        let next = best.moved(set, &run.began, rng);
        let then = next.run(set);
        if then.broken.is_some() || then.least[watched] <= run.least[watched] {
            (best, run) = (next, then);
        }
    }
    run.broken
}

/// What as many runs by chance find broken.
fn by_chance(set: &TaskSet, rng: &mut Rng) -> Broken {
    (0..RUNS_OF_A_SET).find_map(|_| Told::random(set, rng).run(set).broken)
}

/// Accepted sets at their limits, releases, gaps and lengths climbed: none is late.
#[test]
fn nothing_is_late_for_a_climber() {
    let (mut rng, mut sets, most) = (Rng(Stream::new([47; 32])), 0, cases(1_500_u32));
    while sets < most {
        let Some(drawn) = draw(&mut rng) else { continue };
        let Some(set) = at_limit(&Stock::WHOLE, &drawn) else { continue };
        assert_eq!(climbed(&set, &mut rng), None, "{set:?}");
        sets += 1;
    }
}

/// Of so many sets that are accepted without a term, in how many a search finds a late request.
fn late_sets(term: StockTerm, sets: u32, search: fn(&TaskSet, &mut Rng) -> Broken) -> u32 {
    let (test, mut rng) = (Stock::leaving_out(term), Rng(Stream::new([53; 32])));
    let (mut seen, mut late) = (0, 0);
    while seen < sets {
        // The same sets, however many numbers a search has drawn.
        let mut own = Rng(Stream::new([u8::try_from(seen % 251).expect("few"); 32]));
        let Some(drawn) = draw(&mut rng) else { continue };
        let Some(set) = at_limit(&test, &drawn) else { continue };
        seen += 1;
        late += u32::from(search(&set, &mut own).is_some_and(|found| found.contains("due")));
    }
    late
}

/// A climber finds what each term is for, and in more sets than as many runs by chance.
#[test]
fn a_climber_finds_what_each_term_is_for() {
    let mut found = [0; 2];
    for term in StockTerm::ALL {
        let late = [by_chance, climbed].map(|search| late_sets(term, cases(300), search));
        println!("{term:?}: {late:?}");
        assert!(late[1] > 0, "{term:?}: {late:?}");
        found = [found[0] + late[0], found[1] + late[1]];
    }
    assert!(found[1] > found[0], "{found:?}");
}

/// Accepted sets at their limits: none is late, and nothing else is broken.
#[test]
fn nothing_is_late_at_the_limit() {
    let (mut rng, mut sets, mut passes) = (Rng(Stream::new([41; 32])), 0, 0u64);
    while sets < 50_000 {
        let Some(drawn) = draw(&mut rng) else { continue };
        let Some(set) = at_limit(&Stock::WHOLE, &drawn) else { continue };
        let (broken, collected) = judged(&Stock::WHOLE, &set, &mut rng);
        assert_eq!(broken, None, "{set:?}");
        sets += 1;
        passes += u64::from(collected);
    }
    assert!(passes > 500_000, "{passes}");
}

/// Without any one of its terms the test accepts sets that are late, or break a bound.
#[test]
fn each_term_is_needed() {
    for term in StockTerm::ALL {
        let (test, mut rng) = (Stock::leaving_out(term), Rng(Stream::new([43; 32])));
        let (mut sets, mut late, mut broken) = (0, 0, 0);
        while sets < 2_000 {
            let Some(drawn) = draw(&mut rng) else { continue };
            let Some(set) = at_limit(&test, &drawn) else { continue };
            sets += 1;
            let (found, _) = judged(&Stock::WHOLE, &set, &mut rng);
            late += u32::from(found.as_ref().is_some_and(|found| found.contains("due")));
            broken += u32::from(found.is_some());
        }
        assert!(late > 0, "{term:?}: {late} late, {broken} broken of {sets}");
    }
}
