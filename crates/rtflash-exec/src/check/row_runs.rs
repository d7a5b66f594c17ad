//! Steps of a job on a superblock, one behind the other, that are as they should be in all
//! respects: nearly all are. What each of them changes is kept, as far as nobody asks for it
//! meanwhile.

use std::ops::Range;

use rtflash_model::{Instant, Span};
use serde::{Deserialize, Serialize};

use super::Checks;
use super::gauge::Place;
use super::kept_steps::{KeptSteps, ServedPages};
use super::look::class_of;
use super::mapping::RowMap;
use super::rules::Rules;
use super::timing::place;
use super::watched_pass::WatchedPass;
use crate::ids::{ChipId, ClusterId, Lpn, SourceId};
use crate::trace::{Action, JobId, Kind, NONE, Operation, StepHead, StepPage};

/// Steps of a job on a superblock that follow each other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RowRun {
    /// Whose they are: nobody's where there are none, or when that has been said of all.
    job: JobId,
    pub(super) breaks: u64,
    pub(super) kind: Kind,
    pub(super) cluster: ClusterId,
    /// Whether it is a server's job, and its deadline.
    pub(super) server: bool,
    pub(super) deadline: u64,
    /// The logical pages of the job's source.
    range: Range<Lpn>,
    /// When the last step begins and ends.
    pub(super) last: (Instant, Instant),
    /// The same of the last one that has had its bus.
    pub(super) asked: (Instant, Instant),
    /// What a page takes that does not wait for its bus, of a read and of a program. How long it
    /// may wait.
    alone: [Span; 2],
    delay: Span,
    /// Free pages before these steps, of which so many are kept for what has arrived.
    free: u64,
    waiting: u64,
    /// Pages that have been read and programmed, and those of requests among them.
    pages: [u64; 2],
    served: ServedPages,
    /// The latest start that counts.
    latest: Instant,
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
            asked: (Instant::START, Instant::START),
            alone: [Span::ZERO; 2],
            delay: Span::ZERO,
            free: 0,
            waiting: 0,
            pages: [0; 2],
            served: ServedPages::default(),
            latest: Instant::START,
            least: None,
        }
    }

    /// Whether a step is its next one.
    #[inline(always)]
    pub(super) fn has_next(&self, head: &StepHead) -> bool {
        self.has_behind(head, self.last)
    }

    /// The same behind all that have had their buses.
    #[inline(always)]
    pub(super) fn is_asked_next(&self, head: &StepHead) -> bool {
        self.has_behind(head, self.asked)
    }

    #[inline(always)]
    fn has_behind(&self, head: &StepHead, last: (Instant, Instant)) -> bool {
        let StepHead { start, job, kind, cluster, .. } = *head;
        (job, kind, cluster) == (self.job, self.kind, self.cluster) && last.0 < start && start <= last.1
    }

    /// Whether a step of so many pages of a pass leaves what has arrived its pages, behind so many
    /// that are programmed.
    #[inline(always)]
    pub(super) fn has_room(&self, programmed: u64, pages: usize) -> bool {
        self.free >= self.waiting.saturating_add(programmed + pages as u64)
    }

    /// What a page of a request that is programmed takes and waits for its bus, if it is one of its
    /// own and waits no longer than it may.
    #[inline(always)]
    pub(super) fn writes(&self, start: Instant, page: &StepPage, map: &RowMap<'_>) -> Option<(Span, Span)> {
        self.serves(start, page, self.alone[1]).filter(|_| map.has(page.lpn))
    }

    /// The same of one that is read.
    #[inline(always)]
    pub(super) fn reads(&self, start: Instant, page: &StepPage) -> Option<(Span, Span)> {
        self.serves(start, page, self.alone[0])
    }

    #[inline(always)]
    fn serves(&self, start: Instant, page: &StepPage, alone: Span) -> Option<(Span, Span)> {
        let took = page.end.since(start);
        let waited = took.saturating_sub(alone);
        (self.range.contains(&page.lpn) && waited <= self.delay).then_some((took, waited))
    }

    /// Whether a page that a pass programs is one of those that have been read, and still there.
    #[inline(always)]
    pub(super) fn moves(&self, page: &StepPage, pass: &WatchedPass, map: &RowMap<'_>) -> bool {
        pass.finds(page.lpn).is_some_and(|there| map.is_at(page.lpn, there))
    }

    /// Steps are kept.
    #[inline(always)]
    pub(super) fn keep(&mut self, kept: &KeptSteps<'_>) {
        (self.last, self.asked) = (kept.last, kept.last);
        self.pages[0] += kept.reads.pages;
        self.pages[1] += kept.programs.pages;
        if self.kind == Kind::Gc {
            self.free -= kept.programs.pages;
            if let Some((head, [.., last])) = kept.programs.last {
                self.least = Some((self.free, head.start, last.chip));
            } else if let Some((head, [first, ..])) = kept.first {
                self.least.get_or_insert((self.free, head.start, first.chip));
            }
            self.latest = kept.reads.last.map_or(self.latest, |(head, _)| head.start);
            return;
        }
        self.latest = kept.last.0;
        self.served.join(kept.served);
    }
}

impl Checks<'_> {
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
        *run = RowRun {
            job,
            breaks: self.breaks.1,
            kind,
            cluster,
            server: pending.release.kind == Kind::Server,
            deadline: pending.deadline(),
            range: self.ranges[job.source].clone(),
            last,
            asked: last,
            alone: [timing.read(), timing.program()],
            delay: self.plan.clusters()[cluster].page_delay,
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
            self.notify_rows(processor);
        }
    }

    #[inline(never)]
    fn notify_rows(&mut self, processor: usize) {
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
            pending.has_served(Action::Read, reads, (run.served.service, run.last.1));
            pending.has_served(Action::Program, programs, (0, run.last.1));
            by.collections.programmed(processor, programs);
        }
        if let Some((waited, at, chip)) = run.served.waited {
            self.bus_wait.gauge.note_by_chip(run.delay.as_ns(), waited.as_ns(), place(at, pending, Some(chip)));
        }
        self.latest = self.latest.max(run.latest);
    }
}
