//! Allocations with certificates, for the commands that run them: found or given, and verified.

use std::path::Path;

use rtflash_model::{Allocation, Placement, Reliance, TaskSet};
use rtflash_verify::verify_certified;

use super::found::find;
use super::{allocator, analysis_relying_on};
use crate::answer::Unanswered;
use crate::status::Status;
use crate::{output, source};

/// The allocation of this file, or without one the one that is found under an analysis, where the
/// verifier finds it in time.
pub fn certified(
    given: Option<&Path>,
    analysis: &str,
    granted: Reliance,
    set: &TaskSet,
) -> Result<Allocation, Unanswered> {
    let analysis = analysis_relying_on(analysis, granted)?;
    let algorithm = allocator(rtflash_alloc::allocator::usual(analysis).name())?;
    let given = given.map(source::read).transpose()?;
    let mut warnings = String::new();
    let found = find(set, given.as_ref(), algorithm, analysis, false, &mut warnings);
    output::complain(&warnings);
    let found = found.into_run(|_| "")?;
    if !found.is_certified() || holds(set, &found, granted) {
        return Ok(found);
    }
    let why = if holds(set, &found, Reliance::Queue) {
        "it holds only beside its neighbours as they are: see --assume".into()
    } else {
        format!("it does not keep its deadlines as it is: see `rtflash check --analysis {}`", analysis.name())
    };
    let name = given.map_or_else(|| "the allocation".into(), |given| given.0);
    Err(Unanswered::because(&format!("{name}: {why}"), Status::No))
}

/// Whether the verifier finds all clusters in time, whatever their kinds.
fn holds(set: &TaskSet, allocation: &Allocation, granted: Reliance) -> bool {
    let verification = verify_certified(set, allocation, &Placement::ALL, granted);
    verification.clusters.iter().all(|cluster| cluster.holds == Some(true) && cluster.discrepancies.is_empty())
}
