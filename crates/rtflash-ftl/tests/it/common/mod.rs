//! A NAND device that believes nothing, and events as bytes say: whatever comes, the state machine
//! does only what a device allows, and loses no page.

#![allow(dead_code)] // Each test file uses its own part of this.

use std::collections::{HashMap, HashSet};

use rtflash_ftl::image::ImageOrganisation;
use rtflash_ftl::image::{
    ClusterParts, Image, ImageCollection, ImageDevice, ImageJobs, ImageParts, ImageRing, ImageServer, ImageSource,
};
use rtflash_ftl::{
    AllErased, FlashPage, Ftl, FtlMemory, Geometry, NandChips, OperationPurpose, PassOutcome, RequestHost,
    RequestOrder, SpareBytes,
};

/// So many cases; under Miri, which is some thousand times slower, few.
pub const fn cases(count: u64, under_miri: u64) -> u64 {
    if cfg!(miri) { under_miri } else { count }
}

/// The numbers that bytes hold, one after another; zeros behind them.
pub struct Words<'b>(pub &'b [u8]);

impl Words<'_> {
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        let word = u32::from(self.byte()) | u32::from(self.byte()) << 8;
        word % bound.max(1)
    }
}

/// A page of a chip of a cluster's data: which cluster, and which logical page.
type Held = (u32, u32);

/// The work of a chip.
#[derive(Debug, Clone, Copy)]
pub enum Doing {
    Read,
    /// The page, and what it is to hold, if that is for a superblock's garbage collection.
    Program(FlashPage, Option<Held>),
    Erase(u32),
}

/// The work that is over in a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InRegister {
    Sensed,
    Moved,
}

/// The registers of chips that use two: pages in arrays, and whether they have been sensed; pages
/// on their way out, and whether they are on the bus; and pages that are to be programmed, and
/// whether they are there.
#[derive(Debug)]
pub struct Registers<L> {
    sensed: HashMap<u32, bool>,
    sent: HashMap<u32, bool>,
    loaded: HashMap<u32, (L, bool)>,
}

impl<L> Default for Registers<L> {
    fn default() -> Registers<L> {
        Registers { sensed: HashMap::new(), sent: HashMap::new(), loaded: HashMap::new() }
    }
}

impl<L> Registers<L> {
    pub fn sense(&mut self, chip: u32) {
        assert!(!self.loaded.contains_key(&chip), "chip {chip}: no page is committed");
        assert!(self.sensed.insert(chip, false).is_none(), "chip {chip}: its array is idle");
    }

    pub fn send(&mut self, chip: u32) {
        assert_eq!(self.sensed.remove(&chip), Some(true), "chip {chip}: a page has been sensed");
        let is_full = self.loaded.contains_key(&chip) || self.sent.insert(chip, false).is_some();
        assert!(!is_full, "chip {chip}: its cache register is empty");
    }

    pub fn load(&mut self, chip: u32, page: L) {
        assert!(!self.sensed.contains_key(&chip), "chip {chip}: its array is idle or programs");
        let is_full = self.sent.contains_key(&chip) || self.loaded.insert(chip, (page, false)).is_some();
        assert!(!is_full, "chip {chip}: its cache register is empty");
    }

    /// The page that is programmed from now on.
    pub fn take_loaded(&mut self, chip: u32) -> L {
        let (page, is_there) = self.loaded.remove(&chip).expect("a page is to be programmed");
        assert!(is_there && !self.sensed.contains_key(&chip), "chip {chip}: it is there");
        page
    }

    /// Whether nothing is in the registers of a chip.
    pub fn are_empty(&self, chip: u32) -> bool {
        let is_in = |pages: &HashMap<u32, bool>| pages.contains_key(&chip);
        !is_in(&self.sensed) && !is_in(&self.sent) && !self.loaded.contains_key(&chip)
    }

    /// Whether something there is to end.
    pub fn are_at_work(&self, chip: u32) -> bool {
        let moves = self.sent.contains_key(&chip) || self.loaded.get(&chip).is_some_and(|page| !page.1);
        moves || self.sensed.get(&chip) == Some(&false)
    }

