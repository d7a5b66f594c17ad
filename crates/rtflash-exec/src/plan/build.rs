//! A plan of an allocation, and what cannot be run.

use rtflash_model::{Access, Allocation, ChipId, Cluster, ClusterId, Id, PerId, Placement, Span, TaskSet};

use super::layout::Layout;
use super::{
    ClusterPlan, ClusterTerms, Data, MAX_PAGES, MAX_REQUEST_PAGES, Period, Plan, PlanError, Releases, Source, Timing,
};
use crate::trace::Kind;

/// Parts of clusters for job streams.
const MAX_PARTS: usize = 1 << 22;

/// What the tasks of a cluster declare to keep on it, placed like this.
pub(super) fn declared(set: &TaskSet, cluster: &Cluster, placement: Option<Placement>) -> Option<Data> {
    let space = set.space(&cluster.tasks, cluster.size(), placement);
    // More than 64 bits hold do not fit.
    let pages = |pages: u128| u64::try_from(pages).unwrap_or(u64::MAX);
    space.declared.then(|| Data { pages: pages(space.needed_pages), room: pages(space.logical_pages) })
}

/// Whether the clusters have certificates, all of them; what cannot be run of the whole.
fn certified(set: &TaskSet, allocation: &Allocation, terms: &[ClusterTerms]) -> Result<bool, PlanError> {
    let device = set.device();
    let pages = u64::from(device.chips())
        .saturating_mul(device.blocks_per_chip().into())
        .saturating_mul(device.pages_per_block().into());
    if pages > MAX_PAGES {
        return Err(PlanError::TooManyPages(pages));
    }
    let allocated = allocation.clusters();
    let of_device = |cluster: &Cluster| cluster.chips.iter().all(|&chip| chip < device.chips());
    let of_set = |cluster: &Cluster| cluster.tasks.iter().all(|&task| task < set.tasks().len());
    if allocated.len() != terms.len() || !allocated.iter().all(|cluster| of_device(cluster) && of_set(cluster)) {
        return Err(PlanError::OtherAllocation);
    }
    if allocated.len().saturating_mul(set.jobs().len()) > MAX_PARTS {
        return Err(PlanError::TooManyParts { clusters: allocated.len(), streams: set.jobs().len() });
    }
    let certified = terms.iter().filter(|terms| terms.certificate.is_some()).count();
    if certified > 0 && certified < terms.len() {
        return Err(PlanError::MixedCertificates);
    }
    if let Some(task) = set.tasks().iter().find(|task| certified == 0 && !task.is_implicit()) {
        return Err(PlanError::NotImplicit { task: task.name.clone() });
    }
    Ok(certified > 0)
}

/// The chips of a cluster.
pub(super) fn chips_of(cluster: &Cluster) -> Vec<ChipId> {
    cluster.chips.iter().copied().map(ChipId).collect()
}

/// A cluster of the plan, at this position.
fn cluster_of(
    set: &TaskSet,
    cluster: Cluster,
    terms: &ClusterTerms,
    position: usize,
) -> Result<ClusterPlan, PlanError> {
    if cluster.tasks.len() != terms.gc_periods.len() {
        return Err(PlanError::OtherAllocation);
    }
    if let Some(certificate) = terms.certificate {
        return super::certified::cluster(set, cluster, certificate, position);
    }
    let writes = cluster.tasks.iter().filter_map(|&task| Some(set.tasks().get(task)?.write?.pages()));
    let owners = cluster.tasks.len() + set.jobs().len();
    let layout = Layout::new(set.device(), cluster.size(), writes, owners)
        .map_err(|missing| PlanError::TooFewBlocks { cluster: position, missing })?;
    let data = declared(set, &cluster, None);
    let (chips, tasks) = (chips_of(&cluster), cluster.tasks);
    Ok(ClusterPlan { chips, tasks, page_delay: terms.page_delay, layout, certificate: None, ranges: vec![], data })
}

