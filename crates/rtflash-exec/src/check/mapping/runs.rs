//! Pages that follow each other on a chip of a stripe, or in steps of a superblock.

use rtflash_model::Instant;

use super::{MappedCluster, Mapping, TAKEN};
use crate::check::WatchedChip;
use crate::ids::{BlockId, ClusterId, Lpn};
use crate::trace::{NONE, Operation};

impl Mapping {
    /// Whether blocks neither fail nor are counted by their erases.
    pub(in crate::check) fn is_plain(&self) -> bool {
        self.last.is_empty() && self.wear.is_none()
    }

    /// Whether what is read on such a chip is there.
    #[inline(always)]
    pub(in crate::check) fn is_there(&self, operation: &Operation, at: WatchedChip) -> bool {
        let MappedCluster { shape, spots, .. } = &self.clusters[at.cluster];
        let here = self.spot(at.position, operation.block, operation.page);
        here != NONE && spots.get(operation.lpn) == Some(&here) && operation.lpn.0 % shape.chips == at.position.0
    }

    /// A logical page is programmed on such a chip, and not as the last one of its block. Of that
    /// [`programmed`](Mapping::programmed) tells; here it becomes stale where it was before. Says
    /// whether there is such a page, and it was in another block; if not, nothing has changed.
    #[inline(always)]
    pub(in crate::check) fn overwrites(&mut self, operation: &Operation, at: WatchedChip) -> bool {
        let here = self.spot(at.position, operation.block, operation.page);
        let MappedCluster { shape, spots, .. } = &mut self.clusters[at.cluster];
        let Some(known) = spots.get_mut(operation.lpn) else { return false };
        let (old, block) = (*known / self.pages, here / self.pages);
        let is_so = old != block
            && *known != NONE
            && operation.page + 1 < self.pages
            && operation.lpn.0 % shape.chips == at.position.0;
        if is_so {
            *known = here;
            let first = (at.watched - at.position.index()) * self.blocks;
            let valid = &mut self.valid[first + BlockId(old).index()];
            // In a trace, more pages may become stale than were programmed.
            *valid -= u32::from(*valid & !TAKEN != 0);
        }
        is_so
    }

    /// Whether a cluster is a superblock no block of which may fail, and whose wear is not
    /// levelled.
    pub(in crate::check) fn is_plain_superblock(&self, cluster: ClusterId) -> bool {
        self.clusters[cluster].shape.superblock && self.is_plain()
    }

    /// Whether there is such a logical page.
    #[inline(always)]
    pub(in crate::check) fn has(&self, cluster: ClusterId, lpn: Lpn) -> bool {
        self.clusters[cluster].spots.get(lpn).is_some()
    }

    /// A logical page, which there is, is programmed in a step of a superblock, in which nothing
    /// has been programmed yet but other pages.
    #[inline(always)]
    pub(in crate::check) fn programs_in_row(&mut self, operation: &Operation, at: WatchedChip) {
        let here = self.spot(at.position, operation.block, operation.page);
        let MappedCluster { shape, full, spots, .. } = &mut self.clusters[at.cluster];
        let old = std::mem::replace(&mut spots[operation.lpn], here);
        self.rows[at.cluster].adds(operation);
        let first = at.watched - at.position.index();
        let new = first * self.blocks + operation.block.index();
        let programmed = &mut self.programmed[new];
        *programmed += 1;
        let is_full = *programmed == *full;
        if old != NONE {
            let valid = &mut self.valid[shape.block_of((self.blocks, self.pages), first, old)];
            // In a trace, more pages may become stale than were programmed.
            *valid -= u32::from(*valid & !TAKEN != 0);
        }
        let valid = &mut self.valid[new];
        // Closed with its last page.
        *valid = if is_full { *valid & !TAKEN } else { *valid } + 1;
    }

    /// So many free pages of a processor are programmed, by its first chip.
    pub(in crate::check) fn takes_of(&mut self, pool: usize, pages: u64) {
        self.pools[pool].free -= i64::try_from(pages).expect("a device that is run has at most 2^30 pages");
    }

    /// So many pages of requests have been programmed on such a chip, in one block: the last one to
    /// this place, from then on.
    pub(in crate::check) fn programmed(
        &mut self,
        at: WatchedChip,
        (lpn, (block, page)): (Lpn, (BlockId, u32)),
        start: Instant,
        pages: usize,
    ) {
        let count = u32::try_from(pages).expect("a block has no more pages");
        let of = at.watched * self.blocks + block.index();
        self.programmed[of] += count;
        self.valid[of] += count;
        self.copied(at, (lpn, (block, page)), start, pages);
    }
}
