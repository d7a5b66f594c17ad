//! The optimum: an allocation whenever there is one, by search over all partitions of the tasks.

use rtflash_analysis::{Analysis, Work};
use rtflash_model::{TaskId, TaskSet};

use super::clusters::index;
use super::sizes::{PartitionPrice, Sizes, Smallest, TaskGroup};
use super::{Allocator, Limit, Outcome, Strategy};

/// Finds an allocation whenever one exists, and of these one that leaves most to other jobs: Σ
/// U_s(φ), Eq. (IV.10), a chip without tasks counting 1, to within 10⁻⁹. Existence is decided
/// exactly, for up to [`Exact::MAX_TASKS`] tasks.
///
/// A subset of the tasks is best served in its smallest size, as a further chip costs the objective
/// 1 and cannot lower U by as much: dynamic programming over partitions into blocks of those sizes.
///
/// Under a [`ClusterTest`](rtflash_analysis::ClusterTest) every size is tried, so an allocation is
/// found whatever the test is like; the objective is that of tests like Theorem 1.
///
/// Under a demand test each subset is in the smallest cluster that holds wherever it is: the fewest
/// chips, then the least to do. If these are too many because of the bus, clusters that need the
/// right neighbours are tried: all of them on small devices; on larger ones the search is cut
/// short, and cannot tell.
#[derive(Debug, Clone, Copy, Default)]
pub struct Exact;

impl Exact {
    /// Tasks that it searches.
    pub const MAX_TASKS: u32 = 16;
    /// Evaluations of a task's utilization; only devices of very many chips get there.
    pub(super) const MAX_WORK: u64 = 1 << 34;

    pub(super) fn refuses(tasks: u32) -> Option<Limit> {
        (tasks > Exact::MAX_TASKS).then_some(Limit::TooManyTasks { tasks, limit: Exact::MAX_TASKS })
    }
}

impl Allocator for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn summary(&self) -> &'static str {
        "an allocation whenever there is one, with the most capacity left (up to 16 tasks; under the sound \
         analyses the last part of the search is bounded)"
    }

    fn divide(&self, set: &TaskSet, analysis: &dyn Analysis, work: &Work) -> Outcome {
        super::allocate(set, analysis, work, Strategy::Exact)
    }

    fn relative_work(&self, tasks: usize) -> u64 {
        // Beyond 40 tasks it is more than can be counted.
        3u64.saturating_pow(u32::try_from(tasks.min(64)).expect("at most 64")) / 1_000
    }
}

/// The best partition, in order of lowest tasks; `None` where there is none.
pub(super) fn search<S: Sizes>(sizes: &mut S) -> Result<Option<Vec<TaskGroup<S::Held>>>, Limit> {
    match Exact::refuses(sizes.tasks()) {
        Some(limit) => Err(limit),
        None => Ok(Subsets::new(sizes, None)?.best_partition()),
    }
}

/// If fewer chips count before their cost, only subsets that can be part of a partition of the
/// fewest chips are tested. All take 1.5 times the instructions for 8 tasks on 16 chips (`sound`).
pub(super) fn search_fewest<S: Sizes>(
    sizes: &mut S,
    mut least: LeastSizes,
) -> Result<Option<Vec<TaskGroup<S::Held>>>, Limit> {
    let mut subsets = Subsets::untested(sizes);
    for round in 0.. {
        let Some(fewest) = least.fewest() else { break };
        let most = if round < ROUNDS { fewest } else { sizes.chips() };
        subsets.test(sizes, Some((&least, most)))?;
        least.raise(&subsets.size);
        // Its blocks were all tested.
        if least.fewest().is_some_and(|fewest| fewest <= most) {
            subsets.chips = most;
            return Ok(subsets.best_partition());
        }
    }
    Ok(None)
}

const ROUNDS: u32 = 4;

const NEVER: u32 = u32::MAX;
/// A subset that was not tested: it is part of no partition that is looked for.
const UNTESTED: u32 = NEVER - 1;

