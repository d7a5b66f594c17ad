//! What a processor was doing, as far as it is remembered.

use rtflash_model::Instant;
use serde::{Deserialize, Serialize};

/// What a processor was doing over [start, end): a step, or an operation of one.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Stretch {
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    /// The earliest deadline that a page of it was for.
    pub(crate) deadline: u64,
    /// Whether it was an erase, or a part of one.
    pub(crate) erases: bool,
}

/// LastStretches of a processor that are remembered at most.
pub(crate) const REMEMBERED: usize = 4096;

/// The last stretches of a processor, the latest last.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct LastStretches {
    /// Once it is full, the earliest one is at `first`, and gives way.
    ring: Vec<Stretch>,
    first: usize,
}

impl LastStretches {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    /// The one of this number, of those that are remembered.
    #[inline]
    pub(crate) fn get(&self, number: usize) -> Option<&Stretch> {
        if number < self.ring.len() { self.ring.get((self.first + number) % REMEMBERED) } else { None }
    }

    /// The latest one.
    #[inline]
    pub(crate) fn last(&self) -> Option<&Stretch> {
        self.get(self.ring.len().wrapping_sub(1))
    }

    /// Adds one behind the others. Says whether the earliest one is forgotten for it.
    #[inline(always)]
    pub(crate) fn push(&mut self, stretch: Stretch) -> bool {
        if self.ring.len() < REMEMBERED {
            self.ring.push(stretch);
            return false;
        }
        self.ring[self.first % REMEMBERED] = stretch;
        self.first = (self.first + 1) % REMEMBERED;
        true
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::samples::at;

    #[test]
    fn the_last_ones_are_remembered_in_their_order() {
        let mut all = LastStretches::default();
        assert!(all.last().is_none());
        for number in 0..10_000_u64 {
            let forgets = all.push(Stretch { start: at(number), end: at(number + 1), deadline: number, erases: false });
            assert_eq!(forgets, number >= REMEMBERED as u64);
            let first = (number + 1).saturating_sub(REMEMBERED as u64);
            assert_eq!(all.get(0).map(|stretch| stretch.deadline), Some(first));
            assert_eq!(all.last().map(|stretch| stretch.deadline), Some(number));
            assert!(all.get(all.len()).is_none());
        }
    }
}
