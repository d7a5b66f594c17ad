//! The test of a whole cluster, Theorem 1, and what there is to report of it.

use std::cmp::Ordering;
use std::ops::Add;

use rtflash_model::{Device, Span, Task, TaskId, TaskSet};

use super::{Analysis, ClusterVerdict, LinearTest, TaskDemand, Test, Thesis, UtilizationTest};
use crate::certified::holds_anywhere;
use crate::cluster_report::{ClusterReport, GcReport};
use crate::field::{BaselineTerm, baseline};
use crate::fraction::{Fraction, Rational};
use crate::task_demand::{exactly_over, over};
use crate::work::Work;

/// The demand of a task under Theorem 1 with linear utilizations.
fn linear_demand(test: &dyn LinearTest, device: &Device, task: &Task, chips: u32) -> TaskDemand {
    TaskDemand::new(device, task, chips, test.page_costs(device), test.transfer_delay(device, chips))
}

fn members<'a>(set: &'a TaskSet, tasks: &'a [TaskId]) -> impl Iterator<Item = &'a Task> {
    tasks.iter().filter_map(|&task| set.tasks().get(task))
}

/// All terms of U(φ), Eq. (IV.9): blocking t_e/min(T) first, then each task's; none without tasks.
pub fn linear_terms(set: &TaskSet, test: &dyn LinearTest, tasks: &[TaskId], chips: u32) -> Vec<Fraction> {
    let demands: Vec<TaskDemand> =
        members(set, tasks).map(|task| linear_demand(test, set.device(), task, chips)).collect();
    let min_period = demands.iter().filter_map(TaskDemand::min_period).min();
    let blocking = min_period.map(|period| over(set.device().block_erase(), period));
    blocking.into_iter().chain(demands.iter().flat_map(TaskDemand::utilizations)).collect()
}

/// The terms of U_i(s), Eq. (IV.7), of one task: blocking apart.
pub fn linear_task_terms(set: &TaskSet, test: &dyn LinearTest, task: TaskId, chips: u32) -> Vec<Fraction> {
    let demand = members(set, &[task]).next().map(|task| linear_demand(test, set.device(), task, chips));
    demand.iter().flat_map(TaskDemand::utilizations).collect()
}

/// U(φ), Eq. (IV.9), with an analysis's own utilizations.
fn own_utilization(set: &TaskSet, test: &dyn UtilizationTest, tasks: &[TaskId], chips: u32) -> Rational {
    let demands: Vec<TaskDemand> = members(set, tasks).map(|task| test.demand(set.device(), task, chips)).collect();
    let min_period = demands.iter().filter_map(TaskDemand::min_period).min();
    let blocking = min_period.map(|period| exactly_over(set.device().block_erase(), period));
    let terms: Vec<Rational> =
        blocking.into_iter().chain(demands.iter().flat_map(TaskDemand::exact_utilizations)).collect();
    Rational::sum(&terms)
}

/// U(φ), Eq. (IV.9), exactly; `None` under a test of another form.
fn utilization(set: &TaskSet, analysis: &dyn Analysis, tasks: &[TaskId], chips: u32) -> Option<Rational> {
    match analysis.test() {
        Test::Linear(test) => Some(Rational::sum(&linear_terms(set, test, tasks, chips))),
        Test::Utilization(test) => Some(own_utilization(set, test, tasks, chips)),
        Test::Cluster(_) | Test::Demand(_) => None,
    }
}

/// Whether these tasks are schedulable in a cluster of `chips` chips, exactly, and how full it is.
/// Under Theorem 1, Eq. (IV.8), the load is U(φ) and at most one. A cluster without tasks passes.
///
/// Under a demand test a cluster passes if it holds wherever its chips are and whatever its
/// neighbours do ([`crate::certified::certified`] knows them); its load is the thesis's U(φ).
///
/// No cluster passes with a deadline, a jitter or commands that the analysis does not know, or
/// where it is [undefined](Analysis::undefined).
pub fn cluster_verdict(
    set: &TaskSet,
    analysis: &dyn Analysis,
    tasks: &[TaskId],
    chips: u32,
    work: &Work,
) -> ClusterVerdict {
    let mut tasks = tasks.to_vec();
    tasks.sort_unstable();
    if matches!(analysis.test(), Test::Utilization(_) | Test::Cluster(_)) {
        // Roughly: what such a test takes is not known.
        work.charge(16 * tasks.len());
    }
    let verdict = match analysis.test() {
        _ if tasks.is_empty() => ClusterVerdict::up_to_one(Fraction::new(0, 1)),
        Test::Linear(test) => ClusterVerdict::up_to_one(Rational::sum(&linear_terms(set, test, &tasks, chips))),
        Test::Utilization(test) => ClusterVerdict::up_to_one(own_utilization(set, test, &tasks, chips)),
        Test::Cluster(test) => {
            let tasks: Vec<&Task> = members(set, &tasks).collect();
            test.verdict(set.device(), &tasks, chips)
        }
        Test::Demand(demand) => ClusterVerdict::new(
            holds_anywhere(set, demand.placements, &tasks, chips, work),
            Rational::sum(&linear_terms(set, &Thesis, &tasks, chips)),
        ),
    };
    let known = (analysis.takes_deadlines() || members(set, &tasks).all(Task::has_whole_periods))
        && (analysis.takes_commands() || !set.device().has_commands())
        && (tasks.is_empty() || analysis.undefined(set).is_none());
    ClusterVerdict { passes: verdict.passes && known, ..verdict }
}

