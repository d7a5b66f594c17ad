//! QPA: the search for an interval that demand and blocking do not fit into.

use rtflash_model::Span;

use super::end::FitsFrom;
use super::{Demand, DemandVerdict, Segment, before};

/// Looks after which those that follow are worth being prepared.
const FEW_LOOKS: usize = 12;

pub(crate) enum SegmentSearch {
    Nothing,
    Found(Span),
    Overloaded,
    /// Given up, and how far it has come; `None` where its numbers are too large.
    GivenUp(Option<SearchPlace>),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchPlace {
    segment: usize,
    /// A longer interval in this segment is long enough.
    length: Span,
    /// From there on all intervals are.
    end: Span,
}

impl SegmentSearch {
    pub(crate) fn verdict(self) -> DemandVerdict {
        match self {
            SegmentSearch::Nothing => DemandVerdict::Holds,
            SegmentSearch::Found(length) => DemandVerdict::Fails(length),
            SegmentSearch::Overloaded => DemandVerdict::Overloaded,
            SegmentSearch::GivenUp(_) => DemandVerdict::TooLong,
        }
    }
}

impl Demand<'_> {
    pub(crate) fn search(&self, iterations: usize) -> SegmentSearch {
        if self.segments.is_empty() {
            return SegmentSearch::Nothing;
        }
        if self.share == 0 {
            return SegmentSearch::Overloaded;
        }
        match self.end() {
            FitsFrom::Overloaded => SegmentSearch::Overloaded,
            FitsFrom::TooLong => SegmentSearch::GivenUp(None),
            FitsFrom::At(end) => {
                let length = self.longest_within(0, end);
                self.search_from(SearchPlace { segment: 0, length, end }, iterations)
            }
        }
    }

    /// QPA by segments, Eq. (18), downwards: where L has the demand h, all intervals from (h +
    /// B)/(1 − U_s) up to L are long enough.
    pub(crate) fn search_from(&self, place: SearchPlace, mut iterations: usize) -> SegmentSearch {
        let SearchPlace { mut segment, mut length, end } = place;
        let (mut looks, cost_of_look) = (0, self.cost_of_look());
        while let Some(&Segment { from, blocking }) = self.segments.get(segment) {
            if iterations == 0 || self.work.is_used_up() {
                return SegmentSearch::GivenUp(Some(SearchPlace { segment, length, end }));
            }
            iterations -= 1;
            // h(L) = ⌈(dbf(L) + B)/(1 − U_s)⌉.
            if looks < FEW_LOOKS {
                self.work.charge(cost_of_look);
            } else {
                self.work.charge_quick(cost_of_look, self.contention.quick_look(self.processor));
            }
            let demand = self.at_uncharged(length);
            let h = demand.saturating_add(blocking).shortest(self.share);
            looks += 1;
            if looks == FEW_LOOKS {
                self.work.prepare(cost_of_look);
            }
            let Some(h) = h.filter(|&h| h <= length) else {
                // Charged twice: bounds on work were set with that.
                self.work.charge(cost_of_look);
                return SegmentSearch::Found(length);
            };
            // The shortest interval that holds this work; what does not hold it is shorter.
            length = before(h);
            if length < from {
                segment += 1;
                length = self.longest_within(segment, end);
            }
        }
        SegmentSearch::Nothing
    }

    fn longest_within(&self, segment: usize, end: Span) -> Span {
        let next = self.segments.get(segment + 1);
        next.map_or_else(|| self.segments.last().map_or(end, |last| end.max(last.from)), |next| before(next.from))
    }
}
