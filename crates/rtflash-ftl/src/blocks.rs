//! The blocks of one processor: programmed page after page, erased as a whole.

mod retired;
mod worn;

use crate::memory::{Memory, NONE, clears, has, index, marks, marks_all, word};
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
    /// Copies of the thesis's garbage collection, which certificates do not use.
    Copy,
}

/// A block whose pages a pass copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Victim {
    /// The block.
    pub block: u32,
    /// Its valid pages.
    pub valid: u32,
}

/// In `valid`: the block is not closed, or is a victim. No block has as many pages.
const TAKEN: u32 = 1 << 31;

/// In `valid`, beside [`TAKEN`]: the block is retired.
const RETIRED: u32 = 1 << 30;

/// Blocks among which the least number of valid pages is known.
pub const GROUP: u32 = 32;

/// The state of the blocks of a processor, for N blocks of P pages each.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound = "M: crate::memory::KeptMemory"))]
pub struct BlockMemory<M: Memory> {
    /// N·P words: the logical page of each valid page; [`NONE`] where stale or not programmed.
    pub lpns: M::Words,
    /// ⌈N·P/64⌉ words: whether each page is valid; block by block, chip by chip in a block.
    pub bits: M::Bits,
    /// N words: the valid pages of each block, with a mark unless it is closed and no victim yet.
    pub valid: M::Words,
    /// ⌈N/64⌉ words: a bit for each block, whether it is erased and no frontier.
    pub erased: M::Bits,
    /// ⌈N/[`GROUP`]⌉ words: the least entry of `valid` in each group of blocks.
    pub least: M::Words,
}

/// The blocks and pages of one processor (docs/analysis.md, Section 1): of a chip, or of a whole
/// superblock cluster. Pages are numbered through the blocks. Whether a page is programmed follows
/// from the state of its block.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound = "M: crate::memory::KeptMemory"))]
pub struct Blocks<M: Memory> {
    pages: u32,
    /// Chips that the pages of a block are on, one after another.
    width: u32,
    /// Pages of a block on each of them.
    rows: u32,
    of: BlockMemory<M>,
    erased_blocks: u32,
    /// Erased blocks that are kept back for those that fail, rule B1.
    spare: u32,
    retired: u32,
    /// No block of an earlier word of `erased` is erased.
    lowest: u32,
    /// By [`Frontiers`].
    frontiers: [Option<Frontier>; 2],
    wear: Option<EraseCounts<M>>,
}

impl<M: Memory> Blocks<M> {
    /// Blocks of `pages` pages on `width` chips, as many as `memory.valid` is long. The first
    /// `programmed` pages are programmed as `memory.lpns` states, and the block that they fill in
    /// part is open for writes. The others are erased.
    pub fn new(pages: u32, width: u32, mut memory: BlockMemory<M>, programmed: u32) -> Blocks<M> {
        let (full, rest) = (programmed / pages, programmed % pages);
        memory.lpns.as_mut()[index(programmed)..].fill(NONE);
        let (erased, blocks) = (memory.erased.as_mut(), word(memory.valid.as_ref().len()));
        erased.fill(0);
        (full + u32::from(rest > 0)..blocks).for_each(|block| marks(erased, block));
        let open = (rest > 0).then_some(Frontier { block: full, next: rest });
        Blocks::restored(pages, width, memory, open)
    }

    /// Blocks in any state, by `memory.lpns` and `memory.erased`. All that are neither erased nor
    /// `open` are closed.
    pub(crate) fn restored(pages: u32, width: u32, mut of: BlockMemory<M>, open: Option<Frontier>) -> Blocks<M> {
        of.bits.as_mut().fill(0);
        of.least.as_mut().fill(u32::MAX);
        let (rows, erased_blocks, spare, retired, lowest) = (pages / width, 0, 0, 0, 0);
        let (frontiers, wear) = ([open, None], None);
        let mut made = Blocks { pages, width, rows, of, erased_blocks, spare, retired, lowest, frontiers, wear };
        (0..made.count()).for_each(|block| made.count_pages(block));
        made
    }

    fn count_pages(&mut self, block: u32) {
        let first = block * self.pages;
        let held = &self.of.lpns.as_ref()[index(first)..index(first + self.pages)];
        let count = |held: &[u32]| held.iter().map(|&lpn| u32::from(lpn != NONE)).sum();
        let valid: u32 = count(held);
        // At the start of a run the first pages of a block are mostly the valid ones.
        if self.width == 1 && valid == count(&held[..index(valid)]) {
            marks_all(self.of.bits.as_mut(), first..first + valid);
        } else {
            for chip in 0..self.width {
                let of_chip = held[index(chip)..].iter().step_by(index(self.width));
                for (bit, _) in (first + chip * self.rows..).zip(of_chip).filter(|&(_, &lpn)| lpn != NONE) {
                    marks(self.of.bits.as_mut(), bit);
                }
            }
        }
        let is_erased = has(self.of.erased.as_ref(), block);
        self.erased_blocks += u32::from(is_erased);
        let is_taken = is_erased || self.frontier(Frontiers::Write).is_some_and(|open| open.block == block);
        self.set_valid(block, if is_taken { valid | TAKEN } else { valid });
    }

    #[inline(always)]
    fn set_valid(&mut self, block: u32, valid: u32) {
        self.of.valid.as_mut()[index(block)] = valid;
        let least = &mut self.of.least.as_mut()[index(block / GROUP)];
        *least = valid.min(*least);
    }

