//! The foresight of k2-ahead: the earliest next release of a real-time request, and the latest end
//! of the commands inside.

use rtflash_model::{Instant, Span, capped};

use super::PAGE;
use crate::{Command, Op};

/// The times of commands on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// One after the other, in the order in which they are handed over.
    InTurn {
        /// Each read at most.
        read: TimeBySize,
        /// Everything else at most.
        write: TimeBySize,
    },
    /// Each within `limit` of its hand-over, if at most `inside` commands are in flight.
    Within {
        /// How long.
        limit: Span,
        /// How many.
        inside: u32,
    },
}

/// A time that grows with the size of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeBySize {
    /// The longest time to the end of a command of any size.
    pub begin: Span,
    /// For each 1,024 bytes more.
    pub per_kib: Span,
}

impl TimeBySize {
    fn of(&self, size: u64) -> Span {
        let size = (u128::from(size) * u128::from(self.per_kib.as_ns())).div_ceil(1_024);
        let size = u64::try_from(size).ok().and_then(Span::from_ns).unwrap_or(Span::LONGEST);
        self.begin.saturating_add(size)
    }

    /// The largest size that takes no longer.
    fn largest(&self, time: Span) -> u64 {
        let Some(left) = time.as_ns().checked_sub(self.begin.as_ns()) else { return 0 };
        let size = (u128::from(left) * 1_024).checked_div(self.per_kib.as_ns().into());
        size.map_or(u64::MAX, capped)
    }
}

/// The knowledge at an instant.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outlook {
    /// The times of commands, if they are known.
    pub(super) ends: Option<Ends>,
    /// No real-time request is released before this; `None` if none is released any more.
    earliest: Option<Instant>,
    /// Every command inside has ended by then.
    free: Instant,
}

impl Outlook {
    pub(super) fn foresee(&mut self, earliest: Option<Instant>) {
        self.earliest = earliest;
    }

    /// The largest part of a command that, handed over now, ends with all that is inside before a
    /// real-time request can be released; 0 for none. It is the whole command, or a multiple of 4
    /// KiB.
    pub(super) fn fits(&self, command: &Command, inside: u32, now: Instant) -> u64 {
        let Some(ends) = self.ends else { return 0 };
        let Some(earliest) = self.earliest else { return command.size };
        match ends {
            Ends::InTurn { read, write } => {
                let line = if command.op == Op::Read { read } else { write };
                let start = self.free.max(now);
                let size = if start < earliest { line.largest(earliest.since(start)) } else { 0 };
                if size >= command.size { command.size } else { size / PAGE * PAGE }
            }
            Ends::Within { limit, inside: max } => {
                let ends = now.saturating_add(limit).max(self.free);
                if inside < max && ends <= earliest { command.size } else { 0 }
            }
        }
    }

    /// A command is handed over.
    pub(super) fn hand_over(&mut self, command: &Command, now: Instant) {
        let ends = match self.ends {
            None => return,
            Some(Ends::InTurn { read, write }) => {
                let line = if command.op == Op::Read { read } else { write };
                self.free.max(now).saturating_add(line.of(command.size))
            }
            Some(Ends::Within { limit, .. }) => now.saturating_add(limit),
        };
        self.free = self.free.max(ends);
    }

    /// Nothing is inside any more.
    pub(super) fn is_empty(&mut self, now: Instant) {
        self.free = now;
    }
}