    /// Something ends there. `array`: in the array, where there is a choice.
    pub fn ends(&mut self, chip: u32, array: bool) -> InRegister {
        let moves = self.sent.contains_key(&chip) || self.loaded.get(&chip).is_some_and(|page| !page.1);
        let senses = self.sensed.get(&chip) == Some(&false);
        if senses && (array || !moves) {
            self.sensed.insert(chip, true);
            return InRegister::Sensed;
        }
        if self.sent.remove(&chip).is_none() {
            self.loaded.get_mut(&chip).expect("something is to end").1 = true;
        }
        InRegister::Moved
    }

    /// A page of a chip is on the bus from now on: whether that is news.
    pub fn is_granted(&mut self, chip: u32) -> bool {
        self.sent.get_mut(&chip).is_some_and(|granted| !std::mem::replace(granted, true))
    }

    /// Power is lost.
    pub fn clear(&mut self) {
        *self = Registers::default();
    }
}

/// The device.
#[derive(Default)]
pub struct Checked {
    /// The registers of chips that use two of them.
    pub registers: Registers<FlashPage>,
    pub cached: u64,
    /// The state of each block: how many of its pages are programmed.
    programmed: HashMap<(u32, u32), u32>,
    /// The content of each page, by chip.
    held: HashMap<(u32, u32, u32), Held>,
    /// The work of each chip.
    pub busy: HashMap<u32, Doing>,
    /// Chips asked to suspend their erase, and the blocks of erases that are suspended.
    pub asked: HashSet<u32>,
    suspended: HashMap<u32, u32>,
    pub suspensions: u64,
    /// Whether wear is levelled, and how often each block was erased.
    levels: bool,
    erases: HashMap<(u32, u32), u32>,
    /// Blocks that have failed.
    bad: HashSet<(u32, u32)>,
    pub failed: u64,
    /// The last version of each logical page, and of each physical one.
    versions: HashMap<Held, u64>,
    written: HashMap<(u32, u32, u32), u64>,
    pages_per_block: u32,
    blocks: u32,
    chips: u32,
    sequence: Option<u64>,
    /// Whose chip it is.
    clusters: HashMap<u32, u32>,
    /// The last that a request wrote.
    next_version: u64,
    /// Read for garbage collection, and not programmed.
    buffered: HashMap<Held, u64>,
    pub operations: u64,
    /// The passes of garbage collection.
    pub collected: u64,
    /// Read for it, and overwritten before they were programmed.
    pub dropped: u64,
}

impl Checked {
    pub fn new(image: &Image<'_>) -> Checked {
        let device = image.device();
        let mut clusters = HashMap::new();
        for number in 0..image.clusters() {
            let of = image.cluster(number).expect("a cluster");
            clusters.extend((0..of.chips()).map(|place| (of.chip(place).expect("a chip"), number)));
        }
        Checked {
            pages_per_block: device.pages_per_block,
            blocks: device.blocks_per_chip,
            chips: device.chips,
            levels: device.wear_gap > 0,
            clusters,
            ..Checked::default()
        }
    }

    fn begins(&mut self, chip: u32, doing: Doing) -> u32 {
        assert!(chip < self.chips && self.busy.insert(chip, doing).is_none(), "chip {chip} is idle");
        assert!(self.registers.are_empty(chip), "chip {chip}: a pass begins with empty registers");
        self.operations += 1;
        self.clusters[&chip]
    }

    /// The work of a chip is over. Says whether there was anything.
    pub fn ends(&mut self, chip: u32) -> bool {
        self.asked.remove(&chip);
        self.busy.remove(&chip).is_some()
    }

    /// The erase of a chip is suspended, if it was asked to be.
    pub fn suspends(&mut self, chip: u32) -> bool {
        if !self.asked.remove(&chip) {
            return false;
        }
        let Some(Doing::Erase(block)) = self.busy.remove(&chip) else { panic!("chip {chip} erases") };
        assert!(self.suspended.insert(chip, block).is_none());
        self.suspensions += 1;
        true
    }

