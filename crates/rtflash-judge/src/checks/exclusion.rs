//! One thing at a time: an operation on a chip, a transfer on a bus.

use rtflash_model::{Id, Instant, PerId};
use serde::{Deserialize, Serialize};

use crate::gauge::Gauge;
use crate::place::Place;

/// How long two of them overlap, against zero.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Exclusion<I> {
    free_at: PerId<I, Instant>,
}

impl<I: Id> Exclusion<I> {
    pub(crate) fn new(free_at: PerId<I, Instant>) -> Exclusion<I> {
        Exclusion { free_at }
    }

    #[inline(always)]
    pub(crate) fn takes(&mut self, of: I, end: Instant, place: Place, gauge: &mut Gauge) {
        let free_at = &mut self.free_at[of];
        gauge.note(0, free_at.since(place.at).as_ns(), || place);
        *free_at = end.max(*free_at);
    }
}
