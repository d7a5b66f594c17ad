//! Clusters before they have chips: how many, and how pages are placed on them.

mod alone;
#[cfg(test)]
mod tests;

use std::cell::Cell;

use rtflash_model::{Access, Placement, Task, TaskId, TaskSet};

use super::Problem;
use super::known::{KnownLoads, LoadKey, MOST_TASKS};
pub(super) use super::supposed::{ContentionAssumption, Organisation};
use rtflash_analysis::certified::{
    Choice, Contention, Demand, Patience, Processor, SURELY_ABOVE_ONE, SharedBus, choose_with, may_queue,
    may_serve_one_chip,
};
use rtflash_analysis::{Rational, Work};

use crate::allocator::sizes::Smallest;
use crate::allocator::{Strategy, exact};

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DemandHeld {
    pub(super) organisation: Organisation,
    pub(super) load: f64,
}

pub(super) struct Organisations<'a> {
    set: &'a TaskSet,
    work: &'a Work,
    known: &'a KnownLoads,
    allowed: Vec<Organisation>,
    /// Sizes of compact clusters within a channel: each divides the next, so that they always pack.
    chain: Vec<u32>,
    assumption: ContentionAssumption,
    largest: u32,
    /// Whether superblocks of one chip are tried: not where a stripe of it is no worse.
    serve_one_chip: bool,
    tests: Cell<u64>,
    given_up: Cell<u32>,
    left_open: Cell<bool>,
}

/// Tests given up after which no more are begun: each of them takes long.
const GIVEN_UP: u32 = 8;

impl<'a> Organisations<'a> {
    pub(super) fn new(problem: Problem<'a>, assumption: ContentionAssumption) -> Organisations<'a> {
        let Problem { set, test, work, known } = problem;
        let placements = Placement::ALL.into_iter().filter(|placement| test.placements.contains(placement));
        let allowed: Vec<Organisation> = placements.flat_map(Organisation::of).collect();
        let serve_one_chip = !allowed.contains(&Organisation::default()) || may_serve_one_chip(set.device());
        if set.tasks().count() > MOST_TASKS {
            known.forget_tasks_alone();
        }
        let chips = set.device().chips();
        let chain = chain(set.device().chips_per_channel().min(chips));
        Organisations {
            set,
            work,
            known,
            allowed,
            chain,
            assumption,
            largest: chips,
            serve_one_chip,
            tests: Cell::new(0),
            given_up: Cell::new(0),
            left_open: Cell::new(false),
        }
    }

    pub(super) fn asked_by(self, strategy: Strategy) -> Organisations<'a> {
        let largest = if strategy == Strategy::OneChipEach { 1 } else { self.largest };
        Organisations { largest, ..self }
    }

    pub(super) fn keep_too_few_chips(&self) {
        self.known.keep_too_few_chips(self.assumption);
    }

    pub(super) fn has_too_few_chips(&self) -> bool {
        self.known.has_too_few_chips(self.assumption)
    }

