//! The parts of a plan that follow from certificates.

use rtflash_ftl::image::ImageCollection;
use rtflash_model::{Certificate, Cluster, Collection, Device, Span, TaskSet};

use super::copies::{PageOwners, SharedPages};
use super::layout::Layout;
use super::ranges::{declared, ranges};
use super::steps::{StepSpans, behind_a_page, longest_wait, pass_cost};
use super::zones::rings;
use super::{Certified, ClusterPlan, Owner, Plan, PlanError, Promise, Releases, Source};
use crate::ids::Lpn;
use crate::jobs::Kind;

/// Why a run by this certificate is impossible, where its tasks write or not.
fn missing(certificate: &Certificate, writes: bool) -> Option<&'static str> {
    let server = certificate.server_thousandths;
    match certificate.collection {
        None if writes => Some("has no garbage collection, and tasks write"),
        None if server > 0 => Some("has a server and no garbage collection"),
        Some(Collection { deadline: None, .. }) if writes => Some("has no deadline of garbage collection"),
        Some(Collection { reclaimed_pages: 0, .. }) => Some("has passes that reclaim nothing"),
        _ if server > 1_000 => Some("has a server of more than the whole"),
        _ => None,
    }
}

pub(super) fn cluster(
    set: &TaskSet,
    cluster: Cluster,
    certificate: Certificate,
    position: usize,
    shared: &[SharedPages],
) -> Result<(ClusterPlan, Certified), PlanError> {
    let device = set.device();
    if !shared.is_empty() && certificate.server_thousandths > 0 && !set.jobs().is_empty() {
        return Err(PlanError::OtherAllocation);
    }
    if !certificate.placement.is_possible_on(device) {
        let missing = "uses a second page register, and the device has one";
        return Err(PlanError::Certificate { cluster: position, fault: missing });
    }
    if certificate.placement.is_zoned() {
        return of_zones(set, cluster, certificate, position, shared);
    }
    let tasks = cluster.tasks.iter().map(|&task| &set.tasks()[task]);
    let writes = tasks.clone().any(|task| task.write.is_some());
    let fault = |fault| PlanError::Certificate { cluster: position, fault };
    missing(&certificate, writes).map_or(Ok(()), |missing| Err(fault(missing)))?;
    let room = PlanError::NoRoom { cluster: position };
    let reserve = certificate.collection.map(|collection| collection.reserve_pages);
    let by_chip = certificate.placement.is_by_chip();
    let Some(layout) = Layout::certified(device, cluster.size(), reserve, by_chip) else {
        return Err(room);
    };
    let (wide, row) = if by_chip { (1, cluster.size()) } else { (cluster.size(), 1) };
    let spare = u64::from(layout.pages_per_chip() - layout.logical_per_chip()) * u64::from(wide);
    let owners = PageOwners::new(&cluster, shared);
    let own: Vec<Option<u64>> = owners.owning.tasks.iter().map(|&task| set.tasks()[task].data_pages).collect();
    let all = layout.logical_pages();
    let streams = set.jobs().len();
    let with_jobs = [own.as_slice(), &vec![None; streams]].concat();
    // If the tasks leave no pages to the jobs, these read and write the tasks'.
    let shared = || {
        let mut found = ranges(all.into(), row, &own)?;
        found.extend(std::iter::repeat_n(Lpn(0)..Lpn(all), streams));
        Some(found)
    };
    // Data that do not fit are reported by the checkers. Then everybody has an equal share.
    let equal = || ranges(all.into(), row, &vec![None; with_jobs.len()]);
    let data = declared(set, &owners.owning, Some(certificate.placement));
    let found = ranges(all.into(), row, &with_jobs).or_else(shared).or_else(equal);
    let Some(ranges) = found.filter(|_| reserve.is_none_or(|reserve| reserve <= spare)) else { return Err(room) };
    let ranges = owners.pages_of_all(&ranges)?;
    let page_delay = longest_wait(device, &cluster.chips);
    let plan = ClusterPlan { page_delay, chips: cluster.chips, tasks: cluster.tasks, layout, data };
    let pass = certificate.collection.map(|collection| {
        let cost = pass_cost(device, &plan, certificate.placement, collection.victim_pages);
        cost.ok_or(fault("has passes that take 2^63 ns or longer"))
    });
    Ok((plan, Certified { certificate, pass: pass.transpose()?, ranges, changes: Vec::new(), rings: Vec::new() }))
}

