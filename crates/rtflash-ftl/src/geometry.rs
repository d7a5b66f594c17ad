//! How much memory the state machine needs.

use crate::backfill::CHANNEL_WORDS;
use crate::blocks::GROUP;
use crate::image::{Image, ImageCluster, ImageDevice};
use crate::memory::{NONE, index};
use crate::step_pages::STEP_PAGE_WORDS;
use crate::zones::RING_WORDS;

/// The numbers that the memory of a [`Ftl`](crate::Ftl) depends on. They follow from an image
/// ([`Geometry::of`]); firmware with memory laid out at build time writes them down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Geometry {
    /// Chips of the device.
    pub chips: usize,
    /// Chips that are in clusters.
    pub used_chips: usize,
    /// N: blocks of a chip.
    pub blocks: usize,
    /// P: pages of a block.
    pub pages: usize,
    /// Processors: chips of stripes and of clusters with zones, and superblocks.
    pub processors: usize,
    /// Chips that are in superblocks.
    pub superblock_chips: usize,
    /// Logical pages of all clusters.
    pub logical_pages: usize,
    /// Rings of zones, those of each chip counted.
    pub rings: usize,
    /// Chips of superblocks with a server.
    pub served_chips: usize,
    /// Chips of superblocks that use idle chips.
    pub backfill_chips: usize,
    /// Chips of clusters with zones.
    pub zoned_chips: usize,
    /// Blocks of all processors whose erases are counted: of those that level wear.
    pub counted_blocks: usize,
    /// Clusters.
    pub clusters: usize,
    /// Sources of requests, and streams of jobs.
    pub sources: usize,
    /// Requests that can wait at once.
    pub requests: usize,
    /// Their pages.
    pub request_pages: usize,
    /// Their parts: one for each processor of their clusters.
    pub parts: usize,
    /// Instants from which GC jobs can wait, of all processors.
    pub gc_jobs: usize,
}

impl Geometry {
    /// The geometry of an image. `late`: how many more requests of each source can wait than if all
    /// deadlines are met. `None` if the numbers are too large for this machine.
    pub fn of(image: &Image<'_>, late: u32) -> Option<Geometry> {
        let device = image.device();
        let mut all = Geometry {
            chips: index(device.chips),
            blocks: index(device.blocks_per_chip),
            pages: index(device.pages_per_block),
            ..Geometry::default()
        };
        all.blocks.checked_mul(all.pages)?.checked_mul(all.chips)?;
        all.clusters = index(image.clusters());
        all.sources = index(image.sources());
        for number in 0..image.clusters() {
            let cluster = image.cluster(number)?;
            let width = index(cluster.chips());
            all.used_chips += width;
            all.processors += index(cluster.processors());
            all.superblock_chips += if cluster.is_superblock() { width } else { 0 };
            all.logical_pages = all.logical_pages.checked_add(index(cluster.logical_per_chip()).checked_mul(width)?)?;
            if levels_wear(device, &cluster) {
                all.counted_blocks += all.blocks.checked_mul(index(cluster.processors()))?;
            }
            let is_served = cluster.is_superblock() && cluster.server().is_some();
            all.served_chips += if is_served { width } else { 0 };
            all.backfill_chips += if cluster.backfills() { width } else { 0 };
            all.zoned_chips += if cluster.is_zoned() { width } else { 0 };
            all.rings = all.rings.checked_add(index(cluster.rings()).checked_mul(width)?)?;
            let jobs = gc_jobs(image, number, late)?;
            all.gc_jobs = all.gc_jobs.checked_add(index(jobs).checked_mul(index(cluster.processors()))?)?;
        }
        for number in 0..image.sources() {
            let source = image.source(number)?;
            let waiting = waiting(source.deadline_ns, source.jitter_ns, source.period_ns, late)?;
            all.add_requests(waiting, source.pages, image.cluster(source.cluster)?.processors())?;
        }
        for number in 0..image.job_streams() {
            let jobs = image.job_stream(number)?;
            all.sources = all.sources.checked_add(1)?;
            let waiting = jobs.waiting.checked_add(late)?;
            all.add_requests(waiting, jobs.pages, image.cluster(jobs.cluster)?.processors())?;
        }
        all.is_countable().then_some(all)
    }

