//! Whether data fit: pages and bytes, of each task and each cluster.

use rtflash_alloc::allocator::Outcome;
use rtflash_model::{Cluster, Placement, Space, TaskId, TaskSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::Text;

/// The data of tasks beside the logical pages that there are for them, in an answer.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct DataAnswer<'a> {
    /// Whether they fit: `needed_pages` ≤ `logical_pages`.
    pub fits: bool,
    /// Pages of data: what each task declares, and one for each task beside them that declares
    /// nothing.
    pub data_pages: u128,
    /// Logical pages that they take: as many, or in a stripe each task's rounded up to whole rows
    /// of its chips.
    pub needed_pages: u128,
    /// Logical pages of the cluster, or of the device.
    pub logical_pages: u128,
    /// `data_pages` in bytes.
    pub data_bytes: u128,
    /// `needed_pages` in bytes.
    pub needed_bytes: u128,
    /// `logical_pages` in bytes.
    pub logical_bytes: u128,
    /// The tasks that declare their data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskDataAnswer<'a>>,
}

/// The data of one task, in a [`DataAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TaskDataAnswer<'a> {
    /// Its name.
    pub task: Text<'a>,
    /// The pages that it declares.
    pub data_pages: u64,
    /// The size of these pages in bytes.
    pub data_bytes: u128,
}

impl<'a> DataAnswer<'a> {
    /// The data of these tasks, positions in the set, in this space; `None` where nothing is
    /// declared and nothing is wrong.
    pub fn new(set: &'a TaskSet, tasks: impl IntoIterator<Item = TaskId>, space: &Space) -> Option<DataAnswer<'a>> {
        let device = set.device();
        let task = |task: TaskId| {
            let task = set.tasks().get(task)?;
            let data_pages = task.data_pages?;
            let data_bytes = device.bytes(data_pages.into());
            Some(TaskDataAnswer { task: task.name.as_str().into(), data_pages, data_bytes })
        };
        (space.declared || !space.fits()).then(|| DataAnswer {
            fits: space.fits(),
            data_pages: space.data_pages,
            needed_pages: space.needed_pages,
            logical_pages: space.logical_pages,
            data_bytes: device.bytes(space.data_pages),
            needed_bytes: device.bytes(space.needed_pages),
            logical_bytes: device.bytes(space.logical_pages),
            tasks: tasks.into_iter().filter_map(task).collect(),
        })
    }

    /// The data of a cluster of an allocation.
    pub fn of(set: &'a TaskSet, cluster: &Cluster, placement: Option<Placement>) -> Option<DataAnswer<'a>> {
        let space = set.space(&cluster.tasks, cluster.size(), placement);
        DataAnswer::new(set, cluster.tasks.iter().copied(), &space)
    }

    /// The data of all tasks on the whole device, or on PaRT-FTL's data chips; each task is named
    /// where no cluster names it.
    pub fn of_outcome(set: &'a TaskSet, outcome: &Outcome) -> Option<DataAnswer<'a>> {
        let space = match outcome {
            Outcome::Partitioned(verdict) => verdict.space,
            _ => on_device(set),
        };
        let named = if outcome.allocation().is_some() { 0 } else { set.tasks().count() };
        DataAnswer::new(set, TaskId::first(named), &space)
    }
}

/// All data on the whole device, wherever the clusters are.
pub fn on_device(set: &TaskSet) -> Space {
    Space::new(set.device(), set.tasks(), set.device().chips(), None)
}
