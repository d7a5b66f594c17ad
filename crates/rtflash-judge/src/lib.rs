//! Observers that judge: each sees only the events of a run, guards one assumption, and keeps the
//! worst that it has seen.
//!
//! They know the plan (what was promised) and not the machine: a recorded trace is judged by the
//! same checkers.

mod assumptions;
mod checks;
mod gauge;
mod place;
mod records;
pub mod report;
mod rules;
#[cfg(test)]
#[path = "../../rtflash-trace/src/samples.rs"]
mod samples;
mod shadow;

use std::collections::BTreeMap;

use rtflash_model::{ChipId, ClusterId, Instant, Lpn, PerId, Span};
use rtflash_plan::resume::resume;
use rtflash_plan::{Admission, ColumnId, Dispatch, Plan, Promise, SourceId};
use rtflash_trace::{Kind, Setup};

pub use assumptions::{Assumption, Unit};
pub use gauge::{Gauge, Worst};
pub use place::Place;

use checks::bus_exclusion::BusExclusion;
use checks::bus_wait::BusWait;
use checks::chip_exclusion::ChipExclusion;
use checks::deadlines::{Deadlines, Overdue};
use checks::desks::Desks;
use checks::longest::longest_step;
use checks::page_order::PageOrder;
use checks::releases::{Grants, Released};
use checks::service::ServiceTime;
use checks::zones::ZoneOrder;
use gauge::Gauges;
use rules::{Order, Rules};
use shadow::jobs::{Ledger, Pending};
use shadow::pages::Mapping;

/// The finding of a checker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// The assumption that the checker guards.
    pub assumption: Assumption,
    /// That in a sentence, for the kind of plan that was run.
    pub statement: &'static str,
    /// All that the checker has seen.
    pub gauge: Gauge,
}

/// Where a chip of the device stands: one that is not watched is in no cluster.
#[derive(Debug, Clone, Copy)]
struct WatchedChip {
    cluster: ClusterId,
    /// Its position in the cluster.
    position: ColumnId,
    /// Its position among the chips that are watched.
    watched: usize,
    /// Its processor's, among those that are watched, where certificates are.
    processor: usize,
}

/// All checkers together, for some clusters of a plan.
#[derive(Debug)]
pub struct Checks<'a> {
    plan: &'a Plan,
    setup: Setup,
    /// The clusters that are watched.
    clusters: Vec<ClusterId>,
    ledger: Ledger,
    chips: PerId<ChipId, WatchedChip>,
    /// The logical pages of each source of requests.
    ranges: PerId<SourceId, std::ops::Range<Lpn>>,
    deadlines: Deadlines,
    overdue: Overdue,
    server_deadlines: Deadlines,
    server_overdue: Overdue,
    service: ServiceTime,
    bus_wait: BusWait,
    starved: Gauge,
    rules: Rules<'a>,
    chip_exclusion: ChipExclusion,
    bus_exclusion: BusExclusion,
    page_order: PageOrder,
    zones: ZoneOrder,
    mapping: Mapping,
    releases: Released<'a>,
    completion: Gauge,
    desks: Desks,
    conservation: Gauge,
    completed: u64,
    released: u64,
    /// Whether a real-time job was released, and one that is not.
    kinds: (bool, bool),
    /// The latest start of anything.
    latest: Instant,
}

