//! The verdict of an analysis of either kind on a given allocation.

use rtflash_model::{Allocation, Certificate, Cluster, Placement, Space, TaskSet};

use crate::certified::{certify_without_servers, holding, reports};
use crate::work::Work;
use crate::{Analysis, ClusterReport, cluster_verdict, report_cluster};

/// Numbers for a reader; under a demand test the allocation has certificates.
pub fn report(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<ClusterReport> {
    match analysis.demand_test() {
        Some(test) => reports(set, allocation, test.rely_on),
        None => each(allocation, |_, cluster| report_cluster(set, analysis, &cluster.tasks, cluster.size())),
    }
}

/// Whether each cluster is in time, exactly, and its data fit.
pub fn passing(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<bool> {
    passing_charged(set, analysis, allocation, &Work::new())
}

/// [`passing`], its tests charged to `work`.
pub fn passing_charged(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation, work: &Work) -> Vec<bool> {
    let fits = spaces(set, analysis, allocation).into_iter().map(|space| space.fits());
    let in_time = in_time_charged(set, analysis, allocation, work).into_iter();
    in_time.zip(fits).map(|(in_time, fits)| in_time && fits).collect()
}

/// Whether each cluster is in time, whatever space its data take. Exact.
pub fn in_time(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<bool> {
    in_time_charged(set, analysis, allocation, &Work::new())
}

fn in_time_charged(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation, work: &Work) -> Vec<bool> {
    match analysis.demand_test() {
        Some(test) => holding(set, allocation, test.rely_on, work),
        None => {
            each(allocation, |_, cluster| cluster_verdict(set, analysis, &cluster.tasks, cluster.size(), work).passes)
        }
    }
}

/// The data of each cluster, under a demand test as certificates place pages.
pub fn spaces(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<Space> {
    let is_placed = analysis.demand_test().is_some();
    each(allocation, |position, cluster| {
        let certificate = allocation.certificate(position).filter(|_| is_placed);
        set.space(&cluster.tasks, cluster.size(), certificate.map(|certificate| certificate.placement))
    })
}

/// Valid pages of a victim at most, and pages that a pass reclaims at least: Eq. (IV.3), or as the
/// certificate has them.
pub fn victim(set: &TaskSet, analysis: &dyn Analysis, certificate: Option<&Certificate>) -> Option<(u64, u64)> {
    if analysis.demand_test().is_some() {
        let collection = certificate?.collection?;
        return Some((collection.victim_pages, collection.reclaimed_pages));
    }
    Some((set.device().valid_pages_bound().into(), set.device().reclaimed_per_chip().into()))
}

/// Adds a certificate to each cluster that has none, under a demand test.
pub fn completed(set: &TaskSet, analysis: &dyn Analysis, allocation: Allocation) -> Allocation {
    match analysis.demand_test() {
        Some(test) if !allocation.is_certified() => test.certified(set, &allocation, &Work::new()).0,
        _ => allocation,
    }
}

/// For an allocation that passes; erases are suspended where the device can.
pub fn without_servers(set: &TaskSet, analysis: &dyn Analysis, allocation: Allocation) -> Allocation {
    let (Some(test), Some(certificates)) = (analysis.demand_test(), allocation.certificates()) else {
        return allocation;
    };
    let placements: Vec<Placement> = certificates.iter().map(|certificate| certificate.placement).collect();
    let clusters = allocation.clusters();
    let certified = certify_without_servers(set, &clusters, &placements, test.rely_on, &Work::new());
    assert!(certified.failing.is_empty(), "servers are made of what tasks leave");
    allocation.with_certificates(certified.certificates)
}

fn each<T>(allocation: &Allocation, of: impl Fn(usize, Cluster) -> T) -> Vec<T> {
    allocation.clusters().into_iter().enumerate().map(|(position, cluster)| of(position, cluster)).collect()
}
