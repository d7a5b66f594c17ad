//! One transfer at a time on a bus.

use rtflash_model::{Instant, PerId};
use rtflash_plan::{ChannelId, Plan};
use rtflash_trace::Transfer;
use serde::{Deserialize, Serialize};

use crate::gauge::Gauge;
use crate::place::Place;

/// One transfer at a time on a bus: how long two overlap, against zero.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BusExclusion {
    pub(crate) gauge: Gauge,
    free_at: PerId<ChannelId, Instant>,
}

impl BusExclusion {
    pub(crate) fn new(plan: &Plan) -> Self {
        BusExclusion { gauge: Gauge::default(), free_at: plan.per_channel(Instant::START) }
    }

    #[inline]
    pub(crate) fn transfer(&mut self, transfer: &Transfer) {
        let free_at = &mut self.free_at[transfer.channel];
        self.gauge.note(0, free_at.since(transfer.start).as_ns(), || Place {
            at: transfer.start,
            job: Some(transfer.job),
            cluster: Some(transfer.cluster),
            chip: Some(transfer.chip),
        });
        *free_at = transfer.end.max(*free_at);
    }
}
