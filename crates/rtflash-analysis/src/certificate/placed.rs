//! A cluster's processor in its place, and where it comes nearest to missing a deadline.

use crate::demand::bus::Contention;
use crate::demand::{Demand, DemandVerdict, Nearest};
use crate::gc::ChosenGc;
use crate::organisation::processor::Processor;
use crate::work::Work;

/// A processor of a cluster at its place.
#[derive(Debug)]
pub struct PlacedProcessor {
    /// One of the cluster's processors; they differ only in their neighbours.
    pub processor: Processor,
    /// The neighbours of its processors: one entry for each kind of neighbourhood.
    pub contentions: Vec<Contention>,
}

impl PlacedProcessor {
    /// One demand for each kind of neighbourhood.
    pub fn demands<'p>(
        &'p self,
        gc: Option<ChosenGc>,
        server_thousandths: u32,
        work: &'p Work,
    ) -> impl Iterator<Item = Demand<'p>> {
        let demand = move |contention| Demand::new(&self.processor, contention, gc, server_thousandths, work);
        self.contentions.iter().map(demand)
    }

    pub(crate) fn holds(&self, gc: Option<ChosenGc>, server_thousandths: u32, work: &Work) -> bool {
        let mut demands = self.demands(gc, server_thousandths, work);
        demands.all(|demand| demand.surely_holds() || demand.test() == DemandVerdict::Holds)
    }
}

pub(crate) fn worst(placed: &PlacedProcessor, gc: Option<ChosenGc>, work: &Work) -> Nearest {
    let looks = placed.demands(gc, 0, work).map(|demand| {
        // Overloaded in the long run: at any long interval.
        demand.tightest().unwrap_or_else(|| demand.long_run())
    });
    looks.min_by_key(|nearest| nearest.slack).expect("a cluster has a chip, and so a neighbourhood")
}
