//! Best fit, with merging of clusters (Clustering-BFD, Algorithm 1) and without (full isolation).

use std::cmp::Ordering;

use rtflash_analysis::{Analysis, LinearTest, Work};
use rtflash_model::{PerId, TaskId, TaskSet};

use super::clusters::{GrowingClusters, SlotId};
use super::loads::{Load, LoadShare, Loads, TasksOnChips, Total};
use super::merge::{LoadTable, Merger};
use super::ties::TiedTasks;
use super::unplaced::unplaced;
use super::{Allocator, Failure, Outcome, Strategy, Unplaced};

/// Algorithm 1 of the thesis: tasks by non-increasing utilization on one chip, each to the cluster
/// with the highest resulting utilization that it fits in; where it fits in none, the two clusters
/// with the lowest merged utilization become one. Ties go to the lowest position. A merge can
/// overload a cluster, so every cluster is tested again at the end.
///
/// Under a demand test a cluster passes if its tasks hold on its number of chips wherever these
/// are, as a stripe or a superblock. U is then the least long-run load of a processor: Σ C/T with
/// garbage collection at its shortest deadline. A merged cluster has the chips of both; which ones
/// follows when all tasks are placed, superblocks on whole or part channels first. If no
/// clusters are found, pages are taken to wait less, in some steps; certificates, made where the
/// clusters are, decide.
///
/// It finds more of the sets of sequential requests than [`BestFit`](super::BestFit), in twice its
/// time (docs/tests.md).
#[derive(Debug, Clone, Copy, Default)]
pub struct ClusteringBfd;

/// Full isolation of the thesis's text: a cluster for each chip, best fit, no merging.
#[derive(Debug, Clone, Copy, Default)]
pub struct FullIsolation;

impl Allocator for ClusteringBfd {
    fn name(&self) -> &'static str {
        "clustering-bfd"
    }

    fn summary(&self) -> &'static str {
        "best fit, merging clusters where a task fits in none (Algorithm 1 of the thesis)"
    }

    fn divide(&self, set: &TaskSet, analysis: &dyn Analysis, work: &Work) -> Outcome {
        super::allocate(set, analysis, work, Strategy::Merging)
    }
}

impl Allocator for FullIsolation {
    fn name(&self) -> &'static str {
        "full-isolation"
    }

    fn summary(&self) -> &'static str {
        "every chip a cluster of its own, best fit"
    }

    fn divide(&self, set: &TaskSet, analysis: &dyn Analysis, work: &Work) -> Outcome {
        super::allocate(set, analysis, work, Strategy::OneChipEach)
    }
}

pub(super) fn by_utilization(set: &TaskSet, test: &dyn LinearTest, merging: bool) -> Outcome {
    BestFitRun::new(set, test).allocate(merging)
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    /// Its slot, or `None`: the first of the clusters without tasks.
    slot: Option<SlotId>,
    share: LoadShare,
    total: f64,
    count: usize,
}

impl Candidate {
    fn in_doubles(self) -> Total {
        Total { sum: self.total, tasks: self.count }
    }
}

struct BestFitRun<'a> {
    loads: Loads<'a>,
    table: PerId<TaskId, Load>,
    alone: PerId<TaskId, LoadShare>,
    order: Vec<TaskId>,
    clusters: GrowingClusters,
    merger: Merger,
    ties: TiedTasks,
}

#[derive(Clone, Copy)]
struct Field<'a> {
    loads: &'a Loads<'a>,
    table: &'a PerId<TaskId, Load>,
    alone: &'a PerId<TaskId, LoadShare>,
    clusters: &'a GrowingClusters,
}

impl<'a> Field<'a> {
    #[inline]
    fn candidate(self, task: TaskId, slot: SlotId) -> Candidate {
        let cluster = &self.clusters.slots[slot];
        let share =
            if cluster.size == 1 { self.alone[task] } else { self.loads.share(&self.table[task], cluster.costs) };
        Candidate {
            slot: Some(slot),
            share,
            total: cluster.share.with(share).total(),
            count: cluster.count as usize + 1,
        }
    }

    #[inline]
    fn free_candidate(self, task: TaskId) -> Candidate {
        let size = self.clusters.free_size;
        let share =
            if size == 1 { self.alone[task] } else { self.loads.share(&self.table[task], self.loads.size_costs(size)) };
        Candidate { slot: None, share, total: share.total(), count: 1 }
    }

    fn candidates(self, task: TaskId) -> impl Iterator<Item = Candidate> + use<'a> {
        let free = (self.clusters.free_clusters() > 0).then(|| self.free_candidate(task));
        self.clusters.live.iter().map(move |&slot| self.candidate(task, slot)).chain(free)
    }

    fn size(self, candidate: Candidate) -> u32 {
        candidate.slot.map_or(self.clusters.free_size, |slot| self.clusters.slots[slot].size)
    }

    fn tasks(self, candidate: Candidate, task: TaskId) -> Vec<TaskId> {
        let mut tasks = candidate.slot.map_or_else(Vec::new, |slot| self.clusters.list_of(slot));
        tasks.push(task);
        tasks
    }

    #[inline]
    fn fits(self, task: TaskId, candidate: Candidate) -> bool {
        self.loads.fits(candidate.total, candidate.count, self.size(candidate), || self.tasks(candidate, task))
    }

    #[inline]
    fn compare(self, ties: &mut TiedTasks, task: TaskId, left: Candidate, right: Candidate) -> Ordering {
        left.in_doubles().compare(right.in_doubles()).unwrap_or_else(|| {
            let alike = left.slot.zip(right.slot).is_some_and(|(a, b)| ties.alike(self.loads.set, self.clusters, a, b));
            if alike {
                return Ordering::Equal;
            }
            let cluster = |of| TasksOnChips { tasks: self.tasks(of, task), chips: self.size(of) };
            self.loads.compare_exactly(&cluster(left), &cluster(right))
        })
    }
}

