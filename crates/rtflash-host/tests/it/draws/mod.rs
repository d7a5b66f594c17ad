//! Random draws, and times, for tests of runs.

use rtflash_model::Instant;
pub use rtflash_testkit::ns;

pub fn at(nanoseconds: u64) -> Instant {
    Instant::from_ns(nanoseconds).expect("a short time")
}