/// Nothing is collected in zones, whatever the certificate states.
fn of_zones(
    set: &TaskSet,
    cluster: Cluster,
    certificate: Certificate,
    position: usize,
    shared: &[SharedPages],
) -> Result<(ClusterPlan, Certified), PlanError> {
    let device = set.device();
    let owners = PageOwners::new(&cluster, shared);
    if owners.others_write(set) {
        return Err(PlanError::OtherAllocation);
    }
    if certificate.server_thousandths > 0 {
        return Err(PlanError::Certificate { cluster: position, fault: "has zones and a server" });
    }
    let Some(layout) = Layout::zoned(device, cluster.size()) else {
        return Err(PlanError::NoRoom { cluster: position });
    };
    let owned = rings(set, &owners.owning, &layout, position)?;
    let data = declared(set, &owners.owning, Some(certificate.placement));
    // Jobs that are not real-time are served elsewhere.
    let nothing = std::iter::repeat_n(Lpn(0)..Lpn(layout.logical_pages()), set.jobs().len());
    let ranges: Vec<_> = owned.iter().map(|ring| ring.pages.clone()).chain(nothing).collect();
    let (ranges, rings) = (owners.pages_of_all(&ranges)?, owners.rings_of_all(owned));
    let page_delay = longest_wait(device, &cluster.chips);
    let plan = ClusterPlan { page_delay, chips: cluster.chips, tasks: cluster.tasks, layout, data };
    let certificate = Certificate { collection: None, ..certificate };
    Ok((plan, Certified { certificate, pass: None, ranges, changes: Vec::new(), rings }))
}

impl Certified {
    /// Whether its pages are placed in a static stripe: every chip is then a processor of its own.
    pub fn is_stripe(&self) -> bool {
        self.certificate.placement.is_by_chip()
    }

    /// Whether its tasks own zones, which their writes reset.
    pub fn is_zoned(&self) -> bool {
        self.certificate.placement.is_zoned()
    }

    /// PP − v − α: reserve for wear, where GC jobs are left for it (docs/analysis.md, Section 19).
    pub fn pages_for_wear(&self, cluster: &ClusterPlan, device: &Device) -> u64 {
        let chips = if self.is_stripe() { 1 } else { u64::from(cluster.layout.chips()) };
        let pages = chips * u64::from(device.pages_per_block());
        let left = |of: Collection| pages.saturating_sub(of.victim_pages.saturating_add(of.reclaimed_pages));
        self.certificate.collection.filter(|_| device.wear_passes().is_some()).map_or(0, left)
    }

    /// The numbers of its garbage collection, as a processor of `rtflash-ftl` has them.
    pub fn collection(&self, cluster: &ClusterPlan, device: &Device) -> Option<ImageCollection> {
        self.certificate.collection.map(|of| ImageCollection {
            deadline_ns: of.deadline.map(Span::as_ns),
            reclaimed_pages: of.reclaimed_pages,
            reserve_pages: of.reserve_pages,
            victim_pages: of.victim_pages,
            wear_pages: self.pages_for_wear(cluster, device),
        })
    }

    /// Whether its chips use a second page register.
    pub fn is_cached(&self) -> bool {
        self.certificate.placement.is_cached()
    }

    /// Whether rule D3 fills in pages. A cached superblock has one row in its registers at a time.
    pub fn may_backfill(&self) -> bool {
        self.certificate.backfill && !self.is_cached()
    }

    /// c_r, c_w and 2 b, with a second page register by Eq. (65); `None` if one is too long.
    pub fn served_costs(&self, device: &Device, of: &ClusterPlan) -> Option<[Span; 3]> {
        if self.is_cached() {
            let b = of.page_delay.checked_add(device.bus_hold())?;
            return Some([behind_a_page(device, of.page_delay)?, device.page_program().max(b), b.checked_mul(2)?]);
        }
        let costs = StepSpans::new(device, of.page_delay)?;
        Some([costs.read, costs.program, Span::ZERO])
    }

    /// Chips of a processor, in a cluster of `chips`: one in a stripe, all in a superblock.
    pub fn width(&self, chips: u32) -> u32 {
        if self.is_stripe() { 1 } else { chips }
    }
}

impl Plan {
    pub(super) fn add_processors(&mut self) {
        let Promise::Certified(certified) = &self.promise else { return };
        for ((position, cluster), of) in self.clusters.enumerate().zip(certified) {
            let Some(bound) = of.pass else { continue };
            let processors =
                if of.is_stripe() { cluster.chips.iter().copied().map(Some).collect() } else { vec![None] };
            self.sources.extend(processors.into_iter().map(|chip| {
                let name = chip.map_or_else(|| format!("cluster{position}.gc"), |chip| format!("chip{chip}.gc"));
                let source = Source::plain(name, Kind::Gc, Owner::Cluster(position), Releases::Collected { chip });
                Source { cluster: Some(position), bound: Some(bound), ..source }
            }));
        }
    }
}
