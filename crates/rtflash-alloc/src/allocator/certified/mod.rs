//! Allocation under demand tests, which test a placed cluster: which chips, and how pages are
//! placed on them.
//!
//! Groups of tasks are formed first, each in a cluster that it holds in wherever its chips are;
//! then chips are given out and every cluster is certified where it is. If the chips do not suffice
//! so, groups are formed again optimistically, with less waiting for the bus, and chips are given
//! out so that those that move much have neighbours that move little: an allocation is one that
//! [`DemandTest::certify`] then confirms.

mod chips;
mod exhaustive;
mod known;
mod organisations;
mod sizes;
mod supposed;
mod unplaced;

use std::cell::RefCell;

use rtflash_analysis::certified::tightened;
use rtflash_analysis::reason::Reason;
use rtflash_analysis::{DemandTest, Work};
use rtflash_model::{Allocation, Cluster, Placement, Reliance, Task, TaskId, TaskSet};

use self::chips::{ChipLayout, place};
use self::known::KnownLoads;
use self::organisations::{ContentionAssumption, DemandHeld, Organisations};
use self::sizes::{DemandSizes, MAX_MERGING, MAX_TESTS};
use super::best_fit::{Filled, filled};
use super::merging::{self, Stuck};
use super::sizes::TaskGroup;
use super::{Exact, Limit, Outcome, Strategy, exact, search};

pub(super) use unplaced::tested;

#[derive(Debug, Clone, Copy)]
pub(super) struct Problem<'a> {
    pub(super) set: &'a TaskSet,
    pub(super) test: DemandTest,
    pub(super) work: &'a Work,
    /// The loads known to all searches together.
    known: &'a KnownLoads,
}

/// Clusters that are formed one by one end at data also where time is at fault: data are the reason
/// only if the set passes without them.
pub(super) fn allocate(set: &TaskSet, test: DemandTest, work: &Work, strategy: Strategy) -> Outcome {
    let test = test.on(set.device());
    let outcome = |set: &TaskSet| granted_or_less(set, test, work, strategy);
    let found = outcome(set);
    if !ends_at_data(&found) || !fit_the_device(set) {
        return found;
    }
    let without = without_data(set).map(|set| outcome(&set));
    without.filter(|without| matches!(without, Outcome::NotSchedulable(_)) && !ends_at_data(without)).unwrap_or(found)
}

/// Each search forms other clusters: without the second, granting more would refuse sets.
fn granted_or_less(set: &TaskSet, test: DemandTest, work: &Work, strategy: Strategy) -> Outcome {
    let known = KnownLoads::default();
    let relying_on = |rely_on| {
        let test = DemandTest { rely_on, ..test };
        divided(Problem { set, test, work, known: &known }, strategy)
    };
    let first = relying_on(test.rely_on);
    if let Outcome::Schedulable(_) = first {
        return first;
    }
    let mut others = test.rely_on.less().map(relying_on);
    let found = others.find_map(|outcome| match outcome {
        Outcome::Schedulable(found) => Some(found),
        _ => None,
    });
    found.map_or(first, |found| Outcome::Schedulable(tightened(set, found, test.rely_on)))
}

fn ends_at_data(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::NotSchedulable(failure) if matches!(failure.unplaced.reason, Reason::Data(_)))
}

fn without_data(set: &TaskSet) -> Option<TaskSet> {
    let tasks = set.tasks().iter().map(|task| Task { data_pages: None, ..task.clone() }).collect();
    TaskSet::new(*set.device(), tasks, set.jobs().to_vec()).ok()
}

fn fit_the_device(set: &TaskSet) -> bool {
    let all: Vec<TaskId> = set.tasks().ids().collect();
    set.space(&all, set.device().chips(), None).fits()
}

