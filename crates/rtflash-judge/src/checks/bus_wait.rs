//! The time that a page waits for its bus.

use rtflash_plan::Plan;
use rtflash_trace::{Action, Operation};

use crate::gauge::Gauge;
use crate::shadow::jobs::Pending;

/// The wait of a page for its bus, within D(s).
#[inline(always)]
pub(crate) fn operation(operation: &Operation, pending: &Pending, plan: &Plan, gauge: &mut Gauge) {
    let (alone, asks) = match operation.action {
        Action::Read => (plan.timing().read(), plan.timing().asks_of_a_read()),
        Action::Program => (plan.timing().program(), 1),
        Action::Erase | Action::ErasePart => return,
    };
    let cluster = &plan.clusters()[operation.cluster];
    let waited = operation.end.since(operation.start).saturating_sub(alone);
    let at = pending.place(operation.start, Some(operation.chip));
    gauge.note_by_chip(cluster.page_delay.as_ns().saturating_mul(asks), waited.as_ns(), at);
}
