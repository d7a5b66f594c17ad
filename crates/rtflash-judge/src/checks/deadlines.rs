//! Deadlines of jobs that are complete, and of those that are pending at the end.

use rtflash_model::{Instant, Span};
use rtflash_trace::{Complete, Kind};

use crate::Assumption;
use crate::gauge::Gauges;
use crate::shadow::jobs::Pending;

/// A job is complete: its response against its relative deadline, and how `late` it may be.
pub(crate) fn complete(complete: &Complete, pending: &Pending, late: Span, gauges: &mut Gauges) {
    let Some(deadline) = pending.release.deadline else { return };
    let response = complete.at.since(pending.release.at);
    let allowed = deadline.since(pending.release.at).saturating_add(late);
    let served = pending.release.kind == Kind::Server;
    let of = if served { Assumption::ServerDeadlines } else { Assumption::Deadlines };
    gauges[of].note(allowed.as_ns(), response.as_ns(), || pending.place(complete.at, None));
}

/// How much later than it may be (`late`), against zero.
pub(crate) fn end(duration: Instant, pending: &Pending, late: Span, gauges: &mut Gauges) {
    let Some(deadline) = pending.release.deadline.map(|deadline| deadline.saturating_add(late)) else { return };
    // At the deadline itself it should have been complete.
    let late = if deadline <= duration { duration.since(deadline).as_ns() + 1 } else { 0 };
    let served = pending.release.kind == Kind::Server;
    let of = if served { Assumption::ServerOverdue } else { Assumption::Overdue };
    gauges[of].note(0, late, || pending.place(duration, None));
}
