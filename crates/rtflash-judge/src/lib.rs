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
use rtflash_plan::{Admission, ChannelId, ColumnId, Dispatch, Plan, Promise, SourceId};
use rtflash_trace::{Kind, Setup};
use serde::{Deserialize, Serialize};

pub use assumptions::{Assumption, Unit};
pub use gauge::{Gauge, Worst};
pub use place::Place;

use checks::deadlines;
use checks::desks::Desks;
use checks::exclusion::Exclusion;
use checks::longest::longest_step;
use checks::page_order::PageOrder;
use checks::releases::{Grants, Released};
use checks::zones::ZoneOrder;
use gauge::Gauges;
use rules::Rules;
use shadow::jobs::Ledger;
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

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct WatchedChip {
    cluster: ClusterId,
    position: ColumnId,
    /// Its position among the chips that are watched: those of a cluster stand one after another.
    watched: usize,
    processor: usize,
}

impl WatchedChip {
    fn first(self) -> usize {
        self.watched - self.position.index()
    }
}

/// All checkers together, for some clusters of a plan.
#[derive(Debug)]
pub struct Checks<'a> {
    plan: &'a Plan,
    setup: Setup,
    clusters: Vec<ClusterId>,
    chips: PerId<ChipId, Option<WatchedChip>>,
    ledger: Ledger,
    ranges: PerId<SourceId, std::ops::Range<Lpn>>,
    gauges: Gauges,
    rules: Rules<'a>,
    chip_exclusion: Exclusion<ChipId>,
    bus_exclusion: Exclusion<ChannelId>,
    page_order: PageOrder,
    zones: ZoneOrder,
    mapping: Mapping,
    releases: Released<'a>,
    desks: Desks,
    completed: u64,
    released: u64,
    /// Whether a real-time job was released, and one that a server granted a deadline.
    has_real_time: bool,
    has_granted: bool,
    latest: Instant,
}

