//! The zones of a chip: where each ring goes on, and which of its blocks is to be reset first.

use crate::memory::{Memory, index};

/// Words of memory that a ring takes.
pub const RING_WORDS: usize = 3;

/// A ring on one chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ring {
    /// Its first block.
    pub first: u32,
    /// How many pages it has.
    pub pages: u32,
    /// Its next page, counted through its blocks.
    pub next: u32,
}

/// The rings of a chip, in the order of their blocks.
#[derive(Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(bound(
        serialize = "M::Words: serde::Serialize, M::Bits: serde::Serialize",
        deserialize = "M::Words: serde::Deserialize<'de>, M::Bits: serde::Deserialize<'de>"
    ))
)]
pub struct Zones<M: Memory> {
    /// [`RING_WORDS`] words a ring: its first block, its pages, its next page.
    rings: M::Words,
    /// P.
    block_pages: u32,
    /// Whether anything is in each block.
    written: M::Bits,
}

impl<M: Memory> Zones<M> {
    /// Rings as `rings` says, [`RING_WORDS`] words each as [`Ring::words`] has them, in the order
    /// of their blocks, the first one from block 0 on. `written`: a bit for each block.
    pub fn new(rings: M::Words, block_pages: u32, written: M::Bits) -> Zones<M> {
        Zones { rings, block_pages, written }
    }

    fn ring(&self, number: usize) -> Ring {
        let words = &self.rings.as_ref()[number * RING_WORDS..];
        Ring { first: words[0], pages: words[1], next: words[2] }
    }

    /// The ring that this block belongs to, or begins.
    fn ring_of(&self, block: u32) -> usize {
        let (mut low, mut high) = (0, self.rings.as_ref().len() / RING_WORDS);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.ring(middle).first <= block {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.saturating_sub(1)
    }

    /// The ring that this block belongs to.
    pub(crate) fn ring_with(&self, block: u32) -> Ring {
        self.ring(self.ring_of(block))
    }

    /// The ring's next page, of that which a block belongs to: block, and page in it.
    fn next(&self, block: u32) -> (u32, u32) {
        let ring = self.ring(self.ring_of(block));
        (ring.first + ring.next / self.block_pages, ring.next % self.block_pages)
    }

    /// Rule Z2: the block that has to be reset before the ring to which this block belongs goes on.
    pub fn to_reset(&self, block: u32) -> Option<u32> {
        let (next, page) = self.next(block);
        let written = self.written.as_ref()[index(next / 64)] >> (next % 64) & 1 == 1;
        (page == 0 && written).then_some(next)
    }

    /// A block is reset.
    pub fn reset(&mut self, block: u32) {
        self.written.as_mut()[index(block / 64)] &= !(1 << (block % 64));
    }

    /// Rule Z1: programs the next page of the ring to which this block belongs.
    pub fn program(&mut self, block: u32) -> u32 {
        let (next, page) = self.next(block);
        let at = self.ring_of(block);
        let Ring { pages, next: place, .. } = self.ring(at);
        self.rings.as_mut()[at * RING_WORDS + 2] = if place + 1 == pages { 0 } else { place + 1 };
        self.written.as_mut()[index(next / 64)] |= 1 << (next % 64);
        next * self.block_pages + page
    }
}

impl Ring {
    /// How a ring is kept.
    pub fn words(self) -> [u32; RING_WORDS] {
        [self.first, self.pages, self.next]
    }
}
