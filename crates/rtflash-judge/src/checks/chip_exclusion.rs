//! One operation at a time on a chip.

use rtflash_model::{ChipId, Instant, PerId};
use rtflash_plan::Plan;
use rtflash_trace::Operation;
use serde::{Deserialize, Serialize};

use crate::gauge::Gauge;
use crate::place::Place;

/// One operation at a time on a chip: how long two overlap, against zero.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ChipExclusion {
    pub(crate) gauge: Gauge,
    free_at: PerId<ChipId, Instant>,
}

impl ChipExclusion {
    pub(crate) fn new(plan: &Plan) -> Self {
        ChipExclusion { gauge: Gauge::default(), free_at: plan.per_chip(Instant::START) }
    }

    #[inline(always)]
    pub(crate) fn operation(&mut self, operation: &Operation) {
        let free_at = &mut self.free_at[operation.chip];
        self.gauge.note(0, free_at.since(operation.start).as_ns(), || Place::from(operation));
        *free_at = operation.end.max(*free_at);
    }
}
