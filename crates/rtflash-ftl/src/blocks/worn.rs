//! Which erased block is opened, and wear that is levelled (docs/analysis.md, Section 19).

use super::{Blocks, TAKEN};
use crate::memory::{Memory, index};

/// How often blocks were erased.
#[derive(Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(bound(serialize = "M::Words: serde::Serialize", deserialize = "M::Words: serde::Deserialize<'de>"))
)]
pub(super) struct EraseCounts<M: Memory> {
    /// Δ, and the erases of each block; `None` where wear is not levelled.
    levelled: Option<(u32, M::Words)>,
    /// Of the block that was erased most often.
    most: u32,
}

impl<M: Memory> EraseCounts<M> {
    pub(super) fn none() -> EraseCounts<M> {
        EraseCounts { levelled: None, most: 0 }
    }

    #[inline]
    pub(super) fn is_levelled(&self) -> bool {
        self.levelled.is_some()
    }

    /// A block was erased.
    #[inline]
    pub(super) fn erased(&mut self, block: u32) {
        if let Some((_, erases)) = &mut self.levelled {
            let of = &mut erases.as_mut()[index(block)];
            *of = of.saturating_add(1);
            self.most = self.most.max(*of);
        }
    }
}

impl<M: Memory> Blocks<M> {
    /// Levels wear from now on, with this Δ; `erases` has how often each block was erased.
    pub(crate) fn level(&mut self, gap: u32, erases: M::Words) {
        let most = erases.as_ref().iter().copied().fold(0, u32::max);
        self.wear = EraseCounts { levelled: Some((gap, erases)), most };
    }

    /// How often a block was erased; 0 where wear is not levelled.
    pub fn erases(&self, block: u32) -> u32 {
        self.wear.levelled.as_ref().map_or(0, |(_, erases)| erases.as_ref()[index(block)])
    }

    /// Takes the lowest erased block, where wear is levelled the least worn one.
    pub(super) fn pop_erased(&mut self) -> Option<u32> {
        if self.erased_blocks <= self.spare {
            return None;
        }
        if self.wear.is_levelled() {
            return self.pop_least_worn();
        }
        let erased = self.erased.as_mut();
        while let Some(word) = erased.get_mut(index(self.lowest)) {
            if *word != 0 {
                let block = self.lowest * 64 + word.trailing_zeros();
                *word &= *word - 1;
                self.erased_blocks -= 1;
                return Some(block);
            }
            self.lowest += 1;
        }
        None
    }

    /// Rule L1: takes the erased block that was erased least often, the lowest among equals. Looks
    /// at all that are erased.
    fn pop_least_worn(&mut self) -> Option<u32> {
        let (_, erases) = self.wear.levelled.as_ref()?;
        let words = (0..).zip(self.erased.as_ref().iter().copied());
        let blocks = words
            .flat_map(|(word, bits)| (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit));
        let block = blocks.min_by_key(|&block| (erases.as_ref()[index(block)], block))?;
        self.erased.as_mut()[index(block / 64)] &= !(1 << (block % 64));
        self.erased_blocks -= 1;
        Some(block)
    }

    /// Rule L2: the closed block with valid pages that was erased least often, the lowest among
    /// equals, if that is Δ times less than another one. Looks at all blocks.
    pub(crate) fn least_worn_with_pages(&self) -> Option<(u32, u32)> {
        let (gap, erases) = self.wear.levelled.as_ref()?;
        let erases_of = |block: u32| erases.as_ref()[index(block)];
        let held = self.closed().filter(|&(_, valid)| valid > 0);
        let (block, valid) = held.min_by_key(|&(block, _)| (erases_of(block), block))?;
        (self.wear.most.saturating_sub(erases_of(block)) >= *gap).then_some((block, valid))
    }

    /// A block whose pages were moved may be a victim again.
    pub(crate) fn give_back(&mut self, block: u32) {
        if self.is_retired(block) {
            return;
        }
        let valid = &mut self.valid.as_mut()[index(block)];
        *valid &= !TAKEN;
        let valid = *valid;
        self.may_be_least(block, valid);
    }
}
