//! How many pages the requests of a generated task have.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// Both ends included. A request that would have fewer or more pages has the nearest number, and
/// the period that makes up its utilization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageRange {
    fewest: u64,
    most: u64,
}

impl PageRange {
    pub(super) fn nearest(self, pages: u64) -> u64 {
        pages.clamp(self.fewest, self.most)
    }
}

/// A text is no range of [`PageRange`]. Says what would be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("two whole numbers above 0, the lower first, such as 1..16, or one")]
pub struct NotPages;

impl FromStr for PageRange {
    type Err = NotPages;

    fn from_str(text: &str) -> Result<PageRange, NotPages> {
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| NotPages);
        let (fewest, most) = match text.split_once("..") {
            Some((fewest, most)) => (number(fewest)?, number(most)?),
            None => (number(text)?, number(text)?),
        };
        if fewest > 0 && fewest <= most { Ok(PageRange { fewest, most }) } else { Err(NotPages) }
    }
}

impl fmt::Display for PageRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.fewest, self.most)
    }
}

impl Serialize for PageRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_two_numbers_or_one() {
        for (text, written) in [("1..16", "1..16"), (" 3 .. 3 ", "3..3"), ("7", "7..7")] {
            assert_eq!(text.parse::<PageRange>().map(|range| range.to_string()), Ok(written.to_owned()));
        }
        for text in ["", "0..4", "0", "5..4", "1...4", "1..", "..4", "-1..4", "1.5..4", "99999999999999999999"] {
            assert_eq!(text.parse::<PageRange>(), Err(NotPages), "{text}");
        }
    }

    #[test]
    fn numbers_are_moved_into_the_range() {
        let range: PageRange = "2..16".parse().expect("a range");
        assert_eq!([0, 1, 2, 9, 16, 17, u64::MAX].map(|pages| range.nearest(pages)), [2, 2, 2, 9, 16, 16, 16]);
    }
}
