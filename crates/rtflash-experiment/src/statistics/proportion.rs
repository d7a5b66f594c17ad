//! The probability behind a count.

use super::{Estimate, Z, float};

/// `yes` of `all`, with the interval of E. B. Wilson, "Probable inference, the law of succession,
/// and statistical inference", 1927. `None` of no sets.
pub fn wilson(yes: u64, all: u64) -> Option<Estimate> {
    interval(float(yes), float(all), Z)
}

/// Wilson's interval for `yes` of `all` at any normal quantile `z`. `None` of no sets.
pub(super) fn interval(yes: f64, all: f64, z: f64) -> Option<Estimate> {
    if all <= 0.0 {
        return None;
    }
    let ratio = yes / all;
    let square = z * z;
    let middle = 2.0 * yes + square;
    let half = z * (square + 4.0 * yes * (1.0 - ratio)).sqrt();
    let scale = 2.0 * (all + square);
    // At both ends rounding must not take an interval away from its certain end.
    let low = if yes <= 0.0 { 0.0 } else { ((middle - half) / scale).clamp(0.0, ratio) };
    let high = if yes >= all { 1.0 } else { ((middle + half) / scale).clamp(ratio, 1.0) };
    Some(Estimate { value: ratio, low, high })
}
