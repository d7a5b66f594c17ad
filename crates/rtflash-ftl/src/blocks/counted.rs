//! Valid pages, counted when blocks are made.

use super::{Blocks, GROUP, TAKEN, bit_of, fewest};
use crate::memory::{Memory, NONE, index};

impl<M: Memory> Blocks<M> {
    /// Finds out which pages are valid, of those that are programmed.
    pub(super) fn count_valid(&mut self, programmed: u32) {
        let lpns = self.lpns.as_mut();
        let (held, rest) = lpns.split_at_mut(index(programmed).min(lpns.len()));
        if rest.iter().map(|&lpn| u32::from(lpn != NONE)).sum::<u32>() > 0 {
            rest.fill(NONE);
        }
        let bits = self.bits.as_mut();
        let rows = self.pages / self.width;
        if self.width == 1 {
            // The first page of a word is its lowest bit.
            for (word, lpns) in bits.iter_mut().zip(held.chunks(64)) {
                // Mostly those that are valid come first.
                let count = |lpns: &[u32]| lpns.iter().map(|&lpn| u32::from(lpn != NONE)).sum::<u32>();
                let valid = count(lpns);
                *word = match valid {
                    0 => 0,
                    64 => u64::MAX,
                    _ if count(&lpns[..index(valid)]) == valid => (1 << valid) - 1,
                    _ => lpns.iter().rev().fold(0, |word, &lpn| word << 1 | u64::from(lpn != NONE)),
                };
            }
        } else if rows.is_multiple_of(64) && rows * self.width == self.pages {
            // A chip has words of its own.
            let blocks = bits.chunks_exact_mut(index(self.pages / 64)).zip(held.chunks(index(self.pages)));
            blocks.for_each(|(words, held)| of_block(words, held, index(rows / 64), index(self.width)));
        } else {
            for (page, &lpn) in (0..).zip(held.iter()) {
                let bit = bit_of(page, self.pages, self.width);
                bits[index(bit / 64)] |= u64::from(lpn != NONE) << (bit % 64);
            }
        }
        let valid = self.valid.as_mut();
        if self.pages.is_multiple_of(64) && programmed.is_multiple_of(self.pages) {
            let words = bits.chunks_exact(index(self.pages / 64));
            for (valid, words) in valid.iter_mut().zip(words).take(index(programmed / self.pages)) {
                *valid = words.iter().map(|word| word.count_ones()).sum();
            }
        } else {
            for (valid, held) in valid.iter_mut().zip(held.chunks(index(self.pages))) {
                let open = if held.len() == index(self.pages) { 0 } else { TAKEN };
                *valid = held.iter().map(|&lpn| u32::from(lpn != NONE)).sum::<u32>() | open;
            }
        }
        for (least, valid) in self.least.as_mut().iter_mut().zip(valid.chunks(index(GROUP))) {
            *least = fewest(valid);
        }
    }
}

/// Which pages of a block of a superblock are valid, each chip of which has so many words.
fn of_block(words: &mut [u64], held: &[u32], of_chip: usize, width: usize) {
    for (place, rows) in held.chunks(64 * width).enumerate() {
        let is_counted = rows.len() == 64 * width && PLACES.is_multiple_of(width);
        let stale = is_counted.then(|| stale_by_place(rows));
        for chip in 0..width {
            // Mostly those of a chip are alike.
            let of_chip_alone = stale.map(|stale| stale.iter().skip(chip).step_by(width).sum::<u32>());
            words[chip * of_chip + place] = match of_chip_alone {
                Some(0) => u64::MAX,
                Some(64) => 0,
                _ => {
                    let pages = (0..64).zip(rows.iter().skip(chip).step_by(width));
                    pages.fold(0, |word, (row, &lpn)| word | u64::from(lpn != NONE) << row)
                }
            };
        }
    }
}

/// So many pages are counted together.
const PLACES: usize = 8;

/// How many pages are stale at each place of so many.
fn stale_by_place(held: &[u32]) -> [u32; PLACES] {
    let mut stale = [0; PLACES];
    for pages in held.as_chunks::<PLACES>().0 {
        for (stale, &lpn) in stale.iter_mut().zip(pages) {
            *stale += u32::from(lpn == NONE);
        }
    }
    stale
}
