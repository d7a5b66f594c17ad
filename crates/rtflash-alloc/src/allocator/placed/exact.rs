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
            let highest = 1usize << subset.ilog2();
            let others = subset & !highest;
            let mut part = others;
            loop {
                let block = part | highest;
                if let (Some((shape, load)), Some((chips, work, _))) = (self.best[block], least[subset & !block]) {
                    let chips = chips.saturating_add(shape.chips);
                    let work = work + load * f64::from(shape.chips);
                    let better = least[subset].is_none_or(|best| (chips, work) < (best.0, best.1));
                    if chips <= self.chips && better {
                        least[subset] = Some((chips, work, block));
                    }
                }
                if part == 0 {
                    break;
                }
                part = (part - 1) & others;
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
}

/// Fewer chips, then less to do on them.
pub(super) fn before(a: (Shape, f64), b: (Shape, f64)) -> bool {
    (a.0.chips, a.1) < (b.0.chips, b.1)
}
