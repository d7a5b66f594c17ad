//! Which zones of a cluster belong to whom, where tasks own zones.

use std::ops::Range;

use rtflash_model::{Cluster, Span, TaskSet};

use super::layout::Layout;
use super::{Plan, PlanError, Promise, StepSpans};
use crate::ids::{BlockId, ClusterId, Lpn};
use crate::jobs::Kind;

/// A zone is the block of one number on every chip. A task that reads another's pages owns none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneRing {
    /// Numbers of its blocks.
    pub blocks: Range<BlockId>,
    /// The logical pages that are kept there; the first one begins the first zone of a new ring.
    pub pages: Range<Lpn>,
    /// Whether its task writes.
    pub writes: bool,
}

impl ZoneRing {
    /// How many blocks it has on each chip.
    pub fn zones(&self) -> u32 {
        self.blocks.end.0 - self.blocks.start.0
    }
}

/// Zones that the data fill, one more for a writer; the rest, or all if need be, equally.
pub(super) fn rings(
    set: &TaskSet,
    cluster: &Cluster,
    layout: &Layout,
    position: usize,
) -> Result<Vec<ZoneRing>, PlanError> {
    let tasks = || cluster.tasks.iter().map(|&task| &set.tasks()[task]);
    if !tasks().all(|task| task.fits_zones()) {
        let fault = "has zones, and what a task writes there is no stream";
        return Err(PlanError::Certificate { cluster: position, fault });
    }
    let zone = u64::from(layout.chips()) * u64::from(layout.pages());
    let blocks = u64::from(layout.blocks());
    let writes: Vec<bool> = tasks().map(|task| task.write.is_some()).collect();
    let declared: Vec<Option<u64>> = tasks().map(|task| task.data_pages.is_some().then(|| task.zones(zone))).collect();
    let found = divided(blocks, &declared, &writes)
        .or_else(|| divided(blocks, &vec![None; declared.len()], &writes))
        .ok_or(PlanError::NoRoom { cluster: position })?;
    let mut next = 0;
    let ring = |((task, zones), writes): ((&rtflash_model::Task, u64), bool)| {
        let first = next;
        next += zones;
        let kept = (zones - u64::from(writes)) * zone;
        // In whole rows, so that a stream goes round without a jump.
        let rows = u64::from(layout.chips());
        let kept = task.data_pages.map_or(kept, |pages| (pages.div_ceil(rows) * rows).min(kept));
        let page = |number: u64| Lpn(u32::try_from(number).expect("a device that is run has at most 2^30 pages"));
        let block = |number: u64| BlockId(u32::try_from(number).expect("no more than a chip has"));
        ZoneRing { blocks: block(first)..block(next), pages: page(first * zone)..page(first * zone + kept), writes }
    };
    Ok(tasks().zip(found).zip(writes).map(ring).collect())
}

/// How many zones each task owns; `None` if they do not fit, or a task would keep nothing.
fn divided(blocks: u64, declared: &[Option<u64>], writes: &[bool]) -> Option<Vec<u64>> {
    let left = declared.iter().flatten().try_fold(blocks, |left, &zones| left.checked_sub(zones))?;
    let sharers = declared.iter().filter(|zones| zones.is_none()).count() as u64;
    let each = left / sharers.max(1);
    let zones = |(zones, &writes): (&Option<u64>, &bool)| {
        zones
            .unwrap_or(each)
            .checked_sub(u64::from(writes))
            .filter(|&kept| kept > 0)
            .map(|kept| kept + u64::from(writes))
    };
    declared.iter().zip(writes).map(zones).collect()
}

impl Plan {
    /// The longest time of a request's resets, zero without zones; `None` if that is too long.
    pub(super) fn resets(&self, cluster: ClusterId, kind: Kind, pages: u64) -> Option<Span> {
        let Promise::Certified(certified) = &self.promise else { return Some(Span::ZERO) };
        if kind != Kind::Write || !certified[cluster].is_zoned() {
            return Some(Span::ZERO);
        }
        let of = &self.clusters[cluster];
        let chips = u64::from(of.layout.chips());
        let zone = chips * u64::from(of.layout.pages());
        // Among consecutive pages the first s of each zone are the first ones of blocks.
        let resets = pages / zone * chips + (pages % zone).min(chips);
        StepSpans::new(&self.device, of.page_delay)?.erase.checked_mul(resets)
    }
}

/// The ring that a logical page of its cluster is kept in, by number.
pub fn ring_of(rings: &[ZoneRing], lpn: Lpn) -> Option<usize> {
    let after = rings.partition_point(|ring| ring.pages.start <= lpn);
    after.checked_sub(1).filter(|&at| lpn < rings[at].pages.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_comes_first_and_the_rest_is_shared() {
        assert_eq!(divided(10, &[Some(3), None, None], &[true, true, false]), Some(vec![3, 3, 3]));
        assert_eq!(divided(4, &[Some(3), None], &[true, false]), Some(vec![3, 1]));
        assert_eq!(divided(4, &[Some(3), None], &[true, true]), None);
        assert_eq!(divided(4, &[Some(5)], &[false]), None);
        assert_eq!(divided(4, &[], &[]), Some(vec![]));
    }

    #[test]
    fn a_page_is_in_the_ring_that_keeps_it() {
        let ring = |blocks: Range<u32>, pages: Range<u32>| ZoneRing {
            blocks: BlockId(blocks.start)..BlockId(blocks.end),
            pages: Lpn(pages.start)..Lpn(pages.end),
            writes: true,
        };
        let rings = [ring(0..2, 0..7), ring(2..5, 16..32)];
        let found = [0, 6, 7, 15, 16, 31, 32].map(|page| ring_of(&rings, Lpn(page)));
        assert_eq!(found, [Some(0), Some(0), None, None, Some(1), Some(1), None]);
        assert_eq!(rings[1].zones(), 3);
    }
}
