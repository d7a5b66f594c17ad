//! The utilization asked for: an exact decimal.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

const SCALE: u64 = 1_000_000_000;
/// In billionths, a million: smaller ones have at most 15 significant digits, so that the nearest
/// double prints as the same decimal.
const LIMIT: u64 = 1_000_000 * SCALE;

/// 0 < U < 1,000,000, an exact number of billionths, written as the shortest decimal: `0.1`, `4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Utilization {
    billionths: u64,
}

/// Why a text is not a [`Utilization`]. Says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UtilizationError {
    /// Not a decimal number.
    #[error("`{0}` is not a number: write a decimal such as 0.1 or 4")]
    NotANumber(String),
    /// Zero.
    #[error("zero is too small: the least is 0.000000001")]
    Zero,
    /// Below zero.
    #[error("below zero: write a number above zero")]
    Negative,
    /// More than nine decimal places.
    #[error("too many decimal places: at most nine")]
    TooFine,
    /// A million or more.
    #[error("too large: write a number below 1000000")]
    TooLarge,
}

impl Utilization {
    /// The greatest there is.
    pub const MOST: Utilization = Utilization { billionths: LIMIT - 1 };

    /// One tenth, the usual distance between two points.
    pub const TENTH: Utilization = Utilization { billionths: SCALE / 10 };

    /// `None` at zero and from a million (10¹⁵ billionths) up.
    pub const fn from_billionths(billionths: u64) -> Option<Utilization> {
        if billionths > 0 && billionths < LIMIT { Some(Utilization { billionths }) } else { None }
    }

    /// The number of billionths. Never zero.
    pub const fn billionths(self) -> u64 {
        self.billionths
    }

    /// The nearest double: below 2⁵³ billionths, one division rounds once.
    pub fn to_f64(self) -> f64 {
        self.billionths as f64 / SCALE as f64
    }
}

impl FromStr for Utilization {
    type Err = UtilizationError;

    /// Reads a decimal such as `0.1`, `2.50` or `4`, exactly.
    fn from_str(text: &str) -> Result<Utilization, UtilizationError> {
        let text = text.trim();
        let not_a_number = || UtilizationError::NotANumber(text.to_owned());
        let (negative, number) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(fraction) {
            return Err(not_a_number());
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        if whole.is_empty() && fraction.is_empty() {
            return Err(UtilizationError::Zero);
        }
        if negative {
            return Err(UtilizationError::Negative);
        }
        if whole.len() > 6 {
            return Err(UtilizationError::TooLarge);
        }
        if fraction.len() > 9 {
            return Err(UtilizationError::TooFine);
        }
        // Six digits and nine: they are below the limit and not all zero.
        let billionths = format!("{whole}{fraction:0<9}").parse().map_err(|_| not_a_number())?;
        Utilization::from_billionths(billionths).ok_or_else(not_a_number)
    }
}

impl fmt::Display for Utilization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.billionths / SCALE, self.billionths % SCALE);
        if rest == 0 {
            return f.pad(&whole.to_string());
        }
        let fraction = format!("{rest:09}");
        f.pad(&format!("{whole}.{}", fraction.trim_end_matches('0')))
    }
}

impl Serialize for Utilization {
    /// Whole if it is whole, else the nearest double, whose shortest form is the same decimal.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.billionths.is_multiple_of(SCALE) {
            serializer.serialize_u64(self.billionths / SCALE)
        } else {
            serializer.serialize_f64(self.to_f64())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_read_exactly() {
        use UtilizationError::{Negative, NotANumber, TooFine, TooLarge, Zero};
        let not = |text: &str| Err(NotANumber(text.to_owned()));
        for (text, expected) in [
            ("0.1", Ok(100_000_000)),
            (" 4 ", Ok(4_000_000_000)),
            ("2.50", Ok(2_500_000_000)),
            ("007", Ok(7_000_000_000)),
            ("0.0000000010", Ok(1)),
            ("999999.999999999", Ok(LIMIT - 1)),
            ("0.0000000001", Err(TooFine)),
            ("1000000", Err(TooLarge)),
            ("99999999999999999999", Err(TooLarge)),
            ("0", Err(Zero)),
            ("-0.0", Err(Zero)),
            ("-1", Err(Negative)),
            ("", not("")),
            (".5", not(".5")),
            ("5.", not("5.")),
            ("+1", not("+1")),
            ("1e-1", not("1e-1")),
            ("1.2.3", not("1.2.3")),
            ("--1", not("--1")),
            ("nan", not("nan")),
            ("٣", not("٣")),
        ] {
            assert_eq!(text.parse().map(Utilization::billionths), expected, "{text}");
        }
    }

    #[test]
    fn decimals_are_written_shortest() {
        for (billionths, text) in
            [(SCALE / 10, "0.1"), (4 * SCALE, "4"), (10 * SCALE + 1, "10.000000001"), (1, "0.000000001")]
        {
            assert_eq!(Utilization::from_billionths(billionths).unwrap().to_string(), text);
        }
        assert_eq!((Utilization::from_billionths(0), Utilization::from_billionths(LIMIT)), (None, None));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(billionths in 1..LIMIT) {
            let value = Utilization::from_billionths(billionths).unwrap();
            let text = value.to_string();
            prop_assert_eq!(text.parse(), Ok(value));
            prop_assert_eq!(text.parse::<f64>().unwrap(), value.to_f64());
            let json = serde_json::to_string(&value).unwrap();
            prop_assert_eq!(json.parse::<f64>().unwrap(), value.to_f64());
            if billionths >= 10_000 {
                prop_assert_eq!(json, text);
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            let _ = text.parse::<Utilization>();
        }
    }
}
