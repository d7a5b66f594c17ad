//! Puts records into the order of a trace where some become known late.

use std::collections::VecDeque;

use rtflash_model::Instant;

use crate::trace::{Observer, Record};

/// So many records are held at least before the sequencer looks which of them are ready.
const FEW: usize = 128;

/// Holds records back until nothing can come before them any more.
#[derive(Debug)]
pub(crate) struct Sequencer<O> {
    /// In order; what has the same place in it, as it was pushed.
    held: Vec<Record>,
    /// When each of them starts.
    starts: Vec<Instant>,
    /// How many have to be held for the next look.
    enough: usize,
    /// Starts of operations that nobody is notified of yet, ascending, with how many there are of
    /// each; none at the front that has none left.
    open: VecDeque<(Instant, u32)>,
    /// Whether anybody is notified.
    notifies: bool,
    observer: O,
}

impl<O: Observer> Sequencer<O> {
    pub(crate) fn new(observer: O) -> Self {
        Sequencer {
            held: Vec::new(),
            starts: Vec::new(),
            enough: FEW,
            open: VecDeque::new(),
            notifies: observer.is_notified(),
            observer,
        }
    }

    /// An operation has begun whose record comes later. None has begun after it.
    pub(crate) fn open(&mut self, start: Instant) {
        if !self.notifies {
            return;
        }
        match self.open.back_mut() {
            Some((last, count)) if *last == start => *count += 1,
            _ => self.open.push_back((start, 1)),
        }
    }

    /// The record of an operation that was opened.
    pub(crate) fn close(&mut self, record: Record) {
        if !self.notifies {
            return;
        }
        let start = record.start();
        let at = self.open.partition_point(|&(open, _)| open < start);
        let opened = self.open.get_mut(at).filter(|(open, _)| *open == start);
        opened.expect("an operation is opened before it is closed").1 -= 1;
        while self.open.front().is_some_and(|&(_, count)| count == 0) {
            self.open.pop_front();
        }
        self.push(record);
    }

    #[inline]
    pub(crate) fn push(&mut self, record: Record) {
        if !self.notifies {
            return;
        }
        let start = record.start();
        let mut at = self.starts.len();
        if self.starts.last().is_some_and(|&last| last >= start) {
            at = self.starts.partition_point(|&other| other <= start);
            while at > 0 && self.starts[at - 1] == start && self.held[at - 1].order() > record.order() {
                at -= 1;
            }
        }
        self.starts.insert(at, start);
        self.held.insert(at, record);
    }

    /// Nothing from before `now` is pushed any more, but what is open: now and then, what nothing
    /// can precede is passed on.
    #[inline]
    pub(crate) fn passes(&mut self, now: Instant) {
        if self.held.len() >= self.enough {
            self.notify_before(now);
        }
    }

    /// Passes on everything from before `now` that nothing can precede any more. Says from when on
    /// something may be missing.
    pub(crate) fn notify_before(&mut self, now: Instant) -> Instant {
        let limit = self.open.front().map_or(now, |&(open, _)| open.min(now));
        let ready = self.starts.partition_point(|&start| start < limit);
        self.starts.drain(..ready);
        for record in self.held.drain(..ready) {
            self.observer.record(&record);
        }
        self.enough = (2 * self.held.len()).max(FEW);
        limit
    }

    /// Passes on the rest.
    pub(crate) fn finish(mut self) -> O {
        for record in &self.held {
            self.observer.record(record);
        }
        self.observer
    }

    /// The observer, to be looked at.
    pub(crate) fn as_observer(&self) -> &O {
        &self.observer
    }

    pub(crate) fn observer(&mut self) -> &mut O {
        &mut self.observer
    }
}
