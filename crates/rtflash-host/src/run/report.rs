//! The report of a run.

use rtflash_model::Span;

/// Latencies of the I/Os of a job that count, in nanoseconds, ascending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Latencies(Vec<u64>);

impl Latencies {
    /// Of these.
    pub(crate) fn new(mut latencies: Vec<u64>) -> Latencies {
        latencies.sort_unstable();
        Latencies(latencies)
    }

    /// Takes in those of another run.
    pub(crate) fn add(&mut self, other: Latencies) {
        self.0.extend(other.0);
        self.0.sort_unstable();
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// All together.
    pub fn sum(&self) -> u128 {
        self.0.iter().map(|&latency| u128::from(latency)).sum()
    }

    /// The mean, rounded down; `None` where there are none.
    pub fn mean(&self) -> Option<u64> {
        u64::try_from(self.sum().checked_div(self.0.len() as u128)?).ok()
    }

    /// The least latency that `of_ten_thousand` of ten thousand I/Os do not exceed, in nanoseconds;
    /// `None` where there are none.
    pub fn percentile(&self, of_ten_thousand: u32) -> Option<u64> {
        let rank = (self.0.len() as u128 * u128::from(of_ten_thousand.min(10_000))).div_ceil(10_000).max(1);
        self.0.get(usize::try_from(rank - 1).ok()?).copied()
    }

    /// How many of them are so long or longer, in nanoseconds.
    pub fn at_least(&self, latency: u64) -> u64 {
        (self.0.len() - self.0.partition_point(|&other| other < latency)) as u64
    }

    /// The longest; `None` where there are none.
    pub fn max(&self) -> Option<u64> {
        self.0.last().copied()
    }
}

/// The report of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReport {
    /// Its name.
    pub name: String,
    /// From release to the last request's end, of the I/Os that ended from the warm-up to the
    /// duration, both included.
    pub latencies: Latencies,
    /// Bytes of these I/Os.
    pub bytes: u128,
    /// Bytes of these I/Os for each second between warm-up and duration, rounded down.
    pub bytes_per_s: u128,
    /// I/Os that have not ended at the end of the run.
    pub open: u64,
    /// How long before the end the first of them was released; zero where there are none.
    pub oldest: Span,
}