    /// Pages of a cluster hold nothing from now on: nobody reads or copies them.
    pub fn trimmed(&mut self, cluster: u32, pages: &[u32]) {
        for &lpn in pages {
            self.versions.remove(&(cluster, lpn));
        }
    }

    /// The work of a chip fails, if that is allowed: the block is bad. Says whether it was so.
    pub fn fails(&mut self, chip: u32) -> bool {
        let block = match self.busy.get(&chip) {
            Some(&Doing::Program(at, buffered)) => {
                let place = (chip, at.block, at.page);
                self.held.remove(&place);
                let version = self.written.remove(&place).expect("it was programmed");
                if let Some(held) = buffered {
                    self.buffered.insert(held, version);
                }
                at.block
            }
            Some(&Doing::Erase(block)) => block,
            _ => return false,
        };
        self.bad.insert((chip, block));
        self.failed += 1;
        true
    }

    fn programs(&mut self, chip: u32, at: FlashPage, spare: SpareBytes, version: u64) {
        assert!(at.block < self.blocks && !self.bad.contains(&(chip, at.block)));
        assert_ne!(self.suspended.get(&chip), Some(&at.block), "its erase is not over");
        let erases = self.erases.get(&(chip, at.block)).copied().filter(|_| self.levels);
        assert_eq!(spare.erases, erases.unwrap_or(0), "chip {chip}, {at:?}");
        let next = self.programmed.entry((chip, at.block)).or_insert(0);
        assert!(at.page == *next && at.page < self.pages_per_block, "pages of a block in order, each once");
        *next += 1;
        assert!(self.sequence.is_none_or(|before| before < spare.sequence), "sequence numbers ascend");
        self.sequence = Some(spare.sequence);
        assert_eq!(spare.cluster, self.clusters[&chip]);
        self.held.insert((chip, at.block, at.page), (spare.cluster, spare.lpn));
        self.written.insert((chip, at.block, at.page), version);
    }
}

impl NandChips for Checked {
    fn read(&mut self, chip: u32, at: FlashPage, lpn: u32, purpose: OperationPurpose) {
        let cluster = self.begins(chip, Doing::Read);
        let place = (chip, at.block, at.page);
        assert_eq!(self.held.get(&place), Some(&(cluster, lpn)), "a page holds what is read");
        let version = self.written[&place];
        assert_eq!(version, self.versions[&(cluster, lpn)], "what is read is what was written last");
        if purpose == OperationPurpose::Collection {
            self.buffered.insert((cluster, lpn), version);
        }
    }

    fn program(&mut self, chip: u32, at: FlashPage, spare: SpareBytes, purpose: OperationPurpose) {
        let buffered = (purpose == OperationPurpose::Collection).then(|| (self.clusters[&chip], spare.lpn));
        let cluster = self.begins(chip, Doing::Program(at, buffered));
        let version = match purpose {
            OperationPurpose::Collection => self.buffered.remove(&(cluster, spare.lpn)).expect("it was read before"),
            OperationPurpose::Request { .. } => {
                self.next_version += 1;
                self.dropped += u64::from(self.buffered.remove(&(cluster, spare.lpn)).is_some());
                self.versions.insert((cluster, spare.lpn), self.next_version);
                self.next_version
            }
        };
        assert_eq!(version, self.versions[&(cluster, spare.lpn)], "no old page takes the place of a new one");
        self.programs(chip, at, spare, version);
    }

    fn copyback(&mut self, chip: u32, from: FlashPage, to: FlashPage, spare: SpareBytes) {
        let cluster = self.begins(chip, Doing::Program(to, None));
        let place = (chip, from.block, from.page);
        assert_eq!(self.held.get(&place), Some(&(cluster, spare.lpn)), "a page holds what is copied");
        let version = self.written[&place];
        assert_eq!(version, self.versions[&(cluster, spare.lpn)], "what is copied is what was written last");
        self.programs(chip, to, spare, version);
    }

