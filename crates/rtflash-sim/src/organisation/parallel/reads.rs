//! Reads that wait for chips, by the logical pages that they are for.

use rtflash_model::{Lpn, PerId};
use serde::{Deserialize, Serialize};

use super::Entry;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct WaitingRead {
    entry: Entry,
    /// The one of the same page that came before it: see [`WaitingReads::last`].
    before: u32,
}

/// Reads that wait: they move to another chip when their page does.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WaitingReads {
    /// For each cluster and logical page, the read that came last: one more than its place in
    /// `reads`, and 0 where none waits.
    last: Vec<PerId<Lpn, u32>>,
    reads: Vec<WaitingRead>,
    free: Vec<u32>,
}

fn place(link: u32) -> Option<usize> {
    link.checked_sub(1).map(|place| Lpn(place).index())
}

impl WaitingReads {
    pub(super) fn new(logical_pages: impl Iterator<Item = u32>) -> WaitingReads {
        let last = logical_pages.map(|pages| PerId::filled(0, pages)).collect();
        WaitingReads { last, reads: Vec::new(), free: Vec::new() }
    }

    pub(super) fn enter(&mut self, cluster: usize, lpn: Lpn, entry: Entry) {
        let last = &mut self.last[cluster][lpn];
        let read = WaitingRead { entry, before: *last };
        match self.free.pop() {
            Some(link) => {
                self.reads[Lpn(link - 1).index()] = read;
                *last = link;
            }
            None => {
                self.reads.push(read);
                *last = u32::try_from(self.reads.len()).expect("fewer pages than that may be pending");
            }
        }
    }

    /// A read begins, or has another page.
    pub(super) fn leave(&mut self, cluster: usize, lpn: Lpn, entry: &Entry) {
        let (mut link, mut after): (u32, Option<usize>) = (self.last[cluster][lpn], None);
        while let Some(at) = place(link) {
            let read = self.reads[at];
            if read.entry == *entry {
                match after {
                    None => self.last[cluster][lpn] = read.before,
                    Some(after) => self.reads[after].before = read.before,
                }
                self.free.push(link);
                return;
            }
            (link, after) = (read.before, Some(at));
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.reads.len() == self.free.len()
    }

    pub(super) fn of(&self, cluster: usize, lpn: Lpn) -> impl Iterator<Item = &Entry> {
        let read = |link: u32| place(link).map(|place| &self.reads[place]);
        let first = read(self.last[cluster][lpn]);
        std::iter::successors(first, move |of| read(of.before)).map(|of| &of.entry)
    }
}
