//! Best fit into clusters that grow: each task where it takes the fewest chips more.

use rtflash_analysis::{Analysis, Work};
use rtflash_model::{ChipId, Cluster, PerId, TaskId, TaskSet};

use super::sizes::{Sizes, Smallest, TaskGroup};
use super::{Allocator, Limit, Outcome, Strategy};

/// Best fit into the smallest clusters: each task goes where it takes the fewest chips more. A task
/// that fits in no cluster makes one larger, or gets its own.
///
/// Under a utilization test tasks are in Algorithm 1's order; ties go to the highest U with the
/// task, then to the lowest position.
///
/// Under a demand test the task that takes most of the device alone is first: load times chips.
/// Clusters are tested as if the bus were as busy as can be; ties go to the highest load, and eight
/// clusters are tried for more chips. If the chips do not suffice, pages are taken to wait less,
/// in some steps, and certificates, made where the clusters are then, decide.
#[derive(Debug, Clone, Copy, Default)]
pub struct BestFit;

impl Allocator for BestFit {
    fn name(&self) -> &'static str {
        "best-fit"
    }

    fn summary(&self) -> &'static str {
        "each task where it takes the fewest chips more, clusters in their smallest sizes"
    }

    fn divide(&self, set: &TaskSet, analysis: &dyn Analysis, work: &Work) -> Outcome {
        super::allocate(set, analysis, work, Strategy::Growing)
    }
}

pub(super) enum Filled<H> {
    /// All tasks, in groups that need no more chips than there are.
    Fits(Vec<TaskGroup<H>>),
    /// The first task for which there are not enough chips, and the groups without it.
    Full { task: TaskId, before: Vec<TaskGroup<H>> },
    /// A limit was reached.
    GivenUp(Limit),
}

pub(super) fn filled<S: Sizes>(sizes: S) -> Filled<S::Held> {
    sizes.notify(0);
    let mut groups = match Groups::new(sizes) {
        Ok(groups) => groups,
        Err(NeverFits { limit: Some(limit), .. }) => return Filled::GivenUp(limit),
        Err(NeverFits { task, limit: None }) => return Filled::Full { task, before: Vec::new() },
    };
    for (task, placed) in groups.order().into_iter().zip(1..) {
        groups.before.clear();
        groups.insert(task);
        if let Some(limit) = groups.sizes.exhausted() {
            return Filled::GivenUp(limit);
        }
        if !groups.fit() {
            groups.undo();
            return Filled::Full { task, before: groups.into_groups() };
        }
        groups.sizes.notify(placed);
    }
    Filled::Fits(groups.into_groups())
}

/// Clusters on the first chips, and of all that are left the largest that can pass.
pub(super) fn clusters<H>(set: &TaskSet, groups: Vec<TaskGroup<H>>, most_chips: u32) -> Vec<Cluster> {
    let mut next = 0;
    let mut take = |size: u32, tasks: Vec<TaskId>| {
        let chips = (next..next + size).map(ChipId).collect();
        next += size;
        Cluster { chips, tasks }
    };
    let mut clusters: Vec<Cluster> = groups.into_iter().map(|group| take(group.size, group.tasks)).collect();
    let used: u32 = clusters.iter().map(Cluster::size).sum();
    if used < set.device().chips() {
        clusters.push(take(most_chips.min(set.device().chips() - used), Vec::new()));
    }
    clusters
}

/// A task that no cluster of the device holds, or a limit that was reached before one was found.
pub(super) struct NeverFits {
    pub task: TaskId,
    pub limit: Option<Limit>,
}

pub(super) struct Groups<S: Sizes> {
    pub sizes: S,
    pub alone: PerId<TaskId, Smallest<S::Held>>,
    pub groups: Vec<TaskGroup<S::Held>>,
    pub home: PerId<TaskId, usize>,
    pub needed: u64,
    /// The former state of the groups touched since it was cleared.
    pub before: Vec<(usize, TaskGroup<S::Held>)>,
}

#[derive(Clone, Copy)]
struct GroupChoice<H> {
    group: Option<usize>,
    size: u32,
    growth: u32,
    held: H,
}

