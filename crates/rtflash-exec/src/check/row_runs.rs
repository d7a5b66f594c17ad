//! Steps of a job on a superblock, one behind the other, that are as they should be in all
//! respects: nearly all are. What each of them changes is kept, as far as nobody asks for it
//! meanwhile.

use std::ops::Range;

use rtflash_model::{Instant, Span};
use serde::{Deserialize, Serialize};

use super::gauge::Place;
use super::look::class_of;
use super::mapping::Mapping;
use super::rules::Rules;
use super::runs::PageRun;
use super::timing::place;
use super::watched_pass::WatchedPass;
use super::{Checks, WatchedChip};
use crate::ids::{ChipId, ClusterId, Lpn, SourceId};
use crate::trace::{Action, JobId, Kind, NONE, Operation};

/// Steps of a job on a superblock that follow each other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RowRun {
    /// Whose they are: nobody's where there are none, or when that has been said of all.
    job: JobId,
    pub(super) breaks: u64,
    kind: Kind,
    cluster: ClusterId,
    /// Whether it is a server's job, and its deadline.
    pub(super) server: bool,
    pub(super) deadline: u64,
    /// The logical pages of the job's source.
    range: Range<Lpn>,
    /// When the last step begins and ends.
    last: (Instant, Instant),
    /// What a page takes that does not wait for its bus, and how long it may wait: of a read, and
    /// of a program.
    times: [(Span, Span); 2],
    /// Free pages before these steps, of which so many are kept for what has arrived.
    free: u64,
    waiting: u64,
    /// Pages that have been read and programmed, and the time that they take.
    pages: [u64; 2],
    service: u64,
    /// The latest start that counts.
    latest: Instant,
    /// The longest that one waits for its bus, of what may wait so long, when and on which chip.
    waited: Option<(Span, Span, Instant, ChipId)>,
    /// The fewest pages that are free, since when and on which chip.
    least: Option<(u64, Instant, ChipId)>,
}

impl RowRun {
    /// Of no job.
    pub(super) fn none() -> RowRun {
        RowRun {
            job: JobId { source: SourceId(NONE), index: 0 },
            breaks: 0,
            kind: Kind::Gc,
            cluster: ClusterId(NONE),
            server: false,
            deadline: 0,
            range: Lpn(0)..Lpn(0),
            last: (Instant::START, Instant::START),
            times: [(Span::ZERO, Span::ZERO); 2],
            free: 0,
            waiting: 0,
            pages: [0; 2],
            service: 0,
            latest: Instant::START,
            waited: None,
            least: None,
        }
    }

    /// Whether operations that begin with this one are the next step.
    #[inline(always)]
    pub(super) fn has_next(&self, first: &Operation) -> bool {
        let Operation { start, job, kind, cluster, .. } = *first;
        (job, kind, cluster) == (self.job, self.kind, self.cluster) && self.last.0 < start && start <= self.last.1
    }

    /// Whether such operations, the first of which is the next one, may be its next step. `moves`:
    /// the pass only moves what is left in a block.
    #[inline(always)]
    pub(super) fn may_go_on(&self, operations: &[Operation], moves: bool) -> bool {
        let Some(Operation { kind, action, .. }) = operations.first() else { return false };
        let program = *action == Action::Program;
        let fits = if *kind == Kind::Gc {
            !moves && self.free >= self.waiting.saturating_add(operations.len() as u64)
        } else {
            program == (*kind == Kind::Write) && (program || operations.len() == 1)
        };
        fits && !action.erases()
    }

    /// Whether a page that is programmed is one of its own, or of those that have been read.
    #[inline(always)]
    pub(super) fn programs(&self, operation: &Operation, pass: &WatchedPass, mapping: &Mapping) -> bool {
        if self.kind == Kind::Gc { self.moves(operation, 0, pass, mapping) } else { self.writes(operation, mapping) }
    }

    /// The same of a page of a request.
    #[inline(always)]
    pub(super) fn writes(&self, operation: &Operation, mapping: &Mapping) -> bool {
        let Operation { start, end, lpn, cluster, .. } = *operation;
        let (alone, delay) = self.times[1];
        self.range.contains(&lpn) && mapping.has(cluster, lpn) && end.since(start).saturating_sub(alone) <= delay
    }

