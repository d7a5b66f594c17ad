//! What an analysis of either kind says of a given allocation.

use rtflash_model::{Allocation, Certificate, Cluster, Placement, Space, TaskSet};

use crate::certified::certify_without_servers;
use crate::work::Work;
use crate::{Analysis, ClusterReport, DemandTest, Test, cluster_verdict, report_cluster};

/// Each cluster of an allocation in numbers for a reader, under an analysis of either kind; under a
/// demand test the allocation has certificates ([`crate::certified::certified`]).
pub fn report(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<ClusterReport> {
    AnalysisKind::of(analysis).verdicts().report(set, allocation)
}

/// Whether each cluster of an allocation passes, under an analysis of either kind, exactly: its
/// test of time, and the tasks' data fit.
pub fn passing(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<bool> {
    passing_charged(set, analysis, allocation, &Work::new())
}

/// [`passing`], its tests charged to `work`.
pub fn passing_charged(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation, work: &Work) -> Vec<bool> {
    let kind = AnalysisKind::of(analysis);
    let fits = kind.verdicts().spaces(set, allocation).into_iter().map(|space| space.fits());
    let in_time = kind.verdicts().in_time(set, allocation, work).into_iter();
    in_time.zip(fits).map(|(in_time, fits)| in_time && fits).collect()
}

/// Whether each cluster of an allocation passes the analysis's test of time, whatever space its
/// data take. Exact.
pub fn in_time(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<bool> {
    AnalysisKind::of(analysis).verdicts().in_time(set, allocation, &Work::new())
}

/// The data of each cluster of an allocation beside its logical pages; under a demand test, as
/// their certificates place pages.
pub fn spaces(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Vec<Space> {
    AnalysisKind::of(analysis).verdicts().spaces(set, allocation)
}

/// Valid pages of a victim at most, and pages that a pass reclaims at least, on each chip or in a
/// superblock: by Eq. (IV.3), or under a demand test as the certificate has them; `None` without
/// garbage collection.
pub fn victim(set: &TaskSet, analysis: &dyn Analysis, certificate: Option<&Certificate>) -> Option<(u64, u64)> {
    AnalysisKind::of(analysis).verdicts().victim(set, certificate)
}

/// The allocation with what the analysis needs of it: under a demand test a certificate for each
/// cluster that has none. The others stay as they are.
pub fn completed(set: &TaskSet, analysis: &dyn Analysis, allocation: Allocation) -> Allocation {
    AnalysisKind::of(analysis).verdicts().completed(set, allocation)
}

/// An allocation that passes, without servers: jobs that are not real-time get nothing, and erases
/// are suspended where the device can. Under an analysis without certificates it stays as it is.
pub fn without_servers(set: &TaskSet, analysis: &dyn Analysis, allocation: Allocation) -> Allocation {
    let certificates: Vec<Option<Certificate>> =
        (0..allocation.len()).map(|position| allocation.certificate(position).copied()).collect();
    let (Some(test), Some(certificates)) =
        (analysis.demand_test(), certificates.into_iter().collect::<Option<Vec<_>>>())
    else {
        return allocation;
    };
    let placements: Vec<Placement> = certificates.iter().map(|certificate| certificate.placement).collect();
    let clusters = allocation.clusters();
    let certified = certify_without_servers(set, &clusters, &placements, test.rely_on, &Work::new());
    assert!(certified.failing.is_empty(), "servers are made of what tasks leave");
    allocation.with_certificates(certified.certificates)
}

/// The two kinds of analysis.
enum AnalysisKind<'a> {
    Utilization(UtilizationAnalysis<'a>),
    Demand(DemandTest),
}

/// An analysis whose test knows the tasks and the number of chips of a cluster alone.
struct UtilizationAnalysis<'a>(&'a dyn Analysis);

impl<'a> AnalysisKind<'a> {
    fn of(analysis: &'a dyn Analysis) -> AnalysisKind<'a> {
        match analysis.test() {
            Test::Linear(_) | Test::Utilization(_) | Test::Cluster(_) => {
                AnalysisKind::Utilization(UtilizationAnalysis(analysis))
            }
            Test::Demand(test) => AnalysisKind::Demand(test),
        }
    }

    fn verdicts(&self) -> &dyn AllocationVerdicts {
        match self {
            AnalysisKind::Utilization(analysis) => analysis,
            AnalysisKind::Demand(test) => test,
        }
    }
}

/// What an analysis of one kind says of a given allocation: the functions of this module.
trait AllocationVerdicts {
    fn report(&self, set: &TaskSet, allocation: &Allocation) -> Vec<ClusterReport>;
    fn in_time(&self, set: &TaskSet, allocation: &Allocation, work: &Work) -> Vec<bool>;
    fn spaces(&self, set: &TaskSet, allocation: &Allocation) -> Vec<Space>;
    fn victim(&self, set: &TaskSet, certificate: Option<&Certificate>) -> Option<(u64, u64)>;
    fn completed(&self, set: &TaskSet, allocation: Allocation) -> Allocation;
}

impl AllocationVerdicts for UtilizationAnalysis<'_> {
    fn report(&self, set: &TaskSet, allocation: &Allocation) -> Vec<ClusterReport> {
        each(allocation, |_, cluster| report_cluster(set, self.0, &cluster.tasks, cluster.size()))
    }

    fn in_time(&self, set: &TaskSet, allocation: &Allocation, work: &Work) -> Vec<bool> {
        each(allocation, |_, cluster| cluster_verdict(set, self.0, &cluster.tasks, cluster.size(), work).passes)
    }

    fn spaces(&self, set: &TaskSet, allocation: &Allocation) -> Vec<Space> {
        each(allocation, |_, cluster| set.space(&cluster.tasks, cluster.size(), None))
    }

    fn victim(&self, set: &TaskSet, _: Option<&Certificate>) -> Option<(u64, u64)> {
        Some((set.device().valid_pages_bound().into(), set.device().reclaimed_per_chip().into()))
    }

    fn completed(&self, _: &TaskSet, allocation: Allocation) -> Allocation {
        allocation
    }
}

impl AllocationVerdicts for DemandTest {
    fn report(&self, set: &TaskSet, allocation: &Allocation) -> Vec<ClusterReport> {
        self.reports(set, allocation)
    }

    fn in_time(&self, set: &TaskSet, allocation: &Allocation, work: &Work) -> Vec<bool> {
        self.holding(set, allocation, work)
    }

    fn spaces(&self, set: &TaskSet, allocation: &Allocation) -> Vec<Space> {
        each(allocation, |position, cluster| {
            let placement = allocation.certificate(position).map(|certificate| certificate.placement);
            set.space(&cluster.tasks, cluster.size(), placement)
        })
    }

    fn victim(&self, _: &TaskSet, certificate: Option<&Certificate>) -> Option<(u64, u64)> {
        let collection = certificate?.collection?;
        Some((collection.victim_pages, collection.reclaimed_pages))
    }

    fn completed(&self, set: &TaskSet, allocation: Allocation) -> Allocation {
        if allocation.is_certified() { allocation } else { self.certified(set, &allocation, &Work::new()).0 }
    }
}

fn each<T>(allocation: &Allocation, of: impl Fn(usize, Cluster) -> T) -> Vec<T> {
    allocation.clusters().into_iter().enumerate().map(|(position, cluster)| of(position, cluster)).collect()
}
