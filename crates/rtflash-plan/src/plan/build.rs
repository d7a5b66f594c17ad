//! A plan of an allocation, and what cannot be run.

use rtflash_model::{Access, Allocation, Certificate, Cluster, ClusterId, Id, PerId, Span, TaskId, TaskSet};

use super::copies::SharedPages;
use super::layout::Layout;
use super::ranges::declared;
use super::{
    Certified, ClusterPlan, ClusterTerms, MAX_PAGES, MAX_REQUEST_PAGES, Owner, Period, Plan, PlanError, Promise,
    Releases, Source, Timing,
};
use crate::jobs::Kind;

/// Parts of clusters for job streams.
const MAX_PARTS: usize = 1 << 22;

/// What cannot be run of the whole.
fn refuse(set: &TaskSet, clusters: &[Cluster], terms: &[ClusterTerms]) -> Result<(), PlanError> {
    let device = set.device();
    let pages = u64::from(device.chips())
        .saturating_mul(device.blocks_per_chip().into())
        .saturating_mul(device.pages_per_block().into());
    if pages > MAX_PAGES {
        return Err(PlanError::TooManyPages(pages));
    }
    let of_device = |cluster: &Cluster| cluster.chips.iter().all(|&chip| chip.0 < device.chips());
    let of_set = |cluster: &Cluster| cluster.tasks.iter().all(|&task| task.0 < set.tasks().count());
    if clusters.len() != terms.len() || !clusters.iter().all(|cluster| of_device(cluster) && of_set(cluster)) {
        return Err(PlanError::OtherAllocation);
    }
    if clusters.len().saturating_mul(set.jobs().len()) > MAX_PARTS {
        return Err(PlanError::TooManyParts { clusters: clusters.len(), streams: set.jobs().len() });
    }
    Ok(())
}

/// A cluster of the plan, at this position, that a utilization test accepted.
fn cluster_of(set: &TaskSet, cluster: Cluster, page_delay: Span, position: usize) -> Result<ClusterPlan, PlanError> {
    let writes = cluster.tasks.iter().filter_map(|&task| Some(set.tasks()[task].write?.pages()));
    let owners = cluster.tasks.len() + set.jobs().len();
    let layout = Layout::new(set.device(), cluster.size(), writes, owners)
        .map_err(|missing| PlanError::TooFewBlocks { cluster: position, missing })?;
    let data = declared(set, &cluster, None);
    Ok(ClusterPlan { chips: cluster.chips, tasks: cluster.tasks, page_delay, layout, data })
}

/// The terms of all clusters, which are of one kind.
enum PlanTerms<'t> {
    /// D(s), and T^g of each task.
    Utilization(Vec<(Span, &'t [Option<Period>])>),
    Certified(Vec<Certificate>),
}

impl PlanTerms<'_> {
    fn of(terms: &[ClusterTerms]) -> Result<PlanTerms<'_>, PlanError> {
        let (mut utilization, mut certified) = (Vec::new(), Vec::new());
        for terms in terms {
            match terms {
                ClusterTerms::Utilization { page_delay, gc_periods } => {
                    utilization.push((*page_delay, &gc_periods[..]))
                }
                ClusterTerms::Certified(certificate) => certified.push(*certificate),
            }
        }
        match (utilization.is_empty(), certified.is_empty()) {
            (false, false) => Err(PlanError::MixedCertificates),
            (true, false) => Ok(PlanTerms::Certified(certified)),
            (_, true) => Ok(PlanTerms::Utilization(utilization)),
        }
    }
}

/// Clusters as they are planned.
type Clusters = PerId<ClusterId, ClusterPlan>;

/// Clusters that are to be run by Theorem 1, and the period of GC of each task.
fn by_utilization(
    set: &TaskSet,
    clusters: Vec<Cluster>,
    terms: &[(Span, &[Option<Period>])],
) -> Result<(Clusters, PerId<TaskId, Option<Period>>), PlanError> {
    if set.device().has_commands() {
        return Err(PlanError::Commands);
    }
    if let Some(task) = set.tasks().iter().find(|task| !task.is_implicit()) {
        return Err(PlanError::NotImplicit { task: task.name.clone() });
    }
    let (mut plans, mut periods) = (Clusters::default(), PerId::filled(None, set.tasks().count()));
    for (position, (cluster, &(page_delay, gc_periods))) in clusters.into_iter().zip(terms).enumerate() {
        if cluster.tasks.len() != gc_periods.len() {
            return Err(PlanError::OtherAllocation);
        }
        for (&task, &period) in cluster.tasks.iter().zip(gc_periods) {
            periods[task] = period;
        }
        plans.push(cluster_of(set, cluster, page_delay, position)?);
    }
    Ok((plans, periods))
}