impl<S: Sizes> Groups<S> {
    pub fn new(mut sizes: S) -> Result<Groups<S>, NeverFits> {
        let chips = sizes.chips();
        let mut alone = PerId::default();
        for task in TaskId::first(sizes.tasks()) {
            let found = sizes.smallest_size(&[task], 1, chips);
            alone.push(found.ok_or_else(|| NeverFits { task, limit: sizes.exhausted() })?);
        }
        let home = PerId::filled(0, sizes.tasks());
        Ok(Groups { sizes, alone, groups: Vec::new(), home, needed: 0, before: Vec::new() })
    }

    pub fn order(&mut self) -> Vec<TaskId> {
        self.sizes.order(&self.alone)
    }

    pub fn fit(&self) -> bool {
        self.needed <= u64::from(self.sizes.chips())
    }

    pub fn into_groups(self) -> Vec<TaskGroup<S::Held>> {
        self.groups.into_iter().filter(|group| !group.tasks.is_empty()).collect()
    }

    pub fn insert(&mut self, task: TaskId) {
        let best = self.joined(task).unwrap_or_else(|| self.grown(task));
        let position = best.group.unwrap_or_else(|| self.empty_group());
        self.touch(position);
        let group = &mut self.groups[position];
        group.tasks.push(task);
        (group.size, group.held) = (best.size, best.held);
        self.home[task] = position;
        self.needed += u64::from(best.growth);
    }

    fn joined(&mut self, task: TaskId) -> Option<GroupChoice<S::Held>> {
        let tried = self.sizes.joinable(&self.groups, self.alone[task]);
        let mut best: Option<GroupChoice<S::Held>> = None;
        for position in tried {
            let group = &self.groups[position];
            if group.tasks.is_empty() || group.size > self.sizes.chips() {
                continue;
            }
            if let Some(held) = self.sizes.joined(group, task)
                && best.is_none_or(|best| S::load(held) > S::load(best.held))
            {
                best = Some(GroupChoice { group: Some(position), size: group.size, growth: 0, held });
                if !S::FULLEST {
                    break;
                }
            }
        }
        best
    }

    /// The task in a group that gets chips for it, or in one of its own.
    fn grown(&mut self, task: TaskId) -> GroupChoice<S::Held> {
        let Smallest { size, held } = self.alone[task];
        let mut best = GroupChoice { group: None, size, growth: size, held };
        let tried = self.sizes.growable(&self.groups, self.alone[task]);
        for position in tried {
            let group = &self.groups[position];
            let least = group.size + u32::from(!S::REORGANISES);
            let chips = self.sizes.chips();
            let Some(growth) = best.growth.checked_sub(u32::from(!S::FULLEST)) else { break };
            let most = group.size.saturating_add(growth).min(chips);
            if group.tasks.is_empty() || least > most {
                continue;
            }
            let with = [group.tasks.as_slice(), &[task]].concat();
            let Some(Smallest { size, held }) = self.sizes.smallest_size(&with, least, most) else { continue };
            let place = GroupChoice { group: Some(position), size, growth: size - group.size, held };
            let fuller = || S::FULLEST && (best.group.is_none() || S::load(held) > S::load(best.held));
            if place.growth < best.growth || fuller() {
                best = place;
            }
        }
        best
    }

    /// Remembers a group as it is. Whether it had not been touched.
    pub fn touch(&mut self, position: usize) -> bool {
        let first = self.before.iter().all(|&(touched, _)| touched != position);
        if first {
            self.before.push((position, self.groups[position].clone()));
        }
        first
    }

    /// The caller knows what is needed then, or does not ask.
    pub fn undo(&mut self) {
        for (position, group) in std::mem::take(&mut self.before) {
            group.tasks.iter().for_each(|&task| self.home[task] = position);
            self.groups[position] = group;
        }
    }

    fn empty_group(&mut self) -> usize {
        self.groups.iter().position(|group| group.tasks.is_empty()).unwrap_or_else(|| {
            self.groups.push(TaskGroup::default());
            self.groups.len() - 1
        })
    }
}
