//! What is passed on beside operations.

use rtflash_model::Instant;
use rtflash_model::sorting;

use crate::trace::{Observer, Record, Transfer};

/// What is passed on beside operations, and how much of it has been.
pub(super) struct HeldBeside<'r> {
    others: &'r mut [Record],
    transfers: &'r mut [Transfer],
    pub(super) passed: PassedOn,
    /// When each of them goes on: at the end of time where there are no more.
    next: NextBeside,
}

/// How much has been passed on.
#[derive(Default)]
pub(super) struct PassedOn {
    pub(super) others: usize,
    pub(super) transfers: usize,
}

/// When something is next.
struct NextBeside {
    other: Instant,
    transfer: Instant,
}

impl<'r> HeldBeside<'r> {
    pub(super) fn new(others: &'r mut [Record], transfers: &'r mut [Transfer]) -> HeldBeside<'r> {
        let next = NextBeside { other: Instant::END, transfer: Instant::END };
        let mut beside = HeldBeside { others, transfers, passed: PassedOn::default(), next };
        beside.next = NextBeside { other: beside.next_other(), transfer: beside.next_transfer() };
        beside
    }

    #[inline]
    fn next_other(&self) -> Instant {
        self.others.get(self.passed.others).map_or(Instant::END, Record::start)
    }

    #[inline]
    fn next_transfer(&self) -> Instant {
        self.transfers.get(self.passed.transfers).map_or(Instant::END, |transfer| transfer.start)
    }

    /// Passes on what comes before the operations that begin at this instant.
    #[inline(always)]
    pub(super) fn pass_on_before(&mut self, start: Instant, observer: &mut impl Observer) {
        if self.next.other <= start {
            self.pass_on(start, true, observer);
        }
        while self.next.transfer < start {
            self.pass_on_transfers(observer);
        }
    }

    /// Passes on what comes before this instant, and what there is at it but transfers, if it is
    /// `whole`.
    pub(super) fn pass_on(&mut self, limit: Instant, whole: bool, observer: &mut impl Observer) {
        loop {
            let NextBeside { other, transfer } = self.next;
            let is_due = |at: Instant| at < limit || whole && at == limit;
            // At one instant transfers come last.
            if other <= transfer && is_due(other) {
                let rest = &mut self.others[self.passed.others..];
                let alike = rest.iter().take_while(|record| record.start() == other).count();
                sorting::by_key(&mut rest[..alike], Record::order);
                rest[..alike].iter().for_each(|record| observer.record(record));
                self.passed.others += alike;
                self.next.other = self.next_other();
            } else if transfer < limit {
                self.pass_on_transfers(observer);
            } else {
                return;
            }
        }
    }

    /// Passes on the next transfers, which begin at one instant.
    #[inline(always)]
    fn pass_on_transfers(&mut self, observer: &mut impl Observer) {
        let (first, begun) = (self.passed.transfers, self.next.transfer);
        self.passed.transfers += 1;
        self.next.transfer = self.next_transfer();
        if self.next.transfer != begun {
            observer.transfer(&self.transfers[first]);
            return;
        }
        while self.next.transfer == begun && self.passed.transfers < self.transfers.len() {
            self.passed.transfers += 1;
            self.next.transfer = self.next_transfer();
        }
        let alike = &mut self.transfers[first..self.passed.transfers];
        if alike.len() > 1 {
            sorting::by_key(alike, |transfer| transfer.channel);
        }
        alike.iter().for_each(|transfer| observer.transfer(transfer));
    }
}
