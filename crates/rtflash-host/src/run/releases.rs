//! When I/Os are released, in whole numbers.

use rtflash_model::{Instant, Span, capped};

/// Nanoseconds in a second.
const SECOND: u128 = 1_000_000_000;

/// Data that an application writes into a cache at a steady rate, and that is written back from
/// time to time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteBack {
    /// Bytes a second, above zero.
    pub rate: u64,
    /// From one flush to the next, above zero. The first one is so long after the job's phase.
    pub flush: Span,
}

impl WriteBack {
    /// I/Os of `size` bytes, above zero, that the first `flushes` flushes have released together:
    /// those that are whole by then.
    pub fn released(&self, flushes: u64, size: u64) -> u64 {
        // Below 2⁶⁴ · 2⁶³, where a time is below 2⁶³ ns.
        let time = self.flush.checked_mul(flushes).unwrap_or(Span::LONGEST).as_ns();
        let ios = u128::from(self.rate) * u128::from(time) / (SECOND * u128::from(size));
        capped(ios)
    }

    /// The most I/Os that a flush releases.
    pub fn max_at_once(&self, size: u64) -> u64 {
        let bytes = u128::from(self.rate) * u128::from(self.flush.as_ns());
        capped(bytes.div_ceil(SECOND * u128::from(size)))
    }

    /// The number, from 1, of the first flush by which more than `ios` I/Os are released; `None`
    /// beyond the end of time.
    pub fn next(&self, ios: u64, size: u64) -> Option<u64> {
        let bytes = (u128::from(ios) + 1) * u128::from(size);
        let each = u128::from(self.rate) * u128::from(self.flush.as_ns());
        // Bytes times nanoseconds: what does not fit into 128 bits is later than any time.
        u64::try_from(bytes.checked_mul(SECOND)?.div_ceil(each)).ok()
    }

    /// When the flush of this number is, of a job with this phase; `None` beyond the end of time.
    pub fn at(&self, phase: Instant, flush: u64) -> Option<Instant> {
        phase.checked_add(self.flush.checked_mul(flush)?)
    }

    /// How many flushes there have been by `now`, of a job with this phase.
    pub fn flushes(&self, phase: Instant, now: Instant) -> u64 {
        now.since(phase).as_ns() / self.flush.as_ns().max(1)
    }
}

/// When a job that releases at most `rate` bytes a second, above zero, may release I/O `number`,
/// from 0: as soon as the bytes of those before are allowed. `None` beyond the end of time.
pub fn paced(phase: Instant, rate: u64, number: u64, size: u64) -> Option<Instant> {
    let bytes = u128::from(number) * u128::from(size);
    let time = bytes.checked_mul(SECOND)?.div_ceil(u128::from(rate));
    phase.checked_add(Span::from_ns(u64::try_from(time).ok()?)?)
}

/// The time at which an operation goes on after `number` I/Os. It is paced by `ios` a second, above
/// zero. `None` stands beyond the end of time.
pub fn paced_ios(begin: Instant, ios: u64, number: u64) -> Option<Instant> {
    let time = (u128::from(number) * SECOND).div_ceil(u128::from(ios));
    begin.checked_add(Span::from_ns(u64::try_from(time).ok()?)?)
}

/// The place of `at` in a random order of 0..`number`, which the keys choose: a Feistel network of
/// four rounds (M. Luby, C. Rackoff, "How to construct pseudorandom permutations from pseudorandom
/// functions", 1988) on the next even number of binary digits, walked until it is below `number`.
pub fn shuffled(at: u64, number: u64, keys: [u64; 4]) -> u64 {
    let half = (u64::BITS - number.saturating_sub(1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1_u64 << half) - 1;
    let mut place = at;
    loop {
        let (mut left, mut right) = ((place >> half) & mask, place & mask);
        for key in keys {
            (left, right) = (right, left ^ (scrambled(right ^ key) & mask));
        }
        place = (left << half) | right;
        if place < number {
            return place;
        }
    }
}

/// The mixed digits of a number (D. Stafford's variant 13 of the finalizer of MurmurHash3, as in
/// SplitMix64 of Steele, Lea and Flood, 2014).
fn scrambled(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u32) -> Span {
        Span::from_us(milliseconds * 1_000)
    }

    #[test]
    fn what_is_not_a_whole_io_is_carried_over() {
        // 100 MB/s for 5 ms are 500,000 bytes: 3.81 I/Os of 128 KiB.
        let written = WriteBack { rate: 100_000_000, flush: ms(5) };
        let totals: Vec<u64> = (0..9).map(|flushes| written.released(flushes, 128 << 10)).collect();
        assert_eq!(totals, [0, 3, 7, 11, 15, 19, 22, 26, 30]);
        // In a second, and in a year, nothing is lost.
        assert_eq!(written.released(200, 128 << 10), 100_000_000 / (128 << 10));
        assert_eq!(written.released(200 * 31_536_000, 128 << 10), 100_000_000 * 31_536_000 / (128 << 10));
    }

    #[test]
    fn the_next_flush_is_the_first_that_releases_more() {
        for rate in [1, 999, 4_096, 1_000_000, u64::MAX] {
            for size in [1, 4_096, 131_072] {
                let written = WriteBack { rate, flush: ms(7) };
                for ios in [0, 1, 2, 3, 1_000] {
                    let Some(next) = written.next(ios, size) else { continue };
                    assert!(written.released(next, size) > ios, "{written:?} {size} {ios}");
                    assert!(written.released(next - 1, size) <= ios, "{written:?} {size} {ios}");
                }
            }
        }
        assert_eq!(WriteBack { rate: 1, flush: ms(1) }.next(u64::MAX, u64::MAX), None);
    }

    #[test]
    fn each_place_once() {
        for number in [1, 2, 3, 4, 5, 7, 16, 17, 100, 1_000, 4_097] {
            for keys in [[0; 4], [1, 2, 3, 4], [u64::MAX, 7, 1 << 40, 9]] {
                let mut places: Vec<u64> = (0..number).map(|at| shuffled(at, number, keys)).collect();
                places.sort_unstable();
                assert_eq!(places, (0..number).collect::<Vec<u64>>());
            }
        }
        assert!(shuffled(u64::MAX - 1, u64::MAX, [3; 4]) < u64::MAX);
        let order = |keys| (0..64).map(|at| shuffled(at, 64, keys)).collect::<Vec<u64>>();
        assert_ne!(order([1, 2, 3, 4]), order([1, 2, 3, 5]));
    }

    #[test]
    fn a_pace_never_allows_too_much() {
        let phase = Instant::from_ns(5).expect("a time");
        assert_eq!(paced(phase, 3, 0, 1), Some(phase));
        // A third of a second, rounded up.
        assert_eq!(paced(phase, 3, 1, 1).map(Instant::as_ns), Some(5 + 333_333_334));
        assert_eq!(paced(phase, 3, 3, 1).map(Instant::as_ns), Some(5 + 1_000_000_000));
        assert_eq!(paced(phase, 1, u64::MAX, u64::MAX), None);
    }
}
