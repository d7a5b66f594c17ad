//! The blocks of chips, in lists of our own: those of `rtflash-ftl`.

use rtflash_ftl::{BlockMemory, GROUP, Memory};

use rtflash_model::{Lpn, PerId};
use rtflash_plan::{BlockId, PageId};
use rtflash_trace::NO_LPN;

#[derive(Debug)]
pub(crate) struct Owned;

impl Memory for Owned {
    type Words = Vec<u32>;
    type Bits = Vec<u64>;
}

impl Owned {
    /// Memory for `blocks` blocks of `pages` pages, the first pages of which hold these logical
    /// pages.
    pub(crate) fn blocks(blocks: u32, pages: u32, held: PerId<PageId, Lpn>) -> BlockMemory<Owned> {
        let count = PageId(blocks * pages).index();
        let mut lpns: Vec<u32> = held.into_vec().into_iter().map(|lpn| lpn.0).collect();
        lpns.resize(count, NO_LPN.0);
        let blocks = BlockId(blocks).index();
        BlockMemory {
            lpns,
            bits: vec![0; count.div_ceil(64)],
            valid: vec![0; blocks],
            erased: vec![0; blocks.div_ceil(64)],
            least: vec![0; blocks.div_ceil(BlockId(GROUP).index())],
        }
    }
}
