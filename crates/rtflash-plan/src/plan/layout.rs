//! How the blocks of a cluster are divided between data and reserve, and its logical space between
//! the tasks.

use std::fmt;
use std::ops::Range;

use rtflash_model::{Device, Lpn};

/// The division of a cluster of s chips with N blocks of P pages each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    chips: u32,
    blocks: u32,
    spare: u32,
    pages: u32,
    reserve_pages: u64,
    reserve_blocks: u32,
    logical_per_chip: u32,
    owners: usize,
    wear_gap: Option<u32>,
}

/// A cluster without room for its reserve and its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooFewBlocks {
    /// Blocks on a chip that the reserve takes.
    pub reserve_blocks: u64,
    /// Blocks on a chip.
    pub blocks: u32,
    /// Tasks and job streams that need a logical page each.
    pub owners: usize,
}

impl fmt::Display for TooFewBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "too few blocks: the reserve takes {} on each chip, and what is left of {} does not hold a page for each of {} tasks and jobs",
            self.reserve_blocks, self.blocks, self.owners
        )
    }
}

impl std::error::Error for TooFewBlocks {}

impl Layout {
    /// The layout of a cluster of `chips` chips whose writing tasks write so many pages a request,
    /// and whose logical space has so many owners.
    ///
    /// The reserve is Σ max(αs, w) over the write streams, αs for the server, and on each chip an
    /// open block and one to copy to.
    ///
    /// # Errors
    /// Where the blocks do not suffice.
    pub fn new(
        device: &Device,
        chips: u32,
        writes: impl Iterator<Item = u64>,
        owners: usize,
    ) -> Result<Layout, TooFewBlocks> {
        let (blocks, pages) = (device.blocks_per_chip(), device.pages_per_block());
        let reclaimed = u64::from(device.reclaimed_per_chip()) * u64::from(chips);
        let row = u64::from(chips) * u64::from(pages);
        let drawn = writes.fold(reclaimed, |sum, write| sum.saturating_add(write.max(reclaimed)));
        let reserve_blocks = drawn.div_ceil(row).saturating_add(2);
        let missing = TooFewBlocks { reserve_blocks, blocks, owners };
        let reserve = u32::try_from(reserve_blocks).ok().filter(|&reserve| reserve < blocks);
        let Some(reserve_blocks) = reserve else { return Err(missing) };
        let data = u64::from(blocks - reserve_blocks) * u64::from(pages);
        let logical_per_chip = device.logical_ratio().floor_of(data);
        match u32::try_from(logical_per_chip) {
            Ok(logical_per_chip)
                if u64::from(logical_per_chip) * u64::from(chips) >= owners as u64 && logical_per_chip > 0 =>
            {
                let reserve_pages = drawn.saturating_add(2 * row);
                Ok(Layout {
                    chips,
                    blocks,
                    spare: 0,
                    pages,
                    reserve_pages,
                    reserve_blocks,
                    logical_per_chip,
                    owners,
                    wear_gap: None,
                })
            }
            _ => Err(missing),
        }
    }

    /// Under a certificate: every block holds data, and `reserve` pages are free (of each chip in a
    /// stripe, of the cluster in a superblock). Blocks that are kept back for those that fail are
    /// not among them; where nothing is written, and so nothing fails, they need not be there.
    /// `None` where there is no logical page, or where what is left does not hold them.
    pub fn certified(device: &Device, chips: u32, reserve: Option<u64>, by_chip: bool) -> Option<Layout> {
        let logical_per_chip = u32::try_from(device.logical_pages_per_chip()).ok().filter(|&logical| logical > 0)?;
        let (spare, pages) = (device.spare_blocks(), device.pages_per_block());
        let kept = if by_chip { Some(spare) } else { spare.checked_mul(chips) };
        let beside = |spare: u32| {
            let blocks = device.blocks_per_chip().checked_sub(spare)?;
            (u64::from(blocks) * u64::from(pages) >= u64::from(logical_per_chip)).then_some((spare, blocks))
        };
        let written = kept.and_then(beside);
        let (spare, blocks) = if reserve.is_some() { written? } else { written.or_else(|| beside(0))? };
        Some(Layout {
            chips,
            blocks,
            spare,
            pages,
            reserve_pages: reserve.unwrap_or(0),
            reserve_blocks: 0,
            logical_per_chip,
            owners: 1,
            wear_gap: device.wear_gap(),
        })
    }

    /// Where tasks own zones: a logical page for each page, so that a task's begin where its zones
    /// do. `None` where they cannot be numbered.
    pub fn zoned(device: &Device, chips: u32) -> Option<Layout> {
        let (spare, pages) = (device.spare_blocks(), device.pages_per_block());
        let blocks = device.blocks_per_chip() - spare;
        let logical_per_chip = blocks.checked_mul(pages)?;
        logical_per_chip.checked_mul(chips)?;
        Some(Layout {
            chips,
            blocks,
            spare,
            pages,
            reserve_pages: 0,
            reserve_blocks: 0,
            logical_per_chip,
            owners: 1,
            wear_gap: None,
        })
    }

    /// s: chips.
    pub fn chips(&self) -> u32 {
        self.chips
    }

    /// N: blocks on a chip, without those that are kept back.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Blocks on a chip that are kept back, erased, for those that fail: N_s, in a superblock
    /// s N_s.
    pub fn spare_blocks(&self) -> u32 {
        self.spare
    }

    /// Δ, where wear is levelled.
    pub fn wear_gap(&self) -> Option<u32> {
        self.wear_gap
    }

    /// P: pages in a block.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Pages on a chip.
    pub fn pages_per_chip(&self) -> u32 {
        self.blocks * self.pages
    }

    /// The reserve of the whole cluster, in pages: above it GC has nothing to do.
    pub fn reserve_pages(&self) -> u64 {
        self.reserve_pages
    }

    /// Blocks on each chip that the reserve takes, rounded up.
    pub fn reserve_blocks(&self) -> u32 {
        self.reserve_blocks
    }

    /// Blocks on each chip that hold data.
    pub fn data_blocks(&self) -> u32 {
        self.blocks - self.reserve_blocks
    }

    /// ⌊λ · data pages⌋ of one chip.
    pub fn logical_per_chip(&self) -> u32 {
        self.logical_per_chip
    }

    /// Logical pages of the cluster; numbered from 0.
    pub fn logical_pages(&self) -> u32 {
        self.logical_per_chip * self.chips
    }

    /// The logical pages of an owner: first the cluster's tasks in order, then the job streams.
    /// Equal parts, the first ones get one more.
    pub fn part(&self, owner: usize) -> Range<Lpn> {
        let (pages, owners, owner) = (u64::from(self.logical_pages()), self.owners.max(1) as u64, owner as u64);
        let (each, more) = (pages / owners, pages % owners);
        let start = |owner: u64| {
            let before = (owner * each + owner.min(more)).min(pages);
            Lpn(u32::try_from(before).expect("as many logical pages as 32 bits count"))
        };
        start(owner)..start(owner + 1)
    }
}
