//! Trials of a search over allocations of one set: each question about a cluster in its place is
//! answered once.
//!
//! What a cluster comes to depends on its tasks, its size and its placement, on the chips that
//! share its channels, and on what is known of them. Searches put the same clusters next to the
//! same neighbours over and over.

use rtflash_model::{Placement, TaskId, TaskSet};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

use super::{ChannelContention, Neighbourhood};
use crate::certificate::choice::Choice;
use crate::gc::ChosenGc;
use crate::organisation::shared_bus::SharedBus;

/// Garbage collection as far as it is known; `None` inside where nothing is written.
type KnownGc = Option<Option<ChosenGc>>;

/// Answers that trials of one set, by what one analysis grants, have had.
#[derive(Debug, Default)]
pub struct TrialAnswers(RefCell<Answers>);

/// A trial of some clusters, and what trials before it have found.
#[derive(Debug, Clone)]
pub(crate) struct KnownTrial<'a> {
    answers: &'a TrialAnswers,
    /// The number of each cluster.
    clusters: Vec<u32>,
}

/// The number of each cluster of one size and placement.
type ClustersByTasks = FxHashMap<Vec<TaskId>, u32>;

#[derive(Debug, Default)]
struct Answers {
    /// A number for each cluster wherever it is.
    clusters: FxHashMap<(Placement, u32), ClustersByTasks>,
    /// Whether their data fit, by their numbers.
    fits: Vec<bool>,
    /// A number for each garbage collection.
    gcs: FxHashMap<KnownGc, u32>,
    worst: FxHashMap<(u32, SharedBus), (KnownGc, bool)>,
    holds: FxHashMap<Vec<u32>, bool>,
    choices: FxHashMap<Vec<u32>, Option<Choice>>,
}

/// A position that stands for no garbage collection in particular.
const ANY_GC: u32 = u32::MAX;

impl TrialAnswers {
    /// The number of a cluster of these tasks, wherever it is.
    fn number(&self, set: &TaskSet, tasks: &[TaskId], size: u32, placement: Placement) -> u32 {
        let Answers { clusters, fits, .. } = &mut *self.0.borrow_mut();
        let numbers = clusters.entry((placement, size)).or_default();
        if let Some(&number) = numbers.get(tasks) {
            return number;
        }
        let number = u32::try_from(fits.len()).expect("fewer than fit into memory");
        fits.push(set.space(tasks, size, Some(placement)).fits());
        numbers.insert(tasks.to_vec(), number);
        number
    }

    fn fits(&self, number: u32) -> bool {
        self.0.borrow().fits[number as usize]
    }
}

impl<'a> ChannelContention<'a> {
    /// An answer that was remembered, else the one that is `found`.
    fn remembered<K: std::hash::Hash + Eq, V: Clone>(
        &self,
        key: impl FnOnce(&mut Answers) -> K,
        of: impl Fn(&mut Answers) -> &mut FxHashMap<K, V>,
        found: impl FnOnce() -> V,
    ) -> V {
        let Some(KnownTrial { answers: TrialAnswers(answers), .. }) = &self.trials else { return found() };
        let key = key(&mut answers.borrow_mut());
        if let Some(answer) = of(&mut answers.borrow_mut()).get(&key) {
            return answer.clone();
        }
        let answer = found();
        of(&mut answers.borrow_mut()).insert(key, answer.clone());
        answer
    }

