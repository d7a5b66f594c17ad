//! Algorithms whose clusters do not depend on the test: global and equal split.

use rtflash_model::{Allocation, Cluster, TaskSet};

use super::loads::{Load, Loads, Share};
use super::{Allocator, Failure, Outcome, Strategy, Unplaced};
use crate::analysis::{Analysis, LinearTest};
use crate::reason::overload;

/// One cluster of all chips, shared by all tasks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Global;

/// One cluster for each task, the chips shared equally: the first (m mod n) clusters get one chip more. With more tasks than chips, task i
/// goes to chip i mod m. What the published figure calls Full-Isolation.
#[derive(Debug, Clone, Copy, Default)]
pub struct EqualSplit;

impl Allocator for Global {
    fn name(&self) -> &'static str {
        "global"
    }

    fn summary(&self) -> &'static str {
        "one cluster of all chips for all tasks"
    }

    fn allocate(&self, set: &TaskSet, analysis: &dyn Analysis) -> Outcome {
        super::allocate(set, analysis, Strategy::Global)
    }
}

impl Allocator for EqualSplit {
    fn name(&self) -> &'static str {
        "equal-split"
    }

    fn summary(&self) -> &'static str {
        "one cluster for each task, the chips shared equally"
    }

    fn allocate(&self, set: &TaskSet, analysis: &dyn Analysis) -> Outcome {
        super::allocate(set, analysis, Strategy::EqualSplit)
    }
}

/// The clusters of [`Global`].
pub(super) fn one_cluster(set: &TaskSet) -> Option<Allocation> {
    Allocation::from_owners(vec![0; set.device().chips() as usize], vec![0; set.tasks().len()])
}

/// The clusters of [`EqualSplit`].
pub(super) fn equal_clusters(set: &TaskSet) -> Option<Allocation> {
    let (chips, tasks) = (set.device().chips(), set.tasks().len());
    // As many clusters as tasks, but no more than chips; without tasks every chip is its own.
    let clusters = match u32::try_from(tasks) {
        Ok(0) | Err(_) => chips,
        Ok(tasks) => tasks.min(chips),
    };
    let (each, more) = (chips / clusters, chips % clusters);
    let of_chip =
        (0..clusters).flat_map(|cluster| std::iter::repeat_n(cluster, (each + u32::from(cluster < more)) as usize));
    let of_task = (0..clusters).cycle().take(tasks);
    Allocation::from_owners(of_chip.collect(), of_task.collect())
}

/// Schedulable iff every cluster passes Theorem 1.
pub(super) fn by_utilization(set: &TaskSet, test: &dyn LinearTest, allocation: Option<Allocation>) -> Outcome {
    let Some(allocation) = allocation else {
        // Not reached: both layouts above are numbered as an allocation wants them.
        return Outcome::CannotTell(super::Limit::TooMuchWork { limit: 0 });
    };
    let loads = Loads::new(set, test);
    let mut table = Vec::new();
    loads.fill(&mut table);
    let clusters = allocation.clusters();
    match clusters.iter().position(|cluster| !passes(&loads, &table, &cluster.tasks, cluster.size())) {
        None => Outcome::Schedulable(allocation),
        Some(position) => {
            let unplaced = first_too_many(&loads, &table, position, &clusters[position]);
            Outcome::NotSchedulable(Failure { unplaced, overloaded: Some(allocation), by_merge: false })
        }
    }
}

fn share(loads: &Loads<'_>, table: &[Load], tasks: &[usize], chips: u32) -> Share {
    let costs = loads.size_costs(chips);
    tasks.iter().fold(Share::default(), |sum, &task| sum.with(loads.share(&table[task], costs)))
}

fn passes(loads: &Loads<'_>, table: &[Load], tasks: &[usize], chips: u32) -> bool {
    loads.fits(share(loads, table, tasks, chips).total(), tasks.len(), chips, || tasks.to_vec())
}

/// The first task, in Algorithm 1's order, that takes its cluster above one, and U of the whole cluster.
fn first_too_many(loads: &Loads<'_>, table: &[Load], position: usize, cluster: &Cluster) -> Unplaced {
    let one_chip = loads.size_costs(1);
    let alone: Vec<Share> = table.iter().map(|load| loads.share(load, one_chip)).collect();
    let mut order = Vec::new();
    loads.decreasing_order(&alone, &mut order);
    let chips = cluster.size();
    let members: Vec<usize> =
        order.iter().map(|&task| task as usize).filter(|task| cluster.tasks.binary_search(task).is_ok()).collect();
    // More tasks never take less: the prefixes that pass come first.
    let (mut fitting, mut failing) = (0, members.len());
    while fitting + 1 < failing {
        let middle = usize::midpoint(fitting, failing);
        if passes(loads, table, &members[..middle], chips) { fitting = middle } else { failing = middle }
    }
    let task = members[failing - 1];
    // Above one exactly, whatever became of it in doubles.
    let utilization = share(loads, table, &cluster.tasks, chips).total().max(1.0f64.next_up());
    Unplaced {
        task,
        reason: overload(loads.set, loads.test, task, utilization),
        cluster: position,
        chips,
        others: cluster.tasks.iter().copied().filter(|&other| other != task).collect(),
    }
}
