//! Loads in the long run, added up term by term: about and at once, or exactly.

use crate::fraction::Fraction;

/// A sum of terms: a double, or the terms themselves.
pub(crate) trait LongRun: Default + Clone {
    fn add(&mut self, numerator: u128, denominator: u128);

    fn append(&mut self, other: Self);

    /// Everything `times` over, divided by `sharing` > 0; `None` where numbers are too large.
    fn scaled(&self, times: u128, sharing: u128) -> Option<Self>;

    fn estimate(&self) -> f64;
}

impl LongRun for f64 {
    fn add(&mut self, numerator: u128, denominator: u128) {
        *self += Fraction::new(numerator, denominator).to_f64();
    }

    fn append(&mut self, other: f64) {
        *self += other;
    }

    fn scaled(&self, times: u128, sharing: u128) -> Option<f64> {
        Some(self * Fraction::new(times, sharing).to_f64())
    }

    fn estimate(&self) -> f64 {
        *self
    }
}

impl LongRun for Vec<Fraction> {
    fn add(&mut self, numerator: u128, denominator: u128) {
        self.push(Fraction::new(numerator, denominator));
    }

    fn append(&mut self, mut other: Vec<Fraction>) {
        Vec::append(self, &mut other);
    }

    fn scaled(&self, times: u128, sharing: u128) -> Option<Vec<Fraction>> {
        let scaled = |term: &Fraction| {
            Some(Fraction::new(term.numerator().checked_mul(times)?, term.denominator().checked_mul(sharing)?))
        };
        self.iter().map(scaled).collect()
    }

    fn estimate(&self) -> f64 {
        self.iter().map(|term| term.to_f64()).sum()
    }
}

/// A line above a quantity: at most slope · L + constant within an interval of length L.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line<L> {
    pub(crate) slope: L,
    pub(crate) constant: f64,
}

impl<L: LongRun> Line<L> {
    pub(crate) fn add(&mut self, numerator: u128, denominator: u128, constant: f64) {
        self.slope.add(numerator, denominator);
        self.constant += constant;
    }

    /// Adds another one `times` over, divided by `sharing`; `None` where numbers are too large.
    pub(crate) fn add_scaled(&mut self, other: &Line<L>, times: u128, sharing: u128) -> Option<()> {
        self.slope.append(other.slope.scaled(times, sharing)?);
        self.constant += other.constant * Fraction::new(times, sharing).to_f64();
        Some(())
    }

    pub(crate) fn rate(&self) -> f64 {
        self.slope.estimate()
    }
}

impl Line<f64> {
    /// At most this much a nanosecond, in intervals of `length` and more.
    pub(crate) fn share_of(&self, length: f64) -> f64 {
        self.slope + self.constant / length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways of adding up give equal sums.
    #[test]
    fn both_add_up_the_same() {
        let (mut about, mut exact) = (Line::<f64>::default(), Line::<Vec<Fraction>>::default());
        for n in 1..40u128 {
            about.add(n, 3 * n + 1, 0.5);
            exact.add(n, 3 * n + 1, 0.5);
        }
        for (times, sharing) in [(1, 1), (7, 1), (6, 5), (40_000, 3)] {
            let (one, other) = (about.clone(), exact.clone());
            about.add_scaled(&one, times, sharing).expect("small numbers");
            exact.add_scaled(&other, times, sharing).expect("small numbers");
            let (about, exact) = ((about.rate(), about.constant), (exact.rate(), exact.constant));
            assert!((about.0 - exact.0).abs() < 1e-9 * exact.0 && (about.1 - exact.1).abs() < 1e-9 * exact.1);
        }
        assert!(exact.slope.scaled(u128::MAX, 1).is_none() && exact.slope.scaled(1, u128::MAX).is_none());
    }
}
