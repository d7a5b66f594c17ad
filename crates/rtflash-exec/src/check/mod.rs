//! Observers that judge: each sees only the events of a run, guards one assumption, and keeps the worst that it has seen.
//!
//! They know the plan (what was promised) and not the machine: a recorded trace is judged by the same checkers.

mod assumptions;
mod flash;
mod gauge;
mod ledger;
mod order;
mod timing;
mod units;

use rtflash_model::{Instant, Span};

pub use assumptions::{ASSUMPTIONS, Assumption, CERTIFIED, Unit};
pub use gauge::{Gauge, Place, Worst};

use crate::options::Dispatch;
use crate::plan::Plan;
use crate::trace::{Complete, Kind, Observer, Operation, Release, Reserve, Selection, Starved, Transfer};
use flash::{BusExclusion, ChipExclusion, Mapping, PageOrder};
pub(crate) use ledger::Ledger;
use order::{ParallelEdf, SerialEdf, UnderWay};
use timing::{Blocking, BusWait, Deadlines, Overdue, Passes, Service, lateness, place};
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
    ledger: Ledger,
    /// For each chip of the device that is watched: its cluster, its position in it, and among the chips that are watched.
    chips: Vec<Option<(u32, u32, usize)>>,
    deadlines: Deadlines,
    server_deadlines: Deadlines,
    overdue: Overdue,
    server_overdue: Overdue,
    service: Service,
    bus_wait: BusWait,
    passes: Passes,
    starved: Gauge,
    blocking: Blocking,
    serial: SerialEdf,
    parallel: ParallelEdf,
    under_way: UnderWay,
    /// Under certificates, in place of the five before.
    units: Option<Units>,
    chip_exclusion: ChipExclusion,
    bus_exclusion: BusExclusion,
    page_order: PageOrder,
    mapping: Mapping,
    conservation: Gauge,
    completed: u64,
    released: u64,
}

