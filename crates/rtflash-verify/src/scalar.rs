//! Numbers that the equations can be computed in.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};

/// A number that the equations can be computed in.
pub trait Scalar: Clone {
    /// numerator / denominator; the denominator is not zero.
    fn ratio(numerator: u128, denominator: u128) -> Self;
    /// The sum of all.
    fn sum(terms: impl Iterator<Item = Self>) -> Self;
    /// How they compare.
    fn compare(&self, other: &Self) -> Ordering;
    /// As a double.
    fn to_double(&self) -> f64;
}

impl Scalar for f64 {
    fn ratio(numerator: u128, denominator: u128) -> f64 {
        numerator as f64 / denominator as f64
    }

    fn sum(terms: impl Iterator<Item = f64>) -> f64 {
        terms.fold(0.0, |sum, term| sum + term)
    }

    fn compare(&self, other: &f64) -> Ordering {
        self.total_cmp(other)
    }

    fn to_double(&self) -> f64 {
        *self
    }
}

impl Scalar for BigRational {
    fn ratio(numerator: u128, denominator: u128) -> BigRational {
        BigRational::new(numerator.into(), denominator.into())
    }

    fn sum(terms: impl Iterator<Item = BigRational>) -> BigRational {
        terms.fold(BigRational::zero(), |sum, term| sum + term)
    }

    fn compare(&self, other: &BigRational) -> Ordering {
        self.cmp(other)
    }

    fn to_double(&self) -> f64 {
        Quotient::from(self).to_double()
    }
}

/// An exact non-negative quotient that is never reduced: for sums of very many terms, where
/// reducing would take most of the time.
#[derive(Debug, Clone)]
pub struct Quotient {
    numerator: BigUint,
    denominator: BigUint,
}

impl Quotient {
    /// As a rational in lowest terms.
    pub fn reduced(&self) -> BigRational {
        BigRational::new(BigInt::from(self.numerator.clone()), BigInt::from(self.denominator.clone()))
    }
}

impl From<&BigRational> for Quotient {
    /// Of a rational that is not below zero.
    fn from(rational: &BigRational) -> Quotient {
        Quotient { numerator: rational.numer().magnitude().clone(), denominator: rational.denom().magnitude().clone() }
    }
}

impl Scalar for Quotient {
    fn ratio(numerator: u128, denominator: u128) -> Quotient {
        Quotient { numerator: numerator.into(), denominator: denominator.into() }
    }

    /// Adds neighbours, then neighbouring sums, and so on: the numbers multiplied are of equal
    /// length.
    fn sum(terms: impl Iterator<Item = Quotient>) -> Quotient {
        let mut terms: Vec<Quotient> = terms.collect();
        while terms.len() > 1 {
            terms = terms
                .chunks(2)
                .map(|pair| match pair {
                    [a, b] => Quotient {
                        numerator: &a.numerator * &b.denominator + &b.numerator * &a.denominator,
                        denominator: &a.denominator * &b.denominator,
                    },
                    other => other[0].clone(),
                })
                .collect();
        }
        terms.pop().unwrap_or(Quotient { numerator: BigUint::zero(), denominator: BigUint::one() })
    }

    fn compare(&self, other: &Quotient) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }

    fn to_double(&self) -> f64 {
        if self.numerator.is_zero() {
            return 0.0;
        }
        // 2^shift · value has 70 bits or so: as many as a double holds, and more.
        let shift = 70 + self.denominator.bits().cast_signed() - self.numerator.bits().cast_signed();
        let scaled = if shift >= 0 {
            (&self.numerator << shift.unsigned_abs()) / &self.denominator
        } else {
            &self.numerator / (&self.denominator << shift.unsigned_abs())
        };
        let exponent = i32::try_from(-shift).expect("a sum of fractions has fewer than 2³¹ bits");
        scaled.to_f64().expect("a whole number of 71 bits") * 2f64.powi(exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both compute the same, doubles as near as they can.
    #[test]
    fn doubles_are_those_of_the_rationals() {
        let terms = [(1, 3), (40, 36_000_000), (7, 1), (0, 9), (u128::from(u64::MAX), 11)];
        for (numerator, denominator) in terms {
            let exact = <BigRational as Scalar>::ratio(numerator, denominator).to_double();
            let double = <f64 as Scalar>::ratio(numerator, denominator).to_double();
            assert!((exact - double).abs() <= exact * 1e-15, "{numerator}/{denominator}: {double}");
        }
        let exact = <BigRational as Scalar>::sum(terms.map(|(n, d)| <BigRational as Scalar>::ratio(n, d)).into_iter());
        let double = <f64 as Scalar>::sum(terms.map(|(n, d)| <f64 as Scalar>::ratio(n, d)).into_iter());
        assert!((exact.to_double() - double).abs() <= double * 1e-15);
        assert_eq!(Scalar::compare(&0.5, &0.25), Ordering::Greater);
    }
}
