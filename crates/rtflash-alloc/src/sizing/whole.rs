//! Limits of the device, and of all tasks together.

use rtflash_model::{MAX_CHIPS, Request, Span, Task, TaskSet};

use super::search::{Trials, farthest, nearest};
use super::{FewestChips, MOST_LOAD, SizingLimit};

/// Work of all trials together, up to which every number of chips is tried from one up.
const THOROUGH: u64 = 16_000_000;
/// Trials of a search, doublings and the steps beyond it included.
const TRIALS: u64 = 40;

/// Every number from one up as far as that is little work, then doublings and a bisection.
pub(super) fn fewest_chips(trials: &Trials<'_>, passes: bool) -> SizingLimit<FewestChips> {
    let now = trials.set.device().chips();
    let enough = |chips: u32| trials.passes(trials.on_chips(chips));
    let mut tried = 0;
    let mut done = 0u64;
    while tried < MAX_CHIPS && tried < now.saturating_add(256) {
        let next = trials.of_a_trial(tried + 1);
        if done.saturating_add(next) > THOROUGH {
            break;
        }
        (tried, done) = (tried + 1, done + next);
        if enough(tried) {
            return SizingLimit::At(FewestChips { chips: tried, all_tried: true });
        }
    }
    // Above what was tried: from the device's own number, if that passes, or the first doubling
    // that does.
    let (mut failing, mut end) = (tried, now);
    if !(passes && tried < now) {
        failing = failing.max(now);
        loop {
            end = failing.saturating_mul(2).min(MAX_CHIPS);
            if end <= failing {
                return SizingLimit::Nothing;
            }
            if trials.too_many(TRIALS, end) {
                return if tried > 0 { SizingLimit::Nothing } else { SizingLimit::TooMuchWork };
            }
            if enough(end) {
                break;
            }
            failing = end;
        }
    }
    if trials.too_many(TRIALS, end) {
        return SizingLimit::TooMuchWork;
    }
    // Downwards, as what passes is above: the same search in the mirror.
    let below = u64::from(end - failing);
    let saved = farthest(below, |fewer| u32::try_from(fewer).is_ok_and(|fewer| enough(end - fewer)));
    SizingLimit::At(FewestChips { chips: end - u32::try_from(saved).expect("fewer than there are"), all_tried: false })
}

pub(super) fn largest_load(trials: &Trials<'_>, passes: bool) -> SizingLimit<u32> {
    if trials.set.tasks().is_empty() {
        return SizingLimit::Nothing;
    }
    if trials.too_many(TRIALS, trials.set.device().chips()) {
        return SizingLimit::TooMuchWork;
    }
    let carries = |permille: u64| {
        let permille = u32::try_from(permille).expect("no more than the largest load");
        trials.passes(at_load(trials.set, permille))
    };
    let most = if passes {
        Some(1_000 + farthest(u64::from(MOST_LOAD) - 999, |more| carries(1_000 + more)))
    } else {
        nearest(1_000, |less| carries(1_000 - less)).map(|less| 1_000 - less)
    };
    most.and_then(|permille| u32::try_from(permille).ok()).map_or(SizingLimit::Nothing, SizingLimit::At)
}

/// Every period divided by it, rounded up; none shorter than a stated deadline.
pub(crate) fn at_load(set: &TaskSet, permille: u32) -> Option<TaskSet> {
    let changed = |request: Request| {
        let period = (u128::from(request.period().as_ns()) * 1_000).div_ceil(u128::from(permille.max(1)));
        let period = Span::from_ns(u64::try_from(period).ok()?)?;
        request.with_period(period)
    };
    let task = |task: &Task| {
        // An impossible request is no task.
        let part = |request: Option<Request>| match request {
            None => Some(None),
            Some(request) => changed(request).map(Some),
        };
        Some(Task { read: part(task.read)?, write: part(task.write)?, ..task.clone() })
    };
    let tasks = set.tasks().iter().map(task).collect::<Option<Vec<Task>>>()?;
    TaskSet::new(*set.device(), tasks, set.jobs().to_vec()).ok()
}
