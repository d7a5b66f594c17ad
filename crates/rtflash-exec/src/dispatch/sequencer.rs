//! Puts records into the order of a trace where some become known late, and some early.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rtflash_model::Instant;

use crate::trace::{Observer, Operation, Record};

/// So many records are held at least before the sequencer looks which of them are ready.
const FEW: usize = 128;

/// The place of a record that is to come, in the order of [`Sequencer::open`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

/// A record from later than now: its start, and where it is kept.
type Later = Reverse<(Instant, usize)>;

/// Whether two operations, which begin at the same instant, are alike on two chips of a cluster.
fn is_one_step(a: &Operation, b: &Operation) -> bool {
    (a.job, a.kind, a.cluster, a.action) == (b.job, b.kind, b.cluster, b.action)
}

/// Notifies of the operations of a step.
fn pass_on(step: &mut Vec<Operation>, observer: &mut impl Observer) {
    if !step.is_empty() {
        observer.operations(step);
        step.clear();
    }
}

/// Holds records back until nothing can come before them any more.
#[derive(Debug)]
pub(crate) struct Sequencer<O> {
    /// By their starts, what starts at one instant as it was pushed; `None` where the record is
    /// still to come.
    held: Vec<Option<Record>>,
    /// When each of them starts.
    starts: Vec<Instant>,
    /// How many have been passed on: the ticket of the first place.
    passed: u64,
    /// How many have to be held for the next look.
    enough: usize,
    /// What has been pushed and starts later than now, and the places where it is kept.
    later: BinaryHeap<Later>,
    kept: Vec<Option<Record>>,
    vacant: Vec<usize>,
    /// The instant that it is.
    now: Instant,
    /// Operations of one step that are about to be passed on together.
    step: Vec<Operation>,
    /// Whether anybody is notified.
    notifies: bool,
    observer: O,
}

impl<O: Observer> Sequencer<O> {
    pub(crate) fn new(observer: O) -> Self {
        Sequencer {
            held: Vec::new(),
            starts: Vec::new(),
            passed: 0,
            enough: FEW,
            later: BinaryHeap::new(),
            kept: Vec::new(),
            vacant: Vec::new(),
            now: Instant::START,
            step: Vec::new(),
            notifies: observer.is_notified(),
            observer,
        }
    }

    /// It is now `now`, and an operation begins whose record comes later.
    #[inline]
    pub(crate) fn open(&mut self, now: Instant) -> Ticket {
        self.advance(now);
        let ticket = Ticket(self.passed + self.held.len() as u64);
        if self.notifies {
            self.starts.push(now);
            self.held.push(None);
        }
        ticket
    }

    /// The record of an operation that was opened.
    #[inline]
    pub(crate) fn close(&mut self, ticket: Ticket, record: Record) {
        if !self.notifies {
            return;
        }
        let place = usize::try_from(ticket.0 - self.passed).ok().and_then(|place| self.held.get_mut(place));
        let place = place.expect("a place is held until its record has come");
        assert!(place.is_none(), "a place has one record");
        *place = Some(record);
    }

    /// Something starts now, or later.
    #[inline]
    pub(crate) fn push(&mut self, record: Record) {
        if !self.notifies {
            return;
        }
        let start = record.start();
        if start > self.now {
            self.keep(start, record);
            return;
        }
        self.starts.push(start);
        self.held.push(Some(record));
    }

    /// Keeps a record until it is its time.
    fn keep(&mut self, start: Instant, record: Record) {
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.kept.push(None);
            self.kept.len() - 1
        });
        self.kept[place] = Some(record);
        self.later.push(Reverse((start, place)));
    }

    /// It is now `now`, or that and nothing has happened yet: now and then, what nothing can
    /// precede is passed on.
    #[inline]
    pub(crate) fn passes(&mut self, now: Instant) {
        self.advance(now);
        if self.held.len() >= self.enough {
            self.notify(now);
        }
    }

    /// Nothing from before `now` comes any more, but what is open.
    #[inline]
    fn advance(&mut self, now: Instant) {
        while let Some(&Reverse((start, place))) = self.later.peek()
            && start <= now
        {
            self.later.pop();
            self.vacant.push(place);
            self.starts.push(start);
            self.held.push(self.kept[place].take());
        }
        self.now = now.max(self.now);
    }

    /// Passes on everything from before `now` that nothing can precede any more. Says from when on
    /// something may be missing.
    pub(crate) fn notify_before(&mut self, now: Instant) -> Instant {
        self.advance(now);
        self.notify(now)
    }

    fn notify(&mut self, now: Instant) -> Instant {
        let mut ready = 0;
        let mut limit = now;
        while let Some(&start) = self.starts.get(ready).filter(|&&start| start < now) {
            let same = self.starts[ready..].iter().take_while(|&&other| other == start).count();
            let group = &mut self.held[ready..ready + same];
            if group.iter().any(Option::is_none) {
                limit = start;
                break;
            }
            let order = |record: &Option<Record>| record.as_ref().map(Record::order);
            if same > 1 && !group.is_sorted_by_key(order) {
                group.sort_by_key(order);
            }
            for record in group.iter().flatten() {
                match record {
                    Record::Operation(operation) => {
                        if self.step.first().is_some_and(|first| !is_one_step(first, operation)) {
                            pass_on(&mut self.step, &mut self.observer);
                        }
                        self.step.push(*operation);
                    }
                    _ => {
                        pass_on(&mut self.step, &mut self.observer);
                        self.observer.record(record);
                    }
                }
            }
            pass_on(&mut self.step, &mut self.observer);
            ready += same;
        }
        self.starts.drain(..ready);
        self.held.drain(..ready);
        self.passed += ready as u64;
        self.enough = (2 * self.held.len()).max(FEW);
        limit
    }

    /// Passes on the rest: nothing is open any more.
    pub(crate) fn finish(mut self) -> O {
        self.advance(Instant::END);
        self.held.sort_by_key(|record| record.as_ref().map(Record::order));
        self.held.iter().flatten().for_each(|record| self.observer.record(record));
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
