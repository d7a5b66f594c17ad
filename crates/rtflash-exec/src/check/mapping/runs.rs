//! Pages that follow each other on a chip of a stripe, or in steps of a superblock.

use rtflash_model::Instant;

use super::rows::RowPages;
use super::{MappedCluster, Mapping, TAKEN};
use crate::check::WatchedChip;
use crate::ids::{BlockId, ClusterId, ColumnId, Lpn, PerId};
use crate::trace::{NONE, Operation, StepHead, StepPage};

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

    /// What is known of a superblock, by its first chip.
    #[inline(always)]
    pub(in crate::check) fn row_map(&mut self, cluster: ClusterId, first: usize) -> RowMap<'_> {
        let first = first * self.blocks;
        let MappedCluster { full, spots, .. } = &mut self.clusters[cluster];
        RowMap {
            spots,
            valid: &mut self.valid[first..][..self.blocks],
            programmed: &mut self.programmed[first..][..self.blocks],
            last: &mut self.rows[cluster],
            full: *full,
            pages: self.pages,
            blocks: self.blocks_per_chip,
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

/// The pages of a superblock, while its steps are looked at.
pub(in crate::check) struct RowMap<'m> {
    spots: &'m mut PerId<Lpn, u32>,
    valid: &'m mut [u32],
    programmed: &'m mut [u32],
    last: &'m mut RowPages,
    /// Pages of a block of it.
    full: u32,
    /// Pages of a block of a chip, and its blocks.
    pages: u32,
    blocks: u32,
}

impl RowMap<'_> {
    /// A block of the chip at a position, among those of all chips, one behind the other.
    #[inline(always)]
    pub(in crate::check) fn block(&self, position: ColumnId, block: BlockId) -> BlockId {
        BlockId(position.0 * self.blocks + block.0)
    }

    /// Whether a chip has such a block.
    #[inline(always)]
    pub(in crate::check) fn has_block(&self, block: BlockId) -> bool {
        block.0 < self.blocks
    }

    /// Where a page of one of these blocks is, as [`Mapping::spot`] says.
    #[inline(always)]
    pub(in crate::check) fn spot(&self, block: BlockId, page: u32) -> u32 {
        block.0 * self.pages + page
    }

    /// Whether a logical page is there now.
    #[inline(always)]
    pub(in crate::check) fn is_at(&self, lpn: Lpn, spot: u32) -> bool {
        self.spots.get(lpn) == Some(&spot)
    }

    /// Whether there is such a logical page.
    #[inline(always)]
    pub(in crate::check) fn has(&self, lpn: Lpn) -> bool {
        self.spots.get(lpn).is_some()
    }

    /// A logical page, which there is, is programmed here: in its step it is programmed once.
    #[inline(always)]
    pub(in crate::check) fn programs(&mut self, page: &StepPage, here: u32) {
        let block = page.block;
        let old = std::mem::replace(&mut self.spots[page.lpn], here);
        let programmed = &mut self.programmed[block.index()];
        *programmed += 1;
        let is_full = *programmed == self.full;
        if old != NONE {
            // A block of a superblock is known by its number on each chip.
            let valid = &mut self.valid[BlockId(old / self.pages % self.blocks).index()];
            // In a trace, more pages may become stale than were programmed.
            *valid -= u32::from(*valid & !TAKEN != 0);
        }
        let valid = &mut self.valid[block.index()];
        // Closed with its last page.
        *valid = if is_full { *valid & !TAKEN } else { *valid } + 1;
    }

    /// This step is the last one that has programmed any.
    #[inline(always)]
    pub(in crate::check) fn programs_last(&mut self, (head, pages): (&StepHead, &[StepPage])) {
        self.last.adds_all(head.start, pages);
    }
}
