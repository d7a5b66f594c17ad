//! What has to be true of an image.

use super::{
    HEADER_BYTES, Image, ImageCluster, ImageError, ImageOrganisation, ImagePlace, ImageSource, MAGIC, VERSION,
};
use super::{ImageDevice, checksum};
use crate::memory::index;
use crate::police::RequestOrder;

/// Pages that a device, and a request, may have.
const MOST_PAGES: u64 = 1 << 30;
const MOST_REQUEST_PAGES: u32 = 1 << 24;

impl Image<'_> {
    pub(super) fn validate(&self) -> Result<(), ImageError> {
        let bytes = self.bytes.0;
        if bytes.get(..MAGIC.len()) != Some(MAGIC.as_slice()) {
            return Err(ImageError::Magic);
        }
        if bytes.len() < HEADER_BYTES {
            return Err(ImageError::Length);
        }
        let word = self.bytes.u32(8);
        if word != u32::from(VERSION) {
            let version = u16::try_from(word & 0xFFFF).unwrap_or(u16::MAX);
            return Err(ImageError::Version(version));
        }
        let end = self.bytes.sections().map(|[.., end]| end);
        if index(self.bytes.u32(12)) != bytes.len() || end != Some(bytes.len()) {
            return Err(ImageError::Length);
        }
        if checksum(bytes) != self.identity() {
            return Err(ImageError::Checksum);
        }
        self.device().validate()?;
        self.validate_clusters()?;
        self.validate_sources()
    }

    fn validate_clusters(&self) -> Result<(), ImageError> {
        let (mut chips, mut rings) = (0u32, 0u32);
        for number in 0..self.clusters() {
            let place = ImagePlace::Cluster(number);
            let fault = |what| Err(ImageError::Fault { place, what });
            let Some(of) = self.cluster(number) else { return Err(ImageError::Length) };
            if of.bytes.u32(of.at) > 2 {
                return fault("has an organisation that there is not");
            }
            if of.first_chip() != chips || of.first_ring() != rings {
                return fault("has chips or rings that do not follow those before");
            }
            let ends = chips.checked_add(of.chips()).zip(rings.checked_add(of.rings()));
            let Some((to_chip, to_ring)) = ends else { return fault("has too many chips or rings") };
            if to_chip > self.bytes.chips() || to_ring > self.bytes.rings() {
                return fault("has more chips or rings than there are");
            }
            (chips, rings) = (to_chip, to_ring);
            of.validate(self.device()).or_else(fault)?;
        }
        if chips == self.bytes.chips() && rings == self.bytes.rings() { Ok(()) } else { Err(ImageError::Length) }
    }

    fn validate_sources(&self) -> Result<(), ImageError> {
        let mut before = None;
        for position in 0..self.sources() {
            let fault = |what| Err(ImageError::Fault { place: ImagePlace::Source(position), what });
            let Some(of) = self.source(position) else { return fault("has pages in an order that there is not") };
            if before.is_some_and(|before| of.number <= before) {
                return fault("has a number that does not follow the one before");
            }
            before = Some(of.number);
            let Some(cluster) = self.cluster(of.cluster) else { return fault("is of a cluster that there is not") };
            of.validate(&cluster).or_else(fault)?;
            if cluster.organisation() == ImageOrganisation::Zoned && of.writes && self.is_written_before(position, &of)
            {
                return fault("writes to zones that another one writes to");
            }
        }
        Ok(())
    }

    /// Whether an earlier source writes to the same pages.
    fn is_written_before(&self, position: u32, of: &ImageSource) -> bool {
        let mut before = (0..position).filter_map(|before| self.source(before));
        before.any(|before| before.writes && (before.cluster, before.first_page) == (of.cluster, of.first_page))
    }
}

impl ImageDevice {
    fn validate(&self) -> Result<(), ImageError> {
        let all = u64::from(self.blocks_per_chip).checked_mul(self.pages_per_block.into());
        let all = all.and_then(|all| all.checked_mul(self.chips.into()));
        let is_sound = all.is_some_and(|all| (1..=MOST_PAGES).contains(&all)) && self.chips_per_channel > 0;
        let is_sound = is_sound && self.spare_blocks < self.blocks_per_chip;
        if is_sound { Ok(()) } else { Err(ImageError::Device) }
    }
}

