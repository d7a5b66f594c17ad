//! The measurements of one set.

mod bandwidth;

use rtflash_alloc::allocator::{Limit, Outcome};
use rtflash_model::TaskSet;

use crate::failure::RunFailure;
use crate::plan::{Contender, Measure, Plan};
use crate::tally::Tally;

fn outcome(contender: &Contender, set: &TaskSet) -> Result<Outcome, RunFailure> {
    match contender.allocator.allocate(set, contender.analysis) {
        Outcome::CannotTell(Limit::NoDivision(error)) => {
            Err(RunFailure::NoDivision { algorithm: contender.allocator.name(), error })
        }
        told => Ok(told),
    }
}

/// Finds out about one set after another; keeps its memory in between.
#[derive(Default)]
pub(crate) struct Counter {
    sets: Vec<Option<TaskSet>>,
    verdicts: Vec<Option<bool>>,
}

impl Counter {
    /// Draws the set at a point and counts what the contenders make of it, in the tally of the
    /// point.
    pub(crate) fn count(&mut self, plan: &Plan, point: usize, index: u64, tally: &mut Tally) -> Result<(), RunFailure> {
        match &plan.spec().measure {
            Measure::Schedulability => {
                self.sets.clear();
                self.sets.extend((0..plan.makers()).map(|maker| plan.draw(point, index, maker).ok()));
                tally.draw(self.sets.iter().all(Option::is_some));
                self.judge(plan)?;
                tally.count(&self.verdicts);
            }
            Measure::Bandwidth(options) => {
                // The plan has one analysis here.
                let set = plan.draw(point, index, 0);
                tally.draw(set.is_ok());
                if let Ok(set) = set {
                    bandwidth::count(plan, options, point, index, &set, tally)?;
                }
            }
        }
        Ok(())
    }

    fn judge(&mut self, plan: &Plan) -> Result<(), RunFailure> {
        self.verdicts.clear();
        for (position, contender) in plan.contenders().iter().enumerate() {
            let set = self.sets.get(plan.maker_of(position)).and_then(Option::as_ref);
            self.verdicts.push(match set.map(|set| outcome(contender, set)).transpose()? {
                // Counted as the sets that may have an allocation.
                Some(Outcome::CannotTell(Limit::NotExcluded)) => Some(true),
                other => other.and_then(|outcome| outcome.is_schedulable()),
            });
        }
        Ok(())
    }
}
