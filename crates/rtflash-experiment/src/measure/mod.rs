//! What is found out about one set.

mod bandwidth;

use rtflash_model::TaskSet;

use crate::plan::{Measure, Plan};
use crate::tally::Tally;

/// Draws the set of a number and counts what the contenders make of it, in the tally of its point.
pub(crate) fn count(plan: &Plan, point: usize, index: u64, tally: &mut Tally) {
    let Ok(set) = plan.draw(point, index) else {
        tally.exhausted += 1;
        return;
    };
    match &plan.spec().measure {
        Measure::Schedulability => tally.count(&verdicts(plan, &set)),
        Measure::Bandwidth(options) => bandwidth::count(plan, options, point, index, &set, tally),
    }
}

fn verdicts(plan: &Plan, set: &TaskSet) -> Vec<Option<bool>> {
    let verdict =
        |contender: &crate::plan::Contender| contender.allocator.allocate(set, contender.analysis).is_schedulable();
    plan.contenders().iter().map(verdict).collect()
}
