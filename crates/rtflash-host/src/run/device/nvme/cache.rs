//! Pages that were read ahead.

use std::collections::{HashMap, VecDeque};

/// Pages of the cache for each page that is read ahead.
const SHARE: usize = 64;

/// A page that was read ahead, or is being read.
#[derive(Debug, Default)]
struct Page {
    ready: bool,
    /// Written meanwhile: it is no use once it has been read.
    stale: bool,
    /// Commands that wait for it.
    waiting: Vec<usize>,
}

/// The result of looking up a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CacheLookup {
    /// It is there.
    Ready,
    /// It is being read, and the command waits for it.
    Reading,
    /// Nothing.
    Nothing,
}

/// Pages that were read ahead, the latest ones.
#[derive(Debug, Default)]
pub(super) struct Cache {
    capacity: usize,
    pages: HashMap<u32, Page>,
    /// In order of reading.
    order: VecDeque<u32>,
}

impl Cache {
    /// An empty cache for `read_ahead` pages ahead of each read.
    pub(super) fn new(read_ahead: u32) -> Cache {
        let capacity = (read_ahead as usize).saturating_mul(SHARE).min(1 << 16);
        Cache { capacity, ..Cache::default() }
    }

    /// A command wants a page, and waits for it if it is being read.
    pub(super) fn find(&mut self, page: u32, command: usize) -> CacheLookup {
        match self.pages.get_mut(&page) {
            Some(of) if of.ready => CacheLookup::Ready,
            Some(of) if !of.stale => {
                of.waiting.push(command);
                CacheLookup::Reading
            }
            _ => CacheLookup::Nothing,
        }
    }

    /// A page is being read from now on; `false` where it is known already.
    pub(super) fn read(&mut self, page: u32) -> bool {
        if self.capacity == 0 || self.pages.contains_key(&page) {
            return false;
        }
        while self.pages.len() >= self.capacity {
            let Some(oldest) = self.order.pop_front() else { return false };
            if self.pages.get(&oldest).is_some_and(|of| !of.ready) {
                // Everything is being read.
                self.order.push_front(oldest);
                return false;
            }
            self.pages.remove(&oldest);
        }
        self.pages.insert(page, Page::default());
        self.order.push_back(page);
        true
    }

    /// A page has been read: who waited for it.
    pub(super) fn arrived(&mut self, page: u32) -> Vec<usize> {
        let Some(of) = self.pages.get_mut(&page) else { return Vec::new() };
        of.ready = true;
        let waiting = std::mem::take(&mut of.waiting);
        if of.stale {
            self.forget(page);
        }
        waiting
    }

    /// A page is written.
    pub(super) fn written(&mut self, page: u32) {
        match self.pages.get_mut(&page) {
            Some(of) if of.ready => self.forget(page),
            Some(of) => of.stale = true,
            None => {}
        }
    }

    fn forget(&mut self, page: u32) {
        self.pages.remove(&page);
        self.order.retain(|&other| other != page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read_once_and_forgotten_in_order() {
        let mut cache = Cache::new(1);
        assert_eq!(cache.find(1, 0), CacheLookup::Nothing);
        assert!(cache.read(1) && !cache.read(1));
        assert_eq!((cache.find(1, 5), cache.find(1, 6)), (CacheLookup::Reading, CacheLookup::Reading));
        assert_eq!(cache.arrived(1), [5, 6]);
        assert_eq!(cache.find(1, 7), CacheLookup::Ready);
        // Written while it is there, and while it is being read.
        cache.written(1);
        assert_eq!(cache.find(1, 7), CacheLookup::Nothing);
        assert!(cache.read(1));
        cache.written(1);
        assert_eq!(
            (cache.find(1, 7), cache.arrived(1).len(), cache.find(1, 7)),
            (CacheLookup::Nothing, 0, CacheLookup::Nothing)
        );
        for page in 0..64 {
            assert!(cache.read(page));
        }
        assert!(!cache.read(64), "all are being read");
        cache.arrived(0);
        assert!(cache.read(64) && cache.find(0, 0) == CacheLookup::Nothing && cache.find(1, 0) == CacheLookup::Reading);
        assert!(!Cache::new(0).read(1));
    }
}
