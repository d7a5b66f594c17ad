//! Time: whole nanoseconds, as a length ([`Span`]) or as a point ([`Instant`]).

use std::fmt;

use serde::{Deserialize, Serialize};

/// The first length of time, in nanoseconds, that is too long to be a [`Span`]: 2⁶³ (292 years).
pub const TIME_LIMIT_NS: u64 = 1 << 63;

/// A length of time in whole nanoseconds, below 2⁶³.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Span(u64);

/// A point in time: whole nanoseconds since the start of the run, below 2⁶³.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Instant(u64);

impl Span {
    /// The length zero.
    pub const ZERO: Span = Span(0);

    /// One nanosecond, the shortest length above zero.
    pub const NANOSECOND: Span = Span(1);

    /// The longest length that there is.
    pub const LONGEST: Span = Span(TIME_LIMIT_NS - 1);

    /// A length of `nanoseconds`, or `None` at 2⁶³ and above.
    pub const fn from_ns(nanoseconds: u64) -> Option<Span> {
        if nanoseconds < TIME_LIMIT_NS { Some(Span(nanoseconds)) } else { None }
    }

    /// Always below 2⁶³ ns: 32 bits of microseconds are little more than an hour.
    pub const fn from_us(microseconds: u32) -> Span {
        Span(microseconds as u64 * 1_000)
    }

    /// The length in nanoseconds.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// The sum, or `None` at 2⁶³ nanoseconds and above.
    pub const fn checked_add(self, other: Span) -> Option<Span> {
        // Two numbers below 2⁶³ cannot overflow 64 bits.
        Span::from_ns(self.0 + other.0)
    }

    /// The sum, or the longest span there is.
    pub const fn saturating_add(self, other: Span) -> Span {
        let sum = self.0 + other.0;
        Span(if sum < TIME_LIMIT_NS { sum } else { TIME_LIMIT_NS - 1 })
    }

    /// The rest of this one behind the other; zero where the other is longer.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// The rest of this one behind the other, or `None` where the other is longer.
    pub const fn checked_sub(self, other: Span) -> Option<Span> {
        match self.0.checked_sub(other.0) {
            Some(nanoseconds) => Some(Span(nanoseconds)),
            None => None,
        }
    }

    /// ⌊self / parts⌋.
    ///
    /// # Panics
    /// If `parts` is zero.
    #[inline]
    pub const fn div_floor(self, parts: Span) -> u64 {
        self.0 / parts.0
    }

    /// The rest behind its whole `parts`.
    ///
    /// # Panics
    /// If `parts` is zero.
    #[inline]
    pub const fn rest(self, parts: Span) -> Span {
        Span(self.0 % parts.0)
    }

    /// `times` such lengths one after another, or `None` at 2⁶³ nanoseconds and above.
    pub const fn checked_mul(self, times: u64) -> Option<Span> {
        match self.0.checked_mul(times) {
            Some(nanoseconds) => Span::from_ns(nanoseconds),
            None => None,
        }
    }
}

impl Instant {
    /// The start of the run.
    pub const START: Instant = Instant(0);

    /// The point `nanoseconds` after the start, or `None` at 2⁶³ and above.
    pub const fn from_ns(nanoseconds: u64) -> Option<Instant> {
        if nanoseconds < TIME_LIMIT_NS { Some(Instant(nanoseconds)) } else { None }
    }

    /// Nanoseconds since the start.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// The last point there is, 2⁶³ − 1 ns.
    pub const END: Instant = Instant(TIME_LIMIT_NS - 1);

    /// The point `span` later, or the last one.
    pub const fn saturating_add(self, span: Span) -> Instant {
        let sum = self.0 + span.0;
        Instant(if sum < TIME_LIMIT_NS { sum } else { TIME_LIMIT_NS - 1 })
    }

    /// The point `span` earlier, or the start.
    pub const fn saturating_sub(self, span: Span) -> Instant {
        Instant(self.0.saturating_sub(span.0))
    }

