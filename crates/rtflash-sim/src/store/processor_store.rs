//! A processor as `rtflash-ftl` has it: its pages, counters and passes, by the types of their
//! numbers, and as a run begins.

use std::ops::Range;

use prefetch_index::prefetch_index;
use rtflash_ftl::{Columns, EdfProcessor, GcStep, Pages, Pass, PassTerms, Ring, Spot, ZoneMemory, Zones, pass_words};
use rtflash_model::random::Stream as Random;
use rtflash_model::{ChipId, Lpn};
use rtflash_plan::{BlockId, Certified, ClusterPlan, ColumnId, Options, PageId, initial_pages, initial_zones};
use rtflash_trace::NO_LPN;
use serde::{Deserialize, Serialize};

use crate::flash::Owned;
use crate::store::page_store::{PagePlace, fullest};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ProcessorStore {
    pub(crate) ftl: EdfProcessor<Owned>,
}

impl From<Spot> for PagePlace {
    #[inline]
    fn from(spot: Spot) -> PagePlace {
        PagePlace { chip: ColumnId(spot.chip), block: BlockId(spot.block), page: spot.page }
    }
}

impl From<PagePlace> for Spot {
    fn from(at: PagePlace) -> Spot {
        Spot { chip: at.chip.0, block: at.block.0, page: at.page }
    }
}

impl ProcessorStore {
    /// The processor as a run begins, with f ≥ H by rule R5; `position` is its chip's position in a
    /// stripe. `number` is its first chip's number in the device.
    pub(crate) fn new(
        cluster: &ClusterPlan,
        by: &Certified,
        position: ColumnId,
        number: ChipId,
        terms: PassTerms,
        options: &Options,
    ) -> ProcessorStore {
        let pages = if by.is_zoned() {
            zoned_pages(cluster, by, position, options)
        } else {
            mapped_pages(cluster, by, position, number, options)
        };
        let (rows, buffer) = pass_words(pages.columns());
        let pass = || Pass::new(vec![0; rows], vec![0; buffer]);
        ProcessorStore { ftl: EdfProcessor::new(pages, terms, [pass(), pass()]) }
    }

    /// The place of a logical page; `None` where it holds nothing.
    #[inline]
    pub(crate) fn find(&self, lpn: Lpn) -> Option<PagePlace> {
        self.ftl.pages.locate(lpn.0).map(PagePlace::from)
    }

    /// A logical page holds nothing any more. Says whether that is so: the page that was programmed
    /// last goes on holding what it holds.
    pub(crate) fn trim(&mut self, lpn: Lpn) -> bool {
        self.ftl.pages.trim(lpn.0);
        self.ftl.pages.place(lpn.0) == NO_LPN.0
    }

    /// Programs a page of a real-time write; `None` where no page is free.
    #[inline]
    pub(crate) fn write(&mut self, lpn: Lpn) -> Option<PagePlace> {
        self.ftl.write(lpn.0).map(PagePlace::from)
    }

    /// Programs a page of a job that is not real-time; `counts`: it has a deadline.
    #[inline]
    pub(crate) fn serve(&mut self, lpn: Lpn, counts: bool) -> Option<PagePlace> {
        self.ftl.serve(lpn.0, counts).map(PagePlace::from)
    }

    /// The next step of a pass under way, with the pages that a superblock reads or programs.
    #[inline]
    pub(crate) fn step_of_pass(&mut self, server: bool, row: &mut Vec<(PagePlace, Lpn)>) -> Option<GcStep> {
        row.clear();
        self.ftl.step_of_pass(server, |page| row.push((page.spot.into(), Lpn(page.lpn))))
    }

    /// f.
    #[inline]
    pub(crate) fn free(&self) -> u64 {
        self.ftl.pages.free().into()
    }

    /// Blocks that passes are working on and the open one are left alone.
    pub(crate) fn fullest(&self, range: &Range<Lpn>, pages: u64) -> Vec<Lpn> {
        fullest([(ColumnId(0), self.ftl.pages.blocks())].into_iter(), range, pages)
    }

    #[inline]
    pub(crate) fn prefetch_place(&self, lpn: Lpn) {
        let pages = &self.ftl.pages;
        prefetch_index(pages.places(), PageId(pages.slot(lpn.0)).index());
    }

    /// Asks memory for what is at the place of a logical page.
    #[inline]
    pub(crate) fn prefetch_page(&self, lpn: Lpn) {
        let pages = &self.ftl.pages;
        prefetch_index(pages.blocks().lpns(), PageId(pages.place(lpn.0)).index());
    }

    /// A logical page that the next step of a pass will probably read.
    #[inline]
    pub(crate) fn next_of_pass(&mut self, server: bool) -> Option<Lpn> {
        self.ftl.next_of_pass(server).map(Lpn)
    }
}

