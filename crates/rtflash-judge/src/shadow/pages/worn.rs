//! How often blocks are erased, where wear is levelled (docs/analysis.md, Section 19).

use rtflash_model::{Id, Instant};
use rtflash_plan::BlockId;
use rtflash_trace::Operation;
use serde::{Deserialize, Serialize};

use super::{Mapping, TAKEN};
use crate::WatchedChip;
use crate::gauge::Gauge;
use crate::place::Place;

/// Erases of all blocks, by their places in [`Mapping::valid`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BlockWear {
    /// Δ.
    gap: u32,
    erases: Vec<u32>,
    ends: Vec<Instant>,
    /// Chips of its row that have erased, where it is one of a superblock.
    chips: Vec<u32>,
}

impl BlockWear {
    pub(crate) fn new(gap: u32, blocks: usize) -> BlockWear {
        let (erases, chips) = (vec![0; blocks], vec![0; blocks]);
        BlockWear { gap, erases, ends: vec![Instant::START; blocks], chips }
    }

    pub(crate) fn erased(&mut self, block: usize, end: Instant, chips: u32) {
        self.ends[block] = self.ends[block].max(end);
        self.chips[block] += 1;
        if self.chips[block] == chips {
            self.chips[block] = 0;
            self.erases[block] = self.erases[block].saturating_add(1);
        }
    }

    /// The erase of a block has failed: it was none.
    pub(crate) fn erase_failed(&mut self, block: usize) {
        if std::mem::take(&mut self.chips[block]) == 0 {
            self.erases[block] = self.erases[block].saturating_sub(1);
        }
    }
}

impl Mapping {
    /// Rule L1: of the blocks erased by then, this one was erased least. `base`: the first.
    pub(crate) fn opens(&self, operation: &Operation, base: usize, block: usize, gauge: &mut Gauge) {
        let Some(wear) = &self.wear else { return };
        let of = |block: usize| (wear.erases[block], block);
        let is_erased =
            |&other: &usize| self.programmed[other] == 0 && wear.ends[other] <= operation.start && other != block;
        let before = (base..base + self.blocks).filter(is_erased).any(|other| of(other) < of(block));
        gauge.note(0, u64::from(before && self.known), || Place::from(operation));
    }

    /// Rule L2: what a void GC job may move; `None` where wear is even, or not levelled, or pages
    /// of failed blocks are to be moved.
    pub(crate) fn least_worn(&self, at: WatchedChip) -> Option<(BlockId, u32)> {
        let wear = self.wear.as_ref()?;
        let base = self.base(at);
        // Pages of blocks that have failed come first.
        let mut retired = self.retired.range(base..base + self.blocks);
        if retired.any(|&block| self.valid[block] & !TAKEN > 0) {
            return None;
        }
        let held = (base..base + self.blocks).filter(|&block| (1..TAKEN).contains(&self.valid[block]));
        let block = held.min_by_key(|&block| (wear.erases[block], block))?;
        let most = wear.erases[base..base + self.blocks].iter().copied().fold(0, u32::max);
        let is_uneven = most.saturating_sub(wear.erases[block]) >= wear.gap;
        is_uneven.then(|| (BlockId::from_index(block - base), self.valid[block]))
    }

    pub(crate) fn give_back(&mut self, at: WatchedChip, block: BlockId) {
        let of = self.base(at) + block.index();
        if !self.retired.contains(&of) {
            self.valid[of] &= !TAKEN;
        }
    }
}
