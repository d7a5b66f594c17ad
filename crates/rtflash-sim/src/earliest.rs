//! Which of several chips or buses comes next.

use rtflash_model::Instant;
use serde::{Deserialize, Serialize};

const NEVER: u64 = u64::MAX;

#[inline]
pub(crate) fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, None) => a,
        (None, b) => b,
    }
}

const WIDTH: usize = 4;

/// An instant for each of some places, or none, and the place of the earliest: the lowest among
/// equals.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Earliest {
    /// A tree: group n has the least of each of its children, which are the groups 4n + 1 to
    /// 4n + 4. Those of the last level have the places, one after another. Each is an instant in
    /// nanoseconds, or [`NEVER`].
    groups: Vec<[u64; WIDTH]>,
    /// The first group of the last level.
    leaves: usize,
    least: u64,
}

#[inline(always)]
fn least(group: &[u64; WIDTH]) -> u64 {
    let &[a, b, c, d] = group;
    a.min(b).min(c.min(d))
}

impl Earliest {
    pub(crate) fn new(places: usize) -> Earliest {
        let (mut leaves, mut level) = (0, 1);
        while level * WIDTH < places {
            leaves += level;
            level *= WIDTH;
        }
        Earliest { groups: vec![[NEVER; WIDTH]; leaves + level], leaves, least: NEVER }
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<(Instant, usize)> {
        Some((Instant::from_ns(self.least)?, self.number_of_least()))
    }

    /// The earliest instant in nanoseconds, later than all instants where there is none.
    #[inline]
    pub(crate) fn first_ns(&self) -> u64 {
        self.least
    }

    #[inline]
    pub(crate) fn first_at(&self, now: Instant) -> Option<usize> {
        (self.least == now.as_ns()).then(|| self.number_of_least())
    }

    fn number_of_least(&self) -> usize {
        let mut group = 0;
        loop {
            let &[a, b, c, _] = &self.groups[group];
            let child = match self.least {
                least if least == a => 0,
                least if least == b => 1,
                least if least == c => 2,
                _ => 3,
            };
            if group >= self.leaves {
                return (group - self.leaves) * WIDTH + child;
            }
            group = group * WIDTH + 1 + child;
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, number: usize, at: Option<Instant>) {
        let (mut group, mut place) = (self.leaves + number / WIDTH, number % WIDTH);
        let mut value = at.map_or(NEVER, Instant::as_ns);
        loop {
            let of = &mut self.groups[group];
            // Above, nothing changes with what is not the least here, and was not before.
            if of[place] == value {
                return;
            }
            of[place] = value;
            value = least(of);
            if group == 0 {
                self.least = value;
                return;
            }
            (group, place) = ((group - 1) / WIDTH, (group - 1) % WIDTH);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_is_the_earliest_and_the_lowest_of_these(
            places in 0..70_usize,
            sets in prop::collection::vec((0..70_usize, 0..6_u64), 0..90),
        ) {
            let mut earliest = Earliest::new(places);
            let mut at = vec![None; places];
            prop_assert_eq!(earliest.first(), None);
            for (number, when) in sets {
                if number >= places {
                    continue;
                }
                at[number] = if when == 0 { None } else { Instant::from_ns(when) };
                earliest.set(number, at[number]);
                let first = (0..places).filter_map(|number| Some((at[number]?, number))).min();
                prop_assert_eq!(earliest.first(), first);
            }
        }
    }
}
