//! What processors do that run ahead, each on its own clock, while nothing is released. It is
//! passed on at once, as it comes: of each cluster, and on each channel, in order.

use rtflash_model::{Instant, sorting};

use super::{Sequencer, Ticket, UNKNOWN, is_one_step};
use crate::ids::ChipId;
use crate::trace::{Observer, OnBus, Operation, Record, StepBatch};

/// So many pages of steps are passed on together.
const MANY: usize = 128;

impl<O: Observer> Sequencer<O> {
    /// Processors run ahead from now on: all that began before has been passed on. Says whether
    /// that is so.
    pub(crate) fn runs_ahead(&mut self, now: Instant) -> bool {
        if !self.notifies {
            return true;
        }
        self.notify_before(now);
        let is_over = self.held() + self.transfers.list.len() == 0 && self.soonest == Instant::END;
        if is_over {
            // Whatever comes has begun.
            (self.ahead, self.now) = ((self.now, false), Instant::END);
        }
        is_over
    }

    /// Whether what they do is kept back.
    #[inline]
    pub(crate) fn keeps_back(&self) -> bool {
        self.ahead.1
    }

    /// Operations over buses: what they do for other jobs beside is told behind them.
    #[inline(never)]
    pub(crate) fn step(&mut self, mut operations: &[Operation], mut buses: &[OnBus]) {
        while let Some((first, others)) = operations.split_first() {
            let alike = 1 + others.iter().take_while(|other| is_one_step(first, other)).count();
            let (step, on) = (operations.split_at(alike), buses.split_at(alike));
            if !self.steps.push(step.0, on.0) && self.notifies {
                self.pass_on_steps();
                self.observer.step(step.0, on.0);
            }
            (operations, buses) = (step.1, on.1);
        }
        self.has_steps();
    }

    /// Where steps on one bus are added: [`has_steps`](Sequencer::has_steps) behind each of them.
    #[inline(always)]
    pub(crate) fn steps(&mut self) -> &mut StepBatch {
        &mut self.steps
    }

    /// Some have been added.
    #[inline(always)]
    pub(crate) fn has_steps(&mut self) {
        if self.steps.pages().len() >= MANY {
            self.pass_on_steps();
        }
    }

    /// Passes on the steps over buses until now.
    #[inline(never)]
    fn pass_on_steps(&mut self) {
        if self.notifies && !self.steps.steps().is_empty() {
            self.observer.steps(&self.steps);
        }
        self.steps.clear();
    }

    /// Passes on what a processor has done at one instant without a bus.
    #[inline]
    pub(crate) fn passes_step(&mut self) {
        if self.held() > 0 && !self.ahead.1 {
            self.pass_on_step();
        }
    }

    #[inline(never)]
    fn pass_on_step(&mut self) {
        self.pass_on_steps();
        let Sequencer { others, operations, observer, .. } = self;
        if let [record] = &others.list[..] {
            observer.record(record);
        } else {
            sorting::by_key(&mut others.list, Record::order);
            others.list.iter().for_each(|record| observer.record(record));
        }
        if !operations.list.is_empty() {
            sorting::by_key(&mut operations.list, |operation| operation.chip);
            observer.operations(&operations.list);
        }
        others.pass(others.list.len());
        operations.pass(operations.list.len());
    }

    /// A page on its bus, beside which others want theirs: what has come of that is put into order
    /// when it is complete.
    pub(crate) fn keep_back(&mut self, operation: &Operation, bus: &OnBus) {
        self.pass_on_steps();
        self.ahead.1 = true;
        if self.notifies {
            self.operations.list.push(*operation);
            self.transfers.list.push(operation.transfer(bus));
        }
    }

    /// What has been kept back is complete.
    pub(crate) fn passes_kept(&mut self) {
        self.put_into_order();
        self.notify(Instant::END);
        self.ahead.1 = false;
    }

    /// An operation has no bus yet.
    pub(crate) fn keep_open(&mut self, operation: &Operation) {
        if self.notifies {
            self.operations.list.push(Operation { end: UNKNOWN, ..*operation });
        }
    }

    /// Processors go on one by one.
    pub(crate) fn goes_on(&mut self) {
        if self.notifies {
            self.pass_on_steps();
            self.put_into_order();
            (self.now, self.ahead) = (self.ahead.0, (Instant::START, false));
        }
    }

    /// The place of an operation that has no bus yet.
    pub(crate) fn ticket_of(&self, chip: ChipId, start: Instant) -> Ticket {
        let order = |operation: &Operation| (operation.start, operation.chip);
        let place = self.operations.list.partition_point(|operation| order(operation) < (start, chip));
        Ticket(self.operations.passed + place as u64)
    }

    fn put_into_order(&mut self) {
        sorting::by_key(&mut self.others.list, Record::order);
        sorting::by_key(&mut self.operations.list, |operation| (operation.start, operation.chip));
        sorting::by_key(&mut self.transfers.list, |transfer| transfer.start);
    }
}
