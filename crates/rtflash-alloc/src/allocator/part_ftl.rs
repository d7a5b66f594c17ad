//! PaRT-FTL, as an algorithm to compare with.

use rtflash_model::TaskSet;

use super::{Allocator, Limit, Outcome, Strategy};
use crate::analysis::{Analysis, PartFtl};

/// PaRT-FTL (Missimer & West, RTSS 2018) with its own test, whichever reading of Theorem 1 is asked for: data chips read while W = ⌊m/4⌋ others write.
#[derive(Debug, Clone, Copy, Default)]
pub struct PartFtlTest;

impl Allocator for PartFtlTest {
    fn name(&self) -> &'static str {
        "part-ftl"
    }

    fn summary(&self) -> &'static str {
        "PaRT-FTL's division into reading and writing chips, with its own test"
    }

    fn strategy(&self) -> Option<Strategy> {
        None
    }

    fn by_utilization(&self, set: &TaskSet, _: &dyn Analysis) -> Outcome {
        match PartFtl::test(set) {
            Some(verdict) => Outcome::Partitioned(verdict),
            None => Outcome::CannotTell(Limit::TooFewChips { chips: set.device().chips(), needed: 4 }),
        }
    }
}
