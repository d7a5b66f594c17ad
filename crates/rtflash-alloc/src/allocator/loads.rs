//! A task set in doubles, and the exact arithmetic behind it.
//!
//! Every term is a sum of products of non-negative numbers, so a double is within a known relative
//! distance of the exact value. If that distance could change an answer, the answer is computed
//! again, exactly.

use std::cmp::Ordering;

use rtflash_analysis::{LinearTest, Rational, linear_task_terms, linear_terms};
use rtflash_model::{Cluster, PerId, Request, Task, TaskId, TaskSet};

use super::Unplaced;
use super::space::first_too_many;
use super::unplaced::unplaced;

/// One task in doubles. Times are in nanoseconds, rates per nanosecond.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    /// C^r/T^r + C^w/T^w: the share that no cluster size changes.
    pub fixed: f64,
    /// Pages per nanosecond: the share that each nanosecond of D(s) adds.
    page_rate: f64,
    /// 1 / min(T^r, T^w).
    request_rate: f64,
    /// 1 / T^w, or zero without a write.
    write_rate: f64,
    /// w, or one without a write.
    write_pages: u64,
}

/// The costs that depend on the cluster size alone.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SizeCosts {
    /// D(s) in nanoseconds.
    pub delay: f64,
    /// α·s.
    pub reclaimed: u64,
}

/// A sum of utilizations and the blocking that goes with it: U(φ) = `tasks` + `blocking`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LoadShare {
    pub tasks: f64,
    /// t_e / min(T).
    pub blocking: f64,
}

impl LoadShare {
    pub fn total(self) -> f64 {
        self.tasks + self.blocking
    }

    /// t_e / min(T) of both is the greater of the two: min(T) is the smaller.
    pub fn with(self, other: LoadShare) -> LoadShare {
        let blocking = if self.blocking < other.blocking { other.blocking } else { self.blocking };
        LoadShare { tasks: self.tasks + other.tasks, blocking }
    }
}

/// Each term goes through fewer than 12 roundings of 2⁻⁵³ relative, and the sum through one more
/// for each task; this is more than twice that.
fn margin(total: f64, tasks: usize) -> f64 {
    let roundings = (tasks + 16) as f64;
    total * roundings * f64::EPSILON
}

/// A utilization in doubles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Total {
    pub sum: f64,
    pub tasks: usize,
}

impl Total {
    pub const ONE: Total = Total { sum: 1.0, tasks: 0 };

    pub fn compare(self, other: Total) -> Option<Ordering> {
        let slack = margin(self.sum, self.tasks) + margin(other.sum, other.tasks);
        if self.sum + slack < other.sum {
            Some(Ordering::Less)
        } else if other.sum + slack < self.sum {
            Some(Ordering::Greater)
        } else {
            None
        }
    }
}

pub(super) struct TasksOnChips {
    pub tasks: Vec<TaskId>,
    pub chips: u32,
}

pub(super) struct Loads<'a> {
    pub set: &'a TaskSet,
    pub test: &'a dyn LinearTest,
    erase: f64,
    gc_pass: f64,
    reclaimed_per_chip: u64,
}

