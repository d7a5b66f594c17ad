//! Pages that follow each other on a chip of a stripe, or in steps of a superblock.

use rtflash_model::Instant;

use super::{MappedCluster, Mapping, TAKEN};
use crate::check::WatchedChip;
use crate::ids::{BlockId, ChipId, ClusterId, ColumnId, Lpn};
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

    /// Logical pages, which there are, are programmed in a step of a superblock, on a chip and on
    /// those behind it: nothing but these, and each of them once.
    #[inline(always)]
    pub(in crate::check) fn programs_row(
        &mut self,
        operations: &[Operation],
        at: WatchedChip,
        position: impl Fn(ChipId) -> ColumnId,
    ) {
        let (pages, blocks) = (self.pages, self.blocks_per_chip);
        let MappedCluster { full, spots, .. } = &mut self.clusters[at.cluster];
        let first = (at.watched - at.position.index()) * self.blocks;
        let (valid, programmed) = (&mut self.valid[first..][..self.blocks], &mut self.programmed[first..]);
        self.rows[at.cluster].adds_all(operations);
        for operation in operations {
            let block = operation.block;
            let here = (position(operation.chip).0 * blocks + block.0) * pages + operation.page;
            let old = std::mem::replace(&mut spots[operation.lpn], here);
            let programmed = &mut programmed[block.index()];
            *programmed += 1;
            let is_full = *programmed == *full;
            if old != NONE {
                // A block of a superblock is known by its number on each chip.
                let valid = &mut valid[BlockId(old / pages % blocks).index()];
                // In a trace, more pages may become stale than were programmed.
                *valid -= u32::from(*valid & !TAKEN != 0);
            }
            let valid = &mut valid[block.index()];
            // Closed with its last page.
            *valid = if is_full { *valid & !TAKEN } else { *valid } + 1;
        }
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
