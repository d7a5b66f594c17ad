//! Chips that lose power: what was under way is done, not done, or torn.

#![allow(dead_code)] // Each test file uses its own part of this.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use rtflash_ftl::image::{Image, ImageCluster, ImageOrganisation, ImageSource};
use rtflash_ftl::{
    ChipPage, FlashPage, Ftl, FtlMemory, Geometry, NandChips, OperationPurpose, PageState, RecoveryBound,
    RecoveryChips, RequestHost, SetupError, SpareBytes,
};

use crate::common::Registers;
use crate::common::Words;

/// The content of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Content {
    Erased,
    /// It looks erased, and is not: an erase was interrupted.
    Weak,
    Torn,
    /// The spare bytes beside the data, and the version of the data.
    Held(SpareBytes, u64),
}

/// The work of a chip.
#[derive(Debug, Clone, Copy)]
enum UnderWay {
    Read,
    /// Whether it is for a superblock's garbage collection.
    Program(FlashPage, SpareBytes, u64, bool),
    Erase(u32),
}

/// Whose page it is: cluster and logical page.
pub type Page = (u32, u32);

/// A ring of zones on a chip.
#[derive(Debug)]
struct RingOnChip {
    blocks: Range<u32>,
    /// Its first logical page, how many it keeps on each chip, and chips.
    first: u32,
    rows: u64,
    chips: u32,
    /// Pages of it that were taken, and when each logical page was.
    taken: u64,
    last: HashMap<u32, u64>,
    /// When each was taken before that.
    before: HashMap<u32, Option<u64>>,
    /// When pages were taken that cannot be read, or that hold what was programmed before power was
    /// lost.
    wasted: Vec<u64>,
}

impl RingOnChip {
    /// The rings on each chip of a cluster.
    fn all(of: &ImageCluster<'_>, block_pages: u32) -> Vec<(u32, RingOnChip)> {
        let ring = |(place, number): (u32, u32)| {
            let ring = of.ring(number).expect("a ring");
            let blocks = ring.first_block..ring.first_block + ring.blocks;
            let rows = u64::from(ring.page_count / of.chips());
            let (last, before, wasted) = (HashMap::new(), HashMap::new(), Vec::new());
            let spare = u64::from(ring.blocks - 1) * u64::from(block_pages);
            assert!(!ring.writes || rows <= spare, "a block is free");
            let (first, chips) = (ring.first_page, of.chips());
            (of.chip(place).expect("a chip"), RingOnChip { blocks, first, rows, chips, taken: 0, last, before, wasted })
        };
        let places = (0..of.chips()).flat_map(|place| (0..of.rings()).map(move |number| (place, number)));
        places.map(ring).collect()
    }

    fn keeps(&self, lpn: u32) -> bool {
        lpn.checked_sub(self.first).is_some_and(|nth| u64::from(nth / self.chips) < self.rows)
    }

    /// A page is taken for a logical one.
    fn takes(&mut self, lpn: u32) {
        self.taken += 1;
        let before = self.last.insert(lpn, self.taken);
        if before.is_some_and(|before| self.taken - before < self.rows) {
            self.wasted.push(self.taken);
        }
        self.before.insert(lpn, before);
    }

    /// The page that was taken last for a logical one does not hold it: where it was before, it is.
    /// A page that was `torn` is wasted, and otherwise not taken.
    fn takes_back(&mut self, lpn: u32, torn: bool) {
        match self.before.remove(&lpn).flatten() {
            Some(before) => self.last.insert(lpn, before),
            None => self.last.remove(&lpn),
        };
        if torn {
            self.wasted.push(self.taken);
        } else {
            self.taken -= 1;
            self.wasted.retain(|&at| at <= self.taken);
        }
    }

    /// Whether a logical page may be lost: it is one of the oldest, as many as were wasted in a
    /// round beyond what the ring has to spare.
    fn may_lose(&self, lpn: u32, block_pages: u32) -> bool {
        let pages = u64::from(block_pages) * u64::from(self.blocks.end - self.blocks.start);
        let wasted = self.wasted.iter().filter(|&&at| at + pages >= self.taken).count() as u64;
        let most = (self.rows + wasted).saturating_sub(pages - u64::from(block_pages));
        // If there is none it was being programmed again.
        let older = self.last.get(&lpn).map_or(0, |own| self.last.values().filter(|at| *at < own).count() as u64);
        older < most
    }
}

