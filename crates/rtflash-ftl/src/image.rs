//! The binary image of an allocation: what firmware loads.
//!
//! All numbers are little-endian. A header, then one record for each cluster, each source of
//! requests, each chip of a cluster, each ring of zones and each stream of jobs:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 2, 2 | [`VERSION`]; zero |
//! | 4 | length of the whole, in bytes |
//! | 4 | CRC-32 (IEEE 802.3) of all bytes but these four: the image's identity |
//! | 5 × 4 | clusters; sources; chips of clusters; rings; streams of jobs |
//! | 7 × 4 | the device: chips, chips of a channel, blocks of a chip, pages of a block, bytes of a page, spare blocks of a chip, Δ (0: wear is not levelled) |
//! | 7 × 8 | t_r, t_w, t_e, t_d, t_c, t_s and t_u, in nanoseconds |
//!
//! A cluster, [`CLUSTER_BYTES`]:
//!
//! | bytes | what |
//! |---|---|
//! | 4 | organisation: 0 stripe, 1 zones, 2 superblock; 256 more where erases are suspended, 512 more where rule D3 is made use of, 1024 more where chips use a second page register |
//! | 2 × 4 | its first entry in the list of chips, and how many |
//! | 4 | logical pages of each chip |
//! | 2 × 4 | its first ring, and how many |
//! | 5 × 8 | D_g in nanoseconds (2^64 − 1: no GC jobs); α (0: no garbage collection); H; v; δ |
//! | 5 × 8 | U_s in thousandths (0: no server); c_r, c_w, C_g and 2 b of Eq. (68) in nanoseconds, as its server counts them |
//!
//! A source, [`SOURCE_BYTES`]: its number in the plan, its cluster, flags (1: it writes; 256 times
//! the order of its pages, as in [`RequestOrder`]), w, its first logical page, how many it has (4
//! bytes each); T, D and J in nanoseconds (8 bytes each). A chip: its number (4 bytes). A ring,
//! [`RING_BYTES`]: its first block, how many, its first logical page, how many, whether it is
//! written (4 bytes each). A stream of jobs, [`JOBS_BYTES`]: its number in the plan, its cluster,
//! pages of a job, how many of its jobs can wait, its first logical page, how many it has (4 bytes
//! each).

mod checksum;
mod cluster;
mod encode;
mod error;
mod validate;

pub use encode::{ClusterParts, ImageParts};
pub use error::{ImageError, ImagePlace};

use checksum::{CHECKSUM, checksum};

use crate::memory::index;

/// The first bytes of an image.
pub const MAGIC: [u8; 8] = *b"rtflash\0";
/// The version of the format.
pub const VERSION: u16 = 4;
/// Bytes before the first cluster.
pub const HEADER_BYTES: usize = 124;
/// Bytes of a cluster.
pub const CLUSTER_BYTES: usize = 104;
/// Bytes of a source.
pub const SOURCE_BYTES: usize = 48;
/// Bytes of a ring.
pub const RING_BYTES: usize = 20;
/// Bytes of a stream of jobs.
pub const JOBS_BYTES: usize = 24;

/// The deadline of a collection that has none.
const NO_DEADLINE: u64 = u64::MAX;

// Flags in the organisation of a cluster: its erases are suspended, chips that a step leaves idle
// do something, chips use a second page register.
const SUSPENDS: u32 = 256;
const BACKFILLS: u32 = 512;
const CACHED: u32 = 1024;

/// The device that an image is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageDevice {
    /// m.
    pub chips: u32,
    /// m_c: chip c is on channel c/m_c.
    pub chips_per_channel: u32,
    /// N.
    pub blocks_per_chip: u32,
    /// P.
    pub pages_per_block: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// N_s: blocks of a chip that can fail, and are kept erased until then.
    pub spare_blocks: u32,
    /// Δ: the most by which the erases of a chip's blocks differ; 0 where wear is not levelled.
    pub wear_gap: u32,
    /// t_r.
    pub page_read_ns: u64,
    /// t_w.
    pub page_program_ns: u64,
    /// t_e.
    pub block_erase_ns: u64,
    /// t_d.
    pub page_transfer_ns: u64,
    /// t_c; 0 where commands are not counted.
    pub command_ns: u64,
    /// t_s: how long it takes to suspend an erase; 0 where the device does not.
    pub erase_suspend_ns: u64,
    /// t_u: by how much an erase takes longer each time.
    pub erase_resume_ns: u64,
}

