//! The zones of a chip when a run begins.

use rtflash_model::random::Stream;

use crate::ids::{ColumnId, Lpn, NO_LPN};
use crate::options::Aging;
use crate::plan::{Certified, ClusterPlan};

/// A chip of a cluster whose tasks own zones, as a run finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZonesAtStart {
    /// Logical pages by block, or [`NO_LPN`] for stale ones.
    pub blocks: Vec<Vec<Lpn>>,
    /// For each ring its next page on the chip, counted through its blocks.
    pub next: Vec<u32>,
}

/// The chip at this position: every task wrote in order, round and round, the last page just before
/// the ring's next one, alike on all chips. The task's range comes next.
///
/// Under [`Aging::Fresh`] it wrote only that; under [`Aging::Worst`] the last round ends with
/// a block, so that the next page takes a reset; with [`Aging::Random`] anywhere.
pub fn initial_zones(
    cluster: &ClusterPlan,
    by: &Certified,
    processor: ColumnId,
    aging: Aging,
    seed: u64,
) -> ZonesAtStart {
    let layout = &cluster.layout;
    let (chips, pages) = (layout.chips(), layout.pages());
    let mut stream = Stream::numbered(seed, b"zones\0\0\0", cluster.chips[0].into());
    let mut found =
        ZonesAtStart { blocks: vec![Vec::new(); layout.blocks() as usize], next: Vec::with_capacity(by.rings.len()) };
    for ring in &by.rings {
        if ring.zones() == 0 {
            found.next.push(0);
            continue;
        }
        let rows = (ring.pages.end.0 - ring.pages.start.0) / chips;
        let all = ring.zones() * pages;
        // Pages that are only read were written from the start of the ring.
        let is_fresh = aging == Aging::Fresh || !ring.writes;
        let next = match aging {
            _ if is_fresh => rows,
            Aging::Fresh | Aging::Worst => 0,
            Aging::Random => u32::try_from(stream.below(all.into())).expect("a page of a chip"),
        };
        for zone in 0..ring.zones() {
            // Programmed pages of the zone: those of the rows if nothing else was written before,
            // and otherwise all but those of the open block from the next one on.
            let programmed = if is_fresh {
                rows.saturating_sub(zone * pages).min(pages)
            } else if zone == next / pages && !next.is_multiple_of(pages) {
                next % pages
            } else {
                pages
            };
            let block = &mut found.blocks[(ring.blocks.start.0 + zone) as usize];
            block.resize(programmed as usize, NO_LPN);
        }
        // They were written row by row: the first row is next to be written again.
        let lpn = |row: u32| Lpn(ring.pages.start.0 + row * chips + processor.0);
        for row in 0..rows {
            let place = (next + all - rows + row) % all;
            let block = ring.blocks.start.index() + (place / pages) as usize;
            found.blocks[block][(place % pages) as usize] = lpn(row);
        }
        found.next.push(next % all);
    }
    found
}
