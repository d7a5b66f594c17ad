//! The forms that a test of clusters can have.

use rtflash_model::{Device, Span, Task};

use super::{Analysis, DemandTest, TaskDemand};
use crate::fraction::Rational;

/// How an analysis tests a cluster.
#[derive(Clone, Copy)]
pub enum Test<'a> {
    /// Theorem 1 with utilizations linear in pages. Allocators have fast paths for it: page costs
    /// and a transfer delay are all there is to say.
    Linear(&'a dyn LinearTest),
    /// Theorem 1 with utilizations of the analysis's own.
    Utilization(&'a dyn UtilizationTest),
    /// Any yes or no that depends on the tasks of a cluster and on its number of chips.
    Cluster(&'a dyn ClusterTest),
    /// Processor demand of a placed cluster, with certificates ([`crate::certified`]).
    Demand(DemandTest),
}

impl dyn Analysis + '_ {
    /// `None` where it knows tasks and a number of chips alone.
    pub fn demand_test(&self) -> Option<DemandTest> {
        let Test::Demand(test) = self.test() else { return None };
        Some(test)
    }

    /// Whether the device can be one of zones, of which the necessary tests say nothing.
    pub fn owns_zones(&self) -> bool {
        self.demand_test().is_some_and(|test| test.placements.iter().any(|placement| placement.is_zoned()))
    }
}

/// Theorem 1 with [`Analysis::page_costs`] and a delay: Eqs. (IV.1) to (IV.9). A request of 2⁶³ ns
/// or more counts as 2⁶³ − 1 ns, above every period.
pub trait LinearTest: Analysis {
    /// D(s), the factor of D^r and D^w in Eqs. (IV.5) and (IV.6). It need not be monotone.
    fn transfer_delay(&self, device: &Device, chips: u32) -> Span;
}

/// Theorem 1 with any U_i(s): schedulable iff t_e/min(T) + Σ U_i(s) ≤ 1, Eqs. (IV.8) and (IV.9), in
/// exact fractions. Servers for other jobs have 1 − U(φ): a page costs [`Analysis::page_costs`] and
/// waits for all other chips of its channel.
pub trait UtilizationTest: Sync {
    /// Terms of a task in a cluster of `chips` chips, a function of the input alone.
    /// [`TaskDemand::new`] has the thesis's, to change.
    fn demand(&self, device: &Device, task: &Task, chips: u32) -> TaskDemand;
}

/// A test of any form: response times, simulation, a table.
///
/// Allocators use it so:
/// - Every cluster of an allocation has passed after the last change to it, whatever the test is
///   like. A cluster without tasks passes and is not asked for.
/// - Algorithm 1's order of tasks (by their load alone on one chip), its choice among clusters that
///   pass (the highest load) and its choice of a merge (the lowest) go by [`ClusterVerdict::load`],
///   exactly. Loads decide nothing else.
/// - `exact` tries every partition of the tasks with every number of chips from one up, so it finds
///   an allocation whenever there is one, even if more tasks or more chips turn a no into a yes.
///   Its objective takes 1 − load for what a cluster leaves to jobs that are not real-time.
/// - Advice and limits search for boundaries: they name a change that passes, and where a test is
///   not monotone there may be a smaller one.
///
/// In the executor, operations take [`Analysis::page_costs`], and garbage collection is released by
/// Eq. (IV.4).
pub trait ClusterTest: Sync {
    /// Whether at least one task, in the order of the set, is schedulable: a function of the input.
    fn verdict(&self, device: &Device, tasks: &[&Task], chips: u32) -> ClusterVerdict;

    /// Chips of the largest cluster that can pass. Algorithms merge no clusters beyond it.
    fn most_chips(&self, device: &Device) -> u32 {
        device.chips()
    }

    /// The share of a Total Bandwidth Server beside the tasks, at most one, if there is one.
    fn server_share(&self, _device: &Device, _tasks: &[&Task], _chips: u32) -> Option<Rational> {
        None
    }
}

/// The verdict of a test on a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterVerdict {
    /// Whether it is schedulable. This alone decides.
    pub passes: bool,
    /// Orders clusters, and is shown as U: at most one where the cluster passes, by custom.
    pub load: Rational,
}

impl ClusterVerdict {
    /// A verdict and a load.
    pub fn new(passes: bool, load: impl Into<Rational>) -> ClusterVerdict {
        ClusterVerdict { passes, load: load.into() }
    }

    /// The verdict of a load that may be one at most.
    pub fn up_to_one(load: impl Into<Rational>) -> ClusterVerdict {
        let load = load.into();
        ClusterVerdict { passes: load.cmp_one().is_le(), load }
    }
}