/// The logical pages of a processor with one map and one frontier.
fn mapped_pages(
    cluster: &ClusterPlan,
    by: &Certified,
    position: ColumnId,
    number: ChipId,
    options: &Options,
) -> Pages<Owned> {
    let layout = &cluster.layout;
    let (width, stride) = if by.is_stripe() { (1, layout.chips()) } else { (layout.chips(), 1) };
    let (block_pages, blocks) = (width * layout.pages(), layout.blocks() + layout.spare_blocks());
    let mut random = Random::numbered(options.seed, b"initial\0", number.into());
    let held = initial_pages(layout, by.certificate.placement, position, options.aging, &mut random);
    let programmed = held.count();
    let columns = Columns { superblock: !by.is_stripe(), width, stride, offset: position.0 * u32::from(stride > 1) };
    let places = vec![NO_LPN.0; PageId(layout.logical_per_chip() * width).index()];
    let mut pages = Pages::new(columns, block_pages, Owned::blocks(blocks, block_pages, held), places, programmed);
    pages.keep_back(layout.spare_blocks());
    if let Some(gap) = layout.wear_gap() {
        pages.level(gap, vec![0; BlockId(blocks).index()]);
    }
    pages
}

/// The logical pages of a chip whose blocks are those of zones.
fn zoned_pages(cluster: &ClusterPlan, by: &Certified, position: ColumnId, options: &Options) -> Pages<Owned> {
    let layout = &cluster.layout;
    let (pages, blocks) = (layout.pages(), layout.blocks() + layout.spare_blocks());
    let found = initial_zones(cluster, by, position, options.aging, options.seed);
    let mut held = Vec::with_capacity(PageId(blocks * pages).index());
    for (block, of_block) in BlockId::first(layout.blocks()).zip(&found.blocks) {
        held.extend(of_block);
        held.resize(PageId((block.0 + 1) * pages).index(), NO_LPN);
    }
    let rings = by.rings.iter().zip(&found.next);
    let rings = rings.map(|(ring, &next)| Ring { first: ring.blocks.start.0, pages: ring.zones() * pages, next });
    let bits = || vec![0; BlockId(blocks).index().div_ceil(64)];
    let memory = ZoneMemory {
        rings: rings.flat_map(Ring::words).collect(),
        blocks: vec![0; BlockId(blocks).index()],
        written: bits(),
        kept_back: bits(),
    };
    let is_written = |block| found.blocks.get(BlockId(block).index()).is_some_and(|held| !held.is_empty());
    let zones = Zones::at_start(memory, pages, layout.spare_blocks(), is_written);
    let columns = Columns { superblock: false, width: 1, stride: layout.chips(), offset: position.0 };
    let places = vec![NO_LPN.0; PageId(layout.logical_per_chip()).index()];
    Pages::of_zones(columns, pages, Owned::blocks(blocks, pages, held.into()), places, zones)
}

#[cfg(test)]
mod tests {
    use rtflash_ftl::image::ImageCollection;
    use rtflash_ftl::{PaddedPass, Victim};

    use super::*;

    /// Eight blocks of four pages, one of them kept back and one that has failed with three valid
    /// pages: f is H and three.
    fn processor() -> EdfProcessor<Owned> {
        let held = [0, 1, 2, NO_LPN.0].into_iter().chain(3..15).map(Lpn).collect();
        let columns = Columns { superblock: false, width: 1, stride: 1, offset: 0 };
        let mut pages = Pages::new(columns, 4, Owned::blocks(8, 4, held), vec![0; 15], 16);
        pages.keep_back(1);
        pages.retire(0);
        assert_eq!(pages.free(), 16);
        let terms = ImageCollection {
            deadline_ns: Some(1),
            reclaimed_pages: 2,
            reserve_pages: 13,
            victim_pages: 2,
            wear_pages: 0,
        };
        let terms = PassTerms::new(Some(terms), PaddedPass::default());
        let pass = || Pass::new(Vec::new(), Vec::new());
        EdfProcessor::new(pages, terms, [pass(), pass()])
    }

    fn moves(of: &mut EdfProcessor<Owned>) -> bool {
        match of.step_of_pass(false, |_| ()) {
            Some(GcStep::Copyback(from, _, _)) => from.block == 0,
            Some(GcStep::Moved) => false,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn pages_are_moved_while_there_is_room_beyond_the_reserve() {
        let mut of = processor();
        assert_eq!(of.begin_pass(false), Some(Victim { block: 0, valid: 3 }));
        assert!(moves(&mut of) && moves(&mut of), "v pages");
        assert!(!moves(&mut of), "no more than v");
        // A server takes what was there at the beginning.
        let mut of = processor();
        assert_eq!(of.begin_pass(false), Some(Victim { block: 0, valid: 3 }));
        assert!(moves(&mut of));
        assert!(of.serve(3, true).is_some() && of.serve(4, true).is_some());
        assert_eq!(of.pages.free(), 13);
        assert!(!moves(&mut of), "what is left is the reserve");
    }
}
