//! The pages of a processor: one map, one frontier, one set of blocks. A superblock is a block
//! here, its rows one after the other.

use std::ops::Range;

use prefetch_index::prefetch_index;
use rtflash_model::random::Stream as Random;
use serde::{Deserialize, Serialize};

use super::initial::initial_pages;
use super::rings::ChipZones;
use super::store::{PagePlace, PageStore, fullest};
use super::zones::initial_zones;
use crate::flash::{Blocks, Frontiers};
use crate::ids::{BlockId, ChipId, ColumnId, Lpn, PageId, PerId};
use crate::options::Options;
use crate::plan::{Certified, ClusterPlan};
use crate::trace::NO_LPN;

rtflash_model::ids! {
    /// A logical page of a processor, by position among those of the processor.
    SlotId
}

/// No page.
const NOWHERE: PageId = PageId(u32::MAX);

/// The logical pages of a processor on its chips.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ProcessorStore {
    /// Chips of the processor: 1 in a stripe, s in a superblock.
    width: u32,
    /// Pages of a block of the processor.
    block_pages: u32,
    blocks: Blocks,
    /// Where each logical page of the processor is; [`NOWHERE`] while the start is filled in.
    places: PerId<SlotId, PageId>,
    /// Logical page `l` of the cluster is the processor's page (l − offset)/stride.
    stride: u32,
    offset: u32,
    free: u64,
    /// Where tasks own zones.
    zones: Option<ChipZones>,
}

impl ProcessorStore {
    /// The processor as a run begins, with f ≥ H by rule R5; `position` is its chip's position in a
    /// stripe. `number` is its first chip's number in the device.
    pub(crate) fn new(
        (cluster, by): (&ClusterPlan, &Certified),
        position: ColumnId,
        number: ChipId,
        options: &Options,
    ) -> ProcessorStore {
        if by.is_zoned() {
            return ProcessorStore::of_zones((cluster, by), position, options);
        }
        let layout = &cluster.layout;
        let (width, stride) = if by.is_stripe() { (1, layout.chips()) } else { (layout.chips(), 1) };
        let block_pages = width * layout.pages();
        let mut random = Random::numbered(options.seed, b"initial\0", number.into());
        let lpns = initial_pages(layout, by.certificate.placement, position, options.aging, &mut random);
        let programmed = lpns.count();
        let closed = PageId(programmed / block_pages * block_pages);
        let offset = position.0 * u32::from(stride > 1);
        let mut places = PerId::filled(NOWHERE, layout.logical_per_chip() * width);
        for (page, &lpn) in lpns.enumerate() {
            if lpn != NO_LPN {
                places[SlotId((lpn.0 - offset) / stride)] = page;
            }
        }
        let mut full = lpns.into_vec();
        let open = full.split_off(closed.index());
        let mut blocks = Blocks::new(layout.blocks(), block_pages, full);
        for lpn in open {
            let page = blocks.program(Frontiers::Write, lpn).expect("behind the closed blocks one is erased");
            if lpn == NO_LPN {
                blocks.invalidate(page);
            }
        }
        let free = u64::from(layout.blocks()) * u64::from(block_pages) - u64::from(programmed);
        ProcessorStore { width, block_pages, blocks, places, stride, offset, free, zones: None }
    }

    /// A chip whose blocks are those of zones.
    fn of_zones((cluster, by): (&ClusterPlan, &Certified), position: ColumnId, options: &Options) -> ProcessorStore {
        let layout = &cluster.layout;
        let (pages, stride) = (layout.pages(), layout.chips());
        let found = initial_zones(cluster, by, position, options.aging, options.seed);
        let mut places = PerId::filled(NOWHERE, layout.logical_per_chip());
        for (block, held) in BlockId::first(layout.blocks()).zip(&found.blocks) {
            for (page, &lpn) in (0..).zip(held).filter(|&(_, &lpn)| lpn != NO_LPN) {
                places[SlotId((lpn.0 - position.0) / stride)] = PageId(block.0 * pages + page);
            }
        }
        let written = found.blocks.iter().map(|held| !held.is_empty()).collect();
        let rings = by.rings.iter().zip(found.next).map(|(ring, next)| (ring.blocks.start, ring.zones() * pages, next));
        let zones = Some(ChipZones::new(rings, pages, written));
        // What the device frees and closes by itself is nothing here.
        let blocks = Blocks::new(layout.blocks(), pages, Vec::new());
        ProcessorStore { width: 1, block_pages: pages, blocks, places, stride, offset: position.0, free: 0, zones }
    }

