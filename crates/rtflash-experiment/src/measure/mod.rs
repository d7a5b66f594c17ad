//! What is found out about one set.

mod bandwidth;

use rtflash_model::TaskSet;

use crate::plan::{Measure, Plan};
use crate::tally::Tally;

/// Draws the set of a number and counts what the contenders make of it, in the tally of its point.
pub(crate) fn count(plan: &Plan, point: usize, index: u64, tally: &mut Tally) {
    match &plan.spec().measure {
        Measure::Schedulability => {
            let sets: Vec<Option<TaskSet>> =
                (0..plan.makers()).map(|maker| plan.draw(point, index, maker).ok()).collect();
            tally.draw(sets.iter().all(Option::is_some));
            tally.count(&verdicts(plan, &sets));
        }
        Measure::Bandwidth(options) => {
            // Of one analysis: the plan has seen to it.
            let set = plan.draw(point, index, 0);
            tally.draw(set.is_ok());
            if let Ok(set) = set {
                bandwidth::count(plan, options, point, index, &set, tally);
            }
        }
    }
}

/// What each contender says of the set made for it.
fn verdicts(plan: &Plan, sets: &[Option<TaskSet>]) -> Vec<Option<bool>> {
    let each = plan.contenders().iter().enumerate().map(|(position, contender)| {
        let set = sets.get(plan.maker_of(position))?.as_ref()?;
        contender.allocator.allocate(set, contender.analysis).is_schedulable()
    });
    each.collect()
}
