//! The pages of a processor: one map, one frontier, one set of blocks. A superblock is a block
//! here, its rows one after the other.

mod zoned;

use crate::blocks::{BlockMemory, Blocks, Frontier, Frontiers, Victim};
use crate::memory::{Memory, NONE, index};
use crate::zones::Zones;

/// A page of a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// 0 in a stripe.
    pub chip: u32,
    /// In a superblock, the blocks with this number of all its chips.
    pub block: u32,
    /// The page in the block of the chip.
    pub page: u32,
}

/// A valid page of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ValidPage {
    /// Its row.
    pub row: u32,
    /// Its number in the processor.
    pub page: u32,
    /// The logical page that it holds.
    pub lpn: u32,
}

/// The logical pages of its cluster that a processor has: its page n is logical page offset + n ·
/// stride of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Columns {
    /// Whether it is a superblock, which copies over the bus, even on one chip.
    pub superblock: bool,
    /// Chips of the processor: 1 in a stripe, s in a superblock.
    pub width: u32,
    /// s in a stripe, 1 in a superblock.
    pub stride: u32,
    /// The position of a stripe's chip in its cluster, 0 in a superblock.
    pub offset: u32,
}

impl Columns {
    #[inline]
    pub(crate) fn slot(self, lpn: u32) -> u32 {
        (lpn - self.offset) / self.stride
    }
}

/// The logical pages of a processor on its chips.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound = "M: crate::memory::KeptMemory"))]
pub struct Pages<M: Memory> {
    columns: Columns,
    pub(crate) blocks: Blocks<M>,
    /// The place of each logical page of the processor; [`NONE`] for one that was never written.
    places: M::Words,
    free: u32,
    /// The page that was programmed last; [`NONE`] where none was.
    newest: u32,
    zones: Option<Zones<M>>,
}

impl<M: Memory> Pages<M> {
    /// The pages of a processor, in blocks of `block_pages` pages on all its chips together. The
    /// first `programmed` pages are programmed, each with the logical page in `memory.lpns`.
    /// `places` has a word for each logical page of the processor.
    pub fn new(
        columns: Columns,
        block_pages: u32,
        memory: BlockMemory<M>,
        places: M::Words,
        programmed: u32,
    ) -> Pages<M> {
        let blocks = Blocks::new(block_pages, columns.width, memory, programmed);
        let free = blocks.count() * block_pages - programmed;
        let newest = programmed.checked_sub(1).unwrap_or(NONE);
        Pages { columns, blocks, places, free, newest, zones: None }.with_places()
    }

    fn with_places(mut self) -> Pages<M> {
        let places = self.places.as_mut();
        places.fill(NONE);
        for (page, &lpn) in (0..).zip(self.blocks.lpns()).filter(|&(_, &lpn)| lpn != NONE) {
            places[index(self.columns.slot(lpn))] = page;
        }
        self
    }

    /// As [`Blocks::restored`]. `places` states where each logical page is, `newest` the page that
    /// was programmed last.
    pub(crate) fn restored(
        columns: Columns,
        block_pages: u32,
        memory: BlockMemory<M>,
        places: M::Words,
        open: Option<Frontier>,
        newest: Option<u32>,
    ) -> Pages<M> {
        let blocks = Blocks::restored(block_pages, columns.width, memory, open);
        let free = blocks.erased_blocks() * block_pages + blocks.rest(Frontiers::Write);
        Pages { columns, blocks, places, free, newest: newest.unwrap_or(NONE), zones: None }
    }

    /// Its blocks.
    pub fn blocks(&self) -> &Blocks<M> {
        &self.blocks
    }

    /// The place of each logical page of the processor, by [`Pages::slot`].
    pub fn places(&self) -> &[u32] {
        self.places.as_ref()
    }

    /// f: free pages.
    pub fn free(&self) -> u32 {
        self.free
    }

    /// Which pages it has.
    pub fn columns(&self) -> Columns {
        self.columns
    }

    /// The position of a logical page of the cluster among those of the processor.
    pub fn slot(&self, lpn: u32) -> u32 {
        self.columns.slot(lpn)
    }

    /// The place of a page of the processor.
    pub fn spot(&self, page: u32) -> Spot {
        let (block, next) = self.blocks.block_and_page(page);
        self.spot_of(Frontier { block, next })
    }

    fn spot_of(&self, Frontier { block, next }: Frontier) -> Spot {
        match self.columns.width {
            1 => Spot { chip: 0, block, page: next },
            width => Spot { chip: next % width, block, page: next / width },
        }
    }

