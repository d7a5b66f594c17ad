//! Admission to one cluster.

use rtflash_analysis::Work;
use rtflash_model::{Reliance, TaskId, TaskSet};

use super::known::KnownNeighbours;
use super::{Decision, ExtendedCluster, RunningDevice, changed};

/// [`admit`](super::admit) for the cluster at this position alone.
pub fn admit_into(
    set: &TaskSet,
    running: &RunningDevice,
    new: TaskId,
    position: usize,
    granted: Reliance,
    work: &Work,
) -> Decision {
    let known = KnownNeighbours::new(set, running, granted, work);
    let candidate = ExtendedCluster::new(set, &known, new, position, work);
    let mut refused = Vec::new();
    match candidate.kept() {
        Ok(true) => return candidate.admitted_as_it_is(),
        Ok(false) => {
            if let Some((candidate, path, certificate)) = changed(vec![candidate], &mut refused) {
                return candidate.admitted_by(path, certificate);
            }
        }
        Err(refusal) => refused.push((candidate.id(), refusal)),
    }
    Decision::Refused(refused)
}
