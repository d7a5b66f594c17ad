//! What can be seen of a run.

use rtflash_model::Instant;

use crate::Command;

/// Something that happens in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen<'a> {
    /// A job releases an I/O.
    Released {
        /// Its number, in order of release.
        io: u64,
        /// Whose it is, by position.
        job: usize,
    },
    /// A request or piece has its tag, and is at the scheduler.
    Queued {
        /// The number of its I/O.
        io: u64,
        /// It; `job` is the position of its job.
        command: &'a Command,
    },
    /// A request has become part of another one that waits at the scheduler.
    Merged {
        /// The number of its I/O.
        io: u64,
        /// It.
        command: &'a Command,
        /// What the other one is now.
        into: &'a Command,
    },
    /// The scheduler hands it to the device.
    HandedOver(&'a Command),
    /// The device has done it.
    Ended(&'a Command),
    /// All requests of an I/O have ended.
    Finished {
        /// Its number.
        io: u64,
        /// Whose it is, by position.
        job: usize,
        /// When it was released.
        released: Instant,
    },
}

/// Somebody who is told of a run as it goes.
pub trait Watch {
    /// Something happens; times never decrease.
    fn see(&mut self, now: Instant, what: &Seen<'_>);
}

/// Nobody.
impl Watch for () {
    fn see(&mut self, _: Instant, _: &Seen<'_>) {}
}

/// Both of them.
impl<A: Watch, B: Watch> Watch for (A, B) {
    fn see(&mut self, now: Instant, what: &Seen<'_>) {
        self.0.see(now, what);
        self.1.see(now, what);
    }
}

/// Somebody, if there is one.
impl<A: Watch> Watch for Option<A> {
    fn see(&mut self, now: Instant, what: &Seen<'_>) {
        if let Some(watch) = self {
            watch.see(now, what);
        }
    }
}
