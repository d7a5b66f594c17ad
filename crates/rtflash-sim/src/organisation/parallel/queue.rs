//! The queue of a chip.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::{ChipWork, Entry};
use crate::engine::priority::Priority;

/// The work of one job's entries, with the numbers of their pages: ascending.
type JobPages = VecDeque<(u64, ChipWork)>;

/// Entries by priority. Those of a job, most of which come in order, are one after another.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ChipQueue {
    first: Option<(Priority, JobPages)>,
    others: BTreeMap<Priority, JobPages>,
    /// Kept for their memory.
    spare: Vec<JobPages>,
}

fn remove_page(pages: &mut JobPages, page: u64, work: ChipWork) -> bool {
    let page = (page, work);
    if pages.front() == Some(&page) {
        pages.pop_front();
        return true;
    }
    let Ok(at) = pages.binary_search(&page) else { return false };
    pages.remove(at).is_some()
}

impl ChipQueue {
    #[inline]
    pub(super) fn first(&self) -> Option<Entry> {
        let &(job, ref pages) = self.first.as_ref()?;
        let &(page, work) = pages.front().expect("a job in a queue has entries");
        Some(Entry { job, page, work })
    }

    /// The job of the first entry, by its slot, and what the entry is about.
    #[inline]
    pub(super) fn first_work(&self) -> Option<(usize, ChipWork)> {
        let (job, pages) = self.first.as_ref()?;
        Some((job.slot, pages.front().expect("a job in a queue has entries").1))
    }

    pub(super) fn insert(&mut self, entry: Entry) {
        let Entry { job, page, work } = entry;
        let page = (page, work);
        let mut unused = || self.spare.pop().unwrap_or_default();
        let pages = match &mut self.first {
            Some((first, pages)) if *first == job => pages,
            Some((first, _)) if *first < job => self.others.entry(job).or_insert_with(unused),
            first => {
                let pages = unused();
                self.others.extend(first.take());
                &mut first.insert((job, pages)).1
            }
        };
        match pages.back() {
            Some(last) if *last > page => {
                let at = pages.partition_point(|other| *other < page);
                pages.insert(at, page);
            }
            _ => pages.push_back(page),
        }
    }

    pub(super) fn pop_first(&mut self) {
        if let Some((_, pages)) = &mut self.first {
            pages.pop_front();
            self.first_may_be_over();
        }
    }

    /// If the first job has no entry left, the next one is the first.
    fn first_may_be_over(&mut self) {
        if self.first.as_ref().is_some_and(|(_, pages)| pages.is_empty()) {
            let over = std::mem::replace(&mut self.first, self.others.pop_first());
            self.spare.extend(over.map(|(_, pages)| pages));
        }
    }

    pub(super) fn remove(&mut self, entry: &Entry) -> bool {
        let Entry { job, page, work } = *entry;
        if let Some((first, pages)) = &mut self.first
            && *first == job
        {
            let removed = remove_page(pages, page, work);
            self.first_may_be_over();
            return removed;
        }
        let Some(pages) = self.others.get_mut(&job) else { return false };
        let removed = remove_page(pages, page, work);
        if pages.is_empty() {
            self.spare.extend(self.others.remove(&job));
        }
        removed
    }

    pub(super) fn append(&mut self, other: &mut ChipQueue) {
        while let Some(entry) = other.first() {
            other.pop_first();
            self.insert(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use rtflash_model::Lpn;
    use rtflash_plan::{Kind, SourceId};

    use super::*;
    use crate::engine::priority::JobDue;

    fn any_entry() -> impl Strategy<Value = Entry> {
        (0..3_u64, 0..3_u64, 0..6_u64, 0..3_u64).prop_map(|(deadline, index, page, work)| {
            let work =
                [ChipWork::Pass, ChipWork::Read(Lpn(2)), ChipWork::Write(Lpn(1))][usize::try_from(work).unwrap()];
            let due = JobDue { deadline, place: 0 };
            let job = Priority { due, kind: Kind::Read, source: SourceId(0), index, slot: 7 };
            Entry { job, page, work }
        })
    }

    proptest! {
        /// A queue is a sorted set.
        #[test]
        fn entries_come_in_the_order_of_their_priorities(
            steps in prop::collection::vec((any_entry(), 0..4_u8), 0..60),
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
                    3 => {
                        queue.pop_first();
                        plain.pop_first();
                    }
                    _ => {}
                }
                prop_assert_eq!(queue.first(), plain.first().copied());
                let work = queue.first_work().map(|(_, work)| work);
                prop_assert_eq!(work, plain.first().map(|first| first.work));
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
