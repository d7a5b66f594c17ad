//! Demand tests as allocators ask them: the smallest cluster that tasks hold in, and whether they
//! hold in one of Algorithm 1's.

use rtflash_analysis::{Rational, WorkBound};
use rtflash_model::{PerId, TaskId, TaskSet};

use super::organisations::{DemandHeld, Organisations};
use crate::allocator::sizes::{PartitionPrice, Sizes, Smallest, TaskGroup};
use crate::allocator::{Limit, merging};

pub(super) const MAX_TESTS: u64 = 100_000;
pub(super) const MAX_MERGING: u64 = 2_000_000;
/// Lookups of known loads that count as a test.
const ITERATIONS: u64 = 256;
/// Requests looked at in them after which it ends, too.
const MAX_WORK: u64 = 200_000_000;

/// Groups that a task is tried in, at most, before it gets more chips.
const TRIED: usize = 24;
/// Groups that are made larger for a task, at most.
const GROWN: usize = 8;
/// Less than this is not left of a group's chips with a task that it holds.
const LEAST_SLACK: f64 = -0.25;

pub(super) struct DemandSizes<'s, 'a> {
    organisations: &'s Organisations<'a>,
    /// The bound of the work: tests, and requests looked at in them.
    bound: Option<(u64, WorkBound<'s>)>,
    iterations: u64,
}

impl<'s, 'a> DemandSizes<'s, 'a> {
    pub(super) fn new(organisations: &'s Organisations<'a>) -> DemandSizes<'s, 'a> {
        DemandSizes { organisations, bound: None, iterations: 0 }
    }

    pub(super) fn bounded(organisations: &'s Organisations<'a>, tests: u64) -> DemandSizes<'s, 'a> {
        let bound = Some((tests, organisations.work().bound(MAX_WORK)));
        DemandSizes { bound, ..DemandSizes::new(organisations) }
    }

    fn exhausted(&self) -> Option<Limit> {
        let (limit, bound) = self.bound?;
        let exhausted = self.organisations.tests() + self.iterations / ITERATIONS > limit || bound.left() == 0;
        exhausted.then_some(Limit::TooMuchWork { limit })
    }
}

fn work(Smallest { size, held }: Smallest<DemandHeld>) -> f64 {
    held.load * f64::from(size)
}

/// As far as one can tell, with a task that has this cluster alone.
fn slack(group: &TaskGroup<DemandHeld>, alone: Smallest<DemandHeld>) -> f64 {
    1.0 - group.held.load - work(alone) / f64::from(group.size)
}

/// The lowest positions are first among equal numbers.
fn greatest(
    groups: &[TaskGroup<DemandHeld>],
    most: usize,
    number: impl Fn(&TaskGroup<DemandHeld>) -> Option<f64>,
) -> Vec<usize> {
    let busy = groups.iter().enumerate().filter(|(_, group)| group.size > 0);
    let mut ranks: Vec<(f64, usize)> = busy.filter_map(|(at, group)| Some((number(group)?, at))).collect();
    let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if ranks.len() > most {
        ranks.select_nth_unstable_by(most, order);
        ranks.truncate(most);
    }
    ranks.sort_unstable_by(order);
    ranks.into_iter().map(|(_, at)| at).collect()
}

impl Sizes for DemandSizes<'_, '_> {
    type Held = DemandHeld;

    const FULLEST: bool = false;
    const REORGANISES: bool = true;

    fn load(held: DemandHeld) -> f64 {
        held.load
    }

    fn cost(chips: u32, held: DemandHeld) -> f64 {
        held.load * f64::from(chips)
    }

    /// Fewer chips, then less to do on them.
    fn beats(one: PartitionPrice, other: PartitionPrice) -> bool {
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
    fn order(&mut self, alone: &PerId<TaskId, Smallest<DemandHeld>>) -> Vec<TaskId> {
        let work = |task: TaskId| work(alone[task]);
        let mut order: Vec<TaskId> = alone.ids().collect();
        order.sort_by(|&a, &b| work(b).total_cmp(&work(a)).then(a.cmp(&b)));
        order
    }

    fn smallest_size(&mut self, tasks: &[TaskId], least: u32, most: u32) -> Option<Smallest<DemandHeld>> {
        self.organisations.smallest(tasks, least, most)
    }

    fn joined(&mut self, group: &TaskGroup<DemandHeld>, task: TaskId) -> Option<DemandHeld> {
        let organisation = group.held.organisation;
        let load = self.organisations.load(&[group.tasks.as_slice(), &[task]].concat(), organisation, group.size)?;
        Some(DemandHeld { organisation, load })
    }

    /// The fullest first.
    fn joinable(&self, groups: &[TaskGroup<DemandHeld>], alone: Smallest<DemandHeld>) -> Vec<usize> {
        let has_room = |group: &TaskGroup<DemandHeld>| slack(group, alone) > LEAST_SLACK;
        greatest(groups, TRIED, |group| Some(group.held.load).filter(|_| has_room(group)))
    }

    /// Those with the most room first.
    fn growable(&self, groups: &[TaskGroup<DemandHeld>], alone: Smallest<DemandHeld>) -> Vec<usize> {
        greatest(groups, GROWN, |group| Some(slack(group, alone)))
    }

    fn notify(&self, placed: usize) {
        self.organisations.work().notify(placed, self.organisations.set().tasks().count());
    }

    /// A test that was given up ends a search, too: each of them takes long.
    fn exhausted(&self) -> Option<Limit> {
        let given_up = self.bound.is_some() && self.organisations.given_up();
        if given_up { Some(Limit::TestGivenUp) } else { self.exhausted() }
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

    fn passing(&mut self, tasks: &[TaskId], chips: u32) -> Option<Rational> {
        let holds = self.organisations.holds(tasks, chips).is_some();
        holds.then(|| self.organisations.least_load(tasks, chips))
    }

    fn load(&mut self, tasks: &[TaskId], chips: u32) -> Rational {
        self.organisations.least_load(tasks, chips)
    }

    fn count(&mut self, iterations: u64) {
        self.iterations += iterations;
    }

    fn notify(&self, placed: usize) {
        self.organisations.work().notify(placed, self.set().tasks().count());
    }

    fn exhausted(&self) -> Option<Limit> {
        self.exhausted()
    }
}
