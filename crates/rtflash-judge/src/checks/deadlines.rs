//! Deadlines of jobs that are complete, and of those that are pending at the end.

use rtflash_model::{Instant, Span};
use rtflash_trace::Complete;
use serde::{Deserialize, Serialize};

use crate::gauge::Gauge;
use crate::shadow::jobs::Pending;

/// Whether complete jobs were in time: response against relative deadline.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Deadlines {
    pub(crate) gauge: Gauge,
}

impl Deadlines {
    /// `late`: how late the job may be.
    pub(crate) fn complete(&mut self, complete: &Complete, pending: &Pending, late: Span) {
        if let Some(deadline) = pending.release.deadline {
            let response = complete.at.since(pending.release.at);
            let allowed = deadline.since(pending.release.at).saturating_add(late);
            self.gauge.note(allowed.as_ns(), response.as_ns(), || pending.place(complete.at, None));
        }
    }
}

/// Whether pending jobs are late at the end: how late, against zero.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Overdue {
    pub(crate) gauge: Gauge,
}

impl Overdue {
    /// `late`: how late the job may be.
    pub(crate) fn end(&mut self, duration: Instant, pending: &Pending, late: Span) {
        if let Some(deadline) = pending.release.deadline.map(|deadline| deadline.saturating_add(late)) {
            // At the deadline itself it should have been complete.
            let late = if deadline <= duration { duration.since(deadline).as_ns() + 1 } else { 0 };
            self.gauge.note(0, late, || pending.place(duration, None));
        }
    }
}
