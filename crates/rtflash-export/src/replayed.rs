//! What came of a replay.

/// The longest that a request of a stream took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamMaximum {
    /// At least so long, in ns.
    pub at_least: u64,
    /// And less than so long, in ns.
    pub below: u64,
}

/// What became of a stream.
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
