//! A plan as firmware loads it.

use std::fmt;

use rtflash_ftl::RequestOrder;
use rtflash_ftl::image::{
    ClusterParts, Image, ImageCollection, ImageDevice, ImageError, ImageJobs, ImageOrganisation, ImageParts, ImageRing,
    ImageServer, ImageSource,
};
use rtflash_model::{Access, Device, Placement, Span};

use super::{Certified, ClusterPlan, Plan, Promise, Source};
use crate::ids::{ClusterId, PerId, SourceId};
use crate::jobs::Kind;

/// Why a plan is nothing for firmware.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoImage {
    /// Its clusters have no certificates.
    NoCertificates,
    /// This cluster changes its garbage collection while it runs.
    Changes(ClusterId),
    /// Pages of a request, or a period, of this source are more than an image counts.
    TooLarge(SourceId),
    /// What is written is not what can be read.
    Unsound(ImageError),
}

impl fmt::Display for NoImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoImage::NoCertificates => {
                f.write_str("the allocation has no certificates: only certified analyses say what firmware has to do")
            }
            NoImage::Changes(cluster) => {
                write!(f, "cluster {cluster} changes its garbage collection while it runs, which firmware does not")
            }
            NoImage::TooLarge(source) => write!(f, "request source {source} is larger than an image can say"),
            NoImage::Unsound(error) => write!(f, "the image would not be loaded: {error}"),
        }
    }
}

impl std::error::Error for NoImage {}

/// A cluster's lists, which an image is made from.
struct ClusterLists {
    organisation: ImageOrganisation,
    suspends_erases: bool,
    backfills: bool,
    cached: bool,
    chips: Vec<u32>,
    logical_per_chip: u32,
    collection: Option<ImageCollection>,
    server: Option<ImageServer>,
    rings: Vec<ImageRing>,
}

/// Jobs of a stream that may wait in a cluster, and pages that one of them may have: larger ones
/// are several.
const WAITING_JOBS: u32 = 8;
const MOST_JOB_PAGES: u64 = 1_024;

impl ClusterLists {
    fn of(
        device: &Device,
        number: ClusterId,
        of: &ClusterPlan,
        by: &Certified,
        backfill: bool,
    ) -> Result<ClusterLists, NoImage> {
        let organisation = match by.certificate.placement {
            Placement::Stripe | Placement::CachedStripe => ImageOrganisation::Stripe,
            Placement::Zoned => ImageOrganisation::Zoned,
            Placement::Superblock | Placement::CachedSuperblock => ImageOrganisation::Superblock,
        };
        if !by.changes.is_empty() {
            return Err(NoImage::Changes(number));
        }
        let collection = by.collection(of, device);
        let rings = by.rings.iter().map(|ring| ImageRing {
            first_block: ring.blocks.start.0,
            blocks: ring.zones(),
            first_page: ring.pages.start.0,
            page_count: ring.pages.end.0 - ring.pages.start.0,
            writes: ring.writes,
        });
        Ok(ClusterLists {
            organisation,
            suspends_erases: by.certificate.suspends_erases(device),
            backfills: backfill && by.may_backfill() && organisation == ImageOrganisation::Superblock,
            cached: by.is_cached(),
            chips: of.chips.iter().map(|chip| chip.0).collect(),
            logical_per_chip: of.layout.logical_per_chip(),
            collection,
            server: server(device, of, by),
            rings: rings.collect(),
        })
    }

    fn parts(&self) -> ClusterParts<'_> {
        ClusterParts {
            organisation: self.organisation,
            suspends_erases: self.suspends_erases,
            backfills: self.backfills,
            cached: self.cached,
            chips: &self.chips,
            logical_per_chip: self.logical_per_chip,
            collection: self.collection,
            server: self.server,
            rings: &self.rings,
        }
    }
}

