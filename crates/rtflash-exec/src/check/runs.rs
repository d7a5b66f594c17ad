//! Pages of a request on a chip of a stripe, one behind the other, that are as they should be in
//! all respects: nearly all are. What each of them changes is kept, and told to the lists that know
//! of it before anybody looks at these.

use std::ops::Range;

use rtflash_model::{Instant, Span};
use serde::{Deserialize, Serialize};

use super::Checks;
use super::look::class_of;
use super::rules::Rules;
use super::timing::place;
use crate::ids::{BlockId, ChipId, Lpn, SourceId};
use crate::trace::{Action, JobId, Kind, NO_LPN, NONE, Operation};

/// So many pages are kept at most.
const MANY: usize = 1 << 6;

/// Pages of a job on a chip that follow each other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PageRun {
    /// Whose they are: nobody's where there are none, or when that has been said of all.
    job: JobId,
    breaks: u64,
    /// Whether the processor is in the list of those that have kept any.
    is_listed: bool,
    kind: Kind,
    action: Action,
    chip: ChipId,
    /// The logical pages of the job's source.
    range: Range<Lpn>,
    /// The block that is programmed, and its next page.
    next: (BlockId, u32),
    /// When the last one begins and ends, and its logical page.
    last: (Instant, Instant),
    lpn: Lpn,
    /// What one takes that does not wait for its bus, and how long it may wait.
    times: (Span, Span),
    /// When those begin and end that are kept.
    steps: Vec<(Instant, Instant)>,
    /// Time that these take, and the longest that one of them waits for its bus, and when.
    service: u64,
    waited: (u64, Instant),
}

impl PageRun {
    /// Of no job.
    pub(super) fn none() -> PageRun {
        PageRun {
            job: JobId { source: SourceId(NONE), index: 0 },
            breaks: 0,
            is_listed: false,
            kind: Kind::Read,
            action: Action::Read,
            chip: ChipId(NONE),
            range: Lpn(0)..Lpn(0),
            next: (BlockId(NONE), 0),
            last: (Instant::START, Instant::START),
            lpn: NO_LPN,
            times: (Span::ZERO, Span::ZERO),
            steps: Vec::new(),
            service: 0,
            waited: (0, Instant::START),
        }
    }

    /// Whether its processor, which has kept something, is not in the list yet: it is from now on.
    #[inline(always)]
    pub(super) fn is_to_be_listed(&mut self) -> bool {
        !std::mem::replace(&mut self.is_listed, true)
    }

    /// Whether an operation is the next one of these.
    #[inline(always)]
    fn has_next(&self, operation: &Operation) -> bool {
        let Operation { start, end, chip, action, job, kind, block, page, lpn, .. } = *operation;
        let is_next = action == Action::Read || (block, page) == self.next;
        (start, chip, job) == (self.last.1, self.chip, self.job)
            && (action, kind) == (self.action, self.kind)
            && start < end
            && is_next
            && self.range.contains(&lpn)
    }

    /// It is kept, with what it waits for its bus.
    #[inline(always)]
    fn keep(&mut self, operation: &Operation, waited: u64) {
        let Operation { start, end, page, lpn, .. } = *operation;
        self.next.1 = page + 1;
        (self.last, self.lpn) = ((start, end), lpn);
        self.service = self.service.saturating_add(end.since(start).as_ns());
        if waited > self.waited.0 || self.steps.is_empty() {
            self.waited = (waited, start);
        }
        self.steps.push((start, end));
    }
}

