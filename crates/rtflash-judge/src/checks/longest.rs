//! The longest steps under a certificate, and how late a server's job may be.

use rtflash_model::{ClusterId, PerId, Span};
use rtflash_plan::{Certified, ClusterPlan, Plan, Source, StepSpans, behind_a_page};
use rtflash_trace::Kind;

use crate::shadow::jobs::Pending;

/// A step, where its deadline is shorter than every task's and that of garbage collection: no
/// interval of the demand test contains it then.
pub(crate) fn lateness(plan: &Plan, certified: &PerId<ClusterId, Certified>, pending: &Pending) -> Span {
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

/// For two page registers from start to end of an operation, another one before it.
pub(crate) fn longest_step(plan: &Plan, cluster: &ClusterPlan, by: &Certified) -> Span {
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

/// Pages of the step that fail and are programmed once more are included.
pub(crate) fn longest_blocker(plan: &Plan, cluster: &ClusterPlan, by: &Certified) -> Span {
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
