//! Stripes beside superblocks: an algorithm for searches alone.

use rtflash_alloc::Work;
use rtflash_alloc::allocator::{Allocator, EqualSplit, Limit, Outcome};
use rtflash_alloc::analysis::Analysis;
use rtflash_model::{Allocation, Cluster, Placement, TaskSet};

/// The clusters of [`EqualSplit`], every second one of several chips a superblock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Alternating;

impl Alternating {
    /// The placement of pages in each of the clusters.
    pub(super) fn placements(clusters: &[Cluster]) -> Vec<Placement> {
        let of = |(position, cluster): (usize, &Cluster)| {
            let rows = position % 2 == 1 && cluster.size() > 1;
            if rows { Placement::Superblock } else { Placement::Stripe }
        };
        clusters.iter().enumerate().map(of).collect()
    }
}

impl Allocator for Alternating {
    fn name(&self) -> &'static str {
        "alternating"
    }

    fn summary(&self) -> &'static str {
        "equal split, every second cluster a superblock"
    }

    fn divide(&self, set: &TaskSet, analysis: &dyn Analysis, work: &Work) -> Outcome {
        let outcome = EqualSplit.divide(set, analysis, work);
        let none = Outcome::CannotTell(Limit::TestGivenUp);
        let (Some(allocation), Some(test)) = (outcome.allocation(), analysis.demand_test()) else { return none };
        let clusters = allocation.clusters();
        let certified = test.certify(set, &clusters, &Alternating::placements(&clusters), work);
        let allocation = Allocation::new(set.device().chips(), set.tasks().count() as usize, &clusters);
        match allocation {
            Ok(allocation) if certified.failing.is_empty() && !certified.given_up => {
                Outcome::Schedulable(allocation.with_certificates(certified.certificates))
            }
            _ => none,
        }
    }
}