pub(super) struct Subsets<S: Sizes> {
    tasks: u32,
    chips: u32,
    /// s(Q), or `NEVER`, or `UNTESTED`.
    size: Vec<u32>,
    held: Vec<S::Held>,
    /// The subset's cost of the spared quantity.
    cost: Vec<f64>,
}

/// A partition of a subset: its price, its last block, and which entry of the rest comes before.
#[derive(Debug, Clone, Copy)]
struct PartialPartition {
    price: PartitionPrice,
    block: usize,
    rest: u32,
}

impl<S: Sizes> Subsets<S> {
    /// An error where it is too much work. Subsets of no partition are taken to hold nowhere.
    pub fn new(sizes: &mut S, least: Option<&LeastSizes>) -> Result<Subsets<S>, Limit> {
        let mut subsets = Subsets::untested(sizes);
        subsets.test(sizes, least.map(|least| (least, sizes.chips())))?;
        Ok(subsets)
    }

    fn untested(sizes: &S) -> Subsets<S> {
        let (tasks, chips) = (sizes.tasks(), sizes.chips());
        let all = 1usize << tasks;
        let (size, held, cost) = (vec![UNTESTED; all], vec![S::Held::default(); all], vec![0.0; all]);
        Subsets { tasks, chips, size, held, cost }
    }

    /// Those that can be part of a partition of at most `within` chips, and were not tested before.
    fn test(&mut self, sizes: &mut S, within: Option<(&LeastSizes, u32)>) -> Result<(), Limit> {
        for subset in 1..self.size.len() {
            let may_be_used = within.is_none_or(|(least, most)| least.may_be_used(subset, most));
            if self.size[subset] != UNTESTED || !may_be_used {
                continue;
            }
            let members = self.members(subset);
            // If more tasks never need fewer chips, a subset needs at least as many as each of its
            // own subsets.
            let parts = members.iter().map(|task| self.size[subset & !(1 << task.0)]).filter(|&size| size != UNTESTED);
            let known = within.map_or(1, |(least, _)| least.sizes[subset]);
            let least = if sizes.is_monotone() { parts.fold(known, u32::max) } else { 1 };
            let found = if least == NEVER { None } else { sizes.smallest_size(&members, least, sizes.chips()) };
            if let Some(limit) = sizes.exhausted() {
                return Err(limit);
            }
            let Some(Smallest { size, held }) = found else {
                self.size[subset] = NEVER;
                continue;
            };
            (self.size[subset], self.held[subset], self.cost[subset]) = (size, held, S::cost(size, held));
        }
        Ok(())
    }

    pub fn members(&self, subset: usize) -> Vec<TaskId> {
        TaskId::first(self.tasks).filter(|task| subset >> task.0 & 1 == 1).collect()
    }

    pub fn chips_of(&self, subset: usize) -> Option<u32> {
        Some(self.size[subset]).filter(|&size| size < UNTESTED)
    }

    pub fn best_partition(&self) -> Option<Vec<TaskGroup<S::Held>>> {
        let all = (1usize << self.tasks) - 1;
        let mut best: Vec<Vec<PartialPartition>> = Vec::with_capacity(all + 1);
        best.push(vec![PartialPartition { price: PartitionPrice { chips: 0, cost: 0.0 }, block: 0, rest: 0 }]);
        for subset in 1..=all {
            let mut entries = Vec::new();
            for block in blocks_of(subset).filter(|&block| self.size[block] < UNTESTED) {
                for (rest, entry) in best[subset & !block].iter().enumerate() {
                    let chips = entry.price.chips.saturating_add(self.size[block]);
                    if chips <= self.chips {
                        let price = PartitionPrice { chips, cost: entry.price.cost + self.cost[block] };
                        keep::<S>(&mut entries, PartialPartition { price, block, rest: index(rest) });
                    }
                }
            }
            best.push(entries);
        }
        let (start, _) = best[all].iter().enumerate().min_by(|a, b| a.1.price.cost.total_cmp(&b.1.price.cost))?;
        let (mut subset, mut at, mut groups) = (all, start, Vec::new());
        while subset != 0 {
            let PartialPartition { block, rest, .. } = best[subset][at];
            groups.push(TaskGroup { tasks: self.members(block), size: self.size[block], held: self.held[block] });
            (subset, at) = (subset & !block, rest as usize);
        }
        groups.sort_by_key(|group| group.tasks.first().copied());
        Some(groups)
    }

