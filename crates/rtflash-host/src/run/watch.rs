//! The events of a run that can be observed.

use rtflash_model::{Instant, Span};
use rtflash_trace::Record;

use crate::Command;

/// Something that happens in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEvent<'a> {
    /// A job begins a chain; its first I/O follows.
    ChainBegun {
        /// Its number, in order of begin.
        chain: u64,
        /// Whose it is, by position.
        job: usize,
    },
    /// All steps of a chain have ended.
    ChainEnded {
        /// Its number.
        chain: u64,
        /// Whose it is, by position.
        job: usize,
        /// When it began.
        begun: Instant,
    },
    /// A job releases an I/O.
    Released {
        /// Its number, in order of release.
        io: u64,
        /// Whose it is, by position.
        job: usize,
        /// The position of its step, if it is one of a chain.
        step: Option<usize>,
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
        /// The other command as it is now.
        into: &'a Command,
    },
    /// The scheduler hands it to the device; of one that goes out in parts, the last part.
    HandedOver(&'a Command),
    /// The scheduler hands a part of it to the device, and keeps the rest.
    PartHandedOver(&'a Command),
    /// The device has done it, or a part of it.
    Ended(&'a Command),
    /// It took longer than the device says that a command does, or has not ended by then though the
    /// run is over.
    Late {
        /// The command.
        command: &'a Command,
        /// From its fetching to its end, or to the end of the run.
        took: Span,
    },
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

/// An observer of a run under way.
pub trait Watch {
    /// Something happens; times never decrease.
    fn see(&mut self, now: Instant, what: &RunEvent<'_>);

    /// Whether the observer wants the records of the flash, if the device has one: to keep them
    /// takes time.
    fn looks_inside(&self) -> bool {
        false
    }

    /// Something happens in the flash. Records come in the order of a trace, but can come later
    /// than events of a later time that [`see`](Watch::see) received.
    fn inside(&mut self, record: &Record) {
        let _ = record;
    }
}

/// An observer that ignores everything.
impl Watch for () {
    fn see(&mut self, _: Instant, _: &RunEvent<'_>) {}
}

/// Both of them.
impl<A: Watch, B: Watch> Watch for (A, B) {
    fn see(&mut self, now: Instant, what: &RunEvent<'_>) {
        self.0.see(now, what);
        self.1.see(now, what);
    }

    fn looks_inside(&self) -> bool {
        self.0.looks_inside() || self.1.looks_inside()
    }

    fn inside(&mut self, record: &Record) {
        self.0.inside(record);
        self.1.inside(record);
    }
}

/// An observer, if there is one.
impl<A: Watch> Watch for Option<A> {
    fn see(&mut self, now: Instant, what: &RunEvent<'_>) {
        if let Some(watch) = self {
            watch.see(now, what);
        }
    }

    fn looks_inside(&self) -> bool {
        self.as_ref().is_some_and(Watch::looks_inside)
    }

    fn inside(&mut self, record: &Record) {
        if let Some(watch) = self {
            watch.inside(record);
        }
    }
}
