//! Whether jobs are released as the plan says: when, with which deadline, how many pages, in which
//! cluster.

use rtflash_model::{Arrivals, ClusterId, Instant, PerId, Span};
use rtflash_plan::resume::{NoState, Rest, Resume, State, resume};
use rtflash_plan::{
    Admission, Arrival, Certified, Period, Plan, Promise, Releases, Servers, Service, Source, SourceId,
};
use rtflash_trace::{Kind, Release, Setup, TermsChange};
use serde::{Deserialize, Serialize};

use crate::Assumption;
use crate::gauge::Gauges;
use crate::place::Place;

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct SeenReleases {
    next: u64,
    last: Instant,
    /// The nominal arrival of the first one; `None` before it.
    first: Option<Instant>,
}

fn behind(start: Instant, at: Instant) -> Instant {
    start.saturating_add(at.since(Instant::START))
}

pub(crate) enum Grants<'a> {
    /// The grant is the run's own affair.
    Unknown,
    Admission(Box<dyn Admission + Send + 'a>),
    /// Those of these certificates, once it is known what the run drew from.
    Certificates(&'a PerId<ClusterId, Certified>),
    Certified(Servers<'a>),
}

impl std::fmt::Debug for Grants<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Grants")
    }
}

/// Releases that are not as the plan says, and those that are missing, against zero.
#[derive(Debug)]
pub(crate) struct Released<'a> {
    pub(crate) grants: Grants<'a>,
    plan: &'a Plan,
    seen: PerId<SourceId, SeenReleases>,
    /// D_g of each source of GC jobs, as its processor's terms are now.
    collection_deadlines: PerId<SourceId, Option<Span>>,
    sporadic: bool,
    service: Service,
    latest: Instant,
}

resume!(['a] Released<'a> {
    values: [seen, collection_deadlines, latest],
    parts: [grants],
    lists: [],
    made: [plan, sporadic, service],
});

impl Resume for Grants<'_> {
    fn save(&self, state: &mut State<'_>) {
        match self {
            Grants::Unknown | Grants::Certificates(_) => {}
            Grants::Admission(servers) => state.put(&servers.state()),
            Grants::Certified(servers) => servers.save(state),
        }
    }

    fn restore(&mut self, rest: &mut Rest<'_>) -> Result<(), NoState> {
        match self {
            Grants::Unknown | Grants::Certificates(_) => Ok(()),
            Grants::Admission(servers) => servers.go_on(&rest.take::<Vec<u64>>()?),
            Grants::Certified(servers) => servers.restore(rest),
        }
    }
}

fn collection_deadline(plan: &Plan, source: &Source) -> Option<Span> {
    match (plan.promise(), source.cluster) {
        (Promise::Certified(certified), Some(cluster)) => certified[cluster].certificate.collection?.deadline,
        _ => None,
    }
}