    /// The time from `earlier` to this point; zero where `earlier` is not earlier.
    pub const fn since(self, earlier: Instant) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The point `span` later, or `None` at 2⁶³ nanoseconds and above.
    pub const fn checked_add(self, span: Span) -> Option<Instant> {
        Instant::from_ns(self.0 + span.0)
    }
}

impl From<Span> for u64 {
    fn from(span: Span) -> u64 {
        span.0
    }
}

impl From<Instant> for u64 {
    fn from(instant: Instant) -> u64 {
        instant.0
    }
}

/// The message for a number of nanoseconds that is no time.
const TOO_LATE: &str = "2^63 nanoseconds and more are no time";

impl TryFrom<u64> for Span {
    type Error = &'static str;
    fn try_from(nanoseconds: u64) -> Result<Span, &'static str> {
        Span::from_ns(nanoseconds).ok_or(TOO_LATE)
    }
}

impl TryFrom<u64> for Instant {
    type Error = &'static str;
    fn try_from(nanoseconds: u64) -> Result<Instant, &'static str> {
        Instant::from_ns(nanoseconds).ok_or(TOO_LATE)
    }
}

/// Units that times are written in, longest first.
const UNITS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];

/// Units beside [`UNITS`] that times may be read in. They are written in seconds.
const LONG_UNITS: [(&str, u64); 2] = [("min", 60_000_000_000), ("h", 3_600_000_000_000)];

/// Why a text is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// There is a number but no unit behind it.
    #[error("a time without a unit")]
    NoUnit,
    /// The unit (given) is none of ns, us, µs, ms, s, min, h.
    #[error("unknown unit of time `{0}`")]
    UnknownUnit(String),
    /// The text before the unit is not a decimal number.
    #[error("not a time")]
    NotANumber,
    /// The number has a minus sign.
    #[error("a time below zero")]
    Negative,
    /// It is not a whole number of nanoseconds.
    #[error("not a whole number of nanoseconds")]
    FractionOfNanosecond,
    /// It is 2⁶³ nanoseconds or more.
    #[error("too long: 2^63 ns (about 292 years) is the limit")]
    TooLong,
}

/// A decimal with a unit, `12.5ms`, exactly.
///
/// # Errors
/// Says what is missing or wrong; never rounds.
pub fn parse_ns(text: &str) -> Result<u64, TimeError> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('-') {
        return Err(if rest.starts_with(|c: char| c.is_ascii_digit()) {
            TimeError::Negative
        } else {
            TimeError::NotANumber
        });
    }
    let (whole, rest) = split_digits(text);
    let (fraction, unit) = rest.strip_prefix('.').map_or(("", rest), split_digits);
    if whole.is_empty() || (fraction.is_empty() && rest.starts_with('.')) || unit.starts_with(['.', '-', '+']) {
        return Err(TimeError::NotANumber);
    }
    let unit = unit.trim_start();
    // Both micro signs in use: U+00B5 and Greek mu, U+03BC.
    let unit = if matches!(unit, "µs" | "μs") { "us" } else { unit };
    let scale = match UNITS.iter().chain(&LONG_UNITS).find(|(name, _)| *name == unit) {
        Some(&(_, scale)) => scale,
        None if unit.is_empty() => return Err(TimeError::NoUnit),
        None => return Err(TimeError::UnknownUnit(unit.to_owned())),
    };
    let whole = whole.trim_start_matches('0');
    if whole.len() > 19 {
        return Err(TimeError::TooLong);
    }
    let fraction = fraction.trim_end_matches('0');
    // 3.6·10¹² has no more factors of two: a fourteenth place makes no whole number.
    if fraction.len() > 13 {
        return Err(TimeError::FractionOfNanosecond);
    }
    let parts = fraction.bytes().fold(1u64, |parts, _| parts * 10);
    let part = u128::from(scale) * u128::from(decimal(fraction));
    let nanoseconds = part / u128::from(parts);
    if nanoseconds * u128::from(parts) != part {
        return Err(TimeError::FractionOfNanosecond);
    }
    let nanoseconds = nanoseconds + u128::from(scale) * u128::from(decimal(whole));
    u64::try_from(nanoseconds).ok().filter(|nanoseconds| *nanoseconds < TIME_LIMIT_NS).ok_or(TimeError::TooLong)
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

