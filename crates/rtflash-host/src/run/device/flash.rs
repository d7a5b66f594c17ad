//! What devices with flash in them have in common.

use rtflash_exec::trace::{
    Complete, LeftOut, Moved, Observer, Operation, Padding, Record, Release, Reserve, Selection, Setup, Starved,
    Transfer,
};

use crate::Command;

/// The records of a run, where somebody wants them.
#[derive(Debug, Default)]
pub(super) struct Kept {
    wanted: bool,
    records: Vec<Record>,
}

impl Kept {
    /// Keeps them if they are wanted.
    pub(super) fn new(wanted: bool) -> Kept {
        Kept { wanted, records: Vec::new() }
    }

    /// Those since the last time.
    pub(super) fn take(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.records)
    }

    fn keep(&mut self, record: Record) {
        if self.wanted {
            self.records.push(record);
        }
    }
}

impl Observer for Kept {
    fn is_notified(&self) -> bool {
        self.wanted
    }
    fn release(&mut self, release: &Release) {
        self.keep(Record::Release(*release));
    }
    fn complete(&mut self, complete: &Complete) {
        self.keep(Record::Complete(*complete));
    }
    fn starved(&mut self, starved: &Starved) {
        self.keep(Record::Starved(*starved));
    }
    fn operations(&mut self, operations: &[Operation]) {
        operations.iter().for_each(|operation| self.keep(Record::Operation(*operation)));
    }
    fn transfer(&mut self, transfer: &Transfer) {
        self.keep(Record::Transfer(*transfer));
    }
    fn setup(&mut self, setup: &Setup) {
        self.keep(Record::Setup(*setup));
    }
    fn reserve(&mut self, reserve: &Reserve) {
        self.keep(Record::Reserve(*reserve));
    }
    fn left_out(&mut self, left_out: &LeftOut) {
        self.keep(Record::LeftOut(*left_out));
    }
    fn moved(&mut self, moved: &Moved) {
        self.keep(Record::Moved(*moved));
    }
    fn selected(&mut self, selection: &Selection) {
        self.keep(Record::Selected(*selection));
    }
    fn padding(&mut self, padding: &Padding) {
        self.keep(Record::Padding(*padding));
    }
}

/// The first page that a command touches, and how many.
pub(super) fn pages(command: &Command, page_size: u32) -> (u64, u64) {
    let page = u64::from(page_size.max(1));
    let (first, last) = (command.from / page, command.from.saturating_add(command.size.max(1) - 1) / page);
    (first, last - first + 1)
}
