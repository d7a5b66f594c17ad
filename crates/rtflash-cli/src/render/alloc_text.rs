//! The answer of `alloc` for a person: the verdict, the clusters, and where it failed what would help.

use rtflash_alloc::advice::Advice;
use rtflash_alloc::allocator::{Failure, Outcome};
use rtflash_alloc::analysis::{Analysis, PartFtl, report_cluster};
use rtflash_model::{Allocation, Cluster, TaskSet};

use super::numbers::{chips, count, names, percent, plain, share};
use super::table::table;
use super::wire::task_name;
use crate::output::{BOLD, DIM, GREEN, RED, YELLOW, paint};

/// Names of tasks shown for a cluster.
const NAMES: usize = 4;
/// Clusters shown.
const CLUSTERS: usize = 64;

/// The verdict in a line.
pub fn headline(set: &TaskSet, algorithm: &str, analysis: &dyn Analysis, outcome: &Outcome) -> String {
    let verdict = match outcome.is_schedulable() {
        Some(true) => paint(GREEN, "schedulable"),
        Some(false) => paint(RED, "not schedulable"),
        None => paint(YELLOW, "cannot tell"),
    };
    let tasks = count(set.tasks().len(), "task");
    let device = count(set.device().chips() as usize, "chip");
    let what = match outcome {
        Outcome::Schedulable(allocation) => {
            let clusters = allocation.clusters();
            let used = clusters.iter().filter(|cluster| !cluster.tasks.is_empty()).count();
            let free: usize =
                clusters.iter().filter(|cluster| cluster.tasks.is_empty()).map(|cluster| cluster.chips.len()).sum();
            let spare = if free > 0 { format!(", {free} left free") } else { String::new() };
            format!("{algorithm} puts {tasks} into {} of the {device}{spare}", count(used, "cluster"))
        }
        Outcome::NotSchedulable(_) if algorithm == "exact" => {
            format!("no allocation of {tasks} to {device} passes the test")
        }
        Outcome::NotSchedulable(_) => format!("{algorithm} finds no allocation of {tasks} to {device}"),
        Outcome::Partitioned(_) => format!("{algorithm}, {tasks} on {device}"),
        Outcome::CannotTell(limit) => limit.to_string(),
    };
    let by = match outcome {
        Outcome::Partitioned(_) => "its own test".into(),
        _ => format!("analysis: {}", analysis.name()),
    };
    format!("{verdict}: {what} {}\n", paint(DIM, &format!("({by})")))
}

/// Everything but the advice.
pub fn answer(set: &TaskSet, algorithm: &str, analysis: &dyn Analysis, outcome: &Outcome) -> String {
    let mut text = headline(set, algorithm, analysis, outcome);
    if let Outcome::Partitioned(verdict) = outcome {
        text += &partitioned(verdict);
    }
    if let Some(allocation) = outcome.allocation() {
        text += "\n";
        text += &clusters(set, analysis, allocation);
    }
    if let Outcome::NotSchedulable(failure) = outcome {
        text += "\n";
        text += &unplaced(set, failure);
    }
    text
}

