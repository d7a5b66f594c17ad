//! The smallest cluster in which given tasks are schedulable.

use std::cmp::Ordering;

use rtflash_model::{Allocation, PerId, TaskId, TaskSet};

use super::Limit;
use super::loads::{Load, LoadShare, Loads, SizeCosts, Total};

/// Tasks that share a cluster, and a cluster that they hold in. Without tasks it has no chips.
#[derive(Debug, Clone, Default)]
pub(super) struct TaskGroup<H> {
    pub tasks: Vec<TaskId>,
    /// Its chips; more than there are where the tasks hold in no cluster.
    pub size: u32,
    pub held: H,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Smallest<H> {
    pub size: u32,
    pub held: H,
}

/// The price of a partition: all its chips, and the sum of [`Sizes::cost`].
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct PartitionPrice {
    pub chips: u32,
    pub cost: f64,
}

/// The smallest cluster for tasks: what best fit, the search and `exact` ask of any test. It finds
/// nothing any more once the work is too much.
pub(super) trait Sizes {
    type Held: Copy + Default;

    /// Whether of the places with equal growth a task takes the one that it fills most; if not, the
    /// first, and a cluster of its own only where that takes fewer chips.
    const FULLEST: bool = true;

    /// Whether a group may hold one task more on as many chips, organised in another way.
    const REORGANISES: bool = false;

    /// How full that makes the cluster, in doubles.
    fn load(held: Self::Held) -> f64;

    /// The cost of a cluster in the quantity that `exact` spares: s − 1 + U of Σ U_s, of which
    /// there would be m.
    fn cost(chips: u32, held: Self::Held) -> f64 {
        f64::from(chips - 1) + Self::load(held)
    }

    /// Whether a partition of one price makes one of the other needless.
    fn beats(one: PartitionPrice, other: PartitionPrice) -> bool {
        one.chips <= other.chips && one.cost <= other.cost
    }

    fn tasks(&self) -> u32;

    fn chips(&self) -> u32;

    /// Whether more tasks never need fewer chips.
    fn is_monotone(&self) -> bool;

    /// `alone`: the smallest cluster of each task.
    fn order(&mut self, alone: &PerId<TaskId, Smallest<Self::Held>>) -> Vec<TaskId>;

    /// Whether the tasks surely need more chips than there are, however they are grouped.
    fn surely_too_many(&mut self, _alone: &PerId<TaskId, Smallest<Self::Held>>) -> bool {
        false
    }

    /// `None` also where the limit was reached.
    fn smallest_size(&mut self, tasks: &[TaskId], least: u32, most: u32) -> Option<Smallest<Self::Held>>;

    /// A group with one task more on the chips that it has, if that passes.
    fn joined(&mut self, group: &TaskGroup<Self::Held>, task: TaskId) -> Option<Self::Held>;

    /// `alone`: the task's own smallest cluster.
    fn joinable(&self, groups: &[TaskGroup<Self::Held>], _alone: Smallest<Self::Held>) -> Vec<usize> {
        (0..groups.len()).collect()
    }

    /// The groups that are given more chips for a task that fits in none, in this order.
    fn growable(&self, groups: &[TaskGroup<Self::Held>], _alone: Smallest<Self::Held>) -> Vec<usize> {
        (0..groups.len()).collect()
    }

    fn notify(&self, _placed: usize) {}

    fn exhausted(&self) -> Option<Limit>;
}

/// Clusters by lowest task, chips in order, those left over as clusters of their own.
pub(super) fn in_order<H>(set: &TaskSet, mut groups: Vec<TaskGroup<H>>) -> Option<Allocation> {
    groups.sort_by_key(|group| group.tasks.iter().min().copied());
    let chips = set.device().chips();
    let needed: u64 = groups.iter().map(|group| u64::from(group.size)).sum();
    let left = u32::try_from(u64::from(chips).checked_sub(needed)?).ok()?;
    let mut of_chip = Vec::with_capacity(chips as usize);
    let mut of_task = PerId::filled(0, set.tasks().count());
    let mut next = 0u32;
    for group in &groups {
        of_chip.extend(std::iter::repeat_n(next, group.size as usize));
        group.tasks.iter().for_each(|&task| of_task[task] = next);
        next += 1;
    }
    of_chip.extend((next..).take(left as usize));
    Allocation::from_owners(of_chip.into(), of_task)
}

/// The share that tasks take under Theorem 1, and the costs of that number of chips.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LinearHeld {
    share: LoadShare,
    costs: SizeCosts,
}

/// The sizes that Theorem 1 asks for.
pub(super) struct LinearSizes<'a> {
    loads: Loads<'a>,
    table: PerId<TaskId, Load>,
    work: u64,
    limit: u64,
}

