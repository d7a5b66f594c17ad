//! Checkers of clusters with certificates: EDF, blocking and idling on every unit, and garbage collection against the certificate.

use std::collections::{HashMap, VecDeque};

use rtflash_model::Instant;

use super::gauge::{Gauge, Place};
use super::ledger::Pending;
use super::timing::{longest_step, place};
use crate::plan::Plan;
use crate::trace::{Action, JobId, Kind, Operation, Reserve, Selection};

/// What a unit was doing over [start, end): a step, or an operation of one.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    start: Instant,
    end: Instant,
    /// The earliest deadline that a page of it was for.
    deadline: u64,
}

/// A unit, as its operations tell of it.
#[derive(Debug, Default)]
struct Line {
    under_way: Option<Stretch>,
    /// Whether no chip has done anything but users' reads in it, and what the reads waited for their buses: each with what others may make it wait.
    only_reads: bool,
    waits: Vec<(u64, u64, Place)>,
    /// Since when it has been busy without a break.
    busy_since: Instant,
    /// Time that copies without pages took, not looked at yet.
    silent: VecDeque<(Instant, Instant)>,
    /// What it did before, the latest last.
    before: VecDeque<Stretch>,
    /// Starts that a later look may still ask for: ascending in time, descending in deadline.
    latest: Vec<(Instant, u64)>,
}

/// Stretches of a unit that are remembered at most.
const REMEMBERED: usize = 4096;

impl Line {
    /// The stretch under way is over: another one begins.
    fn close(&mut self) {
        let Some(stretch) = self.under_way.take() else { return };
        while self.latest.last().is_some_and(|&(_, earlier)| earlier <= stretch.deadline) {
            self.latest.pop();
        }
        self.latest.push((stretch.start, stretch.deadline));
        if self.latest.len() > REMEMBERED {
            self.latest.drain(..REMEMBERED / 2);
        }
        if self.before.len() == REMEMBERED {
            self.before.pop_front();
        }
        self.before.push_back(stretch);
    }

    /// When it last was idle before an operation starts.
    fn busy_until(&mut self, start: Instant) {
        let mut end = self.before.back().map_or(Instant::START, |last| last.end);
        while let Some(&(from, to)) = self.silent.front().filter(|&&(from, _)| from < start) {
            self.silent.pop_front();
            if from > end {
                self.busy_since = from;
            }
            end = end.max(to);
        }
        if start > end {
            self.busy_since = start;
        }
    }
}

/// What a certificate bounds, for one unit.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    victim: u64,
    open: u64,
    pass: u64,
    /// The longest step.
    step: u64,
    stripe: bool,
    first_chip: u32,
}

/// All units that are watched.
#[derive(Debug)]
pub(super) struct Units {
    of_chip: Vec<Option<usize>>,
    /// For each chip, what chips of other clusters may make its transfers wait.
    foreign: Vec<u64>,
    bounds: Vec<Bounds>,
    lines: Vec<Line>,
    blocks: usize,
    /// Whether copies without pages are told of, so that idling can be told from them.
    hears_silence: bool,
    /// Pages copied from each block of each unit since it was erased.
    copied: Vec<u64>,
    /// Time that a job's pass has taken a chip.
    passes: HashMap<(u32, JobId), u64>,
    /// Waiting of users' reads in superblocks for chips of other clusters.
    pub(super) waits: Gauge,
    pub(super) order: Gauge,
    pub(super) idling: Gauge,
    pub(super) blocking: Gauge,
    pub(super) victims: Gauge,
    pub(super) cost: Gauge,
    pub(super) open: Gauge,
    pub(super) reserve: Gauge,
}

impl Units {
    pub(super) fn new(plan: &Plan, clusters: &[u32]) -> Units {
        let device = plan.device();
        let mut of_chip = vec![None; device.chips() as usize];
        let mut foreign = vec![0; device.chips() as usize];
        let mut bounds = Vec::new();
        for cluster in clusters.iter().filter_map(|&position| plan.clusters().get(position as usize)) {
            let collection = cluster.certificate.and_then(|certificate| certificate.collection);
            let stripe = cluster.is_stripe();
            let step = longest_step(plan, cluster);
            for (place, &chip) in cluster.chips.iter().enumerate() {
                if stripe || place == 0 {
                    bounds.push(Bounds {
                        victim: collection.map_or(0, |of| of.victim_pages),
                        open: collection.map_or(0, |of| of.open_blocks),
                        pass: cluster.pass_cost(device).unwrap_or_default().as_ns(),
                        step: step.as_ns(),
                        stripe,
                        first_chip: chip,
                    });
                }
                of_chip[chip as usize] = Some(bounds.len() - 1);
                let channel = device.channel_of(chip);
                let own = cluster.chips.iter().filter(|&&other| device.channel_of(other) == channel).count();
                let ways = device.chips_on(channel) as usize;
                foreign[chip as usize] = ways.saturating_sub(own) as u64 * device.page_transfer().as_ns();
            }
        }
        let blocks = device.blocks_per_chip() as usize;
        Units {
            of_chip,
            foreign,
            lines: bounds.iter().map(|_| Line::default()).collect(),
            copied: vec![0; bounds.len() * blocks],
            bounds,
            blocks,
            hears_silence: true,
            passes: HashMap::new(),
            waits: Gauge::default(),
            order: Gauge::default(),
            idling: Gauge::default(),
            blocking: Gauge::default(),
            victims: Gauge::default(),
            cost: Gauge::default(),
            open: Gauge::default(),
            reserve: Gauge::default(),
        }
    }

