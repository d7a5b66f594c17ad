//! Garbage collection while a reserve grows, or once a server is left out (docs/admission.md).

use rtflash_model::{Certificate, Collection, Span};

use super::room::GcNumbers;
use crate::gc::ChosenGc;
use crate::organisation::organisation;
use crate::organisation::processor::Processor;

impl Processor {
    /// While the reserve grows to that of `next`: α, v and F of `next`, and H for this processor's
    /// writers (docs/admission.md, Theorem 13).
    pub fn gc_towards(&self, deadline: Span, next: &ChosenGc) -> Option<ChosenGc> {
        let reserve = self.arrivals(deadline)?.checked_add(next.valid)?.checked_add(next.reclaimed - 1)?;
        let (open, valid, reclaimed) = (next.open, next.valid, next.reclaimed);
        self.terms(Some(deadline), GcNumbers { reserve, open, valid, reclaimed })
    }

    /// The reserve without R (docs/admission.md, Theorem 14); `None` where less is stated.
    pub fn without_server(&self, certificate: &Certificate) -> Option<Certificate> {
        let without = |of: Collection| {
            let emptied = self.emptied(of.victim_pages, of.reclaimed_pages)?;
            let drawn = emptied.checked_add(organisation(self.placement).unfilled(self.chips))?;
            Some(Collection { reserve_pages: of.reserve_pages.checked_sub(drawn)?, ..of })
        };
        let collection = match certificate.collection {
            Some(of) if certificate.server_thousandths > 0 => Some(without(of)?),
            other => other,
        };
        Some(Certificate { collection, server_thousandths: 0, tightest: None, ..*certificate })
    }
}
