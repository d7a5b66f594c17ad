//! A device that a host steps from instant to instant: it hands over requests and jobs, and learns
//! of what is over.

use std::ops::Range;

use rtflash_model::{ClusterId, Instant, Lpn, PerId, Span};
use rtflash_plan::{Arrival, Options, Plan, Promise, Releases, Servers, Service, SourceId};
use rtflash_trace::{JobId, Observer, Record, Setup};

use crate::engine::core::ChipPolicy;
use crate::organisation::{certified::CertifiedGroup, group::ClusterGroup, parallel::Parallel};

#[derive(Debug, Default)]
struct Over(Vec<JobId>);

impl Observer for Over {
    fn record(&mut self, _: &Record) {}
    fn wants_records(&self) -> bool {
        false
    }
    #[inline]
    fn over(&mut self, job: JobId) {
        self.0.push(job);
    }
}

/// A job that is not real-time, as a host hands it over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostedJob {
    /// The source of its stream in [`Plan::sources`].
    pub source: SourceId,
    /// Pages that it reads.
    pub read_pages: u64,
    /// Pages that it writes.
    pub write_pages: u64,
    /// See [`Arrival::first_page`](rtflash_plan::Arrival::first_page).
    pub first_page: Option<u64>,
}

/// All clusters of a plan, run by a host: nothing is released but what it hands over. Clusters with
/// certificates are run by these; others by parallel dispatch, and then no task of the plan
/// releases anything: they are for jobs alone.
///
/// For each instant: [`advance`](Hosted::advance), then what is handed over, then
/// [`settle`](Hosted::settle), without which time must not go on. All requests handed over by then
/// are released together. All else is as in [`run`](crate::run), record by record: where a host
/// releases what a run would release, records are the same. At one instant ends come before
/// releases here. Two see that: background service, where it looks for the cluster with the fewest
/// pages, and parallel dispatch, where a pass that ends lets its job's pages take chips before
/// those of what is released.
pub struct Hosted<'a, O: 'a> {
    plan: &'a Plan,
    options: &'a Options,
    engine: Box<dyn ChipPolicy<Notified = (Over, O)> + Send + 'a>,
    servers: Option<Servers<'a>>,
    next: PerId<SourceId, u64>,
    /// The jobs that were over when chips went on last, and that instant.
    over: Vec<JobId>,
    now: Instant,
    /// Kept for its memory.
    lpns: Vec<Lpn>,
}

impl<O> std::fmt::Debug for Hosted<'_, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hosted").field("next", &self.next).finish_non_exhaustive()
    }
}

