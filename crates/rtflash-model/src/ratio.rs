//! λ, the logical ratio: an exact decimal between zero and one.

use std::fmt;
use std::str::FromStr;

use num_bigint::BigUint;
use num_integer::Integer;

/// Decimal places that λ may have.
pub const MAX_DECIMALS: u32 = 38;

/// 0 < λ < 1, the decimal that was written: ⌈0.9 · 10⌉ is 9, which it is not in binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LogicalRatio {
    /// λ · 10^[`MAX_DECIMALS`], so that equal ratios are equal numbers.
    scaled: u128,
}

/// Why a text is not a [`LogicalRatio`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RatioError {
    /// Not a decimal number.
    #[error("not a decimal number")]
    NotANumber,
    /// At or below zero, or at or above one.
    #[error("outside the open interval (0, 1)")]
    OutOfRange,
    /// More than [`MAX_DECIMALS`] decimal places.
    #[error("more than {MAX_DECIMALS} decimal places")]
    TooFine,
}

impl LogicalRatio {
    /// One half.
    pub const HALF: LogicalRatio = LogicalRatio { scaled: 10u128.pow(MAX_DECIMALS) / 2 };

    /// λ = `numerator` / 10^`decimals`: an error outside (0, 1), and above [`MAX_DECIMALS`] places.
    pub fn from_decimal(numerator: u128, decimals: u32) -> Result<LogicalRatio, RatioError> {
        let (mut numerator, mut decimals) = (numerator, decimals);
        while decimals > 0 && numerator != 0 && numerator.is_multiple_of(10) {
            (numerator, decimals) = (numerator / 10, decimals - 1);
        }
        if decimals > MAX_DECIMALS {
            return Err(if numerator == 0 { RatioError::OutOfRange } else { RatioError::TooFine });
        }
        if numerator == 0 || numerator >= 10u128.pow(decimals) {
            return Err(RatioError::OutOfRange);
        }
        Ok(LogicalRatio { scaled: numerator * 10u128.pow(MAX_DECIMALS - decimals) })
    }

    /// ⌈λ · `count`⌉.
    pub fn ceil_of(self, count: u64) -> u64 {
        self.in_one_word(count, |product, scale| product.div_ceil(scale))
            .unwrap_or_else(|| self.in_any(count, |product, scale| product.div_ceil(scale)))
    }

    /// ⌊λ · `count`⌋.
    pub fn floor_of(self, count: u64) -> u64 {
        self.in_one_word(count, |product, scale| product / scale)
            .unwrap_or_else(|| self.in_any(count, |product, scale| product.div_floor(scale)))
    }

    /// λ · `count` where λ has at most 18 places: below 10¹⁸ · 2⁶⁴ < 2¹²⁸.
    fn in_one_word(self, count: u64, divide: impl Fn(u128, u128) -> u128) -> Option<u64> {
        const PLACES: u32 = 18;
        const FINER: u128 = 10u128.pow(MAX_DECIMALS - PLACES);
        let product = self.scaled.is_multiple_of(FINER).then(|| self.scaled / FINER * u128::from(count))?;
        Some(u64::try_from(divide(product, 10u128.pow(PLACES))).expect("at most `count`, since λ < 1"))
    }

    fn in_any(self, count: u64, divide: impl Fn(&BigUint, &BigUint) -> BigUint) -> u64 {
        let product = BigUint::from(self.scaled) * count;
        let scale = BigUint::from(10u128.pow(MAX_DECIMALS));
        u64::try_from(divide(&product, &scale)).expect("at most `count`, since λ < 1")
    }

    /// λ as numerator and power of ten, in lowest decimal terms: λ = numerator / 10^decimals.
    pub fn to_decimal(self) -> (u128, u32) {
        let (mut numerator, mut decimals) = (self.scaled, MAX_DECIMALS);
        while numerator.is_multiple_of(10) {
            (numerator, decimals) = (numerator / 10, decimals - 1);
        }
        (numerator, decimals)
    }

