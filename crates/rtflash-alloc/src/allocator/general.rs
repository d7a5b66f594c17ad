//! Allocation under a test of any form: the algorithms as they are printed, in exact numbers. Nothing is supposed of the test, neither that more tasks take
//! more nor that more chips give more; and every cluster that is returned has been tested as it is.

use std::collections::HashMap;

use rtflash_model::{Allocation, Cluster, TaskSet};

use super::best_fit::unplaced;
use super::sizes::Sizes;
use super::{Failure, Limit, Outcome, Strategy, Unplaced, decreasing_order, exact, fixed, search, tested};
use crate::analysis::{Analysis, ClusterVerdict, Test, cluster_verdict};

/// Tasks in all clusters that a test is asked for, after which an algorithm gives up: a minute or so.
const MOST_WORK: u64 = 1 << 26;

/// Verdicts on merged clusters that are remembered.
const REMEMBERED: usize = 1 << 16;

/// Divides the chips among the tasks.
pub(super) fn allocate(set: &TaskSet, analysis: &dyn Analysis, strategy: Strategy) -> Outcome {
    let chips = set.device().chips();
    match strategy {
        Strategy::Global => whole(set, analysis, fixed::one_cluster(set)),
        Strategy::EqualSplit => whole(set, analysis, fixed::equal_clusters(set)),
        Strategy::OneChipEach => Run::new(set, analysis).allocate(false),
        Strategy::BestFit => Run::new(set, analysis).allocate(true),
        Strategy::Search => {
            let first = Run::new(set, analysis).allocate(true);
            if matches!(first, Outcome::Schedulable(_)) {
                return first;
            }
            let found = search::search(Asked::new(set, analysis), chips);
            let sound = found.filter(|allocation| {
                let clusters = allocation.clusters();
                clusters.iter().all(|cluster| cluster_verdict(set, analysis, &cluster.tasks, cluster.size()).passes)
            });
            sound.map_or(first, Outcome::Schedulable)
        }
        Strategy::Exact => exact::search(set, Asked::new(set, analysis), MOST_WORK)
            .unwrap_or_else(|| Run::new(set, analysis).allocate(true)),
    }
}

/// A division that does not depend on the test.
fn whole(set: &TaskSet, analysis: &dyn Analysis, allocation: Option<Allocation>) -> Outcome {
    tested(set, analysis, &allocation.map_or_else(Vec::new, |allocation| allocation.clusters()))
}

/// A test that is asked for one group of tasks after another.
struct Asked<'a> {
    set: &'a TaskSet,
    analysis: &'a dyn Analysis,
    /// Tasks in all clusters that it was asked for.
    work: u64,
}

impl<'a> Asked<'a> {
    fn new(set: &'a TaskSet, analysis: &'a dyn Analysis) -> Asked<'a> {
        Asked { set, analysis, work: 0 }
    }

    fn verdict(&mut self, tasks: &[usize], chips: u32) -> ClusterVerdict {
        self.work += tasks.len().max(1) as u64;
        cluster_verdict(self.set, self.analysis, tasks, chips)
    }
}

impl Sizes for Asked<'_> {
    /// The load, in doubles: all that searches do with it is to look for good places.
    type Held = f64;

    fn load(held: f64) -> f64 {
        held
    }

    fn is_monotone(&self) -> bool {
        // A sum of utilizations grows with the tasks, and so does blocking.
        matches!(self.analysis.test(), Test::Utilization(_))
    }

    fn order(&mut self) -> Vec<usize> {
        decreasing_order(self.set, self.analysis)
    }

    fn alone(&mut self, chips: u32) -> Option<Vec<(u32, f64)>> {
        (0..self.set.tasks().len()).map(|task| self.smallest_size(&[task], 1, chips)).collect()
    }

    fn smallest_size(&mut self, tasks: &[usize], least: u32, most: u32) -> Option<(u32, f64)> {
        (least..=most).find_map(|chips| {
            if self.exhausted() {
                return None; // Given up: the caller sees it by the work done.
            }
            let verdict = self.verdict(tasks, chips);
            verdict.passes.then(|| (chips, verdict.load.to_f64()))
        })
    }

    fn joined(&mut self, group: &[usize], chips: u32, _: f64, task: usize) -> Option<f64> {
        let verdict = self.verdict(&[group, &[task]].concat(), chips);
        verdict.passes.then(|| verdict.load.to_f64())
    }

    fn exhausted(&self) -> bool {
        self.work > MOST_WORK
    }
}

/// Algorithm 1 and full isolation. Clusters without tasks merge before any other, as U = 0 is the least there is: so they are the chips from some point
/// up, the first of them perhaps grown, and the test is not asked for them.
struct Run<'a> {
    asked: Asked<'a>,
    /// What was said of merged clusters: their tasks and chips.
    known: HashMap<(Vec<usize>, u32), ClusterVerdict>,
    /// The clusters that had a task or were opened for a merge, by position.
    clusters: Vec<Cluster>,
    /// The lowest chip that none of them has.
    free_first: u32,
    /// Chips of the first cluster without tasks.
    free_size: u32,
}

/// A cluster that a task might go to: its position, and what is said of it with the task.
type Candidate = (usize, ClusterVerdict);

