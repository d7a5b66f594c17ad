//! Whether a given allocation passes Theorem 1.

use std::cmp::Ordering;

use num_rational::BigRational;
use rtflash_model::{Allocation, Cluster, TaskSet};

use crate::equations::{Equations, blocking};
use crate::scalar::{Quotient, Scalar};

/// What the judge found.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// Of each cluster, in order.
    pub clusters: Vec<ClusterJudgement>,
}

impl Judgement {
    /// Whether every cluster passes.
    pub fn schedulable(&self) -> bool {
        self.clusters.iter().all(|cluster| cluster.schedulable)
    }
}

/// What the judge found of one cluster.
#[derive(Debug, Clone)]
pub struct ClusterJudgement {
    /// Its chips and tasks.
    pub cluster: Cluster,
    /// Whether U ≤ 1, Eq. (IV.8), exactly.
    pub schedulable: bool,
    /// U, Eq. (IV.9), to the nearest double or its neighbour; zero without tasks.
    pub utilization: f64,
    /// t_e / min(T), exactly; zero without tasks.
    pub blocking: BigRational,
    exact: Quotient,
}

impl ClusterJudgement {
    /// U, Eq. (IV.9), exactly, in lowest terms. Slow for very many tasks.
    pub fn exact_utilization(&self) -> BigRational {
        self.exact.reduced()
    }
}

/// Tests each cluster of an allocation of the set's tasks.
pub fn judge(set: &TaskSet, allocation: &Allocation, equations: Equations) -> Judgement {
    Judgement {
        clusters: allocation.clusters().into_iter().map(|cluster| judge_cluster(set, cluster, equations)).collect(),
    }
}

fn judge_cluster(set: &TaskSet, cluster: Cluster, equations: Equations) -> ClusterJudgement {
    let (device, size) = (set.device(), cluster.size());
    let tasks = || cluster.tasks.iter().filter_map(|&task| set.tasks().get(task));
    let longest = tasks().filter_map(|task| blocking::<Quotient>(device, task, size)).max_by(Scalar::compare);
    let longest = longest.unwrap_or(Quotient::ratio(0, 1));
    let mut terms = vec![longest.clone()];
    terms.extend(tasks().flat_map(|task| equations.utilizations::<Quotient>(device, task, size)));
    let total = Quotient::sum(terms);
    ClusterJudgement {
        schedulable: total.compare(&Quotient::ratio(1, 1)) != Ordering::Greater,
        utilization: total.to_double(),
        blocking: longest.reduced(),
        exact: total,
        cluster,
    }
}
