//! The write buffer: pages that have come and are not programmed.

use std::collections::{HashMap, HashSet, VecDeque};

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
    programs: usize,
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
            programs: 0,
        }
    }

    /// Takes a page; `false` where it has no room. A page that waits in it already takes no room.
    pub(super) fn take(&mut self, page: u32) -> bool {
        if self.known.contains(&page) {
            return true;
        }
        if self.waiting.len() + self.programs >= self.capacity {
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

    /// The next page to be programmed, if one may be now.
    pub(super) fn next(&mut self) -> Option<u32> {
        if self.programs >= self.drain {
            return None;
        }
        let page = self.waiting.pop_front()?;
        self.known.remove(&page);
        *self.draining.entry(page).or_default() += 1;
        self.programs += 1;
        Some(page)
    }

    /// A page has been programmed.
    pub(super) fn programmed(&mut self, page: u32) {
        self.programs = self.programs.saturating_sub(1);
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
        assert_eq!((buffer.next(), buffer.next(), buffer.next()), (Some(7), Some(8), None));
        // What is being programmed is held, and its place with it; written again it needs another
        // one.
        assert!(buffer.holds(7) && buffer.take(7) && !buffer.take(9) && buffer.take(7));
        assert_eq!(buffer.next(), None);
        buffer.programmed(7);
        assert!(buffer.holds(7) && buffer.take(9) && !buffer.take(1));
        assert_eq!((buffer.next(), buffer.next()), (Some(7), None));
        buffer.programmed(8);
        buffer.programmed(7);
        assert!(!buffer.holds(7) && !buffer.holds(8) && buffer.holds(9));
        assert_eq!((buffer.next(), buffer.next()), (Some(9), None));
    }
}
