//! Algorithm 1 and its baselines.

use rtflash_model::{ChipId, Cluster, PerId, TaskId, TaskSet};
use rtflash_verify::Equations;

use super::{PlainOutcome, PlainProblem, PlainUnplaced, Rational, feasible, utilization_of};

/// Clustering-BFD: Algorithm 1, with the decisions on order and ties.
pub fn clustering_bfd(set: &TaskSet, equations: Equations) -> PlainOutcome {
    best_fit(&PlainProblem::new(set, equations), true)
}

/// One cluster for each chip, best fit, no merging.
pub fn full_isolation(set: &TaskSet, equations: Equations) -> PlainOutcome {
    best_fit(&PlainProblem::new(set, equations), false)
}

/// All tasks in one cluster of all chips.
pub fn global(set: &TaskSet, equations: Equations) -> PlainOutcome {
    let cluster = Cluster::of(0..set.device().chips(), 0..set.tasks().count());
    fixed(&PlainProblem::new(set, equations), vec![cluster])
}

/// One cluster for each task, chips shared equally.
pub fn equal_split(set: &TaskSet, equations: Equations) -> PlainOutcome {
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
fn order(problem: &PlainProblem<'_>) -> Vec<TaskId> {
    let alone: PerId<TaskId, Rational> = problem
        .set
        .tasks()
        .iter()
        .map(|task| problem.theory.utilizations(task, 1).map(|term| term.reduced()).sum())
        .collect();
    let mut order: Vec<TaskId> = alone.ids().collect();
    order.sort_by(|&a, &b| alone[b].cmp(&alone[a]).then(a.cmp(&b)));
    order
}

fn best_fit(problem: &PlainProblem<'_>, merging: bool) -> PlainOutcome {
    let mut clusters: Vec<Cluster> = (0..problem.set.device().chips()).map(|chip| Cluster::of([chip], [])).collect();
    let order = order(problem);
    for &task in &order {
        loop {
            // Lines 7 and 17: the feasible cluster with the highest U, lowest position first.
            let with: Vec<Rational> = clusters.iter().map(|cluster| joined(problem, cluster, task)).collect();
            let mut best: Option<usize> = None;
            for position in 0..with.len() {
                if feasible(&with[position]) && best.is_none_or(|best| with[position] > with[best]) {
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
            merge(problem, &mut clusters);
        }
    }
    // Decision 5: a merge may have made an infeasible cluster.
    let failing = clusters.iter().position(|cluster| !feasible(&total(problem, cluster)));
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

fn total(problem: &PlainProblem<'_>, cluster: &Cluster) -> Rational {
    utilization_of(problem, cluster.tasks.iter().copied(), cluster.size())
}

fn joined(problem: &PlainProblem<'_>, cluster: &Cluster, task: TaskId) -> Rational {
    utilization_of(problem, cluster.tasks.iter().copied().chain([task]), cluster.size())
}

fn stuck(clusters: Vec<Cluster>, with: &[Rational], task: TaskId) -> PlainOutcome {
    let mut least = 0;
    for position in 1..with.len() {
        if with[position] < with[least] {
            least = position;
        }
    }
    let unplaced = Some(PlainUnplaced { task, best_utilization: with[least].clone(), cluster: least });
    PlainOutcome { clusters, schedulable: false, unplaced }
}

/// Lines 12 to 14: every pair is tried.
fn merge(problem: &PlainProblem<'_>, clusters: &mut Vec<Cluster>) {
    let mut best: Option<(usize, usize, Rational)> = None;
    for lower in 0..clusters.len() {
        for upper in lower + 1..clusters.len() {
            let (a, b) = (&clusters[lower], &clusters[upper]);
            let tasks = a.tasks.iter().chain(&b.tasks).copied();
            let merged: Rational = utilization_of(problem, tasks, a.size() + b.size());
            if best.as_ref().is_none_or(|(_, _, least)| merged < *least) {
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
fn fixed(problem: &PlainProblem<'_>, clusters: Vec<Cluster>) -> PlainOutcome {
    let order = order(problem);
    let mut unplaced = None;
    for (position, cluster) in clusters.iter().enumerate() {
        let best_utilization: Rational = total(problem, cluster);
        if feasible(&best_utilization) {
            continue;
        }
        let mut joined = Cluster { chips: cluster.chips.clone(), tasks: vec![] };
        for task in order.into_iter().filter(|task| cluster.tasks.contains(task)) {
            joined.tasks.push(task);
            if !feasible(&total(problem, &joined)) {
                unplaced = Some(PlainUnplaced { task, best_utilization, cluster: position });
                break;
            }
        }
        break;
    }
    PlainOutcome { clusters, schedulable: unplaced.is_none(), unplaced }
}
