//! All allocations at once: whether there can be one.

use rtflash_model::TaskSet;

use super::{Allocator, Limit, Outcome};
use crate::analysis::Analysis;
use crate::necessary::{impossible, impossible_with_zones};
use crate::work::Work;

/// Every allocation there is: [`Outcome::Impossible`] where a necessary test says that none of them
/// meets every deadline (docs/analysis.md, Section 12), and otherwise [`Limit::NotExcluded`]. It
/// divides nothing.
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
        let costs = analysis.occupancy(set.device());
        let proof = if analysis.bounds_zones() { impossible_with_zones(set, costs) } else { impossible(set, costs) };
        proof.map_or(Outcome::CannotTell(Limit::NotExcluded), Outcome::Impossible)
    }
}
