//! The pages that a step programs: what fails of them is programmed once more.

/// A page that a step programs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProgramInStep {
    /// The chip's position in the processor.
    pub(crate) column: u32,
    pub(crate) block: u32,
    pub(crate) lpn: u32,
    /// Which page of its request it is; for a copy, the page of the processor that it is copied
    /// from.
    pub(crate) from: u32,
}

/// The pages that a step programs, and those that failed.
#[derive(Debug)]
pub(crate) struct StepPrograms<'m> {
    /// [`PROGRAM_WORDS`] for each.
    words: &'m mut [u32],
    count: usize,
    /// Whether one of them, or the step's erase, has failed.
    pub(crate) failed: bool,
    /// Whether they are still to be programmed once more.
    pub(crate) again: bool,
}

/// What a page of a step is kept in: its column, its block, what it is, where it is from, and
/// whether it has failed.
pub(crate) const PROGRAM_WORDS: usize = 5;

impl<'m> StepPrograms<'m> {
    pub(crate) fn new(words: &'m mut [u32]) -> StepPrograms<'m> {
        StepPrograms { words, count: 0, failed: false, again: false }
    }

    pub(crate) fn clear(&mut self) {
        (self.count, self.failed, self.again) = (0, false, false);
    }

    pub(crate) fn push(&mut self, of: ProgramInStep) {
        let ProgramInStep { column, block, lpn, from } = of;
        if let Some(words) = self.words.get_mut(self.count * PROGRAM_WORDS..(self.count + 1) * PROGRAM_WORDS) {
            words.copy_from_slice(&[column, block, lpn, from, 0]);
            self.count += 1;
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn get(&self, place: usize) -> Option<ProgramInStep> {
        let words =
            self.words.get(place * PROGRAM_WORDS..(place + 1) * PROGRAM_WORDS).filter(|_| place < self.count)?;
        Some(ProgramInStep { column: words[0], block: words[1], lpn: words[2], from: words[3] })
    }

    /// What a column did has failed.
    pub(crate) fn fails(&mut self, column: u32) {
        self.failed = true;
        for words in self.words.chunks_exact_mut(PROGRAM_WORDS).take(self.count) {
            words[4] |= u32::from(words[0] == column);
        }
    }

    /// The block of a program that has failed.
    pub(crate) fn block_of_failed(&self, place: usize) -> Option<u32> {
        let of = self.get(place)?;
        (self.words[place * PROGRAM_WORDS + 4] != 0).then_some(of.block)
    }

    /// A page is programmed once more: here.
    pub(crate) fn goes_to(&mut self, place: usize, column: u32, block: u32) {
        let words = &mut self.words[place * PROGRAM_WORDS..(place + 1) * PROGRAM_WORDS];
        (words[0], words[1]) = (column, block);
    }

    /// Keeps those alone that have failed, to be programmed once more.
    pub(crate) fn repeat_failed(&mut self) {
        let mut kept = 0;
        for place in 0..self.count {
            if self.block_of_failed(place).is_some() {
                self.words.copy_within(place * PROGRAM_WORDS..(place + 1) * PROGRAM_WORDS, kept * PROGRAM_WORDS);
                self.words[kept * PROGRAM_WORDS + 4] = 0;
                kept += 1;
            }
        }
        (self.count, self.failed, self.again) = (kept, false, kept > 0);
    }
}
