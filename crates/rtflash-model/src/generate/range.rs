//! The utilizations of a sweep: `0.1..4.0`, both ends included.

use std::fmt;
use std::str::FromStr;

use super::utilization::{Utilization, UtilizationError};

/// Points that one sweep may have.
pub const MAX_POINTS: u64 = 1_000_000;

/// Total utilizations from the first to the last, both included; one value if they are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UtilizationRange {
    first: Utilization,
    last: Utilization,
}

/// Why a text is not a [`UtilizationRange`], or a step does not suit one. Says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// This bound (as written) is not a utilization.
    #[error("`{0}`{problem}", problem = wrong_bound(.1))]
    Bound(String, UtilizationError),
    /// The first bound is above the last.
    #[error("the range {0}..{1} runs backwards: write {1}..{0}")]
    Backwards(Utilization, Utilization),
    /// The step makes this many points, above [`MAX_POINTS`].
    #[error("{0} points are too many: a larger step, for at most {MAX_POINTS} points")]
    TooManyPoints(u64),
}

fn wrong_bound(why: &UtilizationError) -> String {
    match why {
        UtilizationError::NotANumber(_) => {
            " is not a number: write one utilization such as 0.7, or a range such as 0.1..4.0".to_owned()
        }
        why => format!(": {why}"),
    }
}

impl UtilizationRange {
    /// An error if `first` is above `last`: [`RangeError::Backwards`].
    pub fn new(first: Utilization, last: Utilization) -> Result<UtilizationRange, RangeError> {
        if first <= last { Ok(UtilizationRange { first, last }) } else { Err(RangeError::Backwards(first, last)) }
    }

    /// The least utilization.
    pub fn first(self) -> Utilization {
        self.first
    }

    /// The greatest utilization.
    pub fn last(self) -> Utilization {
        self.last
    }

    /// first, first + step, …, and last.
    ///
    /// # Errors
    /// [`RangeError::TooManyPoints`] above [`MAX_POINTS`].
    pub fn points(self, step: Utilization) -> Result<Vec<Utilization>, RangeError> {
        let (first, last, step) = (self.first.billionths(), self.last.billionths(), step.billionths());
        let count = (last - first).div_ceil(step) + 1;
        if count > MAX_POINTS {
            return Err(RangeError::TooManyPoints(count));
        }
        // A last step that goes beyond the end stops at it. All lie between two utilizations, so
        // all are utilizations.
        Ok((0..count).filter_map(|i| Utilization::from_billionths(first.saturating_add(i * step).min(last))).collect())
    }
}

impl From<Utilization> for UtilizationRange {
    fn from(only: Utilization) -> UtilizationRange {
        UtilizationRange { first: only, last: only }
    }
}

impl FromStr for UtilizationRange {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<UtilizationRange, RangeError> {
        let bound = |part: &str| part.parse().map_err(|why| RangeError::Bound(part.trim().to_owned(), why));
        match text.split_once("..") {
            Some((first, last)) => UtilizationRange::new(bound(first)?, bound(last)?),
            None => bound(text).map(UtilizationRange::from),
        }
    }
}

impl fmt::Display for UtilizationRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            return self.first.fmt(f);
        }
        f.pad(&format!("{}..{}", self.first, self.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(range: &str, step: &str) -> String {
        let points = range.parse::<UtilizationRange>().unwrap().points(step.parse().unwrap()).unwrap();
        points.iter().map(Utilization::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn both_ends_are_points() {
        assert_eq!(points("0.1..0.5", "0.1"), "0.1 0.2 0.3 0.4 0.5");
        assert_eq!(points("0.1..0.5", "0.15"), "0.1 0.25 0.4 0.5");
        assert_eq!(points("0.7", "0.1"), "0.7");
        assert_eq!(points("0.7..0.7", "0.1"), "0.7");
        assert_eq!(points("1 .. 2", "900000"), "1 2");
        assert_eq!(points("0.1..4.0", "0.1").split(' ').count(), 40);
    }

    #[test]
    fn errors_say_what_would_be_right() {
        for (text, message) in [
            ("4..0.1", "the range 4..0.1 runs backwards: write 0.1..4"),
            ("0..1", "`0`: zero is too small: the least is 0.000000001"),
            ("0.1...4", "`.4` is not a number: write one utilization such as 0.7, or a range such as 0.1..4.0"),
            ("0.1..", "`` is not a number: write one utilization such as 0.7, or a range such as 0.1..4.0"),
            ("0.1-4", "`0.1-4` is not a number: write one utilization such as 0.7, or a range such as 0.1..4.0"),
        ] {
            assert_eq!(text.parse::<UtilizationRange>().unwrap_err().to_string(), message);
        }
        let wide: UtilizationRange = "0.000000001..999999".parse().unwrap();
        let error = wide.points("0.9".parse().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "1111111 points are too many: a larger step, for at most 1000000 points");
        assert!(wide.points("0.000000001".parse().unwrap()).is_err());
        assert_eq!(wide.points("1".parse().unwrap()).unwrap().len(), 1_000_000);
    }

    proptest! {
        #[test]
        fn points_ascend_from_end_to_end(a in 1..1u64 << 40, b in 1..1u64 << 40, step in 1..1u64 << 49) {
            let at = |billionths| Utilization::from_billionths(billionths).unwrap();
            let range = UtilizationRange::new(at(a.min(b)), at(a.max(b))).unwrap();
            prop_assert_eq!(range.to_string().parse(), Ok(range));
            if let Ok(points) = range.points(at(step)) {
                prop_assert_eq!((points.first(), points.last()), (Some(&range.first()), Some(&range.last())));
                prop_assert!(points.is_sorted_by(|a, b| a < b));
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[-+0-9.e]*") {
            let _ = text.parse::<UtilizationRange>();
        }
    }
}
