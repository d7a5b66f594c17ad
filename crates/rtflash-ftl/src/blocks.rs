//! The blocks of one processor: programmed page after page, erased as a whole.

mod counted;
mod line;
mod retired;
mod worn;
mod zoned;

use crate::memory::{Memory, NONE, index, marks, word};
use worn::EraseCounts;

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

/// The same of a block that is retired, which is taken as well.
const RETIRED: u32 = 1 << 30;

/// Blocks among which the least number of valid pages is known.
pub const GROUP: u32 = 32;

/// The fewest valid pages of a group's blocks.
fn fewest(valid: &[u32]) -> u32 {
    valid.iter().copied().fold(u32::MAX, u32::min)
}

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
    /// ⌈N/[`GROUP`]⌉ words.
    pub least: M::Words,
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
    /// Chips that the pages of a block are on, one after another.
    width: u32,
    /// The logical page of each valid page; [`NONE`] where stale or not programmed.
    lpns: M::Words,
    /// A bit for each page, whether it is valid, so that the next one is found fast. Those of a
    /// block are together, and in them those of a chip.
    bits: M::Bits,
    /// Valid pages of each block, with [`TAKEN`] unless it is closed and no victim yet.
    valid: M::Words,
    /// A bit for each block, whether it is erased and no frontier.
    erased: M::Bits,
    erased_blocks: u32,
    /// How many of them are kept back for those that fail, rule B1.
    spare: u32,
    /// Blocks that have failed.
    retired: u32,
    /// The least entry of `valid` of each [`GROUP`] of blocks.
    least: M::Words,
    /// No block of an earlier word of `erased` is erased.
    lowest: u32,
    open: Option<Frontier>,
    copy: Option<Frontier>,
    wear: EraseCounts<M>,
}

impl<M: Memory> Blocks<M> {
    /// Blocks of `pages` pages on `width` chips, as many as `memory.valid` is long. The first
    /// `programmed` pages are programmed, with what `memory.lpns` says; a block of which that is a
    /// part is open for writes. The others are erased.
    pub fn new((pages, width): (u32, u32), mut memory: BlockMemory<M>, programmed: u32) -> Blocks<M> {
        let (full, rest) = (programmed / pages, programmed % pages);
        memory.valid.as_mut().fill(TAKEN);
        memory.bits.as_mut().fill(0);
        memory.least.as_mut().fill(u32::MAX);
        let blocks = word(memory.valid.as_ref().len());
        let first = full + u32::from(rest > 0);
        let erased = memory.erased.as_mut();
        erased.fill(0);
        for block in first..blocks {
            marks(erased, block);
        }
        let open = (rest > 0).then_some(Frontier { block: full, next: rest });
        let BlockMemory { lpns, bits, valid, erased, least } = memory;
        let erased_blocks = blocks.saturating_sub(first);
        let lowest = first / 64;
        let mut made = Blocks {
            pages,
            width,
            lpns,
            bits,
            valid,
            erased,
            erased_blocks,
            spare: 0,
            retired: 0,
            least,
            lowest,
            open,
            copy: None,
            wear: EraseCounts::none(),
        };
        made.count_valid(programmed);
        made
    }

    /// Blocks in any state: `memory.lpns` has what each page holds, and `memory.erased` a bit for
    /// each block that is erased. One may be open for writes; the others are closed, with what is
    /// not programmed in them.
    pub fn restored((pages, width): (u32, u32), memory: BlockMemory<M>, open: Option<Frontier>) -> Blocks<M> {
        let BlockMemory { lpns, mut bits, mut valid, erased, mut least } = memory;
        bits.as_mut().fill(0);
        let mut erased_blocks = 0;
        for (block, (valid, held)) in (0..).zip(valid.as_mut().iter_mut().zip(lpns.as_ref().chunks(index(pages)))) {
            let is_erased = erased.as_ref()[index(block / 64)] >> (block % 64) & 1 == 1;
            erased_blocks += u32::from(is_erased);
            let is_taken = is_erased || open.is_some_and(|open| open.block == block);
            let count: u32 = held.iter().map(|&lpn| u32::from(lpn != NONE)).sum();
            *valid = if is_taken { count | TAKEN } else { count };
        }
        for (page, &lpn) in (0..).zip(lpns.as_ref()) {
            let bit = bit_of(page, pages, width);
            bits.as_mut()[index(bit / 64)] |= u64::from(lpn != NONE) << (bit % 64);
        }
        for (least, valid) in least.as_mut().iter_mut().zip(valid.as_ref().chunks(index(GROUP))) {
            *least = fewest(valid);
        }
        let (spare, retired, lowest, copy, wear) = (0, 0, 0, None, EraseCounts::none());
        Blocks {
            pages,
            width,
            lpns,
            bits,
            valid,
            erased,
            erased_blocks,
            spare,
            retired,
            least,
            lowest,
            open,
            copy,
            wear,
        }
    }

    /// A block's number of valid pages has become this: it may be the least of its group.
    #[inline(always)]
    fn may_be_least(&mut self, block: u32, valid: u32) {
        let least = &mut self.least.as_mut()[index(block / GROUP)];
        *least = valid.min(*least);
    }