/// Chips, and what was promised of them.
#[derive(Debug)]
pub struct Flash {
    /// The registers of chips that use two of them.
    pub registers: Registers<(FlashPage, SpareBytes, u64)>,
    pub cached: u64,
    blocks: u32,
    pages: u32,
    content: Vec<Content>,
    /// The cluster of each chip.
    clusters: HashMap<u32, u32>,
    under_way: HashMap<u32, UnderWay>,
    /// Chips asked to suspend their erase, and the blocks of erases that are suspended.
    asked: HashSet<u32>,
    suspended: HashMap<u32, u32>,
    pub suspensions: u64,
    /// How often each block was erased, as far as anybody can know, where wear is levelled: a block
    /// in which nothing can be read after a loss of power is as worn as is said of it.
    erases: HashMap<(u32, u32), u32>,
    /// Chips whose erases are counted.
    counted: HashSet<u32>,
    /// The most known of a chip of a stripe when it was recovered last. In a superblock another
    /// chip may know it.
    most: HashMap<u32, u32>,
    superblocks: HashSet<u32>,
    /// Rings of zones, by chip.
    rings: Vec<(u32, RingOnChip)>,
    /// Pages that were said to be written, and are lost as the oldest of their rings.
    pub lost: u64,
    /// The page of its range that a source goes on with, where it goes round.
    pub goes_on: HashMap<u32, u32>,
    /// The next version.
    version: u64,
    /// The versions that a request that is not over has programmed.
    requests: HashMap<(u32, u64), Vec<(Page, u64)>>,
    /// The latest version that was said to be written.
    acknowledged: HashMap<Page, u64>,
    /// Requests that were said to be over, by the numbers of their sources.
    pub completed: HashSet<(u32, u64)>,
    /// Read for a superblock's garbage collection.
    buffered: HashMap<Page, u64>,
    /// Operations since power was last there, and after how many it goes.
    pub begun: u64,
    pub last: u64,
    pub torn: u64,
    /// Blocks that have failed.
    bad: HashSet<(u32, u32)>,
    /// How many more of each chip may, for good, and at programs until power goes.
    spare: HashMap<u32, u32>,
    pub program_failures: HashMap<u32, u32>,
    pub failed_programs: u64,
    pub failed_erases: u64,
    /// Programs that failed in zones.
    pub failed_in_zones: u64,
    pub operations: u64,
    /// The work since the last recovery began, and the largest parts of the bounds of any recovery,
    /// in thousandths: looks, copies, erases.
    recovery: RecoveryBound,
    pub recovery_shares: [u64; 3],
}

/// Power is lost: what unwinds a recovery.
pub struct PowerLost;

impl Flash {
    pub fn new(image: &Image<'_>) -> Flash {
        let device = image.device();
        let (mut clusters, mut rings) = (HashMap::new(), Vec::new());
        let (mut superblocks, mut counted) = (HashSet::new(), HashSet::new());
        for number in 0..image.clusters() {
            let of = image.cluster(number).expect("a cluster");
            let chips = (0..of.chips()).map(|place| of.chip(place).expect("a chip"));
            if of.organisation() == ImageOrganisation::Superblock {
                superblocks.extend(chips.clone());
            }
            if device.wear_gap > 0 && of.collection().is_some() {
                counted.extend(chips.clone());
            }
            clusters.extend(chips.map(|chip| (chip, number)));
            rings.extend(RingOnChip::all(&of, device.pages_per_block));
        }
        let all = (device.chips * device.blocks_per_chip * device.pages_per_block) as usize;
        Flash {
            registers: Registers::default(),
            cached: 0,
            blocks: device.blocks_per_chip,
            pages: device.pages_per_block,
            content: vec![Content::Erased; all],
            clusters,
            under_way: HashMap::new(),
            asked: HashSet::new(),
            suspended: HashMap::new(),
            suspensions: 0,
            erases: HashMap::new(),
            counted,
            most: HashMap::new(),
            superblocks,
            rings,
            lost: 0,
            goes_on: HashMap::new(),
            version: 1,
            requests: HashMap::new(),
            acknowledged: HashMap::new(),
            completed: HashSet::new(),
            buffered: HashMap::new(),
            begun: 0,
            last: u64::MAX,
            torn: 0,
            bad: HashSet::new(),
            spare: (0..device.chips).map(|chip| (chip, device.spare_blocks)).collect(),
            program_failures: HashMap::new(),
            failed_programs: 0,
            failed_erases: 0,
            failed_in_zones: 0,
            operations: 0,
            recovery: RecoveryBound::default(),
            recovery_shares: [0; 3],
        }
    }

