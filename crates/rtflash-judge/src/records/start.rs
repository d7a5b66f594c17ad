//! The initial content of the device, for checkers: by `SPEC.md` of `rtflash-sim`, from the plan,
//! the aging and the seed alone.

use rtflash_model::random::Stream;
use rtflash_plan::{Aging, BlockId, ColumnId, PageId, Promise, aged_chip, initial_pages, initial_zones};

use crate::Checks;

impl Checks<'_> {
    /// Fills in what every block that is watched holds, and where the rings of zones go on.
    pub(crate) fn fill(&mut self, aging: Aging, seed: u64) {
        let plan = self.plan;
        for &number in &self.clusters {
            let cluster = &plan.clusters()[number];
            let layout = &cluster.layout;
            let by = match plan.promise() {
                Promise::Utilization => None,
                Promise::Certified(certified) => Some(&certified[number]),
            };
            let placement = by.map(|by| by.certificate.placement);
            let zoned = by.filter(|by| by.is_zoned());
            let superblock = placement.is_some_and(|placement| !placement.is_by_chip());
            let (wide, processors) = if superblock { (layout.chips(), 1) } else { (1, cluster.chips.len()) };
            for (processor, &chip) in (0..).map(ColumnId).zip(&cluster.chips).take(processors) {
                let Some(at) = self.chips[chip] else { continue };
                let drawn = |domain| Stream::numbered(seed, domain, chip.into());
                let (zones, lpns);
                let held: Vec<&[_]> = if let Some(by) = zoned {
                    zones = initial_zones(cluster, by, processor, aging, seed);
                    self.zones.starts(at.watched, &zones.next);
                    zones.blocks.iter().map(|held| &held[..]).collect()
                } else {
                    lpns = match placement {
                        Some(placement) => initial_pages(layout, placement, processor, aging, &mut drawn(b"initial\0")),
                        None => aged_chip(layout, aging, processor, &mut drawn(b"aging\0\0\0")),
                    };
                    lpns.as_slice().chunks(PageId(layout.pages() * wide).index()).collect()
                };
                let blocks = BlockId::first(layout.blocks() + layout.spare_blocks());
                for (block, programmed) in blocks.zip(held.into_iter().chain(std::iter::repeat(&[][..]))) {
                    self.mapping.starts(at, block, programmed);
                    let count = u32::try_from(programmed.len()).expect("no more pages than a block has");
                    self.page_order.starts(at.watched, wide, block, count);
                }
            }
        }
        self.mapping.known = true;
    }
}
