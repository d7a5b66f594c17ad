//! The page map, as the records have it: what is read, what is erased, how full every block is,
//! how much is free.

mod failed;
mod pool;
mod rows;
mod start;
mod trims;
mod worn;

use std::collections::BTreeSet;

use prefetch_index::prefetch_index;
use rtflash_model::{Id, Instant};
use serde::{Deserialize, Serialize};

pub(crate) use self::failed::{FailedOperation, FailedPage};
use rtflash_model::{ClusterId, Lpn, PerId};
use rtflash_plan::{BlockId, ColumnId, Plan, Promise};
use rtflash_trace::{Action, Kind, NONE, Operation};

use self::failed::{LastOperations, LastProgram};
use self::pool::Pool;
use self::rows::RowPages;
use self::worn::BlockWear;
use crate::gauge::{Gauge, Gauges};
use crate::place::Place;
use crate::{Assumption, WatchedChip};

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct ClusterShape {
    chips: u32,
    stripe: bool,
    superblock: bool,
    /// Whether its tasks own zones, so that no rule counts what is free.
    zoned: bool,
}

impl ClusterShape {
    /// Among all chips that are watched, of `blocks` of `pages`: the cluster's from `first` on.
    #[inline(always)]
    fn block_of(self, blocks: usize, pages: u32, first: usize, spot: u32) -> usize {
        let block = BlockId(spot / pages).index();
        first * blocks + if self.superblock { block % blocks } else { block }
    }
}

/// In the number of valid pages of a block that is not closed, or a victim: there are fewer pages.
const TAKEN: u32 = 1 << 31;

const AT_ONCE: usize = 32;

#[derive(Debug, Serialize, Deserialize)]
struct MappedCluster {
    shape: ClusterShape,
    full: u32,
    spare: u32,
    /// Position of the chip · pages of a chip + page; `NONE` if it has not been seen yet.
    spots: PerId<Lpn, u32>,
}

/// A read page was last written, and no valid page is erased: exceptions, against zero.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Mapping {
    blocks: usize,
    blocks_per_chip: u32,
    pages: u32,
    clusters: PerId<ClusterId, MappedCluster>,
    /// The pages known to be valid, with [`TAKEN`] unless the block is closed and no victim; of a
    /// superblock where its first chip's blocks are.
    valid: Vec<u32>,
    programmed: Vec<u32>,
    /// The first chip's of its processor or cluster.
    pools: Vec<Pool>,
    pub(crate) known: bool,
    rows: PerId<ClusterId, RowPages>,
    /// The last operations of each chip that is watched, if blocks may fail: else there are none.
    last: Vec<LastOperations>,
    retired: BTreeSet<usize>,
    pub(crate) wear: Option<BlockWear>,
}

impl Mapping {
    pub(crate) fn new(plan: &Plan, chips: usize, clusters: &[ClusterId]) -> Self {
        let blocks = BlockId(plan.device().blocks_per_chip()).index();
        let pages = plan.device().pages_per_block();
        let mapped = |(number, cluster): (ClusterId, &rtflash_plan::ClusterPlan)| {
            let logical = if clusters.contains(&number) { cluster.layout.logical_pages() } else { 0 };
            let (stripe, superblock, zoned) = match plan.promise() {
                Promise::Utilization => (false, false, false),
                Promise::Certified(certified) => {
                    let stripe = certified[number].is_stripe();
                    (stripe, !stripe, certified[number].is_zoned())
                }
            };
            let shape = ClusterShape { chips: cluster.layout.chips(), stripe, superblock, zoned };
            let full = if superblock { pages * shape.chips } else { pages };
            MappedCluster { shape, full, spare: cluster.layout.spare_blocks(), spots: PerId::filled(NONE, logical) }
        };
        let levelled = plan.device().wear_gap().filter(|_| matches!(plan.promise(), Promise::Certified(_)));
        let mut map = Mapping {
            blocks,
            blocks_per_chip: plan.device().blocks_per_chip(),
            pages,
            clusters: plan.clusters().enumerate().map(mapped).collect(),
            valid: vec![TAKEN; chips * blocks],
            programmed: vec![0; chips * blocks],
            pools: vec![Pool::default(); chips],
            known: false,
            rows: plan.per_cluster(RowPages::none()),
            last: vec![LastOperations::default(); if plan.device().spare_blocks() > 0 { chips } else { 0 }],
            retired: BTreeSet::new(),
            wear: levelled.map(|gap| BlockWear::new(gap, chips * blocks)),
        };
        let mut first = 0;
        for &number in clusters {
            let (cluster, stripe) = (&plan.clusters()[number], map.clusters[number].shape.stripe);
            let layout = &cluster.layout;
            for position in 0..cluster.chips.len() {
                let pool = if stripe { first + position } else { first };
                map.pools[pool].free += i64::from(layout.pages_per_chip());
                map.pools[pool].spare = layout.spare_blocks();
            }
            first += cluster.chips.len();
        }
        map
    }