resume!(['a] Checks<'a> {
    values: [
        ledger, deadlines, overdue, server_deadlines, server_overdue, service, bus_wait, starved,
        chip_exclusion, bus_exclusion, page_order, zones, mapping, completion, conservation, completed, released,
        kinds, latest
    ],
    parts: [rules, releases, desks],
    lists: [],
    made: [
        plan, setup, clusters, chips, ranges
    ],
});

impl<'a> Checks<'a> {
    /// Checkers that watch the clusters at these positions of the plan.
    pub fn new(plan: &'a Plan, dispatch: Dispatch, clusters: &[ClusterId]) -> Checks<'a> {
        let mut chips = plan.per_chip(WatchedChip::NOWHERE);
        let (mut watched, mut processors) = (0, 0);
        for &number in clusters {
            let superblock = matches!(plan.promise(), Promise::Certified(by) if !by[number].is_stripe());
            for (&chip, position) in plan.clusters()[number].chips.iter().zip((0..).map(ColumnId)) {
                processors += usize::from(!superblock || position == ColumnId(0));
                let processor = processors - 1;
                chips[chip] = WatchedChip { cluster: number, position, watched, processor };
                watched += 1;
            }
        }
        Checks {
            plan,
            setup: Setup::default(),
            clusters: clusters.to_vec(),
            ledger: Ledger::new(plan.sources().len(), false),
            chips,
            ranges: plan.sources().iter().map(|source| plan.range(source)).collect(),
            deadlines: Deadlines::default(),
            overdue: Overdue::default(),
            server_deadlines: Deadlines::default(),
            server_overdue: Overdue::default(),
            service: ServiceTime::default(),
            bus_wait: BusWait::default(),
            starved: Gauge::default(),
            rules: Rules::new(plan, dispatch, clusters, watched),
            chip_exclusion: ChipExclusion::new(plan),
            bus_exclusion: BusExclusion::new(plan),
            page_order: PageOrder::new(plan, watched),
            zones: ZoneOrder::new(plan, clusters),
            mapping: Mapping::new(plan, watched, clusters),
            releases: Released::new(plan),
            completion: Gauge::default(),
            desks: Desks::new(plan),
            conservation: Gauge::default(),
            completed: 0,
            released: 0,
            kinds: (false, false),
            latest: Instant::START,
        }
    }

    /// Checkers that are shown the records of a trace: those of these clusters, in one order. What
    /// certificates grant to jobs that are not real-time is known to them; see
    /// [`Checks::with_admission`].
    pub fn of_trace(plan: &'a Plan, dispatch: Dispatch, clusters: &[ClusterId]) -> Checks<'a> {
        let mut checks = Checks::new(plan, dispatch, clusters);
        checks.ledger = Ledger::new(plan.sources().len(), clusters.len() == plan.clusters().len());
        if let Rules::Certified(by) = &checks.rules {
            checks.releases.grants = Grants::Certificates(by.certified);
        }
        checks
    }

    /// Without certificates: who says what jobs that are not real-time are granted, where a server
    /// serves them. All clusters have to be watched.
    #[must_use]
    pub fn with_admission(mut self, admission: Box<dyn Admission + Send + 'a>) -> Checks<'a> {
        if let Rules::Utilization(_) = self.rules {
            self.releases.grants = Grants::Admission(admission);
        }
        self
    }

    /// How the run was made, as far as its records say.
    pub fn setup_stated(&self) -> Setup {
        self.setup
    }

    /// All findings, in the order of [`Assumption`], of a run that ended at `duration`.
    pub fn finish(mut self, duration: Instant) -> Vec<Finding> {
        let pending = self.look_at_pending(duration);
        let all = self.clusters.len() == self.plan.clusters().len();
        let skipped = if all { self.ledger.skipped() } else { 0 };
        let lost = self.released.abs_diff(self.completed + pending).max(skipped);
        let over = u64::from(self.latest >= duration && self.latest > Instant::START);
        self.conservation.note(0, lost.max(over), || Place { at: duration, ..Place::default() });
        self.releases.finish(duration, &self.clusters, all);
        self.desks.finish();
        self.rules.finish(duration, &mut self.releases.gauge);
        self.findings()
    }

    /// All findings, in the order of reports.
    fn findings(&self) -> Vec<Finding> {
        use Assumption::*;
        let mut gauges = Gauges::default();
        for (assumption, gauge) in [
            (Deadlines, &self.deadlines.gauge),
            (Overdue, &self.overdue.gauge),
            (ServerDeadlines, &self.server_deadlines.gauge),
            (ServerOverdue, &self.server_overdue.gauge),
            (Service, &self.service.gauge),
            (BusWait, &self.bus_wait.gauge),
            (BusWait, &self.desks.page_waits),
            (GcKeepsPace, &self.starved),
            (ChipExclusion, &self.chip_exclusion.gauge),
            (ChipExclusion, &self.desks.exclusion),
            (BusExclusion, &self.bus_exclusion.gauge),
            (PageOrder, &self.page_order.gauge),
            (PageOrder, &self.zones.gauge),
            (Mapping, &self.mapping.gauge),
            (Conservation, &self.conservation),
            (Releases, &self.releases.gauge),
            (Completion, &self.completion),
            (OperationLengths, &self.desks.lengths),
            (Transfers, &self.desks.transfers),
            (BusOrder, &self.desks.order),
            (DataFit, &self.data_fit()),
        ] {
            gauges.add(assumption, gauge);
        }
        self.rules.found(self.mapping.wear(), &mut gauges);
        let by_certificates = matches!(self.rules, Rules::Certified(_));
        let finding = |(assumption, gauge): (Assumption, Gauge)| Finding {
            assumption,
            statement: assumption.statement(by_certificates),
            gauge,
        };
        gauges.into_iter().map(finding).collect()
    }

    /// Looks at what is pending when the run ends, and says how much that is.
    fn look_at_pending(&mut self, duration: Instant) -> u64 {
        let mut pending = 0;
        let nowhere = || Place { at: duration, ..Place::default() };
        if self.kinds.0 {
            self.overdue.gauge.note(0, 0, nowhere);
        }
        if self.kinds.1 {
            self.server_overdue.gauge.note(0, 0, nowhere);
        }
        for job in self.ledger.pending() {
            pending += 1;
            match job.release.kind {
                Kind::Server => self.server_overdue.end(duration, job, self.rules.lateness(self.plan, job)),
                _ => self.overdue.end(duration, job, Span::ZERO),
            }
            let Some(number) = job.release.cluster else { continue };
            let cluster = &self.plan.clusters()[number];
            let superblock = self.rules.is_superblock(number);
            // A step may take longer than the operation.
            let slack = match &self.rules {
                Rules::Certified(by) if superblock => longest_step(self.plan, cluster, &by.certified[number]),
                _ => Span::ZERO,
            };
            let own = match (job.release.kind, &self.rules) {
                (Kind::Read | Kind::Write, _) => true,
                // A pass may come behind the last page, where certificates say so.
                (Kind::Server, Rules::Certified(_)) => job.release.deadline.is_none(),
                // One that was starved has a pass to do.
                (Kind::Server, Rules::Utilization(_)) => !job.was_starved,
                // Without certificates a pass may be somebody else's.
                (Kind::Gc, Rules::Utilization(_)) => job.left_out.is_some(),
                (Kind::Gc, Rules::Certified(_)) => {
                    let erases = if superblock { job.victims * cluster.chips.len() as u64 } else { job.victims };
                    job.left_out.is_some() || (job.victims > 0 && job.erases >= erases)
                }
            };
            let done =
                own && job.reads + job.programs >= job.release.pages && job.last_end.saturating_add(slack) <= duration;
            self.conservation.note(0, u64::from(done), || job.place(duration, None));
            if job.release.deadline.is_none() {
                continue;
            }
            if let Rules::Utilization(by) = &mut self.rules
                && let Order::Serial(_, idling) = &mut by.order
            {
                idling.end(duration, job);
            } else if !job.was_starved {
                self.rules.end_on_chips(self.plan, number, duration, job);
            }
        }
        pending
    }

    /// What the tasks of the clusters that are watched declare, against what fits.
    fn data_fit(&self) -> Gauge {
        let mut gauge = Gauge::default();
        for &number in &self.clusters {
            if let Some(data) = self.plan.clusters()[number].data {
                gauge.note(data.room, data.pages, || Place { cluster: Some(number), ..Place::default() });
            }
        }
        gauge
    }
}

/// The findings of several groups of clusters together.
pub fn merge(findings: impl IntoIterator<Item = Vec<Finding>>) -> Vec<Finding> {
    let mut merged: BTreeMap<Assumption, Finding> = BTreeMap::new();
    for finding in findings.into_iter().flatten() {
        let none = Finding { gauge: Gauge::default(), ..finding };
        merged.entry(finding.assumption).or_insert(none).gauge.merge(&finding.gauge);
    }
    merged.into_values().collect()
}
