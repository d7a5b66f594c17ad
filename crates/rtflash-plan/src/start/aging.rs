//! The content of a chip when a run without certificates begins, and what other starts share.

use rtflash_model::random::Stream;

use crate::ids::{ColumnId, Lpn, NO_LPN, PageId, PerId};
use crate::options::Aging;
use crate::plan::layout::Layout;

/// The programmed pages of a chip when a run begins, block after block, by the chip's position in
/// its cluster: these blocks are full, and the others erased. A page holds a logical page of the
/// cluster, or [`NO_LPN`] if its content is stale. Logical page l starts on chip l mod s.
///
/// [`Aging::Random`] alone draws from `stream`.
pub fn aged_chip(layout: &Layout, aging: Aging, position: ColumnId, stream: &mut Stream) -> PerId<PageId, Lpn> {
    let (logical, pages) = (layout.logical_per_chip(), layout.pages());
    let lpn = |nth: u32| Lpn(nth * layout.chips() + position.0);
    let blocks = match aging {
        Aging::Fresh => logical.div_ceil(pages),
        Aging::Worst | Aging::Random => layout.data_blocks(),
    };
    if aging == Aging::Worst {
        return worst_pages(layout, 1, blocks * pages, lpn);
    }
    let stale = logical..blocks * pages;
    let mut lpns: PerId<PageId, Lpn> = (0..logical).map(lpn).chain(stale.map(|_| NO_LPN)).collect();
    if aging == Aging::Random {
        shuffle(&mut lpns, PageId(blocks * pages), stream);
    }
    lpns
}

/// The pages of `width` chips with [`Aging::Worst`], the first `programmed` ones; `lpn` numbers the
/// logical pages. They go round the closed blocks, so that every block has its share of every
/// task's pages; the open block has those that the others cannot hold.
pub(super) fn worst_pages(
    layout: &Layout,
    width: u32,
    programmed: u32,
    lpn: impl Fn(u32) -> Lpn,
) -> PerId<PageId, Lpn> {
    let (pages, mapped) = (layout.pages(), layout.logical_per_chip() * width);
    let block_pages = width * pages;
    let blocks = programmed / block_pages;
    let inside = mapped.min(blocks * block_pages);
    // With room for the free pages: the list is the processor's from then on.
    let all = (layout.blocks() + layout.spare_blocks()) * block_pages;
    let mut lpns = Vec::with_capacity(PageId(all).index());
    lpns.resize(PageId(programmed).index(), NO_LPN);
    for (block, held) in (0..blocks).zip(lpns.chunks_mut(PageId(block_pages).index())) {
        let valid = inside / blocks + u32::from(block < inside % blocks);
        // Chips of a superblock are filled one after the other, so that a pass reads as often as
        // can be.
        for chip in 0..width {
            let of_chip = held.iter_mut().skip(PageId(chip).index()).step_by(PageId(width).index());
            for (page, place) in of_chip.zip((chip * pages).min(valid)..((chip + 1) * pages).min(valid)) {
                *page = lpn(place * blocks + block);
            }
        }
    }
    for (page, nth) in lpns.iter_mut().skip(PageId(blocks * block_pages).index()).zip(inside..mapped) {
        *page = lpn(nth);
    }
    lpns.into()
}

/// Shuffles the pages before `end` (Fisher and Yates).
pub(super) fn shuffle(lpns: &mut PerId<PageId, Lpn>, end: PageId, stream: &mut Stream) {
    let pages = &mut lpns[PageId(0)..end];
    for last in (1..pages.len()).rev() {
        let other = stream.below(last as u64 + 1);
        pages.swap(last, usize::try_from(other).expect("a page below the last one"));
    }
}