    /// The place of a chip's processor in the lists of blocks.
    #[inline]
    fn base(&self, at: WatchedChip) -> usize {
        let first = if self.clusters[at.cluster].shape.superblock { at.first() } else { at.watched };
        first * self.blocks
    }

    fn pool(&self, at: WatchedChip) -> usize {
        if self.clusters[at.cluster].shape.stripe { at.watched } else { at.first() }
    }

    /// Without certificates the cluster's; `None` where the start is not known.
    #[inline]
    pub(crate) fn free(&mut self, at: WatchedChip, now: Instant) -> Option<u64> {
        let (pages, pool) = (i64::from(self.pages), self.pool(at));
        let pool = &mut self.pools[pool];
        if !pool.erases.is_empty() {
            pool.erases.retain(|&end| {
                let over = end <= now;
                pool.free += if over { pages } else { 0 };
                !over
            });
        }
        self.known.then(|| pool.free.max(0).unsigned_abs())
    }

    /// The pages of a closed block, no victim; the lowest such block; the number of others. `None`
    /// where the start is not known.
    pub(crate) fn fewest(&self, at: WatchedChip) -> Option<(u32, BlockId, u64)> {
        let base = self.base(at);
        if !self.known {
            return None;
        }
        let blocks = &self.valid[base..base + self.blocks];
        let spare = u64::from(self.clusters[at.cluster].spare);
        // Some at a time, the first of which have the fewest.
        let (mut fewest, mut first, mut open) = (u32::MAX, 0, 0);
        for (number, some) in blocks.chunks(AT_ONCE).enumerate() {
            open += some.iter().map(|&valid| valid >> 31).sum::<u32>();
            let of_some = some.iter().copied().fold(u32::MAX, u32::min);
            if of_some < fewest {
                (fewest, first) = (of_some, number * AT_ONCE);
            }
        }
        if fewest >= TAKEN {
            return Some((NONE, BlockId(0), (self.blocks as u64).saturating_sub(spare)));
        }
        let block = blocks[first..].iter().position(|&valid| valid == fewest).expect("the fewest of some");
        let block = first + block;
        // Those that are kept back, or retired in whose place they are, do not count.
        Some((fewest, BlockId::from_index(block), u64::from(open).saturating_sub(spare)))
    }

    /// Its valid pages, if the block is closed and no victim yet.
    pub(crate) fn take(&mut self, at: WatchedChip, block: BlockId) -> Option<u32> {
        let of = self.base(at) + block.index();
        let valid = self.valid[of];
        self.valid[of] |= TAKEN;
        (valid < TAKEN).then_some(valid)
    }

    /// Valid pages of a block that is closed with the page that is programmed next.
    pub(crate) fn about_to_close(&self, at: WatchedChip, block: BlockId) -> Option<u32> {
        let of = self.base(at) + block.index();
        (self.programmed[of] + 1 == self.clusters[at.cluster].full).then(|| (self.valid[of] & !TAKEN) + 1)
    }

    #[inline]
    pub(crate) fn spot(&self, position: ColumnId, block: BlockId, page: u32) -> u32 {
        // A device that is run has at most 2³⁰ pages.
        (position.0 * self.blocks_per_chip + block.0) * self.pages + page
    }

