//! Clustering-BFD, and where that fails a search over groups of tasks: some tasks are taken out and put back, again and again.

use rtflash_model::{Allocation, TaskSet};

use super::loads::Loads;
use super::sizes::{LinearSizes, Sizes};
use super::{Allocator, Outcome, Strategy, best_fit};
use crate::analysis::{Analysis, LinearTest};

/// Clustering-BFD, and where it finds nothing, ruin and recreate (Schrimpf et al., Journal of Computational Physics 159, 2000).
///
/// The search is over groups of tasks, each group in the smallest cluster that it is schedulable in, and ends when those clusters need no
/// more chips than there are. The first groups: tasks in Algorithm 1's order, each put where it takes the fewest chips more, ties to the
/// highest U. Then, 50 times for each task of the set, up to six tasks of up to four groups are taken out and put back by the same rule, in
/// random order; a step after which more chips are needed is undone. The random numbers are the same every time.
///
/// There is no search where each task's share of a chip, times the chips, is too much in all however the tasks are grouped.
/// A step tries few tasks in every group, so the search takes O(n²·(log m + `m_c`)) evaluations of a task's utilization, and at most 2²⁷.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClusteringSearch;

impl ClusteringSearch {
    /// Steps of the search for each task of the set.
    const STEPS: usize = 50;
    /// Tasks taken out in a step, at most.
    const LOOSE: usize = 6;
    /// Groups that they are taken from, at most.
    const GROUPS: usize = 4;
    /// Evaluations of a task's utilization after which it gives up: a second or so.
    const MAX_WORK: u64 = 1 << 27;
}

impl Allocator for ClusteringSearch {
    fn name(&self) -> &'static str {
        "clustering-search"
    }

    fn summary(&self) -> &'static str {
        "clustering-bfd, and where it finds nothing, a search of bounded length"
    }

    fn allocate(&self, set: &TaskSet, analysis: &dyn Analysis) -> Outcome {
        super::allocate(set, analysis, Strategy::Search)
    }

    fn relative_work(&self, _tasks: usize) -> u64 {
        32
    }
}

/// Best fit under Theorem 1, and where that finds nothing the search.
pub(super) fn by_utilization(set: &TaskSet, test: &dyn LinearTest) -> Outcome {
    let first = best_fit::by_utilization(set, test, true);
    if matches!(first, Outcome::Schedulable(_)) {
        return first;
    }
    let sizes = LinearSizes::new(Loads::new(set, test), ClusteringSearch::MAX_WORK);
    search(sizes, set.device().chips()).map_or(first, Outcome::Schedulable)
}

/// The search alone. Under a test that is not monotone, clusters have to be tested again.
pub(super) fn search<S: Sizes>(mut sizes: S, chips: u32) -> Option<Allocation> {
    let alone = sizes.alone(chips)?;
    let order = sizes.order();
    let mut state = Groups::new(sizes, chips, alone);
    order.iter().for_each(|&task| state.insert(task));
    for _ in 0..ClusteringSearch::STEPS * order.len() {
        if state.needed <= u64::from(chips) {
            break;
        }
        if state.sizes.exhausted() {
            return None;
        }
        state.step();
    }
    state.finish()
}

/// Tasks that share a cluster, and the smallest cluster they are schedulable in. Without tasks it has no chips.
#[derive(Debug, Clone, Default)]
struct Group<H> {
    tasks: Vec<usize>,
    /// More than there are where they are schedulable in none.
    size: u32,
    held: H,
}

/// Where a task might go: the cluster that its group would need.
#[derive(Clone, Copy)]
struct Place<H> {
    /// `None`: a group of its own.
    group: Option<usize>,
    size: u32,
    /// Chips that it takes more than before.
    growth: u32,
    held: H,
}

/// The search's state.
struct Groups<S: Sizes> {
    sizes: S,
    chips: u32,
    /// The smallest cluster for each task alone.
    alone: Vec<(u32, S::Held)>,
    groups: Vec<Group<S::Held>>,
    /// Each task's group.
    home: Vec<usize>,
    /// Chips that the groups need.
    needed: u64,
    /// What the groups touched in a step were before it.
    before: Vec<(usize, Group<S::Held>)>,
    random: u64,
}

impl<S: Sizes> Groups<S> {
    fn new(sizes: S, chips: u32, alone: Vec<(u32, S::Held)>) -> Groups<S> {
        let home = vec![0; alone.len()];
        Groups { sizes, chips, alone, groups: Vec::new(), home, needed: 0, before: Vec::new(), random: 0 }
    }

    /// Takes some tasks out and puts them back elsewhere, if that needs no more chips.
    fn step(&mut self) {
        let needed = self.needed;
        self.before.clear();
        let loose = self.take_out();
        loose.iter().for_each(|&task| self.insert(task));
        if self.needed > needed {
            self.needed = needed;
            for (position, group) in self.before.drain(..) {
                group.tasks.iter().for_each(|&task| self.home[task] = position);
                self.groups[position] = group;
            }
        }
    }

