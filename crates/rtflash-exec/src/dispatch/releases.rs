//! Releases of jobs: those of tasks by their periods, the others as they arrive.

use std::collections::VecDeque;

use rtflash_model::{Instant, Span};

use super::arrivals::{A_STREAM, Arrival, background_passes};
use super::cluster::{BACKGROUND, ClusterState, PendingJob};
use super::request_times::{RequestTimes, collection_starts};
use crate::ids::{ClusterId, PerId, SourceId};
use crate::options::{Options, Service};
use crate::plan::{Period, Plan};
use crate::resume::resume;
use crate::ties::TieBreaker;
use crate::trace::{JobId, Kind, Policed, Release};

/// A periodic source at run time.
#[derive(Debug)]
struct Periodic {
    source: SourceId,
    kind: Kind,
    /// Position among the clusters that are run together.
    cluster: usize,
    slot: usize,
    times: JobTimes,
    /// Number of the next job, and when it is released.
    next: u64,
    at: Instant,
}

/// When the jobs of a periodic source are released and due.
#[derive(Debug)]
enum JobTimes {
    /// Requests, each due so long after its release.
    Requests(RequestTimes, Span),
    /// GC at multiples of a period behind an instant.
    Collection(Instant, Period),
}

impl JobTimes {
    fn first(&self) -> Instant {
        match self {
            JobTimes::Requests(times, _) => times.first(),
            JobTimes::Collection(start, _) => *start,
        }
    }

    /// Of the job of this number, released then: when it is due, and when the next one is released.
    fn due_and_next(&self, index: u64, at: Instant) -> (Instant, Instant) {
        match self {
            JobTimes::Requests(times, deadline) => (at.saturating_add(*deadline), times.after(at, index)),
            JobTimes::Collection(start, period) => {
                let behind = |at: Instant| start.saturating_add(at.since(Instant::START));
                (behind(period.deadline(index)), behind(period.release(index + 1)))
            }
        }
    }
}

/// Periodic sources that are run together.
#[derive(Debug)]
pub(crate) struct Periodics {
    sources: Vec<Periodic>,
    ties: TieBreaker,
}

resume!([] Periodic {
    values: [next, at],
    parts: [],
    lists: [],
    made: [source, kind, cluster, slot, times],
});

resume!([] Periodics {
    values: [],
    parts: [],
    lists: [sources],
    made: [ties],
});

resume!([] Releaser {
    values: [arrivals],
    parts: [periodic],
    lists: [],
    made: [service, streams],
});

impl Periodics {
    /// The sources of these clusters (positions in the plan, ascending).
    fn new(plan: &Plan, clusters: &[ClusterId], options: &Options) -> Periodics {
        let mut slots = vec![0; clusters.len()];
        let mut periodic = Vec::new();
        for (number, source) in plan.sources().enumerate() {
            let Some(period) = source.period() else { continue };
            let Some(cluster) = source.cluster.and_then(|position| clusters.binary_search(&position).ok()) else {
                continue;
            };
            let times = match source.deadline {
                Some(deadline) => {
                    JobTimes::Requests(RequestTimes::new(options, number, source, period.of_request()), deadline)
                }
                None => JobTimes::Collection(collection_starts(plan, options, source), period),
            };
            periodic.push(Periodic {
                at: times.first(),
                times,
                source: number,
                kind: source.kind,
                cluster,
                slot: slots[cluster],
                next: 0,
            });
            slots[cluster] += 1;
        }
        Periodics { sources: periodic, ties: options.into() }
    }

    /// The sources of these clusters, each cluster's for itself.
    pub(crate) fn by_cluster(plan: &Plan, clusters: &[ClusterId], options: &Options) -> Vec<Periodics> {
        let none = || Periodics { sources: Vec::new(), ties: options.into() };
        let mut all: Vec<Periodics> = clusters.iter().map(|_| none()).collect();
        for source in Periodics::new(plan, clusters, options).sources {
            all[source.cluster].sources.push(source);
        }
        all
    }

