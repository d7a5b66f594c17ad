//! The report of a run.

use std::collections::BTreeMap;

use rtflash_model::Span;

/// Different latencies of a job that are kept one by one.
const EXACT: usize = 1 << 18;

/// Binary digits of a latency that count once there are more different ones.
const DIGITS: u32 = 11;

/// Latencies of the I/Os of a job that count, in nanoseconds: how often each was noted. If more
/// than 262,144 of them differ, all but the longest are rounded up, by less than a thousandth, so
/// that a run takes bounded memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Latencies {
    times: BTreeMap<u64, u64>,
    are_rounded: bool,
    count: u64,
    sum: u128,
    max: u64,
}

/// The longest latency with the same leading digits.
fn rounded(latency: u64) -> u64 {
    let dropped = (u64::BITS - latency.leading_zeros()).saturating_sub(DIGITS);
    latency | ((1 << dropped) - 1)
}

impl Latencies {
    /// Takes in one more.
    pub(crate) fn note(&mut self, latency: u64) {
        self.note_all(latency, 1);
        self.sum += u128::from(latency);
        self.max = self.max.max(latency);
    }

    fn note_all(&mut self, latency: u64, times: u64) {
        *self.times.entry(if self.are_rounded { rounded(latency) } else { latency }).or_default() += times;
        self.count += times;
        if self.times.len() > EXACT && !self.are_rounded {
            self.are_rounded = true;
            for (latency, times) in std::mem::take(&mut self.times) {
                *self.times.entry(rounded(latency)).or_default() += times;
            }
        }
    }

    /// Takes in those of another run.
    pub(crate) fn add(&mut self, other: Latencies) {
        other.times.into_iter().for_each(|(latency, times)| self.note_all(latency, times));
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// All together, exactly.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The mean, rounded down; `None` where there are none.
    pub fn mean(&self) -> Option<u64> {
        u64::try_from(self.sum.checked_div(self.count.into())?).ok()
    }

    /// The least latency that `of_ten_thousand` of ten thousand I/Os do not exceed, in nanoseconds;
    /// `None` where there are none.
    pub fn percentile(&self, of_ten_thousand: u32) -> Option<u64> {
        let rank = (u128::from(self.count) * u128::from(of_ten_thousand.min(10_000))).div_ceil(10_000).max(1);
        let mut up_to = 0;
        let found = self.times.iter().find(|&(_, &times)| {
            up_to += u128::from(times);
            up_to >= rank
        });
        found.map(|(&latency, _)| latency.min(self.max))
    }

    /// How many of them are so long or longer, in nanoseconds.
    pub fn at_least(&self, latency: u64) -> u64 {
        self.times.range(latency..).map(|(_, times)| times).sum()
    }

    /// The longest, exactly; `None` where there are none.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }
}

/// The report of a step of a chain, or of the flushes of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepReport {
    /// The name of its operation.
    pub op: &'static str,
    /// From the release of each of its I/Os to the end of the last request, of those that ended
    /// from the warm-up to the duration, both included.
    pub latencies: Latencies,
}

/// The report of a job. The I/Os of a job with steps are its chains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReport {
    /// Its name.
    pub name: String,
    /// From release to the last request's end, of the I/Os that ended from the warm-up to the
    /// duration, both included.
    pub latencies: Latencies,
    /// Bytes of these I/Os.
    pub bytes: u128,
    /// Bytes of these I/Os for each second of `span`, rounded down.
    pub bytes_per_s: u128,
    /// Bytes that the device moved for the job in each second of `span`, rounded down: those of its
    /// I/Os that do not end in memory, and the pages that its `fsync` wrote.
    pub moved_per_s: u128,
    /// The time in which its I/Os count: from its begin and its ramp, the warm-up at the earliest,
    /// until it is over, the duration at the latest.
    pub span: Span,
    /// I/Os that have not ended at the end of the run.
    pub open: u64,
    /// How long before the end the first of them was released; zero where there are none.
    pub oldest: Span,
    /// The job's deadline.
    pub deadline: Option<Span>,
    /// I/Os that took longer than the deadline: of those in `latencies`, and of the open ones.
    pub late: u64,
    /// The steps of a chain, in order, or the flushes of a job with `fsync`; none for other jobs.
    pub steps: Vec<StepReport>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few different latencies are exact. Many take bounded memory, and are at most a thousandth
    /// too long.
    #[test]
    fn many_latencies_are_rounded_up() {
        let (mut few, mut many) = (Latencies::default(), Latencies::default());
        for number in 0..1_000_000_u64 {
            few.note(50_000 + number % 1_000 * 37);
            many.note(50_000 + number * 37);
        }
        assert_eq!((few.percentile(5_000), few.at_least(50_037)), (Some(50_000 + 499 * 37), 999_000));
        assert_eq!((many.count(), many.max()), (1_000_000, Some(50_000 + 999_999 * 37)));
        assert_eq!(many.mean(), Some(50_000 + 999_999 * 37 / 2));
        let mut twice = many.clone();
        twice.add(few);
        assert!(twice.times.len() < 20_000 && many.times.len() < 20_000, "{}", many.times.len());
        for of in [1, 5_000, 9_990, 9_999, 10_000] {
            let (exact, found) = (50_000 + (100 * u64::from(of) - 1) * 37, many.percentile(of).expect("I/Os"));
            assert!(found >= exact && found - exact <= exact / 1_000, "{of}: {found} and {exact}");
        }
    }
}
