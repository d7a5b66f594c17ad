//! Parts that the tests of several crates share. Random numbers are those of the model
//! ([`Stream`](rtflash_model::random::Stream)).

pub mod processors;

use std::env;
use std::ops::Mul;

use rtflash_model::Span;

/// This number of nanoseconds.
///
/// # Panics
/// From 2⁶³ on.
pub fn ns(nanoseconds: u64) -> Span {
    Span::from_ns(nanoseconds).expect("a short time")
}

/// The number of cases `count`; or a multiple, if `RTFLASH_CASES` states one, as `.ci/long` does.
///
/// # Panics
/// If it states no number.
pub fn cases<N: From<u32> + Mul<Output = N>>(count: N) -> N {
    let times = env::var("RTFLASH_CASES").map_or(1, |times| times.parse().expect("RTFLASH_CASES is a number"));
    count * N::from(times)
}
