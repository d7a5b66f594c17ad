//! The blocks of one chip: programmed page after page, erased as a whole.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use prefetch_index::prefetch_index;
use rtflash_model::Id;
use serde::{Deserialize, Serialize};

use crate::ids::{BlockId, Lpn, PageId, PerId};
use crate::trace::NO_LPN;

/// A block that takes pages, and its next page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Frontier {
    block: BlockId,
    next: u32,
}

/// Which of a chip's two frontiers a page is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frontiers {
    /// Writes go to the open block.
    Write,
    /// GC goes to the copy block.
    Copy,
}

/// The mark of a block that is not closed, or a victim, in the number of its valid pages. There are
/// fewer pages than this.
const TAKEN: u32 = 1 << 31;

/// The blocks and pages of one chip. Pages are numbered through the chip.
///
/// A page holds a logical page or is stale; whether it is programmed at all follows from the state
/// of its block.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Blocks {
    pages: u32,
    /// The logical page of each valid page; [`NO_LPN`] where stale or not programmed.
    lpns: PerId<PageId, Lpn>,
    /// A bit for each page, whether it is valid: 64 in a word, so that the next one is found fast.
    bits: Vec<u64>,
    /// Valid pages of each block, with [`TAKEN`] unless it is closed and no victim yet.
    valid: PerId<BlockId, u32>,
    erased: BinaryHeap<Reverse<BlockId>>,
    open: Option<Frontier>,
    copy: Option<Frontier>,
}

impl Blocks {
    /// A chip of `blocks` blocks of `pages` pages, the first ones full with these logical pages,
    /// the others erased.
    pub(crate) fn new(blocks: u32, pages: u32, full: Vec<Lpn>) -> Blocks {
        let full_blocks = BlockId(PageId::from_index(full.len()).0 / pages);
        let is_valid = |&lpn: &Lpn| u64::from(lpn != NO_LPN);
        // The first page of a word is its lowest bit.
        let word = |lpns: &[Lpn]| lpns.iter().rev().fold(0, |word, lpn| word << 1 | is_valid(lpn));
        let mut bits: Vec<u64> = full.chunks(64).map(word).collect();
        let mut valid: PerId<BlockId, u32> = if pages.is_multiple_of(64) {
            let count = |words: &[u64]| words.iter().map(|word| word.count_ones()).sum();
            bits.chunks_exact(PageId(pages / 64).index()).map(count).collect()
        } else {
            let count = |held: &[Lpn]| held.iter().map(|&lpn| u32::from(lpn != NO_LPN)).sum();
            full.chunks_exact(PageId(pages).index()).map(count).collect()
        };
        bits.resize(PageId(blocks * pages).index().div_ceil(64), 0);
        valid.resize(blocks, TAKEN);
        let mut lpns = PerId::from(full);
        lpns.resize(blocks * pages, NO_LPN);
        Blocks {
            pages,
            lpns,
            bits,
            valid,
            erased: BlockId::first(blocks).skip(full_blocks.index()).map(Reverse).collect(),
            open: None,
            copy: None,
        }
    }

    /// What a page holds.
    #[inline]
    pub(crate) fn lpn(&self, page: PageId) -> Lpn {
        self.lpns[page]
    }

    /// Asks memory for what a page holds.
    #[inline]
    pub(crate) fn prefetch(&self, page: PageId) {
        prefetch_index(self.lpns.as_slice(), page.index());
    }

    /// Valid pages of a block.
    pub(crate) fn valid(&self, block: BlockId) -> u32 {
        self.valid[block] & !TAKEN
    }

    /// Erased blocks.
    pub(crate) fn erased_blocks(&self) -> u64 {
        self.erased.len() as u64
    }

    /// Pages that the frontier's block still takes.
    pub(crate) fn rest(&self, stream: Frontiers) -> u64 {
        let frontier = match stream {
            Frontiers::Write => self.open,
            Frontiers::Copy => self.copy,
        };
        frontier.map_or(0, |frontier| u64::from(self.pages - frontier.next))
    }

