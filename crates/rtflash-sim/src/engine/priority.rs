//! The order of jobs, and of their parts on processors, by deadline.

use std::collections::BTreeSet;
use std::ops::Bound;

use rtflash_plan::{JobId, Kind, SourceId};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct JobDue {
    /// In nanoseconds; in the background behind all deadlines.
    pub(crate) deadline: u64,
    /// Its place among jobs of the same deadline.
    pub(crate) place: u64,
}

/// The priority of a job, or of its part on a processor: the lowest goes first. GC jobs have
/// ascending deadlines, so this is rule R2, too, and a fixed order of jobs as (Q4) asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Priority {
    pub(crate) due: JobDue,
    pub(crate) kind: Kind,
    pub(crate) source: SourceId,
    pub(crate) index: u64,
    pub(crate) slot: usize,
}

impl Priority {
    pub(crate) fn job(&self) -> JobId {
        JobId { source: self.source, index: self.index }
    }
}

/// The queue of waiting entries, in order. The first entry is asked at every step, and changes
/// seldom.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct PriorityQueue {
    first: Option<Priority>,
    all: BTreeSet<Priority>,
}

impl PriorityQueue {
    #[inline]
    pub(crate) fn first(&self) -> Option<Priority> {
        self.first
    }

    #[inline]
    pub(crate) fn is_first(&self, slot: usize) -> bool {
        self.first.is_some_and(|first| first.slot == slot)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(crate) fn insert(&mut self, one: Priority) {
        self.all.insert(one);
        self.first = Some(self.first.map_or(one, |first| first.min(one)));
    }

    pub(crate) fn remove(&mut self, one: &Priority) {
        self.all.remove(one);
        if self.first.as_ref() == Some(one) {
            self.first = self.all.first().copied();
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Priority> {
        self.all.iter()
    }

    pub(crate) fn behind(&self, one: Priority) -> impl Iterator<Item = &Priority> {
        self.all.range((Bound::Excluded(one), Bound::Unbounded))
    }
}
