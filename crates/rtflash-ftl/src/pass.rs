//! Garbage collection of a processor: one pass, step by step.

use crate::memory::{Memory, index};
use crate::pages::{Columns, Pages, Spot};

/// What a pass does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GcStep {
    /// Copies a page inside the chip (stripe): where it is, where it goes, what it is.
    Copyback(Spot, Spot, u32),
    /// Reads a page on each chip that has one left (superblock).
    Read,
    /// Programs pages that were read, a row at most (superblock).
    Row,
    /// Lets the time of such a step pass: with worst victims.
    PaddingCopyback,
    /// Likewise, of so many pages on one channel.
    PaddingRead(u32),
    /// Likewise.
    PaddingRow,
    /// No free page to copy to.
    Starved,
    /// Erases the victim on all chips.
    Erase(u32),
    /// Nothing more: pages of a retired block were copied, and there is nothing to erase.
    Moved,
}

/// A page that a step of a pass on a superblock reads or programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPage {
    /// Whether it is read.
    pub is_read: bool,
    /// Where.
    pub spot: Spot,
    /// Which logical page it is.
    pub lpn: u32,
}

/// The only chip of a processor of a stripe, and the first one of a superblock.
const FIRST: u32 = 0;

/// A pass under way, or what the next one is kept in.
#[derive(Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(bound(serialize = "M::Words: serde::Serialize", deserialize = "M::Words: serde::Deserialize<'de>"))
)]
pub struct Pass<M: Memory> {
    victim: Option<u32>,
    /// The first row of the victim not looked at yet, where there is one chip.
    row: u32,
    /// The same on each chip of a superblock.
    rows: M::Words,
    /// Pages read and not programmed yet, of a superblock: two words each, where they were and what
    /// they are.
    buffer: M::Words,
    buffered: u32,
    /// Read steps, or copies, so far; and row steps.
    steps: (u64, u64),
    /// Pages read so far.
    pages: u64,
    /// The next page to be copied on the first chip, as far as it is known already: its row, where
    /// it is, and what it is.
    found: Option<(u32, u32, u32)>,
    /// What is taken at least.
    padded: PaddedPass,
    /// How many pages it copies at most, where it only moves those of a block that is retired or
    /// worn least.
    moves: Option<u64>,
    /// Whether there was no room for all of its last row: then it moves no more.
    cut: bool,
}

/// What a pass takes at least, with worst victims.
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

/// Words of memory that a pass takes: for [`Pass::new`], its `rows` and its `buffer`. None in a
/// stripe.
pub const fn pass_words(columns: Columns) -> (usize, usize) {
    if columns.superblock { (index(columns.width), 4 * index(columns.width)) } else { (0, 0) }
}

impl<M: Memory> Pass<M> {
    /// No pass is under way. [`pass_words`] says how long the lists have to be.
    pub fn new(rows: M::Words, buffer: M::Words) -> Pass<M> {
        let padded = PaddedPass::default();
        Pass {
            victim: None,
            row: 0,
            rows,
            buffer,
            buffered: 0,
            steps: (0, 0),
            pages: 0,
            found: None,
            padded,
            moves: None,
            cut: false,
        }
    }

    /// A pass over this victim begins.
    pub fn begin(&mut self, victim: u32, padded: PaddedPass) {
        self.rows.as_mut().fill(0);
        (self.victim, self.padded, self.moves) = (Some(victim), padded, None);
        (self.row, self.buffered, self.steps, self.pages, self.found) = (0, 0, (0, 0), 0, None);
    }

    /// So many pages of a block are moved, at most; and each only while there is room
    /// beyond the reserve.
    pub fn begin_moving(&mut self, block: u32, pages: u64) {
        self.begin(block, PaddedPass::default());
        (self.moves, self.cut) = (Some(pages), false);
    }

    /// What it collects, or moves pages from.
    #[inline]
    pub fn victim(&self) -> Option<u32> {
        self.victim
    }

