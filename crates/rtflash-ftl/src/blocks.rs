//! The blocks of one processor: programmed page after page, erased as a whole.

use crate::memory::{Memory, NONE, index};

/// A block that takes pages, and its next page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Frontier {
    /// The block.
    pub block: u32,
    /// Its next page.
    pub next: u32,
}

/// Which of two frontiers a page is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frontiers {
    /// Writes go to the open block.
    Write,
    /// Copies of the thesis's garbage collection go to a block of their own. Under certificates
    /// this one is not used.
    Copy,
}

/// The mark of a block that is not closed, or a victim, in the number of its valid pages. There are
/// fewer pages than this.
const TAKEN: u32 = 1 << 31;

/// What the blocks of a processor are kept in, for N blocks of P pages.
#[derive(Debug)]
pub struct BlockMemory<M: Memory> {
    /// N·P words: the logical page that each page holds.
    pub lpns: M::Words,
    /// ⌈N·P/64⌉ words.
    pub bits: M::Bits,
    /// N words.
    pub valid: M::Words,
    /// ⌈N/64⌉ words.
    pub erased: M::Bits,
}

/// The blocks and pages of one processor (docs/analysis.md, Section 1): of a chip, or of a whole
/// superblock cluster. Pages are numbered through the blocks.
///
/// A page holds a logical page or is stale; whether it is programmed at all follows from the state
/// of its block.
#[derive(Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(bound(
        serialize = "M::Words: serde::Serialize, M::Bits: serde::Serialize",
        deserialize = "M::Words: serde::Deserialize<'de>, M::Bits: serde::Deserialize<'de>"
    ))
)]
pub struct Blocks<M: Memory> {
    pages: u32,
    /// The logical page of each valid page; [`NONE`] where stale or not programmed.
    lpns: M::Words,
    /// A bit for each page, whether it is valid, so that the next one is found fast.
    bits: M::Bits,
    /// Valid pages of each block, with [`TAKEN`] unless it is closed and no victim yet.
    valid: M::Words,
    /// A bit for each block, whether it is erased and no frontier.
    erased: M::Bits,
    erased_blocks: u32,
    /// No block of an earlier word of `erased` is erased.
    lowest: u32,
    open: Option<Frontier>,
    copy: Option<Frontier>,
}

impl<M: Memory> Blocks<M> {
    /// Blocks of `pages` pages, as many as `memory.valid` is long. The first `programmed` pages are
    /// programmed, with what `memory.lpns` says; a block of which that is a part is open for
    /// writes. The others are erased.
    pub fn new(pages: u32, mut memory: BlockMemory<M>, programmed: u32) -> Blocks<M> {
        let lpns = memory.lpns.as_mut();
        let (held, rest) = lpns.split_at_mut(index(programmed).min(lpns.len()));
        rest.fill(NONE);
        memory.bits.as_mut().fill(0);
        // The first page of a word is its lowest bit.
        for (word, lpns) in memory.bits.as_mut().iter_mut().zip(held.chunks(64)) {
            *word = lpns.iter().rev().fold(0, |word, &lpn| word << 1 | u64::from(lpn != NONE));
        }
        let (full, rest) = (programmed / pages, programmed % pages);
        let valid = memory.valid.as_mut();
        valid.fill(TAKEN);
        if pages.is_multiple_of(64) && rest == 0 {
            let words = memory.bits.as_ref().chunks_exact(index(pages / 64));
            for (valid, words) in valid.iter_mut().zip(words).take(index(full)) {
                *valid = words.iter().map(|word| word.count_ones()).sum();
            }
        } else {
            for (valid, held) in valid.iter_mut().zip(held.chunks(index(pages))) {
                let open = if held.len() == index(pages) { 0 } else { TAKEN };
                *valid = held.iter().map(|&lpn| u32::from(lpn != NONE)).sum::<u32>() | open;
            }
        }
        let blocks = u32::try_from(memory.valid.as_ref().len()).unwrap_or(u32::MAX);
        let first = full + u32::from(rest > 0);
        let erased = memory.erased.as_mut();
        erased.fill(0);
        for block in first..blocks {
            erased[index(block / 64)] |= 1 << (block % 64);
        }
        let open = (rest > 0).then_some(Frontier { block: full, next: rest });
        let BlockMemory { lpns, bits, valid, erased } = memory;
        let erased_blocks = blocks.saturating_sub(first);
        Blocks { pages, lpns, bits, valid, erased, erased_blocks, lowest: first / 64, open, copy: None }
    }

    /// Pages of a block.
    #[inline]
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// How many blocks there are.
    pub fn count(&self) -> u32 {
        u32::try_from(self.valid.as_ref().len()).unwrap_or(u32::MAX)
    }

