//! Puts records into the order of a trace where some become known late, and some early.

mod beside;

use std::collections::VecDeque;

use rtflash_model::Instant;
use rtflash_model::sorting;
use serde::{Deserialize, Serialize};

use self::beside::HeldBeside;
use crate::resume::{Resume, resume};
use crate::trace::{Action, Observer, Operation, Record, Transfer};

/// So many records are held at least before the sequencer looks which of them are ready.
const FEW: usize = 128;

/// The end of an operation that is not known yet.
const UNKNOWN: Instant = Instant::END;

/// The place of an operation whose end is to come, in the order of [`Sequencer::open`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ticket(u64);

/// Whether two operations, which begin at the same instant, are alike on two chips of a cluster.
fn is_one_step(a: &Operation, b: &Operation) -> bool {
    (a.job, a.kind, a.cluster, a.action) == (b.job, b.kind, b.cluster, b.action)
}

/// Notifies of operations of one instant, by chip: those of one step together.
fn pass_on(mut operations: &[Operation], observer: &mut impl Observer) {
    while let Some((first, others)) = operations.split_first() {
        let alike = others.iter().take_while(|other| is_one_step(first, other)).count();
        let (step, rest) = operations.split_at(alike + 1);
        observer.operations(step);
        operations = rest;
    }
}

/// Keeps something until it is its time. Nearly always it is the last one.
#[inline]
fn keep<T>(later: &mut VecDeque<T>, one: T, start: impl Fn(&T) -> Instant) {
    let begins = start(&one);
    if later.back().is_none_or(|last| start(last) <= begins) {
        later.push_back(one);
        return;
    }
    let before = later.iter().rposition(|other| start(other) <= begins);
    later.insert(before.map_or(0, |before| before + 1), one);
}

/// A list of which the first ones have been passed on.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct HeldList<T> {
    list: Vec<T>,
    /// How many have been passed on.
    passed: u64,
}

impl<T> Default for HeldList<T> {
    fn default() -> HeldList<T> {
        HeldList { list: Vec::new(), passed: 0 }
    }
}

impl<T> HeldList<T> {
    /// How many have been held until now.
    #[inline]
    fn count(&self) -> u64 {
        self.passed + self.list.len() as u64
    }

    /// The one of this number, which has not been passed on.
    #[inline]
    fn get(&mut self, number: u64) -> &mut T {
        let place = usize::try_from(number - self.passed).ok().and_then(|place| self.list.get_mut(place));
        place.expect("a place is held until its end has come")
    }

    /// So many have been passed on.
    fn pass(&mut self, count: usize) {
        self.list.drain(..count);
        self.passed += count as u64;
    }
}

/// Holds records back until nothing can come before them any more.
#[derive(Debug)]
pub(crate) struct Sequencer<O> {
    /// By their starts; at one instant as they came. What is neither an operation nor a transfer
    /// comes before both at one instant.
    others: HeldList<Record>,
    /// Those that are open among them, without their ends.
    operations: HeldList<Operation>,
    transfers: HeldList<Transfer>,
    /// How many have to be held for the next look.
    enough: usize,
    /// Operations that start later than now, by their starts; at one instant as they came.
    later_operations: VecDeque<Operation>,
    /// Likewise all else.
    later: VecDeque<Record>,
    /// When the first of these starts; at the end of time where there are none.
    soonest: Instant,
    /// The instant that it is.
    now: Instant,
    /// Whether anybody is notified.
    notifies: bool,
    observer: O,
}

resume!([O: Resume] Sequencer<O> {
    values: [others, operations, transfers, enough, later_operations, later, soonest, now],
    parts: [observer],
    lists: [],
    made: [notifies],
});

impl<O: Observer> Sequencer<O> {
    pub(crate) fn new(observer: O) -> Self {
        Sequencer {
            others: HeldList::default(),
            operations: HeldList::default(),
            transfers: HeldList::default(),
            enough: FEW,
            later_operations: VecDeque::new(),
            later: VecDeque::new(),
            soonest: Instant::END,
            now: Instant::START,
            notifies: observer.is_notified(),
            observer,
        }
    }

    /// An operation begins now whose end comes later.
    #[inline(always)]
    pub(crate) fn open(&mut self, operation: &Operation) -> Ticket {
        self.advance(operation.start);
        let ticket = Ticket(self.operations.count());
        if self.notifies {
            self.operations.list.push(Operation { end: UNKNOWN, ..*operation });
        }
        ticket
    }

    /// The end of an operation that was opened.
    #[inline]
    pub(crate) fn close(&mut self, ticket: Ticket, end: Instant) {
        if !self.notifies {
            return;
        }
        let operation = self.operations.get(ticket.0);
        assert!(operation.end == UNKNOWN, "an operation has one end");
        operation.end = end;
    }

    /// The same of an erase that is suspended then: what was opened is a part of it.
    pub(crate) fn suspend(&mut self, ticket: Ticket, end: Instant) {
        self.close(ticket, end);
        if self.notifies {
            self.operations.get(ticket.0).action = Action::ErasePart;
        }
    }

