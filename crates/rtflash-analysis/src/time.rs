//! Time on a processor: what a job takes of it, and what jobs demand of an interval. Lengths of
//! time are [`Span`]s.

use std::fmt;

use rtflash_model::Span;

use crate::fraction::to_f64;

/// Time of a step, a request or a pass, in whole nanoseconds below 2⁶⁴: late if above any length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cost(u64);

impl Cost {
    /// Nothing.
    pub const ZERO: Cost = Cost(0);

    /// This number of nanoseconds.
    pub const fn from_ns(nanoseconds: u64) -> Cost {
        Cost(nanoseconds)
    }

    /// In nanoseconds.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// About as many nanoseconds.
    pub fn to_f64(self) -> f64 {
        self.0 as f64
    }

    /// As a length of time; `None` where it is longer than all of them.
    pub const fn span(self) -> Option<Span> {
        Span::from_ns(self.0)
    }

    /// The sum, or `None` at 2⁶⁴ nanoseconds and above.
    pub fn checked_add(self, other: Cost) -> Option<Cost> {
        self.0.checked_add(other.0).map(Cost)
    }

    /// The sum, below 2⁶⁴ nanoseconds: what takes so long is late everywhere.
    #[must_use]
    pub fn saturating_add(self, other: Cost) -> Cost {
        Cost(self.0.saturating_add(other.0))
    }

    /// The rest without so long a time; `None` where that is more than there is.
    pub fn checked_sub(self, span: Span) -> Option<Cost> {
        self.0.checked_sub(span.as_ns()).map(Cost)
    }

    /// That many of it, or `None` at 2⁶⁴ nanoseconds and above.
    pub fn checked_mul(self, times: u64) -> Option<Cost> {
        self.0.checked_mul(times).map(Cost)
    }

    /// The product, at most 2⁶⁴ − 1 nanoseconds: what takes that long is late everywhere.
    #[must_use]
    pub fn saturating_mul(self, times: u64) -> Cost {
        Cost(self.0.saturating_mul(times))
    }

    /// The time that so often repeated work demands.
    #[inline]
    pub fn times(self, times: u128) -> ProcessorTime {
        ProcessorTime(product(times, self.0))
    }
}

impl From<Span> for Cost {
    fn from(span: Span) -> Cost {
        Cost(span.as_ns())
    }
}

/// Demand of jobs within an interval, in whole nanoseconds. Sums and products stop at 2¹²⁸ − 1, the
/// safe side: no interval has so much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ProcessorTime(u128);

impl ProcessorTime {
    /// Nothing.
    pub const ZERO: ProcessorTime = ProcessorTime(0);

    /// This number of nanoseconds.
    pub const fn from_ns(nanoseconds: u128) -> ProcessorTime {
        ProcessorTime(nanoseconds)
    }

    /// In nanoseconds.
    pub const fn as_ns(self) -> u128 {
        self.0
    }

    /// About as many nanoseconds.
    pub fn to_f64(self) -> f64 {
        to_f64(self.0)
    }

    /// The sum, at most 2¹²⁸ − 1 ns.
    #[must_use]
    #[inline]
    pub fn saturating_add(self, other: impl Into<ProcessorTime>) -> ProcessorTime {
        ProcessorTime(self.0.saturating_add(other.into().0))
    }

    /// That many of it, at most 2¹²⁸ − 1 ns.
    #[must_use]
    #[inline]
    pub fn saturating_mul(self, times: u128) -> ProcessorTime {
        ProcessorTime(product_of_two(self.0, times))
    }

    /// An equal part of it, rounded down; all of it where it stopped growing, or for no parts.
    #[must_use]
    pub fn shared_by(self, many: u128) -> ProcessorTime {
        if self.0 == u128::MAX { self } else { ProcessorTime(self.0.checked_div(many).unwrap_or(self.0)) }
    }

    /// The rest without `other`; `None` where that is more than there is.
    #[inline]
    pub fn checked_sub(self, other: ProcessorTime) -> Option<ProcessorTime> {
        self.0.checked_sub(other.0).map(ProcessorTime)
    }

    /// The shortest interval that has it for jobs with `thousandths` of a processor, if any has.
    #[inline]
    pub fn shortest(self, thousandths: u64) -> Option<Span> {
        let time = u64::try_from(self.0).ok();
        let nanoseconds = match thousandths {
            1_000 => time?,
            // In one word where it can be.
            _ => match time.and_then(|time| time.checked_mul(1_000)) {
                Some(time) => time.div_ceil(thousandths),
                None => u64::try_from(self.0.saturating_mul(1_000).div_ceil(thousandths.into())).ok()?,
            },
        };
        Span::from_ns(nanoseconds)
    }
}

impl From<Cost> for ProcessorTime {
    fn from(cost: Cost) -> ProcessorTime {
        ProcessorTime(cost.0.into())
    }
}

impl fmt::Display for ProcessorTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}

/// A product, at most 2¹²⁸ − 1. The product of two single words is computed at once, as it is below
/// 2¹²⁸.
#[inline]
pub(crate) fn product(many: u128, each: u64) -> u128 {
    match u64::try_from(many) {
        Ok(many) => u128::from(many) * u128::from(each),
        Err(_) => many.saturating_mul(each.into()),
    }
}

/// A product of any two numbers, at most 2¹²⁸ − 1.
#[inline]
pub(crate) fn product_of_two(a: u128, b: u128) -> u128 {
    match u64::try_from(b) {
        Ok(b) => product(a, b),
        Err(_) => a.saturating_mul(b),
    }
}

/// ⌈a/b⌉ for b > 0, in single words where it can be.
#[inline]
pub(crate) fn quotient_up(a: u128, b: u64) -> u128 {
    match u64::try_from(a) {
        Ok(a) => a.div_ceil(b).into(),
        Err(_) => a.div_ceil(b.into()),
    }
}

/// About as many nanoseconds as a length has.
pub(crate) fn ns(span: Span) -> f64 {
    span.as_ns() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// In one word or in two.
        #[test]
        fn the_shortest_interval_has_the_time(time in 0..u128::MAX, bits in 0..128, thousandths in 1..=1_000u64) {
            let time: u128 = time >> bits;
            let has = |length: u128| length * u128::from(thousandths) >= time.saturating_mul(1_000);
            match ProcessorTime(time).shortest(thousandths).map(|span| u128::from(span.as_ns())) {
                Some(length) => prop_assert!(has(length) && (length == 0 || !has(length - 1))),
                None => prop_assert!(!has((1 << 63) - 1)),
            }
        }
    }

    proptest! {
        /// In single words and in two it is the same number.
        #[test]
        fn products_and_quotients_are_those_of_two_words(a: u128, bits in 0..128, b: u64) {
            let a: u128 = a >> bits;
            prop_assert_eq!(product(a, b), a.saturating_mul(b.into()));
            prop_assert_eq!(product_of_two(b.into(), a), a.saturating_mul(b.into()));
            prop_assert_eq!(product_of_two(a, a), a.saturating_mul(a));
            prop_assert_eq!(quotient_up(a, b.max(1)), a.div_ceil(b.max(1).into()));
        }
    }

    #[test]
    fn what_is_too_much_stays_too_much() {
        let most = Cost(u64::MAX).times(u128::MAX);
        assert_eq!((most.as_ns(), most.saturating_add(Cost(1)).shortest(1)), (u128::MAX, None));
        assert_eq!(Cost(u64::MAX).checked_mul(2), None);
    }
}
