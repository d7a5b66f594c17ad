//! Whether data fit, in words: pages and bytes, of each task and each cluster.

use rtflash_answers::reasons::{beside, count_pages, data_sentence as sentence};
use rtflash_answers::{DataAnswer, TaskDataAnswer, on_device, task_name};
use rtflash_model::{Device, Space, TaskId, TaskSet};

use super::numbers::{count, plain, separated};
use super::table::table;
use crate::output::{RED, paint};

const TASKS: usize = 16;

pub fn complaint(data: &DataAnswer<'_>, position: usize) -> String {
    let amount =
        |pages: u128, what: &str, bytes: u128| format!("{} {what} ({} bytes)", separated(pages), separated(bytes));
    let task = |each: &TaskDataAnswer<'_>| {
        format!("{} {}", plain(&each.task), amount(each.data_pages.into(), "pages", each.data_bytes))
    };
    let tasks: Vec<String> = data.tasks.iter().take(TASKS).map(task).collect();
    let more = data.tasks.len().saturating_sub(TASKS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "  cluster {position}: its data take {}, and it has {}: {}{more}\n",
        amount(data.needed_pages, "pages", data.needed_bytes),
        amount(data.logical_pages, "logical pages", data.logical_bytes),
        tasks.join(", ")
    )
}

/// `24 pages (196.6 kB)`.
pub fn amount(device: &Device, pages: u64) -> String {
    count_pages(pages.into()) + &beside(device, pages.into())
}

/// The report on a cluster whose data do not fit, task by task.
pub fn too_full(set: &TaskSet, position: usize, tasks: &[TaskId], chips: usize, space: &Space) -> String {
    let text = format!(
        "The data of cluster {position} ({}) do not fit: {}.\n",
        count(chips, "chip"),
        sentence(set.device(), space)
    );
    text + &each(set, tasks)
}

/// The text for data of all tasks that do not fit, wherever the tasks are put.
pub fn all_too_full(set: &TaskSet, tasks: &[TaskId], on: &str, space: &Space) -> String {
    format!("The data of all tasks do not fit on {on}: {}.\n", sentence(set.device(), space)) + &each(set, tasks)
}

fn each(set: &TaskSet, tasks: &[TaskId]) -> String {
    let declared = tasks.iter().filter_map(|&task| Some((task, set.tasks().get(task)?.data_pages?)));
    let all: Vec<(TaskId, u64)> = declared.collect();
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

/// The lines of `explain`: a cluster's data and its logical pages, where anything is declared, and
/// each task's where they do not fit.
pub fn lines(set: &TaskSet, tasks: &[TaskId], space: &Space) -> String {
    match (space.fits(), space.declared) {
        (true, false) => String::new(),
        (true, true) => format!("  data: {}: they fit\n", sentence(set.device(), space)),
        (false, _) => {
            let not = paint(RED, "they do not fit, so that the cluster is not schedulable");
            format!("  data: {}: {not}\n{}", sentence(set.device(), space), each(set, tasks))
        }
    }
}

/// The data of all tasks against the whole device, if there are no clusters.
pub fn whole(set: &TaskSet) -> String {
    let space = on_device(set);
    let heading = match (space.declared, space.fits()) {
        (false, true) => return String::new(),
        (_, true) => "they fit",
        (_, false) => "they do not fit",
    };
    let all: Vec<TaskId> = set.tasks().ids().collect();
    format!(
        "\ndata of all tasks on the whole device: {}: {heading}\n{}",
        sentence(set.device(), &space),
        each(set, &all)
    )
}