    /// Those with small clusters first.
    pub fn partitions(&self, most: usize) -> Vec<Vec<usize>> {
        let all = (1usize << self.tasks) - 1;
        let fewest = fewest_chips(self.tasks, self.chips, |block| self.chips_of(block));
        let mut search = PartitionSearch { fewest, found: Vec::new(), most };
        self.split(all, self.chips, &mut Vec::new(), &mut search);
        search.found
    }

    /// Blocks first with which all of the subset needs the fewest chips, of these the least loaded.
    fn split(&self, subset: usize, chips: u32, blocks: &mut Vec<usize>, search: &mut PartitionSearch) {
        if search.found.len() >= search.most {
            return;
        }
        if subset == 0 {
            search.found.push(blocks.clone());
            return;
        }
        let option = |block: usize| {
            let needed = self.chips_of(block)?.checked_add(search.fewest[subset & !block]?)?;
            (needed <= chips).then_some((needed, S::load(self.held[block]), block))
        };
        let mut options: Vec<(u32, f64, usize)> = blocks_of(subset).filter_map(option).collect();
        options.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        for (_, _, block) in options {
            blocks.push(block);
            self.split(subset & !block, chips - self.size[block], blocks, search);
            blocks.pop();
        }
    }
}

struct PartitionSearch {
    /// The fewest chips that each subset needs, so that no partition is begun that cannot be ended.
    fewest: Vec<Option<u32>>,
    found: Vec<Vec<usize>>,
    most: usize,
}

/// The subset divided into blocks of these sizes; `None` for more chips than there are.
fn fewest_chips(tasks: u32, chips: u32, size: impl Fn(usize) -> Option<u32>) -> Vec<Option<u32>> {
    let all = (1usize << tasks) - 1;
    let mut fewest: Vec<Option<u32>> = vec![None; all + 1];
    fewest[0] = Some(0);
    for subset in 1..=all {
        let sums = blocks_of(subset).filter_map(|block| size(block)?.checked_add(fewest[subset & !block]?));
        fewest[subset] = sums.min().filter(|&needed| needed <= chips);
    }
    fewest
}

fn fewest_of(tasks: u32, chips: u32, sizes: &[u32]) -> Vec<Option<u32>> {
    fewest_chips(tasks, chips, |block| Some(sizes[block]).filter(|&size| size != NEVER))
}

pub(super) struct LeastSizes {
    tasks: u32,
    chips: u32,
    /// `NEVER` for more than there are.
    sizes: Vec<u32>,
    fewest: Vec<Option<u32>>,
}

impl LeastSizes {
    /// By how many chips some tasks need together, from that many on.
    pub fn new(tasks: u32, chips: u32, least: impl Fn(&[TaskId], u32) -> Option<u32>) -> LeastSizes {
        let mut sizes = vec![1; 1 << tasks];
        for subset in 1..1usize << tasks {
            let members: Vec<TaskId> = TaskId::first(tasks).filter(|task| subset >> task.0 & 1 == 1).collect();
            // No fewer than for each part of them.
            let part = members.iter().map(|task| sizes[subset & !(1 << task.0)]).fold(1, u32::max);
            sizes[subset] = if part == NEVER { NEVER } else { least(&members, part).unwrap_or(NEVER) };
        }
        let fewest = fewest_of(tasks, chips, &sizes);
        LeastSizes { tasks, chips, sizes, fewest }
    }

