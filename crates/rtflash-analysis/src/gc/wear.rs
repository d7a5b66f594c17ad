//! Garbage collection that leaves jobs for wear (docs/analysis.md, Section 19).

use rtflash_model::Collection;

use crate::organisation::processor::Processor;

impl Processor {
    /// α, Eq. (84), of a victim with `valid` pages, fewer than there are.
    pub(crate) fn reclaimed(&self, valid: u64) -> u64 {
        let gained = self.block_pages - valid;
        let for_wear = self.wear_passes.map_or(0, |passes| gained.div_ceil(passes.into()));
        gained.saturating_sub(for_wear).max(1)
    }

    /// α + v, and what α leaves for wear.
    pub(crate) fn emptied(&self, valid: u64, reclaimed: u64) -> Option<u64> {
        let pages = valid.checked_add(reclaimed).filter(|&pages| pages <= self.block_pages)?;
        Some(if self.wear_passes.is_some() { self.block_pages } else { pages })
    }

    /// δ: pages of H that may be taken for wear.
    pub fn for_wear(&self, of: &Collection) -> u64 {
        let taken = of.victim_pages.saturating_add(of.reclaimed_pages);
        self.emptied(of.victim_pages, of.reclaimed_pages).map_or(0, |pages| pages - taken)
    }
}
