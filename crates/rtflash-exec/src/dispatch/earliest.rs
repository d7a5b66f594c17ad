//! Which of several lanes comes next.

use rtflash_model::Instant;

/// Later than every instant.
const NEVER: u64 = u64::MAX;

/// An instant for each of some lanes, or none, and the lane of the earliest: the lowest among
/// equals.
#[derive(Debug)]
pub(crate) struct Earliest {
    /// In nanoseconds; [`NEVER`] where there is none.
    at: Vec<u64>,
    /// A tournament of them, whose winner is at 1.
    winners: Vec<usize>,
}

impl Earliest {
    /// For so many lanes, without instants.
    pub(crate) fn new(lanes: usize) -> Earliest {
        let mut winners: Vec<usize> = (0..lanes).chain(0..lanes).collect();
        for node in (1..lanes).rev() {
            winners[node] = winners[2 * node].min(winners[2 * node + 1]);
        }
        Earliest { at: vec![NEVER; lanes], winners }
    }

    /// The earliest instant, and whose it is.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Instant, usize)> {
        let &lane = self.winners.get(1)?;
        Some((Instant::from_ns(self.at[lane])?, lane))
    }

    /// The instant of a lane.
    #[inline]
    pub(crate) fn set(&mut self, lane: usize, at: Option<Instant>) {
        self.at[lane] = at.map_or(NEVER, Instant::as_ns);
        let mut node = usize::midpoint(lane, self.at.len());
        while node > 0 {
            let (a, b) = (self.winners[2 * node], self.winners[2 * node + 1]);
            self.winners[node] = if (self.at[b], b) < (self.at[a], a) { b } else { a };
            node /= 2;
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
            lanes in 0..9_usize,
            sets in prop::collection::vec((0..9_usize, 0..6_u64), 0..40),
        ) {
            let mut earliest = Earliest::new(lanes);
            let mut at = vec![None; lanes];
            prop_assert_eq!(earliest.first(), None);
            for (lane, when) in sets {
                if lane >= lanes {
                    continue;
                }
                at[lane] = if when == 0 { None } else { Instant::from_ns(when) };
                earliest.set(lane, at[lane]);
                let first = (0..lanes).filter_map(|lane| Some((at[lane]?, lane))).min();
                prop_assert_eq!(earliest.first(), first);
            }
        }
    }
}