/// The order of the pages of a source's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RequestOrder {
    /// Any pages of its range.
    #[default]
    Any,
    /// Each page is on the chip behind that of the page before, from any chip on.
    Consecutive,
    /// Consecutive, and each request goes on with the chip where the last one ended.
    Stream,
    /// The pages of the range one after another, round and round: what is written to zones.
    Round,
}

/// How the chips of a cluster are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageOrganisation {
    /// Each chip is a processor; logical page l is on the chip with position l mod s.
    Stripe,
    /// A stripe whose tasks own zones.
    Zoned,
    /// All chips are one processor.
    Superblock,
}

/// By what the processors of a cluster collect garbage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ImageCollection {
    /// D_g; `None` where no GC jobs are released.
    pub deadline_ns: Option<u64>,
    /// α.
    pub reclaimed_pages: u64,
    /// H.
    pub reserve_pages: u64,
    /// v.
    pub victim_pages: u64,
    /// δ: the pages of H that can be taken for wear.
    pub wear_pages: u64,
}

/// The server of each processor of a cluster (docs/analysis.md, Section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageServer {
    /// U_s, in thousandths.
    pub thousandths: u32,
    /// c_r.
    pub read_ns: u64,
    /// c_w.
    pub program_ns: u64,
    /// C_g.
    pub pass_ns: u64,
    /// 2 b of Eq. (68) for each kind of a job's steps, with a second page register; else 0.
    pub turn_ns: u64,
}

/// A stream of jobs that are not real-time, in one of the clusters that serve them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageJobs {
    /// Its number in the plan. If several clusters serve it, one of these for each has it.
    pub number: u32,
    /// The cluster, by position.
    pub cluster: u32,
    /// Pages of a job, at most.
    pub pages: u32,
    /// How many jobs can wait there.
    pub waiting: u32,
    /// The first logical page of its range, in the cluster.
    pub first_page: u32,
    /// Logical pages of its range.
    pub page_count: u32,
}

/// A ring of zones, on each chip of its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageRing {
    /// Its first block.
    pub first_block: u32,
    /// How many it has.
    pub blocks: u32,
    /// The first logical page that is kept there.
    pub first_page: u32,
    /// How many there are.
    pub page_count: u32,
    /// Whether they are written.
    pub writes: bool,
}

/// The read or the write requests of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImageSource {
    /// Its number in the plan; ascending.
    pub number: u32,
    /// Its cluster, by position.
    pub cluster: u32,
    /// Whether it writes.
    pub writes: bool,
    /// The order of the pages of a request.
    pub order: RequestOrder,
    /// w: pages of a request, at most.
    pub pages: u32,
    /// The first logical page of its range, in the cluster.
    pub first_page: u32,
    /// Logical pages of its range.
    pub page_count: u32,
    /// T.
    pub period_ns: u64,
    /// D: above T where requests wait in a buffer of several.
    pub deadline_ns: u64,
    /// J.
    pub jitter_ns: u64,
}

/// An image that has been found to be sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Image<'a> {
    bytes: Bytes<'a>,
}

/// A cluster of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageCluster<'a> {
    bytes: Bytes<'a>,
    at: usize,
}

/// Bytes of which numbers are read. They are zero behind the end, where a sound image has nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bytes<'a>(&'a [u8]);

struct Sections {
    sources: usize,
    chips: usize,
    rings: usize,
    jobs: usize,
    end: usize,
}