    fn erase(&mut self, chip: u32, block: u32, purpose: OperationPurpose) {
        self.begins(chip, Doing::Erase(block));
        assert!(!self.bad.contains(&(chip, block)));
        assert!(!self.suspended.contains_key(&chip), "a chip has one erase at a time");
        // Resets of zones are not counted.
        *self.erases.entry((chip, block)).or_default() += u32::from(purpose == OperationPurpose::Collection);
        self.collected += u64::from(purpose == OperationPurpose::Collection);
        assert!(block < self.blocks);
        for page in 0..self.pages_per_block {
            self.held.remove(&(chip, block, page));
        }
        self.programmed.insert((chip, block), 0);
    }

    fn suspend(&mut self, chip: u32) {
        assert!(matches!(self.busy.get(&chip), Some(Doing::Erase(_))), "chip {chip} erases");
        assert!(self.asked.insert(chip), "it is asked once");
    }

    fn resume(&mut self, chip: u32, block: u32) {
        assert_eq!(self.suspended.remove(&chip), Some(block));
        self.begins(chip, Doing::Erase(block));
    }

    fn sense(&mut self, chip: u32, at: FlashPage, lpn: u32, _: OperationPurpose, with: Option<u32>) {
        assert!(!self.busy.contains_key(&chip) && with != Some(self.chips), "chip {chip} is idle");
        self.registers.sense(chip);
        (self.operations, self.cached) = (self.operations + 1, self.cached + 1);
        let (place, page) = ((chip, at.block, at.page), (self.clusters[&chip], lpn));
        assert_eq!(self.held.get(&place), Some(&page), "a page holds what is read");
        assert_eq!(self.written[&place], self.versions[&page], "what is read is what was written last");
    }

    fn send(&mut self, chip: u32) {
        self.registers.send(chip);
    }

    fn load(&mut self, chip: u32, at: FlashPage, spare: SpareBytes, _: OperationPurpose) {
        self.registers.load(chip, at);
        (self.operations, self.cached) = (self.operations + 1, self.cached + 1);
        self.next_version += 1;
        let page = (spare.cluster, spare.lpn);
        self.dropped += u64::from(self.buffered.remove(&page).is_some());
        self.versions.insert(page, self.next_version);
        self.programs(chip, at, spare, self.next_version);
    }

    fn program_loaded(&mut self, chip: u32) {
        let at = self.registers.take_loaded(chip);
        assert!(self.busy.insert(chip, Doing::Program(at, None)).is_none(), "chip {chip} is idle");
    }
}

/// The host: counts.
#[derive(Debug, Default)]
pub struct Counts {
    pub over: u64,
    pub starved: u64,
    /// Retired blocks of which pages were moved.
    pub moved: u64,
    pub levelled: u64,
    /// The passes of jobs' servers.
    pub server_passes: u64,
}

impl RequestHost for Counts {
    fn complete(&mut self, _: u32, _: u64, _: u64) {
        self.over += 1;
    }

    fn starved(&mut self, _: u32) {
        self.starved += 1;
    }

    fn pass(&mut self, _: u32, server: Option<u32>, _: u64, outcome: PassOutcome) {
        match outcome {
            PassOutcome::Selected(_) => self.server_passes += u64::from(server.is_some()),
            PassOutcome::Moving(of) => {
                assert!(of.valid > 0);
                self.moved += 1;
            }
            PassOutcome::Levelling(of) => {
                assert!(of.valid > 0);
                self.levelled += 1;
            }
            PassOutcome::LeftOut(_) => {}
        }
    }
}

/// The outcome of events.
#[derive(Debug, Default)]
pub struct Ran {
    pub taken: u64,
    pub jobs: u64,
    pub server_passes: u64,
    pub refused: u64,
    pub over: u64,
    pub starved: u64,
    pub operations: u64,
    pub collected: u64,
    pub dropped: u64,
    pub failed: u64,
    pub moved: u64,
    /// The levelled blocks among them that had not failed: the least worn ones.
    pub levelled: u64,
    pub suspensions: u64,
    pub trimmed: u64,
    /// Operations that two page registers were used for.
    pub cached: u64,
}

