//! How much work tests do on this thread: counted, not timed, so that what is bounded by it is the
//! same on every machine.

use std::cell::Cell;

thread_local! {
    static SPENT: Cell<u64> = const { Cell::new(0) };
}

/// Counts `requests` more looked at in an interval.
pub fn spend(requests: usize) {
    SPENT.set(SPENT.get().wrapping_add(requests as u64));
}

/// What has been counted on this thread since it began.
fn spent() -> u64 {
    SPENT.get()
}

/// A bound on work.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    start: u64,
    most: u64,
}

impl Budget {
    /// So many requests looked at, from now on.
    pub fn of(most: u64) -> Budget {
        Budget { start: spent(), most }
    }

    /// What is left of it.
    pub fn left(self) -> u64 {
        self.most.saturating_sub(spent().wrapping_sub(self.start))
    }
}
