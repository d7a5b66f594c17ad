//! The start: where the journal is on a chip (`dhara_journal_resume`).

use super::{Journal, same};
use crate::RETRIES;
use crate::nand::DharaError;

impl Journal {
    /// The first of the next blocks that has a checkpoint (`find_checkblock`).
    fn block_with_checkpoint(&mut self, from: u32) -> Option<u32> {
        for block in (from..self.geometry().blocks).take(RETRIES) {
            if self.nand.is_bad(block) {
                continue;
            }
            let page = (block << self.geometry().log2_block) | (self.group() - 1);
            self.buffer = self.nand.read_checkpoint(page);
            if self.buffer.stamped {
                return Some(block);
            }
        }
        None
    }

    /// (`find_last_checkblock`)
    fn last_block_of_epoch(&mut self, first: u32) -> u32 {
        let [mut low, mut high] = [first, self.geometry().blocks - 1];
        while low <= high {
            let middle = low.midpoint(high);
            let found = self.block_with_checkpoint(middle).filter(|_| self.buffer.epoch == self.epoch);
            let Some(found) = found else {
                if middle == 0 {
                    return first;
                }
                high = middle - 1;
                continue;
            };
            if found + 1 >= self.geometry().blocks {
                return found;
            }
            match self.block_with_checkpoint(found + 1).filter(|_| self.buffer.epoch == self.epoch) {
                Some(next) => low = next,
                None => return found,
            }
        }
        first
    }

    fn is_group_free(&mut self, first: u32) -> bool {
        (first..first + self.group()).all(|page| self.nand.is_free(page))
    }

    /// (`find_last_group`)
    fn last_group(&mut self, block: u32) -> u32 {
        let first = block << self.geometry().log2_block;
        let groups = 1_i64 << (self.geometry().log2_block - self.log2_group);
        let [mut low, mut high] = [0, groups - 1];
        while low <= high {
            let middle = i64::midpoint(low, high);
            let page = first | (u32::try_from(middle).expect("groups of a block") << self.log2_group);
            if self.is_group_free(page) {
                high = middle - 1;
            } else if middle + 1 >= groups || self.is_group_free(page + self.group()) {
                return page;
            } else {
                low = middle + 1;
            }
        }
        first
    }

    fn find_root(&mut self, from: u32) -> Result<(), DharaError> {
        let first = from & !((1 << self.geometry().log2_block) - 1);
        let mut group = from & !(self.group() - 1);
        loop {
            let page = group + self.group() - 1;
            self.buffer = self.nand.read_checkpoint(page);
            if self.buffer.stamped && self.buffer.epoch == self.epoch {
                self.root = page - 1;
                return Ok(());
            }
            if group == first {
                return Err(DharaError::TooBad);
            }
            group -= self.group();
        }
    }

    fn find_head(&mut self, from: u32) {
        self.head = self.next_user(from);
        self.roll_at_start();
        loop {
            let group = self.group();
            let first = self.head & !(group - 1);
            let mut free = 0;
            while free < group && self.nand.is_free(first + group - free - 1) {
                free += 1;
            }
            if free > 1 {
                self.head = first + group - free;
                return;
            }
            self.head = first + group;
            if self.head >= self.geometry().pages() {
                self.head = 0;
                self.roll_at_start();
            }
            if self.is_block_start(self.head) {
                let log2 = self.geometry().log2_block;
                if same(self.head, self.tail, log2) {
                    self.tail = self.next_block(self.tail >> log2) << log2;
                }
                return;
            }
        }
    }

    fn try_resume(&mut self) -> Result<(), DharaError> {
        let first = self.block_with_checkpoint(0).ok_or(DharaError::TooBad)?;
        self.epoch = self.buffer.epoch;
        let last = self.last_block_of_epoch(first);
        let group = self.last_group(last);
        self.find_root(group)?;
        self.tail = self.buffer.tail;
        self.bad_now = self.buffer.bad_now;
        self.bad_before = self.buffer.bad_before;
        self.forget_metas();
        self.find_head(group);
        self.dirty = false;
        self.synced_tail = self.tail;
        self.end_recovery();
        Ok(())
    }

    /// Finds the journal on the chip; an empty one where there is none.
    pub(crate) fn resume(&mut self) -> Result<(), DharaError> {
        self.try_resume().inspect_err(|_| self.reset())
    }
}
