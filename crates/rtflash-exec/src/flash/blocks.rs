//! The blocks of one chip: programmed page after page, erased as a whole.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use prefetch_index::prefetch_index;

use crate::trace::NONE;

/// A block that takes pages, and its next page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frontier {
    block: u32,
    next: u32,
}

/// Which of a chip's two frontiers a page is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Writes go to the open block.
    Write,
    /// GC goes to the copy block.
    Copy,
}

/// The blocks and pages of one chip. Pages are numbered through the chip: block · P + page.
///
/// A page holds a logical page or is stale; whether it is programmed at all follows from the state
/// of its block.
#[derive(Debug)]
pub(crate) struct Blocks {
    pages: u32,
    /// The logical page of each valid page; `NONE` where stale or not programmed.
    lpns: Vec<u32>,
    /// Valid pages of each block.
    valid: Vec<u32>,
    /// The same for closed blocks that are no victim yet; `NONE` for the others.
    candidates: Vec<u32>,
    erased: BinaryHeap<Reverse<u32>>,
    open: Option<Frontier>,
    copy: Option<Frontier>,
}

impl Blocks {
    /// A chip of `blocks` blocks of `pages` pages, the first ones full with these logical pages,
    /// the others erased.
    pub(crate) fn new(blocks: u32, pages: u32, full: &[u32]) -> Blocks {
        let full_blocks = u32::try_from(full.len()).unwrap_or(NONE) / pages;
        let mut lpns = full.to_vec();
        lpns.resize(blocks as usize * pages as usize, NONE);
        let count = |block: &[u32]| block.iter().map(|&lpn| u32::from(lpn != NONE)).sum();
        let valid: Vec<u32> = lpns.chunks_exact(pages as usize).map(count).collect();
        let mut candidates = valid.clone();
        candidates[full_blocks as usize..].fill(NONE);
        Blocks {
            pages,
            lpns,
            valid,
            candidates,
            erased: (full_blocks..blocks).map(Reverse).collect(),
            open: None,
            copy: None,
        }
    }

    /// What a page holds.
    pub(crate) fn lpn(&self, page: u32) -> u32 {
        self.lpns[page as usize]
    }

    /// Asks memory for what a page holds.
    #[inline]
    pub(crate) fn prefetch(&self, page: u32) {
        prefetch_index(&self.lpns, page as usize);
    }

    /// Valid pages of a block.
    pub(crate) fn valid(&self, block: u32) -> u32 {
        self.valid[block as usize]
    }

    /// Erased blocks.
    pub(crate) fn erased_blocks(&self) -> u64 {
        self.erased.len() as u64
    }

    /// Pages that the frontier's block still takes.
    pub(crate) fn rest(&self, stream: Stream) -> u64 {
        let frontier = match stream {
            Stream::Write => self.open,
            Stream::Copy => self.copy,
        };
        frontier.map_or(0, |frontier| u64::from(self.pages - frontier.next))
    }

    /// Programs the next page of a frontier with a logical page, opening the lowest erased block
    /// where the frontier has none. `None` where there is no erased block to open.
    pub(crate) fn program(&mut self, stream: Stream, lpn: u32) -> Option<u32> {
        let frontier = match stream {
            Stream::Write => &mut self.open,
            Stream::Copy => &mut self.copy,
        };
        let at = match *frontier {
            Some(at) => at,
            None => Frontier { block: self.erased.pop()?.0, next: 0 },
        };
        let page = at.block * self.pages + at.next;
        self.lpns[page as usize] = lpn;
        self.valid[at.block as usize] += 1;
        if at.next + 1 < self.pages {
            *frontier = Some(Frontier { next: at.next + 1, ..at });
        } else {
            // Closed with its last page.
            *frontier = None;
            self.candidates[at.block as usize] = self.valid[at.block as usize];
        }
        Some(page)
    }

    /// A valid page becomes stale.
    pub(crate) fn invalidate(&mut self, page: u32) {
        let block = (page / self.pages) as usize;
        self.invalidate_in(page, block);
    }

    fn invalidate_in(&mut self, page: u32, block: usize) {
        self.lpns[page as usize] = NONE;
        self.valid[block] -= 1;
        let candidate = &mut self.candidates[block];
        if *candidate != NONE {
            *candidate -= 1;
        }
    }

    /// The closed block with the fewest valid pages that is not a victim yet, the lowest among
    /// equals.
    pub(crate) fn fewest_valid(&self) -> Option<u32> {
        let fewest = self.candidates.iter().copied().min().filter(|&fewest| fewest != NONE)?;
        let block = self.candidates.iter().position(|&valid| valid == fewest)?;
        u32::try_from(block).ok()
    }

    /// Closed blocks that are no victims yet, with their valid pages.
    pub(crate) fn closed(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..).zip(self.candidates.iter().copied()).filter(|&(_, valid)| valid != NONE)
    }

    /// Takes a block out of the candidates.
    pub(crate) fn take_victim(&mut self, block: u32) {
        self.candidates[block as usize] = NONE;
    }

    /// The first valid page of `block` from its page `from` on, numbered through the chip.
    pub(crate) fn next_valid(&self, block: u32, from: u32) -> Option<u32> {
        let first = block as usize * self.pages as usize;
        let rest = &self.lpns[first + from as usize..first + self.pages as usize];
        let ahead = rest.iter().position(|&lpn| lpn != NONE)?;
        u32::try_from(first + from as usize + ahead).ok()
    }

    /// Erases a victim.
    pub(crate) fn erase(&mut self, block: u32) {
        let first = block as usize * self.pages as usize;
        // Nothing valid is left in it but where a pass was cut short, which none is.
        self.lpns[first..first + self.pages as usize].fill(NONE);
        self.valid[block as usize] = 0;
        self.erased.push(Reverse(block));
    }

    /// The block of a page and the page's number in it.
    pub(crate) fn block_and_page(&self, page: u32) -> (u32, u32) {
        (page / self.pages, page % self.pages)
    }
}