fn divided(problem: Problem<'_>, strategy: Strategy) -> Outcome {
    if strategy == Strategy::Exact
        && let Some(limit) = Exact::refuses(problem.set.tasks().count())
    {
        return Outcome::CannotTell(limit);
    }
    let fruitless = match BoundedSearch::new(problem).grouped(strategy) {
        Ok(allocation) => return Outcome::Schedulable(allocation),
        Err(fruitless) => fruitless,
    };
    // The search is never worse than Algorithm 1.
    if strategy == Strategy::Search
        && let Ok(allocation) = BoundedSearch::new(problem).grouped(Strategy::Merging)
    {
        return Outcome::Schedulable(allocation);
    }
    fruitless.outcome(problem, strategy)
}

struct FruitlessSearch<'a> {
    organisations: Organisations<'a>,
    given_up: Option<Limit>,
    first: Result<Vec<TaskGroup<DemandHeld>>, NoGroups>,
}

impl FruitlessSearch<'_> {
    fn outcome(self, problem: Problem<'_>, strategy: Strategy) -> Outcome {
        match (self.first, self.given_up) {
            (Err(NoGroups::GivenUp(limit)), _) | (_, Some(limit)) => Outcome::CannotTell(limit),
            (first, None) => unplaced::failure(problem, &self.organisations, strategy, first)
                .map_or(Outcome::CannotTell(Limit::TestGivenUp), Outcome::NotSchedulable),
        }
    }
}

struct BoundedSearch<'a> {
    problem: Problem<'a>,
    /// The limit at which a test or the search was given up: finding nothing proves nothing then.
    given_up: RefCell<Option<Limit>>,
}

impl<'a> BoundedSearch<'a> {
    fn new(problem: Problem<'a>) -> BoundedSearch<'a> {
        BoundedSearch { problem, given_up: RefCell::default() }
    }

    fn gives_up(&self, limit: Limit) {
        self.given_up.borrow_mut().get_or_insert(limit);
    }

    fn gives_up_a_test(&self, so: bool) {
        if so {
            self.gives_up(Limit::TestGivenUp);
        }
    }

    fn grouped(&self, strategy: Strategy) -> Result<Allocation, Box<FruitlessSearch<'a>>> {
        let organisations = Organisations::new(self.problem, ContentionAssumption::WorstCase).asked_by(strategy);
        let first = groups(&organisations, strategy);
        if let Err(NoGroups::GivenUp(_)) = first {
            return Err(Box::new(FruitlessSearch { organisations, given_up: None, first }));
        }
        let settled = first.as_ref().ok().and_then(|groups| self.settle(groups, ChipLayout::InOrder));
        let found = settled.or_else(|| match strategy {
            Strategy::Exact => self.exactly(),
            _ => self.optimistically(strategy),
        });
        found.ok_or_else(|| {
            self.gives_up_a_test(organisations.given_up());
            let given_up = self.given_up.take();
            Box::new(FruitlessSearch { organisations, given_up, first })
        })
    }

    /// Groups optimistically, with less waiting for the bus, confirmed where their chips are.
    fn optimistically(&self, strategy: Strategy) -> Option<Allocation> {
        let Problem { set, test, .. } = self.problem;
        let ways = set.device().chips_per_channel().min(set.device().chips());
        if ways == 1 || test.rely_on == Reliance::Nothing {
            return None;
        }
        let queue =
            (test.rely_on >= Reliance::Queue && set.device().has_steady_reads()).then_some(ContentionAssumption::Queue);
        let assumptions = [ContentionAssumption::Optimistic(1)]
            .into_iter()
            .chain(queue)
            .chain(fewer_transfers(ways).map(ContentionAssumption::Optimistic));
        let mut waits = true;
        // Beside chips that stay idle no page waits, nor blocks for longer.
        for assumption in assumptions.chain([ContentionAssumption::NoContention]) {
            if !waits && assumption != ContentionAssumption::NoContention {
                continue;
            }
            let optimistic = Organisations::new(self.problem, assumption).asked_by(strategy);
            let groups = groups(&optimistic, strategy);
            self.gives_up_a_test(optimistic.given_up() || matches!(groups, Err(NoGroups::GivenUp(_))));
            let Ok(groups) = groups else {
                // The other assumptions charge a page more than its own transfer.
                waits &= assumption != ContentionAssumption::Optimistic(1);
                continue;
            };
            let layouts = [ChipLayout::InOrder, ChipLayout::Balanced];
            if let Some(allocation) = layouts.into_iter().find_map(|layout| self.settle(&groups, layout)) {
                return Some(allocation);
            }
        }
        None
    }

