//! Checkers of time: deadlines, service, waiting for the bus, garbage collection.

use rtflash_model::{ChipId, ClusterId, Instant, PerId, Span};
use rtflash_plan::{Certified, ClusterPlan, Plan, Promise, Releases, Source, StepSpans, behind_a_page};
use rtflash_trace::{Action, Complete, Kind, Operation};
use serde::{Deserialize, Serialize};

use super::gauge::{Gauge, Place};
use super::ledger::Pending;

/// Where a job's event was seen.
pub(super) fn place(at: Instant, pending: &Pending, chip: Option<ChipId>) -> Place {
    Place { at, job: Some(pending.release.job), cluster: pending.release.cluster, chip }
}

/// Whether complete jobs were in time: response against relative deadline.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Deadlines {
    pub(super) gauge: Gauge,
}

impl Deadlines {
    /// `late`: how late the job may be.
    pub(super) fn complete(&mut self, complete: &Complete, pending: &Pending, late: Span) {
        if let Some(deadline) = pending.release.deadline {
            let response = complete.at.since(pending.release.at);
            let allowed = deadline.since(pending.release.at).saturating_add(late);
            self.gauge.note(allowed.as_ns(), response.as_ns(), || place(complete.at, pending, None));
        }
    }
}

/// Whether pending jobs are late at the end: how late, against zero.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Overdue {
    pub(super) gauge: Gauge,
}

impl Overdue {
    /// `late`: how late the job may be.
    pub(super) fn end(&mut self, duration: Instant, pending: &Pending, late: Span) {
        if let Some(deadline) = pending.release.deadline.map(|deadline| deadline.saturating_add(late)) {
            // At the deadline itself it should have been complete.
            let late = if deadline <= duration { duration.since(deadline).as_ns() + 1 } else { 0 };
            self.gauge.note(0, late, || place(duration, pending, None));
        }
    }
}

/// How late a server's job may be under a certificate: a step, where its deadline is shorter than
/// every task's and that of garbage collection, and so is not looked at by the demand test.
pub(super) fn lateness(plan: &Plan, certified: &PerId<ClusterId, Certified>, pending: &Pending) -> Span {
    let (Some(cluster), Some(deadline)) = (pending.release.cluster, pending.release.deadline) else {
        return Span::ZERO;
    };
    let by = &certified[cluster];
    let offered = deadline.since(pending.release.at);
    let served =
        |source: &&Source| pending.release.cluster == source.cluster && matches!(source.kind, Kind::Read | Kind::Write);
    let windows = plan.sources().iter().filter(served).filter_map(|source| {
        // D − J.
        source.deadline.map(|deadline| deadline.saturating_sub(source.jitter).as_ns())
    });
    let gc = by.certificate.collection.and_then(|collection| collection.deadline).map(Span::as_ns);
    let shortest = windows.chain(gc).min();
    if shortest.is_some_and(|shortest| offered.as_ns() >= shortest) {
        return Span::ZERO;
    }
    let more = if by.is_cached() {
        plan.clusters()[cluster].page_delay.saturating_add(plan.device().bus_hold())
    } else {
        Span::ZERO
    };
    longest_blocker(plan, &plan.clusters()[cluster], by).saturating_add(more)
}

/// The longest step that there is in a cluster with a certificate. With two page registers it is
/// the longest from the start of an operation to its end, another one before it in the array.
pub(super) fn longest_step(plan: &Plan, cluster: &ClusterPlan, by: &Certified) -> Span {
    if by.is_cached() {
        let device = plan.device();
        let t_w = device.page_program();
        let b = cluster.page_delay.saturating_add(device.bus_hold());
        let program = t_w.max(b).saturating_add(t_w);
        // Steps of a pass are those of any stripe, or superblock.
        let steps = StepSpans::new(device, cluster.page_delay);
        let (Some(through), Some(costs)) = (behind_a_page(device, cluster.page_delay), steps) else {
            return Span::LONGEST;
        };
        let pages = through.saturating_add(b).max(program).max(costs.erase);
        return pages.max(if by.is_stripe() { costs.copy } else { costs.read.max(costs.program) });
    }
    // Nothing is too long that has been accepted.
    let Some(costs) = StepSpans::new(plan.device(), cluster.page_delay) else { return Span::LONGEST };
    let copy = if by.is_stripe() { costs.copy } else { Span::ZERO };
    let suspends = by.certificate.suspends_erases(plan.device());
    costs.read.max(costs.program).max(copy).max(if suspends { Span::ZERO } else { costs.erase })
}

/// The longest that a step blocks jobs of earlier deadlines, with what fails of it and is
/// programmed once more.
pub(super) fn longest_blocker(plan: &Plan, cluster: &ClusterPlan, by: &Certified) -> Span {
    let step = longest_step(plan, cluster, by);
    let (device, costs) = (plan.device(), StepSpans::new(plan.device(), cluster.page_delay));
    let (failures, Some(costs)) = (u64::from(device.program_failures()), costs) else { return step };
    let repeated = if by.is_stripe() {
        costs.program.max(costs.copy).checked_mul(failures)
    } else {
        costs.program.checked_mul(failures.saturating_mul(u64::from(cluster.layout.chips())))
    };
    step.saturating_add(repeated.unwrap_or(Span::LONGEST))
}

/// A job's own pages, waiting for the bus included, within C + D.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ServiceTime {
    pub(super) gauge: Gauge,
}

impl ServiceTime {
    pub(super) fn complete(&mut self, complete: &Complete, pending: &Pending, plan: &Plan) {
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
        // What has failed takes its time once more.
        let delay = pending.release.cluster.map_or(Span::ZERO, |cluster| plan.clusters()[cluster].page_delay);
        let again = plan.timing().program().saturating_add(delay).checked_mul(pending.failed);
        if let Some(bound) = bound.and_then(|bound| bound.checked_add(again?)) {
            self.gauge.note(bound.as_ns(), pending.service, || place(complete.at, pending, None));
        }
    }
}

/// What a page waits for its bus within D(s).
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct BusWait {
    pub(super) gauge: Gauge,
}

impl BusWait {
    #[inline(always)]
    pub(super) fn operation(&mut self, operation: &Operation, pending: &Pending, plan: &Plan) {
        let (alone, asks) = match operation.action {
            Action::Read => (plan.timing().read(), plan.timing().asks_of_a_read()),
            Action::Program => (plan.timing().program(), 1),
            Action::Erase | Action::ErasePart => return,
        };
        let cluster = &plan.clusters()[operation.cluster];
        let waited = operation.end.since(operation.start).saturating_sub(alone);
        let at = place(operation.start, pending, Some(operation.chip));
        self.gauge.note_by_chip(cluster.page_delay.as_ns().saturating_mul(asks), waited.as_ns(), at);
    }
}

/// The longest time a job waits for an operation of a later deadline, within t_e.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Blocking {
    pub(super) gauge: Gauge,
}

impl Blocking {
    pub(super) fn blocked(&mut self, left: Span, erase: Span, pending: &Pending, chip: ChipId) {
        self.gauge.note(erase.as_ns(), left.as_ns(), || place(pending.release.at, pending, Some(chip)));
    }
}