    /// The same of a page of a pass, which nearly always is at this place of those that have been
    /// read.
    #[inline(always)]
    pub(super) fn moves(&self, operation: &Operation, place: usize, pass: &WatchedPass, mapping: &Mapping) -> bool {
        let Operation { lpn, cluster, .. } = *operation;
        let there = match pass.buffer.get(place) {
            Some(&(other, there)) if other == lpn => Some(there),
            _ => pass.finds(lpn),
        };
        there.is_some_and(|there| mapping.is_at(cluster, lpn, there))
    }

    /// Whether a page that is read is one of its own, or of the victim, and there.
    #[inline(always)]
    pub(super) fn reads(&self, operation: &Operation, at: WatchedChip, pass: &WatchedPass, mapping: &Mapping) -> bool {
        let Operation { start, end, lpn, cluster, block, page, .. } = *operation;
        let here = mapping.spot(at.position, block, page);
        let is_own = if self.kind == Kind::Gc {
            pass.victim == Some(block)
        } else {
            let (alone, delay) = self.times[0];
            self.range.contains(&lpn) && end.since(start).saturating_sub(alone) <= delay
        };
        is_own && here != NONE && mapping.is_at(cluster, lpn, here)
    }

    /// A step is kept that ends then.
    #[inline(always)]
    pub(super) fn keep(&mut self, operations: &[Operation], end: Instant) {
        let (Some(first), Some(last)) = (operations.first(), operations.last()) else { return };
        let (start, count, program) = (first.start, operations.len() as u64, first.action == Action::Program);
        self.last = (start, end);
        self.pages[usize::from(program)] += count;
        if self.kind == Kind::Gc {
            if program {
                self.free -= count;
                self.least = Some((self.free, start, last.chip));
            } else {
                self.least.get_or_insert((self.free, start, first.chip));
                self.latest = start;
            }
            return;
        }
        self.latest = start;
        let (alone, delay) = self.times[usize::from(program)];
        for operation in operations {
            let took = operation.end.since(start);
            let waited = took.saturating_sub(alone);
            self.service = self.service.saturating_add(took.as_ns());
            if self.waited.is_none_or(|(longest, ..)| waited > longest) {
                self.waited = Some((waited, delay, start, operation.chip));
            }
        }
    }
}

