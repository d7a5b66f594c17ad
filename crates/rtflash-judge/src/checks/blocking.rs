//! The time that an operation of a later deadline blocks a job, by Theorem 1.

use rtflash_model::{ChipId, Instant, Span};
use rtflash_plan::{Dispatch, Plan};
use serde::{Deserialize, Serialize};

use crate::Assumption;
use crate::gauge::Gauges;
use crate::shadow::jobs::Pending;

/// The longest time a job waits for an operation of a later deadline, within t_e: of its cluster
/// (serial dispatch) or chip (parallel dispatch). Read field by field, as it is written: read as a
/// whole, it has to wait for the writes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Blocking {
    erase: Span,
    parallel: bool,
    places: Vec<Started>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Started {
    start: Instant,
    end: Instant,
    deadline: u64,
}

impl Blocking {
    pub(crate) fn new(plan: &Plan, dispatch: Dispatch) -> Blocking {
        let parallel = dispatch == Dispatch::Parallel;
        let places = if parallel { plan.device().chips() } else { plan.clusters().count() };
        let places = (0..places).map(|_| Started::default()).collect();
        Blocking { erase: plan.device().block_erase(), parallel, places }
    }

    #[inline(always)]
    pub(crate) fn begins(&mut self, place: usize, start: Instant, end: Instant, deadline: u64) {
        let of = &mut self.places[place];
        of.start = start;
        of.end = end;
        of.deadline = deadline;
    }

    pub(crate) fn look(&self, pending: &mut Pending, plan: &Plan, gauges: &mut Gauges) {
        let Some(cluster) = pending.release.cluster else { return };
        let (at, deadline) = (pending.release.at, pending.deadline());
        let chips = &plan.clusters()[cluster].chips;
        if !self.parallel {
            if let Some(left) = self.blocks(cluster.index(), at, deadline) {
                self.blocked(left, pending, chips[0], gauges);
            }
            return;
        }
        let left = |&chip: &ChipId| Some((chip, self.blocks(chip.index(), at, deadline)?));
        pending.blockers.extend(chips.iter().filter_map(left));
    }

    /// `None` where the operation under way has an earlier deadline, or is over.
    fn blocks(&self, place: usize, at: Instant, deadline: u64) -> Option<Span> {
        let of = &self.places[place];
        (of.deadline > deadline && of.start < at && at < of.end).then(|| of.end.since(at))
    }

    pub(crate) fn blocked(&self, left: Span, pending: &Pending, chip: ChipId, gauges: &mut Gauges) {
        let place = || pending.place(pending.release.at, Some(chip));
        gauges[Assumption::OneBlockingErase].note(self.erase.as_ns(), left.as_ns(), place);
    }
}
