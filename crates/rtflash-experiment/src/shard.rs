//! A part of an experiment: every N-th set.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Parts that an experiment may be cut into.
pub const MAX_SHARDS: u32 = 1_000_000;

/// Part I of N, written `I/N`, I from 0: the sets whose number leaves the rest I when divided by N.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    index: u32,
    count: u32,
}

/// Why there is no such part. Says what would be right.
#[allow(missing_docs)] // The messages say it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    #[error("write I/N, such as 0/4 for the first of four parts")]
    Form,
    /// I is not below N.
    #[error("part {index} of {count}: parts are counted from 0 to {}", .count.saturating_sub(1))]
    Beyond {
        /// I.
        index: u32,
        /// N.
        count: u32,
    },
    #[error("{0} parts: from 1 to {MAX_SHARDS} are possible")]
    Count(u32),
}

impl Shard {
    /// Everything, as one part.
    pub const WHOLE: Shard = Shard { index: 0, count: 1 };

    /// Part `index` of `count`. Fails if there is no such part.
    pub fn new(index: u32, count: u32) -> Result<Shard, ShardError> {
        if count == 0 || count > MAX_SHARDS {
            return Err(ShardError::Count(count));
        }
        if index >= count { Err(ShardError::Beyond { index, count }) } else { Ok(Shard { index, count }) }
    }

    /// I.
    pub fn index(self) -> u32 {
        self.index
    }

    /// N.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Sets of `all` that belong to it.
    pub fn sets(self, all: u64) -> u64 {
        let (index, count) = (u64::from(self.index), u64::from(self.count));
        all / count + u64::from(all % count > index)
    }

    /// The number of its set at `position`, counted from 0.
    pub fn number(self, position: u64) -> u64 {
        position * u64::from(self.count) + u64::from(self.index)
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Shard, ShardError> {
        let (index, count) = text.split_once('/').ok_or(ShardError::Form)?;
        let number = |part: &str| part.trim().parse().map_err(|_| ShardError::Form);
        Shard::new(number(index)?, number(count)?)
    }
}

impl TryFrom<String> for Shard {
    type Error = ShardError;

    fn try_from(text: String) -> Result<Shard, ShardError> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> String {
        shard.to_string()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.index, self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_belongs_to_one_part() {
        for count in 1..20 {
            for all in [0, 1, 5, 19, 20, 100] {
                let mut numbers: Vec<u64> = (0..count)
                    .map(|index| Shard::new(index, count).expect("a part"))
                    .flat_map(|shard| (0..shard.sets(all)).map(move |position| shard.number(position)))
                    .collect();
                numbers.sort_unstable();
                assert_eq!(numbers, (0..all).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn parts_are_read() {
        assert_eq!("2/3".parse::<Shard>().map(|shard| shard.to_string()), Ok("2/3".into()));
        for text in ["", "1", "a/b", "-1/2", "1/", "1/2/3"] {
            assert_eq!(text.parse::<Shard>(), Err(ShardError::Form), "{text}");
        }
        assert_eq!(
            "3/3".parse::<Shard>().map_err(|error| error.to_string()),
            Err("part 3 of 3: parts are counted from 0 to 2".into())
        );
        assert_eq!("0/0".parse::<Shard>(), Err(ShardError::Count(0)));
    }
}