    fn at(&self, chip: u32, at: FlashPage) -> usize {
        assert!(at.block < self.blocks && at.page < self.pages);
        ((chip * self.blocks + at.block) * self.pages + at.page) as usize
    }

    /// A page holds a logical page, or what cannot be read, when the chips are first used.
    pub fn hold(&mut self, chip: u32, at: FlashPage, spare: Option<SpareBytes>) {
        if let Some(spare) = spare {
            self.erases.insert((chip, at.block), spare.erases);
        }
        let at = self.at(chip, at);
        self.content[at] = spare.map_or(Content::Torn, |spare| Content::Held(spare, 1));
    }

    pub fn busy(&self, chip: u32) -> bool {
        self.under_way.contains_key(&chip)
    }

    /// Whether power goes now.
    pub fn is_out(&self) -> bool {
        self.begun >= self.last
    }

    fn begins(&mut self, chip: u32, what: UnderWay) {
        self.begun += 1;
        self.operations += 1;
        assert!(self.under_way.insert(chip, what).is_none(), "chip {chip} is idle");
    }

    /// Pages of a block are programmed in order, each once after an erase that was not interrupted.
    fn may_be_programmed(&mut self, chip: u32, at: FlashPage, spare: &SpareBytes) {
        self.is_good(chip, at.block);
        assert_ne!(self.suspended.get(&chip), Some(&at.block), "its erase is not over");
        let most = self.most.get(&chip).copied().unwrap_or(0);
        let erases = *self.erases.entry((chip, at.block)).or_insert(spare.erases.max(most));
        let erases = if self.counted.contains(&chip) { erases } else { 0 };
        assert!(spare.erases == erases, "chip {chip}, {at:?}: {spare:?}, and not {erases}");
        assert_eq!(self.content[self.at(chip, at)], Content::Erased, "{chip} {at:?}");
        for page in at.page..self.pages {
            let content = self.content[self.at(chip, FlashPage { page, ..at })];
            assert_eq!(content, Content::Erased, "chip {chip}, {at:?}: nothing behind it is programmed");
        }
    }

    fn held(&self, chip: u32, at: FlashPage, lpn: u32) -> u64 {
        match self.content[self.at(chip, at)] {
            Content::Held(spare, version) if (spare.cluster, spare.lpn) == (self.clusters[&chip], lpn) => version,
            other => panic!("chip {chip}, {at:?}: {other:?}, and not page {lpn}"),
        }
    }

    fn erase_now(&mut self, chip: u32, block: u32) {
        for page in 0..self.pages {
            let at = self.at(chip, FlashPage { block, page });
            self.content[at] = Content::Erased;
        }
        if let Some(erases) = self.erases.get_mut(&(chip, block)) {
            *erases += 1;
        }
    }

    /// Whether what a chip does may fail: a program or an erase, and not more blocks than stated.
    pub fn may_fail(&self, chip: u32) -> bool {
        self.spare.get(&chip).is_some_and(|&spare| spare > 0)
            && match self.under_way.get(&chip) {
                Some(UnderWay::Erase(_)) => true,
                Some(UnderWay::Program(..)) => self.program_failures.get(&chip).is_none_or(|&failures| failures > 0),
                _ => false,
            }
    }

    /// Whether more blocks of a chip may fail.
    pub fn keeps_back(&self, chip: u32) -> bool {
        self.spare.get(&chip).is_some_and(|&spare| spare > 0)
    }

