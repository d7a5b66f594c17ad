//! How an image is written.

use super::{
    BACKFILLS, CACHED, CHECKSUM, CLUSTER_BYTES, HEADER_BYTES, ImageCollection, ImageDevice, ImageJobs,
    ImageOrganisation, ImageRing, ImageServer, ImageSource, JOBS_BYTES, MAGIC, NO_DEADLINE, RING_BYTES, SOURCE_BYTES,
    SUSPENDS, VERSION, checksum,
};

/// The parts of an image.
#[allow(missing_docs)] // `Image` explains each of them.
#[derive(Debug, Clone, Copy)]
pub struct ImageParts<'a> {
    pub device: ImageDevice,
    pub clusters: &'a [ClusterParts<'a>],
    pub sources: &'a [ImageSource],
    pub jobs: &'a [ImageJobs],
}

/// The parts of a cluster of an image.
#[allow(missing_docs)] // `ImageCluster` explains each of them.
#[derive(Debug, Clone, Copy)]
pub struct ClusterParts<'a> {
    pub organisation: ImageOrganisation,
    pub suspends_erases: bool,
    pub backfills: bool,
    pub cached: bool,
    /// Its chips, ascending.
    pub chips: &'a [u32],
    pub logical_per_chip: u32,
    pub collection: Option<ImageCollection>,
    pub server: Option<ImageServer>,
    /// Its rings of zones, in the order of their blocks.
    pub rings: &'a [ImageRing],
}

struct ImageBytes<'t> {
    to: &'t mut [u8],
    at: usize,
}

impl ImageBytes<'_> {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.at.checked_add(bytes.len())?;
        self.to.get_mut(self.at..end)?.copy_from_slice(bytes);
        self.at = end;
        Some(())
    }

    fn words(&mut self, words: &[u32]) -> Option<()> {
        words.iter().try_for_each(|word| self.put(&word.to_le_bytes()))
    }

    fn longs(&mut self, longs: &[u64]) -> Option<()> {
        longs.iter().try_for_each(|long| self.put(&long.to_le_bytes()))
    }
}

impl ImageParts<'_> {
    /// How many bytes the image has; `None` where they cannot be counted.
    pub fn encoded_len(&self) -> Option<usize> {
        let each = |cluster: &ClusterParts<'_>| {
            let rings = cluster.rings.len().checked_mul(RING_BYTES)?;
            cluster.chips.len().checked_mul(4)?.checked_add(rings)?.checked_add(CLUSTER_BYTES)
        };
        let jobs = self.jobs.len().checked_mul(JOBS_BYTES)?.checked_add(HEADER_BYTES)?;
        let sources = self.sources.len().checked_mul(SOURCE_BYTES)?.checked_add(jobs)?;
        self.clusters.iter().try_fold(sources, |sum, cluster| sum.checked_add(each(cluster)?))
    }

    /// Writes the image, and returns its length in bytes; `None` if there is no room, or a list is
    /// too long. [`Image::read`](super::Image::read) finds out whether it is sound.
    pub fn encode(&self, to: &mut [u8]) -> Option<usize> {
        let length = self.encoded_len()?;
        let mut filled = ImageBytes { to: to.get_mut(..length)?, at: 0 };
        let count = |count: usize| u32::try_from(count).ok();
        let chips = self.clusters.iter().map(|cluster| cluster.chips.len()).sum();
        let rings = self.clusters.iter().map(|cluster| cluster.rings.len()).sum();
        filled.put(&MAGIC)?;
        filled.words(&[u32::from(VERSION), count(length)?, 0])?;
        for list in [self.clusters.len(), self.sources.len(), chips, rings, self.jobs.len()] {
            filled.words(&[count(list)?])?;
        }
        self.device(&mut filled)?;
        self.clusters(&mut filled)?;
        for source in self.sources {
            self::source(source, &mut filled)?;
        }
        self.clusters.iter().try_for_each(|cluster| filled.words(cluster.chips))?;
        for ring in self.clusters.iter().flat_map(|cluster| cluster.rings) {
            let ImageRing { first_block, blocks, first_page, page_count, writes } = *ring;
            filled.words(&[first_block, blocks, first_page, page_count, u32::from(writes)])?;
        }
        for jobs in self.jobs {
            let ImageJobs { number, cluster, pages, waiting, first_page, page_count } = *jobs;
            filled.words(&[number, cluster, pages, waiting, first_page, page_count])?;
        }
        let bytes = filled.to;
        let crc = checksum(bytes);
        bytes.get_mut(CHECKSUM)?.copy_from_slice(&crc.to_le_bytes());
        Some(length)
    }

    fn device(&self, to: &mut ImageBytes<'_>) -> Option<()> {
        let of = self.device;
        to.words(&[of.chips, of.chips_per_channel, of.blocks_per_chip, of.pages_per_block, of.page_bytes])?;
        to.words(&[of.spare_blocks, of.wear_gap])?;
        to.longs(&[of.page_read_ns, of.page_program_ns, of.block_erase_ns, of.page_transfer_ns, of.command_ns])?;
        to.longs(&[of.erase_suspend_ns, of.erase_resume_ns])
    }

    fn clusters(&self, to: &mut ImageBytes<'_>) -> Option<()> {
        let (mut chip, mut ring) = (0, 0);
        for cluster in self.clusters {
            let organisation = match cluster.organisation {
                ImageOrganisation::Stripe => 0,
                ImageOrganisation::Zoned => 1,
                ImageOrganisation::Superblock => 2,
            } + if cluster.suspends_erases { SUSPENDS } else { 0 }
                + if cluster.backfills { BACKFILLS } else { 0 }
                + if cluster.cached { CACHED } else { 0 };
            let (chips, rings) = (u32::try_from(cluster.chips.len()).ok()?, u32::try_from(cluster.rings.len()).ok()?);
            to.words(&[organisation, chip, chips, cluster.logical_per_chip, ring, rings])?;
            (chip, ring) = (chip.checked_add(chips)?, ring.checked_add(rings)?);
            let longs = cluster.collection.map_or([NO_DEADLINE, 0, 0, 0, 0], |of| {
                let deadline = of.deadline_ns.unwrap_or(NO_DEADLINE);
                [deadline, of.reclaimed_pages, of.reserve_pages, of.victim_pages, of.wear_pages]
            });
            to.longs(&longs)?;
            let served = cluster.server.map_or([0; 5], |of| {
                let ImageServer { thousandths, read_ns, program_ns, pass_ns, turn_ns } = of;
                [thousandths.into(), read_ns, program_ns, pass_ns, turn_ns]
            });
            to.longs(&served)?;
        }
        Some(())
    }
}

fn source(of: &ImageSource, to: &mut ImageBytes<'_>) -> Option<()> {
    let order = super::ORDERS.iter().position(|&order| order == of.order)?;
    let flags = u32::from(of.writes) | u32::try_from(order).ok()? << 8;
    to.words(&[of.number, of.cluster, flags, of.pages, of.first_page, of.page_count])?;
    to.longs(&[of.period_ns, of.deadline_ns, of.jitter_ns])
}