impl<'a> Released<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Released<'a> {
        Released {
            grants: Grants::Unknown,
            plan,
            seen: plan.per_source(SeenReleases::default()),
            collection_deadlines: plan.sources().iter().map(|source| collection_deadline(plan, source)).collect(),
            sporadic: false,
            service: Service::Tbs,
            latest: Instant::START,
        }
    }

    pub(crate) fn setup(&mut self, setup: &Setup, plan: &'a Plan) {
        (self.sporadic, self.service) = (setup.sporadic, setup.service);
        if let (&Grants::Certificates(certified), Some(seed)) = (&self.grants, setup.seed) {
            self.grants = Grants::Certified(Servers::new(plan, certified, seed));
        }
    }

    /// The next release of its source, of a job stream also a later or a late one, as the plan has
    /// it. While a job of a stream waits, as `waits` says, the queue can be full: then no job is
    /// taken.
    pub(crate) fn judge(&mut self, release: &Release, waits: impl Fn() -> bool, gauges: &mut Gauges) -> Release {
        let (source, seen) = (&self.plan.sources()[release.job.source], self.seen[release.job.source]);
        let mut last = release.at;
        let declared = source.read_pages.saturating_add(source.write_pages);
        let mut is_valid = release.pages == declared;
        let mut as_planned = Release { pages: declared, ..*release };
        match source.releases {
            Releases::Periodic(period) => {
                let due = match source.deadline {
                    Some(deadline) => {
                        let nominal = self.nominal(source, period.of_request(), deadline, release);
                        if self.sporadic {
                            as_planned.pages = release.pages;
                            is_valid = self.is_allowed(period, seen, nominal, release.pages, declared);
                        }
                        is_valid &= nominal <= release.at && release.at <= nominal.saturating_add(source.jitter);
                        last = nominal;
                        nominal.saturating_add(deadline)
                    }
                    None => {
                        // Nothing is collected before the task has released a write.
                        let start = self.collection_starts(source).unwrap_or(Instant::END);
                        is_valid &= release.at == behind(start, period.release(release.job.index));
                        behind(start, period.deadline(release.job.index))
                    }
                };
                (as_planned.deadline, as_planned.cluster) = (Some(due), source.cluster);
            }
            Releases::Collected { .. } => {
                let deadline = self.collection_deadlines[release.job.source].map(|of| release.at.saturating_add(of));
                is_valid &= deadline.is_some();
                (as_planned.deadline, as_planned.cluster) = (deadline, source.cluster);
            }
            Releases::Handed => {
                // When, how many pages, and what the server grants to these is the host's affair.
                (is_valid, as_planned.pages) = (self.is_served_as_granted(release), release.pages);
            }
            Releases::Arrivals(stream) => {
                is_valid &= self.arrives(stream, seen, release);
                is_valid &= self.is_served_as_granted(release);
                let is_untaken = release.cluster.is_none() && waits();
                if let Some(granted) = self.granted(source, release).filter(|_| !is_untaken) {
                    (as_planned.deadline, as_planned.cluster) = granted;
                }
            }
        }
        is_valid &= as_planned.deadline == release.deadline && as_planned.cluster == release.cluster;
        if release.job.index >= seen.next {
            let first = seen.first.or(Some(last));
            self.seen[release.job.source] = SeenReleases { next: release.job.index.saturating_add(1), last, first };
        }
        self.latest = self.latest.max(release.at);
        let place = || Place { job: Some(release.job), ..Place::in_cluster(release.at, release.cluster) };
        gauges[Assumption::Releases].note(0, u64::from(!is_valid), place);
        as_planned
    }

    pub(crate) fn changed(&mut self, changed: &TermsChange) {
        let Promise::Certified(certified) = self.plan.promise() else { return };
        let stage = usize::try_from(changed.stage).ok().and_then(|stage| stage.checked_sub(1));
        let Some(planned) = stage.and_then(|stage| certified[changed.cluster].changes.get(stage)) else { return };
        let chip = certified[changed.cluster].is_stripe().then_some(changed.chip);
        for (source, deadline) in self.plan.sources().iter().zip(self.collection_deadlines.iter_mut()) {
            if source.cluster == Some(changed.cluster) && source.releases == (Releases::Collected { chip }) {
                *deadline = planned.change.collection.deadline;
            }
        }
    }

    /// A period after the one before at the earliest, with no more pages than declared.
    fn is_allowed(&self, period: Period, seen: SeenReleases, nominal: Instant, pages: u64, declared: u64) -> bool {
        let earliest = seen.first.map_or(Instant::START, |_| seen.last.saturating_add(period.of_request()));
        nominal >= earliest && (1..=declared).contains(&pages)
    }

    /// The nominal arrival of its task's first write request.
    fn collection_starts(&self, source: &Source) -> Option<Instant> {
        if !self.sporadic {
            return Some(Instant::START);
        }
        let mut sources = self.plan.sources().enumerate();
        let writer = sources.find(|(_, of)| of.kind == Kind::Write && of.owner == source.owner);
        self.seen[writer?.0].first
    }

    fn is_served_as_granted(&self, release: &Release) -> bool {
        match self.service {
            Service::Background => release.deadline.is_none(),
            Service::Tbs => release.deadline.is_some() == release.cluster.is_some(),
        }
    }

    fn arrives(&self, stream: usize, seen: SeenReleases, release: &Release) -> bool {
        let Some(job) = self.plan.jobs().get(stream) else { return false };
        let index = release.job.index;
        let after = |gap: Span, gaps: u64| u128::from(gap.as_ns()) * u128::from(gaps);
        match &job.arrivals {
            Arrivals::Every(gap) => u128::from(release.at.as_ns()) == after(*gap, index),
            Arrivals::Bursts { every, burst } => u128::from(release.at.as_ns()) == after(*every, index / burst),
            Arrivals::Poisson(_) if index == 0 => release.at == Instant::START,
            Arrivals::Poisson(_) => (index < seen.next) == (release.at < seen.last) || release.at == seen.last,
            Arrivals::At(times) => usize::try_from(index).ok().and_then(|index| times.get(index)) == Some(&release.at),
            Arrivals::Uniform(low, high) => {
                // The first one comes at the start.
                let gaps = if seen.next == 0 { index } else { seen.next.abs_diff(index.saturating_add(1)) };
                let (at, last) = (u128::from(release.at.as_ns()), u128::from(seen.last.as_ns()));
                let passed = if index < seen.next { last.checked_sub(at) } else { at.checked_sub(last) };
                passed.is_some_and(|passed| (after(*low, gaps)..=after(*high, gaps)).contains(&passed))
            }
        }
    }

    fn granted(&mut self, source: &Source, release: &Release) -> Option<(Option<Instant>, Option<ClusterId>)> {
        if self.service == Service::Background {
            return None;
        }
        let (at, job) = (release.at, release.job);
        let (read_pages, write_pages) = (source.read_pages, source.write_pages);
        let grant = match &mut self.grants {
            Grants::Unknown | Grants::Certificates(_) => return None,
            Grants::Admission(admission) => admission.admit(at, read_pages, write_pages),
            Grants::Certified(servers) => {
                servers.grant(&Arrival { at, job, read_pages, write_pages, first_page: None, grant: None })
            }
        };
        Some((grant.map(|grant| grant.deadline), grant.map(|grant| grant.cluster)))
    }

    /// At k periods; of sporadic ones by the recorded deadline, as far as the release allows.
    fn nominal(&self, source: &Source, period: Span, deadline: Span, release: &Release) -> Instant {
        if !self.sporadic {
            let nominal = u128::from(period.as_ns()) * u128::from(release.job.index);
            return u64::try_from(nominal).ok().and_then(Instant::from_ns).unwrap_or(Instant::END);
        }
        let stated = release.deadline.map_or(release.at, |due| due.saturating_sub(deadline));
        stated.min(release.at).max(release.at.saturating_sub(source.jitter))
    }

    /// Before `duration`, in the clusters that are watched, and of the job streams if `streams`.
    pub(crate) fn finish(&self, duration: Instant, watched: &[ClusterId], streams: bool, gauges: &mut Gauges) {
        let gauge = &mut gauges[Assumption::Releases];
        let place = || Place::in_cluster(duration, None);
        if self.latest >= duration && gauge.worst().is_some() {
            gauge.note(0, 1, place);
        }
        for (source, seen) in self.plan.sources().iter().zip(self.seen.iter()) {
            let here = source.cluster.map_or(streams, |cluster| watched.contains(&cluster));
            let next = match source.releases {
                Releases::Periodic(period) if source.kind == Kind::Gc => {
                    self.collection_starts(source).map(|start| behind(start, period.release(seen.next)))
                }
                Releases::Periodic(period) if !self.sporadic => {
                    Some(period.release(seen.next).saturating_add(source.jitter))
                }
                // A request may come late, and GC under a certificate is checked where the pages
                // arrive.
                Releases::Periodic(_) | Releases::Collected { .. } | Releases::Handed => None,
                Releases::Arrivals(stream) => self.latest_arrival(stream, *seen),
            };
            if let Some(missing) = next.filter(|&next| here && next < duration) {
                gauge.note(0, 1, || Place::in_cluster(missing, source.cluster));
            }
        }
    }

    fn latest_arrival(&self, stream: usize, seen: SeenReleases) -> Option<Instant> {
        let job = self.plan.jobs().get(stream)?;
        match &job.arrivals {
            Arrivals::At(times) => times.get(usize::try_from(seen.next).ok()?).copied(),
            _ if seen.next == 0 => Some(Instant::START),
            // The gap can have any length.
            Arrivals::Poisson(_) => None,
            Arrivals::Bursts { every, burst } => {
                let gap = if seen.next.is_multiple_of(*burst) { *every } else { Span::ZERO };
                Some(seen.last.saturating_add(gap))
            }
            Arrivals::Every(gap) | Arrivals::Uniform(_, gap) => Some(seen.last.saturating_add(*gap)),
        }
    }
}