impl<'a> LinearSizes<'a> {
    pub fn new(loads: Loads<'a>, limit: u64) -> LinearSizes<'a> {
        LinearSizes { table: loads.table(), loads, work: 0, limit }
    }

    fn share(&mut self, tasks: &[TaskId], costs: SizeCosts) -> LoadShare {
        self.work += tasks.len() as u64;
        tasks.iter().fold(LoadShare::default(), |sum, &task| sum.with(self.loads.share(&self.table[task], costs)))
    }

    fn surely_too_much(&mut self, tasks: &[TaskId], chips: u32) -> bool {
        let costs = SizeCosts { delay: 0.0, ..self.loads.size_costs(chips) };
        let total = self.share(tasks, costs).total();
        Total { sum: total, tasks: tasks.len() }.compare(Total::ONE) == Some(Ordering::Greater)
    }
}

impl Sizes for LinearSizes<'_> {
    type Held = LinearHeld;

    fn load(held: LinearHeld) -> f64 {
        held.share.total()
    }

    fn tasks(&self) -> u32 {
        self.table.count()
    }

    fn chips(&self) -> u32 {
        self.loads.set.device().chips()
    }

    fn is_monotone(&self) -> bool {
        // Utilization grows with the tasks at every size.
        true
    }

    fn order(&mut self, _: &PerId<TaskId, Smallest<LinearHeld>>) -> Vec<TaskId> {
        self.loads.decreasing_order(&self.loads.shares_of_one_chip(&self.table))
    }

    /// In a cluster of s chips, Σ U_i(s) + t_e/min(T) ≤ 1, so the U_i(s)/(1 − t_e/min(T)), with
    /// each task's own min(T), add up to at most 1: the tasks' least s·U_i(s)/(1 − t_e/min(T)) add
    /// up to at most m. Doubles only rule out a search. Without it `clustering-search` takes 15
    /// times the instructions for 8 tasks on 16 chips.
    fn surely_too_many(&mut self, alone: &PerId<TaskId, Smallest<LinearHeld>>) -> bool {
        let chips = self.chips();
        let mut needed = 0.0;
        for (load, &Smallest { size, .. }) in self.table.iter().zip(alone) {
            let mut least = f64::INFINITY;
            for chips in size..=chips {
                let costs = self.loads.size_costs(chips);
                // Larger clusters have at least this, for what no size changes.
                if f64::from(chips) * load.fixed >= least || self.work > self.limit {
                    break;
                }
                self.work += 1;
                let share = self.loads.share(load, costs);
                if share.blocking < 1.0 {
                    least = least.min(f64::from(chips) * share.tasks / (1.0 - share.blocking));
                }
            }
            needed += least;
        }
        needed > f64::from(chips) * (1.0 + 1e-6)
    }

    fn smallest_size(&mut self, tasks: &[TaskId], least: u32, most: u32) -> Option<Smallest<LinearHeld>> {
        // Without transfer delay U falls with the size, so where that is too much is found by
        // bisection; from there on, size by size: an analysis may charge more for a larger cluster.
        let mut least = least;
        // Two sizes are as soon tried as ruled out.
        if most.saturating_sub(least) >= 2 {
            if self.surely_too_much(tasks, most) {
                return None;
            }
            if self.surely_too_much(tasks, least) {
                let mut enough = most;
                while least + 1 < enough {
                    let middle = u32::midpoint(least, enough);
                    if self.surely_too_much(tasks, middle) { least = middle } else { enough = middle }
                }
                least = enough;
            }
        }
        (least..=most).find_map(|chips| {
            if self.work > self.limit {
                return None; // Given up: the caller sees it by the work done.
            }
            let costs = self.loads.size_costs(chips);
            let share = self.share(tasks, costs);
            let passes = self.loads.fits(share.total(), tasks.len(), chips, || tasks.to_vec());
            passes.then_some(Smallest { size: chips, held: LinearHeld { share, costs } })
        })
    }

    fn joined(&mut self, group: &TaskGroup<LinearHeld>, task: TaskId) -> Option<LinearHeld> {
        self.work += 1;
        let held = group.held;
        let share = held.share.with(self.loads.share(&self.table[task], held.costs));
        let with = || [group.tasks.as_slice(), &[task]].concat();
        self.loads.fits(share.total(), group.tasks.len() + 1, group.size, with).then_some(LinearHeld { share, ..held })
    }

    fn exhausted(&self) -> Option<Limit> {
        (self.work > self.limit).then_some(Limit::TooMuchWork { limit: self.limit })
    }
}
