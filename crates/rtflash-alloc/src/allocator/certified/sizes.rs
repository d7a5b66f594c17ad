//! Demand tests as allocators ask them: the smallest cluster that tasks hold in, and whether they
//! hold in one of Algorithm 1's.

use rtflash_model::{PerId, TaskId, TaskSet};

use super::organisations::{DemandHeld, Organisations};
use crate::allocator::sizes::{Sizes, TaskGroup};
use crate::allocator::{Limit, merging};
use crate::analysis::ClusterVerdict;
use crate::fraction::Rational;
use crate::work::WorkBound;

/// Groups that a task is tried in, at most, before it gets more chips.
const TRIED: usize = 24;
/// Groups that are made larger for a task, at most.
const GROWN: usize = 8;
/// Tests of a cluster after which a search ends.
pub(super) const MAX_TESTS: u64 = 100_000;
/// Tests of a cluster after which Algorithm 1 ends.
pub(super) const MAX_MERGING: u64 = 2_000_000;
/// Looks at what is known that count as a test.
const LOOKS: u64 = 256;
/// Requests looked at in them after which it ends, too.
const MAX_WORK: u64 = 200_000_000;

/// Clusters tested as `Organisations` supposes.
pub(super) struct DemandSizes<'s, 'a> {
    organisations: &'s Organisations<'a>,
    /// Where the work is bounded: tests, and requests looked at in them.
    bound: Option<(u64, WorkBound<'s>)>,
    looks: u64,
}

impl<'s, 'a> DemandSizes<'s, 'a> {
    pub(super) fn new(organisations: &'s Organisations<'a>) -> DemandSizes<'s, 'a> {
        DemandSizes { organisations, bound: None, looks: 0 }
    }

    /// Nothing is searched for any more after so many tests.
    pub(super) fn bounded(organisations: &'s Organisations<'a>, tests: u64) -> DemandSizes<'s, 'a> {
        DemandSizes { organisations, bound: Some((tests, organisations.work().bound(MAX_WORK))), looks: 0 }
    }

    fn spent(&self) -> Option<Limit> {
        let (limit, bound) = self.bound?;
        let spent = self.organisations.tests() + self.looks / LOOKS > limit || bound.left() == 0;
        spent.then_some(Limit::TooMuchWork { limit })
    }
}

/// What is left of a group's chips with a task that alone has this cluster, as far as one can tell.
fn slack(group: &TaskGroup<DemandHeld>, (chips, alone): (u32, DemandHeld)) -> f64 {
    1.0 - group.held.load - alone.load * f64::from(chips) / f64::from(group.size)
}

impl Sizes for DemandSizes<'_, '_> {
    type Held = DemandHeld;

    const FULLEST: bool = false;
    const REORGANISES: bool = true;

    fn load(held: DemandHeld) -> f64 {
        held.load
    }

    /// The load of all chips.
    fn cost(chips: u32, held: DemandHeld) -> f64 {
        held.load * f64::from(chips)
    }

    /// Fewer chips, then less to do on them.
    fn beats(one: (u32, f64), other: (u32, f64)) -> bool {
        one <= other
    }

    fn tasks(&self) -> u32 {
        self.organisations.set().tasks().count()
    }

    fn chips(&self) -> u32 {
        self.organisations.set().device().chips()
    }

    fn is_monotone(&self) -> bool {
        true
    }

    /// By what they take of the device's chips alone, the most first.
    fn order(&mut self, alone: &PerId<TaskId, (u32, DemandHeld)>) -> Vec<TaskId> {
        let work = |task: TaskId| alone[task].1.load * f64::from(alone[task].0);
        let mut order: Vec<TaskId> = alone.ids().collect();
        order.sort_by(|&a, &b| work(b).total_cmp(&work(a)).then(a.cmp(&b)));
        order
    }

    fn smallest_size(&mut self, tasks: &[TaskId], least: u32, most: u32) -> Option<(u32, DemandHeld)> {
        self.organisations.smallest(tasks, least, most)
    }

    fn joined(&mut self, group: &TaskGroup<DemandHeld>, task: TaskId) -> Option<DemandHeld> {
        let organisation = group.held.organisation;
        let load = self.organisations.load(&[group.tasks.as_slice(), &[task]].concat(), organisation, group.size)?;
        Some(DemandHeld { organisation, load })
    }

    /// The fullest first.
    fn joinable(&self, groups: &[TaskGroup<DemandHeld>], alone: (u32, DemandHeld), tried: &mut Vec<usize>) {
        tried.extend((0..groups.len()).filter(|&group| groups[group].size > 0 && slack(&groups[group], alone) > -0.25));
        tried.sort_by(|&a, &b| groups[b].held.load.total_cmp(&groups[a].held.load).then(a.cmp(&b)));
        tried.truncate(TRIED);
    }

    /// Those with the most room first.
    fn growable(&self, groups: &[TaskGroup<DemandHeld>], alone: (u32, DemandHeld), tried: &mut Vec<usize>) {
        tried.extend((0..groups.len()).filter(|&group| groups[group].size > 0));
        tried.sort_by(|&a, &b| slack(&groups[b], alone).total_cmp(&slack(&groups[a], alone)).then(a.cmp(&b)));
        tried.truncate(GROWN);
    }

    /// A test that was given up ends a search, too: each of them takes long.
    fn exhausted(&self) -> Option<Limit> {
        let given_up = self.bound.is_some() && self.organisations.given_up();
        if given_up { Some(Limit::TestGivenUp) } else { self.spent() }
    }
}

impl merging::MergingTest for DemandSizes<'_, '_> {
    fn set(&self) -> &TaskSet {
        self.organisations.set()
    }

    /// By their load alone on one chip.
    fn order(&mut self) -> Vec<TaskId> {
        let loads: PerId<TaskId, Rational> =
            TaskId::first(self.tasks()).map(|task| self.organisations.least_load(&[task], 1)).collect();
        let mut order: Vec<TaskId> = loads.ids().collect();
        order.sort_by(|&a, &b| loads[b].cmp(&loads[a]).then(a.cmp(&b)));
        order
    }

    fn verdict(&mut self, tasks: &[TaskId], chips: u32) -> ClusterVerdict {
        ClusterVerdict::new(
            self.organisations.holds(tasks, chips).is_some(),
            self.organisations.least_load(tasks, chips),
        )
    }

    fn load(&mut self, tasks: &[TaskId], chips: u32) -> Rational {
        self.organisations.least_load(tasks, chips)
    }

    fn count(&mut self, looks: u64) {
        self.looks += looks;
    }

    fn exhausted(&self) -> Option<Limit> {
        self.spent()
    }
}
