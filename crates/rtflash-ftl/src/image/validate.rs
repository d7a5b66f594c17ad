//! The conditions on an image.

use super::{
    BACKFILLS, CACHED, HEADER_BYTES, Image, ImageCluster, ImageDevice, ImageError, ImageJobs, ImagePlace, ImageRing,
    ImageSource, MAGIC, NO_DEADLINE, RequestOrder, SUSPENDS, VERSION, checksum,
};
use crate::memory::index;

const MOST_PAGES: u64 = 1 << 30;
const MOST_REQUEST_PAGES: u32 = 1 << 24;
const MOST_CHIPS: u32 = 1 << 20;
const NEVER: u64 = 1 << 63;

type Fault = &'static str;

fn ensure(holds: bool, fault: Fault) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(fault) }
}

fn is_time(ns: u64) -> bool {
    (1..NEVER).contains(&ns)
}

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
        let end = self.bytes.sections().map(|sections| sections.end);
        if index(self.bytes.u32(12)) != bytes.len() || end != Some(bytes.len()) {
            return Err(ImageError::Length);
        }
        if checksum(bytes) != self.identity() {
            return Err(ImageError::Checksum);
        }
        let fault = |place: ImagePlace| move |what| ImageError::Fault { place, what };
        self.device().validate().map_err(fault(ImagePlace::Device))?;
        let (mut chips, mut rings) = (0, 0);
        for number in 0..self.clusters() {
            self.validate_cluster(number, &mut chips, &mut rings).map_err(fault(ImagePlace::Cluster(number)))?;
        }
        let [.., all_chips, all_rings, _] = self.bytes.counts();
        if (chips, rings) != (all_chips, all_rings) {
            return Err(ImageError::Length);
        }
        for position in 0..self.sources() {
            self.validate_source(position).map_err(fault(ImagePlace::Source(position)))?;
        }
        for position in 0..self.job_streams() {
            self.validate_jobs(position).map_err(fault(ImagePlace::Jobs(position)))?;
        }
        Ok(())
    }

    fn validate_jobs(&self, position: u32) -> Result<(), Fault> {
        let follows = |of: ImageJobs, before: ImageJobs| (of.number, of.cluster) > (before.number, before.cluster);
        let of = self.job_stream(position).expect("a stream of the image");
        let before = position.checked_sub(1).and_then(|before| self.job_stream(before));
        ensure(before.is_none_or(|before| follows(of, before)), "does not follow the one before")?;
        let served = self.cluster(of.cluster).filter(|cluster| cluster.server().is_some());
        let cluster = served.ok_or("is of a cluster that there is not, or that has no server")?;
        ensure(
            (1..=MOST_REQUEST_PAGES).contains(&of.pages) && (1..=MOST_CHIPS).contains(&of.waiting),
            "has jobs without pages, or of more than 2^24, or of which none may wait",
        )?;
        cluster.validate_range(of.first_page, of.page_count)?;
        let mut sources = (0..self.sources()).filter_map(|number| self.source(number));
        ensure(sources.all(|source| source.number != of.number), "has the number of a source of requests")
    }

    /// `chips` and `rings` count those of the clusters before, and then those of this one, too.
    fn validate_cluster(&self, number: u32, chips: &mut u32, rings: &mut u32) -> Result<(), Fault> {
        let of = self.cluster(number).expect("a cluster of the image");
        let organisation = of.bytes.u32(of.at) & !(SUSPENDS | BACKFILLS | CACHED);
        ensure(organisation <= 2, "has an organisation that there is not")?;
        ensure(
            (of.first_chip(), of.first_ring()) == (*chips, *rings),
            "has chips or rings that do not follow those before",
        )?;
        let ends = chips.checked_add(of.chips()).zip(rings.checked_add(of.rings()));
        (*chips, *rings) = ends.ok_or("has too many chips or rings")?;
        let [.., all_chips, all_rings, _] = self.bytes.counts();
        ensure(*chips <= all_chips && *rings <= all_rings, "has more chips or rings than there are")?;
        of.validate(self.device())?;
        let mut before = (0..number).filter_map(|before| self.cluster(before));
        let has_own = |other: ImageCluster<'_>| (0..of.chips()).any(|position| other.has_chip(of.chip(position)));
        ensure(!before.any(has_own), "has a chip that another one has")
    }

    fn validate_source(&self, position: u32) -> Result<(), Fault> {
        let of = self.source(position).ok_or("has pages in an order that there is not")?;
        let before = position.checked_sub(1).and_then(|before| self.source(before));
        let follows = before.is_none_or(|before| before.number < of.number);
        ensure(follows, "has a number that does not follow the one before")?;
        let cluster = self.cluster(of.cluster).ok_or("is of a cluster that there is not")?;
        of.validate(&cluster)?;
        let writes_zones = cluster.is_zoned() && of.writes;
        (0..position).filter_map(|before| self.source(before)).try_for_each(|other| {
            if other.cluster != of.cluster || other.is_apart_from(&of) {
                return Ok(());
            }
            let same = (other.first_page, other.page_count) == (of.first_page, of.page_count);
            ensure(same, "has some pages of another one, and not the same")?;
            ensure(!(writes_zones && other.writes), "writes to zones that another one writes to")
        })
    }
}

