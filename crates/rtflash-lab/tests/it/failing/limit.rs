//! Sets at the limit of what is accepted, on devices whose blocks fail.

use rtflash_model::random::Stream;
use rtflash_model::{Access, Allocation, Cluster, Device, LogicalRatio, Placement, Reliance, Request, Task, TaskSet};
use rtflash_testkit::ns;

pub fn one_in(rng: &mut Stream, many: u64) -> bool {
    rng.within(1, many) == 1
}

/// Pages, their order, the period, which is brought down, and the deadline in hundredths of it.
type Drawn = (u64, Access, u64, u64);

/// A device, its clusters and tasks.
pub struct Limit {
    pub device: Device,
    pub clusters: Vec<Cluster>,
    pub placements: Vec<Placement>,
    /// For each task, its read and its write.
    requests: Vec<[Option<Drawn>; 2]>,
    pub relies: Reliance,
    without: Option<&'static str>,
}

impl Limit {
    /// Stripes and superblocks; or readers beside writers, one of each or two.
    pub fn new(rng: &mut Stream, beside: bool, without: Option<&'static str>) -> Option<Limit> {
        let mut spec = Device::profile("dgist-2021").expect("a profile").spec();
        let queue = !beside && one_in(rng, 4);
        spec.chips = if beside { rng.small(2, 3) } else { rng.small(1, 4) };
        spec.chips_per_channel = if !beside && one_in(rng, 4) { rng.small(1, 4) } else { spec.chips };
        (spec.blocks_per_chip, spec.pages_per_block) = (rng.small(10, 30), rng.small(2, 8));
        spec.logical_ratio = LogicalRatio::from_decimal(rng.within(30, 75).into(), 2).ok()?;
        let spare = rng.small(1, 5);
        let at_once = if queue { 0 } else { rng.small(0, 6).clamp(1, spare) };
        (spec.spare_blocks, spec.program_failures) = (Some(spare), Some(at_once));
        (spec.page_read, spec.page_program) = (ns(rng.within(1, 60)), ns(rng.within(5, 250)));
        (spec.block_erase, spec.page_transfer) = (ns(rng.within(5, 600)), ns(rng.within(5, 120)));
        spec.command = (!queue && one_in(rng, 4)).then(|| ns(rng.within(1, 20)));
        // Some erases are suspended, and some wear is levelled.
        let suspends = spec.command.is_none() && spec.blocks_per_chip.is_multiple_of(3);
        spec.erase_suspend = suspends.then(|| ns(spec.block_erase.as_ns() / 5).max(ns(1)));
        spec.wear_gap = spec.blocks_per_chip.is_multiple_of(4).then_some(1);
        spec.wear_passes = spec.wear_gap.filter(|_| spec.blocks_per_chip.is_multiple_of(8)).map(|_| 3);
        let device = Device::new(spec).ok()?;
        let (mut clusters, mut placements, mut requests, mut next) = (Vec::new(), Vec::new(), Vec::new(), 0);
        while next < device.chips() {
            let size = if beside { 1 } else { rng.small(1, device.chips() - next) };
            let first = u32::try_from(requests.len()).ok()?;
            for _ in 0..if beside { 1 } else { rng.within(1, 3) } {
                let kinds = if beside { u64::from(next == 0) } else { 2 + rng.within(0, 2) };
                let mut request = |writes: bool| {
                    let access = Access::ALL[usize::try_from(rng.within(0, Access::ALL.len() as u64 - 1)).ok()?];
                    let many = if beside { !writes } else { one_in(rng, 3) };
                    let pages = if many { rng.within(4, 14) } else { rng.within(1, 4) };
                    let deadline = if one_in(rng, 3) { rng.within(40, 100) } else { 100 };
                    Some((pages, access, pages * rng.within(300, 5_000), deadline))
                };
                let (read, write) = (request(false), request(true));
                requests.push([read.filter(|_| kinds != 0 && kinds != 2), write.filter(|_| kinds != 1 && kinds != 3)]);
            }
            clusters.push(Cluster::of(next..next + size, first..u32::try_from(requests.len()).ok()?));
            let superblock = !beside && one_in(rng, 3);
            placements.push(if superblock { Placement::Superblock } else { Placement::Stripe });
            next += size;
        }
        let relies = if queue { Reliance::Queue } else { Reliance::Neighbours };
        Some(Limit { device, clusters, placements, requests, relies, without })
    }

    /// The allocation, if it is accepted: without servers, and with no more in reserve than it
    /// takes.
    fn accepted(&self) -> Option<(TaskSet, Allocation)> {
        let request = |(pages, access, period, deadline): Drawn| {
            let request = Request::new(pages, ns(period))?.with_access(access);
            request.with_deadline(Some(ns((period * deadline / 100).max(1))))
        };
        let tasks = self.requests.iter().enumerate().map(|(number, of)| {
            let [read, write] = of.map(|drawn| drawn.and_then(request));
            Task { name: format!("t{number}"), read, write, data_pages: None }
        });
        let set = TaskSet::new(self.device, tasks.collect(), vec![]).ok()?;
        let mut certificates = rtflash_lab::certify(self.without, &set, &self.clusters, &self.placements, self.relies)?;
        for (certificate, cluster) in certificates.iter_mut().zip(&self.clusters) {
            let Some(certificate) = certificate else { continue };
            certificate.backfill = false;
            if std::mem::take(&mut certificate.server_thousandths) > 0 {
                let width = if certificate.placement == Placement::Superblock { u64::from(cluster.size()) } else { 1 };
                let drawn = u64::from(self.device.pages_per_block()) * width + width - 1;
                certificate.collection.as_mut()?.reserve_pages -= drawn;
            }
        }
        let allocation = Allocation::new(self.device.chips(), set.tasks().len(), &self.clusters).ok()?;
        Some((set, allocation.with_certificates(certificates)))
    }

    /// Brings all periods down, then each by itself, as far as the set is accepted.
    pub fn reached(&mut self) -> Option<(TaskSet, Allocation)> {
        let mut found = (0..6).find_map(|_| {
            let found = self.accepted();
            if found.is_none() {
                self.requests.iter_mut().flatten().flatten().for_each(|drawn| drawn.2 *= 3);
            }
            found
        })?;
        let all: Vec<usize> = (0..2 * self.requests.len()).collect();
        for group in std::iter::once(&all[..]).chain(all.chunks(1)) {
            for step in [2, 2, 4, 4, 8, 16, 64, 64, 256, 1_024] {
                let before = self.requests.clone();
                for &number in group {
                    let Some(drawn) = &mut self.requests[number / 2][number % 2] else { continue };
                    drawn.2 = (drawn.2 - (drawn.2 / step).max(1)).max(1);
                }
                match self.accepted() {
                    Some(better) => found = better,
                    None => self.requests = before,
                }
            }
        }
        Some(found)
    }
}