    /// The block that it moves pages from.
    pub fn moves_from(&self) -> Option<u32> {
        self.victim.filter(|_| self.moves.is_some())
    }

    /// How many pages it may still program, of so many that are free beyond the reserve and of
    /// `copied` before: as many as it likes where it collects.
    #[inline]
    fn may_move(&self, copied: u64, beyond: u64) -> u64 {
        self.moves.map_or(u64::MAX, |most| most.saturating_sub(copied).min(beyond))
    }

    /// The step behind the last copy.
    fn last_step(&self, victim: u32) -> GcStep {
        if self.moves.is_none() { GcStep::Erase(victim) } else { GcStep::Moved }
    }

    /// The pass is over: what its victim was.
    pub fn end(&mut self) -> Option<u32> {
        self.victim.take()
    }

    /// Whether one is under way.
    #[inline]
    pub fn is_under_way(&self) -> bool {
        self.victim.is_some()
    }

    /// A logical page that the next step will probably read.
    #[inline]
    pub fn next(&mut self, pages: &Pages<M>) -> Option<u32> {
        self.found = self.next_on_first(pages);
        self.found.map(|(_, _, lpn)| lpn)
    }

    /// The next valid page of the first chip. What was found before is still the first one, if it
    /// is there: nothing becomes valid in a victim.
    #[inline]
    fn next_on_first(&mut self, pages: &Pages<M>) -> Option<(u32, u32, u32)> {
        let found = self.found.take().filter(|&(_, page, lpn)| pages.holds(page, lpn));
        let from = self.rows.as_ref().first().copied().unwrap_or(self.row);
        found.or_else(|| pages.next_valid(self.victim?, FIRST, from))
    }

    /// Copies this page. `None` where no page is free.
    #[inline]
    fn copy(&mut self, pages: &mut Pages<M>, (row, page, lpn): (u32, u32, u32)) -> Option<(Spot, Spot, u32)> {
        let from = pages.spot(page);
        let to = pages.program(lpn)?;
        self.row = row + 1;
        self.steps.0 += 1;
        Some((from, to, lpn))
    }

    /// The next step of a pass on a chip of a stripe. The copy is made at once: nothing else can
    /// happen on the chip before it is. `beyond`: pages that are free beyond the reserve. `None`
    /// where no pass is under way.
    #[inline]
    pub fn step_in_chip(&mut self, pages: &mut Pages<M>, beyond: u64) -> Option<GcStep> {
        let victim = self.victim?;
        let next = if self.may_move(self.steps.0, beyond) > 0 { self.next_on_first(pages) } else { None };
        if let Some(next) = next {
            let copied = self.copy(pages, next);
            return Some(copied.map_or(GcStep::Starved, |(from, to, lpn)| GcStep::Copyback(from, to, lpn)));
        }
        if self.steps.0 < self.padded.copies {
            self.steps.0 += 1;
            return Some(GcStep::PaddingCopyback);
        }
        Some(self.last_step(victim))
    }

