//! Which of several lanes comes next.

use rtflash_model::Instant;
use serde::{Deserialize, Serialize};

/// Later than every instant.
const NEVER: u64 = u64::MAX;

/// The earlier of two instants, of which either or both may be missing.
#[inline]
pub(crate) fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, None) => a,
        (None, b) => b,
    }
}

/// An instant for each of some lanes, or none, and the lane of the earliest: the lowest among
/// equals.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Earliest {
    /// A tournament: who plays at 2n and 2n + 1 is played for at n; the winner of all is at 1, the
    /// lanes are in the last half, one after another. Each is an instant in nanoseconds, or
    /// [`NEVER`], and the lane.
    nodes: Vec<(u64, usize)>,
}

impl Earliest {
    /// For so many lanes, without instants.
    pub(crate) fn new(lanes: usize) -> Earliest {
        let places = lanes.next_power_of_two().max(2);
        let mut earliest = Earliest { nodes: vec![(NEVER, 0); 2 * places] };
        for (lane, leaf) in earliest.nodes[places..].iter_mut().enumerate() {
            leaf.1 = lane;
        }
        for node in (1..places).rev() {
            earliest.nodes[node] = earliest.nodes[2 * node];
        }
        earliest
    }

    /// The earliest instant, and whose it is.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Instant, usize)> {
        let (at, lane) = self.nodes[1];
        Some((Instant::from_ns(at)?, lane))
    }

    /// The earliest instant in nanoseconds, later than all instants where there is none.
    #[inline]
    pub(crate) fn first_ns(&self) -> u64 {
        self.nodes[1].0
    }

    /// The lane of the earliest instant, if that is now.
    #[inline]
    pub(crate) fn first_at(&self, now: Instant) -> Option<usize> {
        let (at, lane) = self.nodes[1];
        (at == now.as_ns()).then_some(lane)
    }

    /// The instant of a lane.
    #[inline]
    pub(crate) fn set(&mut self, lane: usize, at: Option<Instant>) {
        let mut node = self.nodes.len() / 2 + lane;
        let mut winner = (at.map_or(NEVER, Instant::as_ns), lane);
        self.nodes[node].0 = winner.0;
        while node > 1 {
            let other = self.nodes[node ^ 1];
            // The lanes on the left are lower.
            let is_left = node.is_multiple_of(2);
            if other.0 < winner.0 || (other.0 == winner.0 && !is_left) {
                winner = other;
            }
            node /= 2;
            // Above, nobody is asked about a lane that has lost here, and lost here before.
            if self.nodes[node] == winner {
                break;
            }
            self.nodes[node] = winner;
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
