//! Pages within one interval after another, without a division: what a search counts that looks at
//! hundreds of intervals.

use rtflash_model::Span;

use super::processor::ChosenGc;
use super::workload::WorkloadCurve;

/// Up to this number quotients are exact.
const MOST: u64 = 1 << 63;

/// A number d that numbers up to 2⁶³ are divided by: ⌊x/d⌋ = ⌊x m/2⁶⁴⁺ᵏ⌋ with m = ⌊2⁶⁴⁺ᵏ/d⌋ + 1 and
/// d ≤ 2ᵏ⁺¹.
///
/// For m d = 2⁶⁴⁺ᵏ + e with 0 < e ≤ d, so that x m/2⁶⁴⁺ᵏ is above x/d by x e/(2⁶⁴⁺ᵏ d), which is no
/// more than 1/d; and less than that unless x = 2⁶³ and d = 2ᵏ⁺¹, when d divides x.
#[derive(Debug, Clone, Copy)]
pub(super) struct Divisor {
    by: u64,
    /// m; zero where d = 1.
    inverse: u64,
    /// k.
    shift: u32,
}

impl Divisor {
    /// `None` of zero.
    pub(super) fn new(by: u64) -> Option<Divisor> {
        let less = by.checked_sub(1)?;
        // The greatest k with 2ᵏ < d.
        let Some(shift) = less.checked_ilog2() else { return Some(Divisor { by, inverse: 0, shift: 0 }) };
        let inverse = (1u128 << (64 + shift)) / u128::from(by) + 1;
        Some(Divisor { by, inverse: u64::try_from(inverse).ok()?, shift })
    }

    /// ⌊x/d⌋, of x up to 2⁶³.
    #[inline]
    pub(super) fn quotient(self, x: u64) -> u64 {
        debug_assert!(x <= MOST, "{x} is too large");
        if self.inverse == 0 {
            return x;
        }
        // The upper word of a product.
        let [_, upper] = words(u128::from(x) * u128::from(self.inverse));
        upper >> self.shift
    }

    /// ⌈x/d⌉, where x + d − 1 is at most 2⁶³.
    #[inline]
    pub(super) fn quotient_up(self, x: u64) -> u64 {
        self.quotient(x + (self.by - 1))
    }

    /// The same where it is.
    pub(super) fn checked_quotient_up(self, x: u64) -> Option<u64> {
        x.checked_add(self.by - 1).filter(|&x| x <= MOST).map(|x| self.quotient(x))
    }
}

/// The lower and the upper word.
#[inline]
#[allow(clippy::cast_possible_truncation)] // That is what it does.
fn words(number: u128) -> [u64; 2] {
    [number as u64, (number >> 64) as u64]
}

/// Pages of a request within an interval of length L: γ(⌊(L − from + more)/T⌋ + 1), and none if L <
/// from.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuickPages {
    from: u64,
    more: u64,
    period: Divisor,
    pages: u64,
    rounding: u64,
    chips: Divisor,
}

impl QuickPages {
    /// Of jobs released and due within the interval, or arriving in it, as `from` and `more` say;
    /// `None` where a number on the way is too large, of lengths up to the longest.
    pub(super) fn new(
        curve: WorkloadCurve,
        period: Span,
        (from, more): (Span, Span),
        longest: Span,
    ) -> Option<QuickPages> {
        let (pages, chips) = curve.rate();
        let (from, more) = (from.as_ns(), more.as_ns());
        let quick = QuickPages {
            from,
            more,
            period: Divisor::new(period.as_ns())?,
            pages,
            rounding: curve.rounding(),
            chips: Divisor::new(chips)?,
        };
        let time = longest.as_ns().saturating_sub(from).checked_add(more)?;
        let jobs = (time / period.as_ns()).checked_add(1)?;
        let all = jobs.checked_mul(pages)?.checked_add(quick.rounding)?;
        (time <= MOST && all <= MOST).then_some(quick)
    }

