//! The pages of a processor: one map, one frontier, one set of blocks. A superblock is a block
//! here, its rows one after the other.

mod zoned;

use crate::blocks::{BlockMemory, Blocks, Frontier, Frontiers, Victim};
use crate::memory::{Memory, NONE, index};
use crate::zones::Zones;

/// A page of a processor: the position of its chip there, the block, and the page in the block of
/// the chip.
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

/// Which logical pages of its cluster a processor has, and on how many chips. Its page n is logical
/// page offset + n · stride of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Columns {
    /// Whether they are those of a superblock, which copies over the bus; also where it has one
    /// chip.
    pub superblock: bool,
    /// Chips of the processor: 1 in a stripe, s in a superblock.
    pub width: u32,
    /// s in a stripe, 1 in a superblock.
    pub stride: u32,
    /// The position of a stripe's chip in its cluster, 0 in a superblock.
    pub offset: u32,
}

impl Columns {
    /// The position of a logical page of the cluster among those of the processor.
    #[inline]
    pub(crate) fn slot(self, lpn: u32) -> u32 {
        (lpn - self.offset) / self.stride
    }
}

/// The logical pages of a processor on its chips.
#[derive(Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(bound = "M: crate::memory::KeptMemory")
)]
pub struct Pages<M: Memory> {
    columns: Columns,
    blocks: Blocks<M>,
    /// Where each logical page of the processor is; [`NONE`] where it was never written.
    places: M::Words,
    free: u32,
    /// The page that was programmed last; [`NONE`] where none was.
    newest: u32,
    /// Where tasks own zones.
    zones: Option<Zones<M>>,
}

impl<M: Memory> Pages<M> {
    /// The pages of a processor as `memory.lpns` has them: its first `programmed` pages are
    /// programmed, each holds a logical page of the cluster or nothing. `places` has a word for
    /// each logical page of the processor.
    ///
    /// A block of it has `block_pages` pages, on all chips of the processor together.
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

    /// The pages of a processor in any state: see [`Blocks::restored`]. `places` says where each
    /// logical page is, and `newest` which page was programmed last.
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
    #[inline]
    pub fn blocks(&self) -> &Blocks<M> {
        &self.blocks
    }

    /// Where each logical page of the processor is, by [`Pages::slot`].
    #[inline]
    pub fn places(&self) -> &[u32] {
        self.places.as_ref()
    }

    /// f: free pages.
    #[inline]
    pub fn free(&self) -> u32 {
        self.free
    }

    /// Which pages it has.
    #[inline]
    pub fn columns(&self) -> Columns {
        self.columns
    }

    /// The position of a logical page of the cluster among those of the processor.
    #[inline]
    pub fn slot(&self, lpn: u32) -> u32 {
        self.columns.slot(lpn)
    }

    /// Where a page of the processor is.
    #[inline]
    pub fn spot(&self, page: u32) -> Spot {
        let (block, next) = self.blocks.block_and_page(page);
        self.spot_of(Frontier { block, next })
    }

    #[inline]
    fn spot_of(&self, Frontier { block, next }: Frontier) -> Spot {
        match self.columns.width {
            1 => Spot { chip: 0, block, page: next },
            width => Spot { chip: next % width, block, page: next / width },
        }
    }

    /// The number of the page that holds a logical page; [`NONE`] where it was never written.
    #[inline]
    pub fn place(&self, lpn: u32) -> u32 {
        self.places.as_ref()[index(self.slot(lpn))]
    }

    /// Where a logical page is; `None` where it was never written.
    #[inline]
    pub fn locate(&self, lpn: u32) -> Option<Spot> {
        let page = self.place(lpn);
        (page != NONE).then(|| self.spot(page))
    }

    /// Programs the next page of the frontier; the page where it was before is stale. `None` where
    /// no page is free.
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

    /// Takes the closed block with the fewest valid pages that no pass is working on, the lowest
    /// among equals.
    pub(crate) fn take_victim(&mut self) -> Option<Victim> {
        let block = self.blocks.fewest_valid()?;
        self.blocks.take_victim(block);
        Some(Victim { block, valid: self.blocks.valid(block) })
    }

    /// The first valid page of a block on one of the processor's chips from row `from` on.
    #[inline]
    pub fn next_valid(&self, block: u32, chip: u32, from: u32) -> Option<ValidPage> {
        let row = self.blocks.next_valid(block, chip, from)?;
        let page = block * self.blocks.pages() + row * self.columns.width + chip;
        Some(ValidPage { row, page, lpn: self.blocks.lpn(page) })
    }

    /// Whether a page of the processor still holds this logical page.
    #[inline]
    pub fn holds(&self, page: u32, lpn: u32) -> bool {
        self.blocks.lpn(page) == lpn
    }

    /// Keeps erased blocks back, for those that fail: they are not free. There are as many.
    pub fn keep_back(&mut self, blocks: u32) {
        self.blocks.keep_back(blocks);
        self.free -= blocks * self.blocks.pages();
    }

    /// In a recovery: a block that is kept back is free for the time being. Says whether there was
    /// one.
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

    pub(crate) fn give_back(&mut self, block: u32) {
        self.blocks.give_back(block);
    }

    /// Rule B2: a block is retired, at a program or at an erase that has failed. A block that was
    /// kept back is free in its stead, or takes its place in its ring. Nothing changes where it is
    /// retired already.
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

    /// A block had failed before: the blocks that are kept back have been counted without it.
    pub(crate) fn retire_at_start(&mut self, block: u32) {
        self.blocks.retire(block, false);
    }

    /// A logical page holds nothing any more. That of the page that was programmed last goes on
    /// holding what it holds: by that page a recovery knows the block that takes pages. If its
    /// block were erased, and power lost meanwhile, pages of it that look erased would be
    /// programmed.
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