impl ImageDevice {
    fn validate(&self) -> Result<(), Fault> {
        let all = u64::from(self.blocks_per_chip).checked_mul(self.pages_per_block.into());
        let all = all.and_then(|all| all.checked_mul(self.chips.into()));
        ensure(all.is_some_and(|all| (1..=MOST_PAGES).contains(&all)), "has no pages, or more than 2^30")?;
        ensure(
            self.chips <= MOST_CHIPS && self.chips_per_channel > 0 && self.page_bytes > 0,
            "has more than 2^20 chips, channels without chips, or pages without bytes",
        )?;
        ensure(self.spare_blocks < self.blocks_per_chip, "has spare blocks alone")?;
        let times = [self.page_read_ns, self.page_program_ns, self.block_erase_ns, self.page_transfer_ns];
        ensure(times.into_iter().all(is_time), "has operations that take no time, or 2^63 ns")?;
        let (suspend, resume) = (self.erase_suspend_ns, self.erase_resume_ns);
        ensure(
            suspend < self.block_erase_ns && resume < NEVER && (suspend > 0 || resume == 0),
            "has suspensions as long as erases, or that take 2^63 ns, or resumes what it does not suspend",
        )?;
        let hold = self.page_transfer_ns.checked_add(self.command_ns);
        let all = hold.and_then(|hold| hold.checked_mul(self.chips_per_channel.into()));
        ensure(all.is_some_and(|all| all < NEVER), "has channels on which a transfer for each chip takes 2^63 ns")
    }
}

