//! Jobs that are not real-time: when they arrive, and what a server grants them.

use std::ops::Range;

use rtflash_model::random::Stream;
use rtflash_model::{Arrivals, Instant};
use serde::{Deserialize, Serialize};

use crate::ids::{ClusterId, Lpn, SourceId};
use crate::jobs::JobId;
use crate::plan::{Plan, Releases};
use crate::requests::{job_pages, pages_from};
use crate::resume::{NoState, resume};

/// The grant of a job on arrival, Eqs. (IV.11) and (IV.12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The cluster that serves it, by position.
    pub cluster: ClusterId,
    /// d_j.
    pub deadline: Instant,
    /// B: passes to be run before its own pages.
    pub gc_passes: u64,
}

/// An invariant of plans: what arrives is a job of a stream.
pub const A_STREAM: &str = "a job that is not real-time is a stream's";

/// A source of grants: the Total Bandwidth Servers of all clusters together.
pub trait Admission {
    /// In order of arrival; `None` if no cluster can serve the job.
    fn admit(&mut self, at: Instant, read_pages: u64, write_pages: u64) -> Option<Grant>;

    /// All that it remembers of its grants, for a run that goes on from here.
    fn state(&self) -> Vec<u64>;

    /// Goes on from this state, unless no admission that was made like this one can have it.
    fn go_on(&mut self, state: &[u64]) -> Result<(), NoState>;
}

/// No job is granted anything: a run with background service, or without jobs, gets this.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoServers;

impl Admission for NoServers {
    fn admit(&mut self, _: Instant, _: u64, _: u64) -> Option<Grant> {
        None
    }

    fn state(&self) -> Vec<u64> {
        Vec::new()
    }

    fn go_on(&mut self, _: &[u64]) -> Result<(), NoState> {
        Ok(())
    }
}

/// A job that is not real-time, as it arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// When.
    pub at: Instant,
    /// Which.
    pub job: JobId,
    /// r_j.
    pub read_pages: u64,
    /// w_j.
    pub write_pages: u64,
    /// In its stream's range, the others follow round and round, reads before writes; `None`: each
    /// is drawn, as always under serial dispatch.
    pub first_page: Option<u64>,
    /// Its grant; always `None` in the background.
    pub grant: Option<Grant>,
}

impl Arrival {
    /// Its logical pages in this cluster, where `range` is its stream's: reads, and then writes.
    pub fn pages(&self, seed: u64, cluster: ClusterId, range: &Range<Lpn>) -> Vec<Lpn> {
        let pages = self.read_pages.saturating_add(self.write_pages);
        match self.first_page {
            Some(first) => pages_from(first, pages, range).collect(),
            None => job_pages(seed, cluster, self.job, pages, range),
        }
    }
}

/// All arrivals of a plan's job streams, in order of time, then of source.
pub struct ArrivalQueue<'a> {
    streams: Vec<Arriving<'a>>,
}

struct Arriving<'a> {
    source: SourceId,
    pages: (u64, u64),
    arrivals: &'a Arrivals,
    stream: Stream,
    next: Option<(Instant, u64)>,
}

impl Arriving<'_> {
    fn advance(&mut self) {
        self.next = self.next.and_then(|(at, index)| {
            let index = index + 1;
            Some((self.arrivals.after(at, index, &mut self.stream)?, index))
        });
    }
}

resume!(['a] ArrivalQueue<'a> {
    values: [],
    parts: [],
    lists: [streams],
    made: [],
});

resume!(['a] Arriving<'a> {
    values: [stream, next],
    parts: [],
    lists: [],
    made: [source, pages, arrivals],
});

impl<'a> ArrivalQueue<'a> {
    /// The arrivals of a plan, drawn from a seed.
    pub fn new(plan: &'a Plan, seed: u64) -> ArrivalQueue<'a> {
        let arriving = plan.sources().enumerate().filter_map(|(position, source)| {
            let Releases::Arrivals(job) = source.releases else { return None };
            let arrivals = &plan.jobs()[job].arrivals;
            Some(Arriving {
                source: position,
                pages: (source.read_pages, source.write_pages),
                arrivals,
                stream: Arrivals::random(seed, job),
                next: arrivals.first().map(|at| (at, 0)),
            })
        });
        ArrivalQueue { streams: arriving.collect() }
    }

    /// The next arrival before `end`, with what it is granted.
    pub fn next_before(&mut self, end: Instant, admission: &mut dyn Admission) -> Option<Arrival> {
        let earliest = self.streams.iter_mut().filter(|stream| stream.next.is_some());
        let stream = earliest.min_by_key(|stream| (stream.next.map(|(at, _)| at), stream.source))?;
        let (at, index) = stream.next.filter(|&(at, _)| at < end)?;
        stream.advance();
        let (read_pages, write_pages) = stream.pages;
        let grant = admission.admit(at, read_pages, write_pages);
        Some(Arrival {
            at,
            job: JobId { source: stream.source, index },
            read_pages,
            write_pages,
            first_page: None,
            grant,
        })
    }
}

/// B = ⌈(w_j + w(φ))/(αs)⌉ if w_j + w(φ) > αs, else 0 (IV.12), for `pages` after `written` since
/// the last pass; and w(φ) afterwards.
pub fn background_passes(written: u64, pages: u64, reclaimed: u64) -> (u64, u64) {
    let sum = written.saturating_add(pages);
    if sum > reclaimed { (sum.div_ceil(reclaimed), pages) } else { (0, sum) }
}