    /// Only records will be told of.
    pub(super) fn hears_no_silence(&mut self) {
        self.hears_silence = false;
    }

    fn unit(&self, chip: u32) -> Option<usize> {
        self.of_chip.get(chip as usize).copied().flatten()
    }

    pub(super) fn silent(&mut self, chip: u32, start: Instant, end: Instant) {
        if let Some(unit) = self.unit(chip) {
            self.lines[unit].silent.push_back((start, end));
        }
    }

    pub(super) fn selected(&mut self, selection: &Selection) {
        let Some(unit) = self.unit(selection.chip) else { return };
        let bounds = self.bounds[unit];
        let at = || Place {
            at: selection.at,
            job: Some(selection.job),
            cluster: Some(selection.cluster),
            chip: Some(selection.chip),
        };
        self.victims.note(bounds.victim, selection.valid.into(), at);
        self.open.note(bounds.open, selection.not_closed, at);
    }

    pub(super) fn reserve(&mut self, reserve: &Reserve) {
        let at = || Place { at: reserve.at, job: None, cluster: Some(reserve.cluster), chip: Some(reserve.chip) };
        self.reserve.note(reserve.free, reserve.pending, at);
    }

    pub(super) fn operation(&mut self, operation: &Operation, pending: &Pending, plan: &Plan) {
        let Some(unit) = self.unit(operation.chip) else { return };
        let (bounds, line) = (self.bounds[unit], &mut self.lines[unit]);
        let (deadline, gc) = (pending.deadline(), operation.kind == Kind::Gc);
        let copies = bounds.stripe && gc;
        // A copy inside a chip is one operation in two records.
        let end = match operation.action {
            Action::Read if copies => operation.end.saturating_add(plan.device().page_program()),
            _ => operation.end,
        };
        match &mut line.under_way {
            Some(under_way) if under_way.start == operation.start || copies && operation.action == Action::Program => {
                under_way.end = under_way.end.max(end);
                under_way.deadline = under_way.deadline.min(deadline);
            }
            _ => {
                let waits = std::mem::take(&mut line.waits);
                if line.only_reads {
                    waits.iter().for_each(|&(bound, waited, place)| self.waits.note(bound, waited, || place));
                }
                (line.waits, line.only_reads) = (waits, true);
                line.waits.clear();
                line.close();
                line.busy_until(operation.start);
                line.under_way = Some(Stretch { start: operation.start, end, deadline });
            }
        }
        if !bounds.stripe {
            line.only_reads &= operation.action == Action::Read && !gc;
            let alone = plan.timing().read();
            let waited = operation.end.since(operation.start).saturating_sub(alone).as_ns();
            let bound = self.foreign.get(operation.chip as usize).copied().unwrap_or_default();
            line.waits.push((bound, waited, place(operation.start, pending, Some(operation.chip))));
        }
        if !pending.was_starved {
            self.judge(unit, operation, pending, deadline);
        }
        if gc {
            self.collects(unit, operation, pending);
        }
    }

    /// Whether an operation had to wait for what it should not have waited for.
    fn judge(&mut self, unit: usize, operation: &Operation, pending: &Pending, deadline: u64) {
        let (line, released) = (&self.lines[unit], pending.release.at);
        let at = || place(operation.start, pending, Some(operation.chip));
        // All of a job waits on its units from its release on.
        let since = line.latest.partition_point(|&(start, _)| start < released);
        // The latest deadline since then comes first.
        let late = line.latest.get(since).map_or(0, |&(_, latest)| latest.saturating_sub(deadline));
        self.order.note(0, late.min(i64::MAX.unsigned_abs()), at);
        if pending.release.deadline.is_none() {
            return;
        }
        if self.hears_silence {
            self.idling.note(0, line.busy_since.since(released).as_ns(), at);
        }
        let first = line.before.partition_point(|stretch| stretch.start < released);
        let blocker = first.checked_sub(1).and_then(|last| line.before.get(last));
        if let Some(blocker) = blocker.filter(|blocker| blocker.end > released && blocker.deadline > deadline) {
            self.blocking.note(self.bounds[unit].step, blocker.end.since(released).as_ns(), at);
        }
    }

    /// Garbage collection does something.
    fn collects(&mut self, unit: usize, operation: &Operation, pending: &Pending) {
        let bounds = self.bounds[unit];
        let at = || place(operation.start, pending, Some(operation.chip));
        let pass = (operation.chip, operation.job);
        let time = self.passes.entry(pass).or_default();
        *time = time.saturating_add(operation.end.since(operation.start).as_ns());
        let Some(copied) = self.copied.get_mut(unit * self.blocks + operation.block as usize) else { return };
        match operation.action {
            Action::Read => *copied += 1,
            Action::Program => {}
            Action::Erase => {
                let time = self.passes.remove(&pass).unwrap_or_default();
                self.cost.note(bounds.pass, time, at);
                if operation.chip == bounds.first_chip {
                    self.victims.note(bounds.victim, std::mem::take(copied), at);
                }
            }
        }
    }
}
