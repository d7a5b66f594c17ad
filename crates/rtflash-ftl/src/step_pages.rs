//! The pages of a step: the requests that they are for, and those that failed and are programmed
//! once more.

use crate::memory::NONE;
use crate::pages::Spot;

#[derive(Debug, Clone, Copy)]
pub(crate) struct PageInStep {
    /// The chip's position in the processor.
    pub(crate) column: u32,
    pub(crate) block: u32,
    pub(crate) lpn: u32,
    /// The slot of its request; [`NONE`] in a pass.
    pub(crate) slot: u32,
    /// Which page of its request it is; for a copy, the page of the processor that it is copied
    /// from.
    pub(crate) from: u32,
}

impl PageInStep {
    /// A step programs one page of each chip.
    pub(crate) fn is_at(&self, at: Option<Spot>) -> bool {
        at.is_some_and(|at| (at.chip, at.block) == (self.column, self.block))
    }
}

#[derive(Debug)]
pub(crate) struct StepPages<'m> {
    /// Those of the step come first.
    words: &'m mut [[u32; STEP_PAGE_WORDS]],
    count: usize,
    /// Whether one of them, or the step's erase, has failed.
    pub(crate) failed: bool,
    /// Pages that failed are still to be programmed once more.
    pub(crate) again: bool,
}

/// Words for a page of a step: column, block, logical page, slot, from, and how it stands.
pub(crate) const STEP_PAGE_WORDS: usize = 6;

// How a page stands.
pub(crate) const PROGRAMMED: u32 = 0;
const FAILED: u32 = 1;
pub(crate) const READ: u32 = 2;
/// It has failed, and is not programmed once more: its logical page was trimmed, or is overwritten
/// by another page of the step, which is.
pub(crate) const OVERWRITTEN: u32 = 3;

impl<'m> StepPages<'m> {
    /// `words`: [`STEP_PAGE_WORDS`] for each page of a step.
    pub(crate) fn new(words: &'m mut [u32]) -> StepPages<'m> {
        StepPages { words: words.as_chunks_mut().0, count: 0, failed: false, again: false }
    }

    pub(crate) fn clear(&mut self) {
        (self.count, self.failed, self.again) = (0, false, false);
    }

    pub(crate) fn push(&mut self, of: PageInStep, stands: u32) {
        let PageInStep { column, block, lpn, slot, from } = of;
        self.words[self.count] = [column, block, lpn, slot, from, stands];
        self.count += 1;
    }

    fn all(&mut self) -> &mut [[u32; STEP_PAGE_WORDS]] {
        &mut self.words[..self.count]
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn get(&self, place: usize) -> Option<PageInStep> {
        let &[column, block, lpn, slot, from, _] = self.words[..self.count].get(place)?;
        Some(PageInStep { column, block, lpn, slot, from })
    }

    /// The programs of a column have failed. Its reads do not.
    pub(crate) fn fails(&mut self, own: u32) {
        self.failed = true;
        for [column, .., stands] in self.all() {
            if *column == own && *stands == PROGRAMMED {
                *stands = FAILED;
            }
        }
    }

    pub(crate) fn failed(&self, place: usize) -> Option<PageInStep> {
        let [.., stands] = self.words[place];
        self.get(place).filter(|_| stands == FAILED)
    }

    pub(crate) fn stands(&mut self, place: usize, how: u32) {
        let [.., stands] = &mut self.all()[place];
        *stands = how;
    }

    /// If a page has failed once more, those that it has overwritten are not over either.
    pub(crate) fn fail_with_others(&mut self) {
        for place in 0..self.count {
            let [_, _, own, .., stands] = self.words[place];
            let mut all = self.words[..self.count].iter();
            if stands == OVERWRITTEN && all.any(|&[_, _, lpn, .., stands]| lpn == own && stands == FAILED) {
                self.stands(place, FAILED);
            }
        }
    }

    pub(crate) fn goes_to(&mut self, place: usize, to: Spot) {
        let [column, block, ..] = &mut self.all()[place];
        (*column, *block) = (to.chip, to.block);
    }

    /// Takes the first run of pages of one request, from a place on, that have not failed: its
    /// slot, and how many they are. They lose their slot, and `place` goes behind them.
    pub(crate) fn take_run(&mut self, place: &mut usize) -> Option<(u32, u32)> {
        let (mut of, mut pages) = (NONE, 0);
        for [.., slot, _, stands] in &mut self.words[*place..self.count] {
            if *slot != NONE && *stands != FAILED {
                if pages > 0 && *slot != of {
                    break;
                }
                (of, pages) = (core::mem::replace(slot, NONE), pages + 1);
            }
            *place += 1;
        }
        (pages > 0).then_some((of, pages))
    }

    pub(crate) fn repeat_failed(&mut self) {
        let mut kept = 0;
        for place in 0..self.count {
            if self.failed(place).is_some() {
                self.words[kept] = self.words[place];
                self.stands(kept, PROGRAMMED);
                kept += 1;
            }
        }
        (self.count, self.failed, self.again) = (kept, false, kept > 0);
    }
}
