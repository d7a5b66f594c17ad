//! Changes of a cluster's garbage collection while it runs (docs/admission.md).

use rtflash_model::{Arrivals, Collection, Instant, Span};

use super::steps::pass_cost;
use super::{Plan, PlanError, Promise};
use crate::ids::ClusterId;

/// Each processor changes by itself, at the first instant from then on at which it has nothing to
/// do and enough free pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionChange {
    /// The earliest instant.
    pub not_before: Instant,
    /// D_g, α, H, v and F from then on.
    pub collection: Collection,
    /// H, or more while the reserve is to grow: a pass is left out with this many free pages.
    pub goal_pages: u64,
    /// GC jobs that are released beside those of R1.
    pub extra_passes: u64,
    /// The time between their releases.
    pub spacing: Span,
}

/// A change, and what follows for its passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedChange {
    /// The change.
    pub change: CollectionChange,
    /// C_g: what a pass takes at most from then on.
    pub pass: Span,
}

impl CollectionChange {
    /// The counter of R1 past the last multiple of α, f = `free`: max(0, H − f); `None` from α on.
    pub fn counted(&self, free: u64) -> Option<u64> {
        let missing = self.collection.reserve_pages.saturating_sub(free);
        (missing < self.collection.reclaimed_pages).then_some(missing)
    }
}

impl Plan {
    /// Changes of a cluster with a certificate, in order.
    ///
    /// # Errors
    /// [`PlanError::Certificate`]: nothing is collected, a server's jobs have no end, or no
    /// certificate can state the change.
    pub fn with_changes(mut self, cluster: ClusterId, changes: &[CollectionChange]) -> Result<Plan, PlanError> {
        let fault = |fault| PlanError::Certificate { cluster: cluster.index(), fault };
        let device = self.device;
        let Some(of) = self.clusters.get(cluster) else { return Err(PlanError::OtherAllocation) };
        let Promise::Certified(certified) = &mut self.promise else { return Err(PlanError::OtherAllocation) };
        let by = &mut certified[cluster];
        if by.certificate.collection.is_none() {
            return Err(fault("has no reserve, and collects nothing that could be changed"));
        }
        let endless = self.jobs.iter().any(|job| !matches!(job.arrivals, Arrivals::At(_)));
        if by.certificate.server_thousandths > 0 && endless {
            return Err(fault("has a server, and may never be idle"));
        }
        let wide = u64::from(by.width(of.layout.chips()));
        let spare = u64::from(of.layout.pages_per_chip() - of.layout.logical_per_chip()) * wide;
        by.changes.clear();
        for &change in changes {
            let Collection { deadline, reclaimed_pages, reserve_pages, victim_pages, .. } = change.collection;
            if deadline.is_none() || reclaimed_pages == 0 || change.goal_pages < reserve_pages {
                return Err(fault("is changed to what no certificate says"));
            }
            if change.goal_pages > spare {
                return Err(PlanError::NoRoom { cluster: cluster.index() });
            }
            let pass = pass_cost(&device, of, by.certificate.placement, victim_pages);
            let pass = pass.ok_or(fault("has passes that take 2^63 ns or longer"))?;
            by.changes.push(PlannedChange { change, pass });
        }
        let longest = by.changes.iter().map(|planned| planned.pass).chain(by.pass).max();
        for source in self.sources.iter_mut().filter(|source| source.cluster == Some(cluster)) {
            if matches!(source.releases, super::Releases::Collected { .. }) {
                source.bound = longest;
            }
        }
        Ok(self)
    }
}
