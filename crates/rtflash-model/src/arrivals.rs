//! When the jobs of a stream arrive.

use crate::capped::capped;
use crate::random::Stream;
use crate::time::{Instant, Span};

/// When the jobs of a [`Job`](crate::Job) stream arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrivals {
    /// One at time 0 and one after each such span.
    Every(Span),
    /// `burst` jobs at time 0, and as many after each span of `every`. At most `burst` ·
    /// (⌊w/`every`⌋ + 1) jobs arrive in a window of length w.
    Bursts {
        /// The time between two bursts.
        every: Span,
        /// The jobs of a burst, above zero.
        burst: u64,
    },
    /// A fresh gap, uniform between the two, drawn each time.
    Uniform(Span, Span),
    /// One at time 0, and a fresh gap with this mean and an exponential distribution, drawn each
    /// time.
    Poisson(Span),
    /// At these times, in order.
    At(Vec<Instant>),
}

impl Arrivals {
    /// When the first job arrives; `None` if there is none.
    pub fn first(&self) -> Option<Instant> {
        match self {
            Arrivals::At(times) => times.first().copied(),
            _ => Some(Instant::START),
        }
    }

    /// When job `index`, counted from 0, arrives. The job before it arrived at `before`. `None` if
    /// the list ends, or beyond the end of time.
    pub fn after(&self, before: Instant, index: u64, random: &mut Stream) -> Option<Instant> {
        let gap = match self {
            Arrivals::Every(gap) => *gap,
            Arrivals::Bursts { every, burst } if index.is_multiple_of(*burst) => *every,
            Arrivals::Bursts { .. } => Span::ZERO,
            Arrivals::Uniform(low, high) => Span::from_ns(random.within(low.as_ns(), high.as_ns()))?,
            Arrivals::Poisson(mean) => exponential(random.below(u64::MAX), *mean),
            Arrivals::At(times) => return times.get(usize::try_from(index).ok()?).copied(),
        };
        before.checked_add(gap)
    }

    /// The stream of random numbers for [`Arrivals::after`], for the job stream at this position.
    pub fn random(seed: u64, position: usize) -> Stream {
        Stream::numbered(seed, b"arrivals", position as u64)
    }

    /// The rate in the long run: a number of jobs, and the nanoseconds in which they arrive in the
    /// mean. `None` for a list, which ends.
    pub fn rate(&self) -> Option<(u64, u128)> {
        match self {
            Arrivals::Every(gap) | Arrivals::Poisson(gap) => Some((1, gap.as_ns().into())),
            Arrivals::Bursts { every, burst } => Some((*burst, every.as_ns().into())),
            Arrivals::Uniform(low, high) => Some((2, u128::from(low.as_ns()) + u128::from(high.as_ns()))),
            Arrivals::At(_) => None,
        }
    }
}

/// Fixed-point digits of a logarithm.
const BITS: u32 = 48;

/// ln 2 · 2⁶⁴, rounded.
const LN_2: u128 = 12_786_308_645_202_655_660;

/// An exponentially distributed time of this mean, from a uniform word: −ln((word + 1) / 2⁶⁴) ·
/// mean, rounded down. Numbers are whole, so that every machine draws alike. The logarithm to the
/// base of 2 is found digit by digit (D. E. Knuth, "The Art of Computer Programming" 1, section
/// 1.2.2).
pub fn exponential(word: u64, mean: Span) -> Span {
    // The mantissa is in [2⁶³, 2⁶⁴), beside the whole part of the logarithm.
    let number = u128::from(word) + 1;
    let length = number.ilog2();
    let mut mantissa = (number << 64) >> (length + 1);
    let mut digits = u128::from(length) << BITS;
    for digit in (0..BITS).rev() {
        // Its square is in [2⁶², 2⁶⁴): below 2⁶³ the digit is zero.
        mantissa = (mantissa * mantissa) >> 64;
        if mantissa >> 63 == 1 {
            digits |= 1 << digit;
        } else {
            mantissa <<= 1;
        }
    }
    // −log₂ with 48 digits behind the point is at most 64 · 2⁴⁸. Times ln 2 it is −ln.
    let below = (64_u128 << BITS) - digits;
    let natural = (below * LN_2) >> 64;
    Span::from_ns(capped((natural * u128::from(mean.as_ns())) >> BITS)).unwrap_or(Span::LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times agree with the logarithm of the machine and the moments of the distribution.
    #[test]
    fn exponential_times() {
        let mean = Span::from_us(1_000_000);
        for word in [0, 1, 5, 1 << 20, 1 << 63, (1 << 63) - 1, u64::MAX - 1_000_000, u64::MAX] {
            let exact = -((word as f64 + 1.0).log2() - 64.0) * std::f64::consts::LN_2 * 1e9;
            let found = exponential(word, mean).as_ns() as f64;
            assert!((found - exact).abs() <= 2.0, "{word}: {found} and {exact}");
        }
        assert_eq!(exponential(u64::MAX, Span::LONGEST), Span::ZERO);
        assert!(exponential(0, Span::LONGEST) == Span::LONGEST);
        let mut random = Stream::new([5; 32]);
        let times: Vec<f64> = (0..100_000).map(|_| exponential(random.below(u64::MAX), mean).as_ns() as f64).collect();
        let sum: f64 = times.iter().sum();
        let squares: f64 = times.iter().map(|time| time * time).sum();
        // The mean is 1 s, and the mean square 2 s².
        assert!((sum / 1e14 - 1.0).abs() < 0.01 && (squares / 2e23 - 1.0).abs() < 0.03, "{sum} {squares}");
    }

    #[test]
    fn bursts_and_chance() {
        let of = |arrivals: &Arrivals| {
            let mut random = Arrivals::random(3, 1);
            let next = |&(at, index): &(Instant, u64)| Some((arrivals.after(at, index + 1, &mut random)?, index + 1));
            let all = std::iter::successors(arrivals.first().map(|at| (at, 0)), next).take(40_000);
            all.map(|(at, _)| at.as_ns()).collect::<Vec<u64>>()
        };
        let ms = |ms: u32| Span::from_us(1_000 * ms);
        assert_eq!(
            of(&Arrivals::Bursts { every: ms(7), burst: 3 })[..7],
            [0, 0, 0, 7, 7, 7, 14].map(|at| at * 1_000_000)
        );
        assert_eq!(of(&Arrivals::Every(ms(7))), of(&Arrivals::Bursts { every: ms(7), burst: 1 }));
        let chance = of(&Arrivals::Poisson(ms(2)));
        assert_eq!((chance[0], &chance), (0, &of(&Arrivals::Poisson(ms(2)))));
        let gaps = chance.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<u64>>();
        // 1/e of the gaps of a Poisson process are longer than the mean, 1/e² than twice the mean.
        let longer = |than: u64| gaps.iter().filter(|&&gap| gap > than).count();
        assert!(longer(2_000_000).abs_diff(14_715) < 400 && longer(4_000_000).abs_diff(5_413) < 300);
        assert!(of(&Arrivals::At(Vec::new())).is_empty());
    }
}
