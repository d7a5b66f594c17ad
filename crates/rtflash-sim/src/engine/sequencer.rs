//! Puts records into the order of a trace: the end of an operation may be known late, and a record
//! may be known before its time.

use rtflash_model::Instant;
use rtflash_plan::resume::resume;
use rtflash_trace::{Action, Observer, Operation, Record};
use serde::{Deserialize, Serialize};

use super::slab::Slab;

/// Records that are held before it is worth to look which of them are ready.
const FEW: usize = 128;

/// An operation whose end is to come, by its place in [`Sequencer::open`]. There is none where no
/// records are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ticket(Option<usize>);

/// Holds records back until no other can come before them.
#[derive(Debug)]
pub(crate) struct Sequencer<O> {
    held: Vec<Record>,
    /// Operations whose ends are to come. A place without an operation is free.
    open: Slab<Option<Operation>>,
    enough: usize,
    wants_records: bool,
    wants_order: bool,
    observer: O,
}

resume!([O] Sequencer<O> {
    values: [held, open, enough],
    parts: [],
    lists: [],
    made: [wants_records, wants_order, observer],
});

impl<O: Observer> Sequencer<O> {
    pub(crate) fn new(observer: O) -> Self {
        let (wants_records, wants_order) = (observer.wants_records(), observer.wants_order());
        Sequencer { held: Vec::new(), open: Slab::default(), enough: FEW, wants_records, wants_order, observer }
    }

    #[inline(always)]
    pub(crate) fn open(&mut self, operation: &Operation) -> Ticket {
        Ticket(self.wants_records.then(|| self.open.insert(Some(*operation))))
    }

    #[inline]
    pub(crate) fn close(&mut self, ticket: Ticket, end: Instant) {
        let Some(place) = ticket.0 else { return };
        let operation = self.open[place].take().expect("an operation has one end");
        self.open.remove(place);
        self.push(Record::Operation(Operation { end, ..operation }));
    }

    /// An erase that was opened is suspended then: the operation was a part of it.
    pub(crate) fn suspend(&mut self, ticket: Ticket, end: Instant) {
        let Some(place) = ticket.0 else { return };
        let erase = self.open[place].as_mut().expect("an erase under way has no end");
        erase.action = Action::ErasePart;
        self.close(ticket, end);
    }

    #[inline]
    pub(crate) fn push(&mut self, record: Record) {
        if self.wants_records && self.wants_order {
            self.held.push(record);
        } else if self.wants_records {
            self.observer.record(&record);
        }
    }

    /// It is now `now`: at times, what nothing can precede is passed on.
    #[inline]
    pub(crate) fn passes(&mut self, now: Instant) {
        if self.held.len() >= self.enough {
            self.notify_before(now);
            self.enough = (2 * self.held.len()).max(FEW);
        }
    }

    /// Passes on everything from before `now` that nothing can precede. Says from when on something
    /// may be missing.
    pub(crate) fn notify_before(&mut self, now: Instant) -> Instant {
        let begun = self.open.iter().flatten().map(|operation| operation.start);
        let limit = begun.fold(now, Instant::min);
        self.held.sort_by_cached_key(Record::order);
        let ready = self.held.partition_point(|record| record.start() < limit);
        self.held.drain(..ready).for_each(|record| self.observer.record(&record));
        limit
    }

    pub(crate) fn finish(mut self) -> O {
        let limit = self.notify_before(Instant::END);
        assert!(limit == Instant::END && self.held.is_empty(), "everything has ended");
        self.observer
    }

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
    use rtflash_model::{ChipId, ClusterId, Lpn};
    use rtflash_plan::{BlockId, SourceId};
    use rtflash_trace::{Action, Complete, JobId, Kind, Reserve};

    use super::*;

    fn at(nanoseconds: u64) -> Instant {
        Instant::from_ns(nanoseconds).expect("a moment")
    }

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
        /// Observers are notified in the order of a trace, whether an event is known late or early.
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