impl<'a> Loads<'a> {
    pub fn new(set: &'a TaskSet, test: &'a dyn LinearTest) -> Loads<'a> {
        let device = set.device();
        Loads {
            set,
            test,
            erase: device.block_erase().as_ns() as f64,
            gc_pass: device.gc_pass().as_ns() as f64,
            reclaimed_per_chip: device.reclaimed_per_chip().into(),
        }
    }

    pub fn table(&self) -> PerId<TaskId, Load> {
        let costs = self.test.page_costs(self.set.device());
        let (read_cost, write_cost) = (costs.read.as_ns() as f64, costs.write.as_ns() as f64);
        let stream = |request: Option<Request>| {
            request.map_or((0.0, 0.0), |request| (request.pages() as f64, 1.0 / request.period().as_ns() as f64))
        };
        let load = |task: &Task| {
            let (read_pages, read_rate) = stream(task.read);
            let (write_pages, write_rate) = stream(task.write);
            let (read_pages_rate, write_pages_rate) = (read_pages * read_rate, write_pages * write_rate);
            Load {
                fixed: read_pages_rate * read_cost + write_pages_rate * write_cost,
                page_rate: read_pages_rate + write_pages_rate,
                request_rate: if read_rate < write_rate { write_rate } else { read_rate },
                write_rate,
                write_pages: task.write.map_or(1, |write| write.pages()),
            }
        };
        self.set.tasks().iter().map(load).collect()
    }

    pub fn size_costs(&self, chips: u32) -> SizeCosts {
        SizeCosts {
            delay: self.test.transfer_delay(self.set.device(), chips).as_ns() as f64,
            reclaimed: self.reclaimed_per_chip * u64::from(chips),
        }
    }

    /// U_i(s), Eq. (IV.7), and t_e over the task's shortest period, in doubles.
    #[inline]
    pub fn share(&self, load: &Load, size: SizeCosts) -> LoadShare {
        // 1 / T^g(s), Eq. (IV.4), from T^w: times ⌈w/(αs)⌉ or over ⌊αs/w⌋.
        let gc_rate = if load.write_pages > size.reclaimed {
            load.write_rate * load.write_pages.div_ceil(size.reclaimed) as f64
        } else {
            load.write_rate / (size.reclaimed / load.write_pages) as f64
        };
        let rate = if gc_rate < load.request_rate { load.request_rate } else { gc_rate };
        LoadShare {
            tasks: load.fixed + load.page_rate * size.delay + self.gc_pass * gc_rate,
            blocking: self.erase * rate,
        }
    }

    /// Whether U(φ) ≤ 1, given its double and, for the case that this does not tell, its tasks.
    #[inline]
    pub fn fits(&self, total: f64, count: usize, chips: u32, tasks: impl FnOnce() -> Vec<TaskId>) -> bool {
        match (Total { sum: total, tasks: count }).compare(Total::ONE) {
            Some(order) => order == Ordering::Less,
            None => self.exact(&tasks(), chips).cmp_one() != Ordering::Greater,
        }
    }

    /// U(φ), Eq. (IV.9), exactly.
    pub fn exact(&self, tasks: &[TaskId], chips: u32) -> Rational {
        Rational::sum(&linear_terms(self.set, self.test, tasks, chips))
    }

    /// U_i(s), Eq. (IV.7), exactly: blocking apart.
    pub fn exact_task(&self, task: TaskId, chips: u32) -> Rational {
        Rational::sum(&linear_task_terms(self.set, self.test, task, chips))
    }

    #[cold]
    pub fn compare_exactly(&self, left: &TasksOnChips, right: &TasksOnChips) -> Ordering {
        let exact = |of: &TasksOnChips| self.exact(&of.tasks, of.chips);
        exact(left).cmp(&exact(right))
    }

    /// Line 5: by non-increasing U_i(1), ties by position. `shares` are those of size 1.
    pub fn decreasing_order(&self, shares: &PerId<TaskId, LoadShare>) -> Vec<TaskId> {
        let mut order: Vec<TaskId> = shares.ids().collect();
        let alike = |a: TaskId, b: TaskId| {
            let (a, b) = (&self.set.tasks()[a], &self.set.tasks()[b]);
            (a.read, a.write) == (b.read, b.write)
        };
        order.sort_by(|&a, &b| {
            let total = |task: TaskId| Total { sum: shares[task].tasks, tasks: 1 };
            let by_utilization = total(b).compare(total(a)).unwrap_or_else(|| {
                if alike(a, b) { Ordering::Equal } else { self.exact_task(b, 1).cmp(&self.exact_task(a, 1)) }
            });
            by_utilization.then(a.cmp(&b))
        });
        order
    }

    pub fn shares_of_one_chip(&self, table: &PerId<TaskId, Load>) -> PerId<TaskId, LoadShare> {
        let one_chip = self.size_costs(1);
        table.iter().map(|load| self.share(load, one_chip)).collect()
    }
}

/// The first cluster above one, and the first task in Algorithm 1's order that takes it there.
pub(super) fn overloaded(set: &TaskSet, test: &dyn LinearTest, clusters: &[Cluster]) -> Option<Unplaced> {
    let loads = Loads::new(set, test);
    let table = loads.table();
    let share = |tasks: &[TaskId], chips: u32| {
        let costs = loads.size_costs(chips);
        tasks.iter().fold(LoadShare::default(), |sum, &task| sum.with(loads.share(&table[task], costs)))
    };
    let passes =
        |tasks: &[TaskId], chips: u32| loads.fits(share(tasks, chips).total(), tasks.len(), chips, || tasks.to_vec());
    let position = clusters.iter().position(|cluster| !passes(&cluster.tasks, cluster.size()))?;
    let (cluster, chips) = (&clusters[position], clusters[position].size());
    let order = loads.decreasing_order(&loads.shares_of_one_chip(&table));
    let mut own = cluster.tasks.clone();
    own.sort_unstable();
    let members: Vec<TaskId> = order.into_iter().filter(|task| own.binary_search(task).is_ok()).collect();
    // More tasks never take less.
    let task = first_too_many(&members, |tasks| passes(tasks, chips))?;
    let others = cluster.tasks.iter().copied().filter(|&other| other != task).collect();
    Some(unplaced(set, test, task, share(&cluster.tasks, chips).total(), position, chips, others))
}
