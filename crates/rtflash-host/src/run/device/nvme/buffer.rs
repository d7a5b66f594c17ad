//! The write buffer: pages that have come and are not programmed.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

/// Pages of the drive that are on their way to the flash.
#[derive(Debug)]
pub(super) struct Buffer {
    /// Pages that it holds at most.
    capacity: usize,
    /// Pages programmed at a time, at most.
    drain: usize,
    /// Those that wait, in order, and the same again.
    waiting: VecDeque<u32>,
    known: HashSet<u32>,
    /// How often each page is being programmed.
    draining: HashMap<u32, u32>,
    /// Pages whose programming has begun, and the numbers of those whose programming has not ended.
    begun: u64,
    programs: BTreeSet<u64>,
}

impl Buffer {
    /// An empty buffer of `capacity` pages, which programs up to `drain` of them at a time.
    pub(super) fn new(capacity: u32, drain: u32) -> Buffer {
        Buffer {
            capacity: capacity as usize,
            drain: drain.max(1) as usize,
            waiting: VecDeque::new(),
            known: HashSet::new(),
            draining: HashMap::new(),
            begun: 0,
            programs: BTreeSet::new(),
        }
    }

    /// Takes a page; `false` where it has no room. A page that waits in it already takes no room.
    pub(super) fn take(&mut self, page: u32) -> bool {
        if self.known.contains(&page) {
            return true;
        }
        if self.waiting.len() + self.programs.len() >= self.capacity {
            return false;
        }
        self.known.insert(page);
        self.waiting.push_back(page);
        true
    }

    /// Whether it holds a page.
    pub(super) fn holds(&self, page: u32) -> bool {
        self.known.contains(&page) || self.draining.contains_key(&page)
    }

    /// The next page to be programmed, with its number, if one can be now.
    pub(super) fn next(&mut self) -> Option<(u32, u64)> {
        if self.programs.len() >= self.drain {
            return None;
        }
        let page = self.waiting.pop_front()?;
        self.known.remove(&page);
        *self.draining.entry(page).or_default() += 1;
        let number = self.begun;
        self.programs.insert(number);
        self.begun += 1;
        Some((page, number))
    }

    /// The number of the next page that comes.
    pub(super) fn mark(&self) -> u64 {
        self.begun + self.waiting.len() as u64
    }

    /// Whether all pages are programmed that had come when the mark was this.
    pub(super) fn is_past(&self, mark: u64) -> bool {
        self.programs.first().copied().unwrap_or(self.begun) >= mark
    }

    /// A page has been programmed.
    pub(super) fn programmed(&mut self, page: u32, number: u64) {
        self.programs.remove(&number);
        if let Some(count) = self.draining.get_mut(&page) {
            *count -= 1;
            if *count == 0 {
                self.draining.remove(&page);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_wait_and_go() {
        let mut buffer = Buffer::new(3, 2);
        assert!(buffer.take(7) && buffer.take(8) && buffer.take(7));
        assert_eq!((buffer.next(), buffer.next(), buffer.next()), (Some((7, 0)), Some((8, 1)), None));
        // A page that is being programmed keeps its place; written again it needs another one.
        assert!(buffer.holds(7) && buffer.take(7) && !buffer.take(9) && buffer.take(7));
        assert_eq!(buffer.next(), None);
        buffer.programmed(7, 0);
        assert!(buffer.holds(7) && buffer.take(9) && !buffer.take(1));
        assert_eq!((buffer.next(), buffer.next()), (Some((7, 2)), None));
        // The mark counts page 9, which waits: it is the next one to be programmed.
        let mark = buffer.mark();
        assert_eq!((mark, buffer.is_past(1), buffer.is_past(2)), (4, true, false));
        buffer.programmed(7, 2);
        assert!(!buffer.is_past(2));
        buffer.programmed(8, 1);
        assert!(buffer.is_past(3) && !buffer.is_past(mark));
        assert!(!buffer.holds(7) && !buffer.holds(8) && buffer.holds(9));
        assert_eq!((buffer.next(), buffer.next()), (Some((9, 3)), None));
        buffer.programmed(9, 3);
        assert!(buffer.is_past(mark));
    }
}
