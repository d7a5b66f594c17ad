//! Checkers of dispatching: earliest deadline first, and who blocks whom.

use std::collections::{BTreeSet, HashMap};

use rtflash_model::{Instant, Span};

use super::gauge::{Gauge, Place};
use super::ledger::Pending;
use crate::trace::{Action, JobId, Kind, Operation};

/// Whether operations start in the order of their deadlines: how much earlier than the deadline served the earliest one that had to
/// wait was, against zero. Starved jobs do not count: they cannot go on.
#[derive(Debug)]
pub(super) struct SerialEdf {
    pub(super) gauge: Gauge,
    clusters: Vec<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    pending: BTreeSet<(u64, JobId)>,
    /// The last job that was found to be the right one, as long as nothing has changed.
    right: Option<JobId>,
}

impl SerialEdf {
    pub(super) fn new(clusters: usize) -> Self {
        SerialEdf { gauge: Gauge::default(), clusters: (0..clusters).map(|_| Queue::default()).collect() }
    }

    fn queue(&mut self, pending: &Pending) -> Option<&mut Queue> {
        self.clusters.get_mut(pending.release.cluster? as usize)
    }

    pub(super) fn waits(&mut self, pending: &Pending) {
        if let Some(queue) = self.queue(pending) {
            queue.right = None;
            queue.pending.insert((pending.deadline(), pending.release.job));
        }
    }

    /// It is complete, or starved.
    pub(super) fn leaves(&mut self, pending: &Pending) {
        if let Some(queue) = self.queue(pending) {
            queue.right = None;
            queue.pending.remove(&(pending.deadline(), pending.release.job));
        }
    }

    #[inline]
    pub(super) fn operation(&mut self, operation: &Operation, pending: &Pending) {
        let Some(queue) = self.clusters.get_mut(operation.cluster as usize) else { return };
        if queue.right == Some(operation.job) {
            return;
        }
        let first = queue.pending.first().map_or(u64::MAX, |&(deadline, _)| deadline);
        let late = pending.deadline().saturating_sub(first);
        self.gauge.note(0, late.min(i64::MAX.unsigned_abs()), || Place {
            at: operation.start,
            job: Some(operation.job),
            cluster: Some(operation.cluster),
            chip: Some(operation.chip),
        });
        if late == 0 {
            queue.right = Some(operation.job);
        }
    }
}

/// The same chip by chip, seen afterwards: while a read or GC waited for its chip, nothing of a later deadline may have started there.
#[derive(Debug, Default)]
pub(super) struct ParallelEdf {
    pub(super) gauge: Gauge,
    /// For each chip the starts that a later look may still ask for: ascending in time, descending in deadline.
    chips: HashMap<u32, Vec<(Instant, u64, JobId)>>,
    /// When each logical page was last programmed: before that was over, its read had no business on the chip.
    programmed: HashMap<(u32, u32), Instant>,
    /// When the last GC operation on each chip, and the last erase in each cluster, ended.
    collected: HashMap<u32, Instant>,
    erased: HashMap<u32, Instant>,
}

impl ParallelEdf {
    pub(super) fn operation(&mut self, operation: &Operation, pending: &Pending) {
        let own = operation.kind != Kind::Gc;
        let waited_since = if own {
            let moved = self.programmed.get(&(operation.cluster, operation.lpn)).copied().unwrap_or_default();
            // The pages of a job that is not real-time wait behind its passes, together: since the first of them starts, at the latest.
            let begun = match pending.release.kind {
                Kind::Server => pending.begun.unwrap_or(operation.start).max(pending.release.at),
                _ => pending.release.at,
            };
            if operation.action == Action::Read { begun.max(moved) } else { begun }
        } else {
            let ends = [self.collected.get(&operation.chip), self.erased.get(&operation.cluster)];
            ends.into_iter().flatten().copied().fold(pending.release.at, Instant::max)
        };
        if !own {
            self.collected.insert(operation.chip, operation.end);
            if operation.action == Action::Erase {
                let erased = self.erased.entry(operation.cluster).or_default();
                *erased = operation.end.max(*erased);
            }
        }
        let starts = self.chips.entry(operation.chip).or_default();
        let deadline = pending.deadline();
        // A write may have come from the queue of a chip without room, which no event tells of.
        let may_have_moved = own && operation.action == Action::Program;
        if !pending.was_starved && !may_have_moved {
            let first = starts.partition_point(|&(start, ..)| start < waited_since);
            // The latest deadline since then comes first.
            let late = starts.get(first).map_or(0, |&(_, latest, _)| latest.saturating_sub(deadline));
            self.gauge.note(0, late.min(i64::MAX.unsigned_abs()), || Place {
                at: operation.start,
                job: Some(operation.job),
                cluster: Some(operation.cluster),
                chip: Some(operation.chip),
            });
        }
        while starts.last().is_some_and(|&(_, earlier, _)| earlier <= deadline) {
            starts.pop();
        }
        starts.push((operation.start, deadline, operation.job));
        if starts.len() > 4096 {
            starts.drain(..2048);
        }
        if operation.action == Action::Program {
            self.programmed.insert((operation.cluster, operation.lpn), operation.end);
        }
    }
}

/// What is under way in each cluster (serial) or on each chip (parallel), to tell who is blocked by it.
///
/// Kept field by field: read as a whole, what has just been written field by field has to wait for all earlier writes.
#[derive(Debug)]
pub(super) struct UnderWay {
    starts: Vec<Instant>,
    ends: Vec<Instant>,
    deadlines: Vec<u64>,
}

impl UnderWay {
    pub(super) fn new(places: usize) -> Self {
        UnderWay {
            starts: vec![Instant::START; places],
            ends: vec![Instant::START; places],
            deadlines: vec![0; places],
        }
    }

    /// An operation of a job with this deadline has begun.
    #[inline]
    pub(super) fn begins(&mut self, place: u32, operation: &Operation, deadline: u64) {
        let place = place as usize;
        if place < self.starts.len() {
            self.starts[place] = operation.start;
            self.ends[place] = operation.end;
            self.deadlines[place] = deadline;
        }
    }

    /// For how long the operation under way blocks a job released at `at`; `None` where it has an earlier deadline, or is over.
    pub(super) fn blocks(&self, place: u32, at: Instant, deadline: u64) -> Option<Span> {
        let place = place as usize;
        let (start, end) = (*self.starts.get(place)?, *self.ends.get(place)?);
        (self.deadlines[place] > deadline && start < at && at < end).then(|| end.since(at))
    }
}