    /// The next step of a pass on a superblock. `put` is given the pages of a read or a row,
    /// `beyond` is as above. `None` where no pass is under way.
    #[inline(always)]
    pub fn step_in_superblock(
        &mut self,
        pages: &mut Pages<M>,
        beyond: u64,
        mut put: impl FnMut(RowPage),
    ) -> Option<GcStep> {
        let victim = self.victim?;
        let may_program = self.may_move(0, beyond);
        if may_program == 0 || self.moves.is_some() && self.cut {
            // What has been read stays where it was.
            self.buffered = 0;
            return Some(self.last_step(victim));
        }
        if self.buffered > 0 {
            self.forget_stale(pages);
        }
        let width = pages.width();
        if self.buffered < width && self.read(victim, pages, &mut put) {
            return Some(GcStep::Read);
        }
        if self.buffered > 0 {
            let count = self.buffered.min(width).min(pages.free());
            let whole = count;
            let count = u32::try_from(may_program).map_or(count, |most| count.min(most));
            self.cut = count < whole;
            if count == 0 {
                return Some(GcStep::Starved);
            }
            self.steps.1 += 1;
            self.program(pages, count, &mut put);
            if count < self.buffered {
                self.buffer.as_mut().copy_within(2 * index(count)..2 * index(self.buffered), 0);
            }
            self.buffered -= count;
            return Some(GcStep::Row);
        }
        // A victim of v pages takes no more steps than it has pages left.
        if self.steps.0 < self.padded.copies && self.pages < self.padded.pages {
            self.steps.0 += 1;
            // A page for each step to come, and as many as there are chips while that leaves them.
            let to_come = self.padded.copies - self.steps.0;
            let left = self.padded.pages.saturating_sub(self.pages + to_come);
            let pages = u32::try_from(left).unwrap_or(u32::MAX).clamp(1, self.padded.most);
            self.pages += u64::from(pages);
            return Some(GcStep::PaddingRead(pages));
        }
        if self.steps.1 < self.padded.rows {
            self.steps.1 += 1;
            return Some(GcStep::PaddingRow);
        }
        Some(self.last_step(victim))
    }

    /// Programs the first pages of those that have been read.
    #[inline(always)]
    fn program(&self, pages: &mut Pages<M>, count: u32, put: &mut impl FnMut(RowPage)) {
        let buffer = self.buffer.as_ref();
        let lpn = |place: u32| buffer[2 * index(place) + 1];
        if pages.program_all(count, lpn, |spot, lpn| put(RowPage { is_read: false, spot, lpn })) {
            return;
        }
        for place in 0..count {
            if let Some(spot) = pages.program(lpn(place)) {
                put(RowPage { is_read: false, spot, lpn: lpn(place) });
            }
        }
    }

    /// What was overwritten since it was read need not be copied.
    #[inline(always)]
    fn forget_stale(&mut self, pages: &Pages<M>) {
        let held = &self.buffer.as_ref()[..2 * index(self.buffered)];
        if !held.chunks_exact(2).all(|read| pages.holds(read[0], read[1])) {
            self.forget_those(pages);
        }
    }

    #[cold]
    fn forget_those(&mut self, pages: &Pages<M>) {
        let buffer = self.buffer.as_mut();
        let mut kept = 0;
        for place in 0..index(self.buffered) {
            let (page, lpn) = (buffer[2 * place], buffer[2 * place + 1]);
            if pages.holds(page, lpn) {
                (buffer[2 * kept], buffer[2 * kept + 1]) = (page, lpn);
                kept += 1;
            }
        }
        self.buffered = u32::try_from(kept).unwrap_or(self.buffered);
    }

    /// Reads a page on each chip that has one left, and says whether there was one.
    #[inline(always)]
    fn read(&mut self, victim: u32, pages: &Pages<M>, put: &mut impl FnMut(RowPage)) -> bool {
        let (before, rows) = (self.buffered, pages.rows());
        let mut buffered = before;
        let buffer = self.buffer.as_mut();
        let most = self.moves.map_or(u32::MAX, |most| {
            u32::try_from(most.saturating_sub(self.pages)).map_or(u32::MAX, |most| before.saturating_add(most))
        });
        for (chip, next) in (0..).zip(self.rows.as_mut()) {
            let from = *next;
            // Nothing becomes valid in a victim: it is not looked through again.
            if from >= rows || buffered >= most {
                continue;
            }
            let Some((row, page, lpn)) = pages.next_valid_of_rows(victim, (chip, rows), from) else {
                *next = rows;
                continue;
            };
            *next = row + 1;
            let at = 2 * index(buffered);
            (buffer[at], buffer[at + 1]) = (page, lpn);
            buffered += 1;
            put(RowPage { is_read: true, spot: Spot { chip, block: victim, page: row }, lpn });
        }
        self.buffered = buffered;
        let read = buffered - before;
        if read > 0 {
            self.steps.0 += 1;
            self.pages += u64::from(read);
        }
        read > 0
    }
}
