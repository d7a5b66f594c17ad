//! How a generated task's utilization is split between reading and writing.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

const SCALE: u32 = 1_000_000_000;

/// The part of a task's utilization that its writes take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Writes {
    /// Drawn for each task as the [`Generator`](super::Generator) says.
    #[default]
    Drawn,
    /// K: in the first K tasks uniform in [0.5, 1), in the others uniform in [0, 0.5).
    Heavy(u32),
    /// Every task writes the same part of its utilization. At 0 no task writes, at 1 none reads.
    Share(WriteShare),
}

impl Writes {
    /// K, if write-heavy tasks were asked for.
    pub fn heavy(self) -> Option<u32> {
        if let Writes::Heavy(tasks) = self { Some(tasks) } else { None }
    }

    /// The part, if a fixed one was asked for.
    pub fn share(self) -> Option<WriteShare> {
        if let Writes::Share(share) = self { Some(share) } else { None }
    }
}

/// A part of a whole, from 0 to 1, both included: an exact number of billionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriteShare {
    billionths: u32,
}

/// A text is no [`WriteShare`]. Says what would be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a decimal from 0 to 1 of at most nine places, such as 0.25")]
pub struct NotAShare;

impl WriteShare {
    pub(super) fn billionths(self) -> u32 {
        self.billionths
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        f64::from(self.billionths) / f64::from(SCALE)
    }
}

impl FromStr for WriteShare {
    type Err = NotAShare;

    fn from_str(text: &str) -> Result<WriteShare, NotAShare> {
        let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let fraction_digits = fraction.trim_end_matches('0');
        if !digits(whole) || !digits(fraction) || fraction_digits.len() > 9 || whole.len() > 9 {
            return Err(NotAShare);
        }
        let parse = |part: &str| part.parse::<u32>().map_err(|_| NotAShare);
        let (whole, fraction) = (parse(whole)?, parse(&format!("{fraction_digits:0<9}"))?);
        match (whole, fraction) {
            (0, billionths) => Ok(WriteShare { billionths }),
            (1, 0) => Ok(WriteShare { billionths: SCALE }),
            _ => Err(NotAShare),
        }
    }
}

impl fmt::Display for WriteShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Nine digits and less: the shortest form of the nearest double is the same decimal.
        f.pad(&self.to_f64().to_string())
    }
}

impl Serialize for WriteShare {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_decimals_from_zero_to_one() {
        for (text, shown) in [("0", "0"), ("1.0", "1"), ("0.250", "0.25"), (" 0.000000001", "0.000000001")] {
            assert_eq!(text.parse::<WriteShare>().map(|share| share.to_string()), Ok(shown.into()), "{text}");
        }
        for text in ["", "-0.1", "1.1", "2", "0.0000000001", ".5", "0.", "1e-1", "nan", "99999999999"] {
            assert_eq!(text.parse::<WriteShare>(), Err(NotAShare), "{text}");
        }
    }
}
