//! The content of a processor (a chip of a stripe, a whole superblock cluster) when a run begins.

use rtflash_model::Placement;
use rtflash_model::random::Stream;

use super::aging::{aged_chip, shuffle, worst_pages};
use super::zones::initial_zones;
use crate::ids::{ClusterId, ColumnId, Lpn, PageId, PerId};
use crate::options::Aging;
use crate::plan::layout::Layout;
use crate::plan::{Plan, Promise};

/// [`Aging::Random`] is as [`Aging::Worst`]; in zones those of seed 0.
pub fn free_pages_at_start(plan: &Plan, cluster: ClusterId, aging: Aging) -> u64 {
    let of = &plan.clusters()[cluster];
    let (layout, first) = (&of.layout, ColumnId(0));
    // The stream only draws which of the others are valid.
    let stream = &mut Stream::numbered(0, b"initial\0", 0);
    let (processors, programmed) = match plan.promise() {
        Promise::Utilization => (layout.chips(), aged_chip(layout, aging, first, stream).len()),
        Promise::Certified(certified) if certified[cluster].is_zoned() => {
            let found = initial_zones(of, &certified[cluster], first, aging, 0);
            (layout.chips(), found.blocks.iter().map(Vec::len).sum())
        }
        Promise::Certified(certified) => {
            let placement = certified[cluster].certificate.placement;
            let processors = if placement.is_by_chip() { layout.chips() } else { 1 };
            (processors, initial_pages(layout, placement, first, aging, stream).len())
        }
    };
    let all = u64::from(layout.pages_per_chip()) * u64::from(layout.chips());
    let programmed = programmed as u64 * u64::from(processors);
    all.checked_sub(programmed).expect("a cluster holds what is programmed")
}

/// In the order of programming: blocks 0, 1, …, a superblock's row by row, a row chip by chip.
/// [`NO_LPN`](crate::NO_LPN) is stale.
///
/// `processor` is the chip's position in a stripe. [`Aging::Random`] alone draws from `stream`.
/// Every logical page is mapped, and at least the reserve is free; with [`Aging::Worst`] and
/// [`Aging::Random`] exactly that.
pub fn initial_pages(
    layout: &Layout,
    placement: Placement,
    processor: ColumnId,
    aging: Aging,
    stream: &mut Stream,
) -> PerId<PageId, Lpn> {
    let chips = layout.chips();
    let stripe = placement.is_by_chip();
    let width = if stripe { 1 } else { chips };
    let lpn = |nth: u32| Lpn(if stripe { nth * chips + processor.0 } else { nth });
    if aging == Aging::Fresh {
        return (0..layout.logical_per_chip() * width).map(lpn).collect();
    }
    let block_pages = width * layout.pages();
    let reserve = u32::try_from(layout.reserve_pages()).expect("what is mapped fits beside the reserve");
    let programmed = layout.blocks() * block_pages - reserve;
    let mut lpns = worst_pages(layout, width, programmed, lpn);
    if aging == Aging::Random {
        shuffle(&mut lpns, PageId(programmed / block_pages * block_pages), stream);
    }
    lpns
}
