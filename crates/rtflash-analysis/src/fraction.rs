//! Exact sums of fractions, for the verdicts that floating point cannot reach.

use std::cmp::Ordering;

use num_bigint::BigUint;
use num_traits::{One, ToPrimitive, Zero};

/// The nearest double. In one word where it can be: that is several times faster.
#[inline]
pub(crate) fn to_f64(number: u128) -> f64 {
    // Apart, so that it is not converted both ways before one of them is chosen.
    #[cold]
    #[inline(never)]
    fn of_two_words(number: u128) -> f64 {
        number as f64
    }
    u64::try_from(number).map_or_else(|_| of_two_words(number), |number| number as f64)
}

/// A non-negative fraction of 128-bit numbers; the denominator is never zero. Not reduced.
#[derive(Debug, Clone, Copy)]
pub struct Fraction {
    numerator: u128,
    denominator: u128,
}

impl Fraction {
    /// `numerator` / `denominator`; a denominator of zero counts as one.
    pub fn new(numerator: u128, denominator: u128) -> Fraction {
        Fraction { numerator, denominator: denominator.max(1) }
    }

    /// The numerator, as given.
    pub fn numerator(self) -> u128 {
        self.numerator
    }

    /// The denominator, as given. Never zero.
    pub fn denominator(self) -> u128 {
        self.denominator
    }

    /// A double within a few units in the last place of the value.
    pub fn to_f64(self) -> f64 {
        to_f64(self.numerator) / to_f64(self.denominator)
    }

    /// ⌊numerator / denominator⌋.
    pub fn floor(self) -> u128 {
        self.numerator / self.denominator
    }

    /// Whether it is a whole number.
    pub fn is_whole(self) -> bool {
        self.numerator.is_multiple_of(self.denominator)
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Fraction) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Fraction {}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Fraction) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    /// Compares the continued fractions term by term: exact, and nothing can overflow.
    fn cmp(&self, other: &Fraction) -> Ordering {
        let (mut a, mut b) = (*self, *other);
        let mut reversed = false;
        loop {
            let (whole_a, rest_a) = (a.numerator / a.denominator, a.numerator % a.denominator);
            let (whole_b, rest_b) = (b.numerator / b.denominator, b.numerator % b.denominator);
            let order = whole_a.cmp(&whole_b).then((rest_a != 0).cmp(&(rest_b != 0)));
            if order != Ordering::Equal || rest_a == 0 {
                return if reversed { order.reverse() } else { order };
            }
            (a, b) = (Fraction::new(a.denominator, rest_a), Fraction::new(b.denominator, rest_b));
            reversed = !reversed;
        }
    }
}

/// An exact non-negative rational of any size. Not reduced.
#[derive(Debug, Clone)]
pub struct Rational {
    numerator: BigUint,
    denominator: BigUint,
}

impl Rational {
    /// Products of both; a denominator of zero counts as one.
    pub fn product<const N: usize, const D: usize>(numerators: [u128; N], denominators: [u128; D]) -> Rational {
        let times = |factors: &[u128]| factors.iter().map(|&factor| BigUint::from(factor)).product();
        Rational { numerator: times(&numerators), denominator: times(&denominators.map(|factor| factor.max(1))) }
    }

    /// Added pairwise in a balanced tree, unreduced: big integers multiply equal lengths well.
    pub fn sum<T: Clone + Into<Rational>>(terms: &[T]) -> Rational {
        match terms {
            [] => Rational { numerator: BigUint::zero(), denominator: BigUint::one() },
            [one] => one.clone().into(),
            many => {
                let (left, right) = many.split_at(many.len() / 2);
                let (left, right) = (Rational::sum(left), Rational::sum(right));
                Rational {
                    numerator: left.numerator * &right.denominator + right.numerator * &left.denominator,
                    denominator: left.denominator * right.denominator,
                }
            }
        }
    }

    /// 1 − this, or `None` where this is above one.
    pub fn complement(self) -> Option<Rational> {
        (self.numerator <= self.denominator)
            .then(|| Rational { numerator: &self.denominator - self.numerator, denominator: self.denominator })
    }

    /// This − `less`, or `None` where that is below zero.
    pub fn minus(self, less: &Rational) -> Option<Rational> {
        let (whole, part) = (self.numerator * &less.denominator, &less.numerator * &self.denominator);
        (whole >= part).then(|| Rational { numerator: whole - part, denominator: self.denominator * &less.denominator })
    }

    /// ⌈this / `divisor`⌉, or `None` for a zero divisor or a result of 2⁶⁴ or more.
    pub fn ceil_quotient(&self, divisor: &Rational) -> Option<u64> {
        if divisor.is_zero() {
            return None;
        }
        let (whole, part) = (&self.numerator * &divisor.denominator, &self.denominator * &divisor.numerator);
        num_integer::Integer::div_ceil(&whole, &part).to_u64()
    }

