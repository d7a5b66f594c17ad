//! The content of a processor (a chip of a stripe, a whole superblock cluster) when a run begins.

use rtflash_model::Placement;
use rtflash_model::random::Stream;

use super::aging::{aged_chip, round_robin, shuffle};
use super::zones::initial_zones;
use crate::ids::NO_LPN;
use crate::ids::{ClusterId, ColumnId, Lpn, PageId, PerId};
use crate::options::Aging;
use crate::plan::layout::Layout;
use crate::plan::{Plan, Promise};

/// Pages of a cluster that are free when a run begins: as many with [`Aging::Random`] as with
/// [`Aging::Worst`], whatever is drawn; but in zones what is drawn counts, and this is for seed 0.
pub fn free_pages_at_start(plan: &Plan, cluster: ClusterId, aging: Aging) -> u64 {
    let layout = &plan.clusters()[cluster].layout;
    // The stream only draws which of the others are valid.
    let stream = || Stream::numbered(0, b"initial\0", 0);
    let (width, processors, programmed) = match plan.promise() {
        Promise::Utilization => {
            let chip = aged_chip(layout, aging, ColumnId(0), &mut stream());
            (1, layout.chips(), u64::from(chip.full_blocks) * u64::from(layout.pages()))
        }
        Promise::Certified(certified) => {
            let by = &certified[cluster];
            if by.is_zoned() {
                let found = initial_zones(&plan.clusters()[cluster], by, ColumnId(0), aging, 0);
                let programmed = found.blocks.iter().map(|block| block.len() as u64).sum();
                return u64::from(layout.pages_per_chip()).saturating_sub(programmed) * u64::from(layout.chips());
            }
            let placement = by.certificate.placement;
            let programmed = initial_pages(layout, placement, ColumnId(0), aging, &mut stream()).count();
            let (width, processors) = if placement.is_by_chip() { (1, layout.chips()) } else { (layout.chips(), 1) };
            (width, processors, programmed.into())
        }
    };
    let all = u64::from(layout.pages_per_chip()) * u64::from(width);
    let free = all.checked_sub(programmed).expect("a processor holds what is programmed");
    free * u64::from(processors)
}

/// The pages of a processor that are programmed when a run begins, in the order of programming:
/// blocks (superblocks) 0, 1, … filled one after the other, the last one perhaps in part. A
/// superblock is filled row by row, a row chip by chip. Each is a logical page of the cluster, or
/// [`NO_LPN`] where what it held is stale.
///
/// `processor` is the position of the chip in a stripe. `stream` is drawn from by [`Aging::Random`]
/// alone. Every logical page of the processor is mapped, and at least the certificate's reserve is
/// free; with [`Aging::Worst`] and [`Aging::Random`] exactly the reserve.
pub fn initial_pages(
    layout: &Layout,
    placement: Placement,
    processor: ColumnId,
    aging: Aging,
    stream: &mut Stream,
) -> PerId<PageId, Lpn> {
    let (chips, pages) = (layout.chips(), layout.pages());
    let stripe = placement.is_by_chip();
    let width = if stripe { 1 } else { chips };
    let (block_pages, mapped) = (width * pages, layout.logical_per_chip() * width);
    let lpn = |nth: u32| Lpn(if stripe { nth * chips + processor.0 } else { nth });
    if aging == Aging::Fresh {
        return (0..mapped).map(lpn).collect();
    }
    let all = layout.blocks() * block_pages;
    let reserve = u32::try_from(layout.reserve_pages()).expect("what is mapped fits beside the reserve");
    let programmed = all - reserve;
    let closed = programmed / block_pages * block_pages;
    // With room for the others, which are free: the list is the processor's from then on.
    let mut lpns = Vec::with_capacity(PageId(all + layout.spare_blocks() * block_pages).index());
    let blocks = closed / block_pages;
    // As many as the closed blocks hold go there, evenly; what is too much for them is in the open
    // block.
    let inside = mapped.min(closed);
    for block in 0..blocks {
        let valid = round_robin(inside, blocks, block);
        let nth = |place: u32| lpn(place * blocks + block);
        if width == 1 {
            lpns.extend((0..valid).map(nth));
        }
        lpns.resize(PageId((block + 1) * block_pages).index(), NO_LPN);
        if width > 1 {
            // Chips of a superblock are filled one after the other, so that a pass reads as often
            // as can be.
            for chip in 0..width {
                let held = (chip * pages).min(valid)..((chip + 1) * pages).min(valid);
                let of_block = &mut lpns[PageId(block * block_pages).index()..];
                let (mut page, mut next) = (PageId(chip).index(), nth(held.start));
                for _ in held {
                    of_block[page] = next;
                    page += PageId(width).index();
                    next.0 += blocks;
                }
            }
        }
    }
    let mut lpns = PerId::from(lpns);
    lpns.resize(programmed, NO_LPN);
    for (nth, place) in (inside..mapped).zip(closed..) {
        lpns[PageId(place)] = lpn(nth);
    }
    if aging == Aging::Random {
        shuffle(&mut lpns, PageId(closed), stream);
    }
    lpns
}