/// Runs an image by events that bytes say. `None` where its memory would be more than a few
/// megabytes.
pub fn run(image: &Image<'_>, bytes: &[u8]) -> Option<Ran> {
    let mut words = Words(bytes);
    let late = words.below(4);
    let geometry = Geometry::of(image, late)?;
    let all = geometry.used_chips.checked_mul(geometry.blocks)?.checked_mul(geometry.pages)?;
    let lists = [all, geometry.logical_pages, geometry.request_pages, geometry.parts, geometry.requests];
    if lists.iter().any(|&length| length > 1 << 16) || geometry.gc_jobs > 1 << 16 || geometry.chips > 1 << 10 {
        return None;
    }
    let (mut places, mut bits) = (vec![9; geometry.words()], vec![9; geometry.bits()]);
    let mut gc_jobs = vec![Default::default(); geometry.gc_jobs];
    let mut processors: Vec<_> = (0..geometry.processors).map(|_| None).collect();
    let mut clusters = vec![Default::default(); geometry.clusters];
    let mut sources = vec![Default::default(); geometry.sources];
    let mut requests = vec![Default::default(); geometry.requests];
    let memory = FtlMemory {
        words: &mut places,
        bits: &mut bits,
        gc_jobs: &mut gc_jobs,
        processors: &mut processors,
        clusters: &mut clusters,
        sources: &mut sources,
        requests: &mut requests,
    };
    let mut ftl = Ftl::new(image, late, memory, &mut AllErased).ok()?;
    let (mut nand, mut host, mut ran, mut now) = (Checked::new(image), Counts::default(), Ran::default(), 0u64);
    let device = image.device();
    let may_fail = device.spare_blocks > 0;
    while !words.is_over() {
        match words.byte() % 9 {
            8 if image.job_streams() > 0 => {
                let stream = words.below(image.job_streams() + 1);
                let taken = job(image, stream, words.byte().is_multiple_of(16), &mut words, |reads, writes| {
                    ftl.job(stream, now, reads, writes).is_ok()
                });
                ran.jobs += u64::from(taken);
            }
            0..3 => {
                let source = words.below(image.sources() + 1);
                let of = image.source(source);
                let count = of.map_or(1, |of| words.below(of.pages + 1));
                let first = of.map_or(0, |of| of.first_page.saturating_add(words.below(of.page_count)));
                let wraps = of.map_or(1, |of| of.page_count);
                let start = of.map_or(0, |of| of.first_page);
                let page = |nth: u32| start + (first - start + nth) % wraps;
                let mut pages: Vec<u32> = (0..count).map(page).collect();
                if let (0, Some(last)) = (words.byte() % 32, pages.last_mut()) {
                    *last = last.wrapping_add(words.below(1 << 16)).wrapping_sub(words.below(64));
                }
                let nominal = (words.byte() == 0).then(|| now.saturating_sub(words.below(100).into()));
                match ftl.request(source, nominal, now, &pages) {
                    Ok(_) => ran.taken += 1,
                    Err(_) => ran.refused += 1,
                }
            }
            3..6 => {
                // One that is at work, most times.
                let chip = words.below(device.chips + 1);
                let at_work = (chip..chip + device.chips).map(|chip| chip % device.chips);
                let is_at_work = |chip: &u32| nand.busy.contains_key(chip) || nand.registers.are_at_work(*chip);
                let at_work = at_work.into_iter().find(is_at_work);
                let chip = if words.byte() % 16 > 0 { at_work.unwrap_or(chip) } else { chip };
                assert!(nand.registers.are_at_work(chip) || !ftl.sensed(chip) && !ftl.moved(chip, &mut host));
                if device.command_ns > 0 && !nand.registers.are_empty(chip) && words.byte().is_multiple_of(2) {
                    assert_eq!(ftl.granted(chip), nand.registers.is_granted(chip));
                }
                if nand.registers.are_at_work(chip)
                    && (!nand.busy.contains_key(&chip) || words.byte().is_multiple_of(2))
                {
                    let ended = match nand.registers.ends(chip, words.byte().is_multiple_of(2)) {
                        InRegister::Sensed => ftl.sensed(chip) && !ftl.sensed(chip),
                        InRegister::Moved => ftl.moved(chip, &mut host) && !ftl.moved(chip, &mut host),
                    };
                    assert!(ended, "chip {chip}");
                } else if may_fail && words.byte().is_multiple_of(8) && nand.fails(chip) {
                    assert!(ftl.failed(chip, &mut host) && nand.ends(chip));
                } else if words.byte().is_multiple_of(2) && nand.suspends(chip) {
                    assert!(ftl.suspended(chip, &mut host) && !ftl.suspended(chip, &mut host));
                } else {
                    assert!(nand.asked.contains(&chip) || !ftl.suspended(chip, &mut host), "it was not asked");
                    assert_eq!(ftl.ended(chip, &mut host), nand.ends(chip));
                }
            }
            6 => {
                let source = words.below(image.sources() + 1);
                let of = image.source(source);
                let count = of.map_or(1, |of| words.below(of.page_count.min(9)));
                let first = of.map_or(0, |of| of.first_page);
                let beyond = u32::from(words.byte().is_multiple_of(16));
                let pages: Vec<u32> =
                    (0..count).map(|_| first + words.below(of.map_or(1, |of| of.page_count) + beyond)).collect();
                if ftl.trim(source, &pages).is_ok() {
                    // Streams of jobs come behind the sources.
                    let jobs = || image.job_stream(source - image.sources()).expect("a stream").cluster;
                    let cluster = of.map_or_else(jobs, |of| of.cluster);
                    // Those that were programmed last are kept.
                    let trimmed: Vec<u32> =
                        pages.into_iter().filter(|&page| ftl.locate(cluster, page).is_none()).collect();
                    nand.trimmed(cluster, &trimmed);
                    ran.trimmed += trimmed.len() as u64;
                }
            }
            _ => now = now.saturating_add(u64::from(words.below(1 << 10)) << (words.byte() % 2)),
        }
        if words.byte() % 8 > 0 {
            ftl.dispatch(&mut nand, &mut host);
        } else {
            ftl.carry_on(&mut nand);
        }
    }
    ran.cached = nand.cached;
    (ran.over, ran.starved, ran.operations) = (host.over, host.starved, nand.operations);
    (ran.collected, ran.dropped, ran.failed) = (nand.collected, nand.dropped, nand.failed);
    ran.server_passes = host.server_passes;
    (ran.moved, ran.levelled, ran.suspensions) = (host.moved, host.levelled, nand.suspensions);
    Some(ran)
}

