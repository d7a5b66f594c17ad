//! The executor as something to climb on.

use std::sync::Arc;

use rtflash_analysis::Analysis;
use rtflash_model::{Allocation, Instant, PerId, Span, TaskId, TaskSet};
use rtflash_plan::{Options, Plan, ReleasePattern, SourceId};
use rtflash_sim::run;
use rtflash_trace::{Complete, JobId, Kind, Observer, Record, Release};

use rtflash_run::{PlanRefusal, TbsServers, plan};

use super::{Arrivals, Climbable, ClimbedRequest};

/// An allocation on the executor.
#[derive(Debug)]
pub struct OnExecutor {
    plan: Plan,
    options: Options,
    unit: u64,
    sources: Vec<(SourceId, TaskId, Kind)>,
    requests: Vec<ClimbedRequest>,
}

impl OnExecutor {
    /// Releases are moved by multiples of `unit`.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn new(
        set: &TaskSet,
        allocation: &Allocation,
        analysis: &dyn Analysis,
        options: Options,
        unit: Span,
    ) -> Result<OnExecutor, PlanRefusal> {
        let plan = plan(set, allocation, analysis)?;
        let unit = unit.as_ns().max(1);
        let varies = !set.device().has_single_times();
        let (mut sources, mut requests) = (Vec::new(), Vec::new());
        for (number, source) in plan.sources().enumerate() {
            let (Kind::Read | Kind::Write, Some(task)) = (source.kind, source.task()) else { continue };
            let of = &set.tasks()[task];
            let of = if source.kind == Kind::Read { of.read } else { of.write };
            let Some(of) = of else { continue };
            sources.push((number, task, source.kind));
            requests.push(ClimbedRequest { period: (of.period().as_ns() / unit).max(1), varies });
        }
        Ok(OnExecutor { plan, options, unit, sources, requests })
    }

    /// The names of the requests, in the order of [`Climbable::requests`].
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|&(source, ..)| self.plan.sources()[source].name.as_str())
    }

    /// The unit of time by which releases are moved.
    pub fn unit(&self) -> Span {
        Span::from_ns(self.unit).expect("a unit comes from a span")
    }

    /// The options of a run with these arrivals.
    pub fn options(&self, arrivals: &[Arrivals]) -> Options {
        let span = |units: u64| Span::from_ns(units.saturating_mul(self.unit)).unwrap_or(Span::LONGEST);
        let mut pattern = ReleasePattern::default();
        for ((&(_, task, kind), request), arrivals) in self.sources.iter().zip(&self.requests).zip(arrivals) {
            let jobs = self.options.duration.as_ns() / request.period.saturating_mul(self.unit).max(1) + 1;
            // Behind the list there are no gaps: as many are stated as there may be jobs.
            let jobs = if arrivals.gaps.iter().any(|&gap| gap > 0) { jobs } else { 0 };
            let stated = pattern.request_mut(task, kind);
            stated.offset = Some(span(arrivals.first));
            stated.gaps = (0..MOST_GAPS).zip(0..jobs).map(|(k, _)| span(arrivals.gap(k))).collect();
            stated.lengths = if request.varies { vec![arrivals.length] } else { Vec::new() };
        }
        Options { releases: Some(Arc::new(pattern)), ..self.options.clone() }
    }
}

const MOST_GAPS: usize = 1 << 16;

impl Climbable for OnExecutor {
    fn requests(&self) -> &[ClimbedRequest] {
        &self.requests
    }

    fn run(&self, arrivals: &[Arrivals]) -> Vec<Option<i64>> {
        let options = self.options(arrivals);
        let watch = |_: &_| EndWatch { latest: PerId::filled(None, self.plan.sources().count()), pending: Vec::new() };
        // A run that reaches a limit shows nothing.
        let Ok(watches) = run(&self.plan, &options, &mut TbsServers::none(), watch) else {
            return vec![None; self.sources.len()];
        };
        let latest = |&(source, ..): &(SourceId, TaskId, Kind)| {
            watches.iter().filter_map(|watch| watch.latest_by(source, options.duration)).max()
        };
        self.sources.iter().map(latest).collect()
    }
}

#[derive(Debug)]
struct EndWatch {
    /// For each source the latest end so far.
    latest: PerId<SourceId, Option<i64>>,
    pending: Vec<(JobId, Instant)>,
}

fn later(at: Instant, due: Instant) -> i64 {
    let [at, due] = [at, due].map(|instant| i64::try_from(instant.as_ns()).expect("an instant is below 2⁶³"));
    at - due
}

impl EndWatch {
    /// A pending job whose deadline is over counts as if it ended at the end of the run.
    fn latest_by(&self, source: SourceId, end: Instant) -> Option<i64> {
        let of_source = self.pending.iter().filter(|(job, due)| job.source == source && *due < end);
        of_source.map(|&(_, due)| later(end, due)).chain(self.latest[source]).max()
    }
}

impl Observer for EndWatch {
    fn record(&mut self, record: &Record) {
        match record {
            Record::Release(release) => self.release(release),
            Record::Complete(complete) => self.complete(complete),
            _ => {}
        }
    }
}

impl EndWatch {
    fn release(&mut self, release: &Release) {
        if let (Kind::Read | Kind::Write, Some(due)) = (release.kind, release.deadline) {
            self.pending.push((release.job, due));
        }
    }

    fn complete(&mut self, complete: &Complete) {
        let Some(at) = self.pending.iter().position(|(job, _)| *job == complete.job) else { return };
        let (job, due) = self.pending.swap_remove(at);
        let latest = &mut self.latest[job.source];
        *latest = (*latest).max(Some(later(complete.at, due)));
    }
}
