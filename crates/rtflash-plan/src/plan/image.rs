//! A plan as firmware loads it.

use rtflash_ftl::RequestOrder;
use rtflash_ftl::image::{
    ClusterParts, Image, ImageDevice, ImageError, ImageJobs, ImageOrganisation, ImageParts, ImageRing, ImageServer,
    ImageSource,
};
use rtflash_model::{Access, Device, Placement, Span};

use super::{Certified, ClusterPlan, Plan, Promise, Source};
use crate::ids::{ClusterId, PerId, SourceId};
use crate::jobs::Kind;

/// Why a plan is nothing for firmware.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoImage {
    /// Its clusters have no certificates.
    #[error("the allocation has no certificates: only certified analyses say what firmware has to do")]
    NoCertificates,
    /// This cluster changes its garbage collection while it runs.
    #[error("cluster {0} changes its garbage collection while it runs, which firmware does not")]
    Changes(ClusterId),
    /// Pages of a request, or a period, of this source are more than an image counts.
    #[error("request source {0} is larger than an image can say")]
    TooLarge(SourceId),
    /// The written image cannot be read.
    #[error("the image would not be loaded: {0}")]
    Unsound(ImageError),
}

/// The lists that a cluster of an image borrows.
struct ClusterLists {
    chips: Vec<u32>,
    rings: Vec<ImageRing>,
}

/// The most jobs of a stream that wait in a cluster, and their most pages: larger ones are several.
const WAITING_JOBS: u32 = 8;
const MOST_JOB_PAGES: u64 = 1_024;

impl ClusterLists {
    fn of(of: &ClusterPlan, by: &Certified) -> ClusterLists {
        let rings = by.rings.iter().map(|ring| ImageRing {
            first_block: ring.blocks.start.0,
            blocks: ring.zones(),
            first_page: ring.pages.start.0,
            page_count: ring.pages.end.0 - ring.pages.start.0,
            writes: ring.writes,
        });
        ClusterLists { chips: of.chips.iter().map(|chip| chip.0).collect(), rings: rings.collect() }
    }

    fn parts(&self, device: &Device, of: &ClusterPlan, by: &Certified, backfill: bool) -> ClusterParts<'_> {
        let organisation = match by.certificate.placement {
            Placement::Stripe | Placement::CachedStripe => ImageOrganisation::Stripe,
            Placement::Zoned => ImageOrganisation::Zoned,
            Placement::Superblock | Placement::CachedSuperblock => ImageOrganisation::Superblock,
        };
        ClusterParts {
            organisation,
            suspends_erases: by.certificate.suspends_erases(device),
            backfills: backfill && by.may_backfill() && organisation == ImageOrganisation::Superblock,
            cached: by.is_cached(),
            chips: &self.chips,
            logical_per_chip: of.layout.logical_per_chip(),
            collection: by.collection(of, device),
            server: server(device, of, by),
            rings: &self.rings,
        }
    }
}

impl Plan {
    /// The image that `rtflash_ftl` reads, or what firmware does not do: device, certificates,
    /// requests, and job streams if a certificate has a server. `backfill` uses idle chips of a
    /// step where certificates allow it (rule D3), which no guarantee needs.
    pub fn image(&self, backfill: bool) -> Result<Vec<u8>, NoImage> {
        let Promise::Certified(certified) = &self.promise else { return Err(NoImage::NoCertificates) };
        if let Some((changing, _)) = certified.enumerate().find(|(_, by)| !by.changes.is_empty()) {
            return Err(NoImage::Changes(changing));
        }
        let clusters = || self.clusters.iter().zip(certified);
        let lists: Vec<ClusterLists> = clusters().map(|(of, by)| ClusterLists::of(of, by)).collect();
        let parts = lists.iter().zip(clusters());
        let parts: Vec<_> = parts.map(|(lists, (of, by))| lists.parts(&self.device, of, by, backfill)).collect();
        let mut sources = Vec::new();
        for (number, of) in self.sources.enumerate() {
            if matches!(of.kind, Kind::Read | Kind::Write) {
                sources.push(self.image_source(number, of, certified).ok_or(NoImage::TooLarge(number))?);
            }
        }
        let jobs = self.image_jobs(certified, &parts);
        let parts = ImageParts { device: self.image_device(), clusters: &parts, sources: &sources, jobs: &jobs };
        let mut bytes = vec![0; parts.encoded_len().ok_or(NoImage::Unsound(ImageError::Length))?];
        parts.encode(&mut bytes).ok_or(NoImage::Unsound(ImageError::Length))?;
        Image::read(&bytes).map_err(NoImage::Unsound)?;
        Ok(bytes)
    }

    fn image_jobs(&self, certified: &PerId<ClusterId, Certified>, parts: &[ClusterParts<'_>]) -> Vec<ImageJobs> {
        let mut all = Vec::new();
        for (number, of) in self.sources.enumerate() {
            let Some(stream) = of.stream() else { continue };
            let pages = of.read_pages.saturating_add(of.write_pages).min(MOST_JOB_PAGES);
            let pages = u32::try_from(pages).expect("no more than that");
            let served = self.clusters.enumerate().zip(parts).filter(|(_, parts)| parts.server.is_some());
            for ((cluster, planned), _) in served {
                let range = &certified[cluster].ranges[planned.tasks.len() + stream];
                all.push(ImageJobs {
                    number: number.0,
                    cluster: cluster.0,
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
            wear_gap: of.wear_gap().map_or(0, |gap| gap),
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

pub(crate) fn server(device: &Device, of: &ClusterPlan, by: &Certified) -> Option<ImageServer> {
    by.certificate.collection.filter(|_| by.certificate.server_thousandths > 0)?;
    let [read_ns, program_ns, turn_ns] = by.served_costs(device, of)?.map(Span::as_ns);
    let (thousandths, pass_ns) = (by.certificate.server_thousandths, by.pass?.as_ns());
    Some(ImageServer { thousandths, read_ns, program_ns, pass_ns, turn_ns })
}
