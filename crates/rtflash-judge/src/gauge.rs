//! The observations of a checker: the worst of all, against its bound.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

use super::assumptions::Assumption;
use super::place::Place;

/// The observation that is furthest above its bound, or nearest below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worst {
    /// The promise for this very observation.
    pub bound: u64,
    /// The observed value.
    pub observed: u64,
    /// The place and the time.
    pub place: Place,
}

impl Worst {
    fn excess(&self) -> i128 {
        i128::from(self.observed) - i128::from(self.bound)
    }
}

/// Keeps the worst observation and counts those above their bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Gauge {
    worst: Option<Worst>,
    violations: u64,
}

impl Gauge {
    /// Notes an observation. Nearly all are like one before: that is found out in line.
    #[inline(always)]
    pub(crate) fn note(&mut self, bound: u64, observed: u64, place: impl FnOnce() -> Place) {
        let place = place();
        let broken = observed > bound;
        self.violations += u64::from(broken);
        if let Some(worst) = &self.worst {
            // observed − bound against the worst's. Nothing valid comes near 64 bits.
            let (this, that) = (observed.saturating_add(worst.bound), worst.observed.saturating_add(bound));
            let later = !broken && (bound > worst.bound || (bound == worst.bound && place.at > worst.place.at));
            if this < that || (this == that && later) {
                return;
            }
        }
        self.note_if_worse(Worst { bound, observed, place });
    }

    /// The lowest chip's is the worst among equal ones in a cluster at one instant.
    #[inline(always)]
    pub(crate) fn note_by_chip(&mut self, bound: u64, observed: u64, place: Place) {
        self.note(bound, observed, || place);
        if let Some(worst) = &mut self.worst
            && (worst.bound, worst.observed) == (bound, observed)
            && (worst.place.at, worst.place.cluster) == (place.at, place.cluster)
            && place.chip < worst.place.chip
        {
            worst.place = place;
        }
    }

    #[cold]
    #[inline(never)]
    fn note_if_worse(&mut self, new: Worst) {
        let is_worse = self.worst.is_none_or(|worst| {
            let exceeds = new.observed.saturating_add(worst.bound).cmp(&worst.observed.saturating_add(new.bound));
            // The order in which clusters are compared is no reason to name it.
            let first = if new.observed > new.bound {
                new.place < worst.place
            } else {
                (new.place.at, new.place.cluster) < (worst.place.at, worst.place.cluster)
            };
            exceeds.then(worst.bound.cmp(&new.bound)).then(first.cmp(&false)).is_gt()
        });
        if is_worse {
            self.worst = Some(new);
        }
    }

    /// The worst observation; `None` where there was none.
    pub fn worst(&self) -> Option<Worst> {
        self.worst
    }

    /// How many observations were above their bounds.
    pub fn violations(&self) -> u64 {
        self.violations
    }

    /// Whether none was, also where nothing was observed: the check has not failed.
    pub fn holds(&self) -> bool {
        self.violations == 0
    }

    /// Whether every observation was within its bound; `None` where there was none.
    pub fn verdict(&self) -> Option<bool> {
        self.worst.map(|_| self.holds())
    }

    pub(crate) fn merge(&mut self, other: &Gauge) {
        self.violations += other.violations;
        self.worst = match (self.worst, other.worst) {
            (Some(a), Some(b)) => {
                let key = |worst: &Worst| (-worst.excess(), worst.bound, worst.place);
                Some(if key(&b) < key(&a) { b } else { a })
            }
            (a, b) => a.or(b),
        };
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Gauges([Gauge; Assumption::ALL.len()]);

impl Default for Gauges {
    fn default() -> Gauges {
        Gauges([Gauge::default(); Assumption::ALL.len()])
    }
}

impl Index<Assumption> for Gauges {
    type Output = Gauge;
    #[inline(always)]
    fn index(&self, assumption: Assumption) -> &Gauge {
        &self.0[assumption as usize]
    }
}

impl IndexMut<Assumption> for Gauges {
    #[inline(always)]
    fn index_mut(&mut self, assumption: Assumption) -> &mut Gauge {
        &mut self.0[assumption as usize]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rtflash_model::Instant;

    use super::*;

    fn gauge(seen: &[(u64, u64, u64)]) -> Gauge {
        let mut gauge = Gauge::default();
        for &(bound, observed, at) in seen {
            let at = Instant::from_ns(at).expect("a short time");
            gauge.note(bound, observed, || Place { at, ..Place::default() });
        }
        gauge
    }

    type Kept = Option<(u64, u64, Place)>;

    /// Violations, verdict, worst.
    fn kept(gauge: &Gauge) -> (u64, Option<bool>, Kept) {
        let worst = gauge.worst().map(|worst| (worst.bound, worst.observed, worst.place));
        (gauge.violations(), gauge.verdict(), worst)
    }

    proptest! {
        #[test]
        fn the_worst_of_all_is_kept_however_they_are_divided(
            seen in prop::collection::vec((0..4u64, 0..6u64, 0..5u64), 0..12),
            cut in 0..12usize,
        ) {
            let (first, second) = seen.split_at(cut.min(seen.len()));
            let mut joined = gauge(first);
            joined.merge(&gauge(second));
            let broken = seen.iter().filter(|(bound, observed, _)| observed > bound).count() as u64;
            // Furthest above the bound; then the smaller bound; then the earlier one.
            let worst = seen.iter().copied().min_by_key(|&(bound, observed, at)| (bound as i64 - observed as i64, bound, at));
            let expected = worst.map(|(bound, observed, at)| {
                let at = Instant::from_ns(at).expect("a short time");
                (bound, observed, Place { at, ..Place::default() })
            });
            let verdict = worst.map(|_| broken == 0);
            prop_assert_eq!(kept(&gauge(&seen)), (broken, verdict, expected));
            prop_assert_eq!(kept(&joined), (broken, verdict, expected));
            prop_assert_eq!(joined.holds(), broken == 0);
        }
    }
}
