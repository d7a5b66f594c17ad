//! The test of a whole cluster, Theorem 1, and what there is to report of it.

use std::cmp::Ordering;
use std::ops::Add;

use rtflash_model::{Span, TaskSet};

use super::demand::over;
use super::{Analysis, TaskDemand};
use crate::fraction::{Fraction, Rational};

/// A cluster in numbers for a reader. Nothing decides by them: verdicts come from [`test_cluster`].
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterReport {
    /// U(φ), Eq. (IV.9).
    pub utilization: f64,
    /// t_e / min(T): the share lost to blocking.
    pub blocking: f64,
    /// The share of reads, delay included.
    pub read: f64,
    /// The share of writes, delay included.
    pub write: f64,
    /// The share of garbage collection.
    pub gc: f64,
    /// min(T) in nanoseconds; `None` for a cluster without tasks.
    pub min_period: Option<Fraction>,
    /// U_s = 1 − U(φ), Eq. (IV.10); zero where U(φ) is above one.
    pub server: f64,
    /// The GC task of each writing task.
    pub gc_tasks: Vec<GcReport>,
}

/// A GC task in a [`ClusterReport`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GcReport {
    /// The writing task, as a position in the set.
    pub task: usize,
    /// C^g.
    pub cost: Span,
    /// T^g in nanoseconds.
    pub period: Fraction,
}

/// All terms of U(φ), Eq. (IV.9), for these tasks in a cluster of `chips` chips: blocking t_e/min(T) first, then each task's.
/// No tasks, no terms.
pub(crate) fn terms(set: &TaskSet, analysis: &dyn Analysis, tasks: &[usize], chips: u32) -> Vec<Fraction> {
    let demands: Vec<TaskDemand> = demands(set, analysis, tasks, chips).collect();
    let min_period = demands.iter().filter_map(TaskDemand::min_period).min();
    let blocking = min_period.map(|period| over(set.device().block_erase(), period));
    blocking.into_iter().chain(demands.iter().flat_map(TaskDemand::utilizations)).collect()
}

fn demands<'a>(
    set: &'a TaskSet,
    analysis: &'a dyn Analysis,
    tasks: &'a [usize],
    chips: u32,
) -> impl Iterator<Item = TaskDemand> + 'a {
    tasks.iter().filter_map(|&task| set.tasks().get(task)).map(move |task| analysis.demand(set.device(), task, chips))
}

/// Theorem 1, Eq. (IV.8): whether U(φ) ≤ 1 for these tasks (positions in the set) in a cluster of `chips` chips. Exact.
pub fn test_cluster(set: &TaskSet, analysis: &dyn Analysis, tasks: &[usize], chips: u32) -> bool {
    Rational::sum(&terms(set, analysis, tasks, chips)).cmp_one() != Ordering::Greater
}

/// U_s(φ) = 1 − U(φ), Eq. (IV.10), exactly; `None` where U(φ) is above one.
pub fn server_share(set: &TaskSet, analysis: &dyn Analysis, tasks: &[usize], chips: u32) -> Option<Rational> {
    Rational::sum(&terms(set, analysis, tasks, chips)).complement()
}

/// U(φ) and U_s as doubles that a reader may compare with one and zero: where U is near one, on the side on which it is exactly.
fn beside_one(estimate: f64, exact: impl FnOnce() -> Rational) -> (f64, f64) {
    if (estimate - 1.0).abs() > 1e-6 {
        return (estimate, (1.0 - estimate).max(0.0));
    }
    let exact = exact();
    let value = exact.to_f64();
    match exact.cmp_one() {
        Ordering::Less => (value.min(1.0f64.next_down()), exact.complement().map_or(0.0, |rest| rest.to_f64())),
        Ordering::Equal => (1.0, 0.0),
        Ordering::Greater => (value.max(1.0f64.next_up()), 0.0),
    }
}

/// The cluster in numbers for a reader, each within a few units in the last place.
pub fn report_cluster(set: &TaskSet, analysis: &dyn Analysis, tasks: &[usize], chips: u32) -> ClusterReport {
    let demands: Vec<TaskDemand> = demands(set, analysis, tasks, chips).collect();
    let share = |utilization: Option<Fraction>| utilization.map_or(0.0, Fraction::to_f64);
    // Not `sum`, whose empty sum is −0.0.
    let total = |term: fn(&TaskDemand) -> Option<Fraction>| {
        demands.iter().map(|demand| share(term(demand))).fold(0.0, f64::add)
    };
    let read = total(|demand| demand.read.map(|read| read.utilization()));
    let write = total(|demand| demand.write.map(|write| write.utilization()));
    let gc = total(|demand| demand.gc.map(|gc| gc.utilization()));
    let min_period = demands.iter().filter_map(TaskDemand::min_period).min();
    let blocking = share(min_period.map(|period| over(set.device().block_erase(), period)));
    let (utilization, server) =
        beside_one(blocking + read + write + gc, || Rational::sum(&terms(set, analysis, tasks, chips)));
    let gc_task = |(&task, demand): (&usize, &TaskDemand)| {
        demand.gc.map(|gc| GcReport { task, cost: gc.cost, period: gc.period })
    };
    ClusterReport {
        utilization,
        blocking,
        read,
        write,
        gc,
        min_period,
        server,
        gc_tasks: tasks.iter().zip(&demands).filter_map(gc_task).collect(),
    }
}
