//! Blocks that fail: what they have is copied (`recover_from`).

use super::{Journal, same};
use crate::RETRIES;
use crate::nand::{DharaError, NONE};

impl Journal {
    fn start_of_failed(&self) -> u32 {
        self.recovered_root & !((1 << self.geometry().log2_block) - 1)
    }

    /// The head's block failed; `Ok` where its first page did, and nothing is lost.
    pub(super) fn recover_from(&mut self, failure: DharaError) -> Result<(), DharaError> {
        if failure != DharaError::BadBlock {
            return Err(failure);
        }
        let (failed, log2) = (self.head, self.geometry().log2_block);
        self.bad_now += 1;
        self.skip_block()?;
        if self.recovery.active {
            if self.dump == NONE || !same(self.dump, failed, log2) {
                self.nand.mark_bad(failed >> log2);
            } else {
                self.recovery.dump_failed = true;
            }
            self.recovery.enumerated = false;
            self.next_recovered = self.start_of_failed();
            self.root = self.recovered_root;
            return Err(DharaError::Recover);
        }
        if self.is_block_start(failed) {
            self.nand.mark_bad(failed >> log2);
            return Ok(());
        }
        if self.root == NONE {
            return Err(DharaError::NoRoot);
        }
        self.recovered_root = self.root;
        self.next_recovered = self.start_of_failed();
        if !failed.is_multiple_of(self.group()) {
            self.dump_metas()?;
        }
        self.recovery.active = true;
        Err(DharaError::Recover)
    }

    /// The metadata of the unfinished group go to a page of the next block.
    fn dump_metas(&mut self) -> Result<(), DharaError> {
        for _ in 0..RETRIES {
            let head = self.prepare_head().and_then(|()| self.nand.program_checkpoint(self.head, &self.buffer));
            match head {
                Ok(()) => {
                    self.dump = self.head;
                    self.head = self.next_user(self.head);
                    self.roll_at_start();
                    self.forget_metas();
                    return Ok(());
                }
                Err(DharaError::BadBlock) => {
                    self.bad_now += 1;
                    self.nand.mark_bad(self.head >> self.geometry().log2_block);
                    self.skip_block()?;
                }
                Err(other) => return Err(other),
            }
        }
        Err(DharaError::TooBad)
    }

    pub(super) fn finish_recovery(&mut self) {
        let log2 = self.geometry().log2_block;
        self.nand.mark_bad(self.recovered_root >> log2);
        if self.recovery.dump_failed {
            self.nand.mark_bad(self.dump >> log2);
        }
        self.end_recovery();
    }

    /// The next page of the failed block that has to be copied; `None` after the last.
    pub(crate) fn next_recoverable(&mut self) -> Option<u32> {
        if !self.recovery.active || self.recovery.enumerated {
            return None;
        }
        let page = self.next_recovered;
        if page == self.recovered_root {
            self.recovery.enumerated = true;
        } else {
            self.next_recovered = self.next_user(page);
        }
        Some(page)
    }
}
