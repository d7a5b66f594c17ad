//! Valid pages of a victim that are moved in one go.

use super::{Blocks, Frontier, Frontiers, TAKEN};
use crate::memory::{Memory, NONE, index};

impl<M: Memory> Blocks<M> {
    /// How many valid pages of a block can be moved to a frontier in one go, from its row `from`
    /// on: no more than its open block takes. One chip.
    #[inline]
    pub fn movable(&self, stream: Frontiers, block: u32, from: u32) -> u32 {
        let rest = self.rest(stream);
        if self.width != 1 || rest == 0 {
            return 0;
        }
        let (start, end) = (block * self.pages + from, (block + 1) * self.pages);
        let mut count = 0;
        for (bits, word) in self.bits.as_ref()[index(start / 64)..index(end.div_ceil(64))].iter().zip(start / 64..) {
            count += (bits & bits_within(word, start, end)).count_ones();
        }
        count.min(rest)
    }

    /// Moves so many valid pages of a victim to a frontier, from its row `from` on: what
    /// [`movable`](Blocks::movable) says at most. `put` is given the row of each, what it holds,
    /// and the page that it is moved to. Says which row was moved last, and where to; `None` where
    /// nothing is.
    #[inline]
    pub fn move_together(
        &mut self,
        stream: Frontiers,
        (victim, from): (u32, u32),
        pages: u32,
        mut put: impl FnMut(u32, u32, u32),
    ) -> Option<(u32, u32)> {
        let at = self.frontier(stream)?;
        let (first, start, end) = (victim * self.pages, victim * self.pages + from, (victim + 1) * self.pages);
        let target = at.block * self.pages + at.next;
        let (lpns, bits) = (self.lpns.as_mut(), self.bits.as_mut());
        let (mut moved, mut last) = (0, None);
        for word in start / 64..end.div_ceil(64) {
            let mut left = bits[index(word)] & bits_within(word, start, end);
            let before = left;
            while left != 0 && moved < pages {
                let (page, to) = (word * 64 + left.trailing_zeros(), target + moved);
                left &= left - 1;
                let lpn = core::mem::replace(&mut lpns[index(page)], NONE);
                lpns[index(to)] = lpn;
                put(page - first, lpn, to);
                (moved, last) = (moved + 1, Some((page - first, to)));
            }
            bits[index(word)] &= !(before & !left);
            if moved == pages {
                break;
            }
        }
        for word in target / 64..(target + moved).div_ceil(64) {
            bits[index(word)] |= bits_within(word, target, target + moved);
        }
        self.are_moved(stream, (victim, at), moved);
        last
    }

    /// So many pages of a victim were moved to a frontier.
    fn are_moved(&mut self, stream: Frontiers, (victim, at): (u32, Frontier), pages: u32) {
        self.valid.as_mut()[index(victim)] -= pages;
        let valid = self.valid.as_ref()[index(victim)];
        self.may_be_least(victim, valid);
        let valid = &mut self.valid.as_mut()[index(at.block)];
        *valid += pages;
        let next = Frontier { next: at.next + pages, ..at };
        let is_open = next.next < self.pages;
        if !is_open {
            // Closed with its last page.
            *valid &= !TAKEN;
            let valid = *valid;
            self.may_be_least(at.block, valid);
        }
        let next = Some(next).filter(|_| is_open);
        match stream {
            Frontiers::Write => self.open = next,
            Frontiers::Copy => self.copy = next,
        }
    }
}

/// The bits of a word that are those of pages from `start` up to `end`.
#[inline(always)]
fn bits_within(word: u32, start: u32, end: u32) -> u64 {
    let (first, behind) = (word * 64, word * 64 + 64);
    let low = u64::MAX << start.saturating_sub(first).min(63);
    let high = u64::MAX >> behind.saturating_sub(end).min(63);
    low & high
}
