//! Utilization tests: Theorem 1, and analyses that know tasks and a number of chips alone.

use rtflash_analysis::Analysis;
use rtflash_analysis::verdict::passing;
use rtflash_model::{Allocation, Reliance, TaskSet, TaskSetFile};
use rtflash_verify::{Equations, verify};
use rtflash_wire::{CheckAnswer, CheckedAllocation};

use super::{KindText, Verified};
use crate::render::explain_text;

/// An analysis of this kind.
pub struct UtilizationKind<'a>(pub &'a dyn Analysis);

impl KindText for UtilizationKind<'_> {
    fn verify<'f>(&self, file: &'f TaskSetFile, allocation: &Allocation) -> Verified<'f> {
        let equations = Equations::from_name(self.0.name()).expect("the verifier knows every analysis with a name");
        let verification = verify(&file.set, allocation, equations);
        Verified::plain(CheckAnswer::new(&file.set, self.0, &verification, file.meta.as_deref()))
    }

    fn accepts(&self, set: &TaskSet, allocation: &Allocation) -> Option<bool> {
        Some(passing(set, self.0, allocation).into_iter().all(|passes| passes))
    }

    fn contenders(&self, bandwidth: bool) -> &'static [&'static str] {
        if bandwidth {
            &["clustering-bfd+tbs", "equal-split+background"]
        } else {
            &["clustering-bfd", "equal-split", "part-ftl", "global"]
        }
    }

    fn terms(&self, set: &TaskSet, checked: Option<&CheckedAllocation<'_>>) -> String {
        explain_text::terms(set, self.0, checked)
    }

    fn how(&self, _: Option<Reliance>) -> String {
        format!("(analysis: {})", self.0.name())
    }

    fn only_data(&self) -> &'static str {
        "Theorem 1 itself would pass every cluster: it knows nothing of space.\n"
    }

    fn share(&self) -> &'static str {
        ">U"
    }
}