    /// For trials of a search, which have servers nowhere.
    #[must_use]
    pub(crate) fn for_trials(self, answers: &'a TrialAnswers) -> ChannelContention<'a> {
        let number = |position: usize| {
            let cluster = &self.clusters[position];
            answers.number(self.set, &cluster.tasks, cluster.size(), self.placements[position])
        };
        let clusters = (0..self.clusters.len()).map(number).collect();
        ChannelContention { trials: Some(KnownTrial { answers, clusters }), whole: true, ..self }
    }

    /// A cluster's number among those of all trials; of a trial alone.
    fn number(&self, position: usize) -> u32 {
        self.trials.as_ref().map_or(0, |trial| trial.clusters[position])
    }

    fn known_gc(&self, position: usize, answers: &mut Answers) -> u32 {
        let next = u32::try_from(answers.gcs.len()).expect("fewer than fit into memory");
        *answers.gcs.entry(self.gcs[position]).or_insert(next)
    }

    /// All that a cluster's test in its place depends on, but for its own garbage collection.
    fn place(&self, position: usize, answers: &mut Answers, own_gc: u32) -> Vec<u32> {
        let (bus, neighbourhoods) = self.granted_neighbourhoods(position);
        let mut key = Vec::with_capacity(32);
        key.extend([self.number(position), own_gc, bus.ways, bus.most, bus.foreign, bus.most_foreign]);
        for Neighbourhood { charged, siblings, bounded, rows_wait_elsewhere } in neighbourhoods {
            let count = u32::try_from(bounded.len()).expect("clusters have 32 bits");
            key.extend([charged, siblings.map_or(0, |siblings| siblings + 1), rows_wait_elsewhere.into(), count]);
            for (neighbour, chips) in bounded {
                key.extend([self.number(neighbour), self.known_gc(neighbour, answers), chips]);
            }
        }
        key
    }

    /// Whether the tasks' data fit the cluster.
    pub(crate) fn data_fit(&self, position: usize) -> bool {
        self.trials
            .as_ref()
            .map_or_else(|| self.holds_data(position), |trial| trial.answers.fits(trial.clusters[position]))
    }

    /// Garbage collection of a cluster whose neighbours are as busy as can be, and whether it is
    /// fragile: whether it needs others.
    pub(crate) fn first_gc(&self, position: usize) -> (KnownGc, bool) {
        let key = |_: &mut Answers| (self.number(position), self.worst_bus(position));
        let found = || {
            let Some(placed) = self.in_the_worst_case(position) else { return (None, true) };
            match self.choose(&placed) {
                Choice::Holds(gc) => (Some(gc), false),
                Choice::Fails | Choice::TooLong => (self.likely_gc(position, &placed), true),
            }
        };
        self.remembered(key, |answers| &mut answers.worst, found)
    }

    /// Whether a cluster holds next to its neighbours as everything is now.
    pub(crate) fn holds_now(&self, position: usize) -> bool {
        let key = |answers: &mut Answers| {
            let own_gc = self.known_gc(position, answers);
            self.place(position, answers, own_gc)
        };
        let found = || {
            let (Some(placed), Some(gc)) = (self.as_granted(position), self.gcs[position]) else { return false };
            // A pass that copies over the bus costs more here than by itself.
            let here = gc.map_or(Some(None), |gc| placed.processor.costing(gc).map(Some));
            here.is_some_and(|gc| self.holds_at(position, &placed, gc))
        };
        self.remembered(key, |answers| &mut answers.holds, found)
    }

    /// Garbage collection with which a cluster holds next to its neighbours as they are now,
    /// without backfill if need be.
    pub(crate) fn chosen_now(&mut self, position: usize) -> Option<Choice> {
        let mut best = None;
        for backfill in [true, false] {
            let before = (!backfill).then(|| self.granted_neighbourhoods(position));
            self.backfill[position] = backfill;
            if before.is_some_and(|before| before == self.granted_neighbourhoods(position)) {
                break;
            }
            let choice = self.chosen_as_it_is(position);
            if choice.is_some_and(Choice::holds) {
                return choice;
            }
            best = if best == Some(Choice::TooLong) { best } else { choice };
        }
        self.backfill[position] = true;
        best
    }

    fn chosen_as_it_is(&self, position: usize) -> Option<Choice> {
        let found = || {
            let placed = self.as_granted(position)?;
            let fails = self.hasty && placed.fails_anyway(self.work);
            Some(if fails { Choice::Fails } else { self.choose(&placed) })
        };
        let key = |answers: &mut Answers| self.place(position, answers, ANY_GC);
        self.remembered(key, |answers| &mut answers.choices, found)
    }
}