impl Bytes<'_> {
    fn u32(&self, at: usize) -> u32 {
        let bytes = at.checked_add(4).and_then(|end| self.0.get(at..end));
        bytes.and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at.saturating_add(4))) << 32
    }

    fn words<const N: usize>(&self, at: usize) -> [u32; N] {
        core::array::from_fn(|nth| self.u32(at.saturating_add(4 * nth)))
    }

    fn longs<const N: usize>(&self, at: usize) -> [u64; N] {
        core::array::from_fn(|nth| self.u64(at.saturating_add(8 * nth)))
    }

    fn counts(&self) -> [u32; 5] {
        self.words(20)
    }

    fn sections(&self) -> Option<Sections> {
        let [all_clusters, all_sources, all_chips, all_rings, all_jobs] = self.counts();
        let behind = |from: usize, count: u32, each: usize| index(count).checked_mul(each)?.checked_add(from);
        let sources = behind(HEADER_BYTES, all_clusters, CLUSTER_BYTES)?;
        let chips = behind(sources, all_sources, SOURCE_BYTES)?;
        let rings = behind(chips, all_chips, 4)?;
        let jobs = behind(rings, all_rings, RING_BYTES)?;
        Some(Sections { sources, chips, rings, jobs, end: behind(jobs, all_jobs, JOBS_BYTES)? })
    }

    /// The place of an entry of a list, by position; entries have `each` bytes.
    fn entry(&self, list: fn(Sections) -> usize, position: u32, each: usize) -> usize {
        let first = self.sections().map_or(usize::MAX, list);
        first.saturating_add(index(position).saturating_mul(each))
    }
}

impl<'a> Image<'a> {
    /// The image that these bytes are. Compares each source with those before it, and looks each
    /// chip up in the clusters before its own. Fails if they are no image, or state what cannot be.
    pub fn read(bytes: &'a [u8]) -> Result<Image<'a>, ImageError> {
        let image = Image { bytes: Bytes(bytes) };
        image.validate()?;
        Ok(image)
    }

    /// Its checksum, by which it is known.
    pub fn identity(&self) -> u32 {
        self.bytes.u32(CHECKSUM.start)
    }

    /// The device that it is for.
    pub fn device(&self) -> ImageDevice {
        let of = self.bytes;
        ImageDevice {
            chips: of.u32(40),
            chips_per_channel: of.u32(44),
            blocks_per_chip: of.u32(48),
            pages_per_block: of.u32(52),
            page_bytes: of.u32(56),
            spare_blocks: of.u32(60),
            wear_gap: of.u32(64),
            page_read_ns: of.u64(68),
            page_program_ns: of.u64(76),
            block_erase_ns: of.u64(84),
            page_transfer_ns: of.u64(92),
            command_ns: of.u64(100),
            erase_suspend_ns: of.u64(108),
            erase_resume_ns: of.u64(116),
        }
    }

    /// How many clusters it has.
    pub fn clusters(&self) -> u32 {
        let [clusters, ..] = self.bytes.counts();
        clusters
    }

    /// A cluster, by position.
    pub fn cluster(&self, number: u32) -> Option<ImageCluster<'a>> {
        let at = HEADER_BYTES + index(number).checked_mul(CLUSTER_BYTES)?;
        (number < self.clusters()).then_some(ImageCluster { bytes: self.bytes, at })
    }

    /// How many sources of requests it has.
    pub fn sources(&self) -> u32 {
        let [_, sources, ..] = self.bytes.counts();
        sources
    }

    /// A source of requests, by position.
    pub fn source(&self, number: u32) -> Option<ImageSource> {
        if number >= self.sources() {
            return None;
        }
        let at = self.bytes.entry(|of| of.sources, number, SOURCE_BYTES);
        let [number, cluster, flags, pages, first_page, page_count] = self.bytes.words(at);
        let [period_ns, deadline_ns, jitter_ns] = self.bytes.longs(at.saturating_add(24));
        let order = ORDERS.get(index(flags >> 8)).filter(|_| flags & 0xFE == 0);
        let (writes, &order) = (flags & 1 == 1, order?);
        let of = ImageSource {
            number,
            cluster,
            writes,
            order,
            pages,
            first_page,
            page_count,
            period_ns,
            deadline_ns,
            jitter_ns,
        };
        Some(of)
    }

    /// How many streams of jobs it has, each in one cluster.
    pub fn job_streams(&self) -> u32 {
        let [.., jobs] = self.bytes.counts();
        jobs
    }

    /// A stream of jobs, by position.
    pub fn job_stream(&self, number: u32) -> Option<ImageJobs> {
        if number >= self.job_streams() {
            return None;
        }
        let at = self.bytes.entry(|of| of.jobs, number, JOBS_BYTES);
        let [number, cluster, pages, waiting, first_page, page_count] = self.bytes.words(at);
        Some(ImageJobs { number, cluster, pages, waiting, first_page, page_count })
    }
}

/// By their numbers in an image.
const ORDERS: [RequestOrder; 4] =
    [RequestOrder::Any, RequestOrder::Consecutive, RequestOrder::Stream, RequestOrder::Round];
