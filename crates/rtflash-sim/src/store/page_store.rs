//! What every organisation of pages on chips can be asked.

use std::cmp::Reverse;
use std::ops::Range;

use rtflash_ftl::Blocks;
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

/// Logical pages on chips: those of a cluster, or of one of its processors.
pub(crate) trait PageStore {
    /// Where a logical page is.
    fn locate(&self, lpn: Lpn) -> PagePlace;

    /// Free pages.
    fn free(&self) -> u64;

    /// So many logical pages of a range, if there are as many, whose overwriting keeps victims
    /// full: one after another from the closed block that then has the most valid pages, the first
    /// of them among equals; of the block, the first that is in the range.
    fn fullest(&self, range: &Range<Lpn>, pages: u64) -> Vec<Lpn>;

    /// Asks memory for the place of a logical page.
    fn prefetch_place(&self, lpn: Lpn);

    /// Asks memory for what is at the place of a logical page.
    fn prefetch_page(&self, lpn: Lpn);
}

/// [`PageStore::fullest`] of these chips: among equals the lowest chip, and then the lowest block.
pub(crate) fn fullest<'b>(
    chips: impl Iterator<Item = (ColumnId, &'b Blocks<Owned>)>,
    range: &Range<Lpn>,
    pages: u64,
) -> Vec<Lpn> {
    let mut chosen = Vec::new();
    // Valid pages, who goes first among equals, where to look on in the block, and its chip.
    let mut blocks = Vec::new();
    for (chip, of) in chips {
        blocks.extend(of.closed().map(|(block, valid)| (valid, Reverse((chip, block)), 0, of)));
    }
    while (chosen.len() as u64) < pages {
        let Some(at) = (0..blocks.len()).max_by_key(|&at| (blocks[at].0, blocks[at].1)) else { break };
        let (valid, Reverse((_, block)), from, of) = &mut blocks[at];
        match find_valid(of, *block, *from, range) {
            Some((page, lpn)) => {
                (*valid, *from) = (*valid - 1, page + 1);
                chosen.push(lpn);
            }
            None => {
                blocks.swap_remove(at);
            }
        }
    }
    chosen
}

/// The first page of a block from `from` on that holds a logical page of this range, by its
/// position in the block.
fn find_valid(of: &Blocks<Owned>, block: u32, from: u32, range: &Range<Lpn>) -> Option<(u32, Lpn)> {
    let first = block * of.pages();
    let held = &of.lpns()[PageId(first + from).index()..PageId(first + of.pages()).index()];
    let mut found = (from..).zip(held.iter().copied().map(Lpn));
    found.find(|(_, lpn)| *lpn != NO_LPN && range.contains(lpn))
}
