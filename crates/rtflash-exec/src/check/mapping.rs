//! The page map, as the records tell of it: what is read, what is erased, how full every block is,
//! how much is free.

use prefetch_index::prefetch_index;
use rtflash_model::Instant;

use super::flash::place;
use super::gauge::Gauge;
use crate::plan::Plan;
use crate::trace::{Action, Kind, NONE, Operation};

/// Logical pages programmed in a row, each with page and block.
type Row = Vec<(u32, u32, u32)>;

/// How a cluster places its pages.
#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    chips: u32,
    stripe: bool,
    superblock: bool,
    certified: bool,
}

/// Free pages of a unit, or of a whole cluster without a certificate.
#[derive(Debug, Clone, Default)]
struct Pool {
    /// Without what erases have freed that have not been looked at: it may be below zero.
    free: i64,
    /// Ends of these erases.
    erases: Vec<Instant>,
}

impl Pool {
    /// A block is erased. The blocks of a superblock are free together, once the last one is
    /// erased: its erases are one step.
    fn erased(&mut self, operation: &Operation, superblock: bool) {
        let mut end = operation.end;
        if superblock {
            let step = self.erases.iter().filter(|end| **end > operation.start);
            end = step.fold(end, |last, &other| last.max(other));
            self.erases.iter_mut().filter(|end| **end > operation.start).for_each(|other| *other = end);
        }
        self.erases.push(end);
    }
}

/// What is read is what was last written, and nothing that is valid is erased: stale reads and lost
/// pages, against zero.
#[derive(Debug)]
pub(super) struct Mapping {
    pub(super) gauge: Gauge,
    blocks: usize,
    pages: u32,
    /// Where each logical page of a cluster was last seen: position of the chip · pages of a chip +
    /// page; `NONE` if it has not been yet.
    clusters: Vec<Vec<u32>>,
    shapes: Vec<Shape>,
    /// Of each block of each chip that is watched (of a superblock: where its first chip's blocks
    /// are): pages known to be valid; pages programmed since the last erase; and the valid ones
    /// again while it is closed and no victim, else `NONE`.
    valid: Vec<u32>,
    programmed: Vec<u32>,
    candidates: Vec<u32>,
    /// For each chip that is watched, where its unit or cluster keeps its free pages: the first
    /// chip's.
    pools: Vec<Pool>,
    /// Whether it is known what was on the device at the start.
    known: bool,
    /// Of each superblock cluster, when its last row began, and the logical pages of that row with
    /// page and block.
    rows: Vec<(Instant, Row)>,
}

impl Mapping {
    /// For the chips of `chips` positions, and the clusters in `clusters`.
    pub(super) fn new(plan: &Plan, chips: usize, clusters: &[u32]) -> Self {
        let blocks = plan.device().blocks_per_chip() as usize;
        let logical = |(cluster, position): (&crate::ClusterPlan, u32)| {
            let pages = if clusters.contains(&position) { cluster.layout.logical_pages() } else { 0 };
            vec![NONE; pages as usize]
        };
        let shape = |cluster: &crate::ClusterPlan| {
            let (certified, stripe) = (cluster.certificate.is_some(), cluster.is_stripe());
            Shape { chips: cluster.layout.chips(), stripe, superblock: certified && !stripe, certified }
        };
        let mut map = Mapping {
            gauge: Gauge::default(),
            blocks,
            pages: plan.device().pages_per_block(),
            clusters: plan.clusters().iter().zip(0..).map(logical).collect(),
            shapes: plan.clusters().iter().map(shape).collect(),
            valid: vec![0; chips * blocks],
            programmed: vec![0; chips * blocks],
            candidates: vec![NONE; chips * blocks],
            pools: vec![Pool::default(); chips],
            known: false,
            rows: if plan.is_certified() {
                vec![(Instant::START, Vec::new()); plan.clusters().len()]
            } else {
                Vec::new()
            },
        };
        let mut first = 0;
        for cluster in clusters.iter().filter_map(|&number| plan.clusters().get(number as usize)) {
            let layout = &cluster.layout;
            for position in 0..cluster.chips.len() {
                let pool = if cluster.is_stripe() { first + position } else { first };
                map.pools[pool].free += i64::from(layout.pages_per_chip());
            }
            first += cluster.chips.len();
        }
        map
    }

