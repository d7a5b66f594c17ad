//! How much work tests do: counted, not timed, so that what is bounded by it is the same on every
//! machine.

use std::cell::Cell;
use std::fmt;

/// How far an algorithm has come. It may begin anew several times, with other assumptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacementProgress {
    /// How often it has begun, 1 at first.
    pub attempt: u32,
    /// Tasks that have a cluster.
    pub placed: u32,
    /// Tasks in all.
    pub tasks: u32,
}

/// The charge of a decision for each request that is looked at in an interval. About a nanosecond
/// of one core is the unit, so that a bound on it is one on time.
const LOOK: u64 = 4;
const PREPARED: u64 = 20;

/// It is notified how far an algorithm has come.
type Listener = Box<dyn Fn(PlacementProgress) + Send>;

/// Counts requests looked at in an interval; `WorkBound`s count from their own start on.
#[derive(Default)]
pub struct Work {
    charged: Cell<u64>,
    /// The work that a decision may still do; `None` outside of one.
    left: Cell<Option<u64>>,
    attempt: Cell<u32>,
    listener: Option<Listener>,
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").field("charged", &self.charged).field("attempt", &self.attempt).finish_non_exhaustive()
    }
}

impl Work {
    /// A counter that nothing was charged to.
    pub fn new() -> Work {
        Work::default()
    }

    /// `listener` hears how far an algorithm that places task after task has come.
    pub fn watched(listener: impl Fn(PlacementProgress) + Send + 'static) -> Work {
        Work { listener: Some(Box::new(listener)), ..Work::default() }
    }

    /// Says how many tasks of an attempt are placed; none where it begins.
    pub fn notify(&self, placed: usize, tasks: u32) {
        if placed == 0 {
            self.attempt.set(self.attempt.get().saturating_add(1));
        }
        if let Some(listener) = &self.listener {
            let placed = u32::try_from(placed).unwrap_or(tasks);
            listener(PlacementProgress { attempt: self.attempt.get(), placed, tasks });
        }
    }

    /// Counts `requests` more looked at in an interval.
    pub fn charge(&self, requests: usize) {
        self.charged.set(self.charged.get().wrapping_add(requests as u64));
        self.takes(LOOK, requests);
    }

    /// [`charge`](Work::charge) after many looks: each request takes a decision `each`.
    pub(crate) fn charge_quick(&self, requests: usize, each: u64) {
        self.charged.set(self.charged.get().wrapping_add(requests as u64));
        self.takes(each, requests);
    }

    /// Counts `requests` that are made ready for tests. Decisions alone are charged that.
    pub(crate) fn prepare(&self, requests: usize) {
        self.takes(PREPARED, requests);
    }

    fn takes(&self, each: u64, requests: usize) {
        if let Some(left) = self.left.get() {
            self.left.set(Some(left.saturating_sub(each.saturating_mul(requests as u64))));
        }
    }

    /// Decides with at most `most`; a search gives up once [`Work::is_used_up`].
    pub fn deciding<R>(&self, most: u64, decide: impl FnOnce() -> R) -> R {
        let before = self.left.replace(Some(most));
        let decision = decide();
        self.left.set(before);
        decision
    }

    /// Whether a decision has taken what it may; never outside of one.
    pub fn is_used_up(&self) -> bool {
        self.left.get() == Some(0)
    }

    /// A bound on what is charged from now on.
    pub fn bound(&self, max: u64) -> WorkBound<'_> {
        WorkBound { work: self, start: self.charged.get(), max }
    }
}

/// A bound on work.
#[derive(Debug, Clone, Copy)]
pub struct WorkBound<'w> {
    work: &'w Work,
    start: u64,
    max: u64,
}

impl WorkBound<'_> {
    /// The work that may still be charged.
    pub fn left(self) -> u64 {
        self.max.saturating_sub(self.work.charged.get().wrapping_sub(self.start))
    }
}

#[cfg(test)]
mod tests {
    use super::Work;

    /// A decision is charged by price, whatever else is bounded, and nothing outside of it.
    #[test]
    fn decisions_have_an_end() {
        let work = Work::new();
        work.charge(1_000_000);
        let used_up = work.deciding(100, || {
            work.charge(10);
            work.charge_quick(30, 1);
            let before = work.is_used_up();
            work.prepare(2);
            [before, work.is_used_up()]
        });
        assert_eq!(used_up, [false, true]);
        assert!(!work.is_used_up());
        assert!(work.deciding(0, || work.is_used_up()));
        // One within another has its own.
        work.deciding(9, || {
            work.deciding(1, || work.charge(1));
            assert!(!work.is_used_up());
        });
    }

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
