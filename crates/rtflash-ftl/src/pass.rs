//! Garbage collection of a processor: one pass, step by step.

use crate::memory::{Memory, index, word};
use crate::pages::{Columns, Pages, Spot, ValidPage};

/// The next step of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GcStep {
    /// Copies a page inside the chip (stripe): where it is, where it goes, what it is.
    Copyback(Spot, Spot, u32),
    /// Reads a page on each chip that has one left (superblock).
    Read,
    /// Programs pages that were read, a row at most (superblock).
    Row,
    /// With worst victims: lets the time of a copy pass.
    PaddingCopyback,
    /// Lets the time of a read step pass, of this many pages on one channel.
    PaddingRead(u32),
    /// Lets the time of a row pass.
    PaddingRow,
    /// No free page to copy to.
    Starved,
    /// Erases the victim on all chips.
    Erase(u32),
    /// Nothing more: pages of a block were moved, and there is nothing to erase.
    Moved,
}

/// A page that a step of a pass on a superblock reads or programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPage {
    /// Whether it is read.
    pub is_read: bool,
    /// The place.
    pub spot: Spot,
    /// Which logical page it is.
    pub lpn: u32,
}

const FIRST: u32 = 0;

/// A pass under way, or what the next one is kept in.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound = "M: crate::memory::KeptMemory"))]
pub struct Pass<M: Memory> {
    victim: Option<u32>,
    /// The row from which on the victim has to be searched, where there is one chip.
    row: u32,
    /// Those of the chips of a superblock.
    rows: M::Words,
    /// Pages of a superblock that are read and not programmed: two words each, page and logical
    /// page.
    buffer: M::Words,
    buffered: u32,
    /// Read steps, or copies, until now.
    reads: u64,
    /// Row steps until now.
    programs: u64,
    /// Pages read until now.
    pages: u64,
    /// The next page to be copied on the first chip, if it is known already.
    found: Option<ValidPage>,
    padded: PaddedPass,
    /// The most pages that it copies, if it moves pages of a block that is retired or worn least.
    moves: Option<u64>,
    /// Whether there was no room for all of its last row: then it moves no more.
    cut: bool,
}

/// The least that a pass takes, with worst victims.
#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PaddedPass {
    /// Copies (stripe), or read steps (superblock).
    pub copies: u64,
    /// Row steps.
    pub rows: u64,
    /// Pages read.
    pub pages: u64,
    /// Chips on the channel that has most.
    pub most: u32,
}

/// Words of memory for [`Pass::new`], its `rows` and its `buffer`: none in a stripe.
pub const fn pass_words(columns: Columns) -> (usize, usize) {
    if columns.superblock { (index(columns.width), 4 * index(columns.width)) } else { (0, 0) }
}

impl<M: Memory> Pass<M> {
    /// No pass is under way. [`pass_words`] says how long the lists have to be.
    pub fn new(rows: M::Words, buffer: M::Words) -> Pass<M> {
        Pass {
            victim: None,
            row: 0,
            rows,
            buffer,
            buffered: 0,
            reads: 0,
            programs: 0,
            pages: 0,
            found: None,
            padded: PaddedPass::default(),
            moves: None,
            cut: false,
        }
    }

    pub(crate) fn begin(&mut self, victim: u32, padded: PaddedPass) {
        self.rows.as_mut().fill(0);
        (self.victim, self.padded, self.moves, self.cut, self.found) = (Some(victim), padded, None, false, None);
        (self.row, self.buffered, self.reads, self.programs, self.pages) = (0, 0, 0, 0, 0);
    }

    /// Moves at most `pages` pages of a block, each only while there is room beyond the reserve.
    pub(crate) fn begin_moving(&mut self, block: u32, pages: u64) {
        self.begin(block, PaddedPass::default());
        self.moves = Some(pages);
    }

    pub(crate) fn moves_from(&self) -> Option<u32> {
        self.victim.filter(|_| self.moves.is_some())
    }

    pub(crate) fn end(&mut self) -> Option<u32> {
        self.victim.take()
    }

    pub(crate) fn is_under_way(&self) -> bool {
        self.victim.is_some()
    }

    /// How many pages it can still program after `copied`: any number where it collects.
    fn may_move(&self, copied: u64, beyond: u64) -> u64 {
        self.moves.map_or(u64::MAX, |most| most.saturating_sub(copied).min(beyond))
    }

    fn last_step(&self, victim: u32) -> GcStep {
        if self.moves.is_none() { GcStep::Erase(victim) } else { GcStep::Moved }
    }

    pub(crate) fn next(&mut self, pages: &Pages<M>) -> Option<u32> {
        self.found = self.next_on_first(pages);
        self.found.map(|found| found.lpn)
    }

    /// The next valid page of the first chip. The page that was found before is still the first, if
    /// it is there: nothing becomes valid in a victim.
    fn next_on_first(&mut self, pages: &Pages<M>) -> Option<ValidPage> {
        let found = self.found.take().filter(|found| pages.holds(found.page, found.lpn));
        let from = self.rows.as_ref().first().copied().unwrap_or(self.row);
        found.or_else(|| pages.next_valid(self.victim?, FIRST, from))
    }