impl<'a> Checks<'a> {
    /// Checkers that watch the clusters at these positions of the plan.
    pub fn new(plan: &'a Plan, dispatch: Dispatch, clusters: &[u32]) -> Checks<'a> {
        let mut chips = vec![None; plan.device().chips() as usize];
        let mut watched = 0;
        for (&number, cluster) in
            clusters.iter().filter_map(|cluster| Some((cluster, plan.clusters().get(*cluster as usize)?)))
        {
            for (&chip, position) in cluster.chips.iter().zip(0..) {
                chips[chip as usize] = Some((number, position, watched));
                watched += 1;
            }
        }
        let places = match dispatch {
            Dispatch::Serial => plan.clusters().len(),
            Dispatch::Parallel => plan.device().chips() as usize,
        };
        Checks {
            plan,
            dispatch,
            ledger: Ledger::new(plan.sources().len()),
            chips,
            deadlines: Deadlines::default(),
            server_deadlines: Deadlines::default(),
            overdue: Overdue::default(),
            server_overdue: Overdue::default(),
            service: Service::default(),
            bus_wait: BusWait::default(),
            passes: Passes::new(watched),
            starved: Gauge::default(),
            blocking: Blocking::default(),
            serial: SerialEdf::new(plan.clusters().len()),
            parallel: ParallelEdf::default(),
            under_way: UnderWay::new(places),
            units: plan.is_certified().then(|| Units::new(plan, clusters)),
            chip_exclusion: ChipExclusion::new(plan),
            bus_exclusion: BusExclusion::new(plan),
            page_order: PageOrder::new(plan, watched),
            mapping: Mapping::new(plan, watched, clusters),
            conservation: Gauge::default(),
            completed: 0,
            released: 0,
        }
    }

    /// Checkers that are shown the records of a trace, and so not what no record tells of.
    pub fn of_trace(plan: &'a Plan, dispatch: Dispatch, clusters: &[u32]) -> Checks<'a> {
        let mut checks = Checks::new(plan, dispatch, clusters);
        if let Some(units) = &mut checks.units {
            units.hears_no_silence();
        }
        checks
    }

    /// What was found, in the order of [`ASSUMPTIONS`], or [`CERTIFIED`] under certificates, when the run ended at `duration`.
    pub fn finish(mut self, duration: Instant) -> Vec<Finding> {
        let mut pending = 0;
        for job in self.ledger.pending() {
            pending += 1;
            match job.release.kind {
                Kind::Server => self.server_overdue.end(duration, job, lateness(self.plan, job)),
                _ => self.overdue.end(duration, job, Span::ZERO),
            }
        }
        let lost = self.released.abs_diff(self.completed + pending);
        self.conservation.note(0, lost, || Place { at: duration, ..Place::default() });
        let order = match self.dispatch {
            Dispatch::Serial => self.serial.gauge,
            Dispatch::Parallel => self.parallel.gauge,
        };
        let gauges = [
            self.deadlines.gauge,
            self.overdue.gauge,
            self.server_deadlines.gauge,
            self.server_overdue.gauge,
            self.service.gauge,
            self.bus_wait.gauge,
            self.passes.cost,
            self.passes.victims,
            self.starved,
            self.blocking.gauge,
            order,
            self.chip_exclusion.gauge,
            self.bus_exclusion.gauge,
            self.page_order.gauge,
            self.mapping.gauge,
            self.conservation,
        ];
        let Some(units) = self.units else {
            return ASSUMPTIONS
                .into_iter()
                .zip(gauges)
                .map(|(assumption, gauge)| Finding { assumption, gauge })
                .collect();
        };
        let mut certified = [Gauge::default(); CERTIFIED.len()];
        certified[..gauges.len()].copy_from_slice(&gauges);
        certified[5].merge(&units.waits);
        (certified[6], certified[7]) = (units.cost, units.victims);
        (certified[9], certified[10]) = (units.blocking, units.order);
        (certified[16], certified[17], certified[18]) = (units.idling, units.open, units.reserve);
        CERTIFIED.into_iter().zip(certified).map(|(assumption, gauge)| Finding { assumption, gauge }).collect()
    }

    fn unlawful(&mut self, at: Instant, job: crate::trace::JobId) {
        self.conservation.note(0, 1, || Place { at, job: Some(job), ..Place::default() });
    }

    /// Looks for operations under way that block a job released now.
    fn look_for_blocking(&mut self, release: &Release) {
        let Some(cluster) = release.cluster else { return };
        let Some(pending) = self.ledger.get(release.job) else { return };
        let erase = self.plan.device().block_erase();
        match self.dispatch {
            Dispatch::Serial => {
                if let Some(left) = self.under_way.blocks(cluster, release.at, pending.deadline()) {
                    let chips = self.plan.clusters().get(cluster as usize).map(|cluster| cluster.chips.as_slice());
                    let chip = chips.and_then(|chips| chips.first()).copied().unwrap_or_default();
                    self.blocking.blocked(left, erase, pending, chip);
                }
            }
            Dispatch::Parallel => {
                let chips = self.plan.clusters().get(cluster as usize).map_or(&[][..], |cluster| &cluster.chips);
                for &chip in chips {
                    if let Some(left) = self.under_way.blocks(chip, release.at, pending.deadline()) {
                        pending.blockers.push((chip, left));
                    }
                }
            }
        }
    }
}

impl Observer for Checks<'_> {
    fn release(&mut self, release: &Release) {
        self.released += 1;
        if !self.ledger.release(release) {
            self.released -= 1;
            self.unlawful(release.at, release.job);
            return;
        }
        if self.units.is_some() {
            return;
        }
        self.look_for_blocking(release);
        if let (Dispatch::Serial, Some(pending)) = (self.dispatch, self.ledger.get(release.job)) {
            self.serial.waits(pending);
        }
    }

    fn complete(&mut self, complete: &Complete) {
        let Some(pending) = self.ledger.complete(complete.job) else {
            self.unlawful(complete.at, complete.job);
            return;
        };
        self.completed += 1;
        self.conservation
            .note(0, u64::from(pending.pages != pending.release.pages), || place(complete.at, &pending, None));
        match pending.release.kind {
            Kind::Server => self.server_deadlines.complete(complete, &pending, lateness(self.plan, &pending)),
            _ => self.deadlines.complete(complete, &pending, Span::ZERO),
        }
        self.service.complete(complete, &pending, self.plan);
        if self.units.is_none() && self.dispatch == Dispatch::Serial {
            self.serial.leaves(&pending);
        }
    }

    fn starved(&mut self, starved: &Starved) {
        let Some(pending) = self.ledger.get(starved.job) else {
            self.unlawful(starved.at, starved.job);
            return;
        };
        (pending.starved, pending.was_starved) = (true, true);
        self.starved.note(0, 1, || place(starved.at, pending, Some(starved.chip)));
        if self.units.is_none() && self.dispatch == Dispatch::Serial {
            self.serial.leaves(pending);
        }
    }

    fn operations(&mut self, operations: &[Operation]) {
        let Some(first) = operations.first() else { return };
        let Some(pending) = self.ledger.get(first.job) else {
            self.unlawful(first.start, first.job);
            return;
        };
        let serial = self.units.is_none() && self.dispatch == Dispatch::Serial;
        if pending.starved {
            pending.starved = false;
            if serial {
                self.serial.waits(pending);
            }
        }
        if serial {
            self.serial.operation(first, pending);
            self.under_way.begins(first.cluster, first, pending.deadline());
        }
        let gc = first.kind == Kind::Gc;
        for operation in operations {
            let known = self.chips.get(operation.chip as usize).copied().flatten();
            let Some((_, position, chip)) = known.filter(|&(cluster, ..)| cluster == operation.cluster) else {
                // A chip of another cluster.
                self.conservation.note(0, 1, || place(operation.start, pending, Some(operation.chip)));
                continue;
            };
            if let Some(units) = &mut self.units {
                units.operation(operation, pending, self.plan);
            } else if self.dispatch == Dispatch::Parallel {
                if let Some(at) = pending.blockers.iter().position(|&(blocker, _)| blocker == operation.chip) {
                    let (_, left) = pending.blockers.swap_remove(at);
                    self.blocking.blocked(left, self.plan.device().block_erase(), pending, operation.chip);
                }
                self.parallel.operation(operation, pending);
                self.under_way.begins(operation.chip, operation, pending.deadline());
            }
            self.chip_exclusion.operation(operation);
            self.page_order.operation(operation, chip);
            self.mapping.operation(operation, position, chip);
            if gc && self.units.is_some() {
                // The units have seen it.
            } else if gc {
                self.passes.operation(operation, chip, pending, self.plan);
            } else {
                pending.service = pending.service.saturating_add(operation.end.since(operation.start).as_ns());
                pending.pages += 1;
                pending.begun.get_or_insert(operation.start);
                self.bus_wait.operation(operation, pending, self.plan);
            }
        }
    }

    fn transfer(&mut self, transfer: &Transfer) {
        self.bus_exclusion.transfer(transfer);
    }

    fn selected(&mut self, selection: &Selection) {
        if let Some(units) = &mut self.units {
            units.selected(selection);
        }
    }

    fn reserve(&mut self, reserve: &Reserve) {
        if let Some(units) = &mut self.units {
            units.reserve(reserve);
        }
    }

    fn silent(&mut self, _: u32, chip: u32, start: Instant, end: Instant) {
        if let Some(units) = &mut self.units {
            units.silent(chip, start, end);
        }
    }

    #[inline]
    fn expect(&self, cluster: u32, lpn: u32) {
        self.mapping.prefetch(cluster, lpn);
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