    /// Programs the next page of a frontier with a logical page, opening the lowest erased block
    /// where the frontier has none. `None` where there is no erased block to open.
    #[inline(always)]
    pub(crate) fn program(&mut self, stream: Frontiers, lpn: Lpn) -> Option<PageId> {
        let frontier = match stream {
            Frontiers::Write => &mut self.open,
            Frontiers::Copy => &mut self.copy,
        };
        let at = match *frontier {
            Some(at) => at,
            None => Frontier { block: self.erased.pop()?.0, next: 0 },
        };
        let page = PageId(at.block.0 * self.pages + at.next);
        self.lpns[page] = lpn;
        self.bits[page.index() / 64] |= 1 << (page.0 % 64);
        let valid = &mut self.valid[at.block];
        *valid += 1;
        if at.next + 1 < self.pages {
            *frontier = Some(Frontier { next: at.next + 1, ..at });
        } else {
            // Closed with its last page.
            *frontier = None;
            *valid &= !TAKEN;
        }
        Some(page)
    }

    /// A valid page becomes stale.
    #[inline]
    pub(crate) fn invalidate(&mut self, page: PageId) {
        let (block, _) = self.block_and_page(page);
        self.lpns[page] = NO_LPN;
        self.bits[page.index() / 64] &= !(1 << (page.0 % 64));
        self.valid[block] -= 1;
    }

    /// The closed block with the fewest valid pages that is not a victim yet, the lowest among
    /// equals.
    pub(crate) fn fewest_valid(&self) -> Option<BlockId> {
        let fewest = self.valid.iter().copied().min().filter(|&fewest| fewest < TAKEN)?;
        self.valid.iter().position(|&valid| valid == fewest).map(BlockId::from_index)
    }

    /// Closed blocks that are no victims yet, with their valid pages.
    pub(crate) fn closed(&self) -> impl Iterator<Item = (BlockId, u32)> + '_ {
        self.valid.enumerate().map(|(block, &valid)| (block, valid)).filter(|&(_, valid)| valid < TAKEN)
    }

    /// The first page of a block from `from` on that holds a logical page of this kind, by its
    /// position in the block.
    pub(crate) fn find_valid(&self, block: BlockId, from: u32, is_wanted: impl Fn(Lpn) -> bool) -> Option<(u32, Lpn)> {
        (from..self.pages).find_map(|page| {
            let lpn = self.lpns[PageId(block.0 * self.pages + page)];
            (lpn != NO_LPN && is_wanted(lpn)).then_some((page, lpn))
        })
    }

    /// Takes a block out of the candidates.
    pub(crate) fn take_victim(&mut self, block: BlockId) {
        self.valid[block] |= TAKEN;
    }

    /// The first valid page of `block` from its page `from` on, numbered through the chip.
    #[inline]
    pub(crate) fn next_valid(&self, block: BlockId, from: u32) -> Option<PageId> {
        let Range { start, end } = self.pages_of(block);
        let (start, end) = (start.index() + PageId(from).index(), end.index());
        let mut word = start / 64;
        let mut bits = *self.bits.get(word)? & (u64::MAX << (start % 64));
        while bits == 0 {
            word += 1;
            if word * 64 >= end {
                return None;
            }
            bits = self.bits[word];
        }
        let page = word * 64 + PageId(bits.trailing_zeros()).index();
        (page < end).then(|| PageId::from_index(page))
    }

    /// The pages of a block.
    fn pages_of(&self, block: BlockId) -> Range<PageId> {
        let first = block.0 * self.pages;
        PageId(first)..PageId(first + self.pages)
    }

    /// Erases a victim.
    pub(crate) fn erase(&mut self, block: BlockId) {
        // A pass that is over has copied what was valid.
        assert_eq!(self.valid(block), 0, "a victim that is erased holds nothing valid");
        self.erased.push(Reverse(block));
    }

    /// The block of a page and the page's number in it.
    #[inline]
    pub(crate) fn block_and_page(&self, page: PageId) -> (BlockId, u32) {
        (BlockId(page.0 / self.pages), page.0 % self.pages)
    }
}
