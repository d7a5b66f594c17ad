//! A cluster of its own for a task that is added.

use std::collections::BTreeSet;

use rtflash_analysis::Work;
use rtflash_model::{ChipId, Cluster, ClusterId, Id, Placement, Span, TaskId, TaskSet};

use super::known::KnownNeighbours;
use super::{AddedHow, Admitted, RunningDevice};

pub(super) fn alone(
    set: &TaskSet,
    new: TaskId,
    placements: &[Placement],
    known: &KnownNeighbours<'_>,
    work: &Work,
) -> Option<Admitted> {
    let (device, running) = (set.device(), known.running);
    let taken: BTreeSet<ChipId> = running.clusters.iter().flat_map(|cluster| &cluster.chips).copied().collect();
    let free: Vec<ChipId> = ChipId::first(device.chips()).filter(|chip| !taken.contains(chip)).collect();
    let at = running.clusters.len();
    let sizes = (1..=free.len()).filter(|size| size.is_power_of_two() || *size == free.len());
    for size in sizes {
        let of_it = Cluster { chips: free[..size].to_vec(), tasks: vec![new] };
        for &placement in placements.iter().filter(|placement| placement.is_possible_on(device)) {
            if work.is_used_up() {
                return None;
            }
            let mut contention = known.begun.with_cluster(of_it.clone(), placement);
            let Some(relies) = contention.settle_alone(at) else { continue };
            if known.late_beside(&contention, at).is_some() {
                continue;
            }
            // A cluster that relies on what its neighbours do gets no server, and neither do they.
            if !set.jobs().is_empty() && !relies && known.all_are_steady_beside(&contention, at) {
                contention.serves_all_it_can(at);
            }
            let Some(own) = contention.settled_certificate(at) else { continue };
            let clusters = running.clusters.iter().cloned().chain([of_it]).collect();
            let certificates = running.certificates.iter().copied().chain([own]).collect();
            let running = RunningDevice { clusters, certificates };
            let (cluster, change) = (ClusterId::from_index(at), AddedHow::NewCluster);
            return Some(Admitted { cluster, change, ready_within: Span::ZERO, running });
        }
    }
    None
}