    /// The best partition need not be the one that holds next to its neighbours: another can.
    fn exactly(&self) -> Option<Allocation> {
        let device = self.problem.set.device();
        if device.chips_per_channel().min(device.chips()) == 1 {
            return None;
        }
        let organisations = Organisations::new(self.problem, ContentionAssumption::NoContention);
        let least = organisations.least_sizes();
        least.fewest()?;
        let subsets = exact::Subsets::new(&mut DemandSizes::new(&organisations), Some(&least)).ok()?;
        self.gives_up_a_test(organisations.given_up());
        subsets.best_partition()?;
        let grouped = |strategy| BoundedSearch::new(self.problem).grouped(strategy).ok();
        let found = self
            .optimistically(Strategy::Exact)
            // Never worse than the search.
            .or_else(|| grouped(Strategy::Search))
            .or_else(|| grouped(Strategy::Merging))
            .or_else(|| exhaustive::search(self, &organisations, &subsets));
        self.gives_up_a_test(organisations.given_up());
        found
    }

    /// Certificates for all clusters, if all have one.
    fn settle(&self, groups: &[TaskGroup<DemandHeld>], layout: ChipLayout) -> Option<Allocation> {
        self.trial(groups, layout)?.ok()
    }

    /// Otherwise a group that fails. `None` where the groups have no chips.
    fn trial(&self, groups: &[TaskGroup<DemandHeld>], layout: ChipLayout) -> Option<Result<Allocation, usize>> {
        let Problem { set, test, .. } = self.problem;
        let (clusters, placements): (Vec<Cluster>, Vec<Placement>) = place(set, groups, layout)?
            .into_iter()
            .map(|(cluster, organisation)| (cluster, organisation.map_or(test.idle(), |of| of.placement)))
            .unzip();
        let failing = match self.certified(&clusters, &placements)? {
            Ok(allocation) => return Some(Ok(allocation)),
            Err(failing) => clusters[failing].tasks.first()?,
        };
        groups.iter().position(|group| group.tasks.contains(failing)).map(Err)
    }

    fn certified(&self, clusters: &[Cluster], placements: &[Placement]) -> Option<Result<Allocation, usize>> {
        let Problem { set, test, work, .. } = self.problem;
        let certified = test.certify(set, clusters, placements, work);
        self.gives_up_a_test(certified.given_up);
        if let Some(&failing) = certified.failing.first() {
            return Some(Err(failing));
        }
        let allocation = Allocation::new(set.device().chips(), set.tasks().len(), clusters).ok()?;
        Some(Ok(allocation.with_certificates(certified.certificates)))
    }
}

/// One less each time, down to two; on long channels half as many.
fn fewer_transfers(ways: u32) -> impl Iterator<Item = u32> {
    const ALL: u32 = 64;
    let next = |ways: u32| if ways > ALL { ways / 2 } else { ways - 1 };
    std::iter::successors(Some(next(ways)), move |&ways| Some(next(ways))).take_while(|&ways| ways > 1)
}

enum NoGroups {
    GivenUp(Limit),
    Full(TaskId, Vec<TaskGroup<DemandHeld>>),
    NotFound,
}

impl From<Limit> for NoGroups {
    fn from(limit: Limit) -> NoGroups {
        NoGroups::GivenUp(limit)
    }
}

