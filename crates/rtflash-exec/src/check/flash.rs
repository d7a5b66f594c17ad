//! Checkers of the flash itself: exclusion on chips and buses, the order of pages, and the page map.

use prefetch_index::prefetch_index;
use rtflash_model::Instant;

use super::gauge::{Gauge, Place};
use crate::plan::Plan;
use crate::trace::{Action, NONE, Operation, Transfer};

fn place(operation: &Operation) -> Place {
    Place {
        at: operation.start,
        job: Some(operation.job),
        cluster: Some(operation.cluster),
        chip: Some(operation.chip),
    }
}

/// One operation at a time on a chip: how long two overlap, against zero.
#[derive(Debug)]
pub(super) struct ChipExclusion {
    pub(super) gauge: Gauge,
    free_at: Vec<Instant>,
}

impl ChipExclusion {
    pub(super) fn new(plan: &Plan) -> Self {
        ChipExclusion { gauge: Gauge::default(), free_at: vec![Instant::START; plan.device().chips() as usize] }
    }

    #[inline]
    pub(super) fn operation(&mut self, operation: &Operation) {
        let Some(free_at) = self.free_at.get_mut(operation.chip as usize) else { return };
        self.gauge.note(0, free_at.since(operation.start).as_ns(), || place(operation));
        *free_at = operation.end.max(*free_at);
    }
}

/// One transfer at a time on a bus: how long two overlap, against zero.
#[derive(Debug)]
pub(super) struct BusExclusion {
    pub(super) gauge: Gauge,
    free_at: Vec<Instant>,
}

impl BusExclusion {
    pub(super) fn new(plan: &Plan) -> Self {
        BusExclusion { gauge: Gauge::default(), free_at: vec![Instant::START; plan.device().channels() as usize] }
    }

    #[inline]
    pub(super) fn transfer(&mut self, transfer: &Transfer) {
        let Some(free_at) = self.free_at.get_mut(transfer.channel as usize) else { return };
        self.gauge.note(0, free_at.since(transfer.start).as_ns(), || Place {
            at: transfer.start,
            job: Some(transfer.job),
            cluster: Some(transfer.cluster),
            chip: Some(transfer.chip),
        });
        *free_at = transfer.end.max(*free_at);
    }
}

/// Pages of a block are programmed in order, each once between erases: pages out of order, against zero.
#[derive(Debug)]
pub(super) struct PageOrder {
    pub(super) gauge: Gauge,
    blocks: usize,
    pages: u32,
    /// The next page of each block of each chip; `NONE` where it is not known yet.
    next: Vec<u32>,
}

impl PageOrder {
    /// For the chips of `chips` positions.
    pub(super) fn new(plan: &Plan, chips: usize) -> Self {
        let blocks = plan.device().blocks_per_chip() as usize;
        PageOrder {
            gauge: Gauge::default(),
            blocks,
            pages: plan.device().pages_per_block(),
            next: vec![NONE; chips * blocks],
        }
    }

    #[inline]
    pub(super) fn operation(&mut self, operation: &Operation, chip: usize) {
        let Some(next) = self.next.get_mut(chip * self.blocks + operation.block as usize) else { return };
        let lawful = match operation.action {
            Action::Read => return,
            Action::Erase => {
                *next = 0;
                return;
            }
            Action::Program => (*next == NONE || *next == operation.page) && operation.page < self.pages,
        };
        *next = operation.page.saturating_add(1);
        self.gauge.note(0, u64::from(!lawful), || place(operation));
    }
}

/// Logical pages programmed in a row, each with page and block.
type Row = Vec<(u32, u32, u32)>;

/// What is read is what was last written, and nothing that is valid is erased: stale reads and lost pages, against zero.
#[derive(Debug)]
pub(super) struct Mapping {
    pub(super) gauge: Gauge,
    blocks: usize,
    pages: u32,
    /// Where each logical page of a cluster was last seen: position of the chip · pages of a chip + page; `NONE` if it has not been yet.
    clusters: Vec<Vec<u32>>,
    /// Pages of each block of each chip that are known to be valid.
    valid: Vec<u32>,
    /// How many chips a stripe has; `None` for the clusters whose pages may be on any chip.
    stripes: Vec<Option<u32>>,
    /// Of each superblock cluster, when its last row began, and the logical pages of that row with page and block.
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
        Mapping {
            gauge: Gauge::default(),
            blocks,
            pages: plan.device().pages_per_block(),
            clusters: plan.clusters().iter().zip(0..).map(logical).collect(),
            valid: vec![0; chips * blocks],
            stripes: plan.clusters().iter().map(|of| of.is_stripe().then(|| of.layout.chips())).collect(),
            rows: if plan.is_certified() {
                vec![(Instant::START, Vec::new()); plan.clusters().len()]
            } else {
                Vec::new()
            },
        }
    }

    /// Whether of two programs of a page in one row, which a trace tells of by chip, the one told of first was the later one.
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
        let block = chip * self.blocks + operation.block as usize;
        if operation.action == Action::Erase {
            let Some(valid) = self.valid.get_mut(block) else { return };
            let lost = std::mem::take(valid);
            self.gauge.note(0, lost.into(), || place(operation));
            return;
        }
        if operation.action == Action::Program && self.was_overwritten(operation) {
            // Stale already.
            return;
        }
        let Some(known) =
            self.clusters.get_mut(operation.cluster as usize).and_then(|map| map.get_mut(operation.lpn as usize))
        else {
            self.gauge.note(0, 1, || place(operation));
            return;
        };
        let pages = self.pages;
        let blocks = u32::try_from(self.blocks).unwrap_or(NONE);
        // A device that is run has at most 2³⁰ pages.
        let here = position
            .wrapping_mul(blocks)
            .wrapping_add(operation.block)
            .wrapping_mul(pages)
            .wrapping_add(operation.page);
        let chips = self.stripes.get(operation.cluster as usize).copied().flatten();
        if chips.is_some_and(|chips| operation.lpn % chips != position) {
            self.gauge.note(0, 1, || place(operation));
        }
        let stale = match operation.action {
            Action::Read if *known == NONE => {
                *known = here;
                self.count(block, 1);
                false
            }
            Action::Read => *known != here,
            _ => {
                let old = std::mem::replace(known, here);
                if old != NONE {
                    // The chips of a cluster stand one after another among those that are watched.
                    let first = chip - position as usize;
                    let old = first * self.blocks + (old / pages) as usize;
                    self.count(old, -1);
                }
                self.count(block, 1);
                false
            }
        };
        self.gauge.note(0, u64::from(stale), || place(operation));
    }

    #[inline]
    fn count(&mut self, block: usize, change: i32) {
        if let Some(valid) = self.valid.get_mut(block) {
            *valid = valid.saturating_add_signed(change);
        }
    }
}
