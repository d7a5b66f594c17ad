//! Partitions whose clusters hold only next to the right neighbours: what `exact` tries last.
//!
//! First each partition gets all chips, and a cluster that fails gets a chip of another one. Then
//! every size, placement and choice of chips of each partition is tried, which on small devices is
//! all that there is.

use std::collections::BTreeSet;

use rtflash_model::{Allocation, ChipId, Cluster, Placement, Task, TaskId};

use super::BoundedSearch;
use super::chips::ChipLayout;
use super::organisations::{DemandHeld, Organisation, Organisations};
use super::sizes::DemandSizes;
use crate::allocator::sizes::TaskGroup;
use crate::allocator::{Limit, exact};

/// Partitions times chips: with two page registers the right neighbours make a difference.
const PARTITIONS: [u64; 2] = [12_000, 120_000];
const TRIALS: [u64; 2] = [16_000, 160_000];
const MOVES: u32 = 12;
/// Steps of all partitions, times chips twice: on large devices trying all finds nothing.
const STEPS: u64 = 12_000_000;
const TRIAL: u64 = 64;
const FEWEST: u64 = 4;

struct TaskBlock {
    tasks: Vec<TaskId>,
    least: u32,
}

/// `organisations` and `subsets` are as if no page waited: no subset holds in fewer chips. A search
/// that is cut short is given up.
pub(super) fn search(
    from: &BoundedSearch<'_>,
    organisations: &Organisations<'_>,
    subsets: &exact::Subsets<DemandSizes<'_, '_>>,
) -> Option<Allocation> {
    let device = from.problem.set.device();
    let (chips, registers) = (u64::from(device.chips()).max(FEWEST), usize::from(device.has_cache_register()));
    let block = |block: usize| {
        let least = subsets.chips_of(block).expect("the blocks of a partition hold somewhere");
        TaskBlock { tasks: subsets.members(block), least }
    };
    let most = PARTITIONS[registers] / chips;
    let partitions = subsets.partitions(usize::try_from(most).expect("a few thousand"));
    let partitions: Vec<Vec<TaskBlock>> =
        partitions.into_iter().map(|blocks| blocks.into_iter().map(block).collect()).collect();
    let mean = pages(from.problem.set.tasks().iter()) / f64::from(device.chips());
    let mut search = PartitionTrials { from, organisations, mean, left: TRIALS[registers] / chips };
    let spread = |parts| search.spread(parts);
    let mut spread: Vec<SpreadPartition<'_>> = partitions.iter().filter_map(spread).collect();
    spread.sort_by(|a, b| a.most().total_cmp(&b.most()));
    if let Some(found) = spread.into_iter().find_map(|partition| search.moved(partition)) {
        return Some(found);
    }
    let (limit, mut is_cut) = (STEPS / (chips * chips), partitions.len() as u64 >= most);
    let mut left = limit;
    for (position, parts) in partitions.iter().enumerate() {
        let share = left / (partitions.len() - position) as u64;
        search.left = share;
        if let Some(found) = search.everywhere(parts, &mut ChipPlan::new(from, parts), 0, 0) {
            return Some(found);
        }
        left -= share - search.left;
        is_cut |= search.left == 0;
    }
    if is_cut {
        from.gives_up(Limit::TooMuchWork { limit });
    }
    None
}

struct SpreadPartition<'p> {
    parts: &'p [TaskBlock],
    groups: Vec<TaskGroup<DemandHeld>>,
}

impl SpreadPartition<'_> {
    fn most(&self) -> f64 {
        self.groups.iter().map(|group| group.held.load).fold(0.0, f64::max)
    }
}

struct ChipPlan {
    free: Vec<u32>,
    given: Vec<Vec<u32>>,
    placements: Vec<Placement>,
}

impl ChipPlan {
    fn new(from: &BoundedSearch<'_>, parts: &[TaskBlock]) -> ChipPlan {
        let (device, test) = (from.problem.set.device(), from.problem.test);
        let ways = device.chips_per_channel();
        let starts = (0..device.chips()).step_by(ways as usize);
        let free: Vec<u32> = starts.map(|start| (device.chips() - start).min(ways)).collect();
        let given = vec![vec![0; free.len()]; parts.len()];
        ChipPlan { free, given, placements: vec![test.idle(); parts.len()] }
    }

    /// The second of two channels that are alike so far gives no more than the first.
    fn most(&self, at: usize, channel: usize) -> u32 {
        let of = |channel: usize| self.given[..at].iter().map(move |given| given[channel]);
        let free = self.free[channel];
        let Some(before) = channel.checked_sub(1) else { return free };
        let given = self.given[at][before];
        if self.free[before] + given == free && of(before).eq(of(channel)) { free.min(given) } else { free }
    }
}

struct PartitionTrials<'s> {
    from: &'s BoundedSearch<'s>,
    organisations: &'s Organisations<'s>,
    mean: f64,
    left: u64,
}

