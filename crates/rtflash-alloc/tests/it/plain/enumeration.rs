//! The optimum by trying everything.

use rtflash_model::{Id, TaskId, TaskSet};
use rtflash_verify::Equations;

use super::{Rational, feasible, utilization};

/// The best allocation there is.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// Its cost in the m chips' capacity: Σ (s − 1 + U) over the clusters with tasks. m minus this
    /// is Σ U_s over all clusters, where every chip left over is a cluster of its own.
    pub cost: Rational,
    /// Size and tasks of each cluster with tasks.
    pub clusters: Vec<(u32, Vec<TaskId>)>,
}

/// Tries every partition of the tasks and every size of each cluster. Only for a few tasks and
/// chips.
pub fn optimum(set: &TaskSet, equations: Equations) -> Option<Optimum> {
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
fn sizes(
    set: &TaskSet,
    equations: Equations,
    blocks: &[Vec<TaskId>],
    chips: u32,
    chosen: &mut Vec<u32>,
    costs: &mut Vec<Rational>,
    best: &mut Option<Optimum>,
) {
    let Some(block) = blocks.get(chosen.len()) else {
        let cost = costs.iter().sum();
        if best.as_ref().is_none_or(|best| cost < best.cost) {
            let clusters = chosen.iter().copied().zip(blocks.iter().cloned()).collect();
            *best = Some(Optimum { cost, clusters });
        }
        return;
    };
    for size in 1..=chips {
        let total: Rational = utilization(set, equations, block, size);
        if feasible(&total) {
            chosen.push(size);
            costs.push(total + Rational::from_integer((size - 1).into()));
            sizes(set, equations, blocks, chips - size, chosen, costs, best);
            chosen.pop();
            costs.pop();
        }
    }
}
