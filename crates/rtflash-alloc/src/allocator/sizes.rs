//! The smallest cluster in which given tasks are schedulable.

use std::cmp::Ordering;

use super::loads::{Load, Loads, Share, SizeCosts, compare_doubles};

/// What a search over groups of tasks asks of a test, whatever its form. It counts the work, and finds nothing any more once that is too much.
pub(super) trait Sizes {
    /// What a group takes of its cluster.
    type Held: Copy + Default;

    /// How full that makes the cluster, in doubles.
    fn load(held: Self::Held) -> f64;

    /// Whether more tasks never need fewer chips.
    fn is_monotone(&self) -> bool;

    /// The tasks' positions in Algorithm 1's order.
    fn order(&mut self) -> Vec<usize>;

    /// The smallest cluster for each task alone; `None` where a task has none, or where all of them surely need more than these chips.
    fn alone(&mut self, chips: u32) -> Option<Vec<(u32, Self::Held)>>;

    /// The smallest number of chips from `least` to `most` that is enough for these tasks, and what they take of it; `None` also where the limit was
    /// reached.
    fn smallest_size(&mut self, tasks: &[usize], least: u32, most: u32) -> Option<(u32, Self::Held)>;

    /// A group that has a cluster of so many chips, with one task more in it, if that passes.
    fn joined(&mut self, group: &[usize], chips: u32, held: Self::Held, task: usize) -> Option<Self::Held>;

    /// Whether the limit was reached.
    fn exhausted(&self) -> bool;
}

/// What a group of tasks takes of a cluster under Theorem 1, and what depends on its number of chips.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Held {
    share: Share,
    costs: SizeCosts,
}

/// The sizes that Theorem 1 asks for.
pub(super) struct LinearSizes<'a> {
    loads: Loads<'a>,
    table: Vec<Load>,
    /// Evaluations of a task's utilization so far.
    work: u64,
    limit: u64,
}

impl<'a> LinearSizes<'a> {
    /// Nothing is found any more after `limit` evaluations of a task's utilization.
    pub fn new(loads: Loads<'a>, limit: u64) -> LinearSizes<'a> {
        let mut table = Vec::new();
        loads.fill(&mut table);
        LinearSizes { loads, table, work: 0, limit }
    }

    /// What the tasks take of a cluster with these costs.
    fn share(&mut self, tasks: &[usize], costs: SizeCosts) -> Share {
        self.work += tasks.len() as u64;
        tasks.iter().fold(Share::default(), |sum, &task| sum.with(self.loads.share(&self.table[task], costs)))
    }

    /// Whether the tasks are too much for a cluster of this size even without any transfer delay.
    fn surely_too_much(&mut self, tasks: &[usize], chips: u32) -> bool {
        let total = self.share(tasks, self.loads.size_costs(chips).without_delay()).total();
        compare_doubles((total, tasks.len()), (1.0, 0)) == Some(Ordering::Greater)
    }
}

impl Sizes for LinearSizes<'_> {
    type Held = Held;

    fn load(held: Held) -> f64 {
        held.share.total()
    }

    fn is_monotone(&self) -> bool {
        // Utilization grows with the tasks at every size.
        true
    }

    fn order(&mut self) -> Vec<usize> {
        let one_chip = self.loads.size_costs(1);
        let shares: Vec<Share> = self.table.iter().map(|load| self.loads.share(load, one_chip)).collect();
        let mut order = Vec::new();
        self.loads.decreasing_order(&shares, &mut order);
        order.into_iter().map(|task| task as usize).collect()
    }

    /// In a cluster of s chips, Σ U_i(s) + t_e/min(T) ≤ 1, so each task's U_i(s)/(1 − t_e/min(T)), with its own min(T), add up to at most 1.
    /// Times s and over all clusters: the tasks' least s·U_i(s)/(1 − t_e/min(T)) add up to at most m. Doubles only rule out a search here.
    fn alone(&mut self, chips: u32) -> Option<Vec<(u32, Held)>> {
        let mut alone = Vec::with_capacity(self.table.len());
        let mut needed = 0.0;
        for task in 0..self.table.len() {
            let (size, held) = self.smallest_size(&[task], 1, chips)?;
            let mut least = f64::INFINITY;
            for chips in size..=chips {
                let load = &self.table[task];
                let costs = self.loads.size_costs(chips);
                // Larger clusters have at least this, for what no size changes.
                if f64::from(chips) * load.fixed() >= least || self.exhausted() {
                    break;
                }
                self.work += 1;
                let share = self.loads.share(load, costs);
                if share.blocking < 1.0 {
                    least = least.min(f64::from(chips) * share.tasks / (1.0 - share.blocking));
                }
            }
            needed += least;
            alone.push((size, held));
        }
        (needed <= f64::from(chips) * (1.0 + 1e-6)).then_some(alone)
    }

    fn smallest_size(&mut self, tasks: &[usize], least: u32, most: u32) -> Option<(u32, Held)> {
        // Without transfer delay U falls with the size, so where that is too much is found by bisection; from there on, size by size:
        // an analysis may charge more for a larger cluster.
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
            if self.exhausted() {
                return None; // Given up: the caller sees it by the work done.
            }
            let costs = self.loads.size_costs(chips);
            let share = self.share(tasks, costs);
            let passes = self.loads.fits(share.total(), tasks.len(), chips, || tasks.to_vec());
            passes.then_some((chips, Held { share, costs }))
        })
    }

    fn joined(&mut self, group: &[usize], chips: u32, held: Held, task: usize) -> Option<Held> {
        self.work += 1;
        let share = held.share.with(self.loads.share(&self.table[task], held.costs));
        let with = || [group, &[task]].concat();
        self.loads.fits(share.total(), group.len() + 1, chips, with).then_some(Held { share, ..held })
    }

    fn exhausted(&self) -> bool {
        self.work > self.limit
    }
}