impl Plan {
    /// The binary image of the plan, as `rtflash_ftl` reads it: the device, the certificates, and
    /// all requests of tasks; and where a certificate has a server, the streams of jobs, of which a
    /// few may wait in each cluster. `backfill`: chips that a step leaves idle are made use of
    /// where certificates allow that (rule D3). What they promise to tasks is no less without.
    ///
    /// # Errors
    /// Where the plan asks for what firmware does not do: see [`NoImage`].
    pub fn image(&self, backfill: bool) -> Result<Vec<u8>, NoImage> {
        let Promise::Certified(certified) = &self.promise else { return Err(NoImage::NoCertificates) };
        let clusters = self.clusters.enumerate().zip(certified);
        let lists: Vec<ClusterLists> = clusters
            .map(|((number, of), by)| ClusterLists::of(&self.device, number, of, by, backfill))
            .collect::<Result<_, _>>()?;
        let mut sources = Vec::new();
        for (number, of) in self.sources.enumerate() {
            if matches!(of.kind, Kind::Read | Kind::Write) {
                sources.push(self.image_source(number, of, certified).ok_or(NoImage::TooLarge(number))?);
            }
        }
        let parts: Vec<ClusterParts<'_>> = lists.iter().map(ClusterLists::parts).collect();
        let jobs = self.image_jobs(certified, &lists);
        let parts = ImageParts { device: self.image_device(), clusters: &parts, sources: &sources, jobs: &jobs };
        let mut bytes = vec![0; parts.encoded_len().ok_or(NoImage::Unsound(ImageError::Length))?];
        parts.encode(&mut bytes).ok_or(NoImage::Unsound(ImageError::Length))?;
        Image::read(&bytes).map_err(NoImage::Unsound)?;
        Ok(bytes)
    }

    /// Each stream of jobs in each cluster with a server.
    fn image_jobs(&self, certified: &PerId<ClusterId, Certified>, lists: &[ClusterLists]) -> Vec<ImageJobs> {
        let mut all = Vec::new();
        for (number, of) in self.sources.enumerate() {
            let Some(stream) = of.stream() else { continue };
            let pages = of.read_pages.saturating_add(of.write_pages).min(MOST_JOB_PAGES);
            let pages = u32::try_from(pages).expect("no more than that");
            for (cluster, _) in self.clusters.enumerate().zip(lists).filter(|(_, list)| list.server.is_some()) {
                let range = &certified[cluster.0].ranges[cluster.1.tasks.len() + stream];
                all.push(ImageJobs {
                    number: number.0,
                    cluster: cluster.0.0,
                    pages,
                    waiting: WAITING_JOBS,
                    first_page: range.start.0,
                    page_count: range.end.0 - range.start.0,
                });
            }
        }
        all
    }

    fn image_device(&self) -> ImageDevice {
        let of = &self.device;
        ImageDevice {
            chips: of.chips(),
            chips_per_channel: of.chips_per_channel(),
            blocks_per_chip: of.blocks_per_chip(),
            pages_per_block: of.pages_per_block(),
            page_bytes: of.page_size(),
            spare_blocks: of.spare_blocks(),
            wear_gap: of.wear_gap().unwrap_or(0),
            page_read_ns: of.page_read().as_ns(),
            page_program_ns: of.page_program().as_ns(),
            block_erase_ns: of.block_erase().as_ns(),
            page_transfer_ns: of.page_transfer().as_ns(),
            command_ns: of.command().as_ns(),
            erase_suspend_ns: of.erase_suspend().map_or(0, Span::as_ns),
            erase_resume_ns: of.erase_resume().as_ns(),
        }
    }

    fn image_source(
        &self,
        number: SourceId,
        of: &Source,
        certified: &PerId<ClusterId, Certified>,
    ) -> Option<ImageSource> {
        let (cluster, range) = (of.cluster?, self.range(of));
        let period = of.period()?.of_request();
        let order = match (certified[cluster].is_stripe(), of.access) {
            // All pages of a superblock are alike.
            (false, _) | (true, Access::Random) => RequestOrder::Any,
            (true, Access::Sequential) => RequestOrder::Consecutive,
            (true, Access::Stream) => RequestOrder::Stream,
        };
        let writes = of.kind == Kind::Write;
        Some(ImageSource {
            number: number.0,
            cluster: cluster.0,
            writes,
            order: if writes && certified[cluster].is_zoned() { RequestOrder::Round } else { order },
            pages: u32::try_from(of.read_pages + of.write_pages).ok()?,
            first_page: range.start.0,
            page_count: range.end.0 - range.start.0,
            period_ns: period.as_ns(),
            deadline_ns: of.deadline?.as_ns(),
            jitter_ns: of.jitter.as_ns(),
        })
    }
}

/// The server of each processor of a cluster, with what it counts.
fn server(device: &Device, of: &ClusterPlan, by: &Certified) -> Option<ImageServer> {
    by.certificate.collection.filter(|_| by.certificate.server_thousandths > 0)?;
    let [read_ns, program_ns, turn_ns] = by.served_costs(device, of)?.map(Span::as_ns);
    let (thousandths, pass_ns) = (by.certificate.server_thousandths, by.pass?.as_ns());
    Some(ImageServer { thousandths, read_ns, program_ns, pass_ns, turn_ns })
}
