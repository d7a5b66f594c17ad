//! Tasks in groups, each group in the smallest cluster that it holds in: best fit, and ruin and recreate.

use rtflash_model::random::Stream;

use super::chips::Group;
use super::exact::before;
use super::shape::{Shape, Shapes};
use crate::effort::Budget;

/// Groups that a task is tried in, at most, before it gets more chips.
const TRIED: usize = 24;
/// Groups that are made larger for a task, at most.
const GROWN: usize = 8;
/// Steps of the search for each task.
const STEPS: usize = 50;
/// Tasks taken out in a step, at most.
const LOOSE: u64 = 5;
/// Tests of a cluster after which the search ends.
const MAX_TESTS: u64 = 100_000;
/// Requests looked at in them after which it ends, too.
const MAX_EFFORT: u64 = 200_000_000;

/// Tasks in groups.
pub(super) struct Groups<'s, 'a> {
    shapes: &'s Shapes<'a>,
    /// The smallest cluster of each task alone, and the load there.
    alone: Vec<(Shape, f64)>,
    groups: Vec<Group>,
    chips: u32,
    tests: u64,
}

/// A task that needs more chips than there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Homeless(pub(super) usize);

impl<'s, 'a> Groups<'s, 'a> {
    /// No groups yet; the first task that no cluster of the device holds is an error.
    pub(super) fn new(shapes: &'s Shapes<'a>) -> Result<Groups<'s, 'a>, Homeless> {
        let chips = shapes.set().device().chips();
        let mut alone = Vec::with_capacity(shapes.set().tasks().len());
        for task in 0..shapes.set().tasks().len() {
            alone.push(smallest(shapes, &[task], 1, chips).ok_or(Homeless(task))?);
        }
        Ok(Groups { shapes, alone, groups: Vec::new(), chips, tests: 0 })
    }

    /// Tasks by what they take of the device's chips alone, the most first.
    pub(super) fn order(&self) -> Vec<usize> {
        let work = |task: usize| self.alone[task].1 * f64::from(self.alone[task].0.chips);
        let mut order: Vec<usize> = (0..self.alone.len()).collect();
        order.sort_by(|&a, &b| work(b).total_cmp(&work(a)).then(a.cmp(&b)));
        order
    }

    /// Chips of all groups.
    pub(super) fn needed(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.shape.chips)).sum()
    }

    pub(super) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Puts a task where it takes the fewest chips more: into the fullest group that holds it as it is, else into one made larger, or its own.
    pub(super) fn insert(&mut self, task: usize) {
        let (alone, weight) = self.alone[task];
        let room = |group: &Group| 1.0 - group.load - weight * f64::from(alone.chips) / f64::from(group.shape.chips);
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by(|&a, &b| self.groups[b].load.total_cmp(&self.groups[a].load).then(a.cmp(&b)));
        let roomy = order.iter().copied().filter(|&group| room(&self.groups[group]) > -0.25).take(TRIED);
        for position in roomy.collect::<Vec<_>>() {
            let tasks = with(&self.groups[position].tasks, task);
            let shape = self.groups[position].shape;
            self.tests += 1;
            if let Some(load) = self.shapes.load(&tasks, shape) {
                self.groups[position] = Group { tasks, shape, load };
                return;
            }
        }
        // The fewest chips more: those with the most room first, as far as one can tell.
        order.sort_by(|&a, &b| room(&self.groups[b]).total_cmp(&room(&self.groups[a])).then(a.cmp(&b)));
        let mut best: Option<Grown> = None;
        for &position in order.iter().take(GROWN) {
            let chips = self.groups[position].shape.chips;
            let fewer = best.as_ref().map_or(alone.chips, |best| best.more);
            let Some(most) = chips.checked_add(fewer).map(|most| most - 1) else { continue };
            let tasks = with(&self.groups[position].tasks, task);
            self.tests += u64::from(fewer);
            if let Some(found) = smallest(self.shapes, &tasks, chips, most.min(self.chips)) {
                best = Some(Grown { more: found.0.chips - chips, position, tasks, found });
            }
        }
        match best {
            Some(Grown { position, tasks, found: (shape, load), .. }) => {
                self.groups[position] = Group { tasks, shape, load }
            }
            None => self.groups.push(Group { tasks: vec![task], shape: alone, load: weight }),
        }
    }

    /// Ruin and recreate: tasks are taken out and put back as long as more chips are needed than there are, and there is hope.
    pub(super) fn search(&mut self) {
        let mut dice = Stream::numbered(0, b"placed__", 0);
        let steps = STEPS.saturating_mul(self.alone.len());
        let budget = Budget::of(MAX_EFFORT);
        for _ in 0..steps {
            let spent = self.tests > MAX_TESTS || budget.left() == 0 || self.shapes.given_up();
            if self.needed() <= u64::from(self.chips) || spent {
                return;
            }
            let (needed, before) = (self.needed(), self.groups.clone());
            let mut loose = Vec::new();
            for _ in 0..1 + dice.below(LOOSE) {
                let Some(position) = self.pick(&mut dice) else { break };
                let member = self.groups[position].tasks.len() as u64;
                let member = usize::try_from(dice.below(member)).unwrap_or(0);
                loose.push(self.groups[position].tasks.remove(member));
                if self.groups[position].tasks.is_empty() {
                    self.groups.remove(position);
                    continue;
                }
                // With fewer tasks it may do with fewer chips; it needs no more.
                let Group { tasks, shape, .. } = &self.groups[position];
                let (tasks, shape) = (tasks.clone(), *shape);
                self.tests += u64::from(shape.chips);
                if let Some((shape, load)) = smallest(self.shapes, &tasks, 1, shape.chips) {
                    self.groups[position] = Group { tasks, shape, load };
                }
            }
            for end in (1..loose.len()).rev() {
                loose.swap(end, usize::try_from(dice.below(end as u64 + 1)).unwrap_or(0));
            }
            loose.into_iter().for_each(|task| self.insert(task));
            if self.needed() > needed {
                self.groups = before;
            }
        }
    }

    fn pick(&self, dice: &mut Stream) -> Option<usize> {
        let groups = self.groups.len() as u64;
        (groups > 0).then(|| usize::try_from(dice.below(groups)).unwrap_or(0))
    }
}

/// A group with a task more, in a larger cluster.
struct Grown {
    /// Chips more.
    more: u32,
    position: usize,
    tasks: Vec<usize>,
    found: (Shape, f64),
}

/// The smallest cluster of any form, the one with the least to do among those.
fn smallest(shapes: &Shapes<'_>, tasks: &[usize], least: u32, most: u32) -> Option<(Shape, f64)> {
    let mut best: Option<(Shape, f64)> = None;
    for &form in shapes.forms() {
        let most = best.map_or(most, |best| best.0.chips);
        if let Some(found) = shapes.smallest(tasks, form, least, most)
            && best.is_none_or(|best| before(found, best))
        {
            best = Some(found);
        }
    }
    best
}

fn with(tasks: &[usize], task: usize) -> Vec<usize> {
    let mut all = tasks.to_vec();
    all.push(task);
    all
}
