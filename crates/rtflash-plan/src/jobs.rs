//! Jobs, and what they are for.

use serde::{Deserialize, Serialize};

use crate::ids::SourceId;

/// A job: the `index`-th one of a source, by position in [`Plan::sources`](crate::Plan::sources).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId {
    /// Position of the source.
    pub source: SourceId,
    /// Number of the job, from 0, in order of release.
    pub index: u64,
}

/// The purpose of a job, or of an operation of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A real-time read request.
    Read,
    /// A real-time write request.
    Write,
    /// Garbage collection.
    Gc,
    /// A job that is not real-time.
    Server,
}

impl Kind {
    /// The name in trace files: `read`, `write`, `gc` or `server`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Gc => "gc",
            Kind::Server => "server",
        }
    }
}
