//! Chips with two page registers: an operation may begin while the one before is on the bus. What
//! the array and the cache register do is told from the records: rules X1, X2, X3 and X4.

use std::collections::VecDeque;

use rtflash_model::{Instant, Span};
use serde::{Deserialize, Serialize};

use super::length::Length;
use crate::trace::{Action, Operation, Transfer};

/// How long the parts of operations take.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartLengths {
    pub(super) sensing: Length,
    pub(super) programming: Length,
    pub(super) transfer: Length,
}

/// A page that is to be on the bus still.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct PageOnBus {
    operation: Operation,
    /// Since when it wants the bus: at the earliest, and at the latest.
    wanted: (Instant, Instant),
    /// When the array is through with the page before, at the latest.
    free: Instant,
}

/// What is known of a chip by the records so far. Where times are ranges, of a register that gets
/// free within one it is the earliest instant.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct RegisterDesk {
    /// When the array, and the cache register, are free of what was recorded.
    array_free: Instant,
    cache_free: Instant,
    /// At most two: one that is moved, and one that is sensed behind it.
    pages: VecDeque<PageOnBus>,
    /// When the last operation ends.
    end: Instant,
}

/// What an operation shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Begun {
    /// How much too early its register is used.
    pub(super) overlap: u64,
    /// An operation before whose page was never moved.
    pub(super) lacking: Option<Operation>,
    /// How far it is from what its parts take, where no transfer will say.
    pub(super) off: u64,
}

/// What a transfer shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MovedPage {
    /// Since when its page wanted the bus, at the earliest; and how long it waited, at least.
    pub(super) wanted: Instant,
    pub(super) waited: u64,
    /// How far it, and the operation, are from what their parts take.
    pub(super) off: u64,
}

impl RegisterDesk {
    /// A page is read or programmed for users. `waits`: what it waits for a bus that is not looked
    /// at.
    pub(super) fn page(&mut self, operation: &Operation, of: PartLengths, waits: Option<Span>) -> Begun {
        let start = operation.start;
        let lacking = self.lacking(start);
        let program = operation.action == Action::Program;
        let needed = if program { self.cache_free } else { self.array_free };
        let overlap = needed.since(start).as_ns();
        let (wanted, free) = if program {
            ((start, start), self.array_free)
        } else {
            let sensed = |sensing: Span| start.saturating_add(sensing).max(self.cache_free);
            ((sensed(of.sensing.min), sensed(of.sensing.max)), Instant::START)
        };
        let page = PageOnBus { operation: *operation, wanted, free };
        let mut off = 0;
        match waits {
            None => self.pages.push_back(page),
            Some(wait) => {
                let over = |wanted: Instant, transfer: Span| wanted.saturating_add(wait).saturating_add(transfer);
                off = page.off(of, over(wanted.0, of.transfer.min), over(wanted.1, of.transfer.max));
            }
        }
        if program {
            // It leaves the cache register as the array begins; a transfer says when that is.
            self.cache_free = start.max(before(operation.end, of.programming.max));
            self.array_free = operation.end;
        } else {
            self.array_free = wanted.0;
            self.cache_free = operation.end;
        }
        self.end = operation.end;
        Begun { overlap, lacking, off }
    }

    /// The chip copies or erases over [start, end): with nothing in its registers.
    pub(super) fn inside(&mut self, start: Instant, end: Instant) -> Begun {
        let lacking = self.lacking(start);
        let overlap = self.array_free.max(self.cache_free).since(start).as_ns();
        (self.array_free, self.cache_free, self.end) = (end, end, end);
        Begun { overlap, lacking, off: 0 }
    }

    /// An operation that is over, or would be the third of those that are not, and whose page was
    /// never moved.
    fn lacking(&mut self, now: Instant) -> Option<Operation> {
        let first = self.pages.front()?;
        let lacks = first.operation.end <= now || self.pages.len() > 1;
        if lacks { self.pages.pop_front().map(|page| page.operation) } else { None }
    }

    /// A page is moved; `None` where none is to be that is like it.
    pub(super) fn moved(&mut self, transfer: &Transfer, of: PartLengths) -> Option<MovedPage> {
        let &page = self.pages.front()?;
        let PageOnBus { operation, wanted, .. } = page;
        let is_valid = operation.job == transfer.job
            && operation.kind == transfer.kind
            && operation.cluster == transfer.cluster
            && transfer.start >= operation.start
            && transfer.end <= operation.end;
        if !is_valid {
            return None;
        }
        self.pages.pop_front();
        let early = wanted.0.since(transfer.start).as_ns();
        let length = of.transfer.off(transfer.end.since(transfer.start));
        let off = page.off(of, transfer.end, transfer.end).max(length).max(early);
        if operation.action == Action::Program && self.end == operation.end {
            self.cache_free = transfer.end.max(page.free);
        }
        Some(MovedPage { wanted: wanted.0, waited: transfer.start.since(wanted.1).as_ns(), off })
    }

    /// An operation whose page has not been moved when the run is over.
    pub(super) fn left(&self) -> Option<&Operation> {
        self.pages.front().map(|page| &page.operation)
    }

    /// How much later than the operation before this one ends.
    pub(super) fn own_time(&self, operation: &Operation) -> Span {
        operation.end.since(self.end.max(operation.start))
    }
}

impl PageOnBus {
    /// How far the operation's end is from where it should be, its page moved between these
    /// instants.
    fn off(&self, of: PartLengths, earliest: Instant, latest: Instant) -> u64 {
        let end = self.operation.end;
        let (low, high) = if self.operation.action == Action::Program {
            let begun = |moved: Instant| moved.max(self.free);
            let (low, high) = (begun(earliest), begun(latest));
            (low.saturating_add(of.programming.min), high.saturating_add(of.programming.max))
        } else {
            (earliest, latest)
        };
        low.since(end).max(end.since(high)).as_ns()
    }
}

/// So long before an instant; the start where that is before it.
fn before(at: Instant, span: Span) -> Instant {
    Instant::from_ns(at.as_ns().saturating_sub(span.as_ns())).expect("earlier than an instant")
}
