//! The places of pages when a run begins with [`Aging::Worst`], without going through each page:
//! logical pages go round the blocks, so that pages of one row hold what those of the row before
//! hold, and as many pages on.

use rtflash_model::{Id, Placement};

use super::aging::round_robin;
use crate::ids::{BlockId, ColumnId, Lpn, PerId};
use crate::options::Aging;
use crate::plan::layout::Layout;

/// The content of a chip without certificates, or of a processor, with [`Aging::Worst`].
#[derive(Debug, Clone, Copy)]
pub struct WorstStart {
    /// Chips side by side in a block; else each is filled by itself.
    width: u32,
    /// Pages of a block on a chip.
    pages: u32,
    /// All blocks, those that are closed, and the pages that are programmed in the next one.
    blocks: u32,
    closed: u32,
    open: u32,
    /// Logical pages, and those of them that are in closed blocks.
    mapped: u32,
    inside: u32,
}

impl WorstStart {
    /// `None` with another aging. `placement`: that of the certificate, if there is one.
    pub fn new(layout: &Layout, placement: Option<Placement>, aging: Aging) -> Option<WorstStart> {
        let superblock = placement.is_some_and(|placement| !placement.is_by_chip());
        let (width, pages) = (if superblock { layout.chips() } else { 1 }, layout.pages());
        let (block_pages, mapped) = (width * pages, layout.logical_per_chip() * width);
        let programmed = if placement.is_some() {
            let reserve = u32::try_from(layout.reserve_pages()).expect("what is mapped fits beside the reserve");
            layout.blocks() * block_pages - reserve
        } else {
            layout.data_blocks() * pages
        };
        let (closed, open) = (programmed / block_pages, programmed % block_pages);
        let (blocks, inside) = (layout.blocks() + layout.spare_blocks(), mapped.min(closed * block_pages));
        (aging == Aging::Worst).then_some(WorstStart { width, pages, blocks, closed, open, mapped, inside })
    }

    /// How many pages of each block are programmed, and valid.
    pub fn counts(self) -> impl Iterator<Item = (BlockId, u32, u32)> {
        BlockId::first(self.blocks).map(move |block| match block.0 {
            closed if closed < self.closed => {
                (block, self.width * self.pages, round_robin(self.inside, self.closed, closed))
            }
            open if open == self.closed => (block, self.open, self.mapped - self.inside),
            _ => (block, 0, 0),
        })
    }

    /// Where the logical pages are, in order, of these chips that are filled alike; of all, where
    /// they are side by side. `spot` numbers the pages of chips, those of a block evenly.
    pub fn places(
        self,
        chips: impl Iterator<Item = ColumnId> + Clone,
        spot: impl Fn(ColumnId, BlockId, u32) -> u32,
    ) -> PerId<Lpn, u32> {
        let WorstStart { width, pages, closed, mapped, inside, .. } = self;
        let chips = || chips.clone().take(if width > 1 { 1 } else { usize::MAX });
        let firsts: Vec<u32> = BlockId::first(closed)
            .flat_map(|block| chips().map(move |chip| (chip, block)))
            .map(|(chip, block)| spot(chip, block, 0))
            .collect();
        let (of_one, count) = (ColumnId(0), ColumnId::from_index(chips().count()).0);
        let nth = |of: u32| BlockId(of * count).index();
        let mut places = Vec::with_capacity(nth(mapped));
        let start = spot(of_one, BlockId(0), 0);
        for place in 0..width * pages {
            let behind = spot(ColumnId(place / pages), BlockId(0), place % pages) - start;
            let rest = firsts.len().min(nth(inside) - places.len());
            places.extend(firsts[..rest].iter().map(|first| first + behind));
        }
        for place in 0..mapped - inside {
            let (column, row) = (place % width, place / width);
            let on = |chip: ColumnId| spot(if width > 1 { ColumnId(column) } else { chip }, BlockId(closed), row);
            places.extend(chips().map(on));
        }
        places.into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rtflash_model::Device;
    use rtflash_model::random::Stream;

    use super::*;
    use crate::ids::NO_LPN;
    use crate::ids::PageId;
    use crate::start::{aged_chip, initial_pages};

    /// The places in lists of pages.
    fn listed(lists: &[PerId<PageId, Lpn>], logical: u32, spot: impl Fn(usize, u32) -> u32) -> PerId<Lpn, u32> {
        let mut places = PerId::filled(u32::MAX, logical);
        for (list, pages) in lists.iter().enumerate() {
            for (page, &lpn) in (0..).zip(pages).filter(|&(_, &lpn)| lpn != NO_LPN) {
                places[lpn] = spot(list, page);
            }
        }
        places
    }

    proptest! {
        #[test]
        fn all_is_where_the_lists_have_it(
            (blocks, pages, chips) in (4..20_u32, 1..9_u32, 1..5_u32),
            (reserve, ratio) in (0..200_u64, 10..99_u32),
            organisation in 0..3_usize,
        ) {
            let mut device = Device::profile("dgist-2021").expect("the profile").spec();
            (device.blocks_per_chip, device.pages_per_block) = (blocks, pages);
            device.logical_ratio = format!("0.{ratio}").parse().expect("a ratio");
            let Ok(device) = Device::new(device) else { return Ok(()) };
            let placement = [None, Some(Placement::Stripe), Some(Placement::Superblock)][organisation];
            let by_chip = placement.is_none_or(Placement::is_by_chip);
            let layout = match placement {
                None => Layout::new(&device, chips, std::iter::once(1), 1).ok(),
                Some(_) => Layout::certified(&device, chips, Some(reserve), by_chip),
            };
            let Some(layout) = layout else { return Ok(()) };
            let width = if by_chip { 1 } else { chips };
            let all = u64::from(layout.blocks() * pages * width);
            if placement.is_some() && reserve + u64::from(layout.logical_per_chip() * width) > all {
                return Ok(());
            }
            let list = |chip| {
                let stream = &mut Stream::numbered(1, b"unused\0\0", 0);
                match placement {
                    None => aged_chip(&layout, Aging::Worst, chip, stream).lpns,
                    Some(placement) => initial_pages(&layout, placement, chip, Aging::Worst, stream),
                }
            };
            let lists: Vec<_> = ColumnId::first(if by_chip { chips } else { 1 }).map(list).collect();
            let start = WorstStart::new(&layout, placement, Aging::Worst).expect("the worst");
            let spot = |chip: ColumnId, block: BlockId, row: u32| (chip.0 * 1_000 + block.0) * pages + row;
            let block_pages = width * pages;
            let of_list = |list: usize, page: u32| {
                let (block, place) = (BlockId(page / block_pages), page % block_pages);
                let chip = if by_chip { ColumnId::from_index(list) } else { ColumnId(place % width) };
                spot(chip, block, place / width)
            };
            let expected = listed(&lists, layout.logical_pages(), of_list);
            let found = start.places(ColumnId::first(chips), spot);
            prop_assert_eq!(found.as_slice(), expected.as_slice());
            for (block, programmed, valid) in start.counts() {
                let first = PageId(block.0 * block_pages).index();
                let held = lists[0].as_slice().iter().skip(first).take(PageId(block_pages).index());
                prop_assert_eq!(held.clone().count(), PageId(programmed).index());
                prop_assert_eq!(held.filter(|&&lpn| lpn != NO_LPN).count(), PageId(valid).index());
            }
        }
    }
}