    #[inline]
    pub(crate) fn is_at(&self, cluster: ClusterId, lpn: Lpn, spot: u32) -> bool {
        self.clusters[cluster].spots.get(lpn) == Some(&spot)
    }

    #[inline]
    pub(crate) fn prefetch(&self, cluster: ClusterId, lpn: Lpn) {
        prefetch_index(self.clusters[cluster].spots.as_slice(), lpn.index());
    }

    #[inline(always)]
    pub(crate) fn operation(&mut self, operation: &Operation, at: WatchedChip, gauges: &mut Gauges) {
        let shape = self.clusters[operation.cluster].shape;
        let (first, chip, position) = (at.first(), at.watched, at.position);
        let base = if shape.superblock { first } else { chip } * self.blocks;
        let block = base + operation.block.index();
        // A copy inside a chip has its page from the start.
        let copyback = shape.stripe && operation.kind == Kind::Gc;
        let pool = &mut self.pools[if shape.stripe { chip } else { first }];
        let astray = shape.stripe && operation.lpn.0 % shape.chips != position.0;
        match operation.action {
            Action::ErasePart => {}
            Action::Erase => {
                if !shape.zoned {
                    pool.erased(operation, shape);
                }
                if let Some(last) = self.last.get_mut(chip) {
                    last.erase = Some((operation.job, operation.block));
                }
                let lost = std::mem::replace(&mut self.valid[block], TAKEN) & !TAKEN;
                self.programmed[block] = 0;
                if let Some(wear) = &mut self.wear {
                    wear.erased(block, operation.end, if shape.superblock { shape.chips } else { 1 });
                }
                gauges[Assumption::Mapping].note(0, lost.into(), || Place::from(operation));
            }
            Action::Read => {
                pool.free -= i64::from(copyback);
                let here = self.spot(position, operation.block, operation.page);
                let Some(known) = self.clusters[operation.cluster].spots.get_mut(operation.lpn) else {
                    gauges[Assumption::Mapping].note(0, 1, || Place::from(operation));
                    return;
                };
                let mut stale = *known != here;
                if *known == NONE {
                    *known = here;
                    stale = self.known;
                    self.valid[block] += 1;
                }
                gauges[Assumption::Mapping].note(0, u64::from(stale), || Place::from(operation));
                gauges[Assumption::Mapping].note(0, u64::from(astray), || Place::from(operation));
            }
            Action::Program => {
                pool.free -= i64::from(!copyback);
                if self.wear.is_some() && self.programmed[block] == 0 {
                    self.opens(operation, base, block, &mut gauges[Assumption::LevelledWear]);
                }
                let here = self.spot(position, operation.block, operation.page);
                let old = self.programs(operation, first, here, block, astray, &mut gauges[Assumption::Mapping]);
                if let Some(last) = self.last.get_mut(chip) {
                    let (kind, lpn) = (operation.kind, operation.lpn);
                    last.program = old.map(|old| LastProgram { job: operation.job, kind, lpn, here, old });
                }
            }
        }
    }

    #[inline(always)]
    fn programs(
        &mut self,
        operation: &Operation,
        first: usize,
        here: u32,
        block: usize,
        astray: bool,
        gauge: &mut Gauge,
    ) -> Option<u32> {
        let MappedCluster { shape, full, spots, .. } = &mut self.clusters[operation.cluster];
        let overwritten = (shape.stripe || shape.superblock) && self.rows[operation.cluster].was_overwritten(operation);
        let programmed = &mut self.programmed[block];
        *programmed += 1;
        if *programmed == *full {
            // Closed with its last page.
            self.valid[block] &= !TAKEN;
        }
        if overwritten {
            // Stale already.
            return Some(NONE);
        }
        let Some(known) = spots.get_mut(operation.lpn) else {
            gauge.note(0, 1, || Place::from(operation));
            return None;
        };
        let old = std::mem::replace(known, here);
        if old != NONE {
            let valid = &mut self.valid[shape.block_of(self.blocks, self.pages, first, old)];
            // In a trace, more pages may become stale than were programmed.
            *valid -= u32::from(*valid & !TAKEN != 0);
        }
        self.valid[block] += 1;
        gauge.note(0, u64::from(astray), || Place::from(operation));
        Some(old)
    }
}
