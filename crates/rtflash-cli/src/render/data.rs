//! Whether data fit, in words and as JSON: pages and bytes, of each task and each cluster.

use rtflash_alloc::allocator::Outcome;
use rtflash_model::{Cluster, Device, Placement, Space, TaskSet};
use schemars::JsonSchema;
use serde::Serialize;

use super::numbers::{count, plain, separated};
use super::table::table;
use super::wire::task_name;
use crate::output::{RED, paint};

/// Tasks of a cluster shown.
const TASKS: usize = 16;

/// The data of tasks beside the logical pages that there are for them, in an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DataAnswer<'a> {
    /// Whether they fit: `needed_pages` ≤ `logical_pages`.
    pub fits: bool,
    /// Pages of data: what each task declares, and one for each task beside them that declares nothing.
    pub data_pages: u128,
    /// Logical pages that they take: as many, or in a stripe each task's rounded up to whole rows of its chips.
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
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskDataAnswer<'a> {
    /// Its name.
    pub task: &'a str,
    /// The pages that it declares.
    pub data_pages: u64,
    /// The same in bytes.
    pub data_bytes: u128,
}

impl<'a> DataAnswer<'a> {
    /// The data of these tasks, positions in the set, in this space; `None` where nothing is declared and nothing is wrong.
    pub fn new(set: &'a TaskSet, tasks: impl IntoIterator<Item = usize>, space: &Space) -> Option<DataAnswer<'a>> {
        let device = set.device();
        let task = |task: usize| {
            let task = set.tasks().get(task)?;
            let data_pages = task.data_pages?;
            Some(TaskDataAnswer { task: &task.name, data_pages, data_bytes: device.bytes(data_pages.into()) })
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

    /// A line on a cluster whose data do not fit, task by task.
    pub fn complaint(&self, position: usize) -> String {
        let amount =
            |pages: u128, what: &str, bytes: u128| format!("{} {what} ({} bytes)", separated(pages), separated(bytes));
        let tasks =
            self.tasks.iter().take(TASKS).map(|each| {
                format!("{} {}", plain(each.task), amount(each.data_pages.into(), "pages", each.data_bytes))
            });
        let tasks = tasks.collect::<Vec<_>>().join(", ");
        let more = self.tasks.len().saturating_sub(TASKS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!(
            "  cluster {position}: its data take {}, and it has {}: {tasks}{more}\n",
            amount(self.needed_pages, "pages", self.needed_bytes),
            amount(self.logical_pages, "logical pages", self.logical_bytes)
        )
    }

    /// The data of a cluster of an allocation.
    pub fn of(set: &'a TaskSet, cluster: &Cluster, placement: Option<Placement>) -> Option<DataAnswer<'a>> {
        let space = set.space(&cluster.tasks, cluster.size(), placement);
        DataAnswer::new(set, cluster.tasks.iter().copied(), &space)
    }

    /// The data of all tasks on the whole device, or on PaRT-FTL's data chips; each task is named where no cluster names it.
    pub fn of_outcome(set: &'a TaskSet, outcome: &Outcome) -> Option<DataAnswer<'a>> {
        let space = match outcome {
            Outcome::Partitioned(verdict) => verdict.space,
            _ => on_device(set),
        };
        let named = if outcome.allocation().is_some() { 0 } else { set.tasks().len() };
        DataAnswer::new(set, 0..named, &space)
    }
}

/// All data on the whole device, wherever the clusters are.
pub fn on_device(set: &TaskSet) -> Space {
    Space::new(set.device(), set.tasks(), set.device().chips(), None)
}

/// `800,000 pages (6,553,600,000 bytes)`.
pub fn pages(device: &Device, pages: u128) -> String {
    let noun = if pages == 1 { "page" } else { "pages" };
    format!("{} {noun} ({} bytes)", separated(pages), separated(device.bytes(pages)))
}

/// A sentence on a space: what the data take, and what there is.
pub fn sentence(device: &Device, space: &Space) -> String {
    let rounded = if space.needed_pages > space.data_pages {
        format!(", {} in whole rows of a stripe", pages(device, space.needed_pages))
    } else {
        String::new()
    };
    format!("{} of data{rounded}, and {}", pages(device, space.data_pages), room(device, space))
}

fn room(device: &Device, space: &Space) -> String {
    let bytes = separated(device.bytes(space.logical_pages));
    let noun = if space.logical_pages == 1 { "page" } else { "pages" };
    format!("{} logical {noun} ({bytes} bytes) for them", separated(space.logical_pages))
}

/// What is to be said of a cluster whose data do not fit, task by task.
pub fn too_full(set: &TaskSet, position: usize, tasks: &[usize], chips: usize, space: &Space) -> String {
    let text = format!(
        "The data of cluster {position} ({}) do not fit: {}.\n",
        count(chips, "chip"),
        sentence(set.device(), space)
    );
    text + &each(set, tasks)
}

/// The same of all tasks, wherever they are put.
pub fn all_too_full(set: &TaskSet, tasks: &[usize], on: &str, space: &Space) -> String {
    format!("The data of all tasks do not fit on {on}: {}.\n", sentence(set.device(), space)) + &each(set, tasks)
}

/// The data of each task that declares some.
fn each(set: &TaskSet, tasks: &[usize]) -> String {
    let declared = tasks.iter().filter_map(|&task| Some((task, set.tasks().get(task)?.data_pages?)));
    let all: Vec<(usize, u64)> = declared.collect();
    let rows = all.iter().take(TASKS).map(|&(task, pages)| {
        let bytes = set.device().bytes(pages.into());
        vec![plain(task_name(set, task)), separated(pages.into()), separated(bytes)]
    });
    let mut text = table(&["task", ">data pages", ">bytes"], rows.collect::<Vec<_>>());
    if all.len() > TASKS {
        text += &format!("  … and {} more tasks (all of them: --format json)\n", all.len() - TASKS);
    }
    text
}

/// The lines of `explain`: a cluster's data and its logical pages, where anything is declared, and each task's where they do not fit.
pub fn lines(set: &TaskSet, tasks: &[usize], space: &Space) -> String {
    match (space.fits(), space.declared) {
        (true, false) => String::new(),
        (true, true) => format!("  data: {}: they fit\n", sentence(set.device(), space)),
        (false, _) => {
            let not = paint(RED, "they do not fit, so that the cluster is not schedulable");
            format!("  data: {}: {not}\n{}", sentence(set.device(), space), each(set, tasks))
        }
    }
}

/// The same of all tasks on the whole device, where there are no clusters.
pub fn whole(set: &TaskSet) -> String {
    let space = on_device(set);
    let heading = match (space.declared, space.fits()) {
        (false, true) => return String::new(),
        (_, true) => "they fit",
        (_, false) => "they do not fit",
    };
    let all: Vec<usize> = (0..set.tasks().len()).collect();
    format!(
        "\ndata of all tasks on the whole device: {}: {heading}\n{}",
        sentence(set.device(), &space),
        each(set, &all)
    )
}