    /// The nearest double, for reports and plots.
    pub fn to_f64(self) -> f64 {
        // Decimal digits are read correctly rounded; a quotient of two doubles is not.
        self.to_string().parse().unwrap_or_else(|_| self.scaled as f64 / 10f64.powi(38))
    }
}

impl FromStr for LogicalRatio {
    type Err = RatioError;

    /// Reads a decimal such as `0.5` or `5e-1`, exactly.
    fn from_str(text: &str) -> Result<LogicalRatio, RatioError> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().map_err(|_| RatioError::OutOfRange)?),
            None => (text, 0),
        };
        let (negative, mantissa) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
            return Err(RatioError::NotANumber);
        }
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_start_matches('0').trim_end_matches('0');
        if significant.is_empty() || negative {
            return Err(RatioError::OutOfRange);
        }
        let trailing = digits.len() - digits.trim_end_matches('0').len();
        // λ = significant · 10^(−decimals)
        let signed = |length: usize| i64::try_from(length).expect("no text is as long as 2⁶³ bytes");
        let decimals = signed(fraction.len()) - signed(trailing);
        let decimals = decimals.saturating_sub(exponent);
        let length = signed(significant.len());
        if decimals < length {
            return Err(RatioError::OutOfRange);
        }
        if decimals > i64::from(MAX_DECIMALS) {
            return Err(RatioError::TooFine);
        }
        let numerator = significant.bytes().fold(0u128, |sum, digit| sum * 10 + u128::from(digit - b'0'));
        let decimals = u32::try_from(decimals).expect("from the length of the digits to MAX_DECIMALS");
        LogicalRatio::from_decimal(numerator, decimals)
    }
}

impl fmt::Display for LogicalRatio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (numerator, decimals) = self.to_decimal();
        f.pad(&format!("0.{numerator:0places$}", places = decimals as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_exact() {
        for (text, pages, ceil, floor) in [
            ("0.9", 10, 9, 9),
            ("0.5", 256, 128, 128),
            ("5e-1", 3, 2, 1),
            ("0.7", 10, 7, 7),
            ("0.1", 30, 3, 3),
            ("0.70000000000000000000000000000000000001", 10, 8, 7),
            ("0.69999999999999999999999999999999999999", 10, 7, 6),
            ("0.500E0", 4, 2, 2),
            ("50e-2", 4, 2, 2),
        ] {
            let ratio: LogicalRatio = text.parse().unwrap();
            assert_eq!((ratio.ceil_of(pages), ratio.floor_of(pages)), (ceil, floor), "{text}");
        }
    }

    #[test]
    fn what_is_no_ratio_is_refused() {
        for (text, error) in [
            ("0", RatioError::OutOfRange),
            ("1", RatioError::OutOfRange),
            ("1.0", RatioError::OutOfRange),
            ("-0.5", RatioError::OutOfRange),
            ("0.0", RatioError::OutOfRange),
            ("10", RatioError::OutOfRange),
            ("1e99", RatioError::OutOfRange),
            ("1e-99", RatioError::TooFine),
            ("0.5x", RatioError::NotANumber),
            ("", RatioError::NotANumber),
            ("0.123456789012345678901234567890123456789", RatioError::TooFine),
        ] {
            assert_eq!(text.parse::<LogicalRatio>(), Err(error), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_word_is_as_good_as_any_number(numerator in 1u64..10u64.pow(18), count in any::<u64>()) {
            let ratio = LogicalRatio::from_decimal(numerator.into(), 18).unwrap();
            for count in [0, 1, count, u64::MAX] {
                prop_assert_eq!(ratio.ceil_of(count), ratio.in_any(count, |product, scale| product.div_ceil(scale)));
                prop_assert_eq!(ratio.floor_of(count), ratio.in_any(count, |product, scale| product.div_floor(scale)));
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9.eE+-]{0,60}") {
            let _ = text.parse::<LogicalRatio>();
        }

        #[test]
        fn what_is_written_is_read_back(numerator in 1..10u128.pow(20)) {
            let ratio = LogicalRatio::from_decimal(numerator, 20).unwrap();
            prop_assert_eq!(ratio.to_string().parse(), Ok(ratio));
        }
    }
}