fn decimal(digits: &str) -> u64 {
    digits.bytes().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'))
}

/// Writes the time exactly, in the longest unit that leaves a whole part: `12.5ms`, `300ns`.
pub fn format_ns(nanoseconds: u64) -> String {
    let (unit, scale) = UNITS.into_iter().find(|&(_, scale)| nanoseconds >= scale).unwrap_or(("ns", 1));
    let (whole, rest) = (nanoseconds / scale, nanoseconds % scale);
    if rest == 0 {
        return format!("{whole}{unit}");
    }
    let places = scale.ilog10() as usize;
    let fraction = format!("{rest:0places$}");
    format!("{whole}.{}{unit}", fraction.trim_end_matches('0'))
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format_ns(self.0))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format_ns(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_read_exactly() {
        for (text, expected) in [
            ("12.5ms", Ok(12_500_000)),
            ("50us", Ok(50_000)),
            ("50µs", Ok(50_000)),
            ("50 μs", Ok(50_000)),
            ("0.000000001s", Ok(1)),
            ("1.50s", Ok(1_500_000_000)),
            ("007ns", Ok(7)),
            ("1.0ns", Ok(1)),
            ("0ms", Ok(0)),
            ("9223372036854775807ns", Ok(i64::MAX as u64)),
            ("9223372036854775808ns", Err(TimeError::TooLong)),
            ("99999999999999999999999s", Err(TimeError::TooLong)),
            ("0.5ns", Err(TimeError::FractionOfNanosecond)),
            ("0.0000000001s", Err(TimeError::FractionOfNanosecond)),
            ("1.5min", Ok(90_000_000_000)),
            ("0.25 h", Ok(900_000_000_000)),
            ("0.00000000005min", Ok(3)),
            ("0.0000000000025h", Ok(9)),
            ("0.00000000000025h", Err(TimeError::FractionOfNanosecond)),
            ("0.1000000000000000000000000000000000000001h", Err(TimeError::FractionOfNanosecond)),
            ("3000000h", Err(TimeError::TooLong)),
            ("1m", Err(TimeError::UnknownUnit("m".into()))),
            ("36", Err(TimeError::NoUnit)),
            ("36 sec", Err(TimeError::UnknownUnit("sec".into()))),
            ("1e3us", Err(TimeError::UnknownUnit("e3us".into()))),
            ("-1ms", Err(TimeError::Negative)),
            ("", Err(TimeError::NotANumber)),
            ("ms", Err(TimeError::NotANumber)),
            ("1.ms", Err(TimeError::NotANumber)),
            (".5ms", Err(TimeError::NotANumber)),
            ("1.2.3ms", Err(TimeError::NotANumber)),
            ("1-2ms", Err(TimeError::NotANumber)),
            ("+1ms", Err(TimeError::NotANumber)),
            ("--1ms", Err(TimeError::NotANumber)),
        ] {
            assert_eq!(parse_ns(text), expected, "{text}");
        }
    }

    #[test]
    fn times_are_written_in_the_longest_unit() {
        for (nanoseconds, text) in
            [(0, "0ns"), (1, "1ns"), (50_000, "50us"), (12_500_000, "12.5ms"), (1_000_000_001, "1.000000001s")]
        {
            assert_eq!(format_ns(nanoseconds), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(nanoseconds in 0..TIME_LIMIT_NS) {
            prop_assert_eq!(parse_ns(&format_ns(nanoseconds)), Ok(nanoseconds));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            let _ = parse_ns(&text);
        }
    }
}
