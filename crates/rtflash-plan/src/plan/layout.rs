//! How the blocks of a cluster are divided between data and reserve, and its logical space between
//! the tasks.

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

impl Layout {
    fn plain(device: &Device, chips: u32, spare: u32, logical_per_chip: u32) -> Layout {
        let (blocks, pages) = (device.blocks_per_chip() - spare, device.pages_per_block());
        let (reserve_pages, reserve_blocks, owners, wear_gap) = (0, 0, 1, None);
        Layout { chips, blocks, spare, pages, reserve_pages, reserve_blocks, logical_per_chip, owners, wear_gap }
    }

    /// For `chips` chips, requests that write these pages, and `owners` of the logical space.
    ///
    /// The reserve is Σ max(αs, w) over the write streams, αs for the server, and on each chip an
    /// open block and one to copy to.
    ///
    /// # Errors
    /// How many blocks of each chip the reserve takes, if these do not suffice.
    pub fn new(device: &Device, chips: u32, writes: impl Iterator<Item = u64>, owners: usize) -> Result<Layout, u64> {
        let (blocks, pages) = (device.blocks_per_chip(), device.pages_per_block());
        let reclaimed = u64::from(device.reclaimed_per_chip()) * u64::from(chips);
        let row = u64::from(chips) * u64::from(pages);
        let drawn = writes.fold(reclaimed, |sum, write| sum.saturating_add(write.max(reclaimed)));
        let reserve_blocks = drawn.div_ceil(row).saturating_add(2);
        let missing = reserve_blocks;
        let reserve = u32::try_from(reserve_blocks).ok().filter(|&reserve| reserve < blocks);
        let reserve_blocks = reserve.ok_or(missing)?;
        let data = u64::from(blocks - reserve_blocks) * u64::from(pages);
        let fits = |&logical: &u32| logical > 0 && u64::from(logical) * u64::from(chips) >= owners as u64;
        let logical = u32::try_from(device.logical_ratio().floor_of(data)).ok().filter(fits);
        let plain = Layout::plain(device, chips, 0, logical.ok_or(missing)?);
        Ok(Layout { reserve_pages: drawn.saturating_add(2 * row), reserve_blocks, owners, ..plain })
    }

    /// `reserve` pages are free, of each chip in a stripe, of the cluster in a superblock, besides
    /// blocks kept back for failures (which can be missing if nothing is written). `None`: no room.
    pub fn certified(device: &Device, chips: u32, reserve: Option<u64>, by_chip: bool) -> Option<Layout> {
        let logical_per_chip = u32::try_from(device.logical_pages_per_chip()).ok().filter(|&logical| logical > 0)?;
        let spare = device.spare_blocks();
        let kept = if by_chip { Some(spare) } else { spare.checked_mul(chips) };
        let fits = |spare: &u32| {
            let blocks = device.blocks_per_chip().saturating_sub(*spare);
            u64::from(blocks) * u64::from(device.pages_per_block()) >= u64::from(logical_per_chip)
        };
        let (reserve_pages, unwritten) = match reserve {
            Some(pages) => (pages, None),
            None => (0, Some(0)),
        };
        let spare = kept.filter(fits).or(unwritten.filter(fits))?;
        let plain = Layout::plain(device, chips, spare, logical_per_chip);
        Some(Layout { reserve_pages, wear_gap: device.wear_gap(), ..plain })
    }

    /// A logical page for each page, so that tasks begin where zones do; `None` beyond 32 bits.
    pub fn zoned(device: &Device, chips: u32) -> Option<Layout> {
        let spare = device.spare_blocks();
        let logical_per_chip = (device.blocks_per_chip() - spare).checked_mul(device.pages_per_block())?;
        logical_per_chip.checked_mul(chips)?;
        Some(Layout::plain(device, chips, spare, logical_per_chip))
    }

    /// s: chips.
    pub fn chips(&self) -> u32 {
        self.chips
    }

    /// N: blocks on a chip, without those that are kept back.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Blocks on a chip that are kept back, erased, for failures: N_s, in a superblock s N_s.
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

    /// The tasks in order, then the job streams: equal parts, the first ones get one more.
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
