//! The periods that the requests of a generated task start from.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::doubles::{float, whole};
use crate::random::Stream;
use crate::time::{format_ns, parse_ns};

/// The longest T of a set: 1000 s, in nanoseconds.
const LONGEST_NS: u64 = 1_000_000_000_000;

/// How periods are distributed over their range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PeriodDistribution {
    /// Every nanosecond is as likely as every other one.
    #[default]
    Uniform,
    /// Each order of magnitude has as many (Emberson, Stafford and Davis 2010).
    LogUniform,
}

crate::names! {
    PeriodDistribution {
        Uniform = "uniform",
        LogUniform = "log-uniform",
    }
}

/// From the first time up to the second, left out, before they are adapted to whole pages; of two
/// equal times that one. The thesis has [100, 500) ms, uniform, Section 5.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PeriodRange {
    shortest_ns: u64,
    bound_ns: u64,
    distribution: PeriodDistribution,
}

impl PeriodRange {
    /// That of the thesis: 100 ms to 500 ms.
    pub const THESIS: PeriodRange =
        PeriodRange { shortest_ns: 100_000_000, bound_ns: 500_000_000, distribution: PeriodDistribution::Uniform };

    /// The range with periods that are distributed so. A range that is read is uniform.
    #[must_use]
    pub fn distributed(self, distribution: PeriodDistribution) -> PeriodRange {
        PeriodRange { distribution, ..self }
    }

    /// How its periods are distributed.
    pub fn distribution(self) -> PeriodDistribution {
        self.distribution
    }

    pub(super) fn draw(self, stream: &mut Stream) -> u64 {
        match self.distribution {
            PeriodDistribution::Uniform => self.shortest_ns + stream.below((self.bound_ns - self.shortest_ns).max(1)),
            PeriodDistribution::LogUniform => {
                let [low, high] = [self.shortest_ns, self.bound_ns].map(|time| libm::log(float(time)));
                let period = libm::exp(low + stream.unit() * (high - low));
                // Rounding alone leaves the range.
                whole(period).clamp(self.shortest_ns, (self.bound_ns - 1).max(self.shortest_ns))
            }
        }
    }
}

impl Default for PeriodRange {
    fn default() -> PeriodRange {
        PeriodRange::THESIS
    }
}

/// A text is no range of [`PeriodRange`]. Says what would be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("two times above 0 and up to 1000s, the first no longer than the second, such as 5ms..50ms")]
pub struct NotPeriods;

impl FromStr for PeriodRange {
    type Err = NotPeriods;

    fn from_str(text: &str) -> Result<PeriodRange, NotPeriods> {
        let (shortest, bound) = text.split_once("..").ok_or(NotPeriods)?;
        let time = |text: &str| parse_ns(text.trim()).map_err(|_| NotPeriods);
        let (shortest_ns, bound_ns) = (time(shortest)?, time(bound)?);
        let valid = shortest_ns > 0 && shortest_ns <= bound_ns && bound_ns <= LONGEST_NS;
        let distribution = PeriodDistribution::Uniform;
        if valid { Ok(PeriodRange { shortest_ns, bound_ns, distribution }) } else { Err(NotPeriods) }
    }
}

impl fmt::Display for PeriodRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", format_ns(self.shortest_ns), format_ns(self.bound_ns))
    }
}

impl Serialize for PeriodRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_two_times() {
        for (text, written) in [("5ms..50ms", "5ms..50ms"), (" 1us .. 2000s ", ""), ("100ms..500ms", "100ms..500ms")] {
            match text.parse::<PeriodRange>() {
                Ok(range) => assert_eq!(range.to_string(), written),
                Err(NotPeriods) => assert_eq!(written, "", "{text}"),
            }
        }
        assert_eq!("100ms..500ms".parse(), Ok(PeriodRange::default()));
        for distribution in PeriodDistribution::ALL {
            let one = "5ms..5ms".parse::<PeriodRange>().expect("a range of one time").distributed(distribution);
            assert_eq!(one.draw(&mut Stream::new([7; 32])), 5_000_000, "{distribution}");
        }
        for text in ["", "5ms", "50ms..5ms", "0ms..0ms", "0ms..5ms", "5..50", "5ms...50ms", "..", "-1ms..5ms"] {
            assert_eq!(text.parse::<PeriodRange>(), Err(NotPeriods), "{text}");
        }
    }

    #[test]
    fn periods_are_in_the_range_and_differ() {
        let range: PeriodRange = "5ms..50ms".parse().unwrap();
        let mut stream = Stream::new([3; 32]);
        let periods: Vec<u64> = (0..400).map(|_| range.draw(&mut stream)).collect();
        assert!(periods.iter().all(|period| (5_000_000..50_000_000).contains(period)));
        assert!(periods.iter().any(|&period| period < 6_000_000) && periods.iter().any(|&period| period > 49_000_000));
    }

    #[test]
    fn log_uniform_periods_have_as_many_in_each_order_of_magnitude() {
        let range: PeriodRange = "1ms..1000ms".parse().unwrap();
        let range = range.distributed(PeriodDistribution::LogUniform);
        let (mut stream, mut counts) = (Stream::new([3; 32]), [0u32; 3]);
        for _ in 0..30_000 {
            let period = range.draw(&mut stream);
            assert!((1_000_000..1_000_000_000).contains(&period), "{period}");
            counts[period.ilog10() as usize - 6] += 1;
        }
        // Four standard deviations.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 330), "{counts:?}");
        let narrow: PeriodRange = "999999999ns..1000000000ns".parse().unwrap();
        assert_eq!(narrow.distributed(PeriodDistribution::LogUniform).draw(&mut stream), 999_999_999);
    }
}
