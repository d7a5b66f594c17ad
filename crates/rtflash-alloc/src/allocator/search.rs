//! A search over groups of tasks: some tasks are taken out and put back, again and again.

use rtflash_analysis::{Analysis, Work};
use rtflash_model::{Id, TaskId, TaskSet};

use super::best_fit::Groups;
use super::sizes::{Sizes, Smallest, TaskGroup};
use super::{Allocator, Outcome, Strategy};

/// Ruin and recreate (Schrimpf et al., Journal of Computational Physics 159, 2000), where
/// [`ClusteringBfd`](super::ClusteringBfd) finds nothing.
///
/// It begins with [`BestFit`](super::BestFit)'s groups. 50 times for each task, up to six tasks of
/// up to four groups are taken out and put back, in random order; a step that needs more chips is
/// undone. The random numbers are the same every time.
///
/// Under Theorem 1, O(n²·(log m + `m_c`)) evaluations of a task's utilization, at most 2²⁷; none
/// where the tasks' shares are too much however they are grouped. Under a demand test at most 100
/// 000 tests for each supposition about the bus, and Clustering-BFD comes last.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClusteringSearch;

impl ClusteringSearch {
    /// Steps of the search for each task of the set.
    const STEPS: usize = 50;
    const LOOSE: usize = 6;
    const GROUPS: usize = 4;
    /// Evaluations of a task's utilization after which it gives up: a second or so.
    pub(super) const MAX_WORK: u64 = 1 << 27;
}

impl Allocator for ClusteringSearch {
    fn name(&self) -> &'static str {
        "clustering-search"
    }

    fn summary(&self) -> &'static str {
        "clustering-bfd, and where it finds nothing, a search of bounded length"
    }

    fn divide(&self, set: &TaskSet, analysis: &dyn Analysis, work: &Work) -> Outcome {
        super::allocate(set, analysis, work, Strategy::Search)
    }

    fn relative_work(&self, _tasks: usize) -> u64 {
        32
    }
}

/// Under a test that is not monotone the groups have to be tested again.
pub(super) fn search<S: Sizes>(sizes: S) -> Option<Vec<TaskGroup<S::Held>>> {
    let mut groups = Groups::new(sizes).ok()?;
    if groups.sizes.surely_too_many(&groups.alone) {
        return None;
    }
    let order = groups.order();
    order.iter().for_each(|&task| groups.insert(task));
    let mut search = RuinAndRecreate { groups, random: 0 };
    for _ in 0..ClusteringSearch::STEPS * order.len() {
        if search.groups.fit() {
            break;
        }
        if search.groups.sizes.exhausted().is_some() {
            return None;
        }
        search.step();
    }
    search.groups.fit().then(|| search.groups.into_groups())
}

struct RuinAndRecreate<S: Sizes> {
    groups: Groups<S>,
    random: u64,
}

impl<S: Sizes> RuinAndRecreate<S> {
    /// Takes some tasks out and puts them back elsewhere, if that needs no more chips.
    fn step(&mut self) {
        let needed = self.groups.needed;
        self.groups.before.clear();
        let loose = self.take_out();
        loose.iter().for_each(|&task| self.groups.insert(task));
        if self.groups.needed > needed {
            self.groups.needed = needed;
            self.groups.undo();
        }
    }

    fn take_out(&mut self) -> Vec<TaskId> {
        let mut pool: Vec<TaskId> = Vec::new();
        for _ in 0..ClusteringSearch::GROUPS {
            let task = TaskId::from_index(self.draw(self.groups.home.len()));
            let position = self.groups.home[task];
            if self.groups.touch(position) {
                pool.extend(&self.groups.groups[position].tasks);
            }
        }
        let mut loose = Vec::with_capacity(ClusteringSearch::LOOSE);
        for _ in 0..ClusteringSearch::LOOSE.min(pool.len()) {
            let at = self.draw(pool.len());
            let task = pool.swap_remove(at);
            let home = self.groups.home[task];
            self.groups.groups[home].tasks.retain(|&other| other != task);
            loose.push(task);
        }
        for touched in 0..self.groups.before.len() {
            self.shrink(self.groups.before[touched].0);
        }
        loose
    }

    fn shrink(&mut self, position: usize) {
        let Groups { sizes, groups, needed, .. } = &mut self.groups;
        let group = &mut groups[position];
        let Smallest { size, held } = if group.tasks.is_empty() {
            Smallest::default()
        } else {
            match sizes.smallest_size(&group.tasks, 1, group.size.min(sizes.chips())) {
                Some(found) => found,
                // Given up: the cluster that it had will do.
                None if sizes.exhausted().is_some() => Smallest { size: group.size, held: group.held },
                // Under a test that is not monotone, fewer tasks may be too many. No allocation is
                // found with such a group.
                None => Smallest { size: sizes.chips().saturating_add(1), held: S::Held::default() },
            }
        };
        *needed = *needed - u64::from(group.size) + u64::from(size);
        (group.size, group.held) = (size, held);
    }

    /// From a fixed sequence (`SplitMix64`: Steele, Lea and Flood, OOPSLA 2014).
    fn draw(&mut self, bound: usize) -> usize {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let product = u128::from(mixed ^ (mixed >> 31)) * bound as u128;
        usize::try_from(product >> 64).expect("below the bound")
    }
}
