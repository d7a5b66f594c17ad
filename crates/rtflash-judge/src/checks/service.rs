//! The time that a job's own pages take.

use rtflash_model::Span;
use rtflash_plan::{Plan, Promise, Releases};
use rtflash_trace::{Complete, Kind};

use crate::gauge::Gauge;
use crate::shadow::jobs::Pending;

/// A job's own pages, waiting for the bus included, within C + D.
pub(crate) fn complete(complete: &Complete, pending: &Pending, plan: &Plan, gauge: &mut Gauge) {
    let source = &plan.sources()[pending.release.job.source];
    let bound = match source.kind {
        Kind::Read | Kind::Write => source.bound,
        Kind::Gc => return,
        Kind::Server => pending.release.cluster.and_then(|cluster| {
            let delay = plan.clusters()[cluster].page_delay;
            let (reads, writes) = match source.releases {
                Releases::Handed => (pending.reads, pending.programs),
                _ => (source.read_pages, source.write_pages),
            };
            let delays = delay.checked_mul(plan.timing().asks_of_a_read())?;
            // With two page registers the command of the next read may go before a page.
            let cached = matches!(plan.promise(), Promise::Certified(by) if by[cluster].is_cached());
            let delays = delays.checked_add(if cached { plan.timing().command() } else { Span::ZERO })?;
            let read = plan.timing().read().checked_add(delays)?.checked_mul(reads)?;
            let write = plan.timing().program().checked_add(delay)?.checked_mul(writes)?;
            read.checked_add(write)
        }),
    };
    // A page that has failed takes its time once more.
    let delay = pending.release.cluster.map_or(Span::ZERO, |cluster| plan.clusters()[cluster].page_delay);
    let again = plan.timing().program().saturating_add(delay).checked_mul(pending.failed);
    if let Some(bound) = bound.and_then(|bound| bound.checked_add(again?)) {
        gauge.note(bound.as_ns(), pending.service, || pending.place(complete.at, None));
    }
}
