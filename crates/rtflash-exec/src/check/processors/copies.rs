//! Copies of GC jobs that follow each other on a chip of a stripe.

use rtflash_model::Instant;

use super::{Processors, ReadWait};
use crate::check::flash;
use crate::check::stretches::Stretch;
use crate::plan::Plan;
use crate::trace::{Action, JobId, Kind, Operation};

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

    /// Its job goes on with a step of a superblock, which ends then.
    #[inline(always)]
    pub(in crate::check) fn goes_on_in_row(
        &mut self,
        processor: usize,
        operations: &[Operation],
        (end, deadline): (Instant, u64),
        plan: &Plan,
    ) {
        let line = &mut self.lines[processor];
        let (Some(first), Some(under_way)) = (operations.first(), &mut line.under_way) else { return };
        let last = std::mem::replace(under_way, Stretch { start: first.start, end, deadline, erases: false });
        if !line.waits.is_empty() {
            line.judge_waits(self.times, &mut self.waits);
        }
        let gc = first.kind == Kind::Gc;
        line.only_reads = first.action == Action::Read && !gc;
        line.ends(last);
        if first.action == Action::Read {
            for operation in operations {
                let bound = self.foreign_waits[operation.chip].saturating_mul(self.times.asks);
                line.waits.push(ReadWait {
                    channel: plan.channel_of(operation.chip),
                    gc,
                    bound,
                    waited: operation.end.since(first.start).as_ns().saturating_sub(self.times.alone),
                    place: flash::place(operation),
                });
            }
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
