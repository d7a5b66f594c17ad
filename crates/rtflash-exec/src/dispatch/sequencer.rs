//! Puts records into the order of a trace where some become known late, and some early.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use rtflash_model::Instant;
use serde::{Deserialize, Serialize};

use crate::resume::{Resume, resume};
use crate::trace::{Observer, Operation, Record};

/// So many records are held at least before the sequencer looks which of them are ready.
const FEW: usize = 128;

/// The place of a record that is to come, in the order of [`Sequencer::open`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ticket(u64);

/// A record from later than now: its start, and where it is kept.
type Later = Reverse<(Instant, usize)>;

/// Whether two operations, which begin at the same instant, are alike on two chips of a cluster.
fn is_one_step(a: &Operation, b: &Operation) -> bool {
    (a.job, a.kind, a.cluster, a.action) == (b.job, b.kind, b.cluster, b.action)
}

/// How two records of one instant are in the order of [`Record::order`].
#[inline]
fn compare(a: &Option<Record>, b: &Option<Record>) -> Ordering {
    match (a, b) {
        (Some(Record::Operation(a)), Some(Record::Operation(b))) => a.chip.cmp(&b.chip),
        (Some(Record::Transfer(a)), Some(Record::Transfer(b))) => a.channel.cmp(&b.channel),
        (Some(Record::Operation(_)), Some(Record::Transfer(_))) => Ordering::Less,
        (Some(Record::Transfer(_)), Some(Record::Operation(_))) => Ordering::Greater,
        (a, b) => a.as_ref().map(Record::order).cmp(&b.as_ref().map(Record::order)),
    }
}

/// Notifies of records of one instant, of operations of one step together. `step`: kept for its
/// memory.
fn pass_on(records: &[Option<Record>], step: &mut Vec<Operation>, observer: &mut impl Observer) {
    let mut rest = records;
    while let Some((record, others)) = rest.split_first() {
        rest = others;
        match record {
            Some(Record::Operation(first)) => {
                step.clear();
                while let Some((Some(Record::Operation(next)), others)) = rest.split_first()
                    && is_one_step(first, next)
                {
                    if step.is_empty() {
                        step.push(*first);
                    }
                    step.push(*next);
                    rest = others;
                }
                observer.operations(if step.is_empty() { std::slice::from_ref(first) } else { step });
            }
            Some(Record::Transfer(transfer)) => observer.transfer(transfer),
            Some(record) => observer.record(record),
            None => {}
        }
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
    /// Kept for its memory.
    step: Vec<Operation>,
    /// Whether anybody is notified.
    notifies: bool,
    observer: O,
}

resume!([O: Resume] Sequencer<O> {
    values: [held, starts, passed, enough, later, kept, vacant, now],
    parts: [observer],
    lists: [],
    made: [step, notifies],
});

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
    #[inline(always)]
    fn advance(&mut self, now: Instant) {
        if !self.later.is_empty() {
            self.reach(now);
        }
        self.now = now.max(self.now);
    }

    /// What was to come by `now` has come.
    fn reach(&mut self, now: Instant) {
        while let Some(&Reverse((start, place))) = self.later.peek()
            && start <= now
        {
            self.later.pop();
            self.vacant.push(place);
            self.starts.push(start);
            self.held.push(self.kept[place].take());
        }
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
            let (mut same, mut is_whole, mut in_order) = (0, true, true);
            let mut last: Option<&Option<Record>> = None;
            let held = self.held[ready..].iter().zip(&self.starts[ready..]);
            for (record, _) in held.take_while(|&(_, &of)| of == start) {
                is_whole &= record.is_some();
                in_order &= last.is_none_or(|last| compare(last, record).is_le());
                last = Some(record);
                same += 1;
            }
            if !is_whole {
                limit = start;
                break;
            }
            let group = &mut self.held[ready..ready + same];
            if !in_order {
                group.sort_by(compare);
            }
            pass_on(group, &mut self.step, &mut self.observer);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::{BlockId, ChipId, ClusterId, Lpn, SourceId};
    use crate::trace::samples::at;
    use crate::trace::{Action, Complete, JobId, Kind, Reserve};

    fn operation(start: u64, chip: u32) -> Operation {
        Operation {
            start: at(start),
            end: at(start + 1),
            cluster: ClusterId(chip % 2),
            chip: ChipId(chip),
            action: Action::Read,
            job: JobId { source: SourceId(0), index: 0 },
            kind: Kind::Read,
            block: BlockId(0),
            page: 0,
            lpn: Lpn(0),
        }
    }

    proptest! {
        /// Whatever is known late or early, observers are notified in the order of a trace.
        #[test]
        fn records_come_in_the_order_of_a_trace(
            steps in prop::collection::vec((0..3_u64, 0..5_u8, any::<prop::sample::Index>()), 0..600),
        ) {
            let mut sequencer = Sequencer::new(Vec::<Record>::new());
            let mut all: Vec<Record> = Vec::new();
            let mut open: Vec<(Ticket, Operation)> = Vec::new();
            let mut now = 1;
            for (number, (later, what, which)) in (0..).zip(steps) {
                now += later;
                sequencer.passes(at(now));
                // Chips from the highest down: at one instant they come in the wrong order.
                let chip = 10_000 - number;
                let record = match what {
                    0 => {
                        open.push((sequencer.open(at(now)), operation(now, chip)));
                        continue;
                    }
                    1 if !open.is_empty() => {
                        let (ticket, operation) = open.swap_remove(which.index(open.len()));
                        sequencer.close(ticket, Record::Operation(operation));
                        all.push(Record::Operation(operation));
                        continue;
                    }
                    2 => Record::Operation(operation(now + which.index(5) as u64, chip)),
                    3 => Record::Reserve(Reserve {
                        at: at(now),
                        cluster: ClusterId(0),
                        chip: ChipId(chip),
                        arrived: 0,
                        free: 0,
                        pending: 0,
                    }),
                    _ => {
                        let job = JobId { source: SourceId(1), index: chip.into() };
                        Record::Complete(Complete { at: at(now), job })
                    }
                };
                sequencer.push(record);
                all.push(record);
            }
            for (ticket, operation) in open {
                sequencer.close(ticket, Record::Operation(operation));
                all.push(Record::Operation(operation));
            }
            all.sort_by_key(Record::order);
            prop_assert_eq!(sequencer.finish(), all);
        }
    }
}
