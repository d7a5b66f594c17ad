//! The content of a chip when a run without certificates begins, and what other starts share.

use rtflash_model::random::Stream;

use crate::ids::{ColumnId, Lpn, NO_LPN, PageId, PerId};
use crate::options::Aging;
use crate::plan::layout::Layout;

/// The programmed pages of a chip, block after block; the other blocks are erased. [`NO_LPN`] is
/// stale. Logical page l starts on chip l mod s. [`Aging::Random`] alone draws from `stream`.
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

/// [`aged_chip`] fills all chips alike: chip times the pages of a chip, and the page. `None`
/// with [`Aging::Random`].
pub fn aged_places(layout: &Layout, aging: Aging) -> Option<PerId<Lpn, u32>> {
    // Logical pages go round the chips, and round these blocks, a page of each in turn.
    let (blocks, pages) = match aging {
        Aging::Fresh => (1, layout.logical_per_chip()),
        Aging::Worst => (layout.data_blocks(), layout.pages()),
        Aging::Random => return None,
    };
    let chips = |block| (0..layout.chips()).map(move |chip| chip * layout.pages_per_chip() + block * pages);
    let firsts: Vec<u32> = (0..blocks).flat_map(chips).collect();
    let all = Lpn(layout.logical_pages()).index();
    let mut places = Vec::with_capacity(all);
    for page in 0..pages {
        places.extend(firsts.iter().take(all - places.len()).map(|first| first + page));
    }
    Some(places.into())
}

/// The first `programmed` pages go round the closed blocks, so that every block has its share of
/// every task's pages; the open block has those that the others cannot hold.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rtflash_model::Device;

    use super::*;

    proptest! {
        #[test]
        fn places_are_those_of_the_lists_of_pages(
            (blocks, pages, chips) in (6..20_u32, 1..9_u32, 1..5_u32),
            (write, ratio) in (0..40_u64, 10..99_u32),
            aging in prop_oneof![Just(Aging::Fresh), Just(Aging::Worst)],
        ) {
            let mut device = Device::profile("dgist-2021").expect("the profile").spec();
            (device.blocks_per_chip, device.pages_per_block) = (blocks, pages);
            device.logical_ratio = format!("0.{ratio}").parse().expect("a ratio");
            let Ok(device) = Device::new(device) else { return Ok(()) };
            let Ok(layout) = Layout::new(&device, chips, [write].into_iter(), 1) else { return Ok(()) };
            let mut listed = PerId::filled(u32::MAX, layout.logical_pages());
            for position in ColumnId::first(chips) {
                let pages = aged_chip(&layout, aging, position, &mut Stream::numbered(1, b"any\0\0\0\0\0", 0));
                for (place, &lpn) in (position.0 * layout.pages_per_chip()..).zip(&pages) {
                    if lpn != NO_LPN {
                        listed[lpn] = place;
                    }
                }
            }
            prop_assert_eq!(aged_places(&layout, aging), Some(listed));
        }
    }
}