impl ImageCluster<'_> {
    fn validate(&self, device: ImageDevice) -> Result<(), &'static str> {
        let mut before = None;
        for position in 0..self.chips() {
            let chip = self.chip(position).filter(|&chip| chip < device.chips);
            let chip = chip.filter(|&chip| before.is_none_or(|before| before < chip));
            before = Some(chip.ok_or("has chips that do not ascend, or that the device has not")?);
        }
        if before.is_none() {
            return Err("has no chips");
        }
        // No more than 2^30.
        let pages = device.blocks_per_chip * device.pages_per_block;
        if self.logical_per_chip() == 0 || self.logical_per_chip() > pages {
            return Err("has no logical pages, or more than pages");
        }
        if self.organisation() == ImageOrganisation::Zoned {
            return if device.spare_blocks == 0 {
                self.validate_rings(device)
            } else {
                Err("has zones and spare blocks")
            };
        }
        if self.rings() > 0 {
            return Err("has zones, and another organisation");
        }
        let Some(of) = self.collection() else { return Ok(()) };
        let wide = if self.organisation() == ImageOrganisation::Superblock { self.chips() } else { 1 };
        let free = u64::from(pages - self.logical_per_chip()) * u64::from(wide);
        let block = u64::from(device.pages_per_block) * u64::from(wide);
        let kept_back = u64::from(device.spare_blocks) * u64::from(wide) * block;
        if of.reserve_pages.checked_add(kept_back).is_none_or(|all| all > free) {
            return Err("has no room for its reserve");
        }
        if of.victim_pages >= block {
            return Err("has victims with no page to reclaim");
        }
        Ok(())
    }

    fn validate_rings(&self, device: ImageDevice) -> Result<(), &'static str> {
        if self.collection().is_some() {
            return Err("has zones and garbage collection");
        }
        if self.logical_per_chip() != device.blocks_per_chip * device.pages_per_block {
            return Err("has zones, and not a logical page for each page");
        }
        // No more than 2^30.
        let zone = device.pages_per_block * self.chips();
        let mut next = 0;
        for position in 0..self.rings() {
            let ring = self.ring(position).ok_or("has a ring that there is not")?;
            let end = ring.first_block.checked_add(ring.blocks).filter(|&end| end <= device.blocks_per_chip);
            let end = end.filter(|_| ring.blocks > 0 && ring.first_block >= next);
            next = end.ok_or("has rings without blocks, or that overlap, or that the chips have not")?;
            let kept = (ring.blocks - u32::from(ring.writes)) * zone;
            let is_whole = ring.page_count.is_multiple_of(self.chips());
            if ring.first_page != ring.first_block * zone || ring.page_count == 0 || ring.page_count > kept || !is_whole
            {
                return Err("has a ring whose pages do not fit it");
            }
        }
        if next == 0 { Err("has no rings") } else { Ok(()) }
    }

    /// The ring that keeps exactly these pages.
    fn ring_of(&self, first_page: u32, page_count: u32) -> Option<super::ImageRing> {
        let mut rings = (0..self.rings()).filter_map(|position| self.ring(position));
        rings.find(|ring| (ring.first_page, ring.page_count) == (first_page, page_count))
    }
}

impl ImageSource {
    fn validate(&self, cluster: &ImageCluster<'_>) -> Result<(), &'static str> {
        if self.pages == 0 || self.pages > MOST_REQUEST_PAGES {
            return Err("has requests without pages, or of more than 2^24");
        }
        if self.period_ns == 0 || self.deadline_ns == 0 {
            return Err("has no period, or no deadline");
        }
        let chips = cluster.chips();
        let all = u64::from(cluster.logical_per_chip()) * u64::from(chips);
        let end = u64::from(self.first_page) + u64::from(self.page_count);
        if self.page_count == 0 || end > all {
            return Err("has no logical pages, or some that its cluster has not");
        }
        let by_rows = matches!(self.order, RequestOrder::Consecutive | RequestOrder::Stream);
        let rows = self.first_page.is_multiple_of(chips) && self.page_count.is_multiple_of(chips);
        if by_rows && cluster.organisation() != ImageOrganisation::Superblock && !rows {
            return Err("has consecutive pages, and not whole rows of them");
        }
        if cluster.organisation() == ImageOrganisation::Zoned {
            let ring = cluster.ring_of(self.first_page, self.page_count);
            let ring = ring.ok_or("has pages in zones that are no ring's")?;
            return if self.writes && !ring.writes { Err("writes to zones that are not written") } else { Ok(()) };
        }
        let collects = cluster.collection().is_some_and(|of| of.deadline_ns.is_some());
        if self.writes && !collects { Err("writes where no garbage is collected") } else { Ok(()) }
    }
}
