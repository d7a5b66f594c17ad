//! The page map of a cluster without certificates, and where its pages go.
//!
//! `rtflash_ftl::Pages` is not used here: a processor's page never leaves it, so a processor has a
//! map and free pages of its own. Without certificates a page goes to any chip of the cluster, so
//! these are the cluster's, and each chip has blocks, frontiers and a victim.

use std::ops::Range;

use prefetch_index::prefetch_index;
use rtflash_ftl::{Blocks, Frontier, Frontiers};
use rtflash_model::random::Stream as Random;
use rtflash_model::{Lpn, PerId};
use rtflash_plan::{BlockId, ClusterPlan, ColumnId, Options, PageId, aged_chip, aged_places};
use rtflash_trace::{NO_LPN, NONE};
use serde::{Deserialize, Serialize};

use crate::flash::Owned;
use crate::store::page_store::{PagePlace, fullest};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PageMap {
    pages_per_chip: u32,
    pages_per_block: u32,
    pub(super) chips: PerId<ColumnId, Blocks<Owned>>,
    places: PerId<Lpn, u32>,
    free: u64,
}

impl PageMap {
    pub(crate) fn new(cluster: &ClusterPlan, options: &Options) -> PageMap {
        let layout = &cluster.layout;
        let (pages_per_chip, pages_per_block) = (layout.pages_per_chip(), layout.pages());
        let known = aged_places(layout, options.aging);
        let is_known = known.is_some();
        let mut places = known.unwrap_or_else(|| PerId::filled(NONE, layout.logical_pages()));
        let mut free = 0;
        let mut chips = PerId::default();
        for (&chip, position) in cluster.chips.iter().zip((0..).map(ColumnId)) {
            let mut random = Random::numbered(options.seed, b"aging\0\0\0", chip.into());
            let lpns = aged_chip(layout, options.aging, position, &mut random);
            if !is_known {
                let held = (position.0 * pages_per_chip..).zip(&lpns);
                for (place, &lpn) in held.filter(|&(_, &lpn)| lpn != NO_LPN) {
                    places[lpn] = place;
                }
            }
            let programmed = lpns.count();
            free += u64::from(pages_per_chip - programmed);
            chips.push(Blocks::new(
                pages_per_block,
                1,
                Owned::blocks(layout.blocks(), pages_per_block, lpns),
                programmed,
            ));
        }
        PageMap { pages_per_chip, pages_per_block, chips, places, free }
    }

    /// The number of a page among all of the cluster.
    #[inline]
    fn number(&self, at: PagePlace) -> u32 {
        at.chip.0 * self.pages_per_chip + at.block.0 * self.pages_per_block + at.page
    }

    #[inline]
    fn split(&self, number: u32) -> (ColumnId, u32) {
        (ColumnId(number / self.pages_per_chip), number % self.pages_per_chip)
    }

    pub(crate) fn chip_of(&self, lpn: Lpn) -> ColumnId {
        ColumnId(self.places[lpn] / self.pages_per_chip)
    }

    #[inline]
    pub(super) fn lpn(&self, at: PagePlace) -> Lpn {
        Lpn(self.chips[at.chip].lpn(at.block.0 * self.pages_per_block + at.page))
    }

    pub(crate) fn valid(&self, chip: ColumnId, block: BlockId) -> u32 {
        self.chips[chip].valid(block.0)
    }

    /// Programs a logical page to a frontier of a chip; the page it was on before is stale.
    #[inline]
    pub(crate) fn program(&mut self, to: Frontiers, lpn: Lpn, chip: ColumnId) -> Option<PagePlace> {
        let Frontier { block, next } = self.chips[chip].program(to, lpn.0)?;
        let at = PagePlace { chip, block: BlockId(block), page: next };
        let number = self.number(at);
        let old = std::mem::replace(&mut self.places[lpn], number);
        let (old_chip, old_page) = self.split(old);
        assert!(old != number, "a page is programmed where nothing valid is");
        self.chips[old_chip].invalidate(old_page);
        self.free = self.free.checked_sub(1).expect("a page that is programmed was free");
        Some(at)
    }

    pub(super) fn erase(&mut self, chip: ColumnId, block: BlockId) {
        self.chips[chip].erase(block.0);
        self.free += u64::from(self.pages_per_block);
    }

    pub(crate) fn locate(&self, lpn: Lpn) -> PagePlace {
        let (chip, page) = self.split(self.places[lpn]);
        PagePlace { chip, block: BlockId(page / self.pages_per_block), page: page % self.pages_per_block }
    }

    /// Pages of erased blocks of the whole cluster, and the rest of open and copy blocks.
    pub(crate) fn free(&self) -> u64 {
        self.free
    }

    pub(crate) fn fullest(&self, range: &Range<Lpn>, pages: u64) -> Vec<Lpn> {
        fullest(self.chips.enumerate(), range, pages)
    }

    #[inline]
    pub(crate) fn prefetch_place(&self, lpn: Lpn) {
        prefetch_index(self.places.as_slice(), lpn.index());
    }

    #[inline]
    pub(crate) fn prefetch_page(&self, lpn: Lpn) {
        let (chip, page) = self.split(self.places[lpn]);
        prefetch_index(self.chips[chip].lpns(), PageId(page).index());
    }
}
