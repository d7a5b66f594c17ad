//! Checkers of the flash itself: exclusion on chips and buses, and the order of pages.

use rtflash_model::Instant;

use super::gauge::{Gauge, Place};
use crate::plan::Plan;
use crate::trace::{Action, NONE, Operation, Transfer};

pub(super) fn place(operation: &Operation) -> Place {
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

/// Pages of a block are programmed in order, each once between erases: pages out of order, against
/// zero.
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

    /// A block of a chip is known to have so many pages programmed.
    pub(super) fn starts(&mut self, chip: usize, block: usize, programmed: u32) {
        if let Some(next) = self.next.get_mut(chip * self.blocks + block) {
            *next = programmed;
        }
    }

    #[inline]
    pub(super) fn operation(&mut self, operation: &Operation, chip: usize) {
        let Some(next) = self.next.get_mut(chip * self.blocks + operation.block as usize) else { return };
        let is_valid = match operation.action {
            Action::Read => return,
            Action::Erase => {
                *next = 0;
                return;
            }
            Action::Program => (*next == NONE || *next == operation.page) && operation.page < self.pages,
        };
        *next = operation.page.saturating_add(1);
        self.gauge.note(0, u64::from(!is_valid), || place(operation));
    }
}