    fn add_requests(&mut self, waiting: u32, pages: u32, processors: u32) -> Option<()> {
        let each = |count: u32| index(waiting).checked_mul(index(count));
        self.requests = self.requests.checked_add(index(waiting))?;
        self.request_pages = self.request_pages.checked_add(each(pages)?)?;
        self.parts = self.parts.checked_add(each(processors)?)?;
        Some(())
    }

    /// Places in the lists of requests are kept in words of 32 bits; other lists fit this machine.
    fn is_countable(&self) -> bool {
        let requests = self.request_pages.checked_mul(2).and_then(|words| words.checked_add(self.parts));
        let in_words = |count: usize| u32::try_from(count).is_ok_and(|count| count < NONE);
        if !in_words(self.requests) || !requests.is_some_and(in_words) {
            return false;
        }
        // No more than 2^30 pages, and as many logical ones; of all others, less than 32 words for
        // each block of a processor, chip and ring.
        let others = [self.blocks.checked_mul(self.processors), Some(self.chips), Some(self.rings)];
        let others = others.into_iter().try_fold(0usize, |sum, count| sum.checked_add(count?));
        let words = others.and_then(|count| count.checked_mul(32)?.checked_add(1 << 31)?.checked_add(requests?));
        words.is_some()
    }

    /// Words of 32 bits.
    pub const fn words(&self) -> usize {
        let map = self.used_chips * self.blocks * self.pages + self.logical_pages;
        let blocks = self.processors * (self.blocks + self.blocks.div_ceil(index(GROUP)));
        let passes = 5 * (self.superblock_chips + self.served_chips) + STEP_PAGE_WORDS * self.used_chips;
        let channels = CHANNEL_WORDS * self.backfill_chips;
        let rings = RING_WORDS * self.rings + ZONE_WORDS * self.zoned_chips * self.blocks;
        let requests = 2 * self.request_pages + self.parts;
        map + blocks + self.counted_blocks + passes + channels + rings + requests + self.used_chips + self.chips
    }

    /// Words of 64 bits.
    pub const fn bits(&self) -> usize {
        let pages = self.used_chips * self.blocks * self.pages / 64 + self.processors;
        let blocks = (2 * self.processors + self.zoned_chips) * self.blocks.div_ceil(64);
        pages + blocks + 3 * self.chips.div_ceil(64)
    }
}

/// Words for each block of a chip with zones: the block in a place, and in a recovery the order in
/// which blocks were written.
pub(crate) const ZONE_WORDS: usize = 3;

pub(crate) fn levels_wear(device: ImageDevice, of: &ImageCluster<'_>) -> bool {
    device.wear_gap > 0 && of.collection().is_some()
}

/// The most requests of a source that wait at once: those within D + J, one more, and `late`.
pub(crate) fn waiting(deadline_ns: u64, jitter_ns: u64, period_ns: u64, late: u32) -> Option<u32> {
    let waiting = deadline_ns.checked_add(jitter_ns)?.checked_div(period_ns)?;
    u32::try_from(waiting).ok()?.checked_add(2)?.checked_add(late)
}

/// The most instants from which GC jobs of a processor wait: those of the writes within D_g, with
/// `late` more for each source.
pub(crate) fn gc_jobs(image: &Image<'_>, cluster: u32, late: u32) -> Option<u32> {
    let collection = image.cluster(cluster)?.collection();
    let Some(deadline) = collection.and_then(|collection| collection.deadline_ns) else { return Some(0) };
    let mut all = 0u32;
    for number in 0..image.sources() {
        let source = image.source(number)?;
        if source.cluster == cluster && source.writes {
            all = all.checked_add(waiting(deadline, source.jitter_ns, source.period_ns, late)?)?;
        }
    }
    Some(all)
}
