//! Garbage collection while a reserve grows (docs/admission.md).

use rtflash_model::Span;

use super::{ChosenGc, Processor};

impl Processor {
    /// Garbage collection with this relative deadline while the reserve grows to that of `next`: α,
    /// v and F are those of `next`, and H what this processor's own writers need
    /// (docs/admission.md, Theorem A3).
    pub(in crate::certified) fn gc_towards(&self, deadline: Span, next: &ChosenGc) -> Option<ChosenGc> {
        let reserve = self.arrivals(deadline)?.checked_add(next.valid)?.checked_add(next.reclaimed - 1)?;
        self.terms(Some(deadline), [reserve, next.open, next.valid, next.reclaimed])
    }
}