resume!(['a] Checks<'a> {
    values: [
        ledger, gauges, chip_exclusion, bus_exclusion, page_order, zones, mapping, completed, released, has_real_time,
        has_granted, latest
    ],
    parts: [rules, releases, desks],
    lists: [],
    made: [plan, setup, clusters, chips, ranges],
});

impl<'a> Checks<'a> {
    /// Checkers that watch the clusters at these positions of the plan.
    pub fn new(plan: &'a Plan, dispatch: Dispatch, clusters: &[ClusterId]) -> Checks<'a> {
        let mut chips = plan.per_chip(None);
        let (mut watched, mut processors) = (0, 0);
        for &cluster in clusters {
            let superblock = matches!(plan.promise(), Promise::Certified(by) if !by[cluster].is_stripe());
            for (&chip, position) in plan.clusters()[cluster].chips.iter().zip((0..).map(ColumnId)) {
                processors += usize::from(!superblock || position == ColumnId(0));
                chips[chip] = Some(WatchedChip { cluster, position, watched, processor: processors - 1 });
                watched += 1;
            }
        }
        Checks {
            plan,
            setup: Setup::default(),
            clusters: clusters.to_vec(),
            ledger: Ledger::new(plan.sources().len(), false),
            ranges: plan.sources().iter().map(|source| plan.range(source)).collect(),
            gauges: Gauges::default(),
            rules: Rules::new(plan, dispatch, clusters, &chips),
            chip_exclusion: Exclusion::new(plan.per_chip(Instant::START)),
            bus_exclusion: Exclusion::new(plan.per_channel(Instant::START)),
            page_order: PageOrder::new(plan, watched),
            zones: ZoneOrder::new(plan, clusters),
            mapping: Mapping::new(plan, watched, clusters),
            releases: Released::new(plan),
            desks: Desks::new(plan),
            chips,
            completed: 0,
            released: 0,
            has_real_time: false,
            has_granted: false,
            latest: Instant::START,
        }
    }

    /// Checks these clusters, in one order. Certificates' grants to other jobs are known; see
    /// [`Checks::with_admission`].
    pub fn of_trace(plan: &'a Plan, dispatch: Dispatch, clusters: &[ClusterId]) -> Checks<'a> {
        let mut checks = Checks::new(plan, dispatch, clusters);
        checks.ledger = Ledger::new(plan.sources().len(), clusters.len() == plan.clusters().len());
        if let Rules::Certified(by) = &checks.rules {
            checks.releases.grants = Grants::Certificates(by.certified);
        }
        checks
    }

    /// Without certificates: who grants other jobs. All clusters have to be watched.
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
        self.gauges[Assumption::Conservation].note(0, lost.max(over), || Place::in_cluster(duration, None));
        self.releases.finish(duration, &self.clusters, all, &mut self.gauges);
        self.desks.finish(&mut self.gauges);
        if let Rules::Certified(by) = &mut self.rules {
            by.collections.finish(duration, &mut self.gauges);
            by.failures.finish(duration, &mut self.gauges);
        }
        self.note_data();
        self.findings()
    }

    /// Several checkers of one assumption are kept apart: of equal observations at one instant the
    /// worst does not depend on whose was noted first.
    fn findings(self) -> Vec<Finding> {
        use Assumption::{BusWait, ChipExclusion, Failures, LevelledWear, OpenBlocks, PageOrder, Releases, Reserve};
        let (mut gauges, levels) = (self.gauges, self.mapping.wear.is_some());
        gauges[PageOrder].merge(&self.zones.gauge);
        gauges[ChipExclusion].merge(&self.desks.exclusion);
        gauges[BusWait].merge(&self.desks.page_waits);
        let certificates = match &self.rules {
            Rules::Certified(by) => Some(by),
            Rules::Utilization(_) => None,
        };
        if let Some(by) = certificates {
            gauges[BusWait].merge(&by.processors.waits);
            gauges[Releases].merge(&by.collections.releases);
        }
        let applies = |assumption: &Assumption| match assumption {
            OpenBlocks | Reserve => certificates.is_some(),
            Failures => levels || certificates.is_some_and(|by| by.failures.may_fail()),
            LevelledWear => levels,
            _ => true,
        };
        let finding = |&assumption: &Assumption| Finding {
            assumption,
            statement: assumption.statement(certificates.is_some()),
            gauge: gauges[assumption],
        };
        Assumption::ALL.iter().filter(|assumption| applies(assumption)).map(finding).collect()
    }

    fn look_at_pending(&mut self, duration: Instant) -> u64 {
        let mut pending = self.ledger.untaken();
        for (assumption, has) in
            [(Assumption::Overdue, self.has_real_time), (Assumption::ServerOverdue, self.has_granted)]
        {
            if has {
                self.gauges[assumption].note(0, 0, || Place::in_cluster(duration, None));
            }
        }
        for job in self.ledger.pending() {
            pending += 1;
            let late = self.rules.lateness(self.plan, job);
            deadlines::end(duration, job, late, &mut self.gauges);
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
                // Without certificates a pass may be another job's.
                (Kind::Gc, Rules::Utilization(_)) => job.left_out.is_some(),
                (Kind::Gc, Rules::Certified(_)) => {
                    let erases = if superblock { job.victims * cluster.chips.len() as u64 } else { job.victims };
                    job.left_out.is_some() || (job.victims > 0 && job.erases >= erases)
                }
            };
            let done =
                own && job.reads + job.programs >= job.release.pages && job.last_end.saturating_add(slack) <= duration;
            self.gauges[Assumption::Conservation].note(0, u64::from(done), || job.place(duration, None));
            if job.release.deadline.is_some() && !job.was_starved {
                self.rules.end(self.plan, &self.chips, number, duration, job, &mut self.gauges);
            }
        }
        pending
    }

    /// The data that the tasks of the watched clusters declare, against the room.
    fn note_data(&mut self) {
        for &number in &self.clusters {
            if let Some(data) = self.plan.clusters()[number].data {
                let place = || Place::in_cluster(Instant::START, Some(number));
                self.gauges[Assumption::DataFit].note(data.room, data.pages, place);
            }
        }
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
