//! What has to be true of an image.

use super::{
    BACKFILLS, CACHED, HEADER_BYTES, Image, ImageCluster, ImageError, ImagePlace, ImageSource, MAGIC, SUSPENDS, VERSION,
};
use super::{ImageDevice, checksum};
use crate::memory::index;
use crate::police::RequestOrder;

/// Pages that a device, and a request, may have.
const MOST_PAGES: u64 = 1 << 30;
const MOST_REQUEST_PAGES: u32 = 1 << 24;
/// Chips that a device may have.
const MOST_CHIPS: u32 = 1 << 20;
/// Times are shorter.
const NEVER: u64 = 1 << 63;

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
            let [low, high, ..] = word.to_le_bytes();
            return Err(ImageError::Version(u16::from_le_bytes([low, high])));
        }
        let end = self.bytes.sections().map(|[.., end]| end);
        if index(self.bytes.u32(12)) != bytes.len() || end != Some(bytes.len()) {
            return Err(ImageError::Length);
        }
        if checksum(bytes) != self.identity() {
            return Err(ImageError::Checksum);
        }
        let fault = |what| ImageError::Fault { place: ImagePlace::Device, what };
        self.device().validate().map_err(fault)?;
        self.validate_clusters()?;
        self.validate_sources()?;
        self.validate_jobs()
    }

    fn validate_jobs(&self) -> Result<(), ImageError> {
        let mut before = None;
        for position in 0..self.job_streams() {
            let fault = |what| Err(ImageError::Fault { place: ImagePlace::Jobs(position), what });
            let Some(of) = self.job_stream(position) else { return Err(ImageError::Length) };
            if before.is_some_and(|before| (of.number, of.cluster) <= before) {
                return fault("does not follow the one before");
            }
            before = Some((of.number, of.cluster));
            let served = self.cluster(of.cluster).filter(|cluster| cluster.server().is_some());
            let Some(cluster) = served else {
                return fault("is of a cluster that there is not, or that has no server");
            };
            if of.pages == 0 || of.pages > MOST_REQUEST_PAGES || of.waiting == 0 || of.waiting > MOST_CHIPS {
                return fault("has jobs without pages, or of more than 2^24, or of which none may wait");
            }
            let all = u64::from(cluster.logical_per_chip()) * u64::from(cluster.chips());
            let end = u64::from(of.first_page) + u64::from(of.page_count);
            if of.page_count == 0 || end > all {
                return fault("has no logical pages, or some that its cluster has not");
            }
            let mut sources = (0..self.sources()).filter_map(|number| self.source(number));
            if sources.any(|source| source.number == of.number) {
                return fault("has the number of a source of requests");
            }
        }
        Ok(())
    }

    fn validate_clusters(&self) -> Result<(), ImageError> {
        let (mut chips, mut rings) = (0u32, 0u32);
        for number in 0..self.clusters() {
            let place = ImagePlace::Cluster(number);
            let fault = |what| Err(ImageError::Fault { place, what });
            let Some(of) = self.cluster(number) else { return Err(ImageError::Length) };
            if of.bytes.u32(of.at) & !(SUSPENDS | BACKFILLS | CACHED) > 2 {
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
            if self.has_chip_before(number, &of) {
                return fault("has a chip that another one has");
            }
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
            let zoned = cluster.is_zoned();
            for other in (0..position).filter_map(|before| self.source(before)) {
                if other.cluster != of.cluster || other.is_apart_from(&of) {
                    continue;
                }
                if (other.first_page, other.page_count) != (of.first_page, of.page_count) {
                    return fault("has some pages of another one, and not the same");
                }
                if zoned && of.writes && other.writes {
                    return fault("writes to zones that another one writes to");
                }
            }
        }
        Ok(())
    }

    /// Whether an earlier cluster has a chip of this one.
    fn has_chip_before(&self, number: u32, of: &ImageCluster<'_>) -> bool {
        let before = (0..number).filter_map(|before| self.cluster(before));
        let mut chips = (0..of.chips()).filter_map(|position| of.chip(position));
        chips.any(|chip| before.clone().any(|other| other.has_chip(chip)))
    }
}

