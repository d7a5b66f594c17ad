//! Pages of a chip that are copied from one place to another, without certificates.

use rtflash_model::Instant;

use super::{Mapping, TAKEN};
use crate::check::WatchedChip;
use crate::ids::{BlockId, ClusterId, Lpn, PerId};
use crate::trace::{CopiedPage, NONE, Operation};

/// The pages of a chip.
pub(in crate::check) struct PlainPages<'m> {
    spots: &'m mut PerId<Lpn, u32>,
    /// Of each block of the chip.
    valid: &'m mut [u32],
    programmed: &'m mut [u32],
    pages: u32,
    /// The position of the chip among those of its cluster.
    chips: (u32, u32),
    /// Where the first page of the chip is, as a number.
    first: u32,
}

impl Mapping {
    /// Whether copies of a cluster are all alike: page by page, each block by itself, and none may
    /// fail.
    pub(in crate::check) fn has_plain_copies(&self, cluster: ClusterId) -> bool {
        let shape = self.clusters[cluster].shape;
        !shape.stripe && !shape.superblock && self.last.is_empty()
    }

    /// The pages of a chip of such a cluster.
    pub(in crate::check) fn plain_pages(&mut self, at: WatchedChip) -> PlainPages<'_> {
        let first = self.spot(at.position, BlockId(0), 0);
        let blocks = at.watched * self.blocks..(at.watched + 1) * self.blocks;
        PlainPages {
            chips: (at.position.0, self.clusters[at.cluster].shape.chips),
            spots: &mut self.clusters[at.cluster].spots,
            valid: &mut self.valid[blocks.clone()],
            programmed: &mut self.programmed[blocks],
            pages: self.pages,
            first,
        }
    }

    /// A logical page is programmed on such a chip: says whether there is such a page, and if not,
    /// nothing has changed.
    #[inline(always)]
    pub(in crate::check) fn programs_plainly(&mut self, operation: &Operation, at: WatchedChip) -> bool {
        let here = self.spot(at.position, operation.block, operation.page);
        let (first, blocks) = (at.watched - at.position.index(), self.blocks);
        let Some(known) = self.clusters[at.cluster].spots.get_mut(operation.lpn) else { return false };
        let old = std::mem::replace(known, here);
        let new = at.watched * blocks + operation.block.index();
        self.pools[first].free -= 1;
        self.programmed[new] += 1;
        if self.programmed[new] == self.pages {
            // Closed with its last page.
            self.valid[new] &= !TAKEN;
        }
        if old != NONE {
            let valid = &mut self.valid[first * blocks + BlockId(old / self.pages).index()];
            *valid -= u32::from(*valid & !TAKEN != 0);
        }
        self.valid[new] += 1;
        true
    }

    /// Whether a cluster is a stripe no block of which may fail, and whose wear is not levelled.
    #[inline]
    pub(in crate::check) fn is_plain_stripe(&self, cluster: ClusterId) -> bool {
        self.clusters[cluster].shape.stripe && self.is_plain()
    }

    /// Free pages of a processor at an instant, by its first chip, if they are known and no erase
    /// is under way.
    pub(in crate::check) fn lasting_free_in(&mut self, pool: usize, at: Instant) -> Option<u64> {
        let free = self.free_in(pool, at);
        free.filter(|_| self.pools[pool].erases.is_empty())
    }

    /// So many pages have been copied on a chip of a stripe: the last one to this place, from then
    /// on.
    pub(in crate::check) fn copied(
        &mut self,
        at: WatchedChip,
        (lpn, (block, page)): (Lpn, (BlockId, u32)),
        start: Instant,
        pages: usize,
    ) {
        let pages = i64::try_from(pages).expect("a device that is run has at most 2^30 pages");
        self.pools[at.watched].free -= pages;
        self.rows[at.cluster].begins(start, (lpn, page, block));
    }

    /// So many free pages of such a chip are programmed.
    pub(in crate::check) fn takes(&mut self, at: WatchedChip, pages: usize) {
        let pages = i64::try_from(pages).expect("a device that is run has at most 2^30 pages");
        self.pools[at.watched - at.position.index()].free -= pages;
    }
}

impl PlainPages<'_> {
    /// Where a page is, as a number.
    #[inline(always)]
    pub(in crate::check) fn spot(&self, (block, page): (BlockId, u32)) -> u32 {
        // A device that is run has at most 2^30 pages.
        self.first.wrapping_add(block.0.wrapping_mul(self.pages)).wrapping_add(page)
    }

    /// Whether a logical page is one of this chip in a stripe.
    #[inline(always)]
    pub(in crate::check) fn is_of_chip(&self, lpn: Lpn) -> bool {
        let (position, chips) = self.chips;
        lpn.0 % chips == position
    }

    /// Copies from the block of the first one to pages of another that follow each other, the next
    /// one of which is this: each page was where it is said to have been, and is where it is copied
    /// to from then on. Says how many such copies there are, until the first one that is not;
    /// `in_stripe`: also one that is not of this chip there.
    #[inline(always)]
    pub(in crate::check) fn move_together<'c>(
        &mut self,
        copies: impl Iterator<Item = &'c CopiedPage>,
        first: &CopiedPage,
        in_stripe: bool,
    ) -> u32 {
        let (victim, target) = (first.from.0, first.to.0);
        let (old, new) = (victim.index(), target.index());
        if old == new || old.max(new) >= self.valid.len().min(self.programmed.len()) {
            return 0;
        }
        let (there, mut here, mut page) = (self.spot((victim, 0)), self.spot(first.to), first.to.1);
        let mut count = 0;
        for &CopiedPage { lpn, from, to } in copies {
            if from.0 != victim || to != (target, page) || from.1.max(page) >= self.pages {
                break;
            }
            if in_stripe && !self.is_of_chip(lpn) {
                break;
            }
            let Some(known) = self.spots.get_mut(lpn).filter(|known| **known == there + from.1) else { break };
            *known = here;
            (here, page, count) = (here + 1, page + 1, count + 1);
        }
        let before = self.programmed[new];
        self.programmed[new] += count;
        if before < self.pages && self.programmed[new] >= self.pages {
            // Closed with its last page.
            self.valid[new] &= !TAKEN;
        }
        let valid = &mut self.valid[old];
        *valid -= count.min(*valid & !TAKEN);
        self.valid[new] += count;
        count
    }

    /// A logical page that was there is here from now on: says whether it was, and if not, nothing
    /// has changed.
    #[inline(always)]
    pub(in crate::check) fn moves(
        &mut self,
        lpn: Lpn,
        (from, there): ((BlockId, u32), u32),
        (to, here): ((BlockId, u32), u32),
    ) -> bool {
        let (old, new) = (from.0.index(), to.0.index());
        let Some(known) = self.spots.get_mut(lpn) else { return false };
        let is_there = *known == there && there != NONE && from.1 < self.pages;
        if !is_there || old.max(new) >= self.valid.len().min(self.programmed.len()) {
            return false;
        }
        *known = here;
        self.programmed[new] += 1;
        if self.programmed[new] == self.pages {
            // Closed with its last page.
            self.valid[new] &= !TAKEN;
        }
        let valid = &mut self.valid[old];
        *valid -= u32::from(*valid & !TAKEN != 0);
        self.valid[new] += 1;
        true
    }
}
