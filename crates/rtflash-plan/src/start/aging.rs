//! The content of the device when a run begins.

use rtflash_model::random::Stream;

use crate::ids::NO_LPN;
use crate::ids::{ColumnId, Lpn, PageId, PerId};
use crate::options::Aging;
use crate::plan::layout::Layout;

/// One chip as the run finds it. Blocks below `full_blocks` are full (closed); the others are
/// erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgedChip {
    /// Blocks with all pages programmed: the first ones of the chip.
    pub full_blocks: u32,
    /// Which logical page each page of the full blocks holds, block after block; [`NO_LPN`] where
    /// what it held is stale.
    pub lpns: PerId<PageId, Lpn>,
}

/// The content of a chip, by position in its cluster. Logical page l starts on chip l mod s,
/// whatever the aging.
///
/// `stream` is drawn from by [`Aging::Random`] alone.
pub fn aged_chip(layout: &Layout, aging: Aging, position: ColumnId, stream: &mut Stream) -> AgedChip {
    let (logical, pages) = (layout.logical_per_chip(), layout.pages());
    let lpn = |nth: u32| Lpn(nth * layout.chips() + position.0);
    match aging {
        Aging::Fresh => {
            let full_blocks = logical.div_ceil(pages);
            // The last block is padded with pages that are stale from the start: no block is half
            // written.
            let stale = logical..full_blocks * pages;
            let lpns = (0..logical).map(lpn).chain(stale.map(|_| NO_LPN)).collect();
            AgedChip { full_blocks, lpns }
        }
        Aging::Worst => {
            // Logical pages go round the blocks, so that every block has its share of every task's
            // pages.
            let blocks = layout.data_blocks();
            // With room for the others, which are free: the list is the chip's from then on.
            let mut lpns = Vec::with_capacity(PageId(layout.blocks() * pages).index());
            for block in 0..blocks {
                let valid = round_robin(logical, blocks, block);
                lpns.extend((0..valid).map(|place| lpn(place * blocks + block)));
                lpns.resize(PageId((block + 1) * pages).index(), NO_LPN);
            }
            AgedChip { full_blocks: blocks, lpns: lpns.into() }
        }
        Aging::Random => {
            let blocks = layout.data_blocks();
            let stale = logical..blocks * pages;
            let mut lpns: PerId<PageId, Lpn> = (0..logical).map(lpn).chain(stale.map(|_| NO_LPN)).collect();
            shuffle(&mut lpns, PageId(blocks * pages), stream);
            AgedChip { full_blocks: blocks, lpns }
        }
    }
}

/// How many of the numbers below `count` a block gets, where they go round `blocks` blocks.
pub(super) fn round_robin(count: u32, blocks: u32, block: u32) -> u32 {
    count / blocks + u32::from(block < count % blocks)
}

/// Shuffles the pages before `end` (Fisher and Yates).
pub(super) fn shuffle(lpns: &mut PerId<PageId, Lpn>, end: PageId, stream: &mut Stream) {
    let pages = &mut lpns[PageId(0)..end];
    for last in (1..pages.len()).rev() {
        let other = stream.below(last as u64 + 1);
        pages.swap(last, usize::try_from(other).expect("a page below the last one"));
    }
}