    pub(super) fn set(&self) -> &'a TaskSet {
        self.set
    }

    fn has_superblocks_alone(&self) -> bool {
        self.allowed.iter().all(|organisation| !organisation.is_by_chip())
    }

    pub(super) fn work(&self) -> &'a Work {
        self.work
    }

    pub(super) fn allowed(&self) -> &[Organisation] {
        &self.allowed
    }

    pub(super) fn tests(&self) -> u64 {
        self.tests.get()
    }

    pub(super) fn given_up(&self) -> bool {
        self.given_up.get() > 0
    }

    /// Whether a test was left open, as a few steps did not decide it: of sets with many tasks.
    pub(super) fn left_open(&self) -> bool {
        self.left_open.get()
    }

    fn tasks<'t>(&self, tasks: &'t [TaskId]) -> impl Iterator<Item = &'a Task> + Clone + use<'a, 't> {
        let all = self.set.tasks();
        tasks.iter().filter_map(move |&task| all.get(task))
    }

    /// Also its neighbours; `None` where times cannot be added up.
    fn processor(&self, tasks: &[TaskId], organisation: Organisation, chips: u32) -> Option<(Processor, Contention)> {
        let device = self.set.device();
        let bus = match (organisation, self.assumption) {
            (_, ContentionAssumption::NoContention) => SharedBus::alone(),
            // Beside stripes superblocks of several chips are formed as they hold anywhere: few
            // hold with less.
            (organisation, ContentionAssumption::Optimistic(ways))
                if organisation.is_compact() && self.has_superblocks_alone() =>
            {
                SharedBus::compact(device, chips).beside_fewer(ways - 1, chips >= device.chips_per_channel())
            }
            (organisation, ContentionAssumption::Optimistic(ways))
                if self.is_formed_optimistically(organisation, chips) =>
            {
                let all = SharedBus::anywhere(device);
                SharedBus { ways, foreign: all.foreign.min(ways - 1), ..all }
            }
            (organisation, _) if organisation.is_compact() => SharedBus::compact(device, chips),
            _ => SharedBus::anywhere(device),
        };
        let others = if self.assumption == ContentionAssumption::Queue && may_queue(organisation.placement) {
            Contention::new(device).in_a_queue(device, u64::from(bus.ways) - 1)
        } else {
            Contention::none()
        };
        Some((Processor::new(device, self.tasks(tasks), chips, organisation.placement, bus)?, others))
    }

    fn is_formed_optimistically(&self, organisation: Organisation, chips: u32) -> bool {
        let is_on_one_chip = chips == 1 && !organisation.is_compact();
        organisation.is_by_chip() || is_on_one_chip || self.has_superblocks_alone()
    }

    fn is_as_in_the_worst_case(&self, organisation: Organisation, chips: u32) -> bool {
        match self.assumption {
            ContentionAssumption::WorstCase => true,
            ContentionAssumption::NoContention => false,
            ContentionAssumption::Optimistic(_) => !self.is_formed_optimistically(organisation, chips),
            ContentionAssumption::Queue => !may_queue(organisation.placement),
        }
    }

    /// Facts about one are facts about the other.
    fn same_assumption(&self, organisation: Organisation, chips: u32) -> ContentionAssumption {
        if self.is_as_in_the_worst_case(organisation, chips) {
            ContentionAssumption::WorstCase
        } else {
            self.assumption
        }
    }

    fn key(&self, tasks: &[TaskId], organisation: Organisation, chips: u32) -> Option<LoadKey> {
        LoadKey::new(self.same_assumption(organisation, chips), organisation, tasks, chips)
    }

    pub(super) fn load(&self, tasks: &[TaskId], organisation: Organisation, chips: u32) -> Option<f64> {
        self.tests.set(self.tests.get() + 1);
        if self.given_up.get() >= GIVEN_UP {
            return None;
        }
        let key = self.key(tasks, organisation, chips);
        if let Some(known) = key.and_then(|key| self.known.get(&key)) {
            return known;
        }
        let is_too_much = || self.load_alone(tasks, organisation, chips) > SURELY_ABOVE_ONE;
        let fits = || self.set.space(tasks, chips, Some(organisation.placement)).fits();
        if is_too_much() || !fits() || key.is_some_and(|key| self.has_too_much(key, organisation, chips)) {
            return None;
        }
        // Sums of doubles must not depend on the order of the tasks.
        let ascending = key.map(LoadKey::tasks);
        let (processor, others) = self.processor(ascending.as_deref().unwrap_or(tasks), organisation, chips)?;
        // If a decision about many tasks takes long, others are tried.
        let patience = if self.set.tasks().count() > MOST_TASKS { Patience::Short } else { Patience::Full };
        let load = match choose_with(patience, &processor, std::slice::from_ref(&others), 0, self.work) {
            Choice::Holds(gc) => Some(Demand::in_the_long_run(&processor, &others, gc, 0, self.work).load()),
            Choice::Fails => None,
            Choice::TooLong if patience == Patience::Short => {
                self.left_open.set(true);
                return None;
            }
            Choice::TooLong => {
                self.given_up.set(self.given_up.get() + 1);
                return None;
            }
        };
        if let Some(key) = key {
            self.known.keep(key, load);
        }
        load
    }

    /// If pages wait as long as they may, with garbage collection at its shortest deadline.
    pub(super) fn load_in_the_worst_case(&self, tasks: &[TaskId], organisation: Organisation, chips: u32) -> f64 {
        let device = self.set.device();
        let bus = SharedBus::anywhere(device);
        let processor = Processor::new(device, self.tasks(tasks), chips, organisation.placement, bus);
        processor.map_or(f64::INFINITY, |processor| self.long_run_load(&processor, &Contention::none()))
    }

    /// Garbage collection is at its shortest deadline; infinite where there is no room.
    fn long_run_load(&self, processor: &Processor, others: &Contention) -> f64 {
        let gc = processor.shortest_gc_deadline().map(|deadline| processor.gc(deadline, false));
        let gc = gc.map_or(Some(None), |gc| gc.map(Some));
        gc.map_or(f64::INFINITY, |gc| Demand::in_the_long_run(processor, others, gc, 0, self.work).load())
    }

    /// By what clusters have to do: none holds that has too much.
    pub(super) fn least_sizes(&self) -> exact::LeastSizes {
        let (count, chips) = (self.set.tasks().count(), self.set.device().chips());
        let fewest = |tasks: &[TaskId], least: u32| {
            (least..=chips.min(self.largest)).find(|&chips| {
                let may_do = |organisation: Organisation| {
                    let key = self.key(tasks, organisation, chips);
                    self.may_be(organisation, chips)
                        && !key.is_some_and(|key| self.has_too_much(key, organisation, chips))
                };
                self.allowed.iter().any(|&organisation| may_do(organisation))
            })
        };
        exact::LeastSizes::new(count, chips, fewest)
    }

    /// In any organisation, whether or not the tasks hold: with garbage collection at its shortest
    /// deadline, where it takes least. Without room for it, above every other load.
    pub(super) fn least_load(&self, tasks: &[TaskId], chips: u32) -> Rational {
        self.tests.set(self.tests.get() + 1);
        let of = |organisation: Organisation| {
            let (processor, others) = self.processor(tasks, organisation, chips)?;
            let gc = match processor.shortest_gc_deadline() {
                Some(deadline) => Some(processor.gc(deadline, false)?),
                None => None,
            };
            Demand::new(&processor, &others, gc, 0, self.work).exact_load()
        };
        let allowed = self.allowed.iter().filter(|&&organisation| self.may_be(organisation, chips));
        let loads = allowed.filter_map(|&organisation| of(organisation));
        loads.min().unwrap_or_else(|| Rational::product([u128::MAX], []))
    }

    /// The organisation with the least to do, if there are several.
    pub(super) fn holds(&self, tasks: &[TaskId], chips: u32) -> Option<DemandHeld> {
        self.of_organisations(tasks, chips, |_| true)
    }

    fn of_organisations(
        &self,
        tasks: &[TaskId],
        chips: u32,
        tried: impl Fn(Organisation) -> bool,
    ) -> Option<DemandHeld> {
        let allowed = self
            .allowed
            .iter()
            .copied()
            .filter(|&organisation| self.may_be(organisation, chips) && tried(organisation));
        let mut best: Option<DemandHeld> = None;
        for organisation in allowed {
            let load = self.load(tasks, organisation, chips);
            if let Some(load) = load.filter(|load| best.is_none_or(|best| load.total_cmp(&best.load).is_lt())) {
                best = Some(DemandHeld { organisation, load });
            }
        }
        best
    }

    pub(super) fn smallest(&self, tasks: &[TaskId], least: u32, most: u32) -> Option<Smallest<DemandHeld>> {
        // Beyond this size a stripe's chips have no less to do each.
        let requests = self.tasks(tasks).flat_map(|task| [task.read, task.write]).flatten();
        let spread = requests.map(|request| match request.access() {
            Access::Random => 1,
            Access::Sequential => request.pages(),
            Access::Stream => u64::MAX,
        });
        let pages = spread.fold(1, u64::max);
        let widest = self.tasks(tasks).map(Task::kept_pages).fold(pages, u64::max);
        (least.max(1)..=most.min(self.largest)).find_map(|chips| {
            let tried = |organisation: Organisation| !organisation.is_by_chip() || u64::from(chips) <= widest;
            Some(Smallest { size: chips, held: self.of_organisations(tasks, chips, tried)? })
        })
    }

    pub(super) fn may_be(&self, organisation: Organisation, chips: u32) -> bool {
        if organisation.is_compact() {
            return self.assumption == ContentionAssumption::NoContention || self.next_compact(chips) == chips;
        }
        organisation.is_by_chip() || chips > 1 || self.serve_one_chip
    }

    pub(super) fn on_chips(&self, organisation: Organisation, chips: u32) -> Option<u32> {
        (1..=chips.min(self.largest)).rev().find(|&chips| self.may_be(organisation, chips))
    }

    fn next_compact(&self, chips: u32) -> u32 {
        let whole = *self.chain.last().expect("it begins with one chip");
        let within = self.chain.iter().copied().find(|&size| size >= chips);
        within.unwrap_or_else(|| chips.div_ceil(whole).saturating_mul(whole))
    }
}

/// 1, and each time the smallest prime factor more, up to `ways`.
fn chain(ways: u32) -> Vec<u32> {
    let mut sizes = vec![1];
    let mut at = 1;
    while at < ways {
        let rest = ways / at;
        let factor = (2..=rest).find(|factor| rest.is_multiple_of(*factor)).unwrap_or(rest);
        at *= factor;
        sizes.push(at);
    }
    sizes
}
