//! Allocations with certificates, for the commands that run them: found or given, and verified.

use std::path::Path;

use rtflash_model::{Allocation, Placement, Reliance, TaskSet};
use rtflash_verify::verify_certified;

use super::found::{FoundAllocation, find};
use super::{allocator, analysis_relying_on};
use crate::status::Status;
use crate::{CommandFailure, output, source};

/// The allocation of this file, or without one the one that is found under an analysis, where the
/// verifier finds it in time; the exit status where there is none, and it has been said why.
///
/// # Errors
/// Where the file cannot be read.
pub fn certified(
    given: Option<&Path>,
    analysis: &str,
    granted: Reliance,
    set: &TaskSet,
) -> Result<Result<Allocation, Status>, CommandFailure> {
    let analysis = analysis_relying_on(analysis, granted)?;
    let algorithm = allocator(rtflash_alloc::allocator::usual(analysis).name())?;
    let given = given.map(source::read).transpose()?;
    let mut warnings = String::new();
    let found = find(set, given.as_ref(), algorithm, analysis, false, &mut warnings);
    output::complain(&warnings);
    Ok(match found {
        FoundAllocation::Allocation(found) if !found.is_certified() || holds(set, &found, granted) => Ok(found),
        FoundAllocation::Allocation(found) => {
            let why = if holds(set, &found, Reliance::Queue) {
                "it holds only beside its neighbours as they are: see --assume".into()
            } else {
                let analysis = analysis.name();
                format!("it does not keep its deadlines as it is: see `rtflash check --analysis {analysis}`")
            };
            let name = given.map_or_else(|| "the allocation".into(), |given| given.0);
            output::complain(&output::error(&format!("{name}: {why}")));
            Err(Status::No)
        }
        FoundAllocation::Nothing(message, own) => {
            output::complain(&format!("{message}\n"));
            Err(Status::of(own.holds()))
        }
        FoundAllocation::Wrong(complaint) => return Err(CommandFailure(complaint)),
        FoundAllocation::Refused(answer) => {
            output::complain(&answer.complaint);
            Err(answer.status)
        }
    })
}

/// Whether the verifier finds all clusters in time, whatever their kinds.
fn holds(set: &TaskSet, allocation: &Allocation, granted: Reliance) -> bool {
    let verification = verify_certified(set, allocation, &Placement::ALL, granted);
    verification.clusters.iter().all(|cluster| cluster.holds == Some(true) && cluster.discrepancies.is_empty())
}
