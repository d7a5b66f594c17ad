//! The zones of a chip: where each ring goes on, and which of its blocks is to be reset first.

use serde::{Deserialize, Serialize};

use crate::ids::{BlockId, PageId, PerId};

/// A ring on one chip.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct ChipRing {
    /// Its first block.
    first: BlockId,
    /// How many pages it has.
    pages: u32,
    /// Its next page, counted through its blocks.
    next: u32,
}

/// The rings of a chip, in the order of their blocks.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ChipZones {
    rings: Vec<ChipRing>,
    /// P.
    block_pages: u32,
    /// Whether anything is in each block.
    written: PerId<BlockId, bool>,
}

impl ChipZones {
    /// Rings that begin with these blocks, of so many pages each, with their next pages.
    pub(crate) fn new(
        rings: impl Iterator<Item = (BlockId, u32, u32)>,
        block_pages: u32,
        written: PerId<BlockId, bool>,
    ) -> ChipZones {
        let rings = rings.map(|(first, pages, next)| ChipRing { first, pages, next }).collect();
        ChipZones { rings, block_pages, written }
    }

    /// The ring that this block belongs to, or begins.
    fn ring(&self, block: BlockId) -> usize {
        self.rings.partition_point(|ring| ring.first <= block) - 1
    }

    /// The ring's next page, of that which a block belongs to: block, and page in it.
    fn next(&self, block: BlockId) -> (BlockId, u32) {
        let ring = self.rings[self.ring(block)];
        (BlockId(ring.first.0 + ring.next / self.block_pages), ring.next % self.block_pages)
    }

    /// Rule Z2: the block that has to be reset before the ring to which this block belongs goes on.
    pub(crate) fn to_reset(&self, block: BlockId) -> Option<BlockId> {
        let (next, page) = self.next(block);
        (page == 0 && self.written[next]).then_some(next)
    }

    /// A block is reset.
    pub(crate) fn reset(&mut self, block: BlockId) {
        self.written[block] = false;
    }

    /// Rule Z1: programs the next page of the ring to which this block belongs.
    pub(crate) fn program(&mut self, block: BlockId) -> PageId {
        let (next, page) = self.next(block);
        let at = self.ring(block);
        let ring = &mut self.rings[at];
        ring.next = if ring.next + 1 == ring.pages { 0 } else { ring.next + 1 };
        self.written[next] = true;
        PageId(next.0 * self.block_pages + page)
    }
}