    /// Whether a chip erases.
    pub fn erases(&self, chip: u32) -> bool {
        matches!(self.under_way.get(&chip), Some(UnderWay::Erase(_)))
    }

    /// The work of a chip has failed: the block is bad.
    pub fn fails(&mut self, chip: u32) {
        *self.spare.entry(chip).or_default() -= 1;
        self.asked.remove(&chip);
        let block = match self.under_way.remove(&chip).expect("something is under way") {
            UnderWay::Read => panic!("a read does not fail"),
            UnderWay::Program(at, spare, version, buffered) => {
                if let Some(failures) = self.program_failures.get_mut(&chip) {
                    *failures -= 1;
                }
                if buffered {
                    self.buffered.insert((spare.cluster, spare.lpn), version);
                }
                // It is programmed once more, in a block that comes in the place of this one.
                if let Some(ring) = self.ring_on(chip, spare.lpn) {
                    ring.takes_back(spare.lpn, false);
                    self.failed_in_zones += 1;
                }
                let place = self.at(chip, at);
                self.content[place] = Content::Torn;
                self.failed_programs += 1;
                at.block
            }
            UnderWay::Erase(block) => {
                for page in 0..self.pages {
                    let at = self.at(chip, FlashPage { block, page });
                    self.content[at] = if page % 2 == 0 { Content::Torn } else { Content::Weak };
                }
                self.failed_erases += 1;
                block
            }
        };
        self.bad.insert((chip, block));
    }

    /// In a recovery, where one in some may fail.
    fn ends_or_fails(&mut self, chip: u32) -> bool {
        let fails = self.begun % 37 == 7 && self.may_fail(chip);
        if fails {
            self.fails(chip)
        } else {
            self.ends(chip)
        }
        !fails
    }

    /// Nothing is done to a block that has failed.
    fn is_good(&self, chip: u32, block: u32) {
        assert!(!self.bad.contains(&(chip, block)), "chip {chip}: block {block} has failed");
    }

    /// The ring that a logical page of a chip is in.
    fn ring_on(&mut self, chip: u32, lpn: u32) -> Option<&mut RingOnChip> {
        let ring = self.rings.iter_mut().find(|(on, ring)| *on == chip && ring.keeps(lpn));
        ring.map(|(_, ring)| ring)
    }

    /// Logical pages hold nothing from now on, or whatever they held before.
    pub fn trimmed(&mut self, cluster: u32, pages: &[u32]) {
        let is_kept = |page: &Page| page.0 != cluster || !pages.contains(&page.1);
        self.acknowledged.retain(|page, _| is_kept(page));
        self.requests.values_mut().for_each(|programmed| programmed.retain(|(page, _)| is_kept(page)));
    }

    /// The work of a chip has ended.
    pub fn ends(&mut self, chip: u32) {
        match self.under_way.remove(&chip).expect("something is under way") {
            UnderWay::Read => {}
            UnderWay::Program(at, spare, version, _) => {
                let at = self.at(chip, at);
                self.content[at] = Content::Held(spare, version);
            }
            UnderWay::Erase(block) => {
                self.asked.remove(&chip);
                self.erase_now(chip, block);
            }
        }
    }

    /// Whether a chip was asked to suspend its erase.
    pub fn is_asked(&self, chip: u32) -> bool {
        self.asked.contains(&chip)
    }

    /// Whether no erase is.
    pub fn no_erase_is_suspended(&self) -> bool {
        self.suspended.is_empty() && self.asked.is_empty()
    }

    /// The erase of a chip is suspended.
    pub fn suspends(&mut self, chip: u32) {
        assert!(self.asked.remove(&chip));
        let Some(UnderWay::Erase(block)) = self.under_way.remove(&chip) else { panic!("chip {chip} erases") };
        assert!(self.suspended.insert(chip, block).is_none());
        self.suspensions += 1;
    }

