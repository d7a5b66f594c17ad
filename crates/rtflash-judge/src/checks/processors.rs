//! Checkers of clusters with certificates: EDF, blocking and idling on every processor.

use std::collections::VecDeque;

use rtflash_model::{ChipId, ClusterId, Instant, PerId, Span};
use rtflash_plan::{Certified, Plan};
use rtflash_trace::{Action, JobId, Kind, Operation};
use serde::{Deserialize, Serialize};

use super::longest::longest_blocker;
use super::read_waits::{ReadTimes, ReadWaits};
use crate::Assumption;
use crate::gauge::{Gauge, Gauges};
use crate::shadow::jobs::Pending;

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Stretch {
    start: Instant,
    end: Instant,
    /// The earliest deadline that a page of it was for.
    deadline: u64,
    erases: bool,
}

const REMEMBERED: usize = 4096;

#[derive(Debug, Default, Serialize, Deserialize)]
struct ProcessorLine {
    bounds: Bounds,
    under_way: Option<Stretch>,
    reads: ReadWaits,
    job: Option<JobId>,
    /// The job judged last, if it has waited for nothing: while only its own operations follow,
    /// without a break, they find the same.
    judged: Option<JobId>,
    busy_since: Instant,
    /// Time that copies without pages took, not judged yet.
    paddings: VecDeque<(Instant, Instant)>,
    suspended: Option<JobId>,
    over: Option<Instant>,
    before: VecDeque<Stretch>,
    latest: Vec<(Instant, u64)>,
}

impl ProcessorLine {
    /// A step begins: whether the last one was suspended though nothing was more urgent, rule P1.
    #[inline(always)]
    fn is_without_reason(&mut self, operation: &Operation) -> bool {
        let part = Some(operation.job).filter(|_| operation.action == Action::ErasePart);
        std::mem::replace(&mut self.suspended, part) == Some(operation.job)
    }

    #[inline(always)]
    fn ends(&mut self, stretch: Stretch) {
        if self.before.len() == REMEMBERED {
            self.before.pop_front();
        }
        self.before.push_back(stretch);
        // Nearly always it is of the same job as the one before.
        if let Some((start, deadline)) = self.latest.last_mut()
            && *deadline == stretch.deadline
        {
            *start = stretch.start;
            return;
        }
        while let Some(&(_, earlier)) = self.latest.last()
            && earlier <= stretch.deadline
        {
            self.latest.pop();
        }
        self.latest.push((stretch.start, stretch.deadline));
        if self.latest.len() > REMEMBERED {
            self.latest.drain(..REMEMBERED / 2);
        }
    }

    #[inline(always)]
    fn busy_until(&mut self, start: Instant) {
        if start > self.passed(start) {
            self.breaks(start);
        }
    }

    /// Until when the processor was busy before the copies without pages that begin before `start`.
    #[inline(always)]
    fn passed(&mut self, start: Instant) -> Instant {
        let mut end = self.before.back().map_or(Instant::START, |last| last.end);
        while let Some(&(from, to)) = self.paddings.front().filter(|&&(from, _)| from < start) {
            self.paddings.pop_front();
            if from > end {
                self.breaks(from);
            }
            end = end.max(to);
        }
        end
    }

    #[inline(never)]
    fn breaks(&mut self, until: Instant) {
        (self.busy_since, self.judged) = (until, None);
    }

