//! The grounds of promises, in the answer of `explain`.

use rtflash_analysis::certified::{Ground, Held, grounds};
use rtflash_model::{Allocation, Reliance, TaskSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::Text;

/// The grounds of a step of a promise.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Ground")]
pub struct GroundText {
    /// Its statement.
    pub claim: Text<'static>,
    /// The place in docs/analysis.md that proves it.
    pub theorem: Text<'static>,
    /// Whether a machine has checked the proof.
    pub machine_checked: bool,
    /// The theorem that the machine has checked, and its file in proofs/.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<ProofText>,
}

/// The place of a proof that a machine has checked.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Proof")]
pub struct ProofText {
    /// The theorem's name.
    pub name: Text<'static>,
    /// Its file in proofs/.
    pub file: Text<'static>,
}

impl From<Ground> for GroundText {
    fn from(ground: Ground) -> GroundText {
        let proof = ground.machine.map(|(name, file)| ProofText { name: name.into(), file: file.into() });
        GroundText {
            claim: ground.claim.into(),
            theorem: ground.theorem.into(),
            machine_checked: proof.is_some(),
            proof,
        }
    }
}

/// The grounds of a cluster's promise, if it has one.
pub(crate) fn rests_on(
    set: &TaskSet,
    allocation: &Allocation,
    position: usize,
    held: Option<&Held>,
    relies_on: Option<Reliance>,
) -> Vec<GroundText> {
    let (Some(held), Some(relies_on)) = (held, relies_on) else { return Vec::new() };
    grounds(set, allocation, position, held, relies_on).into_iter().map(GroundText::from).collect()
}
