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

/// Who is told how far an algorithm has come.
type Listener = Box<dyn Fn(PlacementProgress) + Send>;

/// A counter of the work that tests do, in requests looked at in an interval.
///
/// Whoever tests clusters charges it. A bound on work is a `WorkBound` on a counter, and several
/// may be on one, each from its own start on.
#[derive(Default)]
pub struct Work {
    charged: Cell<u64>,
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

    /// A counter that nothing was charged to. Algorithms that place task after task, with clusters
    /// as large as need be, tell `listener` how far they have come: before the first task, and
    /// after each.
    pub fn watched(listener: impl Fn(PlacementProgress) + Send + 'static) -> Work {
        Work { listener: Some(Box::new(listener)), ..Work::default() }
    }

    /// Says how many tasks of an attempt are placed; none where it begins.
    pub(crate) fn tell(&self, placed: usize, tasks: u32) {
        if placed == 0 {
            self.attempt.set(self.attempt.get().saturating_add(1));
        }
        if let Some(listener) = &self.listener {
            let placed = u32::try_from(placed).unwrap_or(tasks);
            listener(PlacementProgress { attempt: self.attempt.get(), placed, tasks });
        }
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