    /// Pages of a block.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Pages of a block on each of its chips.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// How many blocks there are.
    pub fn count(&self) -> u32 {
        word(self.of.valid.as_ref().len())
    }

    /// The logical page in each page, [`NONE`] where it is stale or not programmed.
    pub fn lpns(&self) -> &[u32] {
        self.of.lpns.as_ref()
    }

    /// The logical page in a page.
    pub fn lpn(&self, page: u32) -> u32 {
        self.of.lpns.as_ref()[index(page)]
    }

    /// A page of a zone holds a logical page, the latest one or an older one.
    pub(crate) fn hold(&mut self, page: u32, lpn: u32) {
        self.of.lpns.as_mut()[index(page)] = lpn;
    }

    /// Valid pages of a block.
    pub fn valid(&self, block: u32) -> u32 {
        self.of.valid.as_ref()[index(block)] & !(TAKEN | RETIRED)
    }

    /// Erased blocks, but for those that take pages already, and those that are kept back.
    pub fn erased_blocks(&self) -> u32 {
        self.erased_blocks.saturating_sub(self.spare)
    }

    /// The block that takes pages, and its next page; `None` where none is open.
    pub fn frontier(&self, stream: Frontiers) -> Option<Frontier> {
        self.frontiers[stream as usize]
    }

    /// Pages that the frontier's block still takes.
    pub fn rest(&self, stream: Frontiers) -> u32 {
        self.frontier(stream).map_or(0, |frontier| self.pages - frontier.next)
    }

    /// Programs the next page of a frontier, and returns it. A frontier without a block opens an
    /// erased one; `None` if there is none.
    #[inline(always)]
    pub fn program(&mut self, stream: Frontiers, lpn: u32) -> Option<Frontier> {
        let at = match self.frontier(stream) {
            Some(at) => at,
            None => Frontier { block: self.pop_erased()?, next: 0 },
        };
        let page = self.page(at);
        self.of.lpns.as_mut()[index(page)] = lpn;
        let bit = self.bit_at(at.block, at.next);
        marks(self.of.bits.as_mut(), bit);
        let valid = &mut self.of.valid.as_mut()[index(at.block)];
        *valid += 1;
        let next = at.next + 1;
        let frontier = (next < self.pages).then_some(Frontier { next, ..at });
        if frontier.is_none() {
            // Closed with its last page.
            let valid = *valid & !TAKEN;
            self.set_valid(at.block, valid);
        }
        self.frontiers[stream as usize] = frontier;
        Some(at)
    }

    /// A valid page becomes stale.
    #[inline(always)]
    pub fn invalidate(&mut self, page: u32) {
        let (block, place) = self.block_and_page(page);
        self.of.lpns.as_mut()[index(page)] = NONE;
        let bit = self.bit_at(block, place);
        clears(self.of.bits.as_mut(), bit);
        self.set_valid(block, self.of.valid.as_ref()[index(block)] - 1);
    }

    /// The closed block with the fewest valid pages that is not a victim yet, the lowest among
    /// equals. Takes a step for each group of blocks, and for each block of one group.
    pub fn fewest_valid(&self) -> Option<u32> {
        let groups = self.of.least.as_ref();
        let fewest = groups.iter().copied().min().filter(|&fewest| fewest < TAKEN)?;
        let group = groups.iter().position(|&least| least == fewest)?;
        let first = group * index(GROUP);
        let place = self.of.valid.as_ref()[first..].iter().position(|&valid| valid == fewest)?;
        u32::try_from(first + place).ok()
    }

    /// Closed blocks that are no victims yet, with their valid pages.
    pub fn closed(&self) -> impl Iterator<Item = Victim> + '_ {
        let all = (0..).zip(self.of.valid.as_ref().iter());
        all.map(|(block, &valid)| Victim { block, valid }).filter(|of| of.valid < TAKEN)
    }

    /// Takes a block out of the candidates.
    pub fn take_victim(&mut self, block: u32) {
        let valid = self.of.valid.as_mut();
        valid[index(block)] |= TAKEN;
        let group = index(block / GROUP);
        let of_group = valid.iter().skip(group * index(GROUP)).take(index(GROUP));
        self.of.least.as_mut()[group] = of_group.copied().fold(u32::MAX, u32::min);
    }

    /// The first valid page of `block` on one of its chips from its row `from` on: the row.
    pub fn next_valid(&self, block: u32, chip: u32, from: u32) -> Option<u32> {
        let first = block * self.pages + chip * self.rows;
        let (start, end) = (first + from, first + self.rows);
        let words = self.of.bits.as_ref();
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
    /// If it holds a valid page: a pass that is over has copied what was valid.
    pub fn erase(&mut self, block: u32) {
        assert_eq!(self.valid(block), 0, "a victim that is erased holds nothing valid");
        marks(self.of.erased.as_mut(), block);
        self.erased_blocks += 1;
        self.lowest = self.lowest.min(block / 64);
        if let Some(wear) = &mut self.wear {
            wear.count(block);
        }
    }

    #[inline(always)]
    fn bit_at(&self, block: u32, place: u32) -> u32 {
        let first = block * self.pages;
        if self.width == 1 {
            return first + place;
        }
        first + place % self.width * self.rows + place / self.width
    }

    /// The number of a frontier's next page.
    pub fn page(&self, at: Frontier) -> u32 {
        at.block * self.pages + at.next
    }

    /// The block of a page and the page's number in it.
    pub fn block_and_page(&self, page: u32) -> (u32, u32) {
        (page / self.pages, page % self.pages)
    }
}