    /// Pages of a block.
    #[inline]
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// How many blocks there are.
    pub fn count(&self) -> u32 {
        word(self.valid.as_ref().len())
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
        self.valid.as_ref()[index(block)] & !(TAKEN | RETIRED)
    }

    /// Erased blocks, but for those that take pages already, and those that are kept back.
    #[inline]
    pub fn erased_blocks(&self) -> u32 {
        self.erased_blocks.saturating_sub(self.spare)
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

    /// Programs the next page of a frontier with a logical page, opening the lowest erased block
    /// where the frontier has none. `None` where there is no erased block to open.
    #[inline(always)]
    pub fn program(&mut self, stream: Frontiers, lpn: u32) -> Option<u32> {
        self.program_at(stream, lpn).map(|(page, _)| page)
    }

    /// The same, with the block and the page's number in it.
    #[inline(always)]
    pub fn program_at(&mut self, stream: Frontiers, lpn: u32) -> Option<(u32, Frontier)> {
        let at = match self.frontier(stream) {
            Some(at) => at,
            None => Frontier { block: self.pop_erased()?, next: 0 },
        };
        let page = at.block * self.pages + at.next;
        self.lpns.as_mut()[index(page)] = lpn;
        let bit = self.bit_at(page, at.block, at.next);
        marks(self.bits.as_mut(), bit);
        let valid = &mut self.valid.as_mut()[index(at.block)];
        *valid += 1;
        let next = if at.next + 1 < self.pages {
            Some(Frontier { next: at.next + 1, ..at })
        } else {
            // Closed with its last page.
            *valid &= !TAKEN;
            let valid = *valid;
            self.may_be_least(at.block, valid);
            None
        };
        match stream {
            Frontiers::Write => self.open = next,
            Frontiers::Copy => self.copy = next,
        }
        Some((page, at))
    }

    /// A valid page becomes stale.
    #[inline(always)]
    pub fn invalidate(&mut self, page: u32) {
        let (block, place) = self.block_and_page(page);
        self.lpns.as_mut()[index(page)] = NONE;
        let bit = self.bit_at(page, block, place);
        self.bits.as_mut()[index(bit / 64)] &= !(1 << (bit % 64));
        let valid = &mut self.valid.as_mut()[index(block)];
        *valid -= 1;
        let valid = *valid;
        self.may_be_least(block, valid);
    }

    /// The closed block with the fewest valid pages that is not a victim yet, the lowest among
    /// equals. Looks at each group of blocks, and at one group's blocks.
    pub fn fewest_valid(&self) -> Option<u32> {
        let groups = self.least.as_ref();
        let fewest = groups.iter().copied().min().filter(|&fewest| fewest < TAKEN)?;
        let group = groups.iter().position(|&least| least == fewest)?;
        let first = group * index(GROUP);
        let place = self.valid.as_ref()[first..].iter().position(|&valid| valid == fewest)?;
        u32::try_from(first + place).ok()
    }

    /// Closed blocks that are no victims yet, with their valid pages.
    pub fn closed(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..).zip(self.valid.as_ref().iter().copied()).filter(|&(_, valid)| valid < TAKEN)
    }

    /// Takes a block out of the candidates.
    pub fn take_victim(&mut self, block: u32) {
        let valid = self.valid.as_mut();
        valid[index(block)] |= TAKEN;
        let group = index(block / GROUP);
        let rest = &valid[group * index(GROUP)..];
        self.least.as_mut()[group] = fewest(&rest[..rest.len().min(index(GROUP))]);
    }

    /// The first valid page of `block` on one of its chips from its row `from` on: the row.
    #[inline]
    pub fn next_valid(&self, block: u32, chip: u32, from: u32) -> Option<u32> {
        let rows = if self.width == 1 { self.pages } else { self.pages / self.width };
        self.next_valid_of((block * self.pages + chip * rows, rows), from)
    }

    /// The same of a chip whose bits in a block begin there, so many of them.
    #[inline(always)]
    pub(crate) fn next_valid_of(&self, (first, rows): (u32, u32), from: u32) -> Option<u32> {
        let (start, end) = (first + from, first + rows);
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
        let found = word * 64 + bits.trailing_zeros();
        (found < end).then(|| found - first)
    }

    /// Erases a victim.
    ///
    /// # Panics
    /// Where it holds a valid page: a pass that is over has copied what was valid.
    pub fn erase(&mut self, block: u32) {
        assert_eq!(self.valid(block), 0, "a victim that is erased holds nothing valid");
        marks(self.erased.as_mut(), block);
        self.erased_blocks += 1;
        self.lowest = self.lowest.min(block / 64);
        self.wear.erased(block);
    }

    /// Where the bit of a page is, which is in a block at a place.
    #[inline(always)]
    fn bit_at(&self, page: u32, block: u32, place: u32) -> u32 {
        if self.width == 1 {
            return page;
        }
        block * self.pages + place % self.width * (self.pages / self.width) + place / self.width
    }

    /// The block of a page and the page's number in it.
    #[inline]
    pub fn block_and_page(&self, page: u32) -> (u32, u32) {
        (page / self.pages, page % self.pages)
    }
}

/// Where the bit of a page is, among blocks of `pages` pages on `width` chips.
fn bit_of(page: u32, pages: u32, width: u32) -> u32 {
    let place = page % pages;
    page - place + place % width * (pages / width) + place / width
}