/// A job of a stream: pages that it reads and writes, one of them beyond its own perhaps.
pub fn job(
    image: &Image<'_>,
    stream: u32,
    beyond: bool,
    words: &mut Words<'_>,
    then: impl FnOnce(&[u32], &[u32]) -> bool,
) -> bool {
    let of = image.job_stream(stream);
    let (first, count) = of.map_or((0, 1), |of| (of.first_page, of.page_count));
    let pages = words.below(of.map_or(2, |of| of.pages + 1));
    let reads = words.below(pages + 1);
    let mut page = |_: u32| first + words.below(count + u32::from(beyond));
    let (reads, writes): (Vec<u32>, Vec<u32>) =
        ((0..reads).map(&mut page).collect(), (reads..pages).map(&mut page).collect());
    then(&reads, &writes)
}

/// The parts of a cluster in a small image.
struct SmallCluster {
    organisation: ImageOrganisation,
    chips: Vec<u32>,
    logical: u32,
    collection: Option<ImageCollection>,
    server: Option<ImageServer>,
    rings: Vec<ImageRing>,
    suspends_erases: bool,
    backfills: bool,
    cached: bool,
    /// Rows of the ranges of its sources: all, or one of two halves.
    rows: u32,
}

impl SmallCluster {
    /// A cluster of some chips from `first` on.
    fn drawn(first: u32, device: &ImageDevice, words: &mut Words<'_>) -> SmallCluster {
        let ImageDevice { blocks_per_chip: blocks, pages_per_block: pages, spare_blocks, .. } = *device;
        let width = 1 + words.below(4);
        let organisation = [ImageOrganisation::Stripe, ImageOrganisation::Zoned, ImageOrganisation::Superblock]
            [words.below(3) as usize];
        let wide = if organisation == ImageOrganisation::Superblock { width } else { 1 };
        let zoned = organisation == ImageOrganisation::Zoned;
        let left = blocks.saturating_sub(spare_blocks * wide) * pages;
        let owned = blocks - spare_blocks;
        let logical = if zoned { owned * pages } else { 1 + words.below((left * 3 / 4).max(1)) };
        let collection = (!zoned && !words.byte().is_multiple_of(8)).then(|| {
            let victim = words.below(pages * wide);
            let reserve = words.below(left.saturating_sub(logical) * wide + 1);
            let most = if device.wear_gap > 0 { reserve.min(pages * wide - victim - 1) } else { 0 };
            let wear = if most > 0 { words.below(most + 1) } else { 0 };
            ImageCollection {
                deadline_ns: (!words.byte().is_multiple_of(8)).then(|| 1 + u64::from(words.below(1_000))),
                reclaimed_pages: u64::from(pages * wide - victim - wear),
                reserve_pages: reserve.into(),
                victim_pages: victim.into(),
                wear_pages: wear.into(),
            }
        });
        let zone = pages * width;
        let kept_less = if zoned { words.below(3) * words.below(pages + 1) } else { 0 };
        let ring = |(from, to): (u32, u32), writes: bool| ImageRing {
            first_block: from,
            blocks: to - from,
            first_page: from * zone,
            // Some keep less than they could, in whole rows.
            page_count: ((to - from - u32::from(writes)) * zone).saturating_sub(kept_less * width).max(width),
            writes,
        };
        // Some clusters have a last block that is in no ring.
        let end = if owned > 4 && pages.is_multiple_of(2) { owned - 1 } else { owned };
        let first_ring = if zoned && owned > 3 && words.byte().is_multiple_of(2) { 2 } else { end };
        let rings = match zoned {
            false => vec![],
            true if first_ring == end => vec![ring((0, end), true)],
            true => vec![ring((0, first_ring), true), ring((first_ring, end), words.byte().is_multiple_of(2))],
        };
        let drawn = words.byte();
        let rows = if drawn.is_multiple_of(2) { logical } else { (logical / 2).max(1) };
        let backfills = organisation == ImageOrganisation::Superblock && drawn & 2 != 0;
        let suspends_erases = !zoned && device.erase_suspend_ns > 0 && !words.byte().is_multiple_of(4);
        let other = zoned || suspends_erases || backfills || spare_blocks > 0 || device.wear_gap > 0;
        let cached = !other && drawn & 4 != 0;
        let served = collection.is_some() && !suspends_erases && words.byte().is_multiple_of(2);
        let server = served.then(|| ImageServer {
            thousandths: 1 + words.below(1_000),
            read_ns: 10,
            program_ns: 30,
            pass_ns: 100,
            turn_ns: 8,
        });
        let chips = (first..first + width).collect();
        SmallCluster {
            organisation,
            chips,
            logical,
            collection,
            server,
            rings,
            suspends_erases,
            backfills,
            cached,
            rows,
        }
    }

