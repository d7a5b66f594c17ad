//! The parts of a plan that follow from certificates.

use rtflash_model::{Certificate, Cluster, Collection, Device, Placement, Span, TaskSet};

use super::build::{chips_of, declared};
use super::layout::Layout;
use super::ranges::ranges;
use super::{ClusterPlan, Plan, PlanError, Releases, Source};
use crate::ids::Lpn;
use crate::trace::Kind;

/// A cluster that is run by a certificate.
pub(super) fn cluster(
    set: &TaskSet,
    cluster: Cluster,
    certificate: Certificate,
    position: usize,
) -> Result<ClusterPlan, PlanError> {
    let device = set.device();
    let tasks = cluster.tasks.iter().filter_map(|&task| set.tasks().get(task));
    let writes = tasks.clone().any(|task| task.write.is_some());
    let fault = |fault| PlanError::Certificate { cluster: position, fault };
    match certificate.collection {
        None if writes => return Err(fault("has no garbage collection, and tasks write")),
        None if certificate.server_thousandths > 0 => return Err(fault("has a server and no garbage collection")),
        Some(Collection { deadline: None, .. }) if writes => {
            return Err(fault("has no deadline of garbage collection"));
        }
        Some(Collection { reclaimed_pages: 0, .. }) => return Err(fault("has passes that reclaim nothing")),
        _ if certificate.server_thousandths > 1_000 => return Err(fault("has a server of more than the whole")),
        _ => {}
    }
    let room = PlanError::NoRoom { cluster: position };
    let reserve = certificate.collection.map_or(0, |collection| collection.reserve_pages);
    let Some(layout) = Layout::certified(device, cluster.size(), reserve) else { return Err(room) };
    let (wide, row) = match certificate.placement {
        Placement::Stripe => (1, cluster.size()),
        Placement::Superblock => (u64::from(cluster.size()), 1),
    };
    let spare = u64::from(layout.pages_per_chip() - layout.logical_per_chip()) * wide;
    let own: Vec<Option<u64>> = tasks.map(|task| task.data_pages).collect();
    let all = layout.logical_pages();
    let streams = set.jobs().len();
    let with_jobs = [own.as_slice(), &vec![None; streams]].concat();
    // Where the tasks leave no pages to the jobs, these read and write the tasks'.
    let shared = || {
        let mut found = ranges(all.into(), row, &own)?;
        found.extend(std::iter::repeat_n(Lpn(0)..Lpn(all), streams));
        Some(found)
    };
    // Data that do not fit are told of, and then everybody has an equal share.
    let equal = || ranges(all.into(), row, &vec![None; with_jobs.len()]);
    let data = declared(set, &cluster, Some(certificate.placement));
    match ranges(all.into(), row, &with_jobs).or_else(shared).or_else(equal) {
        Some(ranges) if reserve <= spare => Ok(ClusterPlan {
            page_delay: longest_wait(device, &cluster.chips),
            chips: chips_of(&cluster),
            tasks: cluster.tasks,
            layout,
            certificate: Some(certificate),
            ranges,
            data,
        }),
        _ => Err(room),
    }
}

/// (m_c − 1)·t_d: a page waits for one transfer of each other chip that there is on its channel.
/// m_c is that of the fullest of the cluster's channels.
fn longest_wait(device: &Device, chips: &[u32]) -> Span {
    let ways = chips.iter().map(|&chip| device.chips_on(device.channel_of(chip))).max();
    let others = ways.unwrap_or(1).saturating_sub(1);
    device.page_transfer().checked_mul(others.into()).unwrap_or_default()
}

impl ClusterPlan {
    /// Under a certificate, what a pass of a unit takes at most, C_g: v(t_r + t_w) + t_e on a chip
    /// of a stripe, min(v, P)·c_r + ⌈v/s⌉·c_w + t_e on a superblock.
    pub fn pass_cost(&self, device: &Device) -> Option<Span> {
        let certificate = self.certificate?;
        let valid = certificate.collection?.victim_pages;
        let (read, program) = (device.page_read(), device.page_program());
        let copies = match certificate.placement {
            Placement::Stripe => read.checked_add(program)?.checked_mul(valid)?,
            Placement::Superblock => {
                let bus = self.page_delay.checked_add(device.page_transfer())?;
                let reads = read.checked_add(bus)?.checked_mul(valid.min(self.layout.pages().into()))?;
                let rows = program.checked_add(bus)?.checked_mul(valid.div_ceil(self.layout.chips().into()))?;
                reads.checked_add(rows)?
            }
        };
        copies.checked_add(device.block_erase())
    }

    /// Whether its pages are placed in a static stripe: every chip is then a unit of its own.
    pub fn is_stripe(&self) -> bool {
        self.certificate.is_some_and(|certificate| certificate.placement == Placement::Stripe)
    }
}

impl Plan {
    /// A source of GC jobs for each unit that has garbage collection.
    pub(super) fn add_units(&mut self) {
        for (position, cluster) in self.clusters.enumerate() {
            let Some(bound) = cluster.pass_cost(&self.device) else { continue };
            let units =
                if cluster.is_stripe() { cluster.chips.iter().map(|&chip| Some(chip)).collect() } else { vec![None] };
            self.sources.extend(units.into_iter().map(|chip| Source {
                name: chip.map_or_else(|| format!("cluster{position}.gc"), |chip| format!("chip{chip}.gc")),
                kind: Kind::Gc,
                owner: position.index(),
                cluster: Some(position),
                read_pages: 0,
                write_pages: 0,
                releases: Releases::Collected { chip },
                deadline: None,
                jitter: Span::ZERO,
                access: rtflash_model::Access::Random,
                bound: Some(bound),
            }));
        }
    }
}