    fn raise(&mut self, tested: &[u32]) {
        for (size, &tested) in self.sizes.iter_mut().zip(tested).filter(|(_, tested)| **tested != UNTESTED) {
            *size = tested;
        }
        self.fewest = fewest_of(self.tasks, self.chips, &self.sizes);
    }

    pub fn fewest(&self) -> Option<u32> {
        *self.fewest.last().expect("that of no tasks, if no other")
    }

    fn may_be_used(&self, subset: usize, most: u32) -> bool {
        let rest = self.fewest[self.fewest.len() - 1 - subset];
        rest.and_then(|rest| rest.checked_add(self.sizes[subset])).is_some_and(|needed| needed <= most)
    }
}

/// Each partition has one of them, so that blocks taken in that order give each partition once.
fn blocks_of(subset: usize) -> impl Iterator<Item = usize> {
    let highest = 1usize << subset.ilog2();
    let others = subset & !highest;
    let mut next = Some(others);
    std::iter::from_fn(move || {
        let part = next?;
        next = (part > 0).then(|| (part - 1) & others);
        Some(part | highest)
    })
}

fn keep<S: Sizes>(entries: &mut Vec<PartialPartition>, entry: PartialPartition) {
    if entries.iter().any(|other| S::beats(other.price, entry.price)) {
        return;
    }
    entries.retain(|other| !S::beats(entry.price, other.price));
    entries.push(entry);
}

#[cfg(test)]
mod tests {
    use rtflash_model::PerId;
    use rtflash_model::random::Stream;

    use super::*;

    /// Sizes and loads of all subsets, and how many were asked for.
    struct Table {
        tasks: u32,
        chips: u32,
        by_subset: Vec<Smallest<f64>>,
        asked: usize,
    }

    impl Sizes for Table {
        type Held = f64;

        fn load(held: f64) -> f64 {
            held
        }

        fn cost(chips: u32, held: f64) -> f64 {
            held * f64::from(chips)
        }

        fn beats(one: PartitionPrice, other: PartitionPrice) -> bool {
            one <= other
        }

        fn tasks(&self) -> u32 {
            self.tasks
        }

        fn chips(&self) -> u32 {
            self.chips
        }

        fn is_monotone(&self) -> bool {
            true
        }

        fn order(&mut self, alone: &PerId<TaskId, Smallest<f64>>) -> Vec<TaskId> {
            alone.ids().collect()
        }

        fn smallest_size(&mut self, tasks: &[TaskId], least: u32, most: u32) -> Option<Smallest<f64>> {
            self.asked += 1;
            let smallest = self.by_subset[mask(tasks)];
            assert!(least <= smallest.size, "no size is passed over");
            (smallest.size <= most).then_some(smallest)
        }

        fn joined(&mut self, _: &TaskGroup<f64>, _: TaskId) -> Option<f64> {
            None
        }

        fn exhausted(&self) -> Option<Limit> {
            None
        }
    }

    fn mask(tasks: &[TaskId]) -> usize {
        tasks.iter().map(|task| 1 << task.0).sum()
    }

