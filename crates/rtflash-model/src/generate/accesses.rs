//! Which pages the requests of a generated task read and write.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::random::Stream;
use crate::task::{Access, Request, Task};

/// The access patterns of a set's requests, as [`SetSpec`](super::SetSpec) asks for them. Sets that
/// differ in these alone have the same tasks otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Accesses {
    /// Every request is random.
    #[default]
    Random,
    /// Every request is sequential.
    Sequential,
    /// Every request goes on where the one before it ended.
    Stream,
    /// Each request is random or sequential, with equal chance.
    Mixed,
}

impl Accesses {
    /// All there are.
    pub const ALL: [Accesses; 4] = [Accesses::Random, Accesses::Sequential, Accesses::Stream, Accesses::Mixed];

    /// What the user calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Accesses::Random => "random",
            Accesses::Sequential => "sequential",
            Accesses::Stream => "stream",
            Accesses::Mixed => "mixed",
        }
    }

    /// Gives every request its pattern. `key` is that of the stream that mixed patterns are drawn
    /// from.
    pub(super) fn give(self, tasks: &mut [Task], key: impl FnOnce() -> [u8; 32]) {
        let all = |tasks: &mut [Task], access: &mut dyn FnMut() -> Access| {
            for task in tasks {
                // Drawn for a request that is not there as well: no pattern depends on which ones
                // are.
                let (read, write) = (access(), access());
                let with = |request: Option<Request>, access| request.map(|request| request.with_access(access));
                (task.read, task.write) = (with(task.read, read), with(task.write, write));
            }
        };
        match self {
            Accesses::Random => {}
            Accesses::Sequential => all(tasks, &mut || Access::Sequential),
            Accesses::Stream => all(tasks, &mut || Access::Stream),
            Accesses::Mixed => {
                let mut stream = Stream::new(key());
                all(tasks, &mut || if stream.below(2) == 0 { Access::Random } else { Access::Sequential });
            }
        }
    }
}

/// There is no such choice of access patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownAccesses(pub String);

impl fmt::Display for UnknownAccesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no access `{}`: write random, sequential, stream or mixed", self.0)
    }
}

impl std::error::Error for UnknownAccesses {}

impl FromStr for Accesses {
    type Err = UnknownAccesses;

    fn from_str(text: &str) -> Result<Accesses, UnknownAccesses> {
        let named = Accesses::ALL.into_iter().find(|accesses| accesses.name() == text);
        named.ok_or_else(|| UnknownAccesses(text.to_owned()))
    }
}

impl fmt::Display for Accesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Accesses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