impl<'a> Run<'a> {
    fn new(set: &'a TaskSet, analysis: &'a dyn Analysis) -> Run<'a> {
        Run {
            asked: Asked::new(set, analysis),
            known: HashMap::new(),
            clusters: Vec::new(),
            free_first: 0,
            free_size: 1,
        }
    }

    fn allocate(mut self, merging: bool) -> Outcome {
        let order = decreasing_order(self.asked.set, self.asked.analysis);
        for &task in &order {
            let position = match self.best_fit(task) {
                None if merging => self.merge_until_it_fits(task),
                found => found,
            };
            if self.asked.exhausted() {
                return Outcome::CannotTell(Limit::TooMuchWork { limit: MOST_WORK });
            }
            let Some(position) = position else {
                let unplaced = self.nearest(task);
                return Outcome::NotSchedulable(Failure { unplaced, overloaded: None, by_merge: false });
            };
            if position == self.clusters.len() {
                self.open();
            }
            self.clusters[position].tasks.push(task);
        }
        if let Some(unplaced) = self.overloaded(&order) {
            return Outcome::NotSchedulable(Failure { unplaced, overloaded: None, by_merge: true });
        }
        while self.free_clusters() > 0 {
            self.open();
        }
        let set = self.asked.set;
        Allocation::new(set.device().chips(), set.tasks().len(), &self.clusters)
            .map_or_else(|error| Outcome::CannotTell(Limit::NoDivision(error)), Outcome::Schedulable)
    }

    /// How many clusters have no task and are not in the list.
    fn free_clusters(&self) -> u32 {
        let chips = self.asked.set.device().chips() - self.free_first;
        if chips == 0 { 0 } else { chips - self.free_size + 1 }
    }

    /// Puts the first cluster without tasks into the list.
    fn open(&mut self) {
        let next = self.free_first + self.free_size;
        self.clusters.push(Cluster { chips: (self.free_first..next).collect(), tasks: Vec::new() });
        (self.free_first, self.free_size) = (next, 1);
    }

    /// What is said of a cluster, by position, with a task more.
    fn with(&mut self, position: usize, task: usize) -> ClusterVerdict {
        let (tasks, chips) = match self.clusters.get(position) {
            Some(cluster) => ([cluster.tasks.as_slice(), &[task]].concat(), cluster.size()),
            None => (vec![task], self.free_size),
        };
        self.asked.verdict(&tasks, chips)
    }

    /// The clusters that a task might go to, the first of those without tasks last.
    fn candidates(&mut self, task: usize) -> Vec<Candidate> {
        let count = self.clusters.len() + usize::from(self.free_clusters() > 0);
        (0..count).map(|position| (position, self.with(position, task))).collect()
    }

    /// The cluster with the highest load among those that pass with the task, ties by position (lines 7 and 17).
    fn best_fit(&mut self, task: usize) -> Option<usize> {
        let passing = self.candidates(task).into_iter().filter(|(_, verdict)| verdict.passes);
        // Of equal ones, `max_by` has the last.
        passing.rev().max_by(|(_, a), (_, b)| a.load.cmp(&b.load)).map(|(position, _)| position)
    }

    /// Merges clusters until the task fits in the merged one (lines 8 to 15): the others have not changed.
    fn merge_until_it_fits(&mut self, task: usize) -> Option<usize> {
        while !self.asked.exhausted() {
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
            if self.with(merged, task).passes {
                return Some(merged);
            }
        }
        None
    }

    /// Merges the pair with the lowest load, ties by the lexicographically smallest pair of positions. There are at least two clusters in the list.
    fn merge_lowest(&mut self) -> usize {
        let mut best: Option<(usize, usize, ClusterVerdict)> = None;
        for lower in 0..self.clusters.len() {
            for upper in lower + 1..self.clusters.len() {
                let merged = self.merged(lower, upper);
                if best.as_ref().is_none_or(|(_, _, least)| merged.load < least.load) {
                    best = Some((lower, upper, merged));
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

    /// What is said of two clusters merged. Most pairs are looked at again and again.
    fn merged(&mut self, lower: usize, upper: usize) -> ClusterVerdict {
        let (a, b) = (&self.clusters[lower], &self.clusters[upper]);
        let mut tasks = [a.tasks.as_slice(), &b.tasks].concat();
        tasks.sort_unstable();
        // A look at what is known is work, too.
        self.asked.work += 1;
        let cluster = (tasks, a.size() + b.size());
        if let Some(known) = self.known.get(&cluster) {
            return known.clone();
        }
        let verdict = self.asked.verdict(&cluster.0, cluster.1);
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.known.insert(cluster, verdict.clone());
        verdict
    }

    /// Where a task that fits nowhere would come nearest: the lowest load, ties by position.
    fn nearest(&mut self, task: usize) -> Unplaced {
        let nearest = self.candidates(task).into_iter().min_by(|(_, a), (_, b)| a.load.cmp(&b.load));
        let (position, verdict) = nearest.unwrap_or_else(|| (0, self.with(0, task)));
        let (chips, others) = match self.clusters.get(position) {
            Some(cluster) => (cluster.size(), cluster.tasks.clone()),
            None => (self.free_size, Vec::new()),
        };
        unplaced((self.asked.set, self.asked.analysis), task, verdict.load.to_f64(), position, chips, others)
    }

    /// The first cluster that fails the test as it is in the end, with the task that joined it last.
    fn overloaded(&mut self, order: &[usize]) -> Option<Unplaced> {
        for position in 0..self.clusters.len() {
            let cluster = self.clusters[position].clone();
            let verdict = self.asked.verdict(&cluster.tasks, cluster.size());
            if !verdict.passes {
                let last = order.iter().copied().rfind(|task| cluster.tasks.contains(task))?;
                let others = cluster.tasks.iter().copied().filter(|&task| task != last).collect();
                let of = (self.asked.set, self.asked.analysis);
                return Some(unplaced(of, last, verdict.load.to_f64(), position, cluster.size(), others));
            }
        }
        None
    }
}
