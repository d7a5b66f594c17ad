//! Straight lines above what grows with the length of an interval.

use num_bigint::BigInt;
use num_rational::BigRational;

/// rate · L + constant. The lower one of two, in the end, is the lesser.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AffineBound {
    pub rate: BigRational,
    pub constant: BigRational,
}

impl AffineBound {
    /// With this fraction for the rate.
    pub fn new((numerator, denominator): (i128, i128), constant: BigInt) -> AffineBound {
        let rate = BigRational::new(numerator.into(), denominator.into());
        AffineBound { rate, constant: BigRational::from_integer(constant) }
    }

    pub fn level(constant: i128) -> AffineBound {
        AffineBound::new((0, 1), constant.into())
    }

    pub fn plus(&self, other: &AffineBound) -> AffineBound {
        AffineBound { rate: &self.rate + &other.rate, constant: &self.constant + &other.constant }
    }

    /// The difference. It is a bound where what is taken off is a part of the other line.
    pub fn minus(&self, other: &AffineBound) -> AffineBound {
        AffineBound { rate: &self.rate - &other.rate, constant: &self.constant - &other.constant }
    }

    pub fn times(&self, factor: &BigRational) -> AffineBound {
        AffineBound { rate: &self.rate * factor, constant: &self.constant * factor }
    }

    pub fn sum(lines: impl Iterator<Item = AffineBound>) -> AffineBound {
        lines.fold(AffineBound::level(0), |sum, line| sum.plus(&line))
    }
}