impl<'a> BestFitRun<'a> {
    fn new(set: &'a TaskSet, test: &'a dyn LinearTest) -> BestFitRun<'a> {
        let loads = Loads::new(set, test);
        let table = loads.table();
        let alone = loads.shares_of_one_chip(&table);
        let order = loads.decreasing_order(&alone);
        let clusters = GrowingClusters::new(set.device().chips(), set.tasks().count());
        let (merger, ties) = (Merger::default(), TiedTasks::default());
        BestFitRun { loads, table, alone, order, clusters, merger, ties }
    }

    fn allocate(mut self, merging: bool) -> Outcome {
        for turn in 0..self.order.len() {
            let task = self.order[turn];
            let candidate = self.best_fit(task).or_else(|| if merging { self.merge_until_it_fits(task) } else { None });
            match candidate {
                Some(candidate) => self.place(task, candidate),
                None => {
                    return Outcome::NotSchedulable(Failure {
                        unplaced: self.nearest(task),
                        overloaded: None,
                        by_merge: false,
                    });
                }
            }
        }
        if let Some(unplaced) = self.overloaded() {
            return Outcome::NotSchedulable(Failure { unplaced, overloaded: None, by_merge: true });
        }
        match self.clusters.finish(self.loads.set) {
            Some(allocation) => Outcome::Schedulable(allocation),
            // Not reached: clusters are numbered as an allocation wants them.
            None => Outcome::CannotTell(super::Limit::TooMuchWork { limit: 0 }),
        }
    }

    fn field(&mut self) -> (Field<'_>, &mut TiedTasks) {
        let BestFitRun { loads, table, alone, clusters, ties, .. } = self;
        (Field { loads, table, alone, clusters }, ties)
    }

    /// The feasible cluster with the highest U, ties by position (lines 7 and 17).
    fn best_fit(&mut self, task: TaskId) -> Option<Candidate> {
        let (field, ties) = self.field();
        let mut best: Option<Candidate> = None;
        for candidate in field.candidates(task) {
            let better = |champion| field.compare(ties, task, candidate, champion) == Ordering::Greater;
            if field.fits(task, candidate) && best.is_none_or(better) {
                best = Some(candidate);
            }
        }
        best
    }

    /// Lines 8 to 15. Only the merged one needs a look: the others have not changed.
    fn merge_until_it_fits(&mut self, task: TaskId) -> Option<Candidate> {
        loop {
            let clusters = &mut self.clusters;
            if clusters.len() == 1 {
                return None;
            }
            let candidate = if clusters.free_clusters() >= 2 {
                clusters.free_size += 1;
                self.field().0.free_candidate(task)
            } else {
                if clusters.free_clusters() == 1 {
                    clusters.open(self.loads.size_costs(clusters.free_size));
                }
                let BestFitRun { loads, clusters, merger, ties, table, .. } = self;
                let slot = merger.merge_lowest(clusters, ties, &LoadTable { loads, table });
                self.field().0.candidate(task, slot)
            };
            if self.field().0.fits(task, candidate) {
                return Some(candidate);
            }
        }
    }

    fn place(&mut self, task: TaskId, candidate: Candidate) {
        let BestFitRun { loads, clusters, merger, ties, .. } = self;
        let slot = match candidate.slot {
            Some(slot) => slot,
            None => {
                let costs = loads.size_costs(clusters.free_size);
                clusters.open(costs)
            }
        };
        clusters.place(task, candidate.share, slot);
        ties.touch(slot);
        merger.touch(clusters, slot);
    }

    /// The cluster that a task that fits nowhere comes nearest to: the lowest U, ties by position.
    fn nearest(&mut self, task: TaskId) -> Unplaced {
        let (field, ties) = self.field();
        let mut best: Option<(usize, Candidate)> = None;
        for (position, candidate) in field.candidates(task).enumerate() {
            if best.is_none_or(|(_, champion)| field.compare(ties, task, candidate, champion) == Ordering::Less) {
                best = Some((position, candidate));
            }
        }
        let (position, candidate) = best.unwrap_or((0, field.free_candidate(task)));
        let others = candidate.slot.map_or_else(Vec::new, |slot| field.clusters.list_of(slot));
        let size = field.size(candidate);
        self.unplaced(task, candidate.total, position, size, others)
    }

    /// The first that fails after all (decision 5 on Algorithm 1), and the task that joined last.
    fn overloaded(&self) -> Option<Unplaced> {
        let clusters = &self.clusters;
        let fails = |&slot: &SlotId| {
            let cluster = &clusters.slots[slot];
            !self.loads.fits(cluster.share.total(), cluster.count as usize, cluster.size, || clusters.list_of(slot))
        };
        let position = clusters.live.iter().position(fails)?;
        let slot = clusters.live[position];
        let mut tasks = clusters.list_of(slot);
        let turn = |task: TaskId| self.order.iter().position(|&placed| placed == task);
        let last = tasks.iter().copied().max_by_key(|&task| turn(task))?;
        tasks.retain(|&task| task != last);
        let cluster = &clusters.slots[slot];
        Some(self.unplaced(last, cluster.share.total(), position, cluster.size, tasks))
    }

    fn unplaced(&self, task: TaskId, total: f64, cluster: usize, chips: u32, others: Vec<TaskId>) -> Unplaced {
        unplaced(self.loads.set, self.loads.test, task, total, cluster, chips, others)
    }
}