    /// A source of it.
    fn source(&self, (number, cluster): (u32, u32), words: &mut Words<'_>) -> ImageSource {
        let width = u32::try_from(self.chips.len()).expect("few chips");
        let writes = words.byte().is_multiple_of(2) && (self.collection.is_some() || !self.rings.is_empty());
        let order = [RequestOrder::Any, RequestOrder::Consecutive, RequestOrder::Stream][words.below(3) as usize];
        let rows = self.rows;
        let range = match self.rings.get(words.below(2) as usize).or(self.rings.first()) {
            Some(ring) => (ring.first_page, ring.page_count),
            None if number % 2 == 1 && 2 * rows <= self.logical => (rows * width, rows * width),
            None => (0, rows * width),
        };
        let period = 1 + words.below(400);
        // Some wait in a buffer of several.
        let longest = period * [1, 1, 1, 4][words.below(4) as usize];
        let deadline = 1 + words.below(longest);
        ImageSource {
            number,
            cluster,
            writes,
            order: match self.organisation {
                ImageOrganisation::Zoned if writes => RequestOrder::Round,
                ImageOrganisation::Superblock => RequestOrder::Any,
                _ => order,
            },
            pages: 1 + words.below(9),
            first_page: range.0,
            page_count: range.1,
            period_ns: period.into(),
            deadline_ns: deadline.into(),
            jitter_ns: words.below(deadline.min(period).min(100)).into(),
        }
    }
}

