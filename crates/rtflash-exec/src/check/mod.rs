//! Observers that judge: each sees only the events of a run, guards one assumption, and keeps the
//! worst that it has seen.
//!
//! They know the plan (what was promised) and not the machine: a recorded trace is judged by the
//! same checkers.

mod assumptions;
mod collect;
mod desks;
mod flash;
mod gauge;
mod ledger;
mod mapping;
mod order;
mod passes;
mod releases;
mod start;
mod timing;
mod units;
mod watch;

use rtflash_model::{Instant, Span};

pub use assumptions::{ASSUMPTIONS, Assumption, CERTIFIED, Unit};
pub use gauge::{Gauge, Place, Worst};

use crate::dispatch::Admission;
use crate::ids::{ChipId, ClusterId, ColumnId, Lpn, PerId, SourceId};
use crate::options::Dispatch;
use crate::plan::{Plan, Releases};
use crate::trace::{Kind, Setup};
use collect::Collections;
use desks::Desks;
use flash::{BusExclusion, ChipExclusion, PageOrder};
pub(crate) use ledger::Ledger;
use ledger::Pending;
use mapping::Mapping;
use order::{ParallelEdf, SerialEdf, SerialIdling, UnderWay};
use passes::Passes;
use releases::{Grants, Released};
use timing::{Blocking, BusWait, Deadlines, Overdue, Service, lateness, longest_step, place};
use units::Units;

/// What a checker has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// What it guards.
    pub assumption: Assumption,
    /// What it has seen.
    pub gauge: Gauge,
}

/// All checkers together, for some clusters of a plan.
#[derive(Debug)]
pub struct Checks<'a> {
    plan: &'a Plan,
    dispatch: Dispatch,
    setup: Setup,
    /// The clusters that are watched.
    clusters: Vec<ClusterId>,
    ledger: Ledger,
    /// For each chip of the device that is watched: its cluster, its position in it, and among the
    /// chips that are watched.
    chips: PerId<ChipId, Option<(ClusterId, ColumnId, usize)>>,
    /// The logical pages of each source of requests.
    ranges: PerId<SourceId, std::ops::Range<Lpn>>,
    deadlines: Deadlines,
    overdue: Overdue,
    server_deadlines: Deadlines,
    server_overdue: Overdue,
    service: Service,
    bus_wait: BusWait,
    starved: Gauge,
    /// Without certificates.
    passes: Passes,
    blocking: Blocking,
    serial: SerialEdf,
    idling: SerialIdling,
    parallel: ParallelEdf,
    under_way: UnderWay,
    /// Under certificates, in place of these.
    units: Option<(Units, Collections)>,
    chip_exclusion: ChipExclusion,
    bus_exclusion: BusExclusion,
    page_order: PageOrder,
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

