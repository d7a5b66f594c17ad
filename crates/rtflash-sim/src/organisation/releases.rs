//! Releases of jobs: those of tasks by their periods, the others as they arrive.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rtflash_model::{ClusterId, Instant, PerId, Span};
use rtflash_plan::resume::resume;
use rtflash_plan::{A_STREAM, Arrival, Options, Period, Plan, Service, SourceId, TieBreaker, background_passes};
use rtflash_trace::{JobId, Kind, Policed, Release};

use crate::earliest::earlier;
use crate::engine::request_times::{RequestTimes, collection_starts};
use crate::organisation::cluster::{BACKGROUND, ClusterState, PendingJob};

#[derive(Debug)]
struct Periodic {
    source: SourceId,
    kind: Kind,
    cluster: usize,
    slot: usize,
    times: JobTimes,
    next: u64,
    at: Instant,
}

#[derive(Debug)]
enum JobTimes {
    /// Requests, each due this span after its release.
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

    /// For the job of this number, released then: its deadline, and the next release.
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

resume!([] Periodic {
    values: [next, at],
    parts: [],
    lists: [],
    made: [source, kind, cluster, slot, times],
});

pub(crate) struct ReleasedJob {
    pub(crate) release: Release,
    pub(crate) policed: Option<Policed>,
    pub(crate) job: Option<PendingJob>,
}

#[derive(Debug)]
pub(crate) struct Releaser {
    sources: Vec<Periodic>,
    /// When each periodic source releases its next job, where that is before the end of the run.
    pub(super) periodic: BinaryHeap<Reverse<(Instant, usize)>>,
    pub(super) arrivals: VecDeque<Arrival>,
    streams: PerId<SourceId, Option<usize>>,
    ties: TieBreaker,
    service: Service,
    end: Instant,
}

resume!([] Releaser {
    values: [periodic, arrivals],
    parts: [],
    lists: [sources],
    made: [streams, ties, service, end],
});

impl Releaser {
    pub(crate) fn new(plan: &Plan, clusters: &[ClusterId], options: &Options) -> Releaser {
        let sources = periodic_sources(plan, clusters, options);
        let end = options.duration;
        let first = sources.iter().enumerate().map(|(number, source)| Reverse((source.at, number)));
        Releaser {
            periodic: first.filter(|&Reverse((at, _))| at < end).collect(),
            sources,
            arrivals: VecDeque::new(),
            streams: plan.sources().iter().map(|source| source.stream()).collect(),
            ties: options.into(),
            service: options.service,
            end,
        }
    }

    #[inline]
    pub(crate) fn next_release(&self) -> Option<Instant> {
        let periodic = self.periodic.peek().map(|&Reverse((at, _))| at);
        earlier(periodic, self.arrivals.front().map(|arrival| arrival.at))
    }

    /// The next job that is released at this instant: those of periodic sources come first.
    /// `clusters`: all that are run together; `room`: pages that an
    /// aperiodic job can enter.
    pub(crate) fn next(&mut self, now: Instant, clusters: &mut [ClusterState], room: u64) -> Option<ReleasedJob> {
        if let Some(&Reverse((at, number))) = self.periodic.peek()
            && at == now
        {
            self.periodic.pop();
            return Some(self.release(number, clusters));
        }
        let arrival = *self.arrivals.front().filter(|arrival| arrival.at == now)?;
        self.arrivals.pop_front();
        Some(self.take(&arrival, clusters, room))
    }

    fn release(&mut self, number: usize, clusters: &[ClusterState]) -> ReleasedJob {
        let source = &mut self.sources[number];
        let (at, id) = (source.at, JobId { source: source.source, index: source.next });
        let (due, next) = source.times.due_and_next(id.index, at);
        (source.next, source.at) = (id.index + 1, next);
        if next < self.end {
            self.periodic.push(Reverse((next, number)));
        }
        let (pages, policed) = match &source.times {
            JobTimes::Requests(times, _) => (times.pages(id.index), times.policed(id, at, at)),
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
        let release = Release {
            at,
            job: id,
            kind: source.kind,
            deadline: Some(due),
            pages: job.reads + job.writes,
            cluster: Some(clusters[source.cluster].position),
        };
        ReleasedJob { release, policed, job: Some(job) }
    }

    /// A job that is not real-time goes to the cluster that serves it, if there is room for it.
    fn take(&self, arrival: &Arrival, clusters: &mut [ClusterState], room: u64) -> ReleasedJob {
        let pages = arrival.read_pages.saturating_add(arrival.write_pages);
        let (position, deadline, passes) = match (self.service, arrival.grant) {
            _ if pages > room => (None, None, 0),
            (Service::Tbs, None) => (None, None, 0),
            (Service::Tbs, Some(grant)) => {
                let position = clusters.iter().position(|cluster| cluster.position == grant.cluster);
                (position, Some(grant.deadline), grant.gc_passes)
            }
            (Service::Background, _) => {
                let taken = takes_in_background(clusters, arrival);
                taken.map_or((None, None, 0), |(position, passes)| (Some(position), None, passes))
            }
        };
        let release = Release {
            at: arrival.at,
            job: arrival.job,
            kind: Kind::Server,
            deadline,
            pages,
            cluster: position.map(|position| clusters[position].position),
        };
        let job = position.map(|position| {
            let stream = self.streams[arrival.job.source].expect(A_STREAM);
            let slot = clusters[position].streams + 2 * stream;
            PendingJob {
                id: arrival.job,
                kind: Kind::Server,
                deadline: deadline.map_or(BACKGROUND + arrival.at.as_ns(), Instant::as_ns),
                place: self.ties.of_job(Kind::Server, arrival.job),
                cluster: position,
                slots: (slot, slot + 1),
                passes,
                reads: arrival.read_pages,
                writes: arrival.write_pages,
                first_page: arrival.first_page,
                starved: false,
            }
        });
        ReleasedJob { release, policed: None, job }
    }
}

fn periodic_sources(plan: &Plan, clusters: &[ClusterId], options: &Options) -> Vec<Periodic> {
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
    periodic
}

/// The cluster that serves a job in the background, the least loaded one, and the job's passes.
fn takes_in_background(clusters: &mut [ClusterState], arrival: &Arrival) -> Option<(usize, u64)> {
    let loads = clusters.iter().map(|cluster| cluster.background).enumerate();
    let (position, _) = loads.min_by_key(|&(position, load)| (load, position))?;
    let cluster = &mut clusters[position];
    let (passes, written) = background_passes(cluster.written, arrival.write_pages, cluster.reclaimed);
    cluster.written = written;
    cluster.background += arrival.read_pages + arrival.write_pages;
    Some((position, passes))
}
