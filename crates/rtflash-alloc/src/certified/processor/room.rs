//! Whether there is room for garbage collection.

use rtflash_model::Span;

use super::{Processor, WriteStream};
use crate::reason::NoRoomForGc;

impl Processor {
    /// The longest deadline of garbage collection within which one request of each writer arrives
    /// at most: min (T − J); `None` without writers.
    pub(crate) fn shortest_gc_deadline(&self) -> Option<Span> {
        let window = |writer: &WriteStream| writer.period.checked_sub(writer.jitter).expect("J < T");
        self.write_streams.iter().map(window).min()
    }

    /// A number by which processors without room for garbage collection are ordered; nothing is
    /// decided by it. How many times the blocks that there are would be needed for a pass to
    /// reclaim anything.
    pub(in crate::certified) fn crowding(&self) -> f64 {
        let pages = self.pending().saturating_mul(2).saturating_add(self.block_pages) as f64;
        let open = (pages / self.block_pages as f64).floor() + 1.0;
        (open + self.mapped as f64 / self.block_pages as f64) / self.blocks.max(1) as f64
    }

    /// F + ⌊Λ/PP⌋ + 1, where that is more than the N blocks that there are: at the shortest
    /// deadline of garbage collection, when the reserve is the smallest, no pass reclaims anything.
    pub fn too_few_blocks(&self) -> Option<NoRoomForGc> {
        // A = W at the shortest deadline: one request of each writer.
        let (arrivals, pending) = (self.pending(), self.pending());
        let reserve = arrivals.saturating_add(self.block_pages - 1);
        let open = reserve.saturating_sub(1).saturating_add(pending) / self.block_pages + 1;
        let needed_blocks = open.saturating_add(self.mapped / self.block_pages).saturating_add(1);
        (needed_blocks > self.blocks).then_some(NoRoomForGc { needed_blocks, blocks: self.blocks })
    }
}