impl<'a> Checks<'a> {
    /// Checkers that watch the clusters at these positions of the plan.
    pub fn new(plan: &'a Plan, dispatch: Dispatch, clusters: &[ClusterId]) -> Checks<'a> {
        let mut chips = plan.per_chip(None);
        let mut watched = 0;
        for &number in clusters {
            for (&chip, position) in plan.clusters()[number].chips.iter().zip((0..).map(ColumnId)) {
                chips[chip] = Some((number, position, watched));
                watched += 1;
            }
        }
        let places = match dispatch {
            Dispatch::Serial => plan.clusters().len(),
            Dispatch::Parallel => chips.len(),
        };
        let certified = plan.is_certified();
        let side_by_side = dispatch == Dispatch::Parallel && !certified;
        Checks {
            plan,
            dispatch,
            setup: Setup::default(),
            clusters: clusters.to_vec(),
            ledger: Ledger::new(plan.sources().len(), clusters.len() == plan.clusters().len()),
            chips,
            ranges: plan.sources().iter().map(|source| plan.range(source)).collect(),
            deadlines: Deadlines::default(),
            overdue: Overdue::default(),
            server_deadlines: Deadlines::default(),
            server_overdue: Overdue::default(),
            service: Service::default(),
            bus_wait: BusWait::default(),
            starved: Gauge::default(),
            passes: Passes::new(plan, dispatch, watched),
            blocking: Blocking::default(),
            serial: SerialEdf::new(plan),
            idling: SerialIdling::new(plan),
            parallel: ParallelEdf::new(plan, if side_by_side { clusters } else { &[] }),
            under_way: UnderWay::new(places),
            units: certified.then(|| (Units::new(plan, clusters), Collections::new(plan, clusters))),
            chip_exclusion: ChipExclusion::new(plan),
            bus_exclusion: BusExclusion::new(plan),
            page_order: PageOrder::new(plan, watched),
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
        if plan.is_certified() {
            checks.releases.grants = Grants::Certificates;
        }
        checks
    }

    /// Without certificates: who says what jobs that are not real-time are granted, where a server
    /// serves them. All clusters have to be watched.
    #[must_use]
    pub fn with_admission(mut self, admission: Box<dyn Admission + Send + 'a>) -> Checks<'a> {
        if !self.plan.is_certified() {
            self.releases.grants = Grants::Admission(admission);
        }
        self
    }

    /// How the run was made, as far as its records say.
    pub fn setup_told(&self) -> Setup {
        self.setup
    }

    /// What was found, in the order of [`ASSUMPTIONS`], or [`CERTIFIED`] under certificates, when
    /// the run ended at `duration`.
    pub fn finish(mut self, duration: Instant) -> Vec<Finding> {
        let pending = self.look_at_pending(duration);
        let lost = self.released.abs_diff(self.completed + pending);
        let over = u64::from(self.latest >= duration && self.latest > Instant::START);
        self.conservation.note(0, lost.max(over), || Place { at: duration, ..Place::default() });
        let all = self.clusters.len() == self.plan.clusters().len();
        self.releases.finish(duration, &self.clusters, all);
        self.desks.finish();
        if let Some((_, collections)) = &mut self.units {
            collections.finish(duration);
            self.releases.gauge.merge(&collections.releases);
        }
        let parallel = self.dispatch == Dispatch::Parallel;
        let (units, collections) = match &self.units {
            Some((units, collections)) => (Some(units), Some(collections)),
            None => (None, None),
        };
        let gc = collections.map_or(&self.passes.gc, |collections| &collections.gc);
        let (order, idling) =
            if parallel { (self.parallel.gauge, self.parallel.idling) } else { (self.serial.gauge, self.idling.gauge) };
        let mut bus_wait = self.bus_wait.gauge;
        if let Some(units) = units {
            bus_wait.merge(&units.waits);
        }
        let mut gauges = vec![
            self.deadlines.gauge,
            self.overdue.gauge,
            self.server_deadlines.gauge,
            self.server_overdue.gauge,
            self.service.gauge,
            bus_wait,
            collections.map_or(self.passes.cost, |of| of.cost),
            collections.map_or(self.passes.victims, |of| of.victims),
            self.starved,
            units.map_or(self.blocking.gauge, |of| of.blocking),
            units.map_or(order, |of| of.order),
            self.chip_exclusion.gauge,
            self.bus_exclusion.gauge,
            self.page_order.gauge,
            self.mapping.gauge,
            self.conservation,
            self.releases.gauge,
            self.completion,
            self.desks.lengths,
            self.desks.transfers,
            self.desks.order,
            gc.choice,
            gc.copies,
            gc.left_out,
            gc.padding,
            units.map_or(idling, |of| of.idling),
            self.data_fit(),
        ];
        gauges.extend(collections.into_iter().flat_map(|of| [of.open, of.reserve]));
        let named: &[Assumption] = if self.units.is_some() { &CERTIFIED } else { &ASSUMPTIONS };
        named.iter().zip(gauges).map(|(&assumption, gauge)| Finding { assumption, gauge }).collect()
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
                Kind::Server => self.server_overdue.end(duration, job, lateness(self.plan, job)),
                _ => self.overdue.end(duration, job, Span::ZERO),
            }
            let cluster = job.release.cluster;
            let Some(cluster) = cluster.map(|cluster| &self.plan.clusters()[cluster]) else { continue };
            let superblock = cluster.certificate.is_some() && !cluster.is_stripe();
            // A step may take longer than the operation.
            let slack = if superblock { longest_step(self.plan, cluster) } else { Span::ZERO };
            let own = match job.release.kind {
                Kind::Read | Kind::Write => true,
                // A pass may come behind the last page, where certificates say so.
                Kind::Server if cluster.certificate.is_some() => job.release.deadline.is_none(),
                // One that was starved has a pass to do.
                Kind::Server => !job.was_starved,
                // Without certificates a pass may be somebody else's.
                Kind::Gc if cluster.certificate.is_none() => job.left_out.is_some(),
                Kind::Gc => {
                    let erases = if superblock { job.victims * cluster.chips.len() as u64 } else { job.victims };
                    job.left_out.is_some() || (job.victims > 0 && job.erases >= erases)
                }
            };
            let done =
                own && job.reads + job.programs >= job.release.pages && job.last_end.saturating_add(slack) <= duration;
            self.conservation.note(0, u64::from(done), || place(duration, job, None));
            if job.release.deadline.is_none() {
                continue;
            }
            match &mut self.units {
                Some((units, _)) if superblock && !job.was_starved => {
                    cluster.chips.iter().take(1).for_each(|&chip| units.end(chip, duration, job));
                }
                Some((units, _)) if !superblock && !job.was_starved => {
                    match self.plan.sources()[job.release.job.source].releases {
                        Releases::Collected { chip: Some(chip) } => units.end_on_chips(&[chip], duration, job),
                        _ => units.end_on_chips(&cluster.chips, duration, job),
                    }
                }
                None if self.dispatch == Dispatch::Serial => self.idling.end(duration, job),
                None if !job.was_starved => self.parallel.end(&cluster.chips, duration, job),
                _ => {}
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
    let none = |assumption: &Assumption| Finding { assumption: *assumption, gauge: Gauge::default() };
    let mut merged: Vec<Finding> = ASSUMPTIONS.iter().map(none).collect();
    for group in findings {
        if group.len() > merged.len() {
            merged = CERTIFIED.iter().map(none).collect();
        }
        for (all, finding) in merged.iter_mut().zip(group) {
            all.gauge.merge(&finding.gauge);
        }
    }
    merged
}
