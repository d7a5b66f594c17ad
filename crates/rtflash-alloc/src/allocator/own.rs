//! What an algorithm of your own is made of, beside [`cluster_verdict`]: Algorithm 1's order, and outcomes.

use rtflash_model::{Allocation, Cluster, TaskSet};

use super::best_fit::unplaced;
use super::{Failure, Limit, Outcome, space};
use crate::analysis::{Analysis, Test, cluster_verdict, task_load};
use crate::fraction::Rational;

/// The positions of a set's tasks in Algorithm 1's order (line 5): by non-increasing U_i(1), ties by position. Under a
/// [`ClusterTest`](crate::analysis::ClusterTest), by their load alone on one chip.
pub fn decreasing_order(set: &TaskSet, analysis: &dyn Analysis) -> Vec<usize> {
    let loads: Vec<Rational> = (0..set.tasks().len()).map(|task| task_load(set, analysis, task, 1)).collect();
    let mut order: Vec<usize> = (0..loads.len()).collect();
    order.sort_by(|&a, &b| loads[b].cmp(&loads[a]).then(a.cmp(&b)));
    order
}

/// The outcome of a complete division of the chips, whoever made it: schedulable iff every cluster passes the analysis where it is. Under a demand test it
/// gets its certificates here.
///
/// What is no division at all (a task left out, a chip used twice) is [`Limit::NoDivision`].
pub fn tested(set: &TaskSet, analysis: &dyn Analysis, clusters: &[Cluster]) -> Outcome {
    if let Some(request) = analysis.refuses(set) {
        return Outcome::CannotTell(Limit::NotImplicit(request));
    }
    let allocation = match Allocation::new(set.device().chips(), set.tasks().len(), clusters) {
        Ok(allocation) => allocation,
        Err(error) => return Outcome::CannotTell(Limit::NoDivision(error)),
    };
    let (allocation, failing) = match analysis.test() {
        Test::Demand(test) => {
            let (allocation, certified) = test.certified(set, &allocation);
            if certified.given_up {
                return Outcome::CannotTell(Limit::TestGivenUp);
            }
            (allocation, certified.failing.first().copied())
        }
        Test::Linear(_) | Test::Utilization(_) | Test::Cluster(_) => {
            let passes = |cluster: &Cluster| cluster_verdict(set, analysis, &cluster.tasks, cluster.size()).passes;
            (allocation, clusters.iter().position(|cluster| !passes(cluster)))
        }
    };
    let Some(position) = failing else {
        let found = Outcome::Schedulable(allocation);
        return if analysis.demand_test().is_none() { space::checked(set, found) } else { found };
    };
    let unplaced = first_too_many(set, analysis, position, &clusters[position]);
    Outcome::NotSchedulable(Failure { unplaced, overloaded: Some(allocation), by_merge: false })
}

/// The first task, in Algorithm 1's order, with which its cluster fails, and the load of the whole cluster.
fn first_too_many(set: &TaskSet, analysis: &dyn Analysis, position: usize, cluster: &Cluster) -> super::Unplaced {
    let chips = cluster.size();
    let mut members = decreasing_order(set, analysis);
    members.retain(|task| cluster.tasks.contains(task));
    let fails = |&count: &usize| !cluster_verdict(set, analysis, &members[..count], chips).passes;
    let failing = (1..members.len()).find(fails).unwrap_or(members.len());
    let task = members[failing.saturating_sub(1)];
    let load = cluster_verdict(set, analysis, &cluster.tasks, chips).load;
    let others = cluster.tasks.iter().copied().filter(|&other| other != task).collect();
    unplaced((set, analysis), task, load.to_f64(), position, chips, others)
}

/// The outcome of an algorithm that has these clusters and finds room for a task, by position in the set, in none of them: it names the one that would have
/// the lowest load with it.
pub fn unplaceable(set: &TaskSet, analysis: &dyn Analysis, clusters: &[Cluster], task: usize) -> Outcome {
    let with = |(position, cluster): (usize, &Cluster)| {
        let tasks = [cluster.tasks.as_slice(), &[task]].concat();
        (cluster_verdict(set, analysis, &tasks, cluster.size()).load, position)
    };
    let nearest = clusters.iter().enumerate().map(with).min();
    let (load, position) = nearest.map_or((f64::MAX, 0), |(load, position)| (load.to_f64(), position));
    let (chips, others) = clusters.get(position).map_or((0, Vec::new()), |of| (of.size(), of.tasks.clone()));
    let unplaced = unplaced((set, analysis), task, load, position, chips, others);
    Outcome::NotSchedulable(Failure { unplaced, overloaded: None, by_merge: false })
}
