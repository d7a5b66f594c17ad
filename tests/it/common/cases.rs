//! How many random cases a test draws.

/// The number of cases `count`; or a multiple, if `RTFLASH_CASES` states one, as `.ci/long` does.
pub fn cases<N: From<u32> + std::ops::Mul<Output = N>>(count: N) -> N {
    let times = std::env::var("RTFLASH_CASES").map_or(1, |times| times.parse().expect("RTFLASH_CASES is a number"));
    count * N::from(times)
}