    /// Of jobs that are live, ⌈(L + d)/T⌉ of them, d being above zero.
    pub(super) fn live(curve: WorkloadCurve, period: Span, within: u64, longest: Span) -> Option<QuickPages> {
        let more = within.checked_sub(1).and_then(Span::from_ns)?;
        QuickPages::new(curve, period, (Span::ZERO, more), longest)
    }

    #[inline]
    pub(super) fn within(&self, length: u64) -> u64 {
        self.of(self.jobs(length))
    }

    /// So many jobs are released within the interval, or arrive.
    #[inline]
    pub(super) fn jobs(&self, length: u64) -> u64 {
        let jobs = self.period.quotient(length.saturating_sub(self.from) + self.more) + 1;
        if length < self.from { 0 } else { jobs }
    }

    /// γ of so many.
    #[inline]
    pub(super) fn of(&self, jobs: u64) -> u64 {
        self.chips.quotient(jobs * self.pages + self.rounding)
    }

    /// Whether it has as many jobs as another in each interval.
    pub(super) fn comes_with(&self, other: &QuickPages) -> bool {
        let times = |of: &QuickPages| (of.from, of.more, of.period.by);
        times(self) == times(other)
    }
}

/// Passes that so many arriving pages make: ⌈X/α⌉.
#[derive(Debug)]
pub(super) struct QuickPasses {
    arriving: Vec<QuickPages>,
    reclaimed: Divisor,
}

impl QuickPasses {
    /// `None` where a number on the way does not fit into a word, of lengths up to the longest.
    pub(super) fn new(
        arriving: impl Iterator<Item = Option<QuickPages>>,
        gc: ChosenGc,
        longest: Span,
    ) -> Option<QuickPasses> {
        let arriving: Vec<QuickPages> = arriving.collect::<Option<_>>()?;
        let arrived = sum(arriving.iter().map(|writer| writer.within(longest.as_ns())))?;
        let reclaimed = Divisor::new(gc.reclaimed)?;
        reclaimed.checked_quotient_up(arrived)?;
        Some(QuickPasses { arriving, reclaimed })
    }

    #[inline]
    pub(super) fn within(&self, length: u64) -> u64 {
        let arrived = self.arriving.iter().map(|writer| writer.within(length)).sum();
        self.reclaimed.quotient_up(arrived)
    }
}

/// The sum, where it fits into a word.
pub(super) fn sum(mut each: impl Iterator<Item = u64>) -> Option<u64> {
    each.try_fold(0u64, u64::checked_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certified::random_processors::ProcessorRng;

    /// A number of any size.
    fn any(rng: &mut ProcessorRng) -> u64 {
        rng.within(0, u64::MAX - 1) >> rng.within(0, 63)
    }

    #[test]
    fn a_quotient_is_what_division_says() {
        let mut rng = ProcessorRng::new(1, b"quotient");
        assert!(Divisor::new(0).is_none());
        let edges = [0, 1, 2, 3, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, MOST - 1, MOST, MOST + 1, u64::MAX];
        let same = |x: u64, by: u64| {
            let (x, Some(divisor)) = (x.min(MOST), Divisor::new(by)) else { return };
            assert_eq!(divisor.quotient(x), x / by, "{x}/{by}");
            let up = (u128::from(x) + u128::from(by) <= 1 + u128::from(MOST)).then(|| x.div_ceil(by));
            assert_eq!(divisor.checked_quotient_up(x), up, "{x}/{by}");
            assert!(up.is_none() || up == Some(divisor.quotient_up(x)), "{x}/{by}");
        };
        edges.iter().for_each(|&x| edges.iter().for_each(|&by| same(x, by)));
        for _ in 0..200_000 {
            let (x, by) = (any(&mut rng), any(&mut rng));
            same(x, by);
            // Just where it goes up, near the end of what is exact, and by a power of two.
            for multiple in [(x / by.max(1)).saturating_mul(by), (MOST / by.max(1)).saturating_mul(by)] {
                [multiple.saturating_sub(1), multiple, multiple.saturating_add(1)].iter().for_each(|&x| same(x, by));
            }
            same(x, 1 << rng.within(0, 63));
        }
    }
}