    fn over(&mut self) -> Instant {
        if let Some(end) = self.over {
            return end;
        }
        if let Some(last) = self.under_way.take() {
            self.ends(last);
        }
        let end = self.passed(Instant::END);
        self.over = Some(end);
        end
    }
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Bounds {
    step: u64,
    erase: u64,
    stripe: bool,
    cached: bool,
    backfill: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Processors {
    /// For each chip, what chips of other clusters may make its transfers wait.
    foreign_waits: PerId<ChipId, u64>,
    times: ReadTimes,
    program: Span,
    lines: Vec<ProcessorLine>,
    /// Waiting of reads in superblocks for other clusters and of a pass's for each other, which
    /// rule D3 must not lengthen; and pages filled in where none may be.
    pub(crate) waits: Gauge,
}

impl Processors {
    pub(crate) fn new(plan: &Plan, certified: &PerId<ClusterId, Certified>, clusters: &[ClusterId]) -> Processors {
        let (device, timing) = (plan.device(), plan.timing());
        let mut foreign_waits = plan.per_chip(0);
        let mut lines = Vec::new();
        for &number in clusters {
            let (cluster, by) = (&plan.clusters()[number], &certified[number]);
            let (step, stripe) = (longest_blocker(plan, cluster, by).as_ns(), by.is_stripe());
            let suspends = by.certificate.suspends_erases(device);
            let erase = device.erase_suspend().filter(|_| suspends).map_or(step, Span::as_ns);
            let bounds = Bounds { step, erase, stripe, cached: by.is_cached(), backfill: by.may_backfill() };
            let processors = if stripe { cluster.chips.len() } else { 1 };
            lines.extend((0..processors).map(|_| ProcessorLine { bounds, ..ProcessorLine::default() }));
            for &chip in &cluster.chips {
                foreign_waits[chip] = plan.transfers(plan.foreign_chips(cluster, chip)).as_ns();
            }
        }
        let times =
            ReadTimes { hold: device.bus_hold().as_ns(), alone: timing.read().as_ns(), asks: timing.asks_of_a_read() };
        Processors { times, program: device.page_program(), foreign_waits, lines, waits: Gauge::default() }
    }

    pub(crate) fn padding(&mut self, processor: usize, start: Instant, end: Instant) {
        self.lines[processor].paddings.push_back((start, end));
    }

    pub(crate) fn starves(&mut self, processor: usize) {
        self.lines[processor].suspended = None;
    }

    pub(crate) fn step_end(&self, processor: usize) -> Option<Instant> {
        self.lines[processor].under_way.map(|step| step.end)
    }

    /// Whether the step that was recorded last ends at this instant, and erases if it is said to.
    pub(crate) fn has_ended(&self, processor: usize, at: Instant, erases: bool) -> bool {
        self.lines[processor].under_way.is_some_and(|step| step.end == at && step.erases == erases)
    }

    pub(crate) fn busy_since(&self, processor: usize) -> Instant {
        self.lines[processor].busy_since
    }

    #[inline(always)]
    pub(crate) fn operation(
        &mut self,
        operation: &Operation,
        processor: usize,
        repeated: bool,
        pending: &Pending,
        plan: &Plan,
        gauges: &mut Gauges,
    ) {
        let line = &mut self.lines[processor];
        let bounds = line.bounds;
        let (deadline, gc) = (pending.deadline(), operation.kind == Kind::Gc);
        let copies = bounds.stripe && gc;
        // A copy inside a chip is one operation in two records.
        let end = match operation.action {
            Action::Read if copies => operation.end.saturating_add(self.program),
            _ => operation.end,
        };
        match &mut line.under_way {
            // A failed program is repeated before anything else: the step goes on.
            Some(under_way) if repeated => {
                under_way.end = if copies { end } else { under_way.end.max(end) };
                return;
            }
            Some(under_way) if under_way.start == operation.start || copies && operation.action == Action::Program => {
                // How long the program of a copy takes is known with its record.
                under_way.end = if copies { end } else { under_way.end.max(end) };
                under_way.deadline = under_way.deadline.min(deadline);
                // A page that is filled in makes the step's own wait.
                let own = line.job == Some(operation.job) && (gc || operation.action != Action::Read);
                if !bounds.stripe && !bounds.backfill && !own {
                    self.waits.note(0, self.times.hold, || pending.place(operation.start, Some(operation.chip)));
                }
            }
            _ => {
                line.reads.judge(self.times, &mut self.waits);
                let erases = operation.action.erases();
                let last = line.under_way.replace(Stretch { start: operation.start, end, deadline, erases });
                if line.is_without_reason(operation) {
                    let place = || pending.place(operation.start, Some(operation.chip));
                    gauges[Assumption::EdfOrder].note(0, 1, place);
                }
                if line.job != Some(operation.job) || last.is_some_and(|last| last.start > operation.start) {
                    (line.job, line.judged) = (Some(operation.job), None);
                }
                if let Some(last) = last {
                    line.ends(last);
                }
                line.busy_until(operation.start);
            }
        }
        if !bounds.stripe && (gc || !bounds.cached) {
            let foreign = self.foreign_waits[operation.chip];
            line.reads.note(operation, foreign, self.times, pending, plan);
        }
        if line.judged != Some(operation.job) && !pending.was_starved {
            line.judge(operation, pending, deadline, gauges);
        }
    }
}

impl ProcessorLine {
    /// Whether it waited for what it should not have: rules R2, S2 and D1.
    fn judge(&mut self, operation: &Operation, pending: &Pending, deadline: u64, gauges: &mut Gauges) {
        let released = pending.release.at;
        let place = || pending.place(operation.start, Some(operation.chip));
        // All of a job waits on its processors from its release on. The latest deadline since then
        // comes first.
        let since = self.latest.partition_point(|&(start, _)| start < released);
        let late = self.latest.get(since).map_or(0, |&(_, latest)| latest.saturating_sub(deadline));
        gauges[Assumption::EdfOrder].note(0, late.min(i64::MAX.unsigned_abs()), place);
        self.judged = Some(operation.job).filter(|_| late == 0 && operation.start >= released);
        if pending.release.deadline.is_none() {
            return;
        }
        let idle = self.busy_since.since(released).as_ns();
        gauges[Assumption::WorkConserving].note(0, idle, place);
        let first = self.before.partition_point(|stretch| stretch.start < released);
        let blocker = first.checked_sub(1).map(|last| self.before[last]);
        let (mut blocked, mut bound) = (0, self.bounds.step);
        if let Some(blocker) = blocker.filter(|blocker| blocker.end > released && blocker.deadline > deadline) {
            blocked = blocker.end.since(released).as_ns();
            if blocker.erases {
                bound = self.bounds.erase;
            }
            gauges[Assumption::OneBlockingErase].note(bound, blocked, place);
        }
        if idle > 0 || blocked > bound {
            self.judged = None;
        }
    }
}

impl Processors {
    /// A job is pending on its cluster's only processor, that of a chip: it should not have idled.
    pub(crate) fn end(
        &self,
        processor: usize,
        chip: ChipId,
        duration: Instant,
        pending: &Pending,
        gauges: &mut Gauges,
    ) {
        let line = &self.lines[processor];
        let last = line.under_way.map_or(Instant::START, |step| step.end);
        let padded = line.paddings.back().map_or(Instant::START, |&(_, end)| end);
        let since = last.max(padded).max(pending.release.at);
        let place = || pending.place(duration, Some(chip));
        gauges[Assumption::WorkConserving].note(0, duration.since(since).as_ns(), place);
    }

    /// In a stripe a job's pages wait on chips that do not change, from its release on: one of
    /// their processors has been busy ever since. Collection is its own chip's affair.
    pub(crate) fn end_on_chips(
        &mut self,
        processors: impl Iterator<Item = usize>,
        duration: Instant,
        pending: &Pending,
        gauges: &mut Gauges,
    ) {
        let released = pending.release.at;
        let idle = processors.map(|processor| {
            let line = &mut self.lines[processor];
            duration.since(line.over().max(released)).max(line.busy_since.since(released))
        });
        let idle = idle.min().map_or(0, Span::as_ns);
        gauges[Assumption::WorkConserving].note(0, idle, || pending.place(duration, None));
    }
}

#[cfg(test)]
mod tests {
    use rtflash_model::Lpn;
    use rtflash_plan::{BlockId, SourceId};
    use rtflash_trace::Release;

    use super::*;
    use crate::samples::{at, plan};
    use crate::shadow::jobs::Ledger;

    const JOB: JobId = JobId { source: SourceId(0), index: 0 };

    /// An operation of the job's copies on the first chip.
    fn copies(start: u64, action: Action, took: u64) -> Operation {
        Operation {
            start: at(start),
            end: at(start + took),
            cluster: ClusterId(0),
            chip: ChipId(0),
            action,
            job: JOB,
            kind: Kind::Gc,
            block: BlockId(0),
            page: 0,
            lpn: Lpn(0),
        }
    }

    /// The record of a program states how long it takes, also if a failed copy is made once more.
    #[test]
    fn a_copy_that_is_made_once_more_is_over_with_its_program() {
        let plan = plan();
        let mut ledger = Ledger::new(plan.sources().len(), false);
        let (kind, deadline, cluster) = (Kind::Gc, Some(at(9)), Some(ClusterId(0)));
        ledger.release(&Release { at: at(0), job: JOB, kind, deadline, pages: 0, cluster });
        let pending = ledger.get(JOB).expect("it is released");
        let bounds = Bounds { stripe: true, ..Bounds::default() };
        let mut processors = Processors {
            foreign_waits: plan.per_chip(0),
            times: ReadTimes { hold: 0, alone: 5, asks: 1 },
            program: Span::from_ns(11).expect("a short time"),
            lines: vec![ProcessorLine { bounds, ..ProcessorLine::default() }],
            waits: Gauge::default(),
        };
        let copy = [(100, Action::Read, 5, false), (105, Action::Program, 2, false)];
        let again = [(107, Action::Read, 5, true), (112, Action::Program, 2, true)];
        for (start, action, took, repeated) in copy.into_iter().chain(again) {
            let of = copies(start, action, took);
            processors.operation(&of, 0, repeated, pending, &plan, &mut Gauges::default());
        }
        assert_eq!(processors.step_end(0), Some(at(114)));
        let next = copies(115, Action::Read, 5);
        processors.operation(&next, 0, false, pending, &plan, &mut Gauges::default());
        assert_eq!(processors.busy_since(0), at(115));
    }

    /// A line that was busy over [0, 10).
    fn line() -> ProcessorLine {
        let before = VecDeque::from([Stretch { start: at(0), end: at(10), deadline: 0, erases: false }]);
        ProcessorLine { before, ..ProcessorLine::default() }
    }

    #[test]
    fn copies_without_pages_keep_a_processor_busy() {
        for (paddings, start, since) in [
            // Nothing between two steps, back to back or apart.
            (vec![], 10, 0),
            (vec![], 11, 11),
            // A step that ends when the next begins, or later.
            (vec![(10, 20)], 20, 0),
            (vec![(10, 15), (15, 20)], 20, 0),
            (vec![(10, 15), (12, 20)], 20, 0),
            // Idleness before the padding, between, and after it.
            (vec![(11, 20)], 20, 11),
            (vec![(10, 15), (16, 20)], 20, 16),
            (vec![(10, 15)], 20, 20),
            // Copies that begin later do not count.
            (vec![(10, 20), (30, 40)], 20, 0),
        ] {
            let mut line = line();
            line.paddings.extend(paddings.iter().map(|&(from, to)| (at(from), at(to))));
            line.busy_until(at(start));
            assert_eq!(line.busy_since, at(since), "{paddings:?}, {start}");
        }
    }
}
