//! When the requests of tasks are released, as far as a seed draws it.

use rtflash_model::Span;
use rtflash_model::random::Stream;

use crate::ids::SourceId;
#[cfg(doc)]
use crate::options::{Phases, Recurrence};

/// The stream of what a seed draws for one source, or one chip, and one number.
pub(crate) fn stream_of(seed: u64, domain: &[u8; 4], number: u32, index: u64) -> Stream {
    let mut all = [0; 8];
    all[..4].copy_from_slice(domain);
    all[4..].copy_from_slice(&number.to_le_bytes());
    Stream::numbered(seed, &all, index)
}

/// [`Phases::Random`]: uniform below the period, from the seed for each source.
pub fn release_offset(seed: u64, source: SourceId, period: Span) -> Span {
    Span::from_ns(stream_of(seed, b"offs", source.0, 0).below(period.as_ns())).expect("below a span")
}

/// [`Recurrence::Sporadic`]: zero in half of the cases, else uniform up to a period, from the seed
/// for each source and number.
pub fn release_gap(seed: u64, source: SourceId, index: u64, period: Span) -> Span {
    let mut stream = stream_of(seed, b"gaps", source.0, index);
    match stream.below(2) {
        0 => Span::ZERO,
        _ => Span::from_ns(stream.below(period.as_ns() + 1)).expect("at most a span"),
    }
}

/// Up to J, from the seed for each source and number: a quarter of the requests are on time, a
/// quarter as late as they can be.
pub fn release_jitter(seed: u64, source: SourceId, index: u64, max: Span) -> Span {
    if max == Span::ZERO {
        return max;
    }
    let mut stream = stream_of(seed, b"jitt", source.0, index);
    match stream.below(4) {
        0 => Span::ZERO,
        1 => max,
        _ => Span::from_ns(stream.below(max.as_ns() + 1)).expect("at max a span"),
    }
}
