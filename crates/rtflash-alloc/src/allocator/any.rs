//! All allocations at once: whether there can be one.

use rtflash_analysis::necessary::{Impossible, impossible, impossible_with_zones};
use rtflash_analysis::{Analysis, Work};
use rtflash_model::TaskSet;

use super::{Allocator, Limit, Outcome};

/// Every allocation: [`Outcome::Impossible`] by a necessary test (docs/analysis.md, Section 12),
/// and otherwise [`Limit::NotExcluded`]. It divides nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnyAllocation;

impl Allocator for AnyAllocation {
    fn name(&self) -> &'static str {
        "any"
    }

    fn summary(&self) -> &'static str {
        "all allocations at once: whether there can be one, by necessary tests"
    }

    fn divide(&self, set: &TaskSet, analysis: &dyn Analysis, _: &Work) -> Outcome {
        excluded(set, analysis).map_or(Outcome::CannotTell(Limit::NotExcluded), Outcome::Impossible)
    }
}

/// The proof of a necessary test; fewer tests hold on devices with zones.
pub fn excluded(set: &TaskSet, analysis: &dyn Analysis) -> Option<Impossible> {
    let costs = analysis.occupancy(set.device());
    if analysis.owns_zones() || analysis.bounds_zones() {
        impossible_with_zones(set, costs)
    } else {
        impossible(set, costs)
    }
}
