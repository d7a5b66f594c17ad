//! The test of a cluster where it is placed: what it allows, and what it says of a given
//! allocation.

use rtflash_model::{Allocation, Cluster, Device, Placement, Reliance, TaskSet};

use crate::certified::{self, Certification};
use crate::work::Work;

/// Processor demand of placed clusters, with certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemandTest {
    /// The placements of pages that a cluster may have; at least one.
    pub placements: &'static [Placement],
    /// The most that its promises may rely on.
    pub rely_on: Reliance,
}

impl DemandTest {
    /// With those of its placements alone that are possible on a device.
    #[must_use]
    pub fn on(self, device: &Device) -> DemandTest {
        const BY_REGISTER: [&[Placement]; 3] =
            [&[Placement::Stripe, Placement::Superblock], &[Placement::Stripe], &[Placement::Superblock]];
        let is_possible = |placement: &&Placement| placement.is_possible_on(device);
        let possible = self.placements.iter().filter(is_possible);
        let same = |few: &&&[Placement]| possible.clone().eq(few.iter());
        let all = self.placements.iter().all(|placement| placement.is_possible_on(device));
        let few = BY_REGISTER.iter().find(same).filter(|_| !all);
        DemandTest { placements: few.copied().unwrap_or(self.placements), ..self }
    }

    /// For a given allocation: any where the better one is chosen for each cluster, as each is
    /// tested by itself (docs/analysis.md, Theorem 7).
    pub fn verified(self) -> &'static [Placement] {
        if self.placements == Placement::COLLECTING { &Placement::ALL } else { self.placements }
    }

    /// The placement of pages in clusters without tasks.
    pub fn idle(self) -> Placement {
        *self.placements.first().expect(certified::ONE_PLACEMENT)
    }

    /// [`certified::certified`]. If some cluster fails, certificates that rely on less are looked
    /// for: granting more never refuses more.
    pub fn certified(self, set: &TaskSet, allocation: &Allocation, work: &Work) -> (Allocation, Certification) {
        let relying_on = |rely_on| certified::certified(set, allocation, self.placements, rely_on, work);
        let first = relying_on(self.rely_on);
        if first.1.failing.is_empty() {
            return first;
        }
        let less = self.rely_on.less().map(relying_on).find(|(_, found)| found.failing.is_empty());
        less.map_or(first, |(found, how)| (certified::tightened(set, found, self.rely_on), how))
    }

    /// All or none ([`certified::certify_whole`]).
    pub fn certify(self, set: &TaskSet, clusters: &[Cluster], placements: &[Placement], work: &Work) -> Certification {
        certified::certify_whole(set, clusters, placements, self.rely_on, work)
    }
}
