//! The optimum over task subsets, by dynamic programming.

use super::chips::Group;
use super::shape::{Form, Shape, Shapes};

/// The smallest cluster of each form for each subset of the tasks, and the best partition.
pub(super) struct Subsets {
    /// Of each subset: its cheapest cluster.
    best: Vec<Option<(Shape, f64)>>,
    tasks: usize,
    chips: u32,
}

impl Subsets {
    pub(super) fn new(shapes: &Shapes<'_>) -> Subsets {
        let (tasks, chips) = (shapes.set().tasks().len(), shapes.set().device().chips());
        let forms = shapes.forms();
        // A number of chips that each subset needs in each form, at least.
        let mut floors: Vec<Vec<u32>> = forms.iter().map(|_| vec![1; 1 << tasks]).collect();
        let mut best: Vec<Option<(Shape, f64)>> = vec![None; 1 << tasks];
        for subset in 1..1usize << tasks {
            let members: Vec<usize> = (0..tasks).filter(|task| subset >> task & 1 == 1).collect();
            for (&form, floors) in forms.iter().zip(&mut floors) {
                // What each of its own subsets needs.
                let least = members.iter().map(|task| floors[subset & !(1 << task)]).max().unwrap_or(1);
                // On any chips a superblock does no better than on whole channels: no search beyond what it needs there.
                let most = match best[subset] {
                    Some((shape, _)) if form == Form::Superblock => shape.chips - 1,
                    _ => chips,
                };
                let found = shapes.smallest(&members, form, least, most);
                floors[subset] = found.map_or(most.saturating_add(1).max(least), |(shape, _)| shape.chips);
                if let Some(found) = found
                    && best[subset].is_none_or(|best| before(found, best))
                {
                    best[subset] = Some(found);
                }
            }
        }
        Subsets { best, tasks, chips }
    }

    /// The partition of all tasks into clusters of the fewest chips, with the least load among those; `None` where each needs too many.
    pub(super) fn best_partition(&self) -> Option<Vec<Group>> {
        let all = (1usize << self.tasks) - 1;
        let mut least: Vec<Option<(u32, f64, usize)>> = vec![None; all + 1];
        least[0] = Some((0, 0.0, 0));
        for subset in 1..=all {
            for block in blocks_of(subset) {
                if let (Some((shape, load)), Some((chips, work, _))) = (self.best[block], least[subset & !block]) {
                    let chips = chips.saturating_add(shape.chips);
                    let work = work + load * f64::from(shape.chips);
                    let better = least[subset].is_none_or(|best| (chips, work) < (best.0, best.1));
                    if chips <= self.chips && better {
                        least[subset] = Some((chips, work, block));
                    }
                }
            }
        }
        let (mut subset, mut groups) = (all, Vec::new());
        while subset != 0 {
            let (_, _, block) = least[subset]?;
            let (shape, load) = self.best[block]?;
            groups.push(Group { tasks: (0..self.tasks).filter(|task| block >> task & 1 == 1).collect(), shape, load });
            subset &= !block;
        }
        groups.sort_by_key(|group| group.tasks.first().copied());
        Some(groups)
    }

    /// The size of a subset's cluster, where there is one.
    pub(super) fn chips_of(&self, subset: usize) -> Option<u32> {
        self.best[subset].map(|(shape, _)| shape.chips)
    }

    /// Partitions of all tasks into clusters of no more chips than there are, at most so many.
    pub(super) fn partitions(&self, most: usize) -> Vec<Vec<usize>> {
        let all = (1usize << self.tasks) - 1;
        // The fewest chips for each subset, so that none is begun that cannot be ended.
        let mut fewest: Vec<Option<u32>> = vec![None; all + 1];
        fewest[0] = Some(0);
        for subset in 1..=all {
            let sums =
                blocks_of(subset).filter_map(|block| self.chips_of(block)?.checked_add(fewest[subset & !block]?));
            fewest[subset] = sums.min().filter(|&chips| chips <= self.chips);
        }
        let mut found = Vec::new();
        self.split(all, self.chips, &fewest, &mut Vec::new(), &mut found, most);
        found
    }

    fn split(
        &self,
        subset: usize,
        chips: u32,
        fewest: &[Option<u32>],
        blocks: &mut Vec<usize>,
        found: &mut Vec<Vec<usize>>,
        most: usize,
    ) {
        if found.len() >= most {
            return;
        }
        if subset == 0 {
            found.push(blocks.clone());
            return;
        }
        let needed = |block: usize| {
            let chips = self.chips_of(block)?.checked_add(fewest[subset & !block]?)?;
            Some((chips, self.best[block]?.1))
        };
        let options = blocks_of(subset).filter_map(|block| Some((needed(block)?, block)));
        let mut options: Vec<((u32, f64), usize)> = options.filter(|((needed, _), _)| *needed <= chips).collect();
        options.sort_by(|(a, one), (b, other)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(one.cmp(other)));
        for (_, block) in options {
            blocks.push(block);
            self.split(subset & !block, chips - self.chips_of(block).unwrap_or(0), fewest, blocks, found, most);
            blocks.pop();
        }
    }
}

/// The parts of a subset with its highest task: in each partition there is one.
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

/// Fewer chips, then less to do on them.
pub(super) fn before(a: (Shape, f64), b: (Shape, f64)) -> bool {
    (a.0.chips, a.1) < (b.0.chips, b.1)
}
