//! Blocks that have failed, and those that are kept back for them.

use super::{Blocks, RETIRED, TAKEN, Victim};
use crate::memory::{Memory, index};

impl<M: Memory> Blocks<M> {
    pub(crate) fn keep_back(&mut self, blocks: u32) {
        self.spare = blocks;
    }

    pub(crate) fn kept_back(&self) -> u32 {
        self.spare
    }

    /// A block has failed, rule B2: nothing is programmed to it or erased any more. Says whether
    /// one that was kept back takes its place; `anew`: that is possible.
    pub(crate) fn retire(&mut self, block: u32, anew: bool) -> bool {
        if self.open.is_some_and(|open| open.block == block) {
            self.open = None;
        }
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

    #[inline]
    pub(crate) fn is_retired(&self, block: u32) -> bool {
        self.of.valid.as_ref()[index(block)] & RETIRED != 0
    }

    /// The lowest block that has failed and holds valid pages. Takes a step for each block where
    /// one has failed.
    pub(crate) fn retired_with_pages(&self) -> Option<Victim> {
        let mut all = 0..if self.retired > 0 { self.count() } else { 0 };
        let block = all.find(|&block| self.is_retired(block) && self.valid(block) > 0)?;
        Some(Victim { block, valid: self.valid(block) })
    }
}
