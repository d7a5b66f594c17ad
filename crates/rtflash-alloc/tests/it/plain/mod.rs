//! The algorithms in their plain form: as printed, with nothing remembered and nothing skipped.

mod algorithms;
mod enumeration;

use rtflash_model::{Cluster, TaskId, TaskSet};
use rtflash_verify::{Equations, Quotient, Theory};

pub use algorithms::{clustering_bfd, equal_split, full_isolation, global};
pub use enumeration::optimum;

/// Exact rationals.
pub type Rational = num_rational::BigRational;

/// The outcome of an algorithm.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainOutcome {
    /// The clusters when it ended, in order.
    pub clusters: Vec<Cluster>,
    /// Whether every task has a cluster and every cluster passes.
    pub schedulable: bool,
    /// The task that could not be placed.
    pub unplaced: Option<PlainUnplaced>,
}

/// A task that could not be placed.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainUnplaced {
    /// The task.
    pub task: TaskId,
    /// The lowest U that a cluster would have reached with it.
    pub best_utilization: Rational,
    /// That cluster's position.
    pub cluster: usize,
}

/// A task set and the equations to test it by.
#[derive(Clone, Copy)]
struct PlainProblem<'a> {
    set: &'a TaskSet,
    theory: Theory<'a>,
}

impl<'a> PlainProblem<'a> {
    fn new(set: &'a TaskSet, equations: Equations) -> PlainProblem<'a> {
        PlainProblem { set, theory: Theory::new(equations, set.device()) }
    }
}

/// U(φ), Eq. (IV.9), of these tasks in a cluster of `size` chips.
pub fn utilization(set: &TaskSet, equations: Equations, tasks: &[TaskId], size: u32) -> Rational {
    utilization_of(&PlainProblem::new(set, equations), tasks.iter().copied(), size)
}

fn utilization_of(problem: &PlainProblem<'_>, tasks: impl Iterator<Item = TaskId> + Clone, size: u32) -> Rational {
    let members = tasks.map(|task| &problem.set.tasks()[task]);
    let terms = members.clone().flat_map(|task| problem.theory.utilizations(task, size));
    let blocking = members.filter_map(|task| problem.theory.blocking(task, size)).max_by(Quotient::compare);
    terms.chain(blocking).map(|term| term.reduced()).sum()
}

/// Whether U(φ) ≤ 1.
fn feasible(utilization: &Rational) -> bool {
    *utilization <= Rational::from_integer(1.into())
}
