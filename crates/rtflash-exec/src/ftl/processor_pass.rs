//! Garbage collection of a processor: one pass, step by step.

use serde::{Deserialize, Serialize};

use super::processor_store::ProcessorStore;
use super::store::{PagePlace, PageStore};
use crate::ids::{BlockId, ColumnId, Lpn, PageId, PerId};

/// What a pass does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GcStep {
    /// Copies a page inside the chip (stripe): where it is, where it goes, what it is.
    Copyback(PagePlace, PagePlace, Lpn),
    /// Reads a page on each chip that has one left (superblock).
    Read(Vec<(PagePlace, Lpn)>),
    /// Programs pages that were read, a row at most (superblock).
    Row(Vec<(PagePlace, Lpn)>),
    /// Lets the time of such a step pass: with worst victims.
    PaddingCopyback,
    /// Likewise, of so many pages on one channel.
    PaddingRead(u32),
    /// Likewise.
    PaddingRow,
    /// No free page to copy to.
    Starved,
    /// Erases the victim on all chips.
    Erase(BlockId),
}

/// The only chip of a processor of a stripe, and the first one of a superblock.
const FIRST: ColumnId = ColumnId(0);

/// A pass under way.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PassState {
    victim: BlockId,
    /// The first row of the victim not looked at yet, on each chip.
    rows: PerId<ColumnId, u32>,
    /// Pages read and not programmed yet, with where they were.
    buffered: Vec<(PageId, Lpn)>,
    /// Read steps, or copies, so far; and row steps.
    steps: (u64, u64),
    /// Pages read so far.
    pages: u64,
    /// The next page to be copied on the first chip, as far as it is known already: its row, where
    /// it is, and what it is.
    found: Option<(u32, PageId, Lpn)>,
    /// What is taken at least.
    padded: PaddedPass,
}

/// What a pass takes at least, with worst victims.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct PaddedPass {
    /// Copies (stripe), or read steps (superblock).
    pub(crate) copies: u64,
    /// Row steps.
    pub(crate) rows: u64,
    /// Pages read.
    pub(crate) pages: u64,
    /// Chips on the channel that has most.
    pub(crate) most: u32,
}

impl PassState {
    /// A pass over this victim of a processor of `width` chips.
    pub(crate) fn new(victim: BlockId, width: u32, padded: PaddedPass) -> PassState {
        PassState {
            victim,
            rows: PerId::filled(0, width),
            buffered: Vec::new(),
            steps: (0, 0),
            pages: 0,
            found: None,
            padded,
        }
    }

    /// The victim.
    pub(crate) fn victim(&self) -> BlockId {
        self.victim
    }

    /// A logical page that the next step will probably read.
    pub(crate) fn next(&mut self, store: &ProcessorStore) -> Option<Lpn> {
        self.found = self.next_on_first(store);
        self.found.map(|(_, _, lpn)| lpn)
    }

    /// The next valid page of the first chip. What was found before is still the first one, if it
    /// is there: nothing becomes valid in a victim.
    #[inline]
    fn next_on_first(&mut self, store: &ProcessorStore) -> Option<(u32, PageId, Lpn)> {
        let found = self.found.take().filter(|&(_, page, lpn)| store.holds(page, lpn));
        found.or_else(|| store.next_valid(self.victim, FIRST, self.rows[FIRST]))
    }

    /// The next step of a pass on a chip of a stripe. The copy is made at once: nothing else can
    /// happen on the chip before it is.
    pub(crate) fn step_in_chip(&mut self, store: &mut ProcessorStore) -> GcStep {
        if let Some((row, page, lpn)) = self.next_on_first(store) {
            let from = store.spot(page);
            let Some(to) = store.program(lpn) else { return GcStep::Starved };
            self.rows[FIRST] = row + 1;
            self.steps.0 += 1;
            return GcStep::Copyback(from, to, lpn);
        }
        if self.steps.0 < self.padded.copies {
            self.steps.0 += 1;
            return GcStep::PaddingCopyback;
        }
        GcStep::Erase(self.victim)
    }

    /// The next step of a pass on a superblock. `pages` is kept for its memory.
    pub(crate) fn step_in_superblock(
        &mut self,
        store: &mut ProcessorStore,
        pages: &mut Vec<(PagePlace, Lpn)>,
    ) -> GcStep {
        pages.clear();
        // What was overwritten since it was read need not be copied.
        self.buffered.retain(|&(page, lpn)| store.holds(page, lpn));
        let width = self.rows.len();
        if self.buffered.len() < width {
            for (chip, from) in self.rows.ids().zip(self.rows.iter_mut()) {
                let Some((row, page, lpn)) = store.next_valid(self.victim, chip, *from) else {
                    // Nothing becomes valid in a victim: it is not looked through again.
                    *from = store.rows();
                    continue;
                };
                *from = row + 1;
                self.buffered.push((page, lpn));
                pages.push((store.locate(lpn), lpn));
            }
            if !pages.is_empty() {
                self.steps.0 += 1;
                self.pages += pages.len() as u64;
                return GcStep::Read(std::mem::take(pages));
            }
        }
        if !self.buffered.is_empty() {
            let count = self.buffered.len().min(width);
            let free = usize::try_from(store.free()).expect("a device that is run has at most 2^30 pages");
            let count = count.min(free);
            if count == 0 {
                return GcStep::Starved;
            }
            self.steps.1 += 1;
            pages.extend(self.buffered.drain(..count).filter_map(|(_, lpn)| Some((store.program(lpn)?, lpn))));
            return GcStep::Row(std::mem::take(pages));
        }
        // A victim of v pages takes no more steps than it has pages left.
        if self.steps.0 < self.padded.copies && self.pages < self.padded.pages {
            self.steps.0 += 1;
            // A page for each step to come, and as many as there are chips while that leaves them.
            let to_come = self.padded.copies - self.steps.0;
            let left = self.padded.pages.saturating_sub(self.pages + to_come);
            let pages = u32::try_from(left).unwrap_or(u32::MAX).clamp(1, self.padded.most);
            self.pages += u64::from(pages);
            return GcStep::PaddingRead(pages);
        }
        if self.steps.1 < self.padded.rows {
            self.steps.1 += 1;
            return GcStep::PaddingRow;
        }
        GcStep::Erase(self.victim)
    }
}
