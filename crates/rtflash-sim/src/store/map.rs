//! The page map of a cluster, and where its pages go.

use std::ops::Range;

use prefetch_index::prefetch_index;
use rtflash_ftl::Frontiers;
use rtflash_model::random::Stream as Random;
use rtflash_model::{Lpn, PerId};
use rtflash_plan::{BlockId, ClusterPlan, ColumnId, Layout, Options, PageId, WorstStart, aged_chip};
use rtflash_trace::{NO_LPN, NONE};
use serde::{Deserialize, Serialize};

use crate::flash::ChipBlocks;
use crate::store::page_store::{PagePlace, PageStore, fullest};

/// The logical pages of a cluster on its chips.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PageMap {
    pages_per_chip: u32,
    pub(super) chips: PerId<ColumnId, ChipBlocks>,
    /// Where each logical page is: position of the chip · pages of a chip + page.
    places: PerId<Lpn, u32>,
    free: u64,
}

impl PageMap {
    /// The map that a run begins with.
    pub(crate) fn new(cluster: &ClusterPlan, options: &Options) -> PageMap {
        let layout: &Layout = &cluster.layout;
        let pages_per_chip = layout.pages_per_chip();
        let spot = |chip: ColumnId, block: BlockId, page| chip.0 * pages_per_chip + block.0 * layout.pages() + page;
        let known = WorstStart::new(layout, None, options.aging)
            .map(|start| start.places(ColumnId::first(layout.chips()), spot));
        let is_known = known.is_some();
        let mut places = known.unwrap_or_else(|| PerId::filled(NONE, layout.logical_pages()));
        let mut free = 0;
        let mut chips = PerId::default();
        for (&chip, position) in cluster.chips.iter().zip((0..).map(ColumnId)) {
            let mut random = Random::numbered(options.seed, b"aging\0\0\0", chip.into());
            let aged = aged_chip(layout, options.aging, position, &mut random);
            let held = (position.0 * pages_per_chip..).zip(&aged.lpns);
            for (place, &lpn) in held.filter(|&(_, &lpn)| !is_known && lpn != NO_LPN) {
                places[lpn] = place;
            }
            free += u64::from(layout.blocks() - aged.full_blocks) * u64::from(layout.pages());
            chips.push(ChipBlocks::new(layout.blocks(), layout.pages(), aged.lpns));
        }
        PageMap { pages_per_chip, chips, places, free }
    }

    /// The position in the cluster of the chip that holds a logical page.
    pub(crate) fn chip_of(&self, lpn: Lpn) -> ColumnId {
        ColumnId(self.places[lpn] / self.pages_per_chip)
    }

    /// What an entry of the map says: a chip, and a page of it.
    fn split(&self, place: u32) -> (ColumnId, PageId) {
        (ColumnId(place / self.pages_per_chip), PageId(place % self.pages_per_chip))
    }

    /// The block of a page numbered through its chip, and the page's number in it.
    pub(crate) fn block_and_page(&self, page: PageId) -> (BlockId, u32) {
        self.chips[ColumnId(0)].block_and_page(page)
    }

    /// Valid pages of a block of a chip.
    pub(crate) fn valid(&self, chip: ColumnId, block: BlockId) -> u32 {
        self.chips[chip].valid(block)
    }

    /// Programs a logical page on a chip that has room for it; the page it was on before is stale.
    pub(crate) fn write(&mut self, lpn: Lpn, chip: ColumnId) -> Option<PagePlace> {
        let (at, block, page) = self.chips[chip].program(Frontiers::Write, lpn)?;
        let old = std::mem::replace(&mut self.places[lpn], chip.0 * self.pages_per_chip + at.0);
        let (old_chip, old_page) = self.split(old);
        self.chips[old_chip].invalidate(old_page);
        self.free -= 1;
        Some(PagePlace { chip, block, page })
    }

    /// Copies a page of a chip, numbered through it, to the chip's copy block, if it still holds
    /// this logical page; returns the new page, numbered likewise, and where it is.
    #[inline]
    pub(super) fn copy(&mut self, chip: ColumnId, page: PageId, lpn: Lpn) -> Option<(PageId, PagePlace)> {
        let blocks = &mut self.chips[chip];
        if blocks.lpn(page) != lpn {
            return None;
        }
        let (copy, block, place) = blocks.program(Frontiers::Copy, lpn)?;
        blocks.invalidate(page);
        self.places[lpn] = chip.0 * self.pages_per_chip + copy.0;
        self.free -= 1;
        Some((copy, PagePlace { chip, block, page: place }))
    }

    /// Erases a victim.
    pub(super) fn erase(&mut self, chip: ColumnId, block: BlockId, pages: u32) {
        self.chips[chip].erase(block);
        self.free += u64::from(pages);
    }
}

impl PageStore for PageMap {
    fn locate(&self, lpn: Lpn) -> PagePlace {
        let (chip, page) = self.split(self.places[lpn]);
        let (block, page) = self.chips[chip].block_and_page(page);
        PagePlace { chip, block, page }
    }

    /// Of the whole cluster: erased blocks, and what is left of open and copy blocks.
    fn free(&self) -> u64 {
        self.free
    }

    fn fullest(&self, range: &Range<Lpn>, pages: u64) -> Vec<Lpn> {
        fullest(self.chips.enumerate().map(|(chip, of)| (chip, of.untyped())), range, pages)
    }

    #[inline]
    fn prefetch_place(&self, lpn: Lpn) {
        prefetch_index(self.places.as_slice(), lpn.index());
    }

    #[inline]
    fn prefetch_page(&self, lpn: Lpn) {
        let (chip, page) = self.split(self.places[lpn]);
        self.chips[chip].prefetch(page);
    }
}