impl<'a, O: Observer + Send + 'a> Hosted<'a, O> {
    /// The device as a run begins. The phases of the options have no effect. The observer is
    /// notified that releases are sporadic: a request's nominal arrival is a period after the one
    /// before at the earliest.
    pub fn new(plan: &'a Plan, options: &'a Options, observer: O) -> Hosted<'a, O> {
        let clusters: Vec<ClusterId> = plan.clusters().ids().collect();
        let mut observer = (Over::default(), observer);
        observer.record(&Record::Setup(Setup { sporadic: true, ..Setup::from(options) }));
        let mut servers = None;
        let engine: Box<dyn ChipPolicy<Notified = (Over, O)> + Send + 'a> = match plan.promise() {
            Promise::Utilization => Box::new(ClusterGroup::<_, Parallel>::hosted(plan, options, &clusters, observer)),
            Promise::Certified(certified) => {
                let serves = options.service == Service::Tbs;
                servers = serves.then(|| Servers::new(plan, certified, options.seed));
                Box::new(CertifiedGroup::new(plan, certified, options, &clusters, observer))
            }
        };
        let (next, over, lpns) = (plan.per_source(0), Vec::new(), Vec::new());
        Hosted { plan, options, engine, servers, next, over, now: Instant::START, lpns }
    }

    /// When something happens next in it; `None` while it has nothing to do.
    pub fn next_instant(&self) -> Option<Instant> {
        let next = self.engine.next_instant();
        next.into_iter().chain((!self.over.is_empty()).then(|| self.notified_at())).min()
    }

    /// When the host learns of what was over as chips went on.
    fn notified_at(&self) -> Instant {
        self.now.saturating_add(Span::NANOSECOND)
    }

    /// Time goes on to `now`, which is not beyond [`next_instant`](Hosted::next_instant). Jobs that
    /// are over by now are added to `over`. A job that is over because its last pass is left out,
    /// when chips go on, is reported one nanosecond later: at one instant chips go on once.
    pub fn advance(&mut self, now: Instant, over: &mut Vec<JobId>) {
        self.engine.ends_at(now);
        if now >= self.notified_at() {
            over.append(&mut self.over);
        }
        over.append(&mut self.engine.observer().0.0);
    }

    /// A task releases its next request: the one of the source with this number in
    /// [`Plan::sources`], of a cluster with a certificate. It arrived nominally at `nominal`, and
    /// its deadline counts from there. Which pages it has is drawn as in a run. `None` where there
    /// is no such source, and from the end of the run on.
    pub fn request(&mut self, source: SourceId, nominal: Instant, now: Instant) -> Option<JobId> {
        if now >= self.options.duration {
            return None;
        }
        self.engine.request(source, nominal.min(now), now, &[])
    }

    /// As [`request`](Hosted::request), of these pages: numbers below [`Plan::pages_of`] of the
    /// source. As many of them as are declared, or fewer. `None` also where there are none or too
    /// many, or one is not of the source's.
    pub fn request_of(&mut self, source: SourceId, nominal: Instant, now: Instant, pages: &[u32]) -> Option<JobId> {
        let of = self.plan.sources().get(source)?;
        let (range, declared) = (self.plan.range(of), of.read_pages.saturating_add(of.write_pages));
        let mut lpns = std::mem::take(&mut self.lpns);
        lpns.clear();
        lpns.extend(pages.iter().filter_map(|&page| range.start.0.checked_add(page).map(Lpn)));
        let all = lpns.len() == pages.len() && lpns.iter().all(|lpn| range.contains(lpn));
        let is_valid = all && !lpns.is_empty() && lpns.len() as u64 <= declared && now < self.options.duration;
        let id = if is_valid { self.engine.request(source, nominal.min(now), now, &lpns) } else { None };
        self.lpns = lpns;
        id
    }

    /// A task trims pages: numbers below [`Plan::pages_of`] of its source of requests. They hold
    /// nothing any more, behind all that has ended at this instant and before anything begins, but
    /// for those that their processors have programmed last. Says whether it can be: only where a
    /// cluster has a certificate, owns no zones and nothing fails.
    pub fn trim(&mut self, source: SourceId, pages: Range<u32>, now: Instant) -> bool {
        let Some(of) = self.plan.sources().get(source) else { return false };
        let range = self.plan.range(of);
        let page = |number: u32| range.start.0.checked_add(number).map(Lpn).filter(|lpn| *lpn <= range.end);
        let (Some(first), Some(end)) = (page(pages.start), page(pages.end)) else { return false };
        now < self.options.duration && first < end && self.engine.trim(source, first..end, now)
    }

    /// A job that is not real-time arrives. A server's job is granted its deadline here, in order
    /// of arrival. `None` where its source is no stream of jobs or it has no pages, and from the
    /// end of the run on. A job that no server can serve is never over.
    pub fn hand_over(&mut self, job: HostedJob, now: Instant) -> Option<JobId> {
        let HostedJob { source, read_pages, write_pages, first_page } = job;
        let of = self.plan.sources().get(source)?;
        let pages = read_pages.checked_add(write_pages)?;
        let of_stream = matches!(of.releases, Releases::Arrivals(_) | Releases::Handed);
        if !of_stream || pages == 0 || now >= self.options.duration {
            return None;
        }
        let index = self.next.get_mut(source)?;
        let id = JobId { source, index: *index };
        *index += 1;
        let mut arrival = Arrival { at: now, job: id, read_pages, write_pages, first_page, grant: None };
        if let Some(servers) = &mut self.servers {
            arrival.grant = servers.grant(&arrival);
        }
        self.engine.hand_over(arrival);
        Some(id)
    }

    /// All has been handed over that is at this instant: chips and buses go on. From the end of the
    /// run on chips begin nothing.
    pub fn settle(&mut self, now: Instant) {
        if now < self.options.duration {
            self.engine.goes_on(now);
        } else {
            self.engine.grants(now);
        }
        let mut over = std::mem::take(&mut self.over);
        over.append(&mut self.engine.observer().0.0);
        (self.over, self.now) = (over, now);
    }

    /// Whether more is pending than can be kept: the run should be given up.
    pub fn is_overloaded(&self) -> bool {
        self.engine.overload().is_some()
    }

    /// The observer, which knows what has happened so far.
    pub fn observer(&mut self) -> &mut O {
        &mut self.engine.observer().1
    }

    /// Notifies the observer of what is known by now, and says from when on something may be
    /// missing.
    pub fn settled(&mut self, now: Instant) -> Instant {
        self.engine.settled(now)
    }

    /// Ends the run: what is under way is followed to its end, and the observer notified.
    pub fn finish(self) -> O {
        self.engine.finish().1
    }
}
