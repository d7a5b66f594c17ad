//! Admission to one cluster.

use rtflash_model::{Reliance, Span, TaskId, TaskSet};

use super::{AddedHow, AdmissionRefusal, Decision, ExtendedCluster, RunningDevice};
use crate::certified::channels::ChannelContention;
use crate::work::Work;

/// Whether `new` may be added to the cluster at this position: as [`admit`](super::admit) says of
/// one cluster.
pub fn admit_into(
    set: &TaskSet,
    running: &RunningDevice,
    new: TaskId,
    position: usize,
    granted: Reliance,
    work: &Work,
) -> Decision {
    let begun = ChannelContention::of_certificates(set, &running.clusters, &running.certificates, granted, work);
    let mut candidate = ExtendedCluster::new(set, running, new, (position, &begun), granted, work);
    let refused = |candidate: &ExtendedCluster<'_>, refusal| Decision::Refused(vec![(candidate.id(), refusal)]);
    match candidate.kept() {
        Ok(()) => candidate.admitted(AddedHow::Kept, Span::ZERO, running.certificates.clone()),
        Err(refusal @ (AdmissionRefusal::Data | AdmissionRefusal::NoReserve)) => refused(&candidate, refusal),
        Err(refusal) if !candidate.has_collection() => refused(&candidate, refusal),
        Err(_) if candidate.has_server() => refused(&candidate, AdmissionRefusal::Server),
        Err(_) => match candidate.changed(&begun) {
            Ok(path) => {
                let mut certificates = running.certificates.clone();
                certificates[position] = path.certificate;
                candidate.admitted(AddedHow::Staged(path.stages), path.ready_within, certificates)
            }
            Err(refusal) => refused(&candidate, refusal),
        },
    }
}
