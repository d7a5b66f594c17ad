//! Random draws, and times, for tests of runs.

use rtflash_model::random::Stream;
use rtflash_model::{Instant, Span};

pub fn ns(nanoseconds: u64) -> Span {
    Span::from_ns(nanoseconds).expect("a short time")
}

pub fn at(nanoseconds: u64) -> Instant {
    Instant::from_ns(nanoseconds).expect("a short time")
}

/// Draws from a stream.
pub struct Rng(pub Stream);

impl Rng {
    /// From `low` to `high`, both included.
    pub fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    pub fn small(&mut self, low: u64, high: u64) -> u32 {
        u32::try_from(self.within(low, high)).expect("a small number")
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.0.below(choices.len() as u64)).expect("a position")]
    }
}
