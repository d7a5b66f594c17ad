//! A plan of an allocation, and what cannot be run.

use rtflash_model::{Allocation, Cluster, ClusterId, Id, PerId, Span, TaskId, TaskSet};

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

fn cluster_of(set: &TaskSet, cluster: Cluster, page_delay: Span, position: usize) -> Result<ClusterPlan, PlanError> {
    let writes = cluster.tasks.iter().filter_map(|&task| set.tasks()[task].write);
    let writes = writes.map(|write| write.pages().saturating_mul(write.waiting()));
    let owners = cluster.tasks.len() + set.jobs().len();
    let layout = Layout::new(set.device(), cluster.size(), writes, owners).map_err(|reserve_blocks| {
        let blocks = set.device().blocks_per_chip();
        PlanError::TooFewBlocks { cluster: position, reserve_blocks, blocks, owners }
    })?;
    let data = declared(set, &cluster, None);
    Ok(ClusterPlan { chips: cluster.chips, tasks: cluster.tasks, page_delay, layout, data })
}

type Clusters = PerId<ClusterId, ClusterPlan>;

fn by_utilization(
    set: &TaskSet,
    clusters: Vec<Cluster>,
    terms: &[ClusterTerms],
) -> Result<(Clusters, PerId<TaskId, Option<Period>>), PlanError> {
    if set.device().has_commands() {
        return Err(PlanError::Commands);
    }
    if let Some(task) = set.tasks().iter().find(|task| !task.has_whole_periods()) {
        return Err(PlanError::NotImplicit { task: task.name.clone() });
    }
    let (mut plans, mut periods) = (Clusters::default(), PerId::filled(None, set.tasks().count()));
    for (position, (cluster, terms)) in clusters.into_iter().zip(terms).enumerate() {
        let ClusterTerms::Utilization { page_delay, gc_periods } = terms else {
            return Err(PlanError::MixedCertificates);
        };
        if cluster.tasks.len() != gc_periods.len() {
            return Err(PlanError::OtherAllocation);
        }
        for (&task, &period) in cluster.tasks.iter().zip(gc_periods) {
            periods[task] = period;
        }
        plans.push(cluster_of(set, cluster, *page_delay, position)?);
    }
    Ok((plans, periods))
}

fn by_certificates(
    set: &TaskSet,
    clusters: Vec<Cluster>,
    terms: &[ClusterTerms],
    shared: &[SharedPages],
) -> Result<(Clusters, PerId<ClusterId, Certified>), PlanError> {
    if shared.iter().any(|of| of.cluster.index() >= clusters.len()) {
        return Err(PlanError::OtherAllocation);
    }
    let (mut plans, mut certified) = (Clusters::default(), PerId::default());
    for (position, (cluster, terms)) in clusters.into_iter().zip(terms).enumerate() {
        let ClusterTerms::Certified(certificate) = *terms else { return Err(PlanError::MixedCertificates) };
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
    /// Plans what an analysis says of each cluster, or certificates and the device's own times,
    /// whatever `timing` says.
    pub fn new(
        set: &TaskSet,
        allocation: &Allocation,
        timing: Timing,
        terms: &[ClusterTerms],
    ) -> Result<Plan, PlanError> {
        Plan::sharing(set, allocation, timing, terms, &[])
    }

    /// The plan, where tasks of clusters with certificates share pages of others.
    ///
    /// # Errors
    /// No certificate, a task that the cluster does not serve, a server for job streams, pages of a
    /// task that has none, or writes to zones without owning any.
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
        let is_certified = |terms: &ClusterTerms| matches!(terms, ClusterTerms::Certified(_));
        let mut plan = match (terms.iter().any(is_certified), terms.iter().all(is_certified)) {
            (true, false) => return Err(PlanError::MixedCertificates),
            (true, true) => {
                let (clusters, certified) = by_certificates(set, allocated, terms, shared)?;
                let mut plan = plan(Timing::of_device(device), clusters, Promise::Certified(certified));
                plan.add_tasks(set, allocation, &PerId::default())?;
                plan.add_processors();
                plan
            }
            (false, _) if !shared.is_empty() => return Err(PlanError::OtherAllocation),
            (false, _) => {
                let (clusters, periods) = by_utilization(set, allocated, terms)?;
                let mut plan = plan(timing, clusters, Promise::Utilization);
                plan.add_tasks(set, allocation, &periods)?;
                plan
            }
        };
        plan.add_jobs(set);
        if matches!(plan.promise, Promise::Certified(_)) {
            plan.refuse_large()?;
        }
        plan.refuse_names()?;
        Ok(plan)
    }

    fn refuse_large(&self) -> Result<(), PlanError> {
        let pages = |source: &Source| source.read_pages.saturating_add(source.write_pages);
        match self.sources.iter().find(|source| pages(source) > MAX_REQUEST_PAGES) {
            Some(large) => Err(PlanError::LargeRequest { job: large.name.clone(), pages: pages(large) }),
            None => Ok(()),
        }
    }

    fn refuse_names(&self) -> Result<(), PlanError> {
        let mut names: Vec<&str> = self.sources.iter().map(|source| source.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(PlanError::SameName(pair[0].to_owned())),
            None => Ok(()),
        }
    }

    /// With two page registers the command of the next read can go before a page.
    fn command_before_a_page(&self, cluster: ClusterId) -> Span {
        let cached = matches!(&self.promise, Promise::Certified(by) if by[cluster].is_cached());
        if cached { self.timing.command() } else { Span::ZERO }
    }

    /// The requests of all tasks, and GC jobs with these `periods` of each task, if there are any.
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
                let name = format!("{}.gc", task.name);
                let source = Source::plain(name, Kind::Gc, owner, Releases::Periodic(period));
                self.sources.push(Source { cluster, bound: Some(self.device.gc_pass()), ..source });
            }
        }
        Ok(())
    }

    fn add_jobs(&mut self, set: &TaskSet) {
        self.sources.extend(set.jobs().iter().enumerate().map(|(stream, job)| {
            let (name, releases) = (job.name.clone(), Releases::Arrivals(stream));
            let source = Source::plain(name, Kind::Server, Owner::Stream(stream), releases);
            Source { read_pages: job.read_pages, write_pages: job.write_pages, ..source }
        }));
    }
}
