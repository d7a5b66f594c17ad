//! Blocks that have failed, and those that are kept back for them.

use super::{Blocks, Frontiers, RETIRED, TAKEN, Victim};
use crate::memory::{Memory, index};

impl<M: Memory> Blocks<M> {
    pub(crate) fn keep_back(&mut self, blocks: u32) {
        self.spare = blocks;
    }

    pub(crate) fn kept_back(&self) -> u32 {
        self.spare
    }

    /// Rule B2: nothing is programmed to the block or erased from now on. True if one that was kept
    /// back takes its place, which only `anew` allows.
    pub(crate) fn retire(&mut self, block: u32, anew: bool) -> bool {
        let open = &mut self.frontiers[Frontiers::Write as usize];
        *open = open.filter(|open| open.block != block);
        if self.of.valid.as_ref()[index(block)] < TAKEN {
            self.take_victim(block);
        }
        // It is taken by now.
        self.of.valid.as_mut()[index(block)] |= RETIRED;
        self.retired += 1;
        let replaced = anew && self.spare > 0;
        self.spare -= u32::from(replaced);
        replaced
    }

    pub(crate) fn is_retired(&self, block: u32) -> bool {
        self.of.valid.as_ref()[index(block)] & RETIRED != 0
    }

    /// The lowest failed block with valid pages. Takes a step for each block, if one has failed.
    pub(crate) fn retired_with_pages(&self) -> Option<Victim> {
        let mut all = 0..if self.retired > 0 { self.count() } else { 0 };
        let block = all.find(|&block| self.is_retired(block) && self.valid(block) > 0)?;
        Some(Victim { block, valid: self.valid(block) })
    }
}