    /// The number of the page that holds a logical page; [`NONE`] where it was never written.
    pub fn place(&self, lpn: u32) -> u32 {
        self.places.as_ref()[index(self.slot(lpn))]
    }

    /// The place of a logical page; `None` where it was never written.
    pub fn locate(&self, lpn: u32) -> Option<Spot> {
        let page = self.place(lpn);
        (page != NONE).then(|| self.spot(page))
    }

    /// Programs the next page of the frontier; the page where it was before is stale. `None` if no
    /// page is free.
    #[inline(always)]
    pub fn program(&mut self, lpn: u32) -> Option<Spot> {
        let slot = self.slot(lpn);
        if self.zones.is_some() {
            return self.program_in_zone(lpn);
        }
        let at = self.blocks.program(Frontiers::Write, lpn)?;
        self.newest = self.blocks.page(at);
        let old = core::mem::replace(&mut self.places.as_mut()[index(slot)], self.newest);
        if old != NONE {
            self.blocks.invalidate(old);
        }
        self.free -= 1;
        Some(self.spot_of(at))
    }

    /// Takes the closed block with the fewest valid pages that is no victim, the lowest among
    /// equals.
    pub(crate) fn take_victim(&mut self) -> Option<Victim> {
        let block = self.blocks.fewest_valid()?;
        self.blocks.take_victim(block);
        Some(Victim { block, valid: self.blocks.valid(block) })
    }

    /// The first valid page of a block on one of the processor's chips from row `from` on.
    pub fn next_valid(&self, block: u32, chip: u32, from: u32) -> Option<ValidPage> {
        let row = self.blocks.next_valid(block, chip, from)?;
        let page = block * self.blocks.pages() + row * self.columns.width + chip;
        Some(ValidPage { row, page, lpn: self.blocks.lpn(page) })
    }

    /// Whether a page of the processor still holds this logical page.
    pub fn holds(&self, page: u32, lpn: u32) -> bool {
        self.blocks.lpn(page) == lpn
    }

    /// Keeps erased blocks back, for those that fail: they are not free. There are as many.
    pub fn keep_back(&mut self, blocks: u32) {
        self.blocks.keep_back(blocks);
        self.free -= blocks * self.blocks.pages();
    }

    /// In a recovery: a block that is kept back is free for now. False if there is none.
    pub(crate) fn lend(&mut self) -> bool {
        let kept_back = self.blocks.kept_back();
        if kept_back > 0 {
            self.blocks.keep_back(kept_back - 1);
            self.free += self.blocks.pages();
        }
        kept_back > 0
    }

    /// A block that was lent is kept back again, if one is erased.
    pub(crate) fn take_back(&mut self) -> bool {
        let is_erased = self.blocks.erased_blocks() > 0;
        if is_erased {
            self.blocks.keep_back(self.blocks.kept_back() + 1);
            self.free -= self.blocks.pages();
        }
        is_erased
    }

    /// Levels wear, with this Δ and the erases of each block until now.
    pub fn level(&mut self, gap: u32, erases: M::Words) {
        self.blocks.level(gap, erases);
    }

    pub(crate) fn take_least_worn(&mut self) -> Option<Victim> {
        let least = self.blocks.least_worn_with_pages()?;
        self.blocks.take_victim(least.block);
        Some(least)
    }

    /// Rule B2: a block is retired, at a program or at an erase that has failed, unless it is so
    /// already. A block that was kept back is free instead, or takes its place in its ring.
    pub fn retire(&mut self, block: u32) {
        if self.blocks.is_retired(block) {
            return;
        }
        if let Some(zones) = &mut self.zones {
            zones.retire(block);
            self.blocks.retire(block, false);
            return;
        }
        let open = self.blocks.frontier(Frontiers::Write).filter(|open| open.block == block);
        self.free -= open.map_or(0, |_| self.blocks.rest(Frontiers::Write));
        if self.blocks.retire(block, true) {
            self.free += self.blocks.pages();
        }
    }

    /// A logical page holds nothing from now on, unless it was programmed last. By that page a
    /// recovery knows the block that takes pages: were its block erased and power lost, pages of it
    /// that only look erased would be programmed.
    pub fn trim(&mut self, lpn: u32) {
        let slot = index(self.slot(lpn));
        let old = self.places.as_ref()[slot];
        if old == self.newest {
            return;
        }
        self.places.as_mut()[slot] = NONE;
        if old != NONE && self.zones.is_none() {
            self.blocks.invalidate(old);
        }
    }

    /// A victim is erased.
    pub fn erase(&mut self, block: u32) {
        self.blocks.erase(block);
        self.free += self.blocks.pages();
    }
}