    /// An operation begins now, or later.
    #[inline(always)]
    pub(crate) fn operation(&mut self, operation: Operation) {
        if self.notifies && operation.start <= self.now {
            self.operations.list.push(operation);
        } else if self.notifies {
            self.soonest = self.soonest.min(operation.start);
            keep(&mut self.later_operations, operation, |operation| operation.start);
        }
    }

    /// A transfer begins now, or later.
    #[inline]
    pub(crate) fn transfer(&mut self, transfer: Transfer) {
        if self.notifies && transfer.start <= self.now {
            self.transfers.list.push(transfer);
        } else if self.notifies {
            self.keep(transfer.start, Record::Transfer(transfer));
        }
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
        } else {
            self.hold(record);
        }
    }

    fn hold(&mut self, record: Record) {
        match record {
            Record::Operation(operation) => self.operations.list.push(operation),
            Record::Transfer(transfer) => self.transfers.list.push(transfer),
            record => self.others.list.push(record),
        }
    }

    /// Keeps a record until it is its time.
    fn keep(&mut self, start: Instant, record: Record) {
        match record {
            Record::Operation(operation) => self.operation(operation),
            record => {
                self.soonest = self.soonest.min(start);
                keep(&mut self.later, record, Record::start);
            }
        }
    }

    /// It is now `now`, or that and nothing has happened yet: now and then, what nothing can
    /// precede is passed on.
    #[inline]
    pub(crate) fn passes(&mut self, now: Instant) {
        self.advance(now);
        if self.held() >= self.enough {
            self.notify(now);
        }
    }

    /// How much is held of what decides when to look again.
    #[inline]
    fn held(&self) -> usize {
        self.operations.list.len() + self.others.list.len()
    }

    /// Nothing from before `now` comes any more, but the ends of what is open.
    #[inline(always)]
    fn advance(&mut self, now: Instant) {
        if self.soonest <= now {
            self.reach(now);
        }
        self.now = now.max(self.now);
    }

    /// What was to come by `now` has come.
    fn reach(&mut self, now: Instant) {
        while let Some(operation) = self.later_operations.front().filter(|operation| operation.start <= now) {
            self.operations.list.push(*operation);
            self.later_operations.pop_front();
        }
        while let Some(record) = self.later.front().filter(|record| record.start() <= now) {
            let record = *record;
            self.later.pop_front();
            self.hold(record);
        }
        let operation = self.later_operations.front().map_or(Instant::END, |operation| operation.start);
        self.soonest = self.later.front().map_or(operation, |record| operation.min(record.start()));
    }

    /// Passes on everything from before `now` that nothing can precede any more. Says from when on
    /// something may be missing.
    pub(crate) fn notify_before(&mut self, now: Instant) -> Instant {
        self.advance(now);
        self.notify(now)
    }

    fn notify(&mut self, now: Instant) -> Instant {
        let Sequencer { others, operations, transfers, observer, .. } = self;
        let mut rest = HeldBeside::new(&mut others.list, &mut transfers.list);
        let (mut limit, mut ready) = (now, 0);
        while let Some(&Operation { start, mut end, .. }) = operations.list.get(ready)
            && start < now
        {
            let mut alike = ready + 1;
            if end != UNKNOWN && operations.list.get(alike).is_none_or(|other| other.start != start) {
                rest.pass_on_before(start, observer);
                observer.operations(&operations.list[ready..alike]);
                ready = alike;
                continue;
            }
            while let Some(other) = operations.list.get(alike)
                && other.start == start
            {
                end = end.max(other.end);
                alike += 1;
            }
            // At the end of the run nothing is open any more.
            if end == UNKNOWN && now < Instant::END {
                limit = start;
                break;
            }
            rest.pass_on_before(start, observer);
            let begun = &mut operations.list[ready..alike];
            if begun.len() > 1 && !begun.is_sorted_by_key(|operation| operation.chip) {
                sorting::by_key(begun, |operation| operation.chip);
            }
            pass_on(begun, observer);
            ready = alike;
        }
        rest.pass_on(limit, false, observer);
        let passed = rest.passed;
        others.pass(passed.others);
        operations.pass(ready);
        transfers.pass(passed.transfers);
        self.enough = (2 * self.held()).max(FEW);
        limit
    }

    /// Passes on the rest: nothing is open any more.
    pub(crate) fn finish(mut self) -> O {
        self.advance(Instant::END);
        self.notify(Instant::END);
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
                        let operation = operation(now, chip);
                        open.push((sequencer.open(&operation), operation));
                        continue;
                    }
                    1 if !open.is_empty() => {
                        let (ticket, operation) = open.swap_remove(which.index(open.len()));
                        sequencer.close(ticket, operation.end);
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
                sequencer.close(ticket, operation.end);
                all.push(Record::Operation(operation));
            }
            all.sort_by_key(Record::order);
            prop_assert_eq!(sequencer.finish(), all);
        }
    }
}
