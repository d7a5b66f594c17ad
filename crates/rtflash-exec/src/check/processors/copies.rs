//! Copies of GC jobs that follow each other on a chip of a stripe.

use rtflash_model::Instant;

use super::Processors;
use crate::check::stretches::Stretch;
use crate::trace::{CopyTimes, JobId};

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

    /// Its job goes on with copies.
    pub(in crate::check) fn goes_on_with_copies(&mut self, processor: usize, copies: &[CopyTimes], deadline: u64) {
        let line = &mut self.lines[processor];
        line.only_reads = true;
        for &CopyTimes { start, end, .. } in copies {
            if let Some(last) = line.under_way.replace(Stretch { start, end, deadline, erases: false }) {
                line.ends(last);
            }
        }
    }
}
