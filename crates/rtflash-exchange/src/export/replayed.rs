//! The outcome of a replay.

/// The longest that a request of a stream took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamMaximum {
    /// At least so long, in ns.
    pub at_least: u64,
    /// And less than so long, in ns.
    pub below: u64,
}

/// The outcome of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedStream {
    /// Its name there.
    pub name: String,
    /// Requests that were handed in.
    pub requests: u64,
    /// Requests that were served, as far as the result says it; bytes otherwise.
    pub served_bytes: u64,
    /// Whether it wrote.
    pub writes: bool,
    /// The longest; `None` where nothing was served.
    pub longest: Option<StreamMaximum>,
    /// The median, the 99th and the 99.9th percentile, in ns; `None` where the result lacks them.
    pub percentiles: [Option<u64>; 3],
    /// How long its requests were handed in and served, in ms; `None` if each is handed in at its
    /// time, whatever became of those in front of it.
    pub lasted_ms: Option<u64>,
}

/// Requests that the median, the 99th and the 99.9th percentile need: ten of them are above it.
const ENOUGH: [u64; 3] = [20, 1_000, 10_000];

impl ReplayedStream {
    /// The percentiles that enough requests carry.
    pub fn carried(&self) -> [Option<u64>; 3] {
        let mut carried = self.percentiles;
        carried.iter_mut().zip(ENOUGH).for_each(|(of, enough)| *of = of.filter(|_| self.requests >= enough));
        carried
    }

    /// Whether it lagged behind its releases: `requests` of them, a period (in ns) apart, took over
    /// 1 % longer than their periods together. A request of a replay waits for the one in front of
    /// it, so a drive that is too slow is asked for less, and each request by itself looks short.
    pub fn lagged(&self, requests: u64, period: u64) -> bool {
        // The last request is released a period before they are over. A time in ms is rounded.
        let planned = u128::from(requests) * u128::from(period);
        self.lasted_ms.is_some_and(|lasted| u128::from(lasted.saturating_sub(1)) * 1_000_000 * 100 > planned * 101)
    }
}

impl StreamMaximum {
    /// Whether a deadline, in ns, was met: `None` where the result is too coarse to tell.
    pub fn meets(self, deadline: u64) -> Option<bool> {
        if self.below <= deadline.saturating_add(1) {
            return Some(true);
        }
        if self.at_least > deadline { Some(false) } else { None }
    }
}
