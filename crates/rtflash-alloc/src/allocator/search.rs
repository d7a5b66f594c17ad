//! Clustering-BFD, and where that fails a search over groups of tasks: some tasks are taken out and put back, again and again.

use rtflash_model::{Allocation, TaskSet};

use super::best_fit::ClusteringBfd;
use super::loads::{Loads, Share, SizeCosts};
use super::sizes::Sizes;
use super::{Allocator, Outcome, Strategy};
use crate::analysis::Analysis;

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

    fn strategy(&self) -> Option<Strategy> {
        Some(Strategy::Search)
    }

    fn by_utilization(&self, set: &TaskSet, analysis: &dyn Analysis) -> Outcome {
        let first = ClusteringBfd.by_utilization(set, analysis);
        if matches!(first, Outcome::Schedulable(_)) {
            return first;
        }
        search(set, analysis).map_or(first, Outcome::Schedulable)
    }
}

/// The search alone.
fn search(set: &TaskSet, analysis: &dyn Analysis) -> Option<Allocation> {
    let chips = set.device().chips();
    let mut sizes = Sizes::new(Loads::new(set, analysis), ClusteringSearch::MAX_WORK);
    let alone = sizes_alone(&mut sizes, chips)?;
    let one_chip = sizes.loads.size_costs(1);
    let shares: Vec<Share> = sizes.table.iter().map(|load| sizes.loads.share(load, one_chip)).collect();
    let mut order = Vec::new();
    sizes.loads.decreasing_order(&shares, &mut order);
    let mut state = Groups::new(sizes, chips, alone);
    order.iter().for_each(|&task| state.insert(task as usize));
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

/// The smallest cluster for each task alone; `None` where a task has none, or where all of them surely need more chips than there are.
///
/// In a cluster of s chips, Σ U_i(s) + t_e/min(T) ≤ 1, so each task's U_i(s)/(1 − t_e/min(T)), with its own min(T), add up to at most 1.
/// Times s and over all clusters: the tasks' least s·U_i(s)/(1 − t_e/min(T)) add up to at most m. Doubles only rule out a search here.
fn sizes_alone(sizes: &mut Sizes<'_>, chips: u32) -> Option<Vec<u32>> {
    let mut alone = Vec::with_capacity(sizes.table.len());
    let mut needed = 0.0;
    for task in 0..sizes.table.len() {
        let (size, _) = sizes.smallest_size(&[task], 1, chips)?;
        let mut least = f64::INFINITY;
        for chips in size..=chips {
            let load = &sizes.table[task];
            let costs = sizes.loads.size_costs(chips);
            // Larger clusters have at least this, for what no size changes.
            if f64::from(chips) * load.fixed() >= least || sizes.exhausted() {
                break;
            }
            sizes.work += 1;
            let share = sizes.loads.share(load, costs);
            if share.blocking < 1.0 {
                least = least.min(f64::from(chips) * share.tasks / (1.0 - share.blocking));
            }
        }
        needed += least;
        alone.push(size);
    }
    (needed <= f64::from(chips) * (1.0 + 1e-6)).then_some(alone)
}

/// Tasks that share a cluster, and the smallest cluster they are schedulable in. Without tasks it has no chips.
#[derive(Debug, Clone, Default)]
struct Group {
    tasks: Vec<usize>,
    size: u32,
    costs: SizeCosts,
    share: Share,
}

/// Where a task might go: the cluster that its group would need.
#[derive(Clone, Copy)]
struct Place {
    /// `None`: a group of its own.
    group: Option<usize>,
    size: u32,
    /// Chips that it takes more than before.
    growth: u32,
    share: Share,
}

/// The search's state.
struct Groups<'a> {
    sizes: Sizes<'a>,
    chips: u32,
    /// The smallest cluster for each task alone.
    alone: Vec<u32>,
    groups: Vec<Group>,
    /// Each task's group.
    home: Vec<usize>,
    /// Chips that the groups need.
    needed: u64,
    /// What the groups touched in a step were before it.
    before: Vec<(usize, Group)>,
    random: u64,
}

impl<'a> Groups<'a> {
    fn new(sizes: Sizes<'a>, chips: u32, alone: Vec<u32>) -> Groups<'a> {
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
        let (size, share) = if group.tasks.is_empty() {
            (0, Share::default())
        } else {
            match self.sizes.smallest_size(&group.tasks, 1, group.size) {
                Some(found) => found,
                None => return, // Given up: the cluster that it had will do.
            }
        };
        self.needed -= u64::from(group.size - size);
        (group.size, group.share, group.costs) = (size, share, self.sizes.loads.size_costs(size));
    }

    /// Puts a task where it takes the fewest further chips, ties to the highest U, then to the lowest position.
    fn insert(&mut self, task: usize) {
        let size = self.alone[task];
        let mut best = Place { group: None, size, growth: size, share: Share::default() };
        for position in 0..self.groups.len() {
            if let Some(place) = self.place(task, position, best.growth)
                && (place.growth < best.growth || best.group.is_none() || place.share.total() > best.share.total())
            {
                best = place;
            }
        }
        let costs = self.sizes.loads.size_costs(best.size);
        let position = best.group.unwrap_or_else(|| {
            best.share = self.sizes.loads.share(&self.sizes.table[task], costs);
            self.empty_group()
        });
        self.touch(position);
        let group = &mut self.groups[position];
        group.tasks.push(task);
        (group.size, group.share, group.costs) = (best.size, best.share, costs);
        self.home[task] = position;
        self.needed += u64::from(best.growth);
    }

    /// The task in a group that has tasks, where that takes at most `growth` chips more.
    fn place(&mut self, task: usize, position: usize, growth: u32) -> Option<Place> {
        let group = &self.groups[position];
        if group.tasks.is_empty() {
            return None;
        }
        self.sizes.work += 1;
        let with = || [group.tasks.as_slice(), &[task]].concat();
        let share = group.share.with(self.sizes.loads.share(&self.sizes.table[task], group.costs));
        if self.sizes.loads.fits(share.total(), group.tasks.len() + 1, group.size, with) {
            return Some(Place { group: Some(position), size: group.size, growth: 0, share });
        }
        let most = group.size.saturating_add(growth).min(self.chips);
        if most == group.size {
            return None;
        }
        let (size, share) = self.sizes.smallest_size(&with(), group.size + 1, most)?;
        Some(Place { group: Some(position), size, growth: size - group.size, share })
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
