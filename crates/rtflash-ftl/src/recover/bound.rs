//! How long a recovery takes at most.

use crate::image::{Image, ImageCluster, ImageDevice};

/// The most that [`Ftl::recovered`](crate::Ftl::recovered) does, while no more blocks fail than the
/// device states, from the instant on at which power is there for good.
///
/// A processor of s chips has M = sNP pages, L logical ones, and s·N_s blocks kept back.
///
/// - *Reads*: 2M + sP. Each page is read once, and again if an older one of that logical page is
///   found. The first erased page of the block that takes pages is searched page by page.
/// - *Erases*: sN. Each block without a valid page is erased once, also those that appear erased:
///   an interrupted erase is invisible. Garbage collection erases others, each once: a block that
///   it fills holds only valid pages, and is no victim.
/// - *Copies*: K·v + s·N_s, and L + sP + s·N_s in any case. Garbage is collected while f < H. Then
///   at most ⌊(H − 1)/(sP)⌋ blocks are erased and not kept back, one takes pages, s·N_s have failed
///   or are kept back, and at least c = N − s·N_s − 1 − ⌊(H − 1)/(sP)⌋ are left as victims. They
///   hold at most L valid pages together, so the victim, with the fewest, has at most v = ⌊L/c⌋. A
///   pass copies at most v pages, and f grows by at least sP − v: K = ⌈H/(sP − v)⌉ passes suffice.
///   If a block fails at an erase or a program, a kept one is free in its place, and one copy is
///   repeated. Each logical page is copied once, except for those of the block that took pages when
///   power was lost.
///
/// If tasks own zones: 2M + P reads a ring on each chip, and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecoveryBound {
    /// Pages that are read, with what is beside their data.
    pub reads: u64,
    /// Pages that are copied inside their chips.
    pub copybacks: u64,
    /// Pages of superblocks, which are copied over the bus.
    pub copies: u64,
    /// Blocks of chips that are erased.
    pub erases: u64,
}

impl RecoveryBound {
    /// The bound of an image.
    pub fn of(image: &Image<'_>) -> RecoveryBound {
        let mut all = RecoveryBound::default();
        for of in (0..image.clusters()).filter_map(|number| image.cluster(number)) {
            let RecoveryBound { reads, copybacks, copies, erases } = cluster(&image.device(), &of);
            all.reads = all.reads.saturating_add(reads);
            all.copybacks = all.copybacks.saturating_add(copybacks);
            all.copies = all.copies.saturating_add(copies);
            all.erases = all.erases.saturating_add(erases);
        }
        all
    }

    /// The time of all operations one after the other, in nanoseconds. A page is read with its
    /// transfer, and copied over the bus twice.
    pub fn length_ns(&self, device: &ImageDevice) -> u64 {
        let over_bus = device.page_transfer_ns.saturating_add(device.command_ns);
        let read = device.page_read_ns.saturating_add(over_bus);
        let copyback = [device.page_read_ns, device.page_program_ns, device.command_ns, device.command_ns];
        let copyback = copyback.into_iter().fold(0, u64::saturating_add);
        let copy = read.saturating_add(device.page_program_ns).saturating_add(over_bus);
        let erase = device.block_erase_ns.saturating_add(device.command_ns);
        let parts = [(self.reads, read), (self.copybacks, copyback), (self.copies, copy), (self.erases, erase)];
        parts.into_iter().map(|(count, length)| count.saturating_mul(length)).fold(0, u64::saturating_add)
    }
}

fn cluster(device: &ImageDevice, of: &ImageCluster<'_>) -> RecoveryBound {
    let superblock = of.is_superblock();
    let width = if superblock { u64::from(of.chips()) } else { 1 };
    let (blocks, block_pages) = (u64::from(device.blocks_per_chip), width * u64::from(device.pages_per_block));
    let (pages, logical) = (blocks * block_pages, width * u64::from(of.logical_per_chip()));
    let collection = of.collection();
    let spare = collection.map_or(0, |_| width * u64::from(device.spare_blocks));
    let reserve = collection.map_or(0, |collection| collection.reserve_pages);
    let copies = moved(blocks, block_pages, logical, spare, reserve).saturating_add(spare);
    let processors = u64::from(of.processors());
    if of.is_zoned() {
        let reads = 2 * pages + u64::from(of.rings()) * block_pages;
        return RecoveryBound { reads: processors.saturating_mul(reads), ..RecoveryBound::default() };
    }
    RecoveryBound {
        reads: processors.saturating_mul(2 * pages + block_pages),
        copybacks: if superblock { 0 } else { processors.saturating_mul(copies) },
        copies: if superblock { copies } else { 0 },
        erases: processors * width * blocks,
    }
}

/// Pages that garbage collection moves until the reserve is there, without failed copies.
fn moved(blocks: u64, block_pages: u64, logical: u64, spare: u64, reserve: u64) -> u64 {
    let all = logical.saturating_add(block_pages);
    let Some(behind) = reserve.checked_sub(1) else { return 0 };
    let victims = blocks.saturating_sub(spare).saturating_sub(1).saturating_sub(behind / block_pages);
    let Some(valid) = logical.checked_div(victims).filter(|&valid| valid < block_pages) else { return all };
    reserve.div_ceil(block_pages - valid).saturating_mul(valid).min(all)
}
