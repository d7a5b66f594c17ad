//! Checkers of dispatching: earliest deadline first, and who blocks whom.

use std::collections::BTreeSet;

use rtflash_model::{ChipId, ClusterId, Instant, Lpn, PerId, Span};
use rtflash_plan::Plan;
use rtflash_trace::{Action, JobId, Kind, Moved, Operation, Padding};
use serde::{Deserialize, Serialize};

use crate::Assumption;
use crate::gauge::{Gauge, Gauges};
use crate::place::Place;
use crate::shadow::jobs::Pending;

/// How much earlier than the deadline served the earliest one that had to wait was, against zero.
/// Starved jobs do not count: they cannot go on.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SerialEdf {
    clusters: PerId<ClusterId, PendingQueue>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct PendingQueue {
    pending: BTreeSet<(u64, JobId)>,
    /// The last job that was found to be the right one, as long as nothing has changed.
    right: Option<JobId>,
}

impl SerialEdf {
    pub(crate) fn new(plan: &Plan) -> Self {
        SerialEdf { clusters: plan.per_cluster(PendingQueue::default()) }
    }

    fn queue(&mut self, pending: &Pending) -> Option<&mut PendingQueue> {
        Some(&mut self.clusters[pending.release.cluster?])
    }

    pub(crate) fn waits(&mut self, pending: &Pending) {
        if let Some(queue) = self.queue(pending) {
            queue.right = None;
            queue.pending.insert((pending.deadline(), pending.release.job));
        }
    }

    pub(crate) fn leaves(&mut self, pending: &Pending) {
        if let Some(queue) = self.queue(pending) {
            queue.right = None;
            queue.pending.remove(&(pending.deadline(), pending.release.job));
        }
    }

    #[inline(always)]
    pub(crate) fn operation(&mut self, operation: &Operation, pending: &Pending, gauge: &mut Gauge) {
        let queue = &mut self.clusters[operation.cluster];
        if queue.right == Some(operation.job) {
            return;
        }
        let first = queue.pending.first().map_or(u64::MAX, |&(deadline, _)| deadline);
        let late = pending.deadline().saturating_sub(first);
        gauge.note(0, late.min(i64::MAX.unsigned_abs()), || Place::from(operation));
        if late == 0 {
            queue.right = Some(operation.job);
        }
    }
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct BusyTime {
    since: Instant,
    until: Instant,
}

impl BusyTime {
    fn works(&mut self, start: Instant, end: Instant) {
        if start > self.until {
            self.since = start;
        }
        self.until = end.max(self.until);
    }
}

/// How long a cluster under serial dispatch idled while a job waited for it, against zero.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SerialIdling {
    busy: PerId<ClusterId, BusyTime>,
}

impl SerialIdling {
    pub(crate) fn new(plan: &Plan) -> Self {
        SerialIdling { busy: plan.per_cluster(BusyTime::default()) }
    }

    #[inline]
    pub(crate) fn serves(
        &mut self,
        cluster: ClusterId,
        start: Instant,
        end: Instant,
        pending: &Pending,
        gauges: &mut Gauges,
    ) {
        let busy = &mut self.busy[cluster];
        busy.works(start, end);
        if !pending.was_starved {
            let idle = busy.since.since(pending.release.at);
            gauges[Assumption::WorkConserving].note(0, idle.as_ns(), || pending.place(start, None));
        }
    }

    pub(crate) fn end(&self, duration: Instant, pending: &Pending, gauges: &mut Gauges) {
        let Some(cluster) = pending.release.cluster else { return };
        let idle = duration.since(self.busy[cluster].until.max(pending.release.at));
        gauges[Assumption::WorkConserving].note(0, idle.as_ns(), || pending.place(duration, None));
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct ChipHistory {
    /// The starts that a later look may still ask for: ascending in time, descending in deadline.
    starts: Vec<(Instant, u64)>,
    collected: Instant,
    busy: BusyTime,
    /// (job, logical page, when); of those that are not remembered, the latest.
    moved: Vec<(JobId, Lpn, Instant)>,
    forgotten: Instant,
}

/// While a page or a pass waited for its chip, nothing of a later deadline may have started there,
/// nor may the chip have been idle: seen afterwards.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ParallelEdf {
    chips: PerId<ChipId, ChipHistory>,
    /// By cluster and logical page, in ns: before that, its read had no business there.
    programmed: PerId<ClusterId, PerId<Lpn, u64>>,
    erased: PerId<ClusterId, Instant>,
}

const REMEMBERED: usize = 4096;

const MOVES: usize = 64;

impl ParallelEdf {
    pub(crate) fn new(plan: &Plan, clusters: &[ClusterId]) -> Self {
        let programmed = |(number, cluster): (ClusterId, &rtflash_plan::ClusterPlan)| {
            let pages = if clusters.contains(&number) { cluster.layout.logical_pages() } else { 0 };
            PerId::filled(0, pages)
        };
        ParallelEdf {
            chips: plan.per_chip(ChipHistory::default()),
            programmed: plan.clusters().enumerate().map(programmed).collect(),
            erased: plan.per_cluster(Instant::START),
        }
    }

