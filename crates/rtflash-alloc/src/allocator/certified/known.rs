//! Loads that were found before, by whatever search asked for them.

use rtflash_model::TaskId;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

use super::supposed::{ContentionAssumption, Organisation};

/// Tasks of a set beyond which nothing is remembered: searches then seldom ask twice, and there
/// would be much to remember.
const MOST_TASKS: u32 = 16;

/// Loads of clusters that hold, and the clusters that do not.
#[derive(Debug, Default)]
pub(super) struct KnownLoads(RefCell<FxHashMap<LoadKey, Option<f64>>>);

/// A cluster under an assumption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LoadKey {
    assumption: ContentionAssumption,
    organisation: Organisation,
    chips: u32,
    /// A bit for each task.
    tasks: u16,
}

impl LoadKey {
    /// `None` for a cluster that is not remembered.
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

    /// The same cluster, if no page ever waited for the bus.
    pub(super) fn without_contention(self) -> LoadKey {
        LoadKey { assumption: ContentionAssumption::NoContention, ..self }
    }

    /// Its tasks, ascending.
    pub(super) fn tasks(self) -> Vec<TaskId> {
        TaskId::first(MOST_TASKS).filter(|task| self.tasks >> task.0 & 1 == 1).collect()
    }
}

impl KnownLoads {
    pub(super) fn get(&self, key: &LoadKey) -> Option<Option<f64>> {
        self.0.borrow().get(key).copied()
    }

    pub(super) fn keep(&self, key: LoadKey, load: Option<f64>) {
        self.0.borrow_mut().insert(key, load);
    }
}
