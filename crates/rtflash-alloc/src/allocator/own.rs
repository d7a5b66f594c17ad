//! The parts of an algorithm of your own, beside [`cluster_verdict`]: Algorithm 1's order, and
//! outcomes.

use rtflash_analysis::{Analysis, Rational, Test, Work, cluster_verdict, task_load};
use rtflash_model::{Allocation, AllocationError, Cluster, PerId, TaskId, TaskSet};

use super::unplaced::unplaced;
use super::{Failure, Limit, Outcome, Unplaced, certified, loads, space};

/// Line 5 of Algorithm 1: by non-increasing U_i(1), ties by position; under a
/// [`ClusterTest`](rtflash_analysis::ClusterTest), by the load alone on one chip.
pub fn decreasing_order(set: &TaskSet, analysis: &dyn Analysis, work: &Work) -> Vec<TaskId> {
    let loads: PerId<TaskId, Rational> =
        set.tasks().ids().map(|task| task_load(set, analysis, task, 1, work)).collect();
    let mut order: Vec<TaskId> = loads.ids().collect();
    order.sort_by(|&a, &b| loads[b].cmp(&loads[a]).then(a.cmp(&b)));
    order
}

/// Schedulable iff every cluster passes where it is; under a demand test it gets certificates.
/// [`Limit::NoDivision`] if a task is left out, or a chip used twice.
pub fn tested(set: &TaskSet, analysis: &dyn Analysis, clusters: &[Cluster], work: &Work) -> Outcome {
    if let Some(cause) = analysis.refuses(set) {
        return Outcome::CannotTell(Limit::Untestable(cause));
    }
    let allocation = match Allocation::new(set.device().chips(), set.tasks().len(), clusters) {
        Ok(allocation) => allocation,
        Err(error) => return Outcome::CannotTell(Limit::NoDivision(error)),
    };
    let unplaced = match analysis.test() {
        Test::Linear(test) => loads::overloaded(set, test, clusters),
        Test::Utilization(_) | Test::Cluster(_) => overloaded(set, analysis, clusters, work),
        Test::Demand(test) => return certified::tested(set, test, work, clusters, &allocation),
    };
    space::checked(
        set,
        match unplaced {
            None => Outcome::Schedulable(allocation),
            Some(unplaced) => {
                Outcome::NotSchedulable(Failure { unplaced, overloaded: Some(allocation), by_merge: false })
            }
        },
    )
}

/// The first task, in Algorithm 1's order, with which the first failing cluster fails.
fn overloaded(set: &TaskSet, analysis: &dyn Analysis, clusters: &[Cluster], work: &Work) -> Option<Unplaced> {
    let verdict = |tasks: &[TaskId], chips: u32| cluster_verdict(set, analysis, tasks, chips, work);
    let position = clusters.iter().position(|cluster| !verdict(&cluster.tasks, cluster.size()).passes)?;
    let (cluster, chips) = (&clusters[position], clusters[position].size());
    let mut members = decreasing_order(set, analysis, work);
    members.retain(|task| cluster.tasks.contains(task));
    let fails = |&count: &usize| !verdict(&members[..count], chips).passes;
    let failing = (1..members.len()).find(fails).unwrap_or(members.len());
    let task = members[failing - 1];
    let load = verdict(&cluster.tasks, chips).load;
    let others = cluster.tasks.iter().copied().filter(|&other| other != task).collect();
    Some(unplaced(set, analysis, task, load.to_f64(), position, chips, others))
}

/// A task that an algorithm with these clusters has no room for: in the one of the lowest load.
/// [`Limit::NoDivision`] for a chip used twice, a cluster without chips, an unknown task.
pub fn unplaceable(set: &TaskSet, analysis: &dyn Analysis, clusters: &[Cluster], task: TaskId, work: &Work) -> Outcome {
    let no_division = |error| Outcome::CannotTell(Limit::NoDivision(error));
    if set.tasks().get(task).is_none() {
        return no_division(AllocationError::NoSuchTask(task));
    }
    match Allocation::new(set.device().chips(), set.tasks().len(), clusters) {
        // Missing tasks are what this is about, and are looked for last.
        Ok(_) | Err(AllocationError::TaskMissing(_)) => {}
        Err(error) => return no_division(error),
    }
    let with = |(position, cluster): (usize, &Cluster)| {
        let tasks = [cluster.tasks.as_slice(), &[task]].concat();
        (cluster_verdict(set, analysis, &tasks, cluster.size(), work).load, position)
    };
    let nearest = clusters.iter().enumerate().map(with).min();
    let (load, position) = nearest.map_or((f64::MAX, 0), |(load, position)| (load.to_f64(), position));
    let (chips, others) = clusters.get(position).map_or((0, Vec::new()), |of| (of.size(), of.tasks.clone()));
    let unplaced = unplaced(set, analysis, task, load, position, chips, others);
    Outcome::NotSchedulable(Failure { unplaced, overloaded: None, by_merge: false })
}
