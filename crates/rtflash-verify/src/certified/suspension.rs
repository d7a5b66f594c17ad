//! Erases that are suspended: docs/analysis.md, Section 18.

use super::processor::{Processor, VerifiedTask};

impl Processor {
    /// The time that jobs of a request take to suspend erases: those that have a page here.
    pub fn preempting(&self, item: &VerifiedTask, length: i128) -> Option<i128> {
        let jobs = item.requests_due(length);
        self.preempts.checked_mul(jobs.min(item.pages.of(jobs)?))
    }
}
