//! Puts records into the order of a trace where some become known late.

use std::collections::BTreeMap;

use rtflash_model::Instant;

use crate::trace::{Observer, Record};

type Order = (Instant, u8, u64, u64, u32);

/// Holds records back until nothing can come before them any more.
#[derive(Debug)]
pub(crate) struct Sequencer<O> {
    held: BTreeMap<(Order, u64), Record>,
    pushed: u64,
    /// Starts of operations that are not told of yet, with how many there are of each.
    open: BTreeMap<Instant, u32>,
    observer: O,
}

impl<O: Observer> Sequencer<O> {
    pub(crate) fn new(observer: O) -> Self {
        Sequencer { held: BTreeMap::new(), pushed: 0, open: BTreeMap::new(), observer }
    }

    /// An operation has begun that will be told of later.
    pub(crate) fn open(&mut self, start: Instant) {
        *self.open.entry(start).or_default() += 1;
    }

    /// An operation that was opened is told of.
    pub(crate) fn close(&mut self, record: Record) {
        let start = record.order().0;
        if let Some(count) = self.open.get_mut(&start) {
            *count -= 1;
            if *count == 0 {
                self.open.remove(&start);
            }
        }
        self.push(record);
    }

    pub(crate) fn push(&mut self, record: Record) {
        self.held.insert((record.order(), self.pushed), record);
        self.pushed += 1;
    }

    /// Tells everything from before `now` that nothing can precede any more, and says from when on something may be missing.
    pub(crate) fn tell_before(&mut self, now: Instant) -> Instant {
        let limit = self.open.keys().next().map_or(now, |&open| open.min(now));
        while let Some(first) = self.held.first_entry() {
            if first.key().0.0 >= limit {
                break;
            }
            self.observer.record(&first.remove());
        }
        limit
    }

    /// Tells the rest.
    pub(crate) fn finish(mut self) -> O {
        for record in self.held.values() {
            self.observer.record(record);
        }
        self.observer
    }

    pub(crate) fn observer(&mut self) -> &mut O {
        &mut self.observer
    }
}
