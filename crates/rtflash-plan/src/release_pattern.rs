//! When requests are released and how long their operations take, stated as data.

mod read;
mod write;

pub use read::{read_partial_release_pattern, read_release_pattern};
pub use write::write_release_pattern;

use std::collections::BTreeMap;

use rtflash_model::{Instant, Span, TaskId};

use crate::jobs::Kind;
use crate::plan::Source;

/// The stated pages of one task's requests, its reads or its writes. Nothing by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestPattern {
    /// The first nominal arrival, after the start; `None`: as [`Phases`](crate::Phases).
    pub offset: Option<Span>,
    /// Gaps beyond a period; behind the list as [`Recurrence`](crate::Recurrence).
    pub gaps: Vec<Span>,
    /// Nominal arrivals instead of the offset and the first gaps, in order; less than a period
    /// apart only with [`Options::police`](crate::Options::police).
    pub releases: Vec<Instant>,
    /// 1 to [`MAX_REQUEST_PAGES`](crate::MAX_REQUEST_PAGES) each, perhaps more than declared.
    pub pages: Vec<u64>,
    /// If the device states ranges, in thousandths of the way to the longest; the last entry
    /// holds behind the list, and [`Times`](crate::Times) where it is empty.
    pub lengths: Vec<u16>,
}

/// A release pattern: a statement for the requests of each task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReleasePattern {
    requests: BTreeMap<(TaskId, Kind), RequestPattern>,
}

impl ReleasePattern {
    /// The statement for a task's requests of this kind; `None` if there is none.
    pub fn request(&self, task: TaskId, kind: Kind) -> Option<&RequestPattern> {
        self.requests.get(&(task, kind))
    }

    /// The statement for the jobs of a source; `None` if there is none.
    pub fn of(&self, source: &Source) -> Option<&RequestPattern> {
        self.request(source.task()?, source.kind)
    }

    /// The statement for a task's requests of this kind, to be changed.
    pub fn request_mut(&mut self, task: TaskId, kind: Kind) -> &mut RequestPattern {
        self.requests.entry((task, kind)).or_default()
    }
}