    /// The next step of a pass on a chip of a stripe; `None` if no pass is under way. The copy is
    /// made at once: nothing else can happen on the chip before it. `beyond`: free pages beyond the
    /// reserve.
    pub(crate) fn step_in_chip(&mut self, pages: &mut Pages<M>, beyond: u64) -> Option<GcStep> {
        let victim = self.victim?;
        let next = if self.may_move(self.reads, beyond) > 0 { self.next_on_first(pages) } else { None };
        if let Some(ValidPage { row, page, lpn }) = next {
            let from = pages.spot(page);
            let Some(to) = pages.program(lpn) else { return Some(GcStep::Starved) };
            self.row = row + 1;
            self.reads += 1;
            return Some(GcStep::Copyback(from, to, lpn));
        }
        if self.reads < self.padded.copies {
            self.reads += 1;
            return Some(GcStep::PaddingCopyback);
        }
        Some(self.last_step(victim))
    }

    /// The next step of a pass on a superblock; `None` if no pass is under way. `put` gets the
    /// pages of a read or a row.
    #[inline(always)]
    pub(crate) fn step_in_superblock(
        &mut self,
        pages: &mut Pages<M>,
        beyond: u64,
        mut put: impl FnMut(RowPage),
    ) -> Option<GcStep> {
        let victim = self.victim?;
        let may_program = self.may_move(0, beyond);
        if may_program == 0 || self.moves.is_some() && self.cut {
            // Pages that have been read stay where they were.
            self.buffered = 0;
            return Some(self.last_step(victim));
        }
        self.forget_stale(pages);
        let width = pages.columns().width;
        if self.buffered < width && self.read(victim, pages, &mut put) {
            return Some(GcStep::Read);
        }
        if self.buffered > 0 {
            let whole = self.buffered.min(width).min(pages.free());
            let count = u32::try_from(may_program).map_or(whole, |most| whole.min(most));
            self.cut = count < whole;
            if count == 0 {
                return Some(GcStep::Starved);
            }
            self.program(pages, count, put);
            return Some(GcStep::Row);
        }
        // A victim of v pages takes no more steps than it has pages left.
        if self.reads < self.padded.copies && self.pages < self.padded.pages {
            self.reads += 1;
            // A page for each step to come, and as many as there are chips while that leaves them.
            let to_come = self.padded.copies - self.reads;
            let left = self.padded.pages.saturating_sub(self.pages + to_come);
            let pages = u32::try_from(left).map_or(self.padded.most, |left| left.clamp(1, self.padded.most));
            self.pages += u64::from(pages);
            return Some(GcStep::PaddingRead(pages));
        }
        if self.programs < self.padded.rows {
            self.programs += 1;
            return Some(GcStep::PaddingRow);
        }
        Some(self.last_step(victim))
    }

    #[inline(always)]
    fn program(&mut self, pages: &mut Pages<M>, count: u32, mut put: impl FnMut(RowPage)) {
        let buffer = self.buffer.as_mut();
        for read in buffer[..2 * index(count)].chunks_exact(2) {
            let spot = pages.program(read[1]).expect("a row has no more pages than are free");
            put(RowPage { is_read: false, spot, lpn: read[1] });
        }
        buffer.copy_within(2 * index(count)..2 * index(self.buffered), 0);
        self.programs += 1;
        self.buffered -= count;
    }

    /// A page that was overwritten since it was read need not be copied.
    #[inline(always)]
    fn forget_stale(&mut self, pages: &Pages<M>) {
        let held = self.buffer.as_mut()[..2 * index(self.buffered)].as_chunks_mut::<2>().0;
        if held.iter().all(|&[page, lpn]| pages.holds(page, lpn)) {
            return;
        }
        let mut kept = 0;
        for place in 0..held.len() {
            let [page, lpn] = held[place];
            if pages.holds(page, lpn) {
                held[kept] = [page, lpn];
                kept += 1;
            }
        }
        self.buffered = word(kept);
    }

    /// Reads a page on each chip that has one left. False if there was none.
    #[inline(always)]
    fn read(&mut self, victim: u32, pages: &Pages<M>, put: &mut impl FnMut(RowPage)) -> bool {
        let (before, rows) = (self.buffered, pages.blocks().rows());
        let most = self.may_move(self.pages, u64::MAX).saturating_add(before.into());
        let buffer = self.buffer.as_mut().as_chunks_mut::<2>().0;
        for (chip, next) in (0..).zip(self.rows.as_mut()) {
            // Nothing becomes valid in a victim: a chip without valid pages has none later.
            if *next >= rows || u64::from(self.buffered) >= most {
                continue;
            }
            let Some(ValidPage { row, page, lpn }) = pages.next_valid(victim, chip, *next) else {
                *next = rows;
                continue;
            };
            *next = row + 1;
            buffer[index(self.buffered)] = [page, lpn];
            self.buffered += 1;
            put(RowPage { is_read: true, spot: Spot { chip, block: victim, page: row }, lpn });
        }
        let read = self.buffered - before;
        self.reads += u64::from(read > 0);
        self.pages += u64::from(read);
        read > 0
    }
}
