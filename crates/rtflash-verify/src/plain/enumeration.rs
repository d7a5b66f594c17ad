//! The optimum by trying everything.

use rtflash_model::{ChipId, Cluster, Id, TaskId, TaskSet};

use super::{feasible, utilization};
use crate::equations::Equations;
use crate::scalar::Scalar;

/// The best allocation there is.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum<S> {
    /// What it takes of the m chips' capacity: Σ (s − 1 + U) over the clusters with tasks. m minus
    /// this is Σ U_s over all clusters, where every chip left over is a cluster of its own.
    pub cost: S,
    /// Size and tasks of each cluster with tasks.
    pub clusters: Vec<(u32, Vec<TaskId>)>,
}

/// Tries every partition of the tasks and every size of each cluster. Only for a few tasks and
/// chips.
pub fn optimum<S: Scalar>(set: &TaskSet, equations: Equations) -> Option<Optimum<S>> {
    let mut best = None;
    partitions(set.tasks().len(), &mut Vec::new(), &mut |blocks| {
        sizes(set, equations, blocks, set.device().chips(), &mut Vec::new(), &mut Vec::new(), &mut best);
    });
    best
}

/// Every partition of `tasks` tasks: each task joins a block or starts one.
fn partitions(tasks: usize, blocks: &mut Vec<Vec<TaskId>>, visit: &mut dyn FnMut(&[Vec<TaskId>])) {
    let placed: usize = blocks.iter().map(Vec::len).sum();
    if placed == tasks {
        return visit(blocks);
    }
    let next = TaskId::from_index(placed);
    for block in 0..blocks.len() {
        blocks[block].push(next);
        partitions(tasks, blocks, visit);
        blocks[block].pop();
    }
    blocks.push(vec![next]);
    partitions(tasks, blocks, visit);
    blocks.pop();
}

/// Every choice of sizes that pass and fit.
fn sizes<S: Scalar>(
    set: &TaskSet,
    equations: Equations,
    blocks: &[Vec<TaskId>],
    chips: u32,
    chosen: &mut Vec<u32>,
    costs: &mut Vec<S>,
    best: &mut Option<Optimum<S>>,
) {
    let Some(block) = blocks.get(chosen.len()) else {
        let cost = S::sum(costs.iter().cloned());
        if best.as_ref().is_none_or(|best| cost.compare(&best.cost).is_lt()) {
            let clusters = chosen.iter().copied().zip(blocks.iter().cloned()).collect();
            *best = Some(Optimum { cost, clusters });
        }
        return;
    };
    for size in 1..=chips {
        let total: S = utilization(set, equations, block, size);
        if feasible(&total) {
            chosen.push(size);
            costs.push(S::sum([S::ratio(u128::from(size) - 1, 1), total].into_iter()));
            sizes(set, equations, blocks, chips - size, chosen, costs, best);
            chosen.pop();
            costs.pop();
        }
    }
}

impl<S> Optimum<S> {
    /// The clusters with tasks, chips given out in order from 0.
    pub fn to_clusters(&self) -> Vec<Cluster> {
        let mut next = 0u32..;
        let cluster = |(size, tasks): &(u32, Vec<TaskId>)| Cluster {
            chips: next.by_ref().take(*size as usize).map(ChipId).collect(),
            tasks: tasks.clone(),
        };
        self.clusters.iter().map(cluster).collect()
    }
}