    /// Power is lost: what is under way is done, or not, or torn.
    pub fn loses_power(&mut self, words: &mut Words<'_>) {
        let mut under_way: Vec<(u32, UnderWay)> = self.under_way.drain().collect();
        under_way.extend(self.suspended.drain().map(|(chip, block)| (chip, UnderWay::Erase(block))));
        under_way.sort_by_key(|&(chip, what)| (chip, matches!(what, UnderWay::Erase(_))));
        self.asked.clear();
        for (chip, what) in under_way {
            match (what, words.byte() % 3) {
                (UnderWay::Program(_, spare, ..), 0) => {
                    // The page is not taken.
                    if let Some(ring) = self.ring_on(chip, spare.lpn) {
                        ring.takes_back(spare.lpn, false);
                    }
                }
                (_, 0) | (UnderWay::Read, _) => {}
                (_, 1) => {
                    self.under_way.insert(chip, what);
                    self.ends(chip);
                }
                (UnderWay::Program(at, spare, ..), _) => {
                    if let Some(ring) = self.ring_on(chip, spare.lpn) {
                        ring.takes_back(spare.lpn, true);
                    }
                    let at = self.at(chip, at);
                    self.content[at] = Content::Torn;
                    self.torn += 1;
                }
                (UnderWay::Erase(block), _) => {
                    for page in 0..self.pages {
                        let at = self.at(chip, FlashPage { block, page });
                        self.content[at] = match words.byte() % 3 {
                            0 => self.content[at],
                            1 => Content::Torn,
                            _ => Content::Weak,
                        };
                    }
                    self.torn += 1;
                }
            }
        }
        self.requests.clear();
        self.buffered.clear();
        self.registers.clear();
        (self.begun, self.last) = (0, u64::MAX);
    }

    /// A recovery begins: of blocks in which nothing can be read nobody knows how often they were
    /// erased.
    fn forgets(&mut self) {
        let mut known = HashMap::new();
        for (&(chip, block), &erases) in &self.erases {
            let mut pages = (0..self.pages).map(|page| self.content[self.at(chip, FlashPage { block, page })]);
            if pages.any(|content| matches!(content, Content::Held(..))) {
                known.insert((chip, block), erases);
            }
        }
        self.erases = known;
        self.most.clear();
        for (&(chip, _), &erases) in self.erases.iter().filter(|&(&(chip, _), _)| !self.superblocks.contains(&chip)) {
            let most = self.most.entry(chip).or_default();
            *most = erases.max(*most);
        }
    }

    /// The latest page that can be read of each logical one.
    fn latest(&self) -> HashMap<Page, (u64, u64, usize)> {
        let mut latest: HashMap<Page, (u64, u64, usize)> = HashMap::new();
        for (at, content) in self.content.iter().enumerate() {
            if let Content::Held(spare, version) = *content {
                let found = latest.entry((spare.cluster, spare.lpn)).or_default();
                *found = (*found).max((spare.sequence + 1, version, at));
            }
        }
        latest
    }

    /// Whether a page holds what was said to be written last, or what was written later.
    pub fn has(&self, page: Page) -> bool {
        let version = self.acknowledged.get(&page).copied().unwrap_or(0);
        self.latest().get(&page).map_or(0, |found| found.1) >= version
    }

    /// A recovery that has ended has taken no longer than is stated.
    fn kept_its_bound(&mut self, image: &Image<'_>) {
        let bound = RecoveryBound::of(image);
        let (did, moved) = (self.recovery, bound.copybacks + bound.copies);
        let parts = [(did.reads, bound.reads), (did.copies, moved), (did.erases, bound.erases)];
        assert!(parts.iter().all(|(did, most)| did <= most), "{did:?}, and at most {bound:?}");
        for (share, (did, most)) in self.recovery_shares.iter_mut().zip(parts) {
            *share = (*share).max((1_000 * did).checked_div(most).unwrap_or(0));
        }
    }

    /// The ring that a logical page is in, where it is in one that is written.
    fn ring_of(&self, image: &Image<'_>, ftl: &Ftl<'_, '_>, (cluster, lpn): Page) -> Option<&RingOnChip> {
        let mut sources = (0..image.sources()).filter_map(|number| Some((number, image.source(number)?)));
        let keeps = |of: &ImageSource| {
            of.cluster == cluster && lpn.checked_sub(of.first_page).is_some_and(|nth| nth < of.page_count)
        };
        let (_, of) = sources.find(|(number, of)| ftl.next_of_round(*number).is_some() && keeps(of))?;
        let chip = image.cluster(cluster)?.chip(lpn % image.cluster(cluster)?.chips())?;
        let ring = self.rings.iter().find(|(on, ring)| *on == chip && ring.first == of.first_page)?;
        Some(&ring.1)
    }

