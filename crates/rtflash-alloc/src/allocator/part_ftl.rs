//! PaRT-FTL, as an algorithm to compare with.

use rtflash_model::TaskSet;

use super::{Allocator, Limit, Outcome};
use crate::analysis::{Analysis, PartFtl};

/// PaRT-FTL (Missimer & West, RTSS 2018) with its own test, whatever the analysis: data chips read while W = ⌊m/4⌋ others write.
#[derive(Debug, Clone, Copy, Default)]
pub struct PartFtlTest;

impl Allocator for PartFtlTest {
    fn name(&self) -> &'static str {
        "part-ftl"
    }

    fn summary(&self) -> &'static str {
        "PaRT-FTL's division into reading and writing chips, with its own test"
    }

    fn allocate(&self, set: &TaskSet, _analysis: &dyn Analysis) -> Outcome {
        match PartFtl::test(set) {
            Some(verdict) => Outcome::Partitioned(verdict),
            None => Outcome::CannotTell(Limit::TooFewChips { chips: set.device().chips(), needed: 4 }),
        }
    }
}