    /// A page is programmed at the start, with this logical page or with what is stale. `first`:
    /// where the cluster's chips begin.
    pub(super) fn starts(&mut self, cluster: u32, position: usize, first: usize, at: (usize, u32), lpn: u32) {
        let shape = self.shapes[cluster as usize];
        let (block, row) = at;
        let column = if shape.superblock { 0 } else { position };
        let of = (first + column) * self.blocks + block;
        self.programmed[of] += 1;
        if lpn != NONE {
            self.valid[of] += 1;
            let here = (position * self.blocks + block) * self.pages as usize + row as usize;
            if let Some(known) = self.clusters[cluster as usize].get_mut(lpn as usize) {
                *known = u32::try_from(here).unwrap_or(NONE);
            }
        }
        if self.programmed[of] == self.full(shape) {
            self.candidates[of] = self.valid[of];
        }
        let pool = if shape.stripe { first + position } else { first };
        self.pools[pool].free -= 1;
    }

    /// All that was on the device at the start has been told.
    pub(super) fn is_known(&mut self) {
        self.known = true;
    }

    /// Pages of a block of a unit.
    #[inline]
    fn full(&self, shape: Shape) -> u32 {
        if shape.superblock { self.pages * shape.chips } else { self.pages }
    }

    /// Where the unit of a chip keeps what is known of its blocks.
    #[inline]
    fn base(&self, cluster: u32, position: u32, chip: usize) -> usize {
        let superblock = self.shapes.get(cluster as usize).is_some_and(|shape| shape.superblock);
        if superblock { (chip - position as usize) * self.blocks } else { chip * self.blocks }
    }

    fn pool(&self, cluster: u32, position: u32, chip: usize) -> usize {
        let stripe = self.shapes.get(cluster as usize).is_some_and(|shape| shape.stripe);
        if stripe { chip } else { chip - position as usize }
    }

    /// Free pages at an instant, of the unit of a chip, or without certificates of its cluster;
    /// `None` where the start is not known.
    pub(super) fn free(&mut self, cluster: u32, position: u32, chip: usize, at: Instant) -> Option<u64> {
        let pool = self.pool(cluster, position, chip);
        let pages = i64::from(self.pages);
        let pool = self.pools.get_mut(pool)?;
        pool.erases.retain(|&end| {
            let over = end <= at;
            pool.free += if over { pages } else { 0 };
            !over
        });
        self.known.then(|| u64::try_from(pool.free).unwrap_or(0))
    }

    /// Of the unit of a chip: the fewest valid pages of a closed block that is no victim, the
    /// lowest such block, and how many blocks are not closed, or victims. `None` where the start is
    /// not known.
    pub(super) fn fewest(&self, cluster: u32, position: u32, chip: usize) -> Option<(u32, u32, u64)> {
        let base = self.base(cluster, position, chip);
        let candidates = self.candidates.get(base..base + self.blocks).filter(|_| self.known)?;
        let fewest = candidates.iter().copied().min().unwrap_or(NONE);
        let closed = candidates.iter().filter(|&&valid| valid != NONE).count();
        let block = candidates.iter().position(|&valid| valid == fewest).unwrap_or(0);
        Some((fewest, u32::try_from(block).unwrap_or(NONE), (self.blocks - closed) as u64))
    }

    /// Takes a block for a victim, and says how many valid pages it has, if it is closed and no
    /// victim yet.
    pub(super) fn take(&mut self, cluster: u32, position: u32, chip: usize, block: u32) -> Option<u32> {
        let base = self.base(cluster, position, chip);
        let candidate = self.candidates.get_mut(base + block as usize)?;
        Some(std::mem::replace(candidate, NONE)).filter(|&valid| valid != NONE)
    }

    /// Valid pages of a block that is closed with the page that is programmed next.
    pub(super) fn about_to_close(&self, cluster: u32, position: u32, chip: usize, block: u32) -> Option<u32> {
        let shape = self.shapes.get(cluster as usize).copied().unwrap_or_default();
        let of = self.base(cluster, position, chip) + block as usize;
        let last = *self.programmed.get(of)? + 1 == self.full(shape);
        last.then(|| self.valid[of] + 1)
    }

    /// Where a page is, as a number.
    #[inline]
    pub(super) fn spot(&self, position: u32, block: u32, page: u32) -> u32 {
        // A device that is run has at most 2³⁰ pages.
        let blocks = u32::try_from(self.blocks).unwrap_or(NONE);
        position.wrapping_mul(blocks).wrapping_add(block).wrapping_mul(self.pages).wrapping_add(page)
    }

