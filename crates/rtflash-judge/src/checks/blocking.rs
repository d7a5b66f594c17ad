//! The time that an operation of a later deadline blocks a job, by Theorem 1.

use rtflash_model::{ChipId, Span};
use serde::{Deserialize, Serialize};

use crate::gauge::Gauge;
use crate::shadow::jobs::Pending;

/// The longest time a job waits for an operation of a later deadline, within t_e.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Blocking {
    pub(crate) gauge: Gauge,
}

impl Blocking {
    pub(crate) fn blocked(&mut self, left: Span, erase: Span, pending: &Pending, chip: ChipId) {
        self.gauge.note(erase.as_ns(), left.as_ns(), || pending.place(pending.release.at, Some(chip)));
    }
}
