//! The earlier results of any search.

use std::cell::RefCell;

use rtflash_analysis::certified::{LeastLoad, LeastShares};
use rtflash_model::{Placement, TaskId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::supposed::{ContentionAssumption, Organisation};

/// Tasks beyond which nothing is remembered: searches then seldom ask twice.
pub(super) const MOST_TASKS: u32 = 16;

/// Each task that was asked for; others are not a number.
pub(super) type LoadsAlone = FxHashMap<(ContentionAssumption, Organisation, u32), Vec<f64>>;

/// Without each of these `exact` takes more instructions under `sound`, for 8 tasks on 16 chips:
/// 1.3 times without `loads` or `too_few_chips` (streams), 1.4 times without `shares`. Without
/// `alone` best fit takes 2.1 times as many for 1,000 tasks on 1,024 chips.
#[derive(Debug, Default)]
pub(super) struct KnownLoads {
    loads: RefCell<FxHashMap<LoadKey, Option<f64>>>,
    /// The least additions of tasks to the loads of clusters of a form, if no page ever waits.
    shares: RefCell<FxHashMap<(Placement, u32), LeastShares>>,
    /// The loads of tasks alone: the least addition of each of them to the work of others there.
    pub(super) alone: RefCell<LoadsAlone>,
    /// Assumptions under which no partition needs as few chips as there are.
    too_few_chips: RefCell<FxHashSet<ContentionAssumption>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LoadKey {
    assumption: ContentionAssumption,
    organisation: Organisation,
    chips: u32,
    tasks: u16,
}

impl LoadKey {
    pub(super) fn new(
        assumption: ContentionAssumption,
        organisation: Organisation,
        tasks: &[TaskId],
        chips: u32,
    ) -> Option<LoadKey> {
        let fits = tasks.iter().all(|task| task.0 < MOST_TASKS);
        fits.then(|| LoadKey {
            assumption,
            organisation,
            chips,
            tasks: tasks.iter().fold(0, |all, task| all | 1 << task.0),
        })
    }

    fn numbers(self) -> impl Iterator<Item = usize> {
        (0..16 - self.tasks.leading_zeros() as usize).filter(move |task| self.tasks >> task & 1 == 1)
    }

    pub(super) fn tasks(self) -> Vec<TaskId> {
        TaskId::first(MOST_TASKS).filter(|task| self.tasks >> task.0 & 1 == 1).collect()
    }
}

impl KnownLoads {
    pub(super) fn get(&self, key: &LoadKey) -> Option<Option<f64>> {
        self.loads.borrow().get(key).copied()
    }

    pub(super) fn keep(&self, key: LoadKey, load: Option<f64>) {
        self.loads.borrow_mut().insert(key, load);
    }

    pub(super) fn least(&self, key: LoadKey, shares: impl FnOnce() -> LeastShares) -> LeastLoad {
        let mut known = self.shares.borrow_mut();
        known.entry((key.organisation.placement, key.chips)).or_insert_with(shares).of(key.numbers())
    }

    /// Tasks alone are known in the worst case only: of many tasks there would be much to remember.
    pub(super) fn forget_tasks_alone(&self) {
        self.alone.borrow_mut().retain(|key, _| key.0 == ContentionAssumption::WorstCase);
    }

    pub(super) fn keep_too_few_chips(&self, assumption: ContentionAssumption) {
        self.too_few_chips.borrow_mut().insert(assumption);
    }

    /// Whether that is known, so that no other search has to look for one.
    pub(super) fn has_too_few_chips(&self, assumption: ContentionAssumption) -> bool {
        self.too_few_chips.borrow().contains(&assumption)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A result under one assumption says nothing of another, nor of other tasks or chips.
    #[test]
    fn what_is_known_is_of_one_assumption() {
        let [some, other] = [ContentionAssumption::WorstCase, ContentionAssumption::Optimistic(1)];
        let known = KnownLoads::default();
        known.keep_too_few_chips(some);
        assert!(known.has_too_few_chips(some) && !known.has_too_few_chips(other));
        assert!(!known.has_too_few_chips(ContentionAssumption::Optimistic(2)));

        let key = |assumption, organisation, tasks: &[u32], chips| {
            let tasks: Vec<TaskId> = tasks.iter().copied().map(TaskId).collect();
            LoadKey::new(assumption, organisation, &tasks, chips)
        };
        let stripe = Organisation::default();
        let compact = Organisation::of(Placement::Superblock).next().expect("it is tried first");
        let kept = key(some, stripe, &[3, 0], 2).expect("few tasks");
        known.keep(kept, Some(0.5));
        for (asked, found) in [
            (key(some, stripe, &[0, 3], 2), Some(Some(0.5))),
            (key(other, stripe, &[0, 3], 2), None),
            (key(some, compact, &[0, 3], 2), None),
            (key(some, stripe, &[0, 2], 2), None),
            (key(some, stripe, &[0, 3], 3), None),
        ] {
            assert_eq!(known.get(&asked.expect("few tasks")), found);
        }
        assert_eq!(key(some, stripe, &[MOST_TASKS], 1), None);
        assert_eq!(kept.tasks(), [TaskId(0), TaskId(3)]);
    }
}