impl ImageCluster<'_> {
    fn validate(&self, device: ImageDevice) -> Result<(), Fault> {
        let chips = (0..self.chips()).map(|position| self.chip(position));
        let in_device = chips.clone().all(|chip| chip.is_some_and(|chip| chip < device.chips));
        ensure(
            in_device && chips.is_sorted_by(|a, b| a < b),
            "has chips that do not ascend, or that the device has not",
        )?;
        ensure(self.chips() > 0, "has no chips")?;
        // No more than 2^30.
        let pages = device.blocks_per_chip * device.pages_per_block;
        ensure((1..=pages).contains(&self.logical_per_chip()), "has no logical pages, or more than pages")?;
        self.validate_options(device)?;
        self.validate_server()?;
        if self.is_zoned() {
            return self.validate_rings(device);
        }
        ensure(self.rings() == 0, "has zones, and another organisation")?;
        let wide = u64::from(if self.is_superblock() { self.chips() } else { 1 });
        let Some(of) = self.collection() else { return self.validate_no_collection() };
        let free = u64::from(pages - self.logical_per_chip()) * wide;
        let block = u64::from(device.pages_per_block) * wide;
        let kept_back = u64::from(device.spare_blocks) * wide * block;
        let reserve = of.reserve_pages.checked_add(kept_back);
        ensure(reserve.is_some_and(|all| all <= free), "has no room for its reserve")?;
        // (C1).
        let left = of.reclaimed_pages.checked_add(of.victim_pages).and_then(|reclaimed| block.checked_sub(reclaimed));
        let left = left.ok_or("has passes that reclaim more than a victim has")?;
        ensure(
            of.wear_pages == 0 || device.wear_gap > 0 && of.wear_pages <= left.min(of.reserve_pages),
            "has pages for wear that is not levelled, or more than its passes leave",
        )?;
        ensure(of.deadline_ns.is_none_or(is_time), "has a deadline of garbage collection of no time, or 2^63 ns")
    }

    /// Options are proved alone, or on some devices: suspended erases for garbage collection
    /// without counted commands, a second page register without the others.
    fn validate_options(&self, device: ImageDevice) -> Result<(), Fault> {
        let suspends = device.erase_suspend_ns > 0 && device.command_ns == 0 && !self.is_zoned();
        ensure(
            suspends || !self.suspends_erases(),
            "suspends erases, where the device does not, has commands or tasks own zones",
        )?;
        ensure(!self.backfills() || self.is_superblock(), "fills in, and is no superblock")?;
        let other = self.suspends_erases() || self.backfills() || self.is_zoned();
        ensure(
            !(self.is_cached() && (other || device.spare_blocks > 0 || device.wear_gap > 0)),
            "uses a second page register beside zones, backfill, suspended erases, spare blocks or a wear threshold",
        )
    }

    fn validate_server(&self) -> Result<(), Fault> {
        let Some(of) = self.server() else {
            return ensure(self.server_numbers() == [0; 5], "has no server, and numbers of it");
        };
        ensure(
            of.thousandths <= 1_000
                && of.turn_ns < NEVER
                && [of.read_ns, of.program_ns, of.pass_ns].into_iter().all(is_time),
            "has a server of more than all, or whose steps take no time, or 2^63 ns",
        )?;
        ensure(
            self.collection().is_some() && !self.suspends_erases(),
            "has a server, and no garbage collection, or erases that are suspended",
        )
    }

    fn validate_no_collection(&self) -> Result<(), Fault> {
        let is_empty = self.collection_numbers() == [NO_DEADLINE, 0, 0, 0, 0];
        ensure(is_empty, "has no garbage collection, and numbers of it")
    }

    fn has_chip(&self, chip: Option<u32>) -> bool {
        let (mut low, mut high) = (0, self.chips());
        while low < high {
            let middle = u32::midpoint(low, high);
            if self.chip(middle) < chip {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.chip(low) == chip
    }

    fn validate_rings(&self, device: ImageDevice) -> Result<(), Fault> {
        self.validate_no_collection()?;
        let owned = device.blocks_per_chip.saturating_sub(device.spare_blocks);
        ensure(
            self.logical_per_chip() == owned * device.pages_per_block,
            "has zones, and not a logical page for each page that is not kept back",
        )?;
        // No more than 2^30.
        let zone = device.pages_per_block * self.chips();
        let mut next = 0;
        for position in 0..self.rings() {
            let ring = self.ring(position).ok_or("has a ring that there is not, or that is neither written nor not")?;
            let ImageRing { first_block, blocks, first_page, page_count, writes } = ring;
            let end = first_block.checked_add(blocks).filter(|&end| end <= owned);
            next = end
                .filter(|_| blocks > 0 && first_block >= next)
                .ok_or("has rings without blocks, or that overlap, or more than chips have beside spare blocks")?;
            let kept = (blocks - u32::from(writes)) * zone;
            let fits = first_page == first_block * zone && (1..=kept).contains(&page_count);
            ensure(fits && page_count.is_multiple_of(self.chips()), "has a ring whose pages do not fit it")?;
        }
        Ok(())
    }

    fn validate_range(&self, first_page: u32, page_count: u32) -> Result<(), Fault> {
        let all = u64::from(self.logical_per_chip()) * u64::from(self.chips());
        let end = u64::from(first_page) + u64::from(page_count);
        ensure(page_count > 0 && end <= all, "has no logical pages, or some that its cluster has not")
    }

    fn ring_of(&self, first_page: u32, page_count: u32) -> Option<ImageRing> {
        let mut rings = (0..self.rings()).filter_map(|position| self.ring(position));
        rings.find(|ring| (ring.first_page, ring.page_count) == (first_page, page_count))
    }
}

impl ImageSource {
    fn is_apart_from(&self, other: &ImageSource) -> bool {
        let end = |of: &ImageSource| u64::from(of.first_page) + u64::from(of.page_count);
        end(self) <= u64::from(other.first_page) || end(other) <= u64::from(self.first_page)
    }

    fn validate(&self, cluster: &ImageCluster<'_>) -> Result<(), Fault> {
        let pages = (1..=MOST_REQUEST_PAGES).contains(&self.pages);
        ensure(pages, "has requests without pages, or of more than 2^24")?;
        ensure(self.period_ns < NEVER, "has a period of 2^63 ns")?;
        ensure((1..NEVER).contains(&self.deadline_ns), "has no deadline, or one of 2^63 ns")?;
        ensure(self.jitter_ns < self.deadline_ns, "has a jitter that leaves it no time")?;
        ensure(self.jitter_ns < self.period_ns, "has a jitter of its period or longer")?;
        cluster.validate_range(self.first_page, self.page_count)?;
        let by_rows = matches!(self.order, RequestOrder::Consecutive | RequestOrder::Stream);
        let alike = by_rows && cluster.is_superblock();
        ensure(!alike, "has an order of pages in a superblock, where all are alike")?;
        let chips = cluster.chips();
        let rows = self.first_page.is_multiple_of(chips) && self.page_count.is_multiple_of(chips);
        ensure(rows || !by_rows, "has consecutive pages, and not whole rows of them")?;
        let writes_zones = self.writes && cluster.is_zoned();
        let in_order = writes_zones == (self.order == RequestOrder::Round);
        ensure(in_order, "goes round in no zones, or writes to zones in another order")?;
        if cluster.is_zoned() {
            let ring = cluster.ring_of(self.first_page, self.page_count);
            let ring = ring.ok_or("has pages in zones that are no ring's")?;
            return ensure(ring.writes || !self.writes, "writes to zones that are not written");
        }
        let collects = cluster.collection().is_some_and(|of| of.deadline_ns.is_some());
        ensure(collects || !self.writes, "writes where no garbage is collected")
    }
}
