//! Whole numbers as doubles, and back.

/// The nearest double: exact for all but page costs above 2⁵³ ns (104 days).
pub(super) fn float(number: u64) -> f64 {
    number as f64
}

/// 0 from below and for what is not a number, 2⁶⁴ − 1 from above.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn whole(x: f64) -> u64 {
    // This is what the cast is defined to do.
    x as u64
}