fn by_certificates(
    set: &TaskSet,
    clusters: Vec<Cluster>,
    certificates: Vec<Certificate>,
    shared: &[SharedPages],
) -> Result<(Clusters, PerId<ClusterId, Certified>), PlanError> {
    if shared.iter().any(|of| of.cluster.index() >= clusters.len()) {
        return Err(PlanError::OtherAllocation);
    }
    let (mut plans, mut certified) = (Clusters::default(), PerId::default());
    for (position, (cluster, certificate)) in clusters.into_iter().zip(certificates).enumerate() {
        let here = shared.iter().copied().filter(|of| of.cluster.index() == position);
        let here: Vec<SharedPages> = here.collect();
        if here.iter().any(|of| !cluster.tasks.contains(&of.task)) {
            return Err(PlanError::OtherAllocation);
        }
        let (plan, of) = super::certified::cluster(set, cluster, certificate, position, &here)?;
        plans.push(plan);
        certified.push(of);
    }
    Ok((plans, certified))
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
        Plan::sharing(set, allocation, timing, terms, &[])
    }

    /// The plan, where some tasks of clusters with certificates share the pages of others.
    ///
    /// # Errors
    /// What cannot be run: that a cluster has no certificate, does not serve these tasks, or has a
    /// server for job streams; that a task shares the pages of one that has none, or writes to
    /// zones and owns none.
    pub fn sharing(
        set: &TaskSet,
        allocation: &Allocation,
        timing: Timing,
        terms: &[ClusterTerms],
        shared: &[SharedPages],
    ) -> Result<Plan, PlanError> {
        let (device, allocated) = (set.device(), allocation.clusters());
        refuse(set, &allocated, terms)?;
        let plan = |timing, clusters, promise| {
            let (sources, jobs) = (PerId::default(), set.jobs().to_vec());
            Plan { device: *device, timing, sources, clusters, promise, jobs, mirrors: Vec::new() }
        };
        let plan = match PlanTerms::of(terms)? {
            PlanTerms::Utilization(_) if !shared.is_empty() => return Err(PlanError::OtherAllocation),
            PlanTerms::Utilization(terms) => {
                let (clusters, periods) = by_utilization(set, allocated, &terms)?;
                let mut plan = plan(timing, clusters, Promise::Utilization);
                plan.add_tasks(set, allocation, &periods)?;
                plan.add_jobs(set);
                plan
            }
            PlanTerms::Certified(certificates) => {
                let (clusters, certified) = by_certificates(set, allocated, certificates, shared)?;
                let mut plan = plan(Timing::of_device(device), clusters, Promise::Certified(certified));
                plan.add_tasks(set, allocation, &PerId::default())?;
                plan.add_processors();
                plan.add_jobs(set);
                plan.refuse_large()?;
                plan
            }
        };
        plan.refuse_names()?;
        Ok(plan)
    }

    /// Sources whose jobs are too large for all their pages to be drawn at once.
    fn refuse_large(&self) -> Result<(), PlanError> {
        let pages = |source: &Source| source.read_pages.saturating_add(source.write_pages);
        match self.sources.iter().find(|source| pages(source) > MAX_REQUEST_PAGES) {
            Some(large) => Err(PlanError::LargeRequest { source: large.name.clone(), pages: pages(large) }),
            None => Ok(()),
        }
    }

    /// Sources that are called alike.
    fn refuse_names(&self) -> Result<(), PlanError> {
        let mut names: Vec<&str> = self.sources.iter().map(|source| source.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(PlanError::SameName(pair[0].to_owned())),
            None => Ok(()),
        }
    }

    /// With two page registers the command of the next read may go before a page: how long that
    /// takes.
    fn command_before_a_page(&self, cluster: ClusterId) -> Span {
        let cached = matches!(&self.promise, Promise::Certified(by) if by[cluster].is_cached());
        if cached { self.timing.command() } else { Span::ZERO }
    }

    /// The requests of all tasks, and where GC has `periods` (of each task), its jobs.
    fn add_tasks(
        &mut self,
        set: &TaskSet,
        allocation: &Allocation,
        periods: &PerId<TaskId, Option<Period>>,
    ) -> Result<(), PlanError> {
        for (id, task) in set.tasks().enumerate() {
            let owner = Owner::Task(id);
            let position = allocation.cluster_of_task(id).ok_or(PlanError::OtherAllocation)?;
            let number = ClusterId::from_index(position);
            let (delay, cluster) = (self.clusters[number].page_delay, Some(number));
            let before = self.command_before_a_page(number);
            let requests = [
                (task.read, Kind::Read, (self.timing.read().saturating_add(before), self.timing.asks_of_a_read())),
                (task.write, Kind::Write, (self.timing.program(), 1)),
            ];
            for (request, kind, (cost, asks)) in requests {
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
                    bound: delay
                        .checked_mul(asks)
                        .and_then(|delay| cost.checked_add(delay)?.checked_mul(request.pages()))
                        .and_then(|pages| pages.checked_add(self.resets(number, kind, request.pages())?)),
                });
            }
            if let (Some(_), Some(period)) = (task.write, periods.get(id)) {
                let period = period.ok_or(PlanError::OtherAllocation)?;
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
        self.sources.extend(set.jobs().iter().enumerate().map(|(stream, job)| Source {
            name: job.name.clone(),
            kind: Kind::Server,
            owner: Owner::Stream(stream),
            cluster: None,
            read_pages: job.read_pages,
            write_pages: job.write_pages,
            releases: Releases::Arrivals(stream),
            deadline: None,
            jitter: Span::ZERO,
            access: Access::Random,
            bound: None,
        }));
    }
}
