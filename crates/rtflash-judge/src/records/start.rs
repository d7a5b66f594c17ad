//! What is on the device when a run begins, for checkers: as `docs/executor.md` says, from the
//! plan, the aging and the seed alone.

use rtflash_model::ClusterId;
use rtflash_model::random::Stream;
use rtflash_plan::{Aging, BlockId, ColumnId, PageId, Plan, Promise, aged_chip, initial_pages, initial_zones};

use crate::checks::page_order::PageOrder;
use crate::checks::zones::ZoneOrder;
use crate::shadow::pages::Mapping;

/// Fills in what every block of the clusters in `clusters` holds. The chips of a cluster stand one
/// after another, in the order of `clusters`.
pub(crate) fn fill(
    plan: &Plan,
    clusters: &[ClusterId],
    aging: Aging,
    seed: u64,
    order: &mut PageOrder,
    map: &mut Mapping,
) {
    let mut first = 0;
    for &number in clusters {
        let cluster = &plan.clusters()[number];
        let layout = &cluster.layout;
        let placement = match plan.promise() {
            Promise::Utilization => None,
            Promise::Certified(certified) => Some(certified[number].certificate.placement),
        };
        let superblock = placement.is_some_and(|placement| !placement.is_by_chip());
        let (wide, processors) = if superblock { (layout.chips(), 1) } else { (1, cluster.chips.len()) };
        for (processor, &chip) in (0..).map(ColumnId).zip(&cluster.chips).take(processors) {
            let drawn = |domain| Stream::numbered(seed, domain, chip.into());
            if let Promise::Certified(certified) = plan.promise()
                && certified[number].is_zoned()
            {
                let found = initial_zones(cluster, &certified[number], processor, aging, seed);
                for (block, programmed) in (0..).map(BlockId).zip(&found.blocks) {
                    map.starts(number, processor, first, block, programmed);
                    let rows = u32::try_from(programmed.len()).expect("no more pages than a block has");
                    order.starts(first + processor.index(), block, rows);
                }
                for block in BlockId::first(layout.blocks() + layout.spare_blocks()).skip(found.blocks.len()) {
                    order.starts(first + processor.index(), block, 0);
                }
                continue;
            }
            let lpns = match placement {
                Some(placement) => initial_pages(layout, placement, processor, aging, &mut drawn(b"initial\0")),
                None => aged_chip(layout, aging, processor, &mut drawn(b"aging\0\0\0")),
            };
            let (width, block_pages) = (ColumnId(wide).index(), PageId(layout.pages() * wide).index());
            let pages = lpns.as_slice().chunks(block_pages).chain(std::iter::repeat(&[][..]));
            for (block, programmed) in BlockId::first(layout.blocks() + layout.spare_blocks()).zip(pages) {
                map.starts(number, processor, first, block, programmed);
                for column in 0..width {
                    let rows = programmed.iter().skip(column).step_by(width).len();
                    let rows = u32::try_from(rows).expect("no more pages than a block has");
                    order.starts(first + processor.index() + column, block, rows);
                }
            }
        }
        first += cluster.chips.len();
    }
    map.is_known();
}

/// Where the rings of those clusters go on whose tasks own zones.
pub(crate) fn rings(plan: &Plan, clusters: &[ClusterId], aging: Aging, seed: u64, order: &mut ZoneOrder) {
    let Promise::Certified(certified) = plan.promise() else { return };
    let mut first = 0;
    for &number in clusters {
        let (cluster, by) = (&plan.clusters()[number], &certified[number]);
        let chips = ColumnId::first(cluster.layout.chips()).filter(|_| by.is_zoned());
        for chip in chips {
            order.starts(first + chip.index(), &initial_zones(cluster, by, chip, aging, seed).next);
        }
        first += cluster.chips.len();
    }
}
