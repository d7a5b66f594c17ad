//! The parts that wait on a processor, by priority.

use std::collections::BTreeSet;
use std::ops::Bound;

use serde::{Deserialize, Serialize};

use crate::dispatch::cluster::Due;
use crate::ids::SourceId;
use crate::jobs::Kind;

/// Priority: deadline and place, kind, source, number of the job; and the slot of its part on the
/// processor.
/// GC jobs have ascending deadlines, so this is rule R2, too, and a fixed order of jobs as (Q4)
/// asks for.
pub(super) type Key = (Due, Kind, SourceId, u64, usize);

/// Keys in order. Who comes first is asked at every step, and changes seldom.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct PartQueue {
    first: Option<Key>,
    keys: BTreeSet<Key>,
}

impl PartQueue {
    #[inline]
    pub(super) fn first(&self) -> Option<Key> {
        self.first
    }

    /// Whether this part comes first.
    #[inline]
    pub(super) fn is_first(&self, part: usize) -> bool {
        self.first.is_some_and(|key| key.4 == part)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn insert(&mut self, key: Key) {
        self.keys.insert(key);
        self.first = Some(self.first.map_or(key, |first| first.min(key)));
    }

    pub(super) fn remove(&mut self, key: &Key) {
        self.keys.remove(key);
        if self.first.as_ref() == Some(key) {
            self.first = self.keys.first().copied();
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Key> {
        self.keys.iter()
    }

    /// Those behind this one.
    pub(super) fn behind(&self, key: Key) -> impl Iterator<Item = &Key> {
        self.keys.range((Bound::Excluded(key), Bound::Unbounded))
    }
}
