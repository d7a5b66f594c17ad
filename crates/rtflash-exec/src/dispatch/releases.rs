//! Releases of jobs: those of tasks by their periods, the others as they arrive.

use std::collections::VecDeque;

use rtflash_model::Instant;

use super::arrivals::{Arrival, background_passes};
use super::cluster::{BACKGROUND, Cluster, Job};
use crate::ids::{ClusterId, PerId, SourceId};
use crate::options::Service;
use crate::plan::{Period, Plan, Releases};
use crate::trace::{JobId, Kind, Release};

/// A periodic source at run time.
#[derive(Debug)]
struct Periodic {
    source: SourceId,
    kind: Kind,
    /// Position among the clusters that are run together.
    cluster: usize,
    slot: usize,
    reads: u64,
    writes: u64,
    period: Period,
    next: u64,
}

/// Periodic sources that are run together.
#[derive(Debug, Default)]
pub(crate) struct Periodics(Vec<Periodic>);

impl Periodics {
    /// The sources of these clusters (positions in the plan, ascending).
    fn new(plan: &Plan, clusters: &[ClusterId]) -> Periodics {
        let mut slots = vec![0; clusters.len()];
        let mut periodic = Vec::new();
        for (number, source) in plan.sources().enumerate() {
            let Releases::Periodic(period) = source.releases else { continue };
            let Some(cluster) = source.cluster.and_then(|position| clusters.binary_search(&position).ok()) else {
                continue;
            };
            periodic.push(Periodic {
                source: number,
                kind: source.kind,
                cluster,
                slot: slots[cluster],
                reads: source.read_pages,
                writes: source.write_pages,
                period,
                next: 0,
            });
            slots[cluster] += 1;
        }
        Periodics(periodic)
    }

    /// The sources of these clusters, each cluster's for itself.
    pub(crate) fn by_cluster(plan: &Plan, clusters: &[ClusterId]) -> Vec<Periodics> {
        let mut all: Vec<Periodics> = clusters.iter().map(|_| Periodics::default()).collect();
        for source in Periodics::new(plan, clusters).0 {
            all[source.cluster].0.push(source);
        }
        all
    }

    /// When each source releases first: all at the start.
    pub(crate) fn first(&self) -> impl Iterator<Item = (Instant, usize)> + '_ {
        (0..self.0.len()).map(|position| (Instant::START, position))
    }

    /// The job that a source releases now, and when it releases the next one.
    pub(crate) fn release(&mut self, position: usize) -> (Job, Instant) {
        let source = &mut self.0[position];
        let number = source.next;
        source.next += 1;
        let job = Job {
            id: JobId { source: source.source, index: number },
            kind: source.kind,
            deadline: source.period.deadline(number).as_ns(),
            cluster: source.cluster,
            slots: (source.slot, source.slot),
            passes: u64::from(source.kind == Kind::Gc),
            reads: source.reads,
            writes: source.writes,
            first_page: None,
            starved: false,
        };
        (job, source.period.release(source.next))
    }
}

/// All that will be released in a group of clusters.
#[derive(Debug)]
pub(crate) struct Releaser {
    pub(crate) periodic: Periodics,
    arrivals: VecDeque<Arrival>,
    service: Service,
    /// The stream of each source of jobs that are not real-time.
    streams: PerId<SourceId, usize>,
}

impl Releaser {
    /// The sources of these clusters (positions in the plan, ascending).
    pub(crate) fn new(plan: &Plan, clusters: &[ClusterId], service: Service) -> Releaser {
        let streams = plan.sources().iter().map(|source| source.owner).collect();
        Releaser { periodic: Periodics::new(plan, clusters), arrivals: VecDeque::new(), service, streams }
    }

    /// More arrivals, in order.
    pub(crate) fn arrive(&mut self, arrivals: impl Iterator<Item = Arrival>) {
        self.arrivals.extend(arrivals);
    }

    /// When the next known job arrives.
    pub(crate) fn next_arrival(&self) -> Option<Instant> {
        self.arrivals.front().map(|arrival| arrival.at)
    }

    /// The next arriving job, and the record of its release. No job where no cluster serves it.
    /// `clusters`: all that are run together.
    pub(crate) fn next_job(&mut self, clusters: &mut [impl AsMut<Cluster>]) -> Option<(Release, Option<Job>)> {
        let arrival = self.arrivals.pop_front()?;
        let (position, deadline, passes) = match (self.service, arrival.grant) {
            (Service::Tbs, None) => (None, None, 0),
            (Service::Tbs, Some(grant)) => {
                let position = clusters.iter_mut().position(|cluster| cluster.as_mut().position == grant.cluster);
                (position, Some(grant.deadline), grant.gc_passes)
            }
            (Service::Background, _) => {
                let (position, passes) = takes_in_background(clusters, &arrival).unzip();
                (position, None, passes.unwrap_or(0))
            }
        };
        let release = Release {
            at: arrival.at,
            job: arrival.job,
            kind: Kind::Server,
            deadline,
            pages: arrival.read_pages + arrival.write_pages,
            cluster: position.map(|position| clusters[position].as_mut().position),
        };
        let job = position.map(|position| {
            let slot = clusters[position].as_mut().stream_slot(self.streams[arrival.job.source]);
            Job {
                id: arrival.job,
                kind: Kind::Server,
                deadline: deadline.map_or(BACKGROUND + arrival.at.as_ns(), Instant::as_ns),
                cluster: position,
                slots: (slot, slot + 1),
                passes,
                reads: arrival.read_pages,
                writes: arrival.write_pages,
                first_page: arrival.first_page,
                starved: false,
            }
        });
        Some((release, job))
    }
}

/// The cluster that serves a job in the background, the least loaded one, and the job's passes.
fn takes_in_background(clusters: &mut [impl AsMut<Cluster>], arrival: &Arrival) -> Option<(usize, u64)> {
    let loads = clusters.iter_mut().map(|cluster| cluster.as_mut().background).enumerate();
    let (position, _) = loads.min_by_key(|&(position, load)| (load, position))?;
    let cluster = clusters[position].as_mut();
    let (passes, written) = background_passes(cluster.written, arrival.write_pages, cluster.reclaimed);
    cluster.written = written;
    cluster.background += arrival.read_pages + arrival.write_pages;
    Some((position, passes))
}
