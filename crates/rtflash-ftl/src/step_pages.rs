//! The pages of a step: the requests that they are for, and those that failed and are programmed
//! once more.

use crate::memory::NONE;
use crate::pages::Spot;

/// A page that a step reads for a request, or programs.
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
    /// Whether this is where it is programmed: a step programs one page of each chip.
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
    /// Whether those that failed are still to be programmed once more.
    pub(crate) again: bool,
}

/// Words of memory for a page of a step: its column, its block, the logical page, the slot, where
/// it is from, and how it stands.
pub(crate) const STEP_PAGE_WORDS: usize = 6;

// How a page stands: it is programmed, that has failed, it is read, or it has failed before and is
// over with another one of the same logical page that is programmed.
const PROGRAMMED: u32 = 0;
const FAILED: u32 = 1;
const READ: u32 = 2;
const OVERWRITTEN: u32 = 3;

impl<'m> StepPages<'m> {
    /// No step is under way. `words`: [`STEP_PAGE_WORDS`] for each page of a step.
    pub(crate) fn new(words: &'m mut [u32]) -> StepPages<'m> {
        StepPages { words: words.as_chunks_mut().0, count: 0, failed: false, again: false }
    }

    pub(crate) fn clear(&mut self) {
        (self.count, self.failed, self.again) = (0, false, false);
    }

    pub(crate) fn programs(&mut self, of: PageInStep) {
        self.push(of, PROGRAMMED);
    }

    pub(crate) fn reads(&mut self, of: PageInStep) {
        self.push(of, READ);
    }

    fn push(&mut self, of: PageInStep, stands: u32) {
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

    /// A column has failed. Its reads do not.
    pub(crate) fn fails(&mut self, own: u32) {
        self.failed = true;
        for [column, .., stands] in self.all() {
            if *column == own && *stands == PROGRAMMED {
                *stands = FAILED;
            }
        }
    }

    /// The page in this place, if its program has failed.
    pub(crate) fn failed(&self, place: usize) -> Option<PageInStep> {
        let [.., stands] = self.words[place];
        self.get(place).filter(|_| stands == FAILED)
    }

    fn stands(&mut self, place: usize, how: u32) {
        let [.., stands] = &mut self.all()[place];
        *stands = how;
    }

    /// A page whose program has failed is not needed any more.
    pub(crate) fn is_stale(&mut self, place: usize) {
        self.stands(place, PROGRAMMED);
    }

    /// The logical page of one that failed is not programmed once more: it was overwritten by
    /// another page of the step, which is, or trimmed.
    pub(crate) fn is_overwritten(&mut self, place: usize) {
        self.stands(place, OVERWRITTEN);
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

    /// The slot of the first page from a place on that has not failed, and how many pages from it
    /// on have that slot. They lose it, and the place is that behind them. `None` where none is a
    /// request's.
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

    /// Keeps only those that have failed, to be programmed once more.
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
