//! The journal: user pages in the order of their writing, each group of them with a checkpoint.
//!
//! It issues the operations of `journal.c` of Dhara, commit 1b166e4, one for one.
//! SPEC.md has the costs of each of its functions.

mod recovery;
mod start;

use crate::nand::{DharaError, MetaPage, NONE, Nand, NandGeometry, PageMeta};
use crate::{RETRIES, at};

/// Which recovery from a failed block is under way.
#[derive(Debug, Clone, Copy, Default)]
struct Recovery {
    active: bool,
    /// All pages of the failed block are copied.
    enumerated: bool,
    /// The block of the dumped metadata failed, too.
    dump_failed: bool,
}

/// The journal, on its chip.
#[derive(Debug, Clone)]
pub struct Journal {
    pub(crate) nand: Nand,
    pub(crate) buffer: MetaPage,
    log2_group: u32,
    epoch: u8,
    bad_now: u32,
    bad_before: u32,
    dirty: bool,
    synced_tail: u32,
    tail: u32,
    head: u32,
    /// The last user page.
    pub(crate) root: u32,
    recovery: Recovery,
    next_recovered: u32,
    recovered_root: u32,
    dump: u32,
}

fn same(a: u32, b: u32, log2: u32) -> bool {
    (a ^ b) >> log2 == 0
}

impl Journal {
    /// The journal of an empty chip (`dhara_journal_init`).
    pub fn new(nand: Nand) -> Journal {
        let geometry = nand.geometry;
        Journal {
            nand,
            buffer: MetaPage::ones(geometry),
            log2_group: geometry.log2_group(),
            epoch: 0,
            bad_now: 0,
            bad_before: geometry.blocks >> 6,
            dirty: false,
            synced_tail: 0,
            tail: 0,
            head: 0,
            root: NONE,
            recovery: Recovery::default(),
            next_recovered: NONE,
            recovered_root: NONE,
            dump: NONE,
        }
    }

    /// Forgets all but the chip.
    pub(crate) fn reset(&mut self) {
        let none = Nand::new(NandGeometry { blocks: 0, ..self.geometry() });
        *self = Journal::new(std::mem::replace(&mut self.nand, none));
    }

    fn geometry(&self) -> NandGeometry {
        self.nand.geometry
    }

    fn group(&self) -> u32 {
        1 << self.log2_group
    }

    fn is_block_start(&self, page: u32) -> bool {
        page.is_multiple_of(1 << self.geometry().log2_block)
    }

    fn next_user(&self, page: u32) -> u32 {
        let next = page.wrapping_add(1);
        let next = if next.wrapping_add(1).is_multiple_of(self.group()) { next.wrapping_add(1) } else { next };
        if next >= self.geometry().pages() { 0 } else { next }
    }

    fn next_block(&self, block: u32) -> u32 {
        if block + 1 >= self.geometry().blocks { 0 } else { block + 1 }
    }

    fn slot(&self, page: u32) -> u32 {
        page & (self.group() - 1)
    }

    /// A new round, once the head is at the first page.
    fn roll_at_start(&mut self) {
        if self.head == 0 {
            self.bad_before = std::mem::take(&mut self.bad_now);
            self.epoch = self.epoch.wrapping_add(1);
        }
    }

    fn end_recovery(&mut self) {
        [self.next_recovered, self.recovered_root, self.dump] = [NONE; 3];
        self.recovery = Recovery::default();
    }

    fn forget_metas(&mut self) {
        self.buffer.metas.fill(PageMeta::ONES);
    }

    /// User pages that it holds at most (`dhara_journal_capacity`).
    pub(crate) fn capacity(&self) -> u32 {
        let bad = self.bad_before.max(self.bad_now);
        let good = self.geometry().blocks.wrapping_sub(bad).wrapping_sub(1);
        let groups = good << (self.geometry().log2_block - self.log2_group);
        (groups << self.log2_group).wrapping_sub(groups)
    }

    /// User pages from the tail of the last checkpoint to the head (`dhara_journal_size`).
    pub(crate) fn size(&self) -> u32 {
        let around = if self.head < self.synced_tail { self.geometry().pages() } else { 0 };
        let pages = self.head + around - self.synced_tail;
        let groups = (self.head + around) >> self.log2_group;
        pages - (groups - (self.synced_tail >> self.log2_group))
    }

    pub(crate) fn is_clean(&self) -> bool {
        !self.dirty
    }

    pub(crate) fn in_recovery(&self) -> bool {
        self.recovery.active
    }

    pub(crate) fn read_meta(&mut self, page: u32) -> PageMeta {
        let slot = self.slot(page);
        if same(page, self.head, self.log2_group) {
            return self.buffer.metas[at(slot)];
        }
        let dumped = self.dump != NONE && same(page, self.recovered_root, self.log2_group);
        let from = if dumped { self.dump } else { page | (self.group() - 1) };
        self.nand.read_meta(from, slot)
    }

