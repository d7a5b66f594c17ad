//! The order of pages in a block.

use rtflash_plan::{BlockId, ColumnId, Plan};
use rtflash_trace::{Action, NONE, Operation};
use serde::{Deserialize, Serialize};

use crate::gauge::Gauge;
use crate::place::Place;

/// The next page of a block that has failed: a mark, for there are fewer pages.
const RETIRED: u32 = NONE - 1;

/// In order, each once between erases, and nothing in failed blocks: what is not, against zero.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PageOrder {
    blocks: usize,
    pages: u32,
    next: Vec<u32>,
}

impl PageOrder {
    pub(crate) fn new(plan: &Plan, chips: usize) -> Self {
        let blocks = BlockId(plan.device().blocks_per_chip()).index();
        PageOrder { blocks, pages: plan.device().pages_per_block(), next: vec![NONE; chips * blocks] }
    }

    /// Pages of a block of `wide` chips, from this one on, are `programmed` row by row.
    pub(crate) fn starts(&mut self, first: usize, wide: u32, block: BlockId, programmed: u32) {
        for column in ColumnId::first(wide) {
            let rows = (programmed + wide - 1 - column.0) / wide;
            self.next[(first + column.index()) * self.blocks + block.index()] = rows;
        }
    }

    pub(crate) fn retires(&mut self, chip: usize, block: BlockId) {
        self.next[chip * self.blocks + block.index()] = RETIRED;
    }

    pub(crate) fn programmed(&self, chip: usize, block: BlockId) -> Option<u32> {
        Some(self.next[chip * self.blocks + block.index()]).filter(|&next| next < RETIRED)
    }

    #[inline(always)]
    pub(crate) fn operation(&mut self, operation: &Operation, chip: usize, gauge: &mut Gauge) {
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
        gauge.note(0, u64::from(!is_valid), || Place::from(operation));
    }
}