impl Checks<'_> {
    /// Whether operations are a page, or a step, that is kept: nothing has changed where they are
    /// not.
    #[inline(always)]
    pub(super) fn keeps(&mut self, operations: &[Operation]) -> bool {
        match operations {
            [page] if self.is_in_stripe(page) => self.keeps_page(page),
            _ => self.keeps_row(operations),
        }
    }

    /// Whether an operation is in a stripe.
    #[inline(always)]
    pub(super) fn is_in_stripe(&self, operation: &Operation) -> bool {
        self.mapping.is_plain_stripe(operation.cluster)
    }

    /// Whether an operation is as it should be, of a run of pages that are. Then it is kept; else
    /// nothing has changed.
    #[inline(always)]
    pub(super) fn keeps_page(&mut self, operation: &Operation) -> bool {
        let at = self.chips[operation.chip];
        let Some(run) = self.runs.get_mut(at.processor).filter(|run| run.has_next(operation)) else { return false };
        if run.breaks != self.breaks.0 {
            return false;
        }
        let waited = operation.end.since(operation.start).saturating_sub(run.times.0);
        let is_plain = operation.cluster == at.cluster
            && waited <= run.times.1
            && run.steps.len() < MANY
            && self.desks.is_clear(operation.chip)
            && match operation.action {
                Action::Program => self.mapping.overwrites(operation, at),
                _ => self.mapping.is_there(operation, at),
            };
        if is_plain {
            self.desks.asks_plainly(operation);
            run.keep(operation, waited.as_ns());
            if run.is_to_be_listed() {
                self.kept.push(at.processor);
            }
        }
        is_plain
    }

    /// A page has been looked at by itself: whatever follows it may be kept, if it was as it should
    /// be.
    pub(super) fn begins_run(&mut self, operation: &Operation) {
        let Operation { start, end, cluster, chip, action, job, kind, block, page, lpn } = *operation;
        let (at, quiet) = (self.chips[chip], self.quiet[class_of(action, kind)]);
        let (Rules::Certified(by), Some(pending)) = (&self.rules, self.ledger.get(job)) else { return };
        let is_own = matches!((kind, action), (Kind::Read, Action::Read) | (Kind::Write, Action::Program));
        let is_plain = is_own
            && start > quiet
            && (at.cluster, pending.release.cluster) == (cluster, Some(cluster))
            && (pending.release.kind, pending.starved) == (kind, false)
            && pending.begun.is_some()
            && self.mapping.is_plain_stripe(cluster)
            && by.processors.is_as_judged(at.processor, job, (start, end))
            && *self.chip_exclusion.free_at(chip) == end
            && (action == Action::Read || self.page_order.programmed(at.watched, block) == Some(page + 1));
        let Some(run) = self.runs.get_mut(at.processor).filter(|run| is_plain && run.steps.is_empty()) else { return };
        let timing = self.plan.timing();
        let (alone, asks) = match action {
            Action::Read => (timing.read(), timing.asks_of_a_read()),
            _ => (timing.program(), 1),
        };
        let delay = self.plan.clusters()[cluster].page_delay.checked_mul(asks).unwrap_or(Span::LONGEST);
        (run.job, run.kind, run.action, run.chip) = (job, kind, action, chip);
        run.breaks = self.breaks.0;
        (run.range, run.next, run.last, run.lpn) =
            (self.ranges[job.source].clone(), (block, page + 1), (start, end), lpn);
        (run.times, run.service) = ((alone, delay), 0);
    }

    /// What is kept of a processor's pages is told, and nothing follows them.
    #[inline]
    pub(super) fn settle(&mut self, processor: usize) {
        self.notify(processor);
        self.settle_rows(processor);
        if let Some(run) = self.runs.get_mut(processor) {
            run.job.source = SourceId(NONE);
        }
    }

    /// The same of all processors.
    pub(super) fn settle_all(&mut self) {
        self.breaks.0 += 1;
        self.notify_all();
    }

    /// What is kept is told. More pages may follow, and no steps of superblocks.
    pub(super) fn notify_all(&mut self) {
        self.breaks.1 += 1;
        self.settle_lanes();
        while let Some(processor) = self.kept.pop() {
            self.notify(processor);
            self.settle_rows(processor);
            self.runs[processor].is_listed = false;
        }
    }

    #[inline(always)]
    fn notify(&mut self, processor: usize) {
        if self.runs.get(processor).is_some_and(|run| !run.steps.is_empty()) {
            self.notify_some(processor);
        }
    }

    #[inline(never)]
    fn notify_some(&mut self, processor: usize) {
        let (Rules::Certified(by), Some(run)) = (&mut self.rules, self.runs.get_mut(processor)) else { return };
        let (at, (start, end)) = (self.chips[run.chip], run.last);
        *self.chip_exclusion.free_at(run.chip) = end;
        if run.action == Action::Program {
            let (block, next) = run.next;
            self.page_order.starts(at.watched, block, next);
            self.mapping.programmed(at, (run.lpn, (block, next - 1)), start, run.steps.len());
            by.collections.programmed(processor, run.steps.len() as u64);
        }
        if let Some(pending) = self.ledger.get(run.job) {
            by.processors.goes_on_with(processor, run.steps.iter().copied(), pending.deadline());
            pending.has_served(run.action, run.steps.len() as u64, (run.service, end));
            let place = place(run.waited.1, pending, Some(run.chip));
            self.bus_wait.gauge.note_by_chip(run.times.1.as_ns(), run.waited.0, place);
        }
        self.latest = self.latest.max(start);
        (run.service, run.waited) = (0, (0, Instant::START));
        run.steps.clear();
    }
}

impl Checks<'_> {
    /// Whether steps under certificates may be looked at together: no block may fail, wear is not
    /// levelled, no tasks own zones, and each page asks for a bus once.
    pub(super) fn has_plain_steps(&self) -> bool {
        let Rules::Certified(by) = &self.rules else { return false };
        !self.one_by_one
            && !cfg!(target_family = "wasm")
            && !by.failures.may_fail()
            && self.mapping.is_plain()
            && !self.zones.has_any()
            && self.desks.has_plain_steps()
    }
}