    /// The oldest user page, past bad blocks.
    pub(crate) fn peek(&mut self) -> Option<u32> {
        if self.head == self.tail {
            return None;
        }
        let log2 = self.geometry().log2_block;
        if self.is_block_start(self.tail) {
            let mut block = self.tail >> log2;
            for _ in 0..RETRIES {
                if block == self.head >> log2 || !self.nand.is_bad(block) {
                    self.tail = block << log2;
                    if self.tail == self.head {
                        self.root = NONE;
                    }
                    break;
                }
                block = self.next_block(block);
            }
        }
        Some(self.tail)
    }

    pub(crate) fn dequeue(&mut self) {
        if self.head == self.tail {
            return;
        }
        self.tail = self.next_user(self.tail);
        if !self.dirty && !self.recovery.active {
            self.synced_tail = self.tail;
        }
        let chip = self.geometry().pages();
        let before_head = |page: u32| {
            let pages = (self.head + chip).wrapping_sub(page);
            if pages >= chip { pages - chip } else { pages }
        };
        if before_head(self.root) > before_head(self.tail) {
            self.root = NONE;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.tail = self.head;
        self.root = NONE;
        self.dirty = true;
        self.forget_metas();
    }

    fn skip_block(&mut self) -> Result<(), DharaError> {
        let log2 = self.geometry().log2_block;
        let next = self.next_block(self.head >> log2);
        if self.synced_tail >> log2 == next {
            return Err(DharaError::JournalFull);
        }
        self.head = next << log2;
        self.roll_at_start();
        Ok(())
    }

    fn prepare_head(&mut self) -> Result<(), DharaError> {
        let (next, log2) = (self.next_user(self.head), self.geometry().log2_block);
        if same(next, self.synced_tail, log2) && !same(next, self.head, log2) {
            return Err(DharaError::JournalFull);
        }
        self.dirty = true;
        if !self.is_block_start(self.head) {
            return Ok(());
        }
        for _ in 0..RETRIES {
            let block = self.head >> log2;
            if !self.nand.is_bad(block) {
                return self.nand.erase(block);
            }
            self.bad_now += 1;
            self.skip_block()?;
        }
        Err(DharaError::TooBad)
    }

    /// Appends a page by `program`, which gets the head (`dhara_journal_enqueue`, `_copy`).
    fn append(
        &mut self,
        meta: PageMeta,
        program: impl Fn(&mut Nand, u32) -> Result<(), DharaError>,
    ) -> Result<(), DharaError> {
        for _ in 0..RETRIES {
            let head = self.prepare_head().and_then(|()| program(&mut self.nand, self.head));
            match head {
                Ok(()) => return self.push_meta(meta),
                Err(failure) => self.recover_from(failure)?,
            }
        }
        Err(DharaError::TooBad)
    }

    /// Appends new data.
    pub(crate) fn enqueue(&mut self, meta: PageMeta) -> Result<(), DharaError> {
        self.append(meta, Nand::program)
    }

    /// Appends a filler that is not even programmed.
    pub(crate) fn enqueue_nothing(&mut self) -> Result<(), DharaError> {
        self.append(PageMeta::ONES, |_, _| Ok(()))
    }

    /// Appends a copy of a page.
    pub(crate) fn copy(&mut self, from: u32, meta: PageMeta) -> Result<(), DharaError> {
        self.append(meta, |nand, to| nand.copy(from, to))
    }

    fn push_meta(&mut self, meta: PageMeta) -> Result<(), DharaError> {
        let user = self.head;
        let slot = at(self.slot(user));
        self.buffer.metas[slot] = meta;
        if !(user + 2).is_multiple_of(self.group()) {
            self.root = user;
            self.head += 1;
            return Ok(());
        }
        self.buffer.stamped = true;
        self.buffer.epoch = self.epoch;
        self.buffer.tail = self.tail;
        self.buffer.bad_now = self.bad_now;
        self.buffer.bad_before = self.bad_before;
        if let Err(failure) = self.nand.program_checkpoint(user + 1, &self.buffer) {
            return self.recover_from(failure);
        }
        self.dirty = false;
        self.root = user;
        self.head = self.next_user(user);
        self.roll_at_start();
        if self.recovery.enumerated {
            self.finish_recovery();
        }
        if !self.recovery.active {
            self.synced_tail = self.tail;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The C code's line for it (journal.c 549). No history of calls comes here: where the tail has
    /// passed the last page, `dequeue` has forgotten the root already.
    #[test]
    fn a_tail_that_jumps_to_the_head_forgets_the_root() {
        let geometry = NandGeometry { log2_page: 11, log2_block: 6, blocks: 16 };
        let mut journal = Journal::new(Nand::new(geometry));
        journal.nand.factory_bad(1);
        [journal.tail, journal.head, journal.root] = [1 << 6, 2 << 6, 5];
        assert_eq!(journal.peek(), Some(2 << 6));
        assert_eq!(journal.root, NONE);
        [journal.tail, journal.root] = [1 << 6, 5];
        journal.head += 1;
        assert_eq!(journal.peek(), Some(2 << 6));
        assert_eq!(journal.root, 5);
    }
}