    /// What each page holds, [`NONE`] where it is stale or not programmed.
    #[inline]
    pub fn lpns(&self) -> &[u32] {
        self.lpns.as_ref()
    }

    /// What a page holds.
    #[inline]
    pub fn lpn(&self, page: u32) -> u32 {
        self.lpns.as_ref()[index(page)]
    }

    /// Valid pages of a block.
    #[inline]
    pub fn valid(&self, block: u32) -> u32 {
        self.valid.as_ref()[index(block)] & !TAKEN
    }

    /// Erased blocks, but for those that take pages already.
    #[inline]
    pub fn erased_blocks(&self) -> u32 {
        self.erased_blocks
    }

    /// The block that takes pages, and its next page; `None` where none is open.
    #[inline]
    pub fn frontier(&self, stream: Frontiers) -> Option<Frontier> {
        match stream {
            Frontiers::Write => self.open,
            Frontiers::Copy => self.copy,
        }
    }

    /// Pages that the frontier's block still takes.
    #[inline]
    pub fn rest(&self, stream: Frontiers) -> u32 {
        self.frontier(stream).map_or(0, |frontier| self.pages - frontier.next)
    }

    /// Takes the lowest erased block.
    fn pop_erased(&mut self) -> Option<u32> {
        let erased = self.erased.as_mut();
        while let Some(word) = erased.get_mut(index(self.lowest)) {
            if *word != 0 {
                let block = self.lowest * 64 + word.trailing_zeros();
                *word &= *word - 1;
                self.erased_blocks -= 1;
                return Some(block);
            }
            self.lowest += 1;
        }
        None
    }

    /// Programs the next page of a frontier with a logical page, opening the lowest erased block
    /// where the frontier has none. `None` where there is no erased block to open.
    #[inline(always)]
    pub fn program(&mut self, stream: Frontiers, lpn: u32) -> Option<u32> {
        let at = match self.frontier(stream) {
            Some(at) => at,
            None => Frontier { block: self.pop_erased()?, next: 0 },
        };
        let frontier = match stream {
            Frontiers::Write => &mut self.open,
            Frontiers::Copy => &mut self.copy,
        };
        let page = at.block * self.pages + at.next;
        self.lpns.as_mut()[index(page)] = lpn;
        self.bits.as_mut()[index(page / 64)] |= 1 << (page % 64);
        let valid = &mut self.valid.as_mut()[index(at.block)];
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
    pub fn invalidate(&mut self, page: u32) {
        let (block, _) = self.block_and_page(page);
        self.lpns.as_mut()[index(page)] = NONE;
        self.bits.as_mut()[index(page / 64)] &= !(1 << (page % 64));
        self.valid.as_mut()[index(block)] -= 1;
    }

    /// The closed block with the fewest valid pages that is not a victim yet, the lowest among
    /// equals. Looks at all blocks.
    pub fn fewest_valid(&self) -> Option<u32> {
        let valid = self.valid.as_ref();
        let fewest = valid.iter().copied().min().filter(|&fewest| fewest < TAKEN)?;
        valid.iter().position(|&valid| valid == fewest).and_then(|block| u32::try_from(block).ok())
    }

    /// Closed blocks that are no victims yet, with their valid pages.
    pub fn closed(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..).zip(self.valid.as_ref().iter().copied()).filter(|&(_, valid)| valid < TAKEN)
    }

    /// Takes a block out of the candidates.
    pub fn take_victim(&mut self, block: u32) {
        self.valid.as_mut()[index(block)] |= TAKEN;
    }

    /// The first valid page of `block` from its page `from` on, numbered through the processor.
    #[inline]
    pub fn next_valid(&self, block: u32, from: u32) -> Option<u32> {
        let first = block * self.pages;
        let (start, end) = (first + from, first + self.pages);
        let words = self.bits.as_ref();
        let mut word = start / 64;
        let mut bits = *words.get(index(word))? & (u64::MAX << (start % 64));
        while bits == 0 {
            word += 1;
            if word * 64 >= end {
                return None;
            }
            bits = words[index(word)];
        }
        let page = word * 64 + bits.trailing_zeros();
        (page < end).then_some(page)
    }

    /// Erases a victim.
    ///
    /// # Panics
    /// Where it holds a valid page: a pass that is over has copied what was valid.
    pub fn erase(&mut self, block: u32) {
        assert_eq!(self.valid(block), 0, "a victim that is erased holds nothing valid");
        self.erased.as_mut()[index(block / 64)] |= 1 << (block % 64);
        self.erased_blocks += 1;
        self.lowest = self.lowest.min(block / 64);
    }

    /// The block of a page and the page's number in it.
    #[inline]
    pub fn block_and_page(&self, page: u32) -> (u32, u32) {
        (page / self.pages, page % self.pages)
    }
}