/// A small image as bytes say: most are sound.
pub fn small_image(words: &mut Words<'_>) -> Vec<u8> {
    let (blocks, pages) = (3 + words.below(8), 1 + words.below(6));
    let count = 1 + words.below(3);
    let per_channel = 1 + words.below(3);
    // Blocks that may fail.
    let spare_blocks = if words.byte().is_multiple_of(2) { 1 + words.below(2) } else { 0 };
    let blocks = blocks + spare_blocks;
    let wear_gap = if words.byte().is_multiple_of(3) { 1 + words.below(2) } else { 0 };
    let (erase_suspend_ns, erase_resume_ns) = if words.byte().is_multiple_of(3) { (9, 2) } else { (0, 0) };
    let mut device = ImageDevice {
        chips: 0,
        chips_per_channel: per_channel,
        blocks_per_chip: blocks,
        pages_per_block: pages,
        page_bytes: 4_096,
        spare_blocks,
        wear_gap,
        page_read_ns: 5,
        page_program_ns: 20,
        block_erase_ns: 50,
        page_transfer_ns: 4,
        command_ns: 0,
        erase_suspend_ns,
        erase_resume_ns,
    };
    let mut lists = Vec::new();
    for _ in 0..count {
        let cluster = SmallCluster::drawn(device.chips, &device, words);
        device.chips += u32::try_from(cluster.chips.len()).expect("few chips");
        lists.push(cluster);
    }
    let sources: Vec<ImageSource> = (0..1 + words.below(5))
        .map(|nth| {
            let (number, cluster) = (3 * nth + words.below(2), words.below(count));
            lists[cluster as usize].source((number, cluster), words)
        })
        .collect();
    let mut jobs: Vec<ImageJobs> = Vec::new();
    for (cluster, of) in (0..).zip(&lists).filter(|(_, of)| of.server.is_some()) {
        let all = of.logical * u32::try_from(of.chips.len()).expect("few chips");
        let (number, pages, waiting) = (100 + words.below(2), 1 + words.below(9), 1 + words.below(3));
        let first_page = words.below(all);
        jobs.push(ImageJobs {
            number,
            cluster,
            pages,
            waiting,
            first_page,
            page_count: 1 + words.below(all - first_page),
        });
    }
    jobs.sort_by_key(|of| (of.number, of.cluster));
    let clusters: Vec<ClusterParts<'_>> = lists
        .iter()
        .map(|of| ClusterParts {
            organisation: of.organisation,
            suspends_erases: of.suspends_erases,
            backfills: of.backfills,
            cached: of.cached,
            chips: &of.chips,
            logical_per_chip: of.logical,
            collection: of.collection,
            server: of.server,
            rings: &of.rings,
        })
        .collect();
    let parts = ImageParts { device, clusters: &clusters, sources: &sources, jobs: &jobs };
    let mut bytes = vec![0; parts.encoded_len().expect("a small image")];
    assert_eq!(parts.encode(&mut bytes), Some(bytes.len()));
    bytes
}

/// Gives the bytes a right checksum, and length.
pub fn with_checksum(bytes: &mut [u8]) {
    if bytes.len() < rtflash_ftl::image::HEADER_BYTES {
        return;
    }
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    bytes[12..16].copy_from_slice(&length.to_le_bytes());
    with_crc(bytes);
}

/// Gives the bytes a right checksum.
pub fn with_crc(bytes: &mut [u8]) {
    let all = bytes[..16].iter().chain(&bytes[20..]);
    let crc = all.fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    });
    bytes[16..20].copy_from_slice(&(!crc).to_le_bytes());
}
