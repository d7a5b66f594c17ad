//! Trials of changed sets, and the search for a boundary between what passes and what fails.

use std::cell::Cell;

use rtflash_analysis::{Analysis, Test, Work, WorkBound};
use rtflash_model::{Device, DeviceSpec, Task, TaskSet};

use super::{LargestRatio, MAX_TEST_WORK, MOST_WORK, SizingLimit, largest_ratio};
use crate::allocator::Allocator;

/// Steps beyond a boundary that are tried before it is believed.
const WALK: u64 = 4;
/// Times that a boundary is looked for again where such a step passes after all.
const ROUNDS: u32 = 8;

pub(super) struct Trials<'a> {
    pub(super) set: &'a TaskSet,
    allocator: &'a dyn Allocator,
    analysis: &'a dyn Analysis,
    work: &'a Work,
    /// For all limits that are still to be found.
    all: WorkBound<'a>,
    one: Cell<WorkBound<'a>>,
}

impl<'a> Trials<'a> {
    pub(super) fn new(
        set: &'a TaskSet,
        allocator: &'a dyn Allocator,
        analysis: &'a dyn Analysis,
        work: &'a Work,
    ) -> Trials<'a> {
        let all = work.bound(MAX_TEST_WORK);
        Trials { set, allocator, analysis, work, all, one: Cell::new(all) }
    }

    /// A set that there cannot be does not pass, nor one of which the algorithm cannot tell.
    pub(super) fn passes(&self, set: Option<TaskSet>) -> bool {
        self.one.get().left() > 0
            && set
                .is_some_and(|set| self.allocator.divide(&set, self.analysis, self.work).is_schedulable() == Some(true))
    }

    /// A limit, searched for with its share of the work that is left: the first of `of`.
    pub(super) fn limit<T>(&self, of: u64, look: impl FnOnce() -> SizingLimit<T>) -> SizingLimit<T> {
        self.one.set(self.work.bound(self.all.left() / of.max(1)));
        let found = look();
        // A boundary beside a trial that was left out is none.
        if self.one.get().left() > 0 { found } else { SizingLimit::TooMuchWork }
    }

    pub(super) fn largest_ratio(&self, of: u64) -> SizingLimit<LargestRatio> {
        let share = self.work.bound(self.all.left() / of.max(1));
        largest_ratio(self.set, self.allocator, self.analysis, MOST_WORK, share, self.work)
    }

    pub(super) fn too_many(&self, trials: u64, chips: u32) -> bool {
        self.of_a_trial(chips).saturating_mul(trials) > MOST_WORK
    }

    /// Tasks times chips, times the time relative to Theorem 1 and best fit, roughly.
    pub(super) fn of_a_trial(&self, chips: u32) -> u64 {
        let tasks = self.set.tasks().len();
        let analysis = if matches!(self.analysis.test(), Test::Linear(_)) { 1 } else { 16 };
        let algorithm = self.allocator.relative_work(tasks);
        (tasks.max(1) as u64).saturating_mul(chips.into()).saturating_mul(analysis).saturating_mul(algorithm.max(1))
    }

    pub(super) fn on_chips(&self, chips: u32) -> Option<TaskSet> {
        with_device(self.set, |spec| DeviceSpec { chips, ..spec })
    }

    pub(super) fn with_tasks(&self, tasks: Vec<Task>) -> Option<TaskSet> {
        TaskSet::new(*self.set.device(), tasks, self.set.jobs().to_vec()).ok()
    }
}

pub(crate) fn with_device(set: &TaskSet, change: impl FnOnce(DeviceSpec) -> DeviceSpec) -> Option<TaskSet> {
    set.on(Device::new(change(set.device().spec())).ok()?).ok()
}

/// From 0, which passes, below `end`: by doubling, bisection, and a few steps beyond. The next step
/// was tried and fails, or is `end`.
pub(super) fn farthest(end: u64, passes: impl Fn(u64) -> bool) -> u64 {
    let mut passing = 0u64;
    for _ in 0..ROUNDS {
        let mut step = 1u64;
        let mut failing = loop {
            let next = passing.saturating_add(step).min(end);
            if next >= end || !passes(next) {
                break next;
            }
            (passing, step) = (next, step.saturating_mul(2));
        };
        while passing + 1 < failing {
            let middle = u64::midpoint(passing, failing);
            if passes(middle) { passing = middle } else { failing = middle }
        }
        // If passing is not monotone there may be more a little further out.
        let mut beyond = failing.saturating_add(1)..end.min(failing.saturating_add(WALK + 1));
        match beyond.find(|&step| passes(step)) {
            Some(further) if further + 1 < end && passes(further + 1) => passing = further,
            Some(further) => return further,
            None => break,
        }
    }
    passing
}

/// From 0, which fails, below `end`: by doubling, then [`farthest`] back. The step before fails.
pub(crate) fn nearest(end: u64, passes: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut failing, mut step) = (0, 1u64);
    let passing = loop {
        let next = (failing + step).min(end.checked_sub(1)?);
        if next <= failing {
            return None;
        }
        if passes(next) {
            break next;
        }
        (failing, step) = (next, step.saturating_mul(2));
    };
    Some(passing - farthest(passing - failing, |back| passes(passing - back)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_are_found() {
        for end in 1..70 {
            for limit in 0..end {
                assert_eq!(farthest(end, |step| step <= limit), limit);
                assert_eq!(nearest(end, |step| step >= limit.max(1)), (limit.max(1) < end).then_some(limit.max(1)));
            }
            assert_eq!(nearest(end, |_| false), None);
        }
        assert_eq!(farthest(u64::MAX, |_| true), u64::MAX - 1);
        // A gap that is narrow is stepped over; what is returned passes and the next step does not,
        // whatever passes.
        assert_eq!(farthest(100, |step| step <= 20 || (23..=40).contains(&step)), 40);
        for bits in 0..1u32 << 12 {
            let passes = |step: u64| step == 0 || bits >> (step - 1) & 1 == 1;
            let far = farthest(13, passes);
            assert!(passes(far) && (far == 12 || !passes(far + 1)), "{bits:b} {far}");
            let near = nearest(13, |step| step > 0 && passes(step));
            assert!(near.is_none_or(|near| passes(near) && (near == 1 || !passes(near - 1))), "{bits:b} {near:?}");
        }
    }
}