fn groups(organisations: &Organisations<'_>, strategy: Strategy) -> Result<Vec<TaskGroup<DemandHeld>>, NoGroups> {
    if organisations.has_too_few_chips() {
        return Err(NoGroups::NotFound);
    }
    match strategy {
        Strategy::OneChipEach | Strategy::Growing => match filled(DemandSizes::new(organisations)) {
            Filled::Fits(groups) => Ok(groups),
            Filled::Full { task, before } => Err(NoGroups::Full(task, before)),
            Filled::GivenUp(limit) => Err(limit.into()),
        },
        Strategy::Merging => match merged(organisations) {
            Ok(groups) => Ok(groups),
            Err(Stuck::Unplaced { .. } | Stuck::Overloaded { .. }) => Err(NoGroups::NotFound),
            Err(Stuck::GivenUp(limit)) => Err(limit.into()),
        },
        Strategy::Search => search::search(DemandSizes::bounded(organisations, MAX_TESTS)).ok_or(NoGroups::NotFound),
        Strategy::Exact => {
            if let Some(limit) = Exact::refuses(organisations.set().tasks().count()) {
                return Err(limit.into());
            }
            let least = organisations.least_sizes();
            let groups = exact::search_fewest(&mut DemandSizes::new(organisations), least)?;
            if groups.is_none() && !organisations.given_up() {
                organisations.keep_too_few_chips();
            }
            groups.ok_or(NoGroups::NotFound)
        }
    }
}

/// The organisation is the one in which the cluster holds with the least to do.
fn merged(organisations: &Organisations<'_>) -> Result<Vec<TaskGroup<DemandHeld>>, Stuck> {
    let clusters = merging::clusters(DemandSizes::bounded(organisations, MAX_MERGING), true)?.into_iter();
    let group = |cluster: Cluster| {
        let size = cluster.size();
        Some(TaskGroup { held: organisations.holds(&cluster.tasks, size)?, size, tasks: cluster.tasks })
    };
    // Each of them has passed.
    Ok(clusters.filter(|cluster| !cluster.tasks.is_empty()).filter_map(group).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use rtflash_analysis::{PlacementProgress, Sound, Thesis, Work, fits_alone};
    use rtflash_model::Reliance;
    use rtflash_model::generate::{SetOptions, SetSpec};

    use super::fewer_transfers;
    use crate::allocator::{Allocator, BestFit, ClusteringBfd};

    /// Attempts are counted from 1, tasks one by one from none; of an allocation that is found all.
    #[test]
    fn who_watches_is_notified_of_each_task() {
        let sound = Sound::relying_on(Reliance::Queue);
        let options = SetOptions::new(SetSpec::default()).expect("options");
        let (mut found, mut again) = (0, 0);
        for (tenths, allocator) in
            (5..40).flat_map(|tenths| [(tenths, &BestFit as &dyn Allocator), (tenths, &ClusteringBfd)])
        {
            let utilization = format!("{}.{}", tenths / 10, tenths % 10).parse().expect("a utilization");
            let set = options.draw(utilization, 0, |device, task| fits_alone(&Thesis, device, task)).expect("a set");
            let told: Arc<Mutex<Vec<PlacementProgress>>> = Arc::default();
            let listener = Arc::clone(&told);
            let work = Work::watched(move |progress| listener.lock().expect("nobody panics").push(progress));
            let outcome = allocator.divide(&set, &sound, &work);
            let told = told.lock().expect("nobody panics");
            let mut before = PlacementProgress { attempt: 0, placed: 0, tasks: 8 };
            for &now in told.iter() {
                let next = PlacementProgress { placed: before.placed + 1, ..before };
                let anew = PlacementProgress { attempt: before.attempt + 1, placed: 0, tasks: 8 };
                assert!(now == anew || before.attempt > 0 && now == next, "{now:?} behind {before:?}");
                before = now;
            }
            if outcome.is_schedulable() == Some(true) {
                assert_eq!(before.placed, 8);
                found += 1;
            }
            again += u32::from(before.attempt > 1);
        }
        assert!(found > 10 && again > 10, "{found} found, {again} begun anew");
    }

    #[test]
    fn long_channels_are_tried_in_few_steps() {
        assert_eq!(fewer_transfers(5).collect::<Vec<_>>(), [4, 3, 2]);
        assert_eq!(fewer_transfers(2).count(), 0);
        assert_eq!(fewer_transfers(64).count(), 62);
        assert_eq!(fewer_transfers(300).take(4).collect::<Vec<_>>(), [150, 75, 37, 36]);
        assert!(fewer_transfers(u32::MAX).count() < 90);
    }
}
