//! Sets of positions, kept as stretches.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Positions, as ranges that do not touch, ascending.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<(u64, u64)>", into = "Vec<(u64, u64)>")]
pub(crate) struct Stretches(Vec<(u64, u64)>);

impl From<Stretches> for Vec<(u64, u64)> {
    fn from(stretches: Stretches) -> Vec<(u64, u64)> {
        stretches.0
    }
}

impl TryFrom<Vec<(u64, u64)>> for Stretches {
    type Error = &'static str;

    fn try_from(ranges: Vec<(u64, u64)>) -> Result<Stretches, &'static str> {
        let sound =
            ranges.iter().all(|(start, end)| start < end) && ranges.windows(2).all(|pair| pair[0].1 < pair[1].0);
        if sound { Ok(Stretches(ranges)) } else { Err("stretches that overlap or run backwards") }
    }
}

impl Stretches {
    /// Adds a range of which no position is there yet.
    pub fn insert(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let at = self.0.partition_point(|&(start, _)| start < range.start);
        self.0.insert(at, (range.start, range.end));
        if at + 1 < self.0.len() && self.0[at].1 == self.0[at + 1].0 {
            self.0[at].1 = self.0.remove(at + 1).1;
        }
        if at > 0 && self.0[at - 1].1 == self.0[at].0 {
            self.0[at - 1].1 = self.0.remove(at).1;
        }
    }

    /// The first positions that are not there: at most `max` of them, below `end`. Empty if there
    /// are none.
    pub fn gap(&self, end: u64, max: u64) -> Range<u64> {
        let mut start = 0;
        let mut stop = end;
        if let Some(&(first, until)) = self.0.first() {
            if first == 0 {
                start = until;
                stop = self.0.get(1).map_or(end, |next| next.0);
            } else {
                stop = first;
            }
        }
        let stop = stop.min(end);
        start..stop.max(start).min(start.saturating_add(max))
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().copied()
    }

    pub fn len(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    pub fn end(&self) -> u64 {
        self.0.last().map_or(0, |last| last.1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn gaps_are_filled_in_order(lengths in prop::collection::vec(1..5u64, 1..30), order in any::<u64>()) {
            let end = lengths.iter().sum();
            let mut ranges: Vec<Range<u64>> = lengths.iter().scan(0, |at, length| {
                *at += length;
                Some(*at - length..*at)
            }).collect();
            let mut stretches = Stretches::default();
            let mut there = vec![false; usize::try_from(end).unwrap()];
            while !ranges.is_empty() {
                let range = ranges.swap_remove(usize::try_from(order % ranges.len() as u64).unwrap());
                stretches.insert(range.clone());
                range.for_each(|position| there[usize::try_from(position).unwrap()] = true);
                let gap = stretches.gap(end, 3);
                let first = there.iter().position(|&here| !here);
                prop_assert_eq!(first.is_none(), gap.is_empty());
                if let Some(first) = first {
                    prop_assert_eq!(gap.start, first as u64);
                    prop_assert!(gap.clone().count() <= 3);
                    prop_assert!(gap.clone().all(|position| !there[usize::try_from(position).unwrap()]));
                }
                prop_assert_eq!(stretches.len(), there.iter().filter(|&&here| here).count() as u64);
                prop_assert_eq!(Stretches::try_from(Vec::from(stretches.clone())), Ok(stretches.clone()));
            }
            prop_assert_eq!(Vec::from(stretches), vec![(0, end)]);
        }
    }
}