impl ImageDevice {
    fn validate(&self) -> Result<(), &'static str> {
        let all = u64::from(self.blocks_per_chip).checked_mul(self.pages_per_block.into());
        let all = all.and_then(|all| all.checked_mul(self.chips.into()));
        if all.is_none_or(|all| !(1..=MOST_PAGES).contains(&all)) {
            return Err("has no pages, or more than 2^30");
        }
        if self.chips > MOST_CHIPS || self.chips_per_channel == 0 || self.page_bytes == 0 {
            return Err("has more than 2^20 chips, channels without chips, or pages without bytes");
        }
        if self.spare_blocks >= self.blocks_per_chip {
            return Err("has spare blocks alone");
        }
        let times = [self.page_read_ns, self.page_program_ns, self.block_erase_ns, self.page_transfer_ns];
        if times.iter().any(|time| !(1..NEVER).contains(time)) {
            return Err("has operations that take no time, or 2^63 ns");
        }
        let (suspend, resume) = (self.erase_suspend_ns, self.erase_resume_ns);
        if suspend >= self.block_erase_ns || resume >= NEVER || suspend == 0 && resume > 0 {
            return Err("has suspensions as long as erases, or that take 2^63 ns, or resumes what it does not suspend");
        }
        let hold = self.page_transfer_ns.checked_add(self.command_ns);
        let all = hold.and_then(|hold| hold.checked_mul(self.chips_per_channel.into()));
        if all.is_none_or(|all| all >= NEVER) {
            return Err("has channels on which a transfer for each chip takes 2^63 ns");
        }
        Ok(())
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
        self.validate_suspension(device)?;
        if self.backfills() && !self.is_superblock() {
            return Err("fills in, and is no superblock");
        }
        self.validate_cache(device)?;
        self.validate_server()?;
        if self.is_zoned() {
            return self.validate_rings(device);
        }
        if self.rings() > 0 {
            return Err("has zones, and another organisation");
        }
        let wide = if self.is_superblock() { self.chips() } else { 1 };
        let Some(of) = self.collection() else { return self.validate_no_collection() };
        let free = u64::from(pages - self.logical_per_chip()) * u64::from(wide);
        let block = u64::from(device.pages_per_block) * u64::from(wide);
        let kept_back = u64::from(device.spare_blocks) * u64::from(wide) * block;
        if of.reserve_pages.checked_add(kept_back).is_none_or(|all| all > free) {
            return Err("has no room for its reserve");
        }
        // (C1).
        let reclaimed = of.reclaimed_pages.checked_add(of.victim_pages);
        if reclaimed.is_none_or(|all| all > block) {
            return Err("has passes that reclaim more than a victim has");
        }
        let left = reclaimed.map_or(0, |all| block - all);
        if of.wear_pages > 0 && (device.wear_gap == 0 || of.wear_pages > left.min(of.reserve_pages)) {
            return Err("has pages for wear that is not levelled, or more than its passes leave");
        }
        if of.deadline_ns.is_some_and(|deadline| !(1..NEVER).contains(&deadline)) {
            return Err("has a deadline of garbage collection of no time, or 2^63 ns");
        }
        Ok(())
    }

    /// Whether erases are suspended only where that is proved: on devices that do so and whose
    /// commands are not counted, and for garbage collection.
    fn validate_suspension(&self, device: ImageDevice) -> Result<(), &'static str> {
        let may = device.erase_suspend_ns > 0 && device.command_ns == 0;
        if self.suspends_erases() && (!may || self.is_zoned()) {
            return Err("suspends erases, where the device does not, has commands or tasks own zones");
        }
        Ok(())
    }

    /// Whether a second page register is used only where that is proved.
    fn validate_cache(&self, device: ImageDevice) -> Result<(), &'static str> {
        let other = self.suspends_erases() || self.backfills() || self.is_zoned();
        if self.is_cached() && (other || device.spare_blocks > 0 || device.wear_gap > 0) {
            return Err(
                "uses a second page register beside zones, backfill, suspended erases, spare blocks or a wear gap",
            );
        }
        Ok(())
    }

    /// Whether its server is one: beside it erases are not suspended.
    fn validate_server(&self) -> Result<(), &'static str> {
        let said = [64, 72, 80, 88, 96].map(|place| self.bytes.u64(self.at + place));
        let Some(of) = self.server() else {
            return if said == [0; 5] { Ok(()) } else { Err("has no server, and numbers of it") };
        };
        let times = [of.read_ns, of.program_ns, of.pass_ns];
        if of.thousandths > 1_000 || of.turn_ns >= NEVER || times.iter().any(|time| !(1..NEVER).contains(time)) {
            return Err("has a server of more than all, or whose steps take no time, or 2^63 ns");
        }
        if self.collection().is_none() || self.suspends_erases() {
            return Err("has a server, and no garbage collection, or erases that are suspended");
        }
        Ok(())
    }

    /// Whether nothing else is said of garbage collection where there is none.
    fn validate_no_collection(&self) -> Result<(), &'static str> {
        let said = [24, 32, 40, 48, 56].map(|place| self.bytes.u64(self.at + place));
        if said == [u64::MAX, 0, 0, 0, 0] { Ok(()) } else { Err("has no garbage collection, and numbers of it") }
    }

    /// Whether a chip is one of it.
    fn has_chip(&self, chip: u32) -> bool {
        let (mut low, mut high) = (0, self.chips());
        while low < high {
            let middle = u32::midpoint(low, high);
            match self.chip(middle) {
                Some(other) if other < chip => low = middle + 1,
                _ => high = middle,
            }
        }
        self.chip(low) == Some(chip)
    }

    fn validate_rings(&self, device: ImageDevice) -> Result<(), &'static str> {
        self.validate_no_collection()?;
        let owned = device.blocks_per_chip.saturating_sub(device.spare_blocks);
        if self.logical_per_chip() != owned * device.pages_per_block {
            return Err("has zones, and not a logical page for each page that is not kept back");
        }
        // No more than 2^30.
        let zone = device.pages_per_block * self.chips();
        let mut next = 0;
        for position in 0..self.rings() {
            let ring = self.ring(position).ok_or("has a ring that there is not, or that is neither written nor not")?;
            let end = ring.first_block.checked_add(ring.blocks).filter(|&end| end <= owned);
            let end = end.filter(|_| ring.blocks > 0 && ring.first_block >= next);
            next =
                end.ok_or("has rings without blocks, or that overlap, or more than chips have beside spare blocks")?;
            let kept = (ring.blocks - u32::from(ring.writes)) * zone;
            let is_whole = ring.page_count.is_multiple_of(self.chips());
            if ring.first_page != ring.first_block * zone || ring.page_count == 0 || ring.page_count > kept || !is_whole
            {
                return Err("has a ring whose pages do not fit it");
            }
        }
        Ok(())
    }

    /// The ring that keeps exactly these pages.
    fn ring_of(&self, first_page: u32, page_count: u32) -> Option<super::ImageRing> {
        let mut rings = (0..self.rings()).filter_map(|position| self.ring(position));
        rings.find(|ring| (ring.first_page, ring.page_count) == (first_page, page_count))
    }
}