    pub(crate) fn moved(&mut self, moved: &Moved) {
        let chip = &mut self.chips[moved.chip];
        match chip.moved.iter_mut().find(|&&mut (job, lpn, _)| job == moved.job && lpn == moved.lpn) {
            Some(known) => known.2 = moved.at,
            None => chip.moved.push((moved.job, moved.lpn, moved.at)),
        }
        if chip.moved.len() > MOVES {
            let old = chip.moved.drain(..MOVES / 2).map(|(_, _, at)| at);
            chip.forgotten = old.fold(chip.forgotten, Instant::max);
        }
    }

    pub(crate) fn padding(&mut self, padding: &Padding) {
        let chip = &mut self.chips[padding.chip];
        chip.busy.works(padding.start, padding.end);
        chip.collected = padding.end;
    }

    /// A job is pending in the cluster of these chips: they should not all have idled.
    pub(crate) fn end(&self, chips: &[ChipId], duration: Instant, pending: &Pending, gauges: &mut Gauges) {
        let busy = chips.iter().map(|&chip| self.chips[chip].busy.until).max();
        let since = busy.expect("a cluster has chips").max(pending.release.at);
        gauges[Assumption::WorkConserving].note(0, duration.since(since).as_ns(), || pending.place(duration, None));
    }

    #[inline(always)]
    pub(crate) fn operation(&mut self, operation: &Operation, pending: &Pending, gauges: &mut Gauges) {
        let chip = &mut self.chips[operation.chip];
        let waited_since = if operation.kind == Kind::Gc {
            pending.release.at.max(chip.collected).max(self.erased[operation.cluster])
        } else {
            let begun = page_waits_since(operation, pending);
            match operation.action {
                Action::Read => {
                    let programmed = self.programmed[operation.cluster][operation.lpn];
                    begun.max(Instant::from_ns(programmed).expect("a program ends at an instant"))
                }
                _ => chip.has_come(operation).map_or(begun, |came| begun.max(came)),
            }
        };
        chip.busy.works(operation.start, operation.end);
        if operation.kind == Kind::Gc {
            chip.collected = operation.end;
            if operation.action == Action::Erase {
                let erased = &mut self.erased[operation.cluster];
                *erased = operation.end.max(*erased);
            }
        }
        let deadline = pending.deadline();
        if !pending.was_starved {
            let place = || Place::from(operation);
            let late = match chip.starts.last() {
                Some(&(last, _)) if last >= waited_since => {
                    let first = chip.starts.partition_point(|&(start, _)| start < waited_since);
                    // The latest deadline since then comes first.
                    chip.starts[first].1.saturating_sub(deadline)
                }
                _ => 0,
            };
            gauges[Assumption::EdfOrder].note(0, late.min(i64::MAX.unsigned_abs()), place);
            gauges[Assumption::WorkConserving].note(0, chip.busy.since.since(waited_since).as_ns(), place);
        }
        while chip.starts.last().is_some_and(|&(_, earlier)| earlier <= deadline) {
            chip.starts.pop();
        }
        chip.starts.push((operation.start, deadline));
        if chip.starts.len() > REMEMBERED {
            chip.starts.drain(..REMEMBERED / 2);
        }
        if operation.action == Action::Program {
            self.programmed[operation.cluster][operation.lpn] = operation.end.as_ns();
        }
    }
}

/// Pages of a job that is not real-time wait behind its passes, together, since the first starts.
#[inline(always)]
fn page_waits_since(operation: &Operation, pending: &Pending) -> Instant {
    let released = pending.release.at;
    match pending.release.kind {
        Kind::Server if pending.collected => pending.begun.unwrap_or(operation.start).max(released),
        Kind::Server => pending.left_out.unwrap_or(released),
        _ => released,
    }
}

impl ChipHistory {
    /// From another chip, behind what started as it came; `None` where none is known to have come.
    #[inline(always)]
    fn has_come(&self, operation: &Operation) -> Option<Instant> {
        // A job may write a page twice: both may have come.
        let found = self.moved.iter().find(|&&(job, lpn, _)| job == operation.job && lpn == operation.lpn);
        let came = found.map_or(self.forgotten, |&(_, _, at)| at);
        (came != Instant::START).then(|| came.saturating_add(Span::NANOSECOND))
    }
}
