//! The limit of a decision's work: counted, so that an answer is the same on every machine.

use rtflash_model::TaskSet;

/// For each chip and each task. A unit is about a nanosecond of one core.
const FOR_EACH: u64 = 1_700;
/// Job streams take a search for the largest server, at loads next to all that there is.
const WITH_JOBS: u64 = 20;
const FEW: u64 = 24;

/// The most work of a decision about a set before a place that was not found is refused
/// (docs/admission.md).
pub(super) fn most_taken(set: &TaskSet) -> u64 {
    let all = u64::from(set.device().chips()).saturating_add(set.tasks().len() as u64);
    let times = if set.jobs().is_empty() { 1 } else { WITH_JOBS };
    (times * FOR_EACH).saturating_mul(all.max(FEW))
}
