//! Copies of GC jobs that follow each other on a chip of a stripe.

use rtflash_model::Instant;

use super::{ProcessorLine, Processors, ReadWait};
use crate::check::gauge::Place;
use crate::check::stretches::Stretch;
use crate::ids::ChipId;
use crate::plan::Plan;
use crate::trace::{Action, JobId, Kind, ListedStep, NONE, StepHead, StepPage};

impl Processors {
    /// Whether a job's operations on a chip of a stripe have waited for nothing, and it goes on
    /// without a break when the last one has ended.
    pub(in crate::check) fn is_judged(&self, processor: usize, job: JobId, start: Instant) -> bool {
        let line = &self.lines[processor];
        let follows = line.under_way.is_some_and(|last| last.start < start && start <= last.end);
        follows
            && line.bounds.stripe
            && line.judged == Some(job)
            && line.job == Some(job)
            && line.waits.is_empty()
            && line.paddings.is_empty()
            && line.suspended.is_none()
    }

    /// Whether what a processor does, over [start, end), is a job's, whose operations on a chip of
    /// a stripe have waited for nothing.
    pub(in crate::check) fn is_as_judged(
        &self,
        processor: usize,
        job: JobId,
        (start, end): (Instant, Instant),
    ) -> bool {
        let line = &self.lines[processor];
        let is_so = line.under_way.is_some_and(|step| (step.start, step.end) == (start, end) && !step.erases);
        is_so
            && line.bounds.stripe
            && (line.judged, line.job) == (Some(job), Some(job))
            && line.waits.is_empty()
            && line.paddings.is_empty()
            && line.suspended.is_none()
    }

    /// When the step begins and ends that a processor is at, if it begins then, and is a job's
    /// whose operations on a superblock have waited for nothing.
    pub(in crate::check) fn step_as_judged(
        &self,
        processor: usize,
        job: JobId,
        start: Instant,
    ) -> Option<(Instant, Instant)> {
        let line = &self.lines[processor];
        let is_so = !line.bounds.stripe
            && (line.judged, line.job) == (Some(job), Some(job))
            && line.paddings.is_empty()
            && line.suspended.is_none();
        line.under_way.filter(|step| is_so && step.start == start && !step.erases).map(|step| (step.start, step.end))
    }

    /// Its job goes on with steps of a superblock, one behind the other without a break, the last
    /// of which ends then.
    #[inline(always)]
    pub(in crate::check) fn goes_on_in_rows(
        &mut self,
        processor: usize,
        (steps, pages): (&[ListedStep], &[StepPage]),
        (end, deadline): (Instant, u64),
        plan: &Plan,
    ) {
        let Some((last, others)) = steps.split_last() else { return };
        let Processors { lines, waits, times, foreign_waits, .. } = self;
        let line = &mut lines[processor];
        line.goes_on_in_rows(steps, (end, deadline));
        if !line.waits.is_empty() {
            line.judge_waits(*times, waits);
        }
        let waited = |head: &StepHead, page: &StepPage| page.end.since(head.start).as_ns().saturating_sub(times.alone);
        let wait = |head: &StepHead, page: &StepPage| {
            let StepHead { start, job, cluster, .. } = *head;
            ReadWait {
                channel: plan.channel_of(page.chip),
                gc: head.kind == Kind::Gc,
                bound: foreign_waits[page.chip].saturating_mul(times.asks),
                waited: waited(head, page),
                place: Place { at: start, job: Some(job), cluster: Some(cluster), chip: Some(page.chip) },
            }
        };
        // What waits for less than that on such a chip changes nothing.
        let mut quiet = (ChipId(NONE), 0);
        line.only_reads = true;
        for step in others.iter().filter(|step| step.head.action == Action::Read) {
            if let [page] = step.of(pages) {
                // Nothing was beside it.
                if quiet.0 != page.chip || waited(&step.head, page) >= quiet.1 {
                    let wait = wait(&step.head, page);
                    waits.note(wait.bound, wait.waited, || wait.place);
                    quiet = (page.chip, waits.quiet_below(wait.bound));
                }
            } else {
                line.waits.extend(step.of(pages).iter().map(|page| wait(&step.head, page)));
                line.judge_waits(*times, waits);
            }
        }
        // What is beside the last one may be still to come.
        line.only_reads = last.head.action == Action::Read && last.head.kind != Kind::Gc;
        if last.head.action == Action::Read {
            line.waits.extend(last.of(pages).iter().map(|page| wait(&last.head, page)));
        }
    }

    /// Its job goes on with steps over these times, one behind the other.
    pub(in crate::check) fn goes_on_with(
        &mut self,
        processor: usize,
        steps: impl Iterator<Item = (Instant, Instant)>,
        deadline: u64,
    ) {
        let line = &mut self.lines[processor];
        line.only_reads = true;
        for (start, end) in steps {
            if let Some(last) = line.under_way.replace(Stretch { start, end, deadline, erases: false }) {
                line.ends(last);
            }
        }
    }
}

impl ProcessorLine {
    /// Its job goes on with steps, one behind the other without a break, the last of which ends
    /// then.
    #[inline(always)]
    fn goes_on_in_rows(&mut self, steps: &[ListedStep], (end, deadline): (Instant, u64)) {
        let Some((first, others)) = steps.split_first() else { return };
        let stretch = |start, end| Stretch { start, end, deadline, erases: false };
        if let Some(last) = self.under_way.take() {
            self.ends(last);
        }
        let mut start = first.head.start;
        if let Some((second, others)) = others.split_first() {
            self.ends(stretch(start, second.head.start));
            start = second.head.start;
            if let Some((last, others)) = others.split_last() {
                for step in others {
                    self.is_behind(stretch(start, step.head.start));
                    start = step.head.start;
                }
                self.is_behind(stretch(start, last.head.start));
                // They have the deadline of the first one.
                self.latest.last_mut().expect("a stretch has just ended").0 = start;
                start = last.head.start;
            }
        }
        self.under_way = Some(stretch(start, end));
    }
}
