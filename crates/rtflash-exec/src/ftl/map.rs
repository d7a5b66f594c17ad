//! The page map of a cluster, and where its pages go.

use prefetch_index::prefetch_index;
use rtflash_model::random::Stream as Random;

use super::aging::aged_chip;
use crate::flash::{Blocks, Stream};
use crate::options::Options;
use crate::plan::ClusterPlan;
use crate::plan::layout::Layout;
use crate::trace::NONE;

/// A page of a cluster: the position of its chip in the cluster, the block, and the page in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) chip: u32,
    pub(crate) block: u32,
    pub(crate) page: u32,
}

/// The logical pages of a cluster on its chips.
#[derive(Debug)]
pub(crate) struct PageMap {
    pages_per_chip: u32,
    pub(super) chips: Vec<Blocks>,
    /// Where each logical page is: position of the chip · pages of a chip + page.
    places: Vec<u32>,
    free: u64,
}

impl PageMap {
    /// The map that a run begins with.
    pub(crate) fn new(cluster: &ClusterPlan, options: &Options) -> PageMap {
        let layout: &Layout = &cluster.layout;
        let pages_per_chip = layout.pages_per_chip();
        let mut places = vec![NONE; layout.logical_pages() as usize];
        let mut free = 0;
        let mut chips = Vec::with_capacity(cluster.chips.len());
        for (&chip, position) in cluster.chips.iter().zip(0..) {
            let mut random = Random::numbered(options.seed, b"aging\0\0\0", chip.into());
            let aged = aged_chip(layout, options.aging, position, &mut random);
            for (&lpn, page) in aged.lpns.iter().zip(0..) {
                if lpn != NONE {
                    places[lpn as usize] = position * pages_per_chip + page;
                }
            }
            free += u64::from(layout.blocks() - aged.full_blocks) * u64::from(layout.pages());
            chips.push(Blocks::new(layout.blocks(), layout.pages(), &aged.lpns));
        }
        PageMap { pages_per_chip, chips, places, free }
    }

    /// The position in the cluster of the chip that holds a logical page.
    pub(crate) fn chip_of(&self, lpn: u32) -> u32 {
        self.places[lpn as usize] / self.pages_per_chip
    }

    /// Where a logical page is.
    pub(crate) fn locate(&self, lpn: u32) -> Place {
        let place = self.places[lpn as usize];
        let (chip, page) = (place / self.pages_per_chip, place % self.pages_per_chip);
        let (block, page) = self.chips[chip as usize].block_and_page(page);
        Place { chip, block, page }
    }

    /// Asks memory for the place of a logical page.
    #[inline]
    pub(crate) fn prefetch_place(&self, lpn: u32) {
        prefetch_index(&self.places, lpn as usize);
    }

    /// Asks memory for what is at the place of a logical page.
    #[inline]
    pub(crate) fn prefetch_page(&self, lpn: u32) {
        let place = self.places[lpn as usize];
        if let Some(chip) = self.chips.get((place / self.pages_per_chip) as usize) {
            chip.prefetch(place % self.pages_per_chip);
        }
    }

    /// The block of a page numbered through its chip, and the page's number in it.
    pub(crate) fn block_and_page(&self, page: u32) -> (u32, u32) {
        self.chips[0].block_and_page(page)
    }

    /// Valid pages of a block of a chip.
    pub(crate) fn valid(&self, chip: u32, block: u32) -> u32 {
        self.chips[chip as usize].valid(block)
    }

    /// Free pages of the whole cluster: erased blocks, and what is left of open and copy blocks.
    pub(crate) fn free_pages(&self) -> u64 {
        self.free
    }

    /// Programs a logical page on a chip that has room for it; the page it was on before is stale.
    pub(crate) fn write(&mut self, lpn: u32, chip: u32) -> Option<Place> {
        let page = self.chips[chip as usize].program(Stream::Write, lpn)?;
        let old = std::mem::replace(&mut self.places[lpn as usize], chip * self.pages_per_chip + page);
        let (old_chip, old_page) = (old / self.pages_per_chip, old % self.pages_per_chip);
        self.chips[old_chip as usize].invalidate(old_page);
        self.free -= 1;
        let (block, page) = self.chips[chip as usize].block_and_page(page);
        Some(Place { chip, block, page })
    }

    /// Copies a valid page of a chip, numbered through it, to the chip's copy block; returns the
    /// new page, numbered likewise.
    pub(super) fn copy(&mut self, chip: u32, page: u32) -> Option<u32> {
        let blocks = &mut self.chips[chip as usize];
        let lpn = blocks.lpn(page);
        let copy = blocks.program(Stream::Copy, lpn)?;
        blocks.invalidate(page);
        self.places[lpn as usize] = chip * self.pages_per_chip + copy;
        self.free -= 1;
        Some(copy)
    }

    /// Erases a victim.
    pub(super) fn erase(&mut self, chip: u32, block: u32, pages: u32) {
        self.chips[chip as usize].erase(block);
        self.free += u64::from(pages);
    }
}