    /// Everything that was said to be written is there, or what was written later, and the state
    /// machine finds it. A ring of zones can lose its oldest pages, as many as power has cost.
    pub fn keeps_its_word(&mut self, image: &Image<'_>, ftl: &Ftl<'_, '_>) {
        let (latest, mut lost) = (self.latest(), HashSet::new());
        for (page, &version) in &self.acknowledged {
            let found = latest.get(page).map_or(0, |found| found.1);
            if found >= version {
                continue;
            }
            let ring = self.ring_of(image, ftl, *page);
            let may = ring.is_some_and(|ring| ring.may_lose(page.1, self.pages));
            assert!(may, "page {page:?}: version {version} was acknowledged, {found} is there; {ring:?}");
            lost.insert(*page);
        }
        self.lost += lost.len() as u64;
        self.acknowledged.retain(|page, _| !lost.contains(page));
        for (&(cluster, lpn), &(_, _, place)) in &latest {
            let (chip, at) = ftl.locate(cluster, lpn).expect("a page that is there");
            assert_eq!(self.at(chip, at), place, "cluster {cluster}, page {lpn}");
        }
    }
}

impl NandChips for Flash {
    fn read(&mut self, chip: u32, at: FlashPage, lpn: u32, purpose: OperationPurpose) {
        let version = self.held(chip, at, lpn);
        if purpose == OperationPurpose::Collection {
            self.buffered.insert((self.clusters[&chip], lpn), version);
        }
        self.begins(chip, UnderWay::Read);
    }

    fn program(&mut self, chip: u32, at: FlashPage, spare: SpareBytes, purpose: OperationPurpose) {
        self.may_be_programmed(chip, at, &spare);
        let page = (spare.cluster, spare.lpn);
        assert_eq!(spare.cluster, self.clusters[&chip]);
        if let Some(ring) = self.ring_on(chip, spare.lpn) {
            ring.takes(spare.lpn);
        }
        let version = match purpose {
            OperationPurpose::Collection => self.buffered.remove(&page).expect("it was read before"),
            OperationPurpose::Request { source, index, .. } => {
                self.version += 1;
                self.requests.entry((source, index)).or_default().push((page, self.version));
                self.version
            }
        };
        self.begins(chip, UnderWay::Program(at, spare, version, purpose == OperationPurpose::Collection));
    }

    fn copyback(&mut self, chip: u32, from: FlashPage, to: FlashPage, spare: SpareBytes) {
        let version = self.held(chip, from, spare.lpn);
        self.may_be_programmed(chip, to, &spare);
        self.begins(chip, UnderWay::Program(to, spare, version, false));
    }

    fn erase(&mut self, chip: u32, block: u32, _: OperationPurpose) {
        self.is_good(chip, block);
        assert!(!self.suspended.contains_key(&chip), "a chip has one erase at a time");
        self.begins(chip, UnderWay::Erase(block));
    }

    fn suspend(&mut self, chip: u32) {
        assert!(self.erases(chip) && self.asked.insert(chip), "chip {chip} erases, and is asked once");
    }

    fn resume(&mut self, chip: u32, block: u32) {
        assert_eq!(self.suspended.remove(&chip), Some(block));
        self.begins(chip, UnderWay::Erase(block));
    }

    fn sense(&mut self, chip: u32, at: FlashPage, lpn: u32, _: OperationPurpose, _: Option<u32>) {
        self.held(chip, at, lpn);
        (self.begun, self.operations) = (self.begun + 1, self.operations + 1);
        assert!(!self.under_way.contains_key(&chip), "chip {chip} is idle");
        self.registers.sense(chip);
    }

    fn send(&mut self, chip: u32) {
        self.registers.send(chip);
    }

