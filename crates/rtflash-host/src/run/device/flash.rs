//! Parts that devices with flash share.

use rtflash_trace::{Observer, Record};

use crate::Command;

/// The records of a run, if an observer wants them.
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
}

impl Observer for Kept {
    fn record(&mut self, record: &Record) {
        if self.wanted {
            self.records.push(*record);
        }
    }
    fn wants_records(&self) -> bool {
        self.wanted
    }
}

/// The first page that a command touches, and how many.
pub(super) fn pages(command: &Command, page_size: u32) -> (u64, u64) {
    let page = u64::from(page_size.max(1));
    let (first, last) = (command.from / page, command.from.saturating_add(command.size.max(1) - 1) / page);
    (first, last - first + 1)
}
