//! Trials of a search over allocations of one set: what a cluster comes to beside neighbours as
//! busy as can be is found once. It depends on its tasks, its size and its placement, and on how
//! many chips share its channels. `exact` takes twice the instructions without this, under `sound`
//! for 6 tasks on 8 chips.

use rtflash_model::{Placement, TaskId};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

use super::ChannelContention;
use crate::certificate::choice::Choice;
use crate::gc::ChosenGc;
use crate::organisation::shared_bus::SharedBus;

/// Garbage collection as far as it is known; `None` inside where nothing is written.
type KnownGc = Option<Option<ChosenGc>>;

/// A cluster beside neighbours as busy as can be: its tasks, chips and placement.
type PlacedCluster = (Vec<TaskId>, u32, Placement, SharedBus);

/// Answers that trials of one set, by what one analysis grants, have had.
#[derive(Debug, Default)]
pub struct TrialAnswers(RefCell<FxHashMap<PlacedCluster, (KnownGc, bool)>>);

impl<'a> ChannelContention<'a> {
    /// For trials of a search, which have servers nowhere.
    #[must_use]
    pub(crate) fn for_trials(self, answers: &'a TrialAnswers) -> ChannelContention<'a> {
        ChannelContention { trials: Some(answers), whole: true, ..self }
    }

    /// Garbage collection of a cluster whose neighbours are as busy as can be, and whether it is
    /// fragile: whether it needs others.
    pub(crate) fn first_gc(&self, position: usize) -> (KnownGc, bool) {
        let found = || {
            let Some(placed) = self.in_the_worst_case(position) else { return (None, true) };
            match self.choose(&placed) {
                Choice::Holds(gc) => (Some(gc), false),
                Choice::Fails | Choice::TooLong => (self.likely_gc(position, &placed), true),
            }
        };
        let Some(TrialAnswers(answers)) = self.trials else { return found() };
        let cluster = &self.clusters[position];
        let key = (cluster.tasks.clone(), cluster.size(), self.placements[position], self.worst_bus(position));
        if let Some(&known) = answers.borrow().get(&key) {
            return known;
        }
        let first = found();
        answers.borrow_mut().insert(key, first);
        first
    }

    /// Whether a cluster holds next to its neighbours as everything is now.
    pub(crate) fn holds_now(&self, position: usize) -> bool {
        let (Some(placed), Some(gc)) = (self.as_granted(position), self.gcs[position]) else { return false };
        // A pass that copies over the bus costs more here than by itself.
        let here = gc.map_or(Some(None), |gc| placed.processor.costing(gc).map(Some));
        here.is_some_and(|gc| self.holds_at(position, &placed, gc))
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
        let placed = self.as_granted(position)?;
        let fails = self.hasty && placed.fails_anyway(self.work);
        Some(if fails { Choice::Fails } else { self.choose(&placed) })
    }
}