    /// Whether its blocks are those of zones.
    pub(crate) fn is_zoned(&self) -> bool {
        self.zones.is_some()
    }

    /// The block that has to be reset before this page is written, where tasks own zones.
    pub(crate) fn to_reset(&self, lpn: Lpn) -> Option<BlockId> {
        self.zones.as_ref()?.to_reset(BlockId(self.slot(lpn).0 / self.block_pages))
    }

    /// A block of a zone is reset.
    pub(crate) fn reset(&mut self, block: BlockId) {
        if let Some(zones) = &mut self.zones {
            zones.reset(block);
        }
    }

    fn slot(&self, lpn: Lpn) -> SlotId {
        SlotId((lpn.0 - self.offset) / self.stride)
    }

    /// Where a page of the processor is.
    #[inline]
    pub(super) fn spot(&self, page: PageId) -> PagePlace {
        let (block, place) = self.blocks.block_and_page(page);
        if self.width == 1 {
            return PagePlace { chip: ColumnId(0), block, page: place };
        }
        PagePlace { chip: ColumnId(place % self.width), block, page: place / self.width }
    }

    /// Programs the next page of the frontier; the page where it was before is stale. `None` where
    /// no page is free.
    #[inline]
    pub(crate) fn program(&mut self, lpn: Lpn) -> Option<PagePlace> {
        let slot = self.slot(lpn);
        if let Some(zones) = &mut self.zones {
            let page = zones.program(BlockId(slot.0 / self.block_pages));
            self.places[slot] = page;
            return Some(self.spot(page));
        }
        let page = self.blocks.program(Frontiers::Write, lpn)?;
        let old = std::mem::replace(&mut self.places[slot], page);
        if old != NOWHERE {
            self.blocks.invalidate(old);
        }
        self.free -= 1;
        Some(self.spot(page))
    }

    /// Takes the closed block with the fewest valid pages that no pass is working on, the lowest
    /// among equals; with its valid pages.
    pub(crate) fn take_victim(&mut self) -> Option<(BlockId, u32)> {
        let victim = self.blocks.fewest_valid()?;
        self.blocks.take_victim(victim);
        Some((victim, self.blocks.valid(victim)))
    }

    /// The first valid page of a block on one of the processor's chips from row `from` on: its row,
    /// its number in the processor, and its logical page.
    pub(crate) fn next_valid(&self, block: BlockId, chip: ColumnId, from: u32) -> Option<(u32, PageId, Lpn)> {
        if self.width == 1 {
            let page = self.blocks.next_valid(block, from)?;
            return Some((self.blocks.block_and_page(page).1, page, self.blocks.lpn(page)));
        }
        (from..self.rows()).find_map(|row| {
            let page = PageId(block.0 * self.block_pages + row * self.width + chip.0);
            let lpn = self.blocks.lpn(page);
            (lpn != NO_LPN).then_some((row, page, lpn))
        })
    }

    /// Rows of a block.
    pub(crate) fn rows(&self) -> u32 {
        self.block_pages / self.width
    }

    /// Whether a page of the processor still holds this logical page.
    pub(crate) fn holds(&self, page: PageId, lpn: Lpn) -> bool {
        self.blocks.lpn(page) == lpn
    }

    /// A victim is erased.
    pub(crate) fn erase(&mut self, block: BlockId) {
        self.blocks.erase(block);
        self.free += u64::from(self.block_pages);
    }
}

impl PageStore for ProcessorStore {
    fn locate(&self, lpn: Lpn) -> PagePlace {
        self.spot(self.places[self.slot(lpn)])
    }

    /// f.
    fn free(&self) -> u64 {
        self.free
    }

    /// Blocks that passes are working on and the open one are left alone.
    fn fullest(&self, range: &Range<Lpn>, pages: u64) -> Vec<Lpn> {
        fullest([(ColumnId(0), &self.blocks)].into_iter(), range, pages)
    }

    #[inline]
    fn prefetch_place(&self, lpn: Lpn) {
        prefetch_index(self.places.as_slice(), self.slot(lpn).index());
    }

    #[inline]
    fn prefetch_page(&self, lpn: Lpn) {
        self.blocks.prefetch(self.places[self.slot(lpn)]);
    }
}
