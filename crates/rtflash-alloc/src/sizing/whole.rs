//! Limits of the device, and of all tasks together.

use rtflash_model::{DeviceSpec, LogicalRatio, MAX_CHIPS, Request, Span, Task, TaskSet};

use super::search::{Trials, farthest, nearest};
use super::{FewestChips, MOST_LOAD, RATIO_STEPS, SizingLimit};

/// Work of all trials together, up to which every number of chips is tried from one up.
const THOROUGH: u64 = 16_000_000;
/// Trials of a search, doublings and the steps beyond it included.
const TRIALS: u64 = 40;

/// The fewest chips that pass: every number from one up as far as that is little work, then
/// doublings and a bisection.
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

/// The largest λ that passes, in steps of 1/[`RATIO_STEPS`].
pub(super) fn largest_ratio(trials: &Trials<'_>, passes: bool) -> SizingLimit<LogicalRatio> {
    let device = trials.set.device();
    if trials.too_many(TRIALS, device.chips()) {
        return SizingLimit::TooMuchWork;
    }
    let step = |steps: u64| {
        let places = RATIO_STEPS.ilog10();
        LogicalRatio::from_decimal(steps.into(), places).ok()
    };
    let enough = |steps: u64| {
        let changed =
            step(steps).and_then(|ratio| trials.with_device(|spec| DeviceSpec { logical_ratio: ratio, ..spec }));
        trials.passes(changed)
    };
    let now = device.logical_ratio();
    let below = now.floor_of(RATIO_STEPS.into());
    let most = if passes {
        // Up from the step below the device's own, whether or not that one passes.
        step(below + farthest(u64::from(RATIO_STEPS) - below, |steps| enough(below + steps))).max(Some(now))
    } else if let Some(most) = larger_ratio(trials, below, &enough) {
        step(most)
    } else {
        let first = below + u64::from(step(below) != Some(now));
        let down = |steps: u64| first.checked_sub(steps).is_some_and(enough);
        let found = nearest(first, down).or_else(|| {
            let each = !trials.too_many(first, device.chips());
            (1..first).find(|&steps| each && down(steps))
        });
        found.and_then(|steps| step(first - steps))
    };
    most.map_or(SizingLimit::Nothing, SizingLimit::At)
}

/// The largest step above `below` that passes though the device's own λ does not: data that do not
/// fit may, with more logical pages.
fn larger_ratio(trials: &Trials<'_>, below: u64, enough: &dyn Fn(u64) -> bool) -> Option<u64> {
    if trials.set.tasks().iter().all(|task| task.data_pages.is_none()) {
        return None;
    }
    let above = u64::from(RATIO_STEPS) - below;
    let found = nearest(above, |more| enough(below + more)).or_else(|| {
        let each = !trials.too_many(above, trials.set.device().chips());
        (1..above).find(|&more| each && enough(below + more))
    })?;
    Some(below + found + farthest(above - found, |more| enough(below + found + more)))
}

/// The largest load that passes, in thousandths of today's.
pub(super) fn largest_load(trials: &Trials<'_>, passes: bool) -> SizingLimit<u32> {
    if trials.set.tasks().is_empty() {
        return SizingLimit::Nothing;
    }
    if trials.too_many(TRIALS, trials.set.device().chips()) {
        return SizingLimit::TooMuchWork;
    }
    let carries = |permille: u64| {
        let permille = u32::try_from(permille).expect("no more than the largest load");
        trials.passes(at_load(trials, permille))
    };
    let most = if passes {
        Some(1_000 + farthest(u64::from(MOST_LOAD) - 999, |more| carries(1_000 + more)))
    } else {
        nearest(1_000, |less| carries(1_000 - less)).map(|less| 1_000 - less)
    };
    most.and_then(|permille| u32::try_from(permille).ok()).map_or(SizingLimit::Nothing, SizingLimit::At)
}

/// The set at so many thousandths of its load: every period divided by it, rounded up to the
/// nanosecond. Deadlines that are stated stay, so no period becomes shorter than its deadline.
fn at_load(trials: &Trials<'_>, permille: u32) -> Option<TaskSet> {
    let changed = |request: Request| {
        let period = (u128::from(request.period().as_ns()) * 1_000).div_ceil(u128::from(permille.max(1)));
        let period = Span::from_ns(u64::try_from(period).ok()?)?;
        request.with_period(period)
    };
    let task = |task: &Task| {
        // What cannot be is no task.
        let part = |request: Option<Request>| match request {
            None => Some(None),
            Some(request) => changed(request).map(Some),
        };
        Some(Task { read: part(task.read)?, write: part(task.write)?, ..task.clone() })
    };
    trials.with_tasks(trials.set.tasks().iter().map(task).collect::<Option<Vec<Task>>>()?)
}