/// The clusters of an allocation as a table. Free clusters of one chip share a row.
pub fn clusters(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> String {
    let clusters = allocation.clusters();
    let (free, shown): (Vec<_>, Vec<_>) =
        clusters.iter().enumerate().partition(|(_, cluster)| cluster.tasks.is_empty() && cluster.size() == 1);
    let row = |(position, cluster): &(usize, &Cluster)| {
        let report = report_cluster(set, analysis, &cluster.tasks, cluster.size());
        let members = names(cluster.tasks.iter().map(|&task| task_name(set, task)), NAMES);
        let server = if report.utilization > 1.0 { "none".into() } else { share(report.server) };
        let shares = [report.utilization, report.read, report.write, report.gc, report.blocking].map(share);
        let members = if members.is_empty() { "(free)".into() } else { members };
        [position.to_string(), chips(&cluster.chips), members].into_iter().chain(shares).chain([server]).collect()
    };
    let mut rows: Vec<Vec<String>> = shown.iter().take(CLUSTERS).map(row).collect();
    if !free.is_empty() {
        let all: Vec<u32> = free.iter().flat_map(|(_, cluster)| cluster.chips.iter().copied()).collect();
        let positions: Vec<u32> = free.iter().filter_map(|(position, _)| u32::try_from(*position).ok()).collect();
        let each = if free.len() == 1 { "(free)" } else { "(free, one chip each)" };
        let zero = share(0.0);
        let shares = std::iter::repeat_n(zero, 5);
        let cells = [elide(&chips(&positions)), elide(&chips(&all)), each.to_owned()].into_iter();
        rows.push(cells.chain(shares).chain([share(1.0)]).collect());
    }
    let mut text = table(&["cluster", "chips", "tasks", ">U", ">read", ">write", ">gc", ">blocking", ">server"], rows);
    if shown.len() > CLUSTERS {
        text += &format!("  … and {} more clusters (all of them: --format json)\n", shown.len() - CLUSTERS);
    }
    text
}

/// A list that is too long for a table.
fn elide(list: &str) -> String {
    if list.len() <= 24 { list.to_owned() } else { format!("{} …", &list[..list[..22].rfind(", ").unwrap_or(22)]) }
}

fn partitioned(verdict: &PartFtl) -> String {
    let rows = [("reading", verdict.read_utilization), ("writing", verdict.write_utilization)];
    let rows = rows.map(|(mode, utilization)| vec![mode.to_owned(), share(utilization)]);
    format!("\n{}", table(&["chips in mode", ">U"], rows))
}

fn unplaced(set: &TaskSet, failure: &Failure) -> String {
    let unplaced = &failure.unplaced;
    let task = paint(BOLD, &plain(task_name(set, unplaced.task)));
    let others = match unplaced.others.len() {
        0 => "alone".to_owned(),
        _ => format!("with {}", names(unplaced.others.iter().map(|&task| task_name(set, task)), NAMES)),
    };
    let size = count(unplaced.chips as usize, "chip");
    let excess = unplaced.best_utilization - 1.0;
    let (utilization, excess) = (share(unplaced.best_utilization), percent(excess.max(f64::MIN_POSITIVE)));
    match failure.overloaded {
        Some(_) => format!(
            "Cluster {} ({size}) is overloaded: U = {utilization}, {excess} too much. Task {task} is the first that does not fit in it.\n",
            unplaced.cluster
        ),
        None if failure.by_merge => format!(
            "Merging clusters to place all tasks left one of {size} overloaded: task {task}, {others}: U = {utilization}, {excess} too much.\n"
        ),
        None => format!(
            "Task {task} fits nowhere. It comes nearest in cluster {} ({size}), {others}: U = {utilization}, {excess} too much.\n",
            unplaced.cluster
        ),
    }
}

/// What would help, if anything was found.
pub fn advice(set: &TaskSet, advice: &Advice) -> String {
    let mut lines = Vec::new();
    if let Some(more) = advice.chips {
        let how =
            if more.fewest { "every smaller number was tried and fails" } else { "not every smaller number was tried" };
        lines.push(format!("{} chips instead of {} ({how})", more.chips, set.device().chips()));
    }
    if let Some(ratio) = advice.logical_ratio {
        lines.push(format!("a logical_ratio of {ratio} instead of {}", set.device().logical_ratio()));
    }
    if let Some(permille) = advice.load_permille {
        let factor = 1000.0 / f64::from(permille);
        lines.push(format!(
            "{}.{} % of the load: every period {factor:.3} times as long",
            permille / 10,
            permille % 10
        ));
    }
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("  - {line}\n")).collect();
    format!("\nAny one of these would do:\n{lines}")
}
