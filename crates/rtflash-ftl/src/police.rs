//! Requests that come earlier, or are larger, than declared would break the promise to others: they
//! are refused.

use crate::image::{ImageSource, RequestOrder};
use crate::memory::word;

/// Why a request is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// There is no such source.
    NoSource,
    /// It comes early: it can be handed over again at this instant, in nanoseconds.
    Early(u64),
    /// It has no page, or more than declared: this number.
    Large(u32),
    /// A page, by its number in the request, that is not the source's, or not the next one.
    Page(u32),
    /// The source has more requests waiting than fit its deadline: one of them is late, so the
    /// device does not do what the certificate supposes.
    Full,
    /// The instants are beyond 2^64 ns.
    TooLate,
}

impl core::fmt::Display for Refused {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Refused::NoSource => f.write_str("there is no such source of requests"),
            Refused::Early(from) => write!(f, "the request comes early: it may come at {from} ns"),
            Refused::Large(pages) => write!(f, "the request has {pages} pages, which is none, or more than declared"),
            Refused::Page(place) => write!(f, "page {place} of the request is not the source's, or not the next one"),
            Refused::Full => f.write_str("too many requests of the source wait"),
            Refused::TooLate => f.write_str("the request is due behind 2^64 ns"),
        }
    }
}

impl core::error::Error for Refused {}

impl ImageSource {
    fn number(&self, page: u32) -> Option<u32> {
        page.checked_sub(self.first_page).filter(|&number| number < self.page_count)
    }

    pub(crate) fn has(&self, page: u32) -> bool {
        self.number(page).is_some()
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SourcePolice {
    /// The earliest nominal arrival of the next request.
    free_from: u64,
    /// The next chip, or with [`RequestOrder::Round`] the next page of the range; `None` at the
    /// start of a stream, which begins on any chip.
    next: Option<u32>,
    /// By how many pages the next request can go back in its round.
    back: u32,
    /// s: chips that consecutive pages go round on.
    chips: u32,
}

impl SourcePolice {
    pub(crate) const fn new(chips: u32) -> SourcePolice {
        SourcePolice { free_from: 0, next: None, back: 0, chips }
    }

    /// The nominal arrival of a request that passes now: as stated, or as early as its jitter
    /// allows, so that the next one can come that much sooner.
    pub(crate) fn passes(
        &mut self,
        of: &ImageSource,
        nominal_ns: Option<u64>,
        now_ns: u64,
        pages: &[u32],
    ) -> Result<u64, Refused> {
        let earliest = self.free_from.max(now_ns.saturating_sub(of.jitter_ns));
        let nominal = nominal_ns.unwrap_or(earliest).max(earliest);
        if nominal > now_ns {
            return Err(Refused::Early(nominal));
        }
        let count = word(pages.len());
        if count == 0 || count > of.pages {
            return Err(Refused::Large(count));
        }
        let free_from = nominal.checked_add(of.period_ns).ok_or(Refused::TooLate)?;
        let next = self.after(of, pages)?;
        (self.free_from, self.next, self.back) = (free_from, next, 0);
        Ok(nominal)
    }

    /// The next page of the range, by its number there, with [`RequestOrder::Round`].
    pub(crate) fn next_of_round(&self) -> u32 {
        self.next.unwrap_or(0)
    }

    /// Power was lost. The next request goes on with this page of its round, or before it, with
    /// pages that were programmed and not acknowledged.
    pub(crate) fn goes_on(&mut self, of: &ImageSource, next: u32) {
        // ⌈D/T⌉ requests were under way at most. Chips are apart by these and a row of them. If
        // that is half of the round, the first page cannot be known.
        let requests = u32::try_from(of.deadline_ns.div_ceil(of.period_ns.max(1))).unwrap_or(u32::MAX);
        let pages = of.pages.saturating_mul(requests);
        let apart = pages.saturating_add(self.chips.saturating_sub(1));
        let back = if apart >= of.page_count.div_ceil(2) { of.page_count } else { pages };
        (self.next, self.back) = (Some(next), back);
    }

    /// The page, or chip, that is next behind these; `None` if any can be.
    fn after(&self, of: &ImageSource, pages: &[u32]) -> Result<Option<u32>, Refused> {
        let chips = self.chips;
        let mut next = match of.order {
            RequestOrder::Any => None,
            RequestOrder::Consecutive => pages.first().map(|page| page % chips),
            RequestOrder::Stream => self.next.or_else(|| pages.first().map(|page| page % chips)),
            RequestOrder::Round => {
                let next = self.next_of_round();
                let first = pages.first().and_then(|&page| of.number(page));
                let back = |first: u32| (next + of.page_count - first) % of.page_count;
                Some(first.filter(|&first| back(first) <= self.back).unwrap_or(next))
            }
        };
        for (place, &page) in (0..).zip(pages) {
            let number = of.number(page).ok_or(Refused::Page(place))?;
            let Some(expected) = &mut next else { continue };
            let (found, round) =
                if of.order == RequestOrder::Round { (number, of.page_count) } else { (page % chips, chips) };
            if found != *expected {
                return Err(Refused::Page(place));
            }
            *expected = (*expected + 1) % round;
        }
        Ok(next)
    }
}