    /// Random tasks of the groups of random tasks, in random order.
    fn take_out(&mut self) -> Vec<usize> {
        let mut pool: Vec<usize> = Vec::new();
        for _ in 0..ClusteringSearch::GROUPS {
            let task = self.draw(self.home.len());
            let position = self.home[task];
            if self.touch(position) {
                pool.extend(&self.groups[position].tasks);
            }
        }
        let mut loose = Vec::with_capacity(ClusteringSearch::LOOSE);
        for _ in 0..ClusteringSearch::LOOSE.min(pool.len()) {
            let at = self.draw(pool.len());
            let task = pool.swap_remove(at);
            self.groups[self.home[task]].tasks.retain(|&other| other != task);
            loose.push(task);
        }
        for touched in 0..self.before.len() {
            self.shrink(self.before[touched].0);
        }
        loose
    }

    /// Remembers a group as it is. Whether it had not been touched in this step.
    fn touch(&mut self, position: usize) -> bool {
        let first = self.before.iter().all(|&(touched, _)| touched != position);
        if first {
            self.before.push((position, self.groups[position].clone()));
        }
        first
    }

    /// Gives a group that lost tasks its smallest cluster.
    fn shrink(&mut self, position: usize) {
        let group = &mut self.groups[position];
        let (size, held) = if group.tasks.is_empty() {
            (0, S::Held::default())
        } else {
            match self.sizes.smallest_size(&group.tasks, 1, group.size.min(self.chips)) {
                Some(found) => found,
                None if self.sizes.exhausted() => return, // Given up: the cluster that it had will do.
                // Under a test that is not monotone, fewer tasks may be too many. No allocation is found with such a group.
                None => (self.chips.saturating_add(1), S::Held::default()),
            }
        };
        self.needed = self.needed - u64::from(group.size) + u64::from(size);
        (group.size, group.held) = (size, held);
    }

    /// Puts a task where it takes the fewest further chips, ties to the highest U, then to the lowest position.
    fn insert(&mut self, task: usize) {
        let (size, held) = self.alone[task];
        let mut best = Place { group: None, size, growth: size, held };
        for position in 0..self.groups.len() {
            if let Some(place) = self.place(task, position, best.growth)
                && (place.growth < best.growth || best.group.is_none() || S::load(place.held) > S::load(best.held))
            {
                best = place;
            }
        }
        let position = best.group.unwrap_or_else(|| self.empty_group());
        self.touch(position);
        let group = &mut self.groups[position];
        group.tasks.push(task);
        (group.size, group.held) = (best.size, best.held);
        self.home[task] = position;
        self.needed += u64::from(best.growth);
    }

    /// The task in a group that has tasks, where that takes at most `growth` chips more.
    fn place(&mut self, task: usize, position: usize, growth: u32) -> Option<Place<S::Held>> {
        let group = &self.groups[position];
        if group.tasks.is_empty() || group.size > self.chips {
            return None;
        }
        if let Some(held) = self.sizes.joined(&group.tasks, group.size, group.held, task) {
            return Some(Place { group: Some(position), size: group.size, growth: 0, held });
        }
        let most = group.size.saturating_add(growth).min(self.chips);
        if most == group.size {
            return None;
        }
        let with = [group.tasks.as_slice(), &[task]].concat();
        let (size, held) = self.sizes.smallest_size(&with, group.size + 1, most)?;
        Some(Place { group: Some(position), size, growth: size - group.size, held })
    }

    fn empty_group(&mut self) -> usize {
        self.groups.iter().position(|group| group.tasks.is_empty()).unwrap_or_else(|| {
            self.groups.push(Group::default());
            self.groups.len() - 1
        })
    }

    /// A number below `bound`, from a fixed sequence (`SplitMix64`: Steele, Lea and Flood, OOPSLA 2014).
    fn draw(&mut self, bound: usize) -> usize {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let product = u128::from(mixed ^ (mixed >> 31)) * bound as u128;
        usize::try_from(product >> 64).unwrap_or(0)
    }

    /// The allocation, where the chips suffice: clusters in order of their lowest task, chips left over as clusters of their own.
    fn finish(mut self) -> Option<Allocation> {
        let left = u32::try_from(u64::from(self.chips).checked_sub(self.needed)?).ok()?;
        self.groups.retain(|group| !group.tasks.is_empty());
        self.groups.sort_unstable_by_key(|group| group.tasks.iter().min().copied());
        let mut of_chip = Vec::with_capacity(self.chips as usize);
        let mut of_task = vec![0; self.home.len()];
        let mut next = 0u32;
        for group in &self.groups {
            of_chip.extend(std::iter::repeat_n(next, group.size as usize));
            group.tasks.iter().for_each(|&task| of_task[task] = next);
            next += 1;
        }
        of_chip.extend((next..).take(left as usize));
        Allocation::from_owners(of_chip, of_task)
    }
}