    /// Whether a logical page is there now.
    #[inline]
    pub(super) fn is_at(&self, cluster: u32, lpn: u32, spot: u32) -> bool {
        self.clusters.get(cluster as usize).and_then(|map| map.get(lpn as usize)) == Some(&spot)
    }

    /// Whether of two programs of a page in one row, which a trace tells of by chip, the one told
    /// of first was the later one.
    fn was_overwritten(&mut self, operation: &Operation) -> bool {
        let Some((began, row)) = self.rows.get_mut(operation.cluster as usize) else { return false };
        if *began != operation.start {
            *began = operation.start;
            row.clear();
        }
        let (block, page) = (operation.block, operation.page);
        // A row goes from page to page; behind the last page of a block comes page 0 of another.
        let is_later = |&(lpn, other, of): &(u32, u32, u32)| {
            lpn == operation.lpn && if of == block { other > page } else { other < page }
        };
        let overwritten = row.iter().any(is_later);
        row.push((operation.lpn, page, block));
        overwritten
    }

    /// Asks memory for what is known of a logical page.
    #[inline]
    pub(super) fn prefetch(&self, cluster: u32, lpn: u32) {
        if let Some(known) = self.clusters.get(cluster as usize) {
            prefetch_index(known, lpn as usize);
        }
    }

    /// An operation on the chip at `position` of its cluster, `chip` among all that are watched.
    #[inline]
    pub(super) fn operation(&mut self, operation: &Operation, position: u32, chip: usize) {
        let shape = self.shapes.get(operation.cluster as usize).copied().unwrap_or_default();
        let base = if shape.superblock { (chip - position as usize) * self.blocks } else { chip * self.blocks };
        let block = base + operation.block as usize;
        if operation.action == Action::Erase {
            let pool = self.pool(operation.cluster, position, chip);
            let Some(valid) = self.valid.get_mut(block) else { return };
            let lost = std::mem::take(valid);
            (self.programmed[block], self.candidates[block]) = (0, NONE);
            self.pools[pool].erased(operation, shape.superblock);
            self.gauge.note(0, lost.into(), || place(operation));
            return;
        }
        self.take_page(operation, shape, (position, chip), block);
        if operation.action == Action::Program && shape.certified && self.was_overwritten(operation) {
            // Stale already.
            return;
        }
        let pages = self.pages;
        let here = self.spot(position, operation.block, operation.page);
        let Some(known) =
            self.clusters.get_mut(operation.cluster as usize).and_then(|map| map.get_mut(operation.lpn as usize))
        else {
            self.gauge.note(0, 1, || place(operation));
            return;
        };
        if shape.stripe && operation.lpn % shape.chips != position {
            self.gauge.note(0, 1, || place(operation));
        }
        let stale = match operation.action {
            Action::Read if *known == NONE => {
                *known = here;
                self.count(block, 1);
                self.known
            }
            Action::Read => *known != here,
            _ => {
                let old = std::mem::replace(known, here);
                if old != NONE {
                    // The chips of a cluster stand one after another among those that are watched.
                    let first = (chip - position as usize) * self.blocks;
                    let old = (old / pages) as usize;
                    self.count(first + if shape.superblock { old % self.blocks } else { old }, -1);
                }
                self.count(block, 1);
                false
            }
        };
        self.gauge.note(0, u64::from(stale), || place(operation));
    }

    /// A page of the chip's pool is taken, and its block is a page fuller.
    #[inline]
    fn take_page(&mut self, operation: &Operation, shape: Shape, (position, chip): (u32, usize), block: usize) {
        // A copy inside a chip has its page from the start.
        let copyback = shape.stripe && operation.kind == Kind::Gc;
        if copyback == (operation.action == Action::Read) && (copyback || operation.action == Action::Program) {
            let pool = if shape.stripe { chip } else { chip - position as usize };
            if let Some(pool) = self.pools.get_mut(pool) {
                pool.free -= 1;
            }
        }
        if operation.action == Action::Program {
            let full = self.full(shape);
            if let Some(programmed) = self.programmed.get_mut(block) {
                *programmed += 1;
                if *programmed == full {
                    // Closed with its last page.
                    self.candidates[block] = self.valid[block];
                }
            }
        }
    }

    #[inline]
    fn count(&mut self, block: usize, change: i32) {
        if let Some(valid) = self.valid.get_mut(block) {
            *valid = valid.saturating_add_signed(change);
            if let Some(candidate) = self.candidates.get_mut(block).filter(|candidate| **candidate != NONE) {
                *candidate = *valid;
            }
        }
    }
}