impl Checks<'_> {
    /// Whether operations are a step of a superblock that is as it should be, behind others that
    /// are. Then it is kept; else nothing has changed.
    #[inline(never)]
    pub(super) fn keeps_row(&mut self, operations: &[Operation]) -> bool {
        let Some(first) = operations.first() else { return false };
        let processor = self.chips[first.chip].processor;
        let breaks = self.breaks.1;
        let follows = self.rows.get(processor).is_some_and(|run| run.breaks == breaks && run.has_next(first));
        if !follows || !self.is_plain_row(operations) {
            return false;
        }
        let (Rules::Certified(by), Some(run)) = (&mut self.rules, self.rows.get_mut(processor)) else { return false };
        let (gc, program) = (run.kind == Kind::Gc, first.action == Action::Program);
        let mut end = first.end;
        for operation in operations {
            let at = self.chips[operation.chip];
            end = end.max(operation.end);
            *self.chip_exclusion.free_at(operation.chip) = operation.end;
            self.desks.asks_plainly(operation);
            if program {
                self.page_order.programs(at.watched, operation);
            }
        }
        if program {
            let chips = &self.chips;
            self.mapping.programs_row(operations, chips[first.chip], |chip| chips[chip].position);
        }
        by.processors.goes_on_in_row(processor, operations, (end, run.deadline), self.plan);
        if gc {
            let pass = by.collections.pass_of(processor, run.server);
            let mapping = &self.mapping;
            pass.goes_on_in_row(operations, end, |operation| {
                mapping.spot(self.chips[operation.chip].position, operation.block, operation.page)
            });
        }
        run.keep(operations, end);
        if self.runs.get_mut(processor).is_some_and(PageRun::is_to_be_listed) {
            self.kept.push(processor);
        }
        true
    }

    /// Whether operations are alike, on chips that are free, and the pages are those that they
    /// should be.
    #[inline(always)]
    fn is_plain_row(&mut self, operations: &[Operation]) -> bool {
        let (Rules::Certified(by), Some(first)) = (&mut self.rules, operations.first()) else { return false };
        let Operation { start, job, kind, cluster, action, .. } = *first;
        let at_first = self.chips[first.chip];
        let run = &self.rows[at_first.processor];
        let program = action == Action::Program;
        let pass = by.collections.pass_of(at_first.processor, run.server);
        if !run.may_go_on(operations, pass.moves.is_some()) || at_first.cluster != cluster {
            return false;
        }
        for pair in operations.windows(2) {
            let [other, next] = pair else { return false };
            let is_alike = (next.start, next.job) == (start, job)
                && (next.kind, next.action, next.cluster) == (kind, action, cluster)
                && other.chip < next.chip;
            if !is_alike {
                return false;
            }
        }
        for (place, operation) in operations.iter().enumerate() {
            let at = self.chips[operation.chip];
            let is_free = *self.chip_exclusion.free_at(operation.chip) <= start
                && start < operation.end
                && self.desks.is_clear(operation.chip);
            let is_there = is_free
                && at.cluster == cluster
                && if program {
                    self.page_order.is_next(at.watched, operation)
                        && operations[..place].iter().all(|other| other.lpn != operation.lpn)
                        && run.programs(operation, pass, &self.mapping)
                } else {
                    run.reads(operation, at, pass, &self.mapping)
                };
            if !is_there {
                return false;
            }
        }
        true
    }

    /// A step of a superblock has been looked at by itself: whatever follows it may be kept, if it
    /// was as it should be.
    pub(super) fn begins_rows(&mut self, operations: &[Operation]) {
        let Some(&Operation { start, cluster, chip, action, job, kind, .. }) = operations.first() else { return };
        let (at, quiet) = (self.chips[chip], |action| self.quiet[class_of(action, kind)]);
        let quiet = match kind {
            Kind::Gc => quiet(Action::Read).max(quiet(Action::Program)),
            _ => quiet(action),
        };
        let (Rules::Certified(by), Some(pending)) = (&self.rules, self.ledger.get(job)) else { return };
        let is_own = matches!((kind, action), (Kind::Read, Action::Read) | (Kind::Write, Action::Program));
        let fits = if kind == Kind::Gc { pending.collected } else { is_own && pending.release.kind == kind };
        let is_plain = fits
            && start > quiet
            && (at.cluster, pending.release.cluster) == (cluster, Some(cluster))
            && !pending.starved
            && (kind == Kind::Gc || pending.begun.is_some())
            && self.mapping.is_plain_superblock(cluster);
        let Some(last) = by.processors.step_as_judged(at.processor, job, start).filter(|_| is_plain) else { return };
        let found = by.collections.may_take(at.processor, &mut self.mapping, start);
        let (Some((free, beyond)), Some(run)) = (found, self.rows.get_mut(at.processor)) else { return };
        let timing = self.plan.timing();
        let delay = self.plan.clusters()[cluster].page_delay;
        *run = RowRun {
            job,
            breaks: self.breaks.1,
            kind,
            cluster,
            server: pending.release.kind == Kind::Server,
            deadline: pending.deadline(),
            range: self.ranges[job.source].clone(),
            last,
            times: [(timing.read(), delay), (timing.program(), delay)],
            free,
            waiting: free.saturating_sub(beyond as u64),
            latest: start,
            ..RowRun::none()
        };
    }

    /// What is kept of a superblock's steps is told, and nothing follows them.
    #[inline]
    pub(super) fn settle_rows(&mut self, processor: usize) {
        if self.rows.get(processor).is_some_and(|run| run.job.source != SourceId(NONE)) {
            self.tell_rows(processor);
        }
    }

    #[inline(never)]
    fn tell_rows(&mut self, processor: usize) {
        let (Rules::Certified(by), Some(run)) = (&mut self.rules, self.rows.get_mut(processor)) else { return };
        let run = std::mem::replace(run, RowRun::none());
        let [reads, programs] = run.pages;
        let Some(pending) = self.ledger.get(run.job).filter(|_| reads + programs > 0) else { return };
        by.collections.takes_in_rows(processor, programs, &mut self.mapping);
        let cluster = Some(run.cluster);
        if let Some((free, at, chip)) = run.least {
            by.collections.leaves_in_rows(processor, free, Place { at, job: None, cluster, chip: Some(chip) });
        }
        if run.kind == Kind::Gc {
            pending.last_end = run.last.1.max(pending.last_end);
        } else {
            pending.has_served(Action::Read, reads, (run.service, run.last.1));
            pending.has_served(Action::Program, programs, (0, run.last.1));
            by.collections.programmed(processor, programs);
        }
        if let Some((waited, delay, at, chip)) = run.waited {
            self.bus_wait.gauge.note_by_chip(delay.as_ns(), waited.as_ns(), place(at, pending, Some(chip)));
        }
        self.latest = self.latest.max(run.latest);
    }
}
