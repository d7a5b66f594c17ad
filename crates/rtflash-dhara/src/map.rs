//! The map from sectors to pages, kept in the metadata of the journal.
//!
//! It issues the operations of `map.c` of Dhara, commit 1b166e4, one for one.

use crate::journal::Journal;
use crate::nand::{DharaError, NONE, Nand, PageMeta};
use crate::{RETRIES, at};

/// A map that a driver of a disk has: `struct dhara_map`.
#[derive(Debug, Clone)]
pub(crate) struct Map {
    journal: Journal,
    gc_ratio: u32,
    count: u32,
}

/// A walk from the root to a sector.
struct Walk {
    /// The sector's page; `None` where it has none.
    page: Option<u32>,
    /// The pages of the other halves of its subtrees, for a page of it that is written now.
    meta: PageMeta,
}

impl Map {
    /// A map of no sectors, before its first start.
    pub(crate) fn new(nand: Nand, gc_ratio: u32) -> Map {
        Map { journal: Journal::new(nand), gc_ratio: gc_ratio.max(1), count: 0 }
    }

    /// Starts on the chip (`dhara_map_init`, `dhara_map_resume`). If it has no map, an empty one
    /// begins.
    pub(crate) fn start(&mut self) -> Result<(), DharaError> {
        self.journal.reset();
        let found = self.journal.resume();
        self.count = if found.is_ok() { self.journal.buffer.count } else { 0 };
        found
    }

    pub(crate) fn nand(&mut self) -> &mut Nand {
        &mut self.journal.nand
    }

    /// Sectors that it can hold (`dhara_map_capacity`).
    pub(crate) fn capacity(&self) -> u32 {
        let capacity = self.journal.capacity();
        let reserve = capacity / (self.gc_ratio + 1);
        let margin = 8 << self.journal.nand.geometry.log2_block;
        capacity.saturating_sub(reserve).saturating_sub(margin)
    }

    /// (`trace_path`)
    fn walk(&mut self, sector: u32) -> Walk {
        let mut walk = Walk { page: None, meta: PageMeta { sector, ..PageMeta::ONES } };
        let mut page = self.journal.root;
        if page == NONE {
            return walk;
        }
        let mut meta = self.journal.read_meta(page);
        for depth in 0..32 {
            if meta.sector == NONE {
                return walk;
            }
            let other = meta.others[at(depth)];
            if (sector ^ meta.sector) & (1 << (31 - depth)) == 0 {
                walk.meta.others[at(depth)] = other;
                continue;
            }
            walk.meta.others[at(depth)] = page;
            page = other;
            if page == NONE {
                return walk;
            }
            meta = self.journal.read_meta(page);
        }
        walk.page = Some(page);
        walk
    }

    /// Reads a sector. One without a page reads as ones.
    pub(crate) fn read(&mut self, sector: u32) {
        if let Some(page) = self.walk(sector).page {
            self.journal.nand.read_data(page);
        }
    }

    /// Copies a page to the head if it is its sector's (`raw_gc`).
    fn move_up(&mut self, page: u32) -> Result<(), DharaError> {
        let meta = self.journal.read_meta(page);
        if meta.sector == NONE {
            return Ok(());
        }
        let walk = self.walk(meta.sector);
        if walk.page != Some(page) {
            return Ok(());
        }
        self.journal.buffer.count = self.count;
        self.journal.copy(page, walk.meta)
    }

    /// Fills the group with a copy of the last page (`pad_queue`).
    fn pad(&mut self) -> Result<(), DharaError> {
        let root = self.journal.root;
        self.journal.buffer.count = self.count;
        if root == NONE {
            return self.journal.enqueue_nothing();
        }
        let meta = self.journal.read_meta(root);
        self.journal.copy(root, meta)
    }

    /// Copies what a failed block has; other causes are passed on (`try_recover`).
    fn recover(&mut self, cause: DharaError) -> Result<(), DharaError> {
        if cause != DharaError::Recover {
            return Err(cause);
        }
        let mut restarts = 0;
        while self.journal.in_recovery() {
            let step = match self.journal.next_recoverable() {
                Some(page) => self.move_up(page),
                None => self.pad(),
            };
            match step {
                Ok(()) => {}
                Err(DharaError::Recover) if restarts < RETRIES => restarts += 1,
                Err(DharaError::Recover) => return Err(DharaError::TooBad),
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    /// (`auto_gc`)
    fn collect(&mut self) -> Result<(), DharaError> {
        if self.journal.size() < self.capacity() {
            return Ok(());
        }
        (0..=self.gc_ratio).try_for_each(|_| self.collect_one())
    }

    /// (`dhara_map_gc`)
    fn collect_one(&mut self) -> Result<(), DharaError> {
        if self.count == 0 {
            return Ok(());
        }
        while let Some(tail) = self.journal.peek() {
            match self.move_up(tail) {
                Ok(()) => {
                    self.journal.dequeue();
                    break;
                }
                Err(cause) => self.recover(cause)?,
            }
        }
        Ok(())
    }

    /// Writes a sector.
    pub(crate) fn write(&mut self, sector: u32) -> Result<(), DharaError> {
        loop {
            let before = self.count;
            self.collect()?;
            let walk = self.walk(sector);
            if walk.page.is_none() {
                if self.count >= self.capacity() {
                    return Err(DharaError::MapFull);
                }
                self.count += 1;
            }
            self.journal.buffer.count = self.count;
            match self.journal.enqueue(walk.meta) {
                Ok(()) => return Ok(()),
                Err(cause) => {
                    self.count = before;
                    self.recover(cause)?;
                }
            }
        }
    }

    /// (`try_delete`)
    fn delete(&mut self, sector: u32) -> Result<(), DharaError> {
        let walk = self.walk(sector);
        if walk.page.is_none() {
            return Ok(());
        }
        let Some(level) = walk.meta.others.iter().rposition(|&other| other != NONE) else {
            self.count = 0;
            self.journal.clear();
            return Ok(());
        };
        let cousin = walk.meta.others[level];
        let theirs = self.journal.read_meta(cousin);
        let mut meta = walk.meta;
        meta.sector = theirs.sector;
        meta.others[level] = NONE;
        meta.others[level + 1..].copy_from_slice(&theirs.others[level + 1..]);
        self.journal.buffer.count = self.count.wrapping_sub(1);
        self.journal.copy(cousin, meta)?;
        self.count -= 1;
        Ok(())
    }

    /// Forgets a sector.
    pub(crate) fn trim(&mut self, sector: u32) -> Result<(), DharaError> {
        loop {
            self.collect()?;
            match self.delete(sector) {
                Ok(()) => return Ok(()),
                Err(cause) => self.recover(cause)?,
            }
        }
    }

    /// Makes all that was written last, whatever happens.
    pub(crate) fn sync(&mut self) -> Result<(), DharaError> {
        while !self.journal.is_clean() {
            let step = match self.journal.peek() {
                None => self.pad(),
                Some(tail) => self.move_up(tail).map(|()| self.journal.dequeue()),
            };
            if let Err(cause) = step {
                self.recover(cause)?;
            }
        }
        Ok(())
    }
}
