//! Exact sums of very many fractions.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};

/// Exact and never reduced: in sums of very many terms reducing would take most of the time.
#[derive(Debug, Clone)]
pub struct Quotient {
    numerator: BigUint,
    denominator: BigUint,
}

impl From<&BigRational> for Quotient {
    /// The quotient of a rational that is not below zero.
    fn from(rational: &BigRational) -> Quotient {
        Quotient { numerator: rational.numer().magnitude().clone(), denominator: rational.denom().magnitude().clone() }
    }
}

impl Quotient {
    /// numerator / denominator; the denominator is not zero.
    pub fn ratio(numerator: u128, denominator: u128) -> Quotient {
        Quotient { numerator: numerator.into(), denominator: denominator.into() }
    }

    /// Adds neighbours, then neighbouring sums, so that numbers of equal length are multiplied.
    pub fn sum(terms: impl Iterator<Item = Quotient>) -> Quotient {
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

    /// How they compare.
    pub fn compare(&self, other: &Quotient) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }

    /// As a rational in lowest terms.
    pub fn reduced(&self) -> BigRational {
        BigRational::new(BigInt::from(self.numerator.clone()), BigInt::from(self.denominator.clone()))
    }

    /// The nearest double, or its neighbour.
    pub fn to_double(&self) -> f64 {
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

    /// Sums are those of rationals in lowest terms, and doubles as near as they can be.
    #[test]
    fn sums_are_those_of_rationals() {
        let terms = [(1, 3), (40, 36_000_000), (7, 1), (0, 9), (u128::from(u64::MAX), 11)];
        let exact: BigRational = terms.iter().map(|&(n, d)| BigRational::new(n.into(), d.into())).sum();
        let sum = Quotient::sum(terms.iter().map(|&(n, d)| Quotient::ratio(n, d)));
        assert_eq!(sum.reduced(), exact);
        let double = terms.iter().map(|&(n, d)| n as f64 / d as f64).sum::<f64>();
        assert!((sum.to_double() - double).abs() <= double * 1e-15);
        assert_eq!(Quotient::ratio(1, 2).compare(&Quotient::ratio(1, 4)), Ordering::Greater);
    }
}
