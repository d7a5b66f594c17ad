//! PaRT-FTL, as an algorithm to compare with.

use rtflash_analysis::{Analysis, PartFtl, Test, Work};
use rtflash_model::TaskSet;

use super::{Allocator, Limit, Outcome};

/// PaRT-FTL (Missimer & West, RTSS 2018) by its own test, whichever utilization test is asked: data
/// chips read while W = ⌊m/4⌋ others write.
#[derive(Debug, Clone, Copy, Default)]
pub struct PartFtlTest;

impl Allocator for PartFtlTest {
    fn name(&self) -> &'static str {
        "part-ftl"
    }

    fn summary(&self) -> &'static str {
        "PaRT-FTL's division into reading and writing chips, with its own test"
    }

    fn divide(&self, set: &TaskSet, analysis: &dyn Analysis, _: &Work) -> Outcome {
        if let Some(cause) = analysis.refuses(set) {
            return Outcome::CannotTell(Limit::Untestable(cause));
        }
        match (analysis.test(), PartFtl::test(set)) {
            (Test::Demand(_), _) => Outcome::CannotTell(Limit::OtherAnalysis),
            (_, Some(verdict)) => Outcome::Partitioned(verdict),
            (_, None) => Outcome::CannotTell(Limit::TooFewChips { chips: set.device().chips(), needed: 4 }),
        }
    }
}
