//! A cluster's unit in its place, and where it comes nearest to missing a deadline.

use super::contention::Contention;
use super::demand::Demand;
use super::unit::{GcTerms, Unit};

/// What a unit of a cluster is, where it is placed.
#[derive(Debug)]
pub struct Placed {
    /// One of the cluster's units; they differ only in their neighbours.
    pub unit: Unit,
    /// The neighbours of its units: one entry for each kind of neighbourhood.
    pub contentions: Vec<Contention>,
}

/// Garbage collection with the deadline of least load on the interval that matters: the one at
/// which the demand is in proportion, else the shortest.
pub(super) fn nearest_terms(unit: &Unit) -> Option<GcTerms> {
    super::choice::first_terms(unit)
}

/// A failing interval and its slack.
pub(super) fn worst(placed: &Placed, gc: Option<GcTerms>) -> (u64, i128) {
    let looks = placed.contentions.iter().map(|contention| {
        let demand = Demand::new(&placed.unit, contention, gc, 0);
        let nearest = demand.tightest();
        // Overloaded in the long run: at any long interval.
        nearest.map_or_else(|| demand.long_run(), |nearest| (nearest.length, nearest.slack))
    });
    looks.min_by_key(|&(_, slack)| slack).unwrap_or((1, -1))
}
