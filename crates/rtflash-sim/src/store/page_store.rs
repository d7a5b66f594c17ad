//! The places of pages, and the pages that keep victims full.

use std::cmp::Reverse;
use std::ops::Range;

use rtflash_ftl::{Blocks, Victim};
use rtflash_model::Lpn;
use rtflash_plan::{BlockId, ColumnId, PageId};
use rtflash_trace::NO_LPN;
use serde::{Deserialize, Serialize};

use crate::flash::Owned;

/// A page of a cluster or a processor: the position of its chip there, the block, and the page in
/// the block of the chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PagePlace {
    pub(crate) chip: ColumnId,
    pub(crate) block: BlockId,
    pub(crate) page: u32,
}

struct FullBlock<'b> {
    valid: u32,
    chip: ColumnId,
    block: u32,
    /// The page from which on it has to be searched.
    from: u32,
    of: &'b Blocks<Owned>,
}

impl FullBlock<'_> {
    fn take(&mut self, range: &Range<Lpn>) -> Option<Lpn> {
        let first = self.block * self.of.pages();
        let held = &self.of.lpns()[PageId(first + self.from).index()..PageId(first + self.of.pages()).index()];
        let mut held = (self.from..).zip(held.iter().copied().map(Lpn));
        let (page, lpn) = held.find(|(_, lpn)| *lpn != NO_LPN && range.contains(lpn))?;
        (self.valid, self.from) = (self.valid - 1, page + 1);
        Some(lpn)
    }
}

/// Logical pages of a range, `pages` of them if there are as many, whose overwriting keeps victims
/// full: one after another from the closed block that then has the most valid pages; of the block,
/// the first that is in the range. Among equals the lowest chip, and then the lowest block.
pub(crate) fn fullest<'b>(
    chips: impl Iterator<Item = (ColumnId, &'b Blocks<Owned>)>,
    range: &Range<Lpn>,
    pages: u64,
) -> Vec<Lpn> {
    let closed = |(chip, of): (ColumnId, &'b Blocks<Owned>)| {
        of.closed().map(move |Victim { block, valid }| FullBlock { valid, chip, block, from: 0, of })
    };
    let mut blocks: Vec<FullBlock<'_>> = chips.flat_map(closed).collect();
    let mut chosen = Vec::new();
    while (chosen.len() as u64) < pages {
        let rank = |at: &usize| (blocks[*at].valid, Reverse((blocks[*at].chip, blocks[*at].block)));
        let Some(at) = (0..blocks.len()).max_by_key(rank) else { break };
        match blocks[at].take(range) {
            Some(lpn) => chosen.push(lpn),
            None => {
                blocks.swap_remove(at);
            }
        }
    }
    chosen
}
