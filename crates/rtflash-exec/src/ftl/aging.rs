//! What is on the device when a run begins.

use rtflash_model::random::Stream;

use crate::options::Aging;
use crate::plan::layout::Layout;
use crate::trace::NONE;

/// One chip as the run finds it. Blocks below `full_blocks` are full (closed); the others are
/// erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgedChip {
    /// Blocks with all pages programmed: the first ones of the chip.
    pub full_blocks: u32,
    /// Which logical page each page of the full blocks holds, block after block; [`NONE`] where
    /// what it held is stale.
    pub lpns: Vec<u32>,
}

/// The content of a chip, by position in its cluster. Logical page l starts on chip l mod s,
/// whatever the aging.
///
/// `stream` is drawn from by [`Aging::Random`] alone.
pub fn aged_chip(layout: &Layout, aging: Aging, position: u32, stream: &mut Stream) -> AgedChip {
    let (logical, pages) = (layout.logical_per_chip(), layout.pages());
    let lpn = |nth: u32| nth * layout.chips() + position;
    match aging {
        Aging::Fresh => {
            let full_blocks = logical.div_ceil(pages);
            // The last block is padded with pages that are stale from the start: no block is half
            // written.
            let mut lpns: Vec<u32> = (0..logical).map(lpn).collect();
            lpns.resize((full_blocks * pages) as usize, NONE);
            AgedChip { full_blocks, lpns }
        }
        Aging::Worst => {
            // Logical pages go round the blocks, so that every block has its share of every task's
            // pages.
            let blocks = layout.data_blocks();
            let mut lpns = vec![NONE; (blocks * pages) as usize];
            for nth in 0..logical {
                lpns[((nth % blocks) * pages + nth / blocks) as usize] = lpn(nth);
            }
            AgedChip { full_blocks: blocks, lpns }
        }
        Aging::Random => {
            let blocks = layout.data_blocks();
            let mut lpns: Vec<u32> = (0..logical).map(lpn).collect();
            lpns.resize((blocks * pages) as usize, NONE);
            // Fisher and Yates.
            for last in (1..lpns.len()).rev() {
                // Below a number of pages, which are counted in 32 bits.
                let other = usize::try_from(stream.below(last as u64 + 1)).unwrap_or(last);
                lpns.swap(last, other);
            }
            AgedChip { full_blocks: blocks, lpns }
        }
    }
}
