//! What an analysis of either kind says of a given allocation.

use rtflash_model::{Allocation, Cluster, Space, TaskSet};

use crate::analysis::{Analysis, ClusterReport, report_cluster, test_cluster};
use crate::sound;

/// Each cluster of an allocation in numbers for a reader, under an analysis of either kind; under one that tests placed clusters the allocation has
/// certificates ([`crate::sound::certified`]).
pub fn report(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<ClusterReport> {
    if !analysis.placements().is_empty() {
        return sound::reports(set, allocation, analysis.relies_on());
    }
    let clusters = allocation.clusters();
    clusters.iter().map(|cluster| report_cluster(set, analysis, &cluster.tasks, cluster.size())).collect()
}

/// Whether each cluster of an allocation passes, under an analysis of either kind, exactly: its test of time, and the tasks' data fit.
pub fn passing(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<bool> {
    let fits = spaces(set, analysis, allocation).into_iter().map(|space| space.fits());
    in_time(set, analysis, allocation).into_iter().zip(fits).map(|(in_time, fits)| in_time && fits).collect()
}

/// Whether each cluster of an allocation passes the analysis's test of time, whatever space its data take. Exact.
pub fn in_time(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<bool> {
    if !analysis.placements().is_empty() {
        return sound::holding(set, allocation, analysis.relies_on());
    }
    let clusters = allocation.clusters();
    clusters.iter().map(|cluster| test_cluster(set, analysis, &cluster.tasks, cluster.size())).collect()
}

/// The data of each cluster of an allocation beside its logical pages; under an analysis that tests placed clusters, as their certificates place pages.
pub fn spaces(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<Space> {
    let placed = !analysis.placements().is_empty();
    let clusters = allocation.clusters().into_iter().enumerate();
    let space = |(position, cluster): (usize, Cluster)| {
        let placement = allocation.certificate(position).filter(|_| placed).map(|certificate| certificate.placement);
        set.space(&cluster.tasks, cluster.size(), placement)
    };
    clusters.map(space).collect()
}

/// The allocation with what the analysis needs of it: certificates, where it is one that tests placed clusters, for those clusters that have none. Those
/// that there are stay as they are.
pub fn completed(set: &TaskSet, analysis: &dyn Analysis, allocation: Allocation) -> Allocation {
    match analysis.placements() {
        [] => allocation,
        _ if allocation.is_certified() => allocation,
        placements => sound::certified(set, &allocation, placements, analysis.relies_on()).0,
    }
}