impl ImageSource {
    /// Whether no page is in both ranges.
    fn is_apart_from(&self, other: &ImageSource) -> bool {
        let end = |of: &ImageSource| u64::from(of.first_page) + u64::from(of.page_count);
        end(self) <= u64::from(other.first_page) || end(other) <= u64::from(self.first_page)
    }

    fn validate(&self, cluster: &ImageCluster<'_>) -> Result<(), &'static str> {
        if self.pages == 0 || self.pages > MOST_REQUEST_PAGES {
            return Err("has requests without pages, or of more than 2^24");
        }
        if self.period_ns >= NEVER {
            return Err("has a period of 2^63 ns");
        }
        if self.deadline_ns == 0 || self.deadline_ns > self.period_ns {
            return Err("has no deadline, or one behind its period");
        }
        if self.jitter_ns >= self.deadline_ns {
            return Err("has a jitter that leaves it no time");
        }
        let chips = cluster.chips();
        let all = u64::from(cluster.logical_per_chip()) * u64::from(chips);
        let end = u64::from(self.first_page) + u64::from(self.page_count);
        if self.page_count == 0 || end > all {
            return Err("has no logical pages, or some that its cluster has not");
        }
        let by_rows = matches!(self.order, RequestOrder::Consecutive | RequestOrder::Stream);
        if by_rows && cluster.is_superblock() {
            return Err("has an order of pages in a superblock, where all are alike");
        }
        let rows = self.first_page.is_multiple_of(chips) && self.page_count.is_multiple_of(chips);
        if by_rows && !rows {
            return Err("has consecutive pages, and not whole rows of them");
        }
        let writes_zones = self.writes && cluster.is_zoned();
        if writes_zones != (self.order == RequestOrder::Round) {
            return Err("goes round in no zones, or writes to zones in another order");
        }
        if cluster.is_zoned() {
            let ring = cluster.ring_of(self.first_page, self.page_count);
            let ring = ring.ok_or("has pages in zones that are no ring's")?;
            return if self.writes && !ring.writes { Err("writes to zones that are not written") } else { Ok(()) };
        }
        let collects = cluster.collection().is_some_and(|of| of.deadline_ns.is_some());
        if self.writes && !collects { Err("writes where no garbage is collected") } else { Ok(()) }
    }
}
