//! Algorithm 1 and its baselines.

use std::cmp::Ordering;

use rtflash_model::{ChipId, Cluster, PerId, TaskId, TaskSet};

use super::{PlainOutcome, PlainProblem, PlainUnplaced, feasible, utilization_of};
use crate::equations::Equations;
use crate::scalar::Scalar;

/// Clustering-BFD: Algorithm 1, with the decisions on order and ties.
pub fn clustering_bfd<S: Scalar>(set: &TaskSet, equations: Equations) -> PlainOutcome<S> {
    best_fit(&PlainProblem::new(set, equations), true)
}

/// One cluster for each chip, best fit, no merging.
pub fn full_isolation<S: Scalar>(set: &TaskSet, equations: Equations) -> PlainOutcome<S> {
    best_fit(&PlainProblem::new(set, equations), false)
}

/// All tasks in one cluster of all chips.
pub fn global<S: Scalar>(set: &TaskSet, equations: Equations) -> PlainOutcome<S> {
    let cluster = Cluster::of(0..set.device().chips(), 0..set.tasks().count());
    fixed(&PlainProblem::new(set, equations), vec![cluster])
}

/// One cluster for each task, chips shared equally.
pub fn equal_split<S: Scalar>(set: &TaskSet, equations: Equations) -> PlainOutcome<S> {
    let (chips, tasks) = (set.device().chips() as usize, set.tasks().len());
    let mut clusters = vec![Cluster::default(); if tasks == 0 { chips } else { tasks.min(chips) }];
    let count = clusters.len();
    let mut next = ChipId::first(set.device().chips());
    for (position, cluster) in clusters.iter_mut().enumerate() {
        let size = chips / count + usize::from(position < chips % count);
        cluster.chips = next.by_ref().take(size).collect();
    }
    for task in set.tasks().ids() {
        clusters[task.index() % count].tasks.push(task);
    }
    fixed(&PlainProblem::new(set, equations), clusters)
}

/// The tasks by non-increasing U_i(1), ties by position (line 5).
fn order<S: Scalar>(problem: &PlainProblem<'_>) -> Vec<TaskId> {
    let alone: PerId<TaskId, S> =
        problem.set.tasks().iter().map(|task| S::sum(problem.theory.utilizations(task, 1))).collect();
    let mut order: Vec<TaskId> = alone.ids().collect();
    order.sort_by(|&a, &b| alone[b].compare(&alone[a]).then(a.cmp(&b)));
    order
}

fn best_fit<S: Scalar>(problem: &PlainProblem<'_>, merging: bool) -> PlainOutcome<S> {
    let mut clusters: Vec<Cluster> = (0..problem.set.device().chips()).map(|chip| Cluster::of([chip], [])).collect();
    let order = order::<S>(problem);
    for &task in &order {
        loop {
            // Lines 7 and 17: the feasible cluster with the highest U, lowest position first.
            let with: Vec<S> = clusters.iter().map(|cluster| joined(problem, cluster, task)).collect();
            let mut best: Option<usize> = None;
            for position in 0..with.len() {
                if feasible(&with[position])
                    && best.is_none_or(|best| with[position].compare(&with[best]) == Ordering::Greater)
                {
                    best = Some(position);
                }
            }
            if let Some(position) = best {
                clusters[position].tasks.push(task);
                break;
            }
            if !merging || clusters.len() == 1 {
                return stuck(clusters, &with, task);
            }
            merge::<S>(problem, &mut clusters);
        }
    }
    // Decision 5: a merge may have made an infeasible cluster.
    let failing = clusters.iter().position(|cluster| !feasible(&total::<S>(problem, cluster)));
    let unplaced = failing.map(|cluster| PlainUnplaced {
        task: *order
            .iter()
            .rfind(|task| clusters[cluster].tasks.contains(task))
            .expect("a cluster that fails has tasks"),
        best_utilization: total(problem, &clusters[cluster]),
        cluster,
    });
    clusters.iter_mut().for_each(|cluster| cluster.tasks.sort_unstable());
    PlainOutcome { clusters, schedulable: unplaced.is_none(), unplaced }
}

fn total<S: Scalar>(problem: &PlainProblem<'_>, cluster: &Cluster) -> S {
    utilization_of(problem, cluster.tasks.iter().copied(), cluster.size())
}

fn joined<S: Scalar>(problem: &PlainProblem<'_>, cluster: &Cluster, task: TaskId) -> S {
    utilization_of(problem, cluster.tasks.iter().copied().chain([task]), cluster.size())
}

fn stuck<S: Scalar>(clusters: Vec<Cluster>, with: &[S], task: TaskId) -> PlainOutcome<S> {
    let mut least = 0;
    for position in 1..with.len() {
        if with[position].compare(&with[least]) == Ordering::Less {
            least = position;
        }
    }
    let unplaced = Some(PlainUnplaced { task, best_utilization: with[least].clone(), cluster: least });
    PlainOutcome { clusters, schedulable: false, unplaced }
}

/// Lines 12 to 14: every pair is tried.
fn merge<S: Scalar>(problem: &PlainProblem<'_>, clusters: &mut Vec<Cluster>) {
    let mut best: Option<(usize, usize, S)> = None;
    for lower in 0..clusters.len() {
        for upper in lower + 1..clusters.len() {
            let (a, b) = (&clusters[lower], &clusters[upper]);
            let tasks = a.tasks.iter().chain(&b.tasks).copied();
            let merged: S = utilization_of(problem, tasks, a.size() + b.size());
            if best.as_ref().is_none_or(|(_, _, least)| merged.compare(least) == Ordering::Less) {
                best = Some((lower, upper, merged));
            }
        }
    }
    if let Some((lower, upper, _)) = best {
        let away = clusters.remove(upper);
        clusters[lower] = union(&clusters[lower], &away);
    }
}

fn union(a: &Cluster, b: &Cluster) -> Cluster {
    let mut chips = [a.chips.as_slice(), &b.chips].concat();
    chips.sort_unstable();
    Cluster { chips, tasks: [a.tasks.as_slice(), &b.tasks].concat() }
}

/// The verdict on clusters that do not depend on the test.
fn fixed<S: Scalar>(problem: &PlainProblem<'_>, clusters: Vec<Cluster>) -> PlainOutcome<S> {
    let order = order::<S>(problem);
    let mut unplaced = None;
    for (position, cluster) in clusters.iter().enumerate() {
        let best_utilization: S = total(problem, cluster);
        if feasible(&best_utilization) {
            continue;
        }
        let mut joined = Cluster { chips: cluster.chips.clone(), tasks: vec![] };
        for task in order.into_iter().filter(|task| cluster.tasks.contains(task)) {
            joined.tasks.push(task);
            if !feasible(&total::<S>(problem, &joined)) {
                unplaced = Some(PlainUnplaced { task, best_utilization, cluster: position });
                break;
            }
        }
        break;
    }
    PlainOutcome { clusters, schedulable: unplaced.is_none(), unplaced }
}