    /// When each source releases first, where that is before `end`.
    pub(crate) fn first(&self, end: Instant) -> impl Iterator<Item = (Instant, usize)> + '_ {
        let first = |(position, source): (usize, &Periodic)| (source.at, position);
        self.sources.iter().enumerate().map(first).filter(move |&(at, _)| at < end)
    }

    /// The job that a source releases now, when it releases the next one, and what the police did.
    pub(crate) fn release(&mut self, position: usize) -> (PendingJob, Instant, Option<Policed>) {
        let source = &mut self.sources[position];
        let number = source.next;
        let (at, id) = (source.at, JobId { source: source.source, index: number });
        let (due, next) = source.times.due_and_next(number, at);
        (source.next, source.at) = (number + 1, next);
        let (pages, policed) = match &source.times {
            JobTimes::Requests(times, _) => (times.pages(number), times.policed(id, at, at)),
            JobTimes::Collection(..) => (0, None),
        };
        let job = PendingJob {
            id,
            kind: source.kind,
            deadline: due.as_ns(),
            place: self.ties.of_job(source.kind, id),
            cluster: source.cluster,
            slots: (source.slot, source.slot),
            passes: u64::from(source.kind == Kind::Gc),
            reads: if source.kind == Kind::Read { pages } else { 0 },
            writes: if source.kind == Kind::Write { pages } else { 0 },
            first_page: None,
            starved: false,
        };
        (job, next, policed)
    }
}

/// All that will be released in a group of clusters.
#[derive(Debug)]
pub(crate) struct Releaser {
    pub(crate) periodic: Periodics,
    arrivals: VecDeque<Arrival>,
    service: Service,
    /// The stream of each source of jobs that are not real-time.
    streams: PerId<SourceId, Option<usize>>,
}

impl Releaser {
    /// The sources of these clusters (positions in the plan, ascending).
    pub(crate) fn new(plan: &Plan, clusters: &[ClusterId], options: &Options) -> Releaser {
        let streams = plan.sources().iter().map(|source| source.stream()).collect();
        Releaser {
            periodic: Periodics::new(plan, clusters, options),
            arrivals: VecDeque::new(),
            service: options.service,
            streams,
        }
    }

    /// More arrivals, in order.
    pub(crate) fn arrive(&mut self, arrivals: impl Iterator<Item = Arrival>) {
        self.arrivals.extend(arrivals);
    }

    /// Nothing arrives any more.
    pub(crate) fn release_no_more(&mut self) {
        self.arrivals.clear();
    }

    /// When the next known job arrives.
    pub(crate) fn next_arrival(&self) -> Option<Instant> {
        self.arrivals.front().map(|arrival| arrival.at)
    }

    /// The next arriving job, and the record of its release. No job where no cluster serves it.
    /// `clusters`: all that are run together.
    pub(crate) fn next_job(
        &mut self,
        clusters: &mut [impl AsMut<ClusterState>],
    ) -> Option<(Release, Option<PendingJob>)> {
        let arrival = self.arrivals.pop_front()?;
        let (position, deadline, passes) = match (self.service, arrival.grant) {
            (Service::Tbs, None) => (None, None, 0),
            (Service::Tbs, Some(grant)) => {
                let position = clusters.iter_mut().position(|cluster| cluster.as_mut().position == grant.cluster);
                (position, Some(grant.deadline), grant.gc_passes)
            }
            (Service::Background, _) => {
                let taken = takes_in_background(clusters, &arrival);
                taken.map_or((None, None, 0), |(position, passes)| (Some(position), None, passes))
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
            let slot = clusters[position].as_mut().stream_slot(self.streams[arrival.job.source].expect(A_STREAM));
            PendingJob {
                id: arrival.job,
                kind: Kind::Server,
                deadline: deadline.map_or(BACKGROUND + arrival.at.as_ns(), Instant::as_ns),
                place: self.periodic.ties.of_job(Kind::Server, arrival.job),
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
fn takes_in_background(clusters: &mut [impl AsMut<ClusterState>], arrival: &Arrival) -> Option<(usize, u64)> {
    let loads = clusters.iter_mut().map(|cluster| cluster.as_mut().background).enumerate();
    let (position, _) = loads.min_by_key(|&(position, load)| (load, position))?;
    let cluster = clusters[position].as_mut();
    let (passes, written) = background_passes(cluster.written, arrival.write_pages, cluster.reclaimed);
    cluster.written = written;
    cluster.background += arrival.read_pages + arrival.write_pages;
    Some((position, passes))
}
