//! What is on the device when a run begins, for checkers: as `docs/executor.md` says, from the
//! plan, the aging and the seed alone.

use rtflash_model::random::Stream;

use super::flash::PageOrder;
use super::mapping::Mapping;
use crate::ftl::{aged_chip, initial_pages};
use crate::options::Aging;
use crate::plan::Plan;

/// Fills in what every block of the clusters in `clusters` holds. The chips of a cluster stand one
/// after another, in the order of `clusters`.
pub(super) fn fill(
    plan: &Plan,
    clusters: &[u32],
    (aging, seed): (Aging, u64),
    order: &mut PageOrder,
    map: &mut Mapping,
) {
    let mut first = 0;
    for &number in clusters {
        let Some(cluster) = plan.clusters().get(number as usize) else { continue };
        let layout = &cluster.layout;
        let (blocks, pages) = (layout.blocks() as usize, layout.pages());
        let units = if cluster.certificate.is_some() && !cluster.is_stripe() { 1 } else { cluster.chips.len() };
        let wide = cluster.chips.len() / units;
        for (unit, &chip) in (0..).zip(&cluster.chips).take(units) {
            let lpns = if cluster.certificate.is_some() {
                initial_pages(cluster, unit, aging, &mut Stream::numbered(seed, b"initial\0", chip.into()))
            } else {
                let mut stream = Stream::numbered(seed, b"aging\0\0\0", chip.into());
                aged_chip(layout, aging, unit, &mut stream).lpns
            };
            let mut programmed = vec![0; blocks * wide];
            let block_pages = pages as usize * wide;
            for (place, &lpn) in lpns.iter().enumerate() {
                let (block, place) = (place / block_pages, place % block_pages);
                let column = place % wide;
                programmed[column * blocks + block] += 1;
                let row = u32::try_from(place / wide).unwrap_or(0);
                map.starts(number, unit as usize + column, first, (block, row), lpn);
            }
            for (at, &programmed) in programmed.iter().enumerate() {
                order.starts(first + unit as usize + at / blocks, at % blocks, programmed);
            }
        }
        first += cluster.chips.len();
    }
    map.is_known();
}
