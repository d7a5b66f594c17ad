//! The blocks of chips, in lists of our own: those of `rtflash-ftl`, by the types of their numbers.

use prefetch_index::prefetch_index;
use rtflash_ftl::{BlockMemory, Blocks, Frontiers, GROUP, Memory};
use serde::{Deserialize, Serialize};

use rtflash_model::{Lpn, PerId};
use rtflash_plan::{BlockId, PageId};
use rtflash_trace::NO_LPN;

/// Memory in lists of our own.
#[derive(Debug)]
pub(crate) struct Owned;

impl Memory for Owned {
    type Words = Vec<u32>;
    type Bits = Vec<u64>;
}

impl Owned {
    /// The memory of `blocks` blocks of `pages` pages, the first of which hold these logical pages.
    pub(crate) fn blocks(blocks: u32, pages: u32, held: PerId<PageId, Lpn>) -> BlockMemory<Owned> {
        let count = PageId(blocks * pages).index();
        let mut lpns: Vec<u32> = held.into_vec().into_iter().map(|lpn| lpn.0).collect();
        lpns.resize(count, NO_LPN.0);
        let blocks = BlockId(blocks).index();
        BlockMemory {
            lpns,
            bits: vec![0; count.div_ceil(64)],
            valid: vec![0; blocks],
            erased: vec![0; blocks.div_ceil(64)],
            least: vec![0; blocks.div_ceil(BlockId(GROUP).index())],
        }
    }
}

/// The blocks and pages of one chip. Pages are numbered through the chip.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ChipBlocks(Blocks<Owned>);

impl ChipBlocks {
    /// A chip of `blocks` blocks of `pages` pages, the first ones full with these logical pages,
    /// the others erased.
    pub(crate) fn new(blocks: u32, pages: u32, full: PerId<PageId, Lpn>) -> ChipBlocks {
        let programmed = full.count();
        ChipBlocks(Blocks::new((pages, 1), Owned::blocks(blocks, pages, full), programmed))
    }

    /// What a page holds.
    #[inline]
    pub(crate) fn lpn(&self, page: PageId) -> Lpn {
        Lpn(self.0.lpn(page.0))
    }

    /// Asks memory for what a page holds.
    #[inline]
    pub(crate) fn prefetch(&self, page: PageId) {
        prefetch_index(self.0.lpns(), page.index());
    }

    /// The blocks, as `rtflash-ftl` has them.
    pub(crate) fn untyped(&self) -> &Blocks<Owned> {
        &self.0
    }

    /// Valid pages of a block.
    #[inline]
    pub(crate) fn valid(&self, block: BlockId) -> u32 {
        self.0.valid(block.0)
    }

    /// Erased blocks.
    #[inline]
    pub(crate) fn erased_blocks(&self) -> u64 {
        self.0.erased_blocks().into()
    }

    /// Pages that the frontier's block still takes.
    #[inline]
    pub(crate) fn rest(&self, stream: Frontiers) -> u64 {
        self.0.rest(stream).into()
    }

    /// Whether a frontier has a block that takes pages.
    #[inline(always)]
    pub(crate) fn is_open(&self, stream: Frontiers) -> bool {
        self.0.frontier(stream).is_some()
    }

    /// Programs the next page of a frontier with a logical page, opening the lowest erased block
    /// where the frontier has none. Says which page it is, and where. `None` where there is no
    /// erased block to open.
    #[inline(always)]
    pub(crate) fn program(&mut self, stream: Frontiers, lpn: Lpn) -> Option<(PageId, BlockId, u32)> {
        self.0.program_at(stream, lpn.0).map(|(page, at)| (PageId(page), BlockId(at.block), at.next))
    }

    /// A valid page becomes stale.
    #[inline]
    pub(crate) fn invalidate(&mut self, page: PageId) {
        self.0.invalidate(page.0);
    }

    /// The closed block with the fewest valid pages that is not a victim yet, the lowest among
    /// equals.
    pub(crate) fn fewest_valid(&self) -> Option<BlockId> {
        self.0.fewest_valid().map(BlockId)
    }

    /// Takes a block out of the candidates.
    pub(crate) fn take_victim(&mut self, block: BlockId) {
        self.0.take_victim(block.0);
    }

    /// The first valid page of `block` from its page `from` on, numbered through the chip.
    #[inline]
    pub(crate) fn next_valid(&self, block: BlockId, from: u32) -> Option<PageId> {
        self.0.next_valid(block.0, 0, from).map(|row| PageId(block.0 * self.0.pages() + row))
    }

    /// Erases a victim.
    pub(crate) fn erase(&mut self, block: BlockId) {
        self.0.erase(block.0);
    }

    /// The block of a page and the page's number in it.
    #[inline]
    pub(crate) fn block_and_page(&self, page: PageId) -> (BlockId, u32) {
        let (block, page) = self.0.block_and_page(page.0);
        (BlockId(block), page)
    }
}
