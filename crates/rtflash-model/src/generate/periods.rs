//! The periods that the requests of a generated task start from.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::random::Stream;
use crate::time::{format_ns, parse_ns};

/// The longest T of a set: 1000 s, in nanoseconds.
const LONGEST_NS: u64 = 1_000_000_000_000;

/// Periods uniform from the first of two times up to, and without, the second, before they are
/// adapted to whole pages. The thesis has [100, 500) ms, Section 5.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PeriodRange {
    shortest_ns: u64,
    bound_ns: u64,
}

impl PeriodRange {
    /// That of the thesis: 100 ms to 500 ms.
    pub const THESIS: PeriodRange = PeriodRange { shortest_ns: 100_000_000, bound_ns: 500_000_000 };

    /// A period of it, in nanoseconds.
    pub(super) fn draw(self, stream: &mut Stream) -> u64 {
        self.shortest_ns + stream.below(self.bound_ns - self.shortest_ns)
    }
}

impl Default for PeriodRange {
    fn default() -> PeriodRange {
        PeriodRange::THESIS
    }
}

/// A text is no range of [`PeriodRange`]. Says what would be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotPeriods;

impl fmt::Display for NotPeriods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("two times above 0 and up to 1000s, the shorter first, such as 5ms..50ms")
    }
}

impl std::error::Error for NotPeriods {}

impl FromStr for PeriodRange {
    type Err = NotPeriods;

    fn from_str(text: &str) -> Result<PeriodRange, NotPeriods> {
        let (shortest, bound) = text.split_once("..").ok_or(NotPeriods)?;
        let time = |text: &str| parse_ns(text.trim()).map_err(|_| NotPeriods);
        let (shortest_ns, bound_ns) = (time(shortest)?, time(bound)?);
        let valid = shortest_ns > 0 && shortest_ns < bound_ns && bound_ns <= LONGEST_NS;
        if valid { Ok(PeriodRange { shortest_ns, bound_ns }) } else { Err(NotPeriods) }
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
        for text in ["", "5ms", "50ms..5ms", "5ms..5ms", "0ms..5ms", "5..50", "5ms...50ms", "..", "-1ms..5ms"] {
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
}