impl Plan {
    /// The plan of an allocation, with what an analysis says of each cluster. With certificates
    /// operations take the device's own times, whatever `timing` says.
    ///
    /// # Errors
    /// What cannot be run.
    pub fn new(
        set: &TaskSet,
        allocation: &Allocation,
        timing: Timing,
        terms: &[ClusterTerms],
    ) -> Result<Plan, PlanError> {
        let certified = certified(set, allocation, terms)?;
        let device = set.device();
        let timing = if certified { Timing::of_device(device) } else { timing };
        let mut clusters = PerId::default();
        for (position, (cluster, terms)) in allocation.clusters().into_iter().zip(terms).enumerate() {
            clusters.push(cluster_of(set, cluster, terms, position)?);
        }
        let mut plan = Plan { device: *device, timing, sources: PerId::default(), clusters, jobs: set.jobs().to_vec() };
        plan.add_tasks(set, allocation, terms)?;
        plan.add_units();
        plan.add_jobs(set);
        plan.refuse_sources(certified)?;
        Ok(plan)
    }

    /// Sources whose jobs are too large, or are called alike.
    fn refuse_sources(&self, certified: bool) -> Result<(), PlanError> {
        let pages = |source: &Source| source.read_pages.saturating_add(source.write_pages);
        let large = self.sources.iter().find(|source| certified && pages(source) > MAX_REQUEST_PAGES);
        if let Some(large) = large {
            return Err(PlanError::LargeRequest { source: large.name.clone(), pages: pages(large) });
        }
        let mut names: Vec<&str> = self.sources.iter().map(|source| source.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(PlanError::SameName(pair[0].to_owned()));
        }
        Ok(())
    }

    fn add_tasks(&mut self, set: &TaskSet, allocation: &Allocation, terms: &[ClusterTerms]) -> Result<(), PlanError> {
        for (owner, task) in set.tasks().iter().enumerate() {
            let position = allocation.cluster_of_task(owner).ok_or(PlanError::OtherAllocation)?;
            let number = ClusterId::from_index(position);
            let (delay, cluster) = (self.clusters[number].page_delay, Some(number));
            let requests =
                [(task.read, Kind::Read, self.timing.read()), (task.write, Kind::Write, self.timing.program())];
            for (request, kind, cost) in requests {
                let Some(request) = request else { continue };
                let period = Period::new(request.period().as_ns().into(), 1).ok_or(PlanError::OtherAllocation)?;
                let (suffix, read_pages, write_pages) = match kind {
                    Kind::Read => ("read", request.pages(), 0),
                    _ => ("write", 0, request.pages()),
                };
                self.sources.push(Source {
                    name: format!("{}.{suffix}", task.name),
                    kind,
                    owner,
                    cluster,
                    read_pages,
                    write_pages,
                    releases: Releases::Periodic(period),
                    deadline: Some(request.deadline()),
                    jitter: request.jitter(),
                    access: request.access(),
                    bound: cost.checked_add(delay).and_then(|cost| cost.checked_mul(request.pages())),
                });
            }
            let place = self.clusters[number].tasks.binary_search(&owner).map_err(|_| PlanError::OtherAllocation)?;
            if task.write.is_some() && self.clusters[number].certificate.is_none() {
                let period = terms[position].gc_periods[place].ok_or(PlanError::OtherAllocation)?;
                self.sources.push(Source {
                    name: format!("{}.gc", task.name),
                    kind: Kind::Gc,
                    owner,
                    cluster,
                    read_pages: 0,
                    write_pages: 0,
                    releases: Releases::Periodic(period),
                    deadline: None,
                    jitter: Span::ZERO,
                    access: Access::Random,
                    bound: Some(self.device.gc_pass()),
                });
            }
        }
        Ok(())
    }

    fn add_jobs(&mut self, set: &TaskSet) {
        self.sources.extend(set.jobs().iter().enumerate().map(|(owner, job)| Source {
            name: job.name.clone(),
            kind: Kind::Server,
            owner,
            cluster: None,
            read_pages: job.read_pages,
            write_pages: job.write_pages,
            releases: Releases::Arrivals(owner),
            deadline: None,
            jitter: Span::ZERO,
            access: Access::Random,
            bound: None,
        }));
    }
}
