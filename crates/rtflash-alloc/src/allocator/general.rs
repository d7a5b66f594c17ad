//! Allocation under a test of any form that knows tasks and a number of chips. Every cluster that
//! is returned has been tested as it is.

use rtflash_analysis::{Analysis, ClusterVerdict, Rational, Test, Work, cluster_verdict};
use rtflash_model::{Allocation, PerId, TaskId, TaskSet};

use super::merging::{self, Stuck};
use super::sizes::{Sizes, Smallest, TaskGroup};
use super::unplaced::unplaced;
use super::{Failure, Limit, Outcome, decreasing_order, unplaceable};

/// Tasks in all clusters tested after which an algorithm gives up: a minute or so.
const MOST_WORK: u64 = 1 << 26;

/// Algorithm 1, or without merging full isolation.
pub(super) fn algorithm_1(set: &TaskSet, analysis: &dyn Analysis, merging: bool, work: &Work) -> Outcome {
    match merging::clusters(Asked::new(set, analysis, work), merging) {
        Ok(clusters) => Allocation::new(set.device().chips(), set.tasks().len(), &clusters)
            .map_or_else(|error| Outcome::CannotTell(Limit::NoDivision(error)), Outcome::Schedulable),
        Err(Stuck::Unplaced { task, clusters }) => unplaceable(set, analysis, &clusters, task, work),
        Err(Stuck::Overloaded { last, position, clusters }) => {
            let (cluster, chips) = (&clusters[position], clusters[position].size());
            let load = cluster_verdict(set, analysis, &cluster.tasks, chips, work).load.to_f64();
            let others = cluster.tasks.iter().copied().filter(|&task| task != last).collect();
            let unplaced = unplaced(set, analysis, last, load, position, chips, others);
            Outcome::NotSchedulable(Failure { unplaced, overloaded: None, by_merge: true })
        }
        Err(Stuck::GivenUp(limit)) => Outcome::CannotTell(limit),
    }
}

pub(super) struct Asked<'a> {
    set: &'a TaskSet,
    analysis: &'a dyn Analysis,
    work: &'a Work,
    /// Tasks in all clusters that it was asked for.
    asked: u64,
}

impl<'a> Asked<'a> {
    pub fn new(set: &'a TaskSet, analysis: &'a dyn Analysis, work: &'a Work) -> Asked<'a> {
        Asked { set, analysis, work, asked: 0 }
    }

    fn ask(&mut self, tasks: &[TaskId], chips: u32) -> ClusterVerdict {
        self.asked += tasks.len().max(1) as u64;
        cluster_verdict(self.set, self.analysis, tasks, chips, self.work)
    }

    fn limit(&self) -> Option<Limit> {
        (self.asked > MOST_WORK).then_some(Limit::TooMuchWork { limit: MOST_WORK })
    }
}

impl merging::MergingTest for Asked<'_> {
    fn set(&self) -> &TaskSet {
        self.set
    }

    fn order(&mut self) -> Vec<TaskId> {
        decreasing_order(self.set, self.analysis, self.work)
    }

    fn passing(&mut self, tasks: &[TaskId], chips: u32) -> Option<Rational> {
        let verdict = self.ask(tasks, chips);
        verdict.passes.then_some(verdict.load)
    }

    fn load(&mut self, tasks: &[TaskId], chips: u32) -> Rational {
        self.ask(tasks, chips).load
    }

    fn count(&mut self, work: u64) {
        self.asked += work;
    }

    fn exhausted(&self) -> Option<Limit> {
        self.limit()
    }
}

impl Sizes for Asked<'_> {
    /// The load, in doubles: all that searches do with it is to look for good places.
    type Held = f64;

    fn load(held: f64) -> f64 {
        held
    }

    fn tasks(&self) -> u32 {
        self.set.tasks().count()
    }

    fn chips(&self) -> u32 {
        self.set.device().chips()
    }

    fn is_monotone(&self) -> bool {
        // A sum of utilizations grows with the tasks, and so does blocking.
        matches!(self.analysis.test(), Test::Utilization(_))
    }

    fn order(&mut self, _: &PerId<TaskId, Smallest<f64>>) -> Vec<TaskId> {
        decreasing_order(self.set, self.analysis, self.work)
    }

    fn smallest_size(&mut self, tasks: &[TaskId], least: u32, most: u32) -> Option<Smallest<f64>> {
        (least..=most).find_map(|chips| {
            if self.limit().is_some() {
                return None; // Given up: the caller sees it by the work done.
            }
            let verdict = self.ask(tasks, chips);
            verdict.passes.then(|| Smallest { size: chips, held: verdict.load.to_f64() })
        })
    }

    fn joined(&mut self, group: &TaskGroup<f64>, task: TaskId) -> Option<f64> {
        let verdict = self.ask(&[group.tasks.as_slice(), &[task]].concat(), group.size);
        verdict.passes.then(|| verdict.load.to_f64())
    }

    fn exhausted(&self) -> Option<Limit> {
        self.limit()
    }
}