    /// How it compares with one.
    pub fn cmp_one(&self) -> Ordering {
        self.numerator.cmp(&self.denominator)
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    /// ⌈`dividend` / this⌉, or `None` for a zero divisor or a result of 2⁶⁴ or more.
    pub fn ceil_divide(&self, dividend: u64) -> Option<u64> {
        if self.is_zero() {
            return None;
        }
        num_integer::Integer::div_ceil(&(&self.denominator * dividend), &self.numerator).to_u64()
    }

    /// The number in lowest terms.
    #[must_use]
    pub fn reduced(self) -> Rational {
        let divisor = num_integer::Integer::gcd(&self.numerator, &self.denominator);
        Rational { numerator: self.numerator / &divisor, denominator: self.denominator / divisor }
    }

    /// Numerator and denominator where both fit 64 bits.
    pub fn to_u64_pair(&self) -> Option<(u64, u64)> {
        self.numerator.to_u64().zip(self.denominator.to_u64())
    }

    /// A double within a few units in the last place of the value.
    pub fn to_f64(&self) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        // Scaled so that the quotient has 64 to 65 significant bits.
        let shift = 64 + self.denominator.bits().cast_signed() - self.numerator.bits().cast_signed();
        let quotient = match shift {
            0.. => (&self.numerator << shift.unsigned_abs()) / &self.denominator,
            _ => &self.numerator / (&self.denominator << shift.unsigned_abs()),
        };
        let exponent = i32::try_from(-shift).expect("a sum of fractions has fewer than 2³¹ bits");
        quotient.to_f64().expect("a whole number of 65 bits") * 2f64.powi(exponent)
    }
}

impl From<Fraction> for Rational {
    fn from(fraction: Fraction) -> Rational {
        Rational { numerator: fraction.numerator.into(), denominator: fraction.denominator.into() }
    }
}

impl PartialEq for Rational {
    fn eq(&self, other: &Rational) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Rational {}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Rational) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Rational) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn big(fraction: Fraction) -> Rational {
        fraction.into()
    }

    #[test]
    fn a_sum_of_exactly_one_is_one() {
        let thirds = [Fraction::new(1, 3), Fraction::new(1, 6), Fraction::new(1, 2)];
        assert_eq!(Rational::sum(&thirds).cmp_one(), Ordering::Equal);
        assert_eq!(Rational::sum::<Fraction>(&[]).cmp_one(), Ordering::Less);
        assert!((Rational::sum(&thirds[..2]).to_f64() - 0.5).abs() < 1e-15);
    }

    #[test]
    fn division_rounds_up() {
        let share = Rational::sum(&[Fraction::new(2, 3)]);
        assert_eq!((share.ceil_divide(10), share.ceil_divide(11)), (Some(15), Some(17)));
        assert_eq!(Rational::sum::<Fraction>(&[]).ceil_divide(1), None);
        assert_eq!(
            Rational::sum(&[Fraction::new(2, 6)]).complement().map(|rest| rest.reduced().to_u64_pair()),
            Some(Some((2, 3)))
        );
        assert!(Rational::sum(&[Fraction::new(7, 6)]).complement().is_none());
        let (half, third) = (Rational::product([1], [2]), Rational::product([1], [3]));
        assert!(third.clone().minus(&half).is_none() && third.clone().minus(&third).is_some_and(|rest| rest.is_zero()));
        let sixth = half.clone().minus(&third).expect("not below zero");
        assert_eq!((sixth.clone().reduced().to_u64_pair(), half.ceil_quotient(&sixth)), (Some((1, 6)), Some(3)));
        assert_eq!((half.ceil_quotient(&third), half.ceil_quotient(&Rational::product([0], [1]))), (Some(2), None));
    }

    proptest! {
        #[test]
        fn comparison_agrees_with_cross_multiplication(a: u128, b in 1u128.., c: u128, d in 1u128..) {
            let (left, right) = (Fraction::new(a, b), Fraction::new(c, d));
            prop_assert_eq!(left.cmp(&right), big(left).cmp(&big(right)));
            prop_assert_eq!(Fraction::new(a / 2, b).cmp(&Fraction::new(a / 2 * 2, b.saturating_mul(2))), big(Fraction::new(a / 2, b)).cmp(&big(Fraction::new(a / 2 * 2, b.saturating_mul(2)))));
        }

        #[test]
        fn doubles_are_the_nearest(a: u128, bits in 0..128) {
            let a: u128 = a >> bits;
            prop_assert_eq!(to_f64(a), a as f64);
        }

        #[test]
        fn doubles_are_near(a: u64, b in 1u64..) {
            let fraction = Fraction::new(a.into(), b.into());
            let exact = big(fraction).to_f64();
            prop_assert!((exact - fraction.to_f64()).abs() <= exact * 1e-15);
        }
    }
}
