//! What an analysis of either kind says of a given allocation.

use rtflash_model::{Allocation, Certificate, Cluster, Space, TaskSet};

use crate::analysis::{Analysis, ClusterReport, report_cluster, test_cluster};

/// Each cluster of an allocation in numbers for a reader, under an analysis of either kind; under a
/// demand test the allocation has certificates ([`crate::sound::certified`]).
pub fn report(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<ClusterReport> {
    match analysis.demand_test() {
        Some(test) => test.reports(set, allocation),
        None => each(allocation, |cluster| report_cluster(set, analysis, &cluster.tasks, cluster.size())),
    }
}

/// Whether each cluster of an allocation passes, under an analysis of either kind, exactly: its
/// test of time, and the tasks' data fit.
pub fn passing(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<bool> {
    let fits = spaces(set, analysis, allocation).into_iter().map(|space| space.fits());
    in_time(set, analysis, allocation).into_iter().zip(fits).map(|(in_time, fits)| in_time && fits).collect()
}

/// Whether each cluster of an allocation passes the analysis's test of time, whatever space its
/// data take. Exact.
pub fn in_time(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<bool> {
    match analysis.demand_test() {
        Some(test) => test.holding(set, allocation),
        None => each(allocation, |cluster| test_cluster(set, analysis, &cluster.tasks, cluster.size())),
    }
}

/// The data of each cluster of an allocation beside its logical pages; under a demand test, as
/// their certificates place pages.
pub fn spaces(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<Space> {
    match analysis.demand_test() {
        Some(test) => test.spaces(set, allocation),
        None => each(allocation, |cluster| set.space(&cluster.tasks, cluster.size(), None)),
    }
}

fn each<T>(allocation: &Allocation, of: impl Fn(Cluster) -> T) -> Vec<T> {
    allocation.clusters().into_iter().map(of).collect()
}

/// Valid pages of a victim at most, and pages that a pass reclaims at least, on each chip or in a
/// superblock: by Eq. (IV.3), or under a demand test as the certificate has them; `None` without
/// garbage collection.
pub(crate) fn victim(set: &TaskSet, analysis: &dyn Analysis, certificate: Option<&Certificate>) -> Option<(u64, u64)> {
    let device = set.device();
    match analysis.demand_test() {
        Some(_) => {
            let collection = certificate?.collection?;
            Some((collection.victim_pages, collection.reclaimed_pages))
        }
        None => Some((device.valid_pages_bound().into(), device.reclaimed_per_chip().into())),
    }
}

/// The allocation with what the analysis needs of it: under a demand test a certificate for each
/// cluster that has none. Those that there are stay as they are.
pub fn completed(set: &TaskSet, analysis: &dyn Analysis, allocation: Allocation) -> Allocation {
    match analysis.demand_test() {
        Some(test) if !allocation.is_certified() => test.certified(set, &allocation).0,
        _ => allocation,
    }
}
