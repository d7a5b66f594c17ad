//! Algorithm 1 and full isolation as they are printed, in exact numbers, for a test of any form.

use std::collections::HashMap;

use rtflash_analysis::Rational;
use rtflash_model::{ChipId, Cluster, TaskId, TaskSet};

use super::Limit;

/// Without them 100 tasks on 24 chips take twice the time under `sound`.
const REMEMBERED: usize = 1 << 16;

/// Nothing is supposed of the test, not that more tasks take more nor that more chips give more.
pub(super) trait MergingTest {
    fn set(&self) -> &TaskSet;

    fn order(&mut self) -> Vec<TaskId>;

    /// The load of these tasks, at least one, in a cluster of `chips` chips, if they pass.
    fn passing(&mut self, tasks: &[TaskId], chips: u32) -> Option<Rational>;

    fn load(&mut self, tasks: &[TaskId], chips: u32) -> Rational;

    fn count(&mut self, work: u64);

    /// `_placed` tasks have a cluster now: none where Algorithm 1 begins.
    fn notify(&self, _placed: usize) {}

    fn exhausted(&self) -> Option<Limit>;
}

pub(super) enum Stuck {
    /// This task fits in none of the clusters.
    Unplaced { task: TaskId, clusters: Vec<Cluster> },
    /// A merge, made for another task, left the cluster so. `last` joined it last.
    Overloaded { last: TaskId, position: usize, clusters: Vec<Cluster> },
    /// A limit was reached.
    GivenUp(Limit),
}

/// Without merging those of full isolation. Each has passed, tasks or not.
pub(super) fn clusters(test: impl MergingTest, merging: bool) -> Result<Vec<Cluster>, Stuck> {
    let run = MergingRun { test, known: HashMap::new(), clusters: Vec::new(), free_first: 0, free_size: 1 };
    run.allocate(merging)
}

/// Clusters without tasks merge first, as U = 0 is the least: they are the chips from some point
/// up, the first perhaps grown, and the test is not asked for them.
struct MergingRun<C> {
    test: C,
    /// The loads of merged clusters: their tasks and chips.
    known: HashMap<(Vec<TaskId>, u32), Rational>,
    /// The clusters that had a task or were opened for a merge, by position.
    clusters: Vec<Cluster>,
    free_first: u32,
    free_size: u32,
}

impl<C: MergingTest> MergingRun<C> {
    fn allocate(mut self, merging: bool) -> Result<Vec<Cluster>, Stuck> {
        let order = self.test.order();
        self.test.notify(0);
        for (&task, placed) in order.iter().zip(1..) {
            let position = match self.best_fit(task) {
                None if merging => self.merge_until_it_fits(task),
                found => found,
            };
            if let Some(limit) = self.test.exhausted() {
                return Err(Stuck::GivenUp(limit));
            }
            let Some(position) = position else {
                if self.free_clusters() > 0 {
                    self.open();
                }
                return Err(Stuck::Unplaced { task, clusters: self.clusters });
            };
            if position == self.clusters.len() {
                self.open();
            }
            self.clusters[position].tasks.push(task);
            self.test.notify(placed);
        }
        if let Some(position) = self.overloaded() {
            let joined = &self.clusters[position].tasks;
            let last = order.iter().copied().rfind(|task| joined.contains(task));
            let last = last.expect("a cluster that fails has tasks, and each has its turn");
            return Err(Stuck::Overloaded { last, position, clusters: self.clusters });
        }
        while self.free_clusters() > 0 {
            self.open();
        }
        Ok(self.clusters)
    }

    fn free_clusters(&self) -> u32 {
        let chips = self.test.set().device().chips() - self.free_first;
        if chips == 0 { 0 } else { chips - self.free_size + 1 }
    }

    fn open(&mut self) {
        let next = self.free_first + self.free_size;
        self.clusters.push(Cluster { chips: (self.free_first..next).map(ChipId).collect(), tasks: Vec::new() });
        (self.free_first, self.free_size) = (next, 1);
    }

    /// The load of a cluster, by position, with a task more, if it passes.
    fn with(&mut self, position: usize, task: TaskId) -> Option<Rational> {
        let (tasks, chips) = match self.clusters.get(position) {
            Some(cluster) => ([cluster.tasks.as_slice(), &[task]].concat(), cluster.size()),
            None => (vec![task], self.free_size),
        };
        self.test.passing(&tasks, chips)
    }

    /// The highest load with the task, ties by position (lines 7, 17); one without tasks is last.
    fn best_fit(&mut self, task: TaskId) -> Option<usize> {
        let count = self.clusters.len() + usize::from(self.free_clusters() > 0);
        let mut best: Option<(usize, Rational)> = None;
        for position in 0..count {
            let Some(load) = self.with(position, task) else { continue };
            if best.as_ref().is_none_or(|(_, most)| load > *most) {
                best = Some((position, load));
            }
        }
        best.map(|(position, _)| position)
    }

    /// Lines 8 to 15; the others have not changed.
    fn merge_until_it_fits(&mut self, task: TaskId) -> Option<usize> {
        while self.test.exhausted().is_none() {
            let merged = match self.free_clusters() {
                0 if self.clusters.len() == 1 => return None,
                0 => self.merge_lowest(),
                1 if self.clusters.is_empty() => return None,
                1 => {
                    self.open();
                    self.merge_lowest()
                }
                _ => {
                    self.free_size += 1;
                    self.clusters.len()
                }
            };
            if self.with(merged, task).is_some() {
                return Some(merged);
            }
        }
        None
    }

    /// Ties by the smallest pair of positions. There are at least two clusters.
    fn merge_lowest(&mut self) -> usize {
        let mut best: Option<(usize, usize, Rational)> = None;
        for lower in 0..self.clusters.len() {
            for upper in lower + 1..self.clusters.len() {
                let load = self.merged(lower, upper);
                if best.as_ref().is_none_or(|(_, _, least)| load < *least) {
                    best = Some((lower, upper, load));
                }
            }
        }
        let (lower, upper) = best.map_or((0, 1), |(lower, upper, _)| (lower, upper));
        let away = self.clusters.remove(upper);
        let kept = &mut self.clusters[lower];
        kept.chips.extend(away.chips);
        kept.tasks.extend(away.tasks);
        lower
    }

    fn merged(&mut self, lower: usize, upper: usize) -> Rational {
        let (a, b) = (&self.clusters[lower], &self.clusters[upper]);
        let mut tasks = [a.tasks.as_slice(), &b.tasks].concat();
        tasks.sort_unstable();
        // Finding what is known is work, too.
        self.test.count(1);
        let cluster = (tasks, a.size() + b.size());
        if let Some(known) = self.known.get(&cluster) {
            return known.clone();
        }
        let load = self.test.load(&cluster.0, cluster.1);
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.known.insert(cluster, load.clone());
        load
    }

    fn overloaded(&mut self) -> Option<usize> {
        let (test, clusters) = (&mut self.test, &self.clusters);
        let fails =
            |cluster: &Cluster| !cluster.tasks.is_empty() && test.passing(&cluster.tasks, cluster.size()).is_none();
        clusters.iter().position(fails)
    }
}
