//! The verdict of the demand test, with more or less patience where the load is near to one.

use rtflash_model::Span;

use super::end::FitsFrom;
use super::{Demand, DemandVerdict, MAX_ITERATIONS, Nearest, SegmentSearch};

/// Times the longest relative deadline that are many for a search that has other places to try.
const MANY: u64 = 64;
/// Iterations, and some more for each relative deadline, after which it is looked whether a test
/// fails at one of a few lengths.
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
    /// Whether demand and blocking fit into every interval, by QPA on each stretch on which
    /// blocking is constant.
    ///
    /// Near a full load that takes many steps, and what fails often does so at many lengths: where
    /// some steps do not decide it, a few lengths are looked at first.
    pub fn test(&self) -> DemandVerdict {
        self.test_with(Patience::Full)
    }

    /// The same with so much patience.
    pub fn test_with(&self, patience: Patience) -> DemandVerdict {
        if patience == Patience::Short && self.is_next_to_one() {
            return DemandVerdict::TooLong;
        }
        let soon = self.test_within(FEW_ITERATIONS + 4 * self.segments.len());
        if soon != DemandVerdict::TooLong || patience == Patience::Short {
            return soon;
        }
        match self.fails_early() {
            Some(length) => DemandVerdict::Fails(length),
            None => self.test_within(MAX_ITERATIONS / (self.segments.len() + 1) + 4 * self.segments.len()),
        }
    }

    /// Whether the load is so near to one that many times the longest relative deadline has to be
    /// looked at.
    fn is_next_to_one(&self) -> bool {
        let longest = self.segments.last().map_or(Span::ZERO, |last| last.from);
        match self.end() {
            FitsFrom::At(end) => end.as_ns() / MANY > longest.as_ns(),
            FitsFrom::Overloaded => false,
            FitsFrom::TooLong => true,
        }
    }

    /// The same, given up after so many iterations.
    pub(super) fn test_within(&self, iterations: usize) -> DemandVerdict {
        match self.search(iterations) {
            SegmentSearch::Nothing | SegmentSearch::Found(Nearest { slack: 0.., .. }) => DemandVerdict::Holds,
            SegmentSearch::Found(nearest) => DemandVerdict::Fails(nearest.length),
            SegmentSearch::Overloaded => DemandVerdict::Overloaded,
            SegmentSearch::TooLong => DemandVerdict::TooLong,
        }
    }

    /// A length at which it fails, of a few: each at which something more is due, and then twice as
    /// long each time, as far as there may be one.
    pub(super) fn fails_early(&self) -> Option<Span> {
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
