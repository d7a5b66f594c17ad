//! Loads that were found before, by whatever search asked for them.

use std::cell::RefCell;
use std::collections::HashMap;

use rtflash_model::TaskId;

use super::supposed::{ContentionAssumption, Organisation};

/// Tasks beyond which nothing is remembered: searches then seldom ask twice, and there would be
/// much to remember.
const MOST_TASKS: usize = 16;

/// Loads of clusters that hold, and the clusters that do not.
#[derive(Debug, Default)]
pub(super) struct KnownLoads(RefCell<HashMap<LoadKey, Option<f64>>>);

/// A cluster, its tasks in the order in which they are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LoadKey {
    assumption: ContentionAssumption,
    organisation: Organisation,
    chips: u32,
    /// Four bits for each task, from the lowest on.
    tasks: u64,
    count: usize,
}

impl LoadKey {
    /// `None` for a cluster that is not remembered.
    pub(super) fn new(
        assumption: ContentionAssumption,
        organisation: Organisation,
        tasks: &[TaskId],
        chips: u32,
    ) -> Option<LoadKey> {
        let fits = tasks.len() <= MOST_TASKS && tasks.iter().all(|task| (task.0 as usize) < MOST_TASKS);
        let order = || tasks.iter().rev().fold(0, |order, task| order << 4 | u64::from(task.0));
        fits.then(|| LoadKey { assumption, organisation, chips, tasks: order(), count: tasks.len() })
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
