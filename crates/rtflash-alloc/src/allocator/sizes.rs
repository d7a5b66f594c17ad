//! The smallest cluster in which given tasks are schedulable.

use std::cmp::Ordering;

use super::loads::{Load, Loads, Share, SizeCosts, compare_doubles};

/// Finds the smallest size for one group of tasks after another, and counts the work.
pub(super) struct Sizes<'a> {
    pub loads: Loads<'a>,
    pub table: Vec<Load>,
    /// Evaluations of a task's utilization so far.
    pub work: u64,
    limit: u64,
}

impl<'a> Sizes<'a> {
    /// Nothing is found any more after `limit` evaluations of a task's utilization.
    pub fn new(loads: Loads<'a>, limit: u64) -> Sizes<'a> {
        let mut table = Vec::new();
        loads.fill(&mut table);
        Sizes { loads, table, work: 0, limit }
    }

    /// Whether the limit was reached.
    pub fn exhausted(&self) -> bool {
        self.work > self.limit
    }

    /// The smallest size from `least` to `most` at which the tasks are schedulable, and what they take of it; `None` also where the limit
    /// was reached.
    pub fn smallest_size(&mut self, tasks: &[usize], least: u32, most: u32) -> Option<(u32, Share)> {
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
            let share = self.share(tasks, self.loads.size_costs(chips));
            self.loads.fits(share.total(), tasks.len(), chips, || tasks.to_vec()).then_some((chips, share))
        })
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
