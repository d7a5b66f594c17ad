//! What waits for a chip.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::{ChipWork, Entry};
use crate::dispatch::cluster::Due;
use crate::ids::SourceId;
use crate::trace::Kind;

/// What the entries of one job have in common: the parts of its priority, and its slot.
type JobKey = (Due, Kind, SourceId, u64, usize);

/// Entries by priority. Those of a job, most of which come in order, are one after another.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ChipQueue {
    /// Of each job, which has some, what they are about and the numbers of their pages: ascending.
    jobs: BTreeMap<JobKey, VecDeque<(u64, ChipWork)>>,
    /// Kept for their memory.
    spare: Vec<VecDeque<(u64, ChipWork)>>,
}

fn split(entry: Entry) -> (JobKey, (u64, ChipWork)) {
    let (deadline, kind, source, index, page, slot, work) = entry;
    ((deadline, kind, source, index, slot), (page, work))
}

impl ChipQueue {
    /// The first entry.
    pub(super) fn first(&self) -> Option<Entry> {
        let (&(deadline, kind, source, index, slot), pages) = self.jobs.first_key_value()?;
        let &(page, work) = pages.front().expect("a job in a queue has entries");
        Some((deadline, kind, source, index, page, slot, work))
    }

    pub(super) fn insert(&mut self, entry: Entry) {
        let (job, page) = split(entry);
        let spare = &mut self.spare;
        let pages = self.jobs.entry(job).or_insert_with(|| spare.pop().unwrap_or_default());
        match pages.back() {
            Some(last) if *last > page => {
                let at = pages.partition_point(|other| *other < page);
                pages.insert(at, page);
            }
            _ => pages.push_back(page),
        }
    }

    /// Takes an entry out; `false` where it is not there.
    pub(super) fn remove(&mut self, entry: &Entry) -> bool {
        let (job, page) = split(*entry);
        let Some(pages) = self.jobs.get_mut(&job) else { return false };
        if pages.front() == Some(&page) {
            pages.pop_front();
        } else {
            let Ok(at) = pages.binary_search(&page) else { return false };
            pages.remove(at);
        }
        if pages.is_empty() {
            self.spare.extend(self.jobs.remove(&job));
        }
        true
    }

    /// All entries of another one come here.
    pub(super) fn append(&mut self, other: &mut ChipQueue) {
        while let Some(((deadline, kind, source, index, slot), mut pages)) = other.jobs.pop_first() {
            for (page, work) in pages.drain(..) {
                self.insert((deadline, kind, source, index, page, slot, work));
            }
            other.spare.push(pages);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::ids::Lpn;

    fn any_entry() -> impl Strategy<Value = Entry> {
        (0..3_u64, 0..3_u64, 0..6_u64, 0..3_u64).prop_map(|(deadline, index, page, work)| {
            let work =
                [ChipWork::Pass, ChipWork::Read(Lpn(2)), ChipWork::Write(Lpn(1))][usize::try_from(work).unwrap()];
            ((deadline, 0), Kind::Read, SourceId(0), index, page, 7, work)
        })
    }

    proptest! {
        /// A queue is a sorted set.
        #[test]
        fn entries_come_in_the_order_of_their_priorities(
            steps in prop::collection::vec((any_entry(), 0..3_u8), 0..60),
        ) {
            let (mut queue, mut plain) = (ChipQueue::default(), BTreeSet::new());
            let (mut waiting, mut plain_waiting) = (ChipQueue::default(), BTreeSet::new());
            for (entry, step) in steps {
                match step {
                    0 if !plain.contains(&entry) => {
                        queue.insert(entry);
                        plain.insert(entry);
                    }
                    1 if !plain.contains(&entry) && plain_waiting.insert(entry) => waiting.insert(entry),
                    2 => prop_assert_eq!(queue.remove(&entry), plain.remove(&entry)),
                    _ => {}
                }
                prop_assert_eq!(queue.first(), plain.first().copied());
            }
            for entry in &plain_waiting {
                prop_assert_eq!(queue.remove(entry), plain.remove(entry));
            }
            queue.append(&mut waiting);
            plain.append(&mut plain_waiting);
            while let Some(first) = plain.pop_first() {
                prop_assert_eq!(queue.first(), Some(first));
                prop_assert!(queue.remove(&first));
            }
            prop_assert_eq!((queue.first(), waiting.first()), (None, None));
        }
    }
}
