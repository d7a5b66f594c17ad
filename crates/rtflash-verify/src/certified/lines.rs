//! Straight lines above what grows with the length of an interval.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Euclid;

/// Exact fractions of thousands of periods would have as many digits; a line above is enough.
const PLACES: u32 = 320;

/// rate · L + constant. The lower one of two, in the end, is the lesser.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AffineBound {
    /// In units of 2^−[`PLACES`], as is the constant.
    rate: BigInt,
    constant: BigInt,
}

impl AffineBound {
    pub fn level(constant: i128) -> AffineBound {
        AffineBound { rate: 0.into(), constant: BigInt::from(constant) << PLACES }
    }

    /// One each `period`, and so much more: (L + `later`)/`period` + `more`.
    pub fn each(period: i128, later: impl Into<BigInt>, more: i128) -> AffineBound {
        let (rate, later) = (divided_up(&(BigInt::from(1) << PLACES), &period.into()), later.into());
        AffineBound { constant: &rate * later + (BigInt::from(more) << PLACES), rate }
    }

    pub fn plus(&self, other: &AffineBound) -> AffineBound {
        AffineBound { rate: &self.rate + &other.rate, constant: &self.constant + &other.constant }
    }

    /// A bound where what is taken off is a part of this line, but for roundings, which
    /// [`AffineBound::last_above`] allows for.
    pub fn minus(&self, other: &AffineBound) -> AffineBound {
        AffineBound { rate: &self.rate - &other.rate, constant: &self.constant - &other.constant }
    }

    pub fn times(&self, factor: &BigRational) -> AffineBound {
        let of = |number: &BigInt| divided_up(&(number * factor.numer()), factor.denom());
        AffineBound { rate: of(&self.rate), constant: of(&self.constant) }
    }

    pub fn sum(lines: impl Iterator<Item = AffineBound>) -> AffineBound {
        lines.fold(AffineBound::level(0), |sum, line| sum.plus(&line))
    }

    /// From where on it is below `thousandths` of L; `None` also if by less than 2^−160 L, which is
    /// more than all roundings.
    pub fn last_above(&self, thousandths: i128) -> Option<BigInt> {
        let roundings = roundings();
        let share = (BigInt::from(thousandths) << PLACES).div_euclid(&1000.into());
        let left = share - &self.rate - &roundings;
        (left > 0.into()).then(|| divided_up(&(&self.constant + roundings), &left))
    }

    /// Whether so much is on the line, or below it, at this length, but for roundings.
    #[cfg(test)]
    pub fn is_above(&self, much: i128, length: i128) -> bool {
        let (rate, constant) = (&self.rate + roundings(), &self.constant + roundings());
        BigInt::from(much) << PLACES <= rate * length + constant
    }
}

/// More than all roundings of a rate, or of a constant, together.
fn roundings() -> BigInt {
    BigInt::from(1) << (PLACES / 2)
}

fn divided_up(a: &BigInt, b: &BigInt) -> BigInt {
    -(-a).div_euclid(b)
}
