//! Checkers of the flash itself: exclusion on chips and buses, and the order of pages.

use rtflash_model::{ChipId, Instant, PerId};
use rtflash_plan::{BlockId, ChannelId, Plan};
use rtflash_trace::{Action, NONE, Operation, Transfer};
use serde::{Deserialize, Serialize};

use super::gauge::{Gauge, Place};

#[inline(always)]
pub(super) fn place(operation: &Operation) -> Place {
    Place {
        at: operation.start,
        job: Some(operation.job),
        cluster: Some(operation.cluster),
        chip: Some(operation.chip),
    }
}

/// One operation at a time on a chip: how long two overlap, against zero.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ChipExclusion {
    pub(super) gauge: Gauge,
    free_at: PerId<ChipId, Instant>,
}

impl ChipExclusion {
    pub(super) fn new(plan: &Plan) -> Self {
        ChipExclusion { gauge: Gauge::default(), free_at: plan.per_chip(Instant::START) }
    }

    #[inline(always)]
    pub(super) fn operation(&mut self, operation: &Operation) {
        let free_at = &mut self.free_at[operation.chip];
        self.gauge.note(0, free_at.since(operation.start).as_ns(), || place(operation));
        *free_at = operation.end.max(*free_at);
    }
}

/// One transfer at a time on a bus: how long two overlap, against zero.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BusExclusion {
    pub(super) gauge: Gauge,
    free_at: PerId<ChannelId, Instant>,
}

impl BusExclusion {
    pub(super) fn new(plan: &Plan) -> Self {
        BusExclusion { gauge: Gauge::default(), free_at: plan.per_channel(Instant::START) }
    }

    #[inline]
    pub(super) fn transfer(&mut self, transfer: &Transfer) {
        let free_at = &mut self.free_at[transfer.channel];
        self.gauge.note(0, free_at.since(transfer.start).as_ns(), || Place {
            at: transfer.start,
            job: Some(transfer.job),
            cluster: Some(transfer.cluster),
            chip: Some(transfer.chip),
        });
        *free_at = transfer.end.max(*free_at);
    }
}

/// The mark of a block that has failed, in the place of its next page. There are fewer pages.
const RETIRED: u32 = NONE - 1;

/// Pages of a block are programmed in order, each once between erases, and nothing is done to a
/// block that has failed: pages out of order, against zero.
#[derive(Debug, Serialize, Deserialize)]
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
        let blocks = BlockId(plan.device().blocks_per_chip()).index();
        PageOrder {
            gauge: Gauge::default(),
            blocks,
            pages: plan.device().pages_per_block(),
            next: vec![NONE; chips * blocks],
        }
    }

    /// A block of a chip is known to have so many pages programmed.
    pub(super) fn starts(&mut self, chip: usize, block: BlockId, programmed: u32) {
        self.next[chip * self.blocks + block.index()] = programmed;
    }

    /// A block of a chip is retired.
    pub(super) fn retires(&mut self, chip: usize, block: BlockId) {
        self.next[chip * self.blocks + block.index()] = RETIRED;
    }

    /// How many pages of a block of a chip are programmed, where that is known.
    pub(super) fn programmed(&self, chip: usize, block: BlockId) -> Option<u32> {
        Some(self.next[chip * self.blocks + block.index()]).filter(|&next| next < RETIRED)
    }

    #[inline(always)]
    pub(super) fn operation(&mut self, operation: &Operation, chip: usize) {
        let next = &mut self.next[chip * self.blocks + operation.block.index()];
        let is_valid = match operation.action {
            Action::Read | Action::ErasePart => return,
            Action::Erase if *next != RETIRED => {
                *next = 0;
                return;
            }
            Action::Erase => false,
            Action::Program if *next == RETIRED => false,
            Action::Program => (*next == NONE || *next == operation.page) && operation.page < self.pages,
        };
        if *next != RETIRED {
            *next = operation.page + 1;
        }
        self.gauge.note(0, u64::from(!is_valid), || place(operation));
    }
}
