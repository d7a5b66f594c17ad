//! Which erased block is opened, and wear that is levelled (docs/analysis.md, Section 19).

use super::{Blocks, TAKEN, Victim};
use crate::memory::{Memory, has, index, takes};

/// How often blocks were erased.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound = "M: crate::memory::KeptMemory"))]
pub(super) struct EraseCounts<M: Memory> {
    /// Δ.
    gap: u32,
    erases: M::Words,
    most: u32,
}

impl<M: Memory> EraseCounts<M> {
    fn of(&self, block: u32) -> u32 {
        self.erases.as_ref()[index(block)]
    }

    pub(super) fn count(&mut self, block: u32) {
        let of = &mut self.erases.as_mut()[index(block)];
        *of = of.saturating_add(1);
        self.most = self.most.max(*of);
    }
}

impl<M: Memory> Blocks<M> {
    pub(crate) fn level(&mut self, gap: u32, erases: M::Words) {
        let most = erases.as_ref().iter().copied().fold(0, u32::max);
        self.wear = Some(EraseCounts { gap, erases, most });
    }

    /// How often a block was erased; 0 where wear is not levelled.
    pub fn erases(&self, block: u32) -> u32 {
        self.wear.as_ref().map_or(0, |wear| wear.of(block))
    }

    /// Takes the lowest erased block; where wear is levelled the least worn one, the lowest among
    /// equals (rule L1), with a step for each block.
    pub(super) fn pop_erased(&mut self) -> Option<u32> {
        if self.erased_blocks <= self.spare {
            return None;
        }
        let (blocks, erased) = (self.count(), self.of.erased.as_mut());
        let block = if let Some(wear) = &self.wear {
            let all = (0..blocks).filter(|&block| has(erased, block));
            all.min_by_key(|&block| (wear.of(block), block))?
        } else {
            while *erased.get(index(self.lowest))? == 0 {
                self.lowest += 1;
            }
            self.lowest * 64 + erased[index(self.lowest)].trailing_zeros()
        };
        takes(erased, block);
        self.erased_blocks -= 1;
        Some(block)
    }

    /// Rule L2: the least worn closed block with valid pages, the lowest among equals, if another
    /// one was erased Δ times more. Takes a step for each block.
    pub(crate) fn least_worn_with_pages(&self) -> Option<Victim> {
        let wear = self.wear.as_ref()?;
        let held = self.closed().filter(|of| of.valid > 0);
        let least = held.min_by_key(|of| (wear.of(of.block), of.block))?;
        (wear.most.saturating_sub(wear.of(least.block)) >= wear.gap).then_some(least)
    }

    /// A block whose pages were moved can be a victim again.
    pub(crate) fn give_back(&mut self, block: u32) {
        if !self.is_retired(block) {
            let valid = self.of.valid.as_ref()[index(block)] & !TAKEN;
            self.set_valid(block, valid);
        }
    }
}