impl PartitionTrials<'_> {
    fn chips(&self) -> u32 {
        self.from.problem.set.device().chips()
    }

    /// Tasks hold there if no page waits; the load is rough, as if other chips moved the mean.
    fn holding(&self, part: &TaskBlock, size: u32) -> impl Iterator<Item = DemandHeld> {
        let (organisations, problem) = (self.organisations, &self.from.problem);
        let device = problem.set.device();
        let tasks = part.tasks.iter().filter_map(|&task| problem.set.tasks().get(task));
        let others = f64::from(device.chips_per_channel().min(device.chips()) - 1);
        let moved = (pages(tasks) / f64::from(size)).min(self.mean);
        let wait = device.page_transfer().as_ns() as f64 * others * moved;
        let placements = problem.test.placements.iter();
        placements.map(|&placement| Organisation::on_any_chips(placement)).filter_map(move |organisation| {
            let may_be = organisations.may_be(organisation, size);
            let alone = may_be.then(|| organisations.load(&part.tasks, organisation, size))??;
            let load = if organisation.placement.is_cached() {
                organisations.load_in_the_worst_case(&part.tasks, organisation, size)
            } else {
                alone + wait
            };
            Some(DemandHeld { organisation, load })
        })
    }

    fn group(&self, part: &TaskBlock, size: u32) -> Option<TaskGroup<DemandHeld>> {
        let held = self.holding(part, size).min_by(|a, b| a.load.total_cmp(&b.load))?;
        Some(TaskGroup { tasks: part.tasks.clone(), size, held })
    }

    /// Each chip left goes to the cluster that has most to do of those that gain by it.
    fn spread<'p>(&self, parts: &'p Vec<TaskBlock>) -> Option<SpreadPartition<'p>> {
        let groups = parts.iter().map(|part| self.group(part, part.least));
        let mut groups: Vec<TaskGroup<DemandHeld>> = groups.collect::<Option<_>>()?;
        for _ in groups.iter().map(|group| group.size).sum()..self.chips() {
            let mut order: Vec<usize> = (0..groups.len()).collect();
            order.sort_by(|&a, &b| groups[b].held.load.total_cmp(&groups[a].held.load));
            let larger = order.into_iter().find_map(|at| {
                let larger = self.group(&parts[at], groups[at].size + 1)?;
                (larger.held.load < groups[at].held.load).then_some((at, larger))
            });
            let Some((at, larger)) = larger else { break };
            groups[at] = larger;
        }
        Some(SpreadPartition { parts, groups })
    }

    /// After each a cluster that fails gets a chip, of the least busy one if none is free.
    fn moved(&mut self, SpreadPartition { parts, mut groups }: SpreadPartition<'_>) -> Option<Allocation> {
        let mut seen = BTreeSet::new();
        for _ in 0..MOVES {
            let sizes: Vec<u32> = groups.iter().map(|group| group.size).collect();
            if self.left == 0 || !seen.insert(sizes.clone()) {
                return None;
            }
            self.left -= 1;
            let failing = match self.from.trial(&groups, ChipLayout::Balanced)? {
                Ok(allocation) => return Some(allocation),
                Err(failing) => failing,
            };
            if sizes.iter().sum::<u32>() == self.chips() {
                let donors = (0..parts.len()).filter(|&donor| donor != failing && sizes[donor] > parts[donor].least);
                let smaller = donors.filter_map(|at| Some((at, self.group(&parts[at], sizes[at] - 1)?)));
                let (donor, smaller) = smaller.min_by(|a, b| a.1.held.load.total_cmp(&b.1.held.load))?;
                groups[donor] = smaller;
            }
            groups[failing] = self.group(&parts[failing], sizes[failing] + 1)?;
        }
        None
    }

    /// Gives chips from `channel` on to the cluster `at`, in every way, then to the others.
    fn everywhere(
        &mut self,
        parts: &[TaskBlock],
        plan: &mut ChipPlan,
        at: usize,
        channel: usize,
    ) -> Option<Allocation> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let Some(part) = parts.get(at) else {
            self.left = self.left.saturating_sub(TRIAL);
            return self.planned(parts, plan);
        };
        if channel == plan.free.len() {
            let size = plan.given[at].iter().sum();
            if size < part.least {
                return None;
            }
            let placements: Vec<Placement> = self.holding(part, size).map(|held| held.organisation.placement).collect();
            return placements.into_iter().find_map(|placement| {
                plan.placements[at] = placement;
                self.everywhere(parts, plan, at + 1, 0)
            });
        }
        (0..=plan.most(at, channel)).find_map(|here| {
            plan.given[at][channel] = here;
            plan.free[channel] -= here;
            let found = self.everywhere(parts, plan, at, channel + 1);
            plan.free[channel] += here;
            plan.given[at][channel] = 0;
            found
        })
    }

    /// The clusters of a plan, chips left over as clusters of their own, if they hold.
    fn planned(&self, parts: &[TaskBlock], plan: &ChipPlan) -> Option<Allocation> {
        let problem = &self.from.problem;
        let starts = (0..self.chips()).step_by(problem.set.device().chips_per_channel() as usize);
        let mut next: Vec<u32> = starts.collect();
        let mut clusters: Vec<(Cluster, Placement)> = Vec::new();
        for ((part, given), &placement) in parts.iter().zip(&plan.given).zip(&plan.placements) {
            let mut chips = Vec::new();
            for (next, count) in next.iter_mut().zip(given) {
                chips.extend((*next..*next + count).map(ChipId));
                *next += count;
            }
            clusters.push((Cluster { chips, tasks: part.tasks.clone() }, placement));
        }
        for (next, free) in next.into_iter().zip(&plan.free) {
            clusters.extend((next..next + free).map(|chip| (Cluster::of([chip], []), problem.test.idle())));
        }
        clusters.sort_by_key(|(cluster, _)| cluster.chips.first().copied());
        let (clusters, placements): (Vec<Cluster>, Vec<Placement>) = clusters.into_iter().unzip();
        self.from.certified(&clusters, &placements)?.ok()
    }
}

fn pages<'t>(tasks: impl Iterator<Item = &'t Task>) -> f64 {
    let requests = tasks.flat_map(|task| task.requests()).map(|(request, _)| request);
    requests.map(|request| request.pages() as f64 / request.period().as_ns() as f64).sum()
}
