//! Erases in parts: they are suspended meanwhile (docs/analysis.md, Section 18).

use rtflash_model::{ChipId, Device, Span};
use rtflash_trace::Operation;
use serde::{Deserialize, Serialize};

use super::{Desks, Length};
use crate::Assumption;
use crate::gauge::Gauges;
use crate::place::Place;

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct ErasedParts {
    count: u64,
    time: Span,
}

/// t_s + t_u: what an erase takes longer for each part but its last.
pub(crate) fn suspension(device: &Device) -> Option<Span> {
    Some(device.erase_suspend()?.saturating_add(device.erase_resume()))
}

impl Desks {
    /// How far off the last part of an erase is: by what all of them take, rule P2.
    pub(crate) fn off_with_parts(&mut self, chip: ChipId, took: Span) -> u64 {
        let ErasedParts { count, time } = std::mem::take(&mut self.parts[chip]);
        self.erase_in_parts(count).off(time.saturating_add(took))
    }

    /// A part of an erase: no longer than the whole may be.
    pub(crate) fn part(&mut self, operation: &Operation, gauges: &mut Gauges) {
        let parts = &mut self.parts[operation.chip];
        parts.count += 1;
        parts.time = parts.time.saturating_add(operation.end.since(operation.start));
        let ErasedParts { count, time } = *parts;
        let whole = self.erase_in_parts(count);
        let off = time.saturating_sub(whole.max).as_ns().max(u64::from(self.suspension.is_none()));
        gauges[Assumption::OperationLengths].note(0, off, || Place::from(operation));
    }

    fn erase_in_parts(&self, count: u64) -> Length {
        let longer = self.suspension.unwrap_or(Span::ZERO).checked_mul(count).unwrap_or(Span::LONGEST);
        Length { min: self.erase.min, max: self.erase.max.saturating_add(longer) }
    }
}