/// U_i(s), Eq. (IV.7), without blocking, exactly; under a [`super::ClusterTest`] its load alone.
pub fn task_load(set: &TaskSet, analysis: &dyn Analysis, task: TaskId, chips: u32, work: &Work) -> Rational {
    let Some(of) = set.tasks().get(task) else { return Fraction::new(0, 1).into() };
    match analysis.test() {
        Test::Utilization(test) => {
            Rational::sum(&test.demand(set.device(), of, chips).exact_utilizations().collect::<Vec<_>>())
        }
        Test::Cluster(_) => cluster_verdict(set, analysis, &[task], chips, work).load,
        Test::Linear(test) => Rational::sum(&linear_task_terms(set, test, task, chips)),
        Test::Demand(_) => Rational::sum(&linear_task_terms(set, &Thesis, task, chips)),
    }
}

/// [`cluster_verdict`]'s yes or no.
pub fn test_cluster(set: &TaskSet, analysis: &dyn Analysis, tasks: &[TaskId], chips: u32) -> bool {
    cluster_verdict(set, analysis, tasks, chips, &Work::new()).passes
}

/// U_s(φ) = 1 − U(φ), Eq. (IV.10), exactly, or by the [`super::ClusterTest`]. `None` above one, and
/// under a demand test, whose servers are in its certificates.
pub fn server_share(set: &TaskSet, analysis: &dyn Analysis, tasks: &[TaskId], chips: u32) -> Option<Rational> {
    if let Test::Cluster(test) = analysis.test() {
        let tasks: Vec<&Task> = members(set, tasks).collect();
        return test.server_share(set.device(), &tasks, chips).filter(|share| share.cmp_one().is_le());
    }
    utilization(set, analysis, tasks, chips)?.complement()
}

/// Doubles to compare with one and zero: near one, U is on the side on which it is exactly.
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

/// Nothing under other tests of whole clusters.
fn scheme_shares(set: &TaskSet, analysis: &dyn Analysis, tasks: &[TaskId], chips: u32) -> ClusterReport {
    let Some(scheme) = baseline(analysis.name()) else { return ClusterReport::default() };
    let known: Vec<TaskId> = tasks.iter().copied().filter(|&task| set.tasks().get(task).is_some()).collect();
    let terms = scheme.terms(set.device(), &members(set, &known).collect::<Vec<_>>(), chips);
    let share = |what: &str| {
        terms.iter().filter(|term| term.what == what).map(|term| term.share().to_f64()).fold(0.0, f64::add)
    };
    let gc_task = |term: &BaselineTerm| {
        let cost = u64::try_from(term.cost).ok().and_then(Span::from_ns)?;
        (term.what == "gc" && term.times == 1).then_some(())?;
        Some(GcReport { task: known[term.task?], cost, period: term.period })
    };
    ClusterReport {
        blocking: share("blocking"),
        read: share("read"),
        write: share("write"),
        gc: share("gc"),
        min_period: terms.iter().map(|term| term.period).min(),
        gc_tasks: terms.iter().filter_map(gc_task).collect(),
        ..ClusterReport::default()
    }
}

/// The cluster in numbers, within a few units in the last place; under a demand test those of the
/// thesis's equations ([`crate::verdict::report`] has its own).
pub fn report_cluster(set: &TaskSet, analysis: &dyn Analysis, tasks: &[TaskId], chips: u32) -> ClusterReport {
    if let Test::Cluster(_) = analysis.test() {
        let share = server_share(set, analysis, tasks, chips);
        return ClusterReport {
            utilization: cluster_verdict(set, analysis, tasks, chips, &Work::new()).load.to_f64(),
            server: share.map_or(0.0, |share| share.to_f64()),
            ..scheme_shares(set, analysis, tasks, chips)
        };
    }
    let demands: Vec<TaskDemand> =
        members(set, tasks).filter_map(|task| analysis.demand(set.device(), task, chips)).collect();
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
        beside_one(blocking + read + write + gc, || cluster_verdict(set, analysis, tasks, chips, &Work::new()).load);
    let gc_task = |(&task, demand): (&TaskId, &TaskDemand)| {
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