    /// The least need of each subset leaves out tests, and changes no result.
    #[test]
    fn subsets_that_are_part_of_no_best_partition_need_no_test() {
        let (mut found, mut none, mut asked, mut all) = (0, 0, 0, 0);
        for number in 0..600 {
            let mut random = Stream::numbered(1, b"fewestof", number);
            let tasks = 1 + u32::try_from(random.below(6)).expect("few");
            let chips = 1 + u32::try_from(random.below(12)).expect("few");
            let work: Vec<u64> = (0..tasks).map(|_| 1 + random.below(20)).collect();
            let (room, short) = (5 + random.below(10), random.below(3));
            let mut by_subset = vec![Smallest { size: 1, held: 0.0 }; 1 << tasks];
            let mut bounds = vec![1u32; 1 << tasks];
            for subset in 1..1usize << tasks {
                let of = || (0..tasks).filter(move |task| subset >> task & 1 == 1);
                let all: u64 = of().map(|task| work[task as usize]).sum();
                let part = of().map(|task| by_subset[subset & !(1 << task)].size).fold(1, u32::max);
                let size = part.max(u32::try_from(all.div_ceil(room) + random.below(1 + short)).expect("few"));
                by_subset[subset] = Smallest { size, held: random.below(4) as f64 / 4.0 };
                bounds[subset] = size - u32::try_from(random.below(1 + short).min(size as u64 - 1)).expect("few");
            }
            let table = || Table { tasks, chips, by_subset: by_subset.clone(), asked: 0 };
            let (mut whole, mut part) = (table(), table());
            let least =
                |tasks: &[TaskId], least: u32| Some(bounds[mask(tasks)].max(least)).filter(|&size| size <= chips);
            let expected = search(&mut whole).expect("no limit");
            let got = search_fewest(&mut part, LeastSizes::new(tasks, chips, least)).expect("no limit");
            let listed = |groups: Option<Vec<TaskGroup<f64>>>| {
                groups.map(|groups| {
                    groups.into_iter().map(|group| (group.tasks, group.size, group.held)).collect::<Vec<_>>()
                })
            };
            (asked, all) = (asked + part.asked, all + whole.asked);
            *(if expected.is_some() { &mut found } else { &mut none }) += 1;
            assert_eq!(listed(got), listed(expected), "{number}");
        }
        assert!(found > 200 && none > 200 && asked < all / 2, "{found} {none} {asked} {all}");
    }

    /// The fewest chips of all partitions of these tasks, by trying each.
    fn fewest_of_all(rest: &[u32], blocks: &mut Vec<Vec<u32>>, size: &dyn Fn(&[u32]) -> u32) -> u32 {
        let Some((&first, rest)) = rest.split_first() else { return blocks.iter().map(|block| size(block)).sum() };
        let mut best = u32::MAX;
        for at in 0..=blocks.len() {
            if at == blocks.len() {
                blocks.push(vec![]);
            }
            blocks[at].push(first);
            best = best.min(fewest_of_all(rest, blocks, size));
            blocks[at].pop();
            if blocks[at].is_empty() {
                blocks.pop();
            }
        }
        best
    }

    /// Too many chips are too many for every partition, and for no other.
    #[test]
    fn too_many_chips_are_needed_where_every_partition_needs_them() {
        let (mut many, mut few) = (0, 0);
        for number in 0..400 {
            let mut random = Stream::numbered(1, b"too-many", number);
            let tasks = 1 + u32::try_from(random.below(6)).expect("few");
            let work: Vec<u64> = (0..tasks).map(|_| 1 + random.below(20)).collect();
            let (room, more) = (5 + random.below(10), random.below(3));
            let size = |of: &[u32]| {
                let all: u64 = of.iter().map(|&task| work[task as usize]).sum();
                u32::try_from((all + more * (of.len() as u64 - 1)).div_ceil(room)).expect("few")
            };
            let all: Vec<u32> = (0..tasks).collect();
            let needed = fewest_of_all(&all, &mut Vec::new(), &size);
            for chips in [needed - 1, needed] {
                let fewest = |tasks: &[TaskId], least: u32| {
                    let tasks: Vec<u32> = tasks.iter().map(|task| task.0).collect();
                    Some(size(&tasks).max(least)).filter(|&size| size <= chips)
                };
                assert_eq!(
                    LeastSizes::new(tasks, chips, fewest).fewest(),
                    Some(needed).filter(|&needed| needed <= chips),
                    "{number}: {work:?}"
                );
                *(if chips < needed { &mut many } else { &mut few }) += 1;
            }
        }
        assert!(many > 300 && few > 300);
    }
}
