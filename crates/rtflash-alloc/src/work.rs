//! How much work tests do: counted, not timed, so that what is bounded by it is the same on every
//! machine.

use std::cell::Cell;

/// A counter of the work that tests do, in requests looked at in an interval.
///
/// Whoever tests clusters charges it. A bound on work is a `WorkBound` on a counter, and several
/// may be on one, each from its own start on.
#[derive(Debug, Default)]
pub struct Work {
    charged: Cell<u64>,
}

impl Work {
    /// A counter that nothing was charged to.
    pub fn new() -> Work {
        Work::default()
    }

    /// Counts `requests` more looked at in an interval.
    pub(crate) fn charge(&self, requests: usize) {
        self.charged.set(self.charged.get().wrapping_add(requests as u64));
    }

    /// A bound on what is charged from now on.
    pub(crate) fn bound(&self, max: u64) -> WorkBound<'_> {
        WorkBound { work: self, start: self.charged.get(), max }
    }
}

/// A bound on work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkBound<'w> {
    work: &'w Work,
    start: u64,
    max: u64,
}

impl WorkBound<'_> {
    /// What may still be charged.
    pub(crate) fn left(self) -> u64 {
        self.max.saturating_sub(self.work.charged.get().wrapping_sub(self.start))
    }
}

#[cfg(test)]
mod tests {
    use super::Work;

    #[test]
    fn bounds_count_from_their_own_start() {
        let work = Work::new();
        let all = work.bound(100);
        work.charge(30);
        let part = work.bound(50);
        work.charge(40);
        assert_eq!((all.left(), part.left()), (30, 10));
        work.charge(40);
        assert_eq!((all.left(), part.left()), (0, 0));
    }
}
