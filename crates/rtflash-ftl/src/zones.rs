//! The zones of a chip: where each ring goes on, which of its blocks is to be reset first, and
//! which block takes the place of one that has failed.

use crate::memory::{Memory, NONE, has, index, marks, takes, word};

/// Words of memory that a ring takes.
pub const RING_WORDS: usize = 4;

/// A ring on one chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ring {
    /// Its first place. A ring has a place for each of its blocks; until a block fails, the block
    /// in a place has the same number.
    pub first: u32,
    /// How many pages it has.
    pub pages: u32,
    /// Its next page, counted through its places.
    pub next: u32,
}

/// The state of the zones of a chip of N blocks.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound = "M: crate::memory::KeptMemory"))]
pub struct ZoneMemory<M: Memory> {
    /// [`RING_WORDS`] words for each ring, as [`Ring::words`] has them, in the order of their
    /// places.
    pub rings: M::Words,
    /// N words: the block in each place; [`NONE`] where one has failed for which there is no other.
    pub blocks: M::Words,
    /// ⌈N/64⌉ words: a bit for each block, whether anything is in it.
    pub written: M::Bits,
    /// ⌈N/64⌉ words: a bit for each erased block in no place, which is kept for those that fail.
    pub kept_back: M::Bits,
}

/// The rings of a chip.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound = "M: crate::memory::KeptMemory"))]
pub struct Zones<M: Memory> {
    pub(crate) of: ZoneMemory<M>,
    /// P.
    pub(crate) block_pages: u32,
}

impl<M: Memory> Zones<M> {
    /// Rings as a device begins with them: each place has the block with its number. The last
    /// `spare` blocks are kept for those that fail, if they are erased.
    pub fn at_start(
        mut memory: ZoneMemory<M>,
        block_pages: u32,
        spare: u32,
        mut is_written: impl FnMut(u32) -> bool,
    ) -> Zones<M> {
        memory.written.as_mut().fill(0);
        memory.kept_back.as_mut().fill(0);
        let places = memory.blocks.as_mut();
        let owned = word(places.len()) - spare;
        for (block, place) in (0..).zip(places) {
            *place = if block < owned { block } else { NONE };
            if is_written(block) {
                marks(memory.written.as_mut(), block);
            } else if block >= owned {
                marks(memory.kept_back.as_mut(), block);
            }
        }
        Zones { of: memory, block_pages }
    }

    fn ring(&self, number: usize) -> Ring {
        let [first, pages, next, _] = self.of.rings.as_ref().as_chunks::<RING_WORDS>().0[number];
        Ring { first, pages, next }
    }

    /// The page that was programmed last before a recovery in the ring of this place, or [`NONE`].
    pub(crate) fn latest_of(&self, place: u32) -> u32 {
        let at = ring_at(self.of.rings.as_ref(), place);
        self.of.rings.as_ref().get(at * RING_WORDS + 3).copied().unwrap_or(NONE)
    }

    /// The block, and the page in it, of the next page of the ring of this place; `None` if no
    /// block is there.
    fn next(&self, place: u32) -> Option<(u32, u32)> {
        let ring = self.ring(ring_at(self.of.rings.as_ref(), place));
        let block = self.of.blocks.as_ref()[index(ring.first + ring.next / self.block_pages)];
        (block != NONE).then_some((block, ring.next % self.block_pages))
    }

    pub(crate) fn has_room(&self, place: u32) -> bool {
        self.next(place).is_some()
    }

    /// Rule Z2: the block that has to be reset before the ring that has this place goes on.
    pub fn to_reset(&self, place: u32) -> Option<u32> {
        let (block, page) = self.next(place)?;
        (page == 0 && has(self.of.written.as_ref(), block)).then_some(block)
    }

    /// A block is reset.
    pub fn reset(&mut self, block: u32) {
        takes(self.of.written.as_mut(), block);
    }

    /// Rule Z1: programs the next page of the ring of this place. `None` if it has no block for it.
    pub fn program(&mut self, place: u32) -> Option<u32> {
        let (block, page) = self.next(place)?;
        let at = ring_at(self.of.rings.as_ref(), place);
        let Ring { pages, next, .. } = self.ring(at);
        self.of.rings.as_mut()[at * RING_WORDS + 2] = if next + 1 == pages { 0 } else { next + 1 };
        marks(self.of.written.as_mut(), block);
        Some(block * self.block_pages + page)
    }

    /// A block has failed: the lowest one that is kept back takes its place, and the ring goes on
    /// with the first page of that one. Takes a step for each block.
    pub(crate) fn retire(&mut self, block: u32) {
        let Some(place) = self.of.blocks.as_ref().iter().position(|&other| other == block) else { return };
        let place = word(place);
        let mut lowest = (0..).zip(self.of.kept_back.as_ref()).filter(|&(_, &word)| word != 0);
        let other = lowest.next().map(|(at, word): (u32, &u64)| at * 64 + word.trailing_zeros());
        self.of.blocks.as_mut()[index(place)] = other.unwrap_or(NONE);
        if let Some(other) = other {
            takes(self.of.kept_back.as_mut(), other);
        }
        let at = ring_at(self.of.rings.as_ref(), place);
        let first = self.ring(at).first;
        self.of.rings.as_mut()[at * RING_WORDS + 2] = (place - first) * self.block_pages;
    }
}

/// The ring that has or begins with this place, by its number among these.
pub(crate) fn ring_at(rings: &[u32], place: u32) -> usize {
    let rings = rings.as_chunks::<RING_WORDS>().0;
    rings.partition_point(|&[first, ..]| first <= place).saturating_sub(1)
}

impl Ring {
    /// How a ring is kept: the last word is the page that a recovery found to be the latest.
    pub fn words(self) -> [u32; RING_WORDS] {
        [self.first, self.pages, self.next, NONE]
    }
}
