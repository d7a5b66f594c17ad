//! The verdict of the demand test, with more or less patience where the load is near to one.

use rtflash_model::Span;

use super::end::FitsFrom;
use super::search::SegmentSearch;
use super::{Demand, DemandVerdict, MAX_ITERATIONS};

/// Times the longest relative deadline that are many for a search that has other places to try.
const MANY: u64 = 64;
/// Iterations, and more for each deadline, before a few lengths are looked at.
const FEW_ITERATIONS: usize = 32;

/// How many steps a test may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Few: for searches that have other places to try.
    Short,
    /// As many as are of use.
    Full,
}

impl Demand<'_> {
    /// Whether demand and blocking fit into every interval: QPA where blocking is constant.
    ///
    /// Near a full load that takes many steps, and what fails does so at many lengths: where some
    /// steps do not decide it, a few lengths are looked at first.
    pub fn test(&self) -> DemandVerdict {
        self.test_with(Patience::Full)
    }

    /// [`test`](Demand::test) with a patience.
    pub fn test_with(&self, patience: Patience) -> DemandVerdict {
        if patience == Patience::Short && self.is_next_to_one() {
            return DemandVerdict::TooLong;
        }
        let few = FEW_ITERATIONS + 4 * self.segments.len();
        let place = match self.search(few) {
            SegmentSearch::GivenUp(place) if patience == Patience::Full => place,
            soon => return soon.verdict(),
        };
        if self.work.is_used_up() {
            return DemandVerdict::TooLong;
        }
        if let Some(length) = self.fails_early() {
            return DemandVerdict::Fails(length);
        }
        let Some(place) = place else { return DemandVerdict::TooLong };
        let most = MAX_ITERATIONS / (self.segments.len() + 1) + 4 * self.segments.len();
        // Charged twice: bounds on work were set with that.
        self.work.charge(few.min(most) * self.cost_of_look());
        self.search_from(place, most.saturating_sub(few)).verdict()
    }

    fn is_next_to_one(&self) -> bool {
        let longest = self.segments.last().map_or(Span::ZERO, |last| last.from);
        match self.end() {
            FitsFrom::At(end) => end.as_ns() / MANY > longest.as_ns(),
            FitsFrom::Overloaded => false,
            FitsFrom::TooLong => true,
        }
    }

    #[cfg(test)]
    pub(crate) fn test_within(&self, iterations: usize) -> DemandVerdict {
        self.search(iterations).verdict()
    }

    /// Each length at which something more is due, then twice as long each time.
    pub(crate) fn fails_early(&self) -> Option<Span> {
        let starts = self.segments.iter().map(|segment| segment.from);
        let early = starts.filter(|&from| from > Span::ZERO).find(|&from| self.fails_at(from));
        if early.is_some() {
            return early;
        }
        let FitsFrom::At(end) = self.end() else { return None };
        let longest = self.segments.last()?.from.max(Span::NANOSECOND);
        let doubled = std::iter::successors(Some(longest), |length| length.checked_mul(2)).skip(1);
        doubled.take_while(|&length| length <= end).find(|&length| self.fails_at(length))
    }
}