    /// If power is lost before it is programmed, nothing has been done.
    fn load(&mut self, chip: u32, at: FlashPage, spare: SpareBytes, purpose: OperationPurpose) {
        self.may_be_programmed(chip, at, &spare);
        (self.begun, self.version) = (self.begun + 1, self.version + 1);
        let OperationPurpose::Request { source, index, .. } = purpose else { panic!("passes use one register") };
        let page = (spare.cluster, spare.lpn);
        self.requests.entry((source, index)).or_default().push((page, self.version));
        self.registers.load(chip, (at, spare, self.version));
    }

    fn program_loaded(&mut self, chip: u32) {
        let (at, spare, version) = self.registers.take_loaded(chip);
        self.cached += 1;
        self.begins(chip, UnderWay::Program(at, spare, version, false));
    }
}

impl RequestHost for Flash {
    fn complete(&mut self, source: u32, index: u64, _: u64) {
        self.completed.insert((source, index));
        for (page, version) in self.requests.remove(&(source, index)).unwrap_or_default() {
            let latest = self.acknowledged.entry(page).or_default();
            *latest = version.max(*latest);
        }
    }

    fn starved(&mut self, _: u32) {}
}

impl RecoveryChips for Flash {
    fn spare(&mut self, chip: u32, at: FlashPage) -> PageState {
        self.recovery.reads += 1;
        match self.content[self.at(chip, at)] {
            Content::Erased | Content::Weak => PageState::Erased,
            Content::Torn => PageState::Unreadable,
            Content::Held(spare, _) => PageState::Held(spare),
        }
    }

    fn is_bad(&mut self, chip: u32, block: u32) -> bool {
        self.bad.contains(&(chip, block))
    }

    fn copy(&mut self, from: ChipPage, to: ChipPage, spare: SpareBytes) -> bool {
        self.recovery.copies += 1;
        let version = self.held(from.chip, from.at, spare.lpn);
        self.may_be_programmed(to.chip, to.at, &spare);
        self.begins(to.chip, UnderWay::Program(to.at, spare, version, false));
        if self.is_out() {
            std::panic::resume_unwind(Box::new(PowerLost));
        }
        self.ends_or_fails(to.chip)
    }

    fn erase(&mut self, chip: u32, block: u32) -> bool {
        self.recovery.erases += 1;
        self.is_good(chip, block);
        self.begins(chip, UnderWay::Erase(block));
        if self.is_out() {
            std::panic::resume_unwind(Box::new(PowerLost));
        }
        self.ends_or_fails(chip)
    }
}

/// Lists as long as a geometry says.
pub struct Lists {
    words: Vec<u32>,
    bits: Vec<u64>,
    gc_jobs: Vec<rtflash_ftl::GcJob>,
    clusters: Vec<rtflash_ftl::FtlCluster>,
    sources: Vec<rtflash_ftl::SourceSlot>,
    requests: Vec<rtflash_ftl::RequestSlot>,
    processors: usize,
}

impl Lists {
    pub fn new(of: &Geometry) -> Lists {
        Lists {
            words: vec![5; of.words()],
            bits: vec![5; of.bits()],
            gc_jobs: vec![Default::default(); of.gc_jobs],
            clusters: vec![Default::default(); of.clusters],
            sources: vec![Default::default(); of.sources],
            requests: vec![Default::default(); of.requests],
            processors: of.processors,
        }
    }

    /// Recovers the chips, and has a look at what comes of it.
    pub fn recovered<T>(
        &mut self,
        image: &Image<'_>,
        flash: &mut Flash,
        then: impl FnOnce(&mut Ftl<'_, '_>, &mut Flash) -> T,
    ) -> Result<T, SetupError> {
        let mut processors: Vec<_> = (0..self.processors).map(|_| None).collect();
        let memory = FtlMemory {
            words: &mut self.words,
            bits: &mut self.bits,
            gc_jobs: &mut self.gc_jobs,
            processors: &mut processors,
            clusters: &mut self.clusters,
            sources: &mut self.sources,
            requests: &mut self.requests,
        };
        flash.recovery = RecoveryBound::default();
        flash.forgets();
        let mut ftl = Ftl::recovered(image, 0, memory, flash)?;
        flash.kept_its_bound(image);
        Ok(then(&mut ftl, flash))
    }
}
