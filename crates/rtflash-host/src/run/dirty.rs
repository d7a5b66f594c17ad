//! Dirty pages of a file in memory.

use std::collections::BTreeMap;

/// Bytes of a page.
const PAGE: u64 = 4_096;

/// The pages of a file that the device does not have, as places on the device.
#[derive(Debug, Clone, Default)]
pub(super) struct DirtyPages {
    /// Ends by begins. No two ranges touch.
    ranges: BTreeMap<u64, u64>,
    bytes: u64,
    /// The place at which writeback goes on (`writeback_index` of `struct address_space`).
    next: u64,
}

impl DirtyPages {
    /// Bytes of all dirty pages.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Stretches of dirty pages.
    pub(super) fn stretches(&self) -> usize {
        self.ranges.len()
    }

    /// A write makes its pages dirty.
    pub(super) fn add(&mut self, from: u64, size: u64) {
        let last = from.saturating_add(size);
        let (mut begin, mut end) = (from - from % PAGE, last.div_ceil(PAGE).saturating_mul(PAGE));
        while let Some((at, until)) = self.last_up_to(end).filter(|&(_, until)| until >= begin) {
            self.ranges.remove(&at);
            self.bytes -= until - at;
            (begin, end) = (begin.min(at), end.max(until));
        }
        self.ranges.insert(begin, end);
        self.bytes += end - begin;
    }

    fn last_up_to(&self, place: u64) -> Option<(u64, u64)> {
        self.ranges.range(..=place).next_back().map(|(&begin, &end)| (begin, end))
    }

    /// Takes the next pages that lie one behind the other, at most `limit` bytes of them, as
    /// writeback goes through the file (`write_cache_pages` of mm/page-writeback.c with
    /// `range_cyclic`). Returns where they begin and their bytes; `None` if all is clean.
    pub(super) fn take(&mut self, limit: u64) -> Option<(u64, u64)> {
        let within = self.last_up_to(self.next).filter(|&(_, end)| end > self.next);
        let behind = || self.ranges.range(self.next..).next().or(self.ranges.iter().next());
        let (at, until) = within.or_else(|| behind().map(|(&begin, &end)| (begin, end)))?;
        let begin = if within.is_some() { self.next } else { at };
        let end = until.min(begin.saturating_add(limit));
        self.ranges.remove(&at);
        let rest = [(at, begin), (end, until)];
        self.ranges.extend(rest.into_iter().filter(|(begin, end)| begin < end));
        self.bytes -= end - begin;
        self.next = end;
        Some((begin, end - begin))
    }
}

#[cfg(test)]
mod tests {
    use rtflash_model::random::Stream;

    use super::*;

    #[test]
    fn pages_are_written_in_order_and_around() {
        let mut pages = DirtyPages::default();
        // A part of a page makes it dirty, and a page is dirty once.
        pages.add(5_000, 1);
        pages.add(4_096, 4_096);
        pages.add(16_384, 8_192);
        assert_eq!((pages.bytes(), pages.stretches()), (12_288, 2));
        assert_eq!(pages.take(4_096), Some((4_096, 4_096)));
        assert_eq!(pages.take(4_096), Some((16_384, 4_096)));
        // Pages in front of the place wait until all behind it are clean.
        pages.add(0, 24_576);
        assert_eq!(pages.take(1 << 20), Some((20_480, 4_096)));
        assert_eq!(pages.take(1 << 20), Some((0, 20_480)));
        assert_eq!((pages.take(1 << 20), pages.bytes()), (None, 0));
        pages.add(u64::MAX - 1, 9);
        assert_eq!(pages.take(1 << 20), Some((u64::MAX - 4_095, 4_095)));
    }

    /// Ranges agree with a list of pages.
    #[test]
    fn ranges_are_pages() {
        let mut draws = Stream::new([7; 32]);
        for _ in 0..200 {
            let (mut pages, mut plain) = (DirtyPages::default(), [false; 64]);
            for _ in 0..60 {
                if draws.below(3) == 0 {
                    let limit = (draws.below(9) + 1) * PAGE;
                    let Some((from, size)) = pages.take(limit) else { continue };
                    assert!(size > 0 && size <= limit);
                    (from / PAGE..(from + size) / PAGE).for_each(|page| {
                        assert!(std::mem::take(&mut plain[usize::try_from(page).expect("a page")]));
                    });
                } else {
                    let (from, size) = (draws.below(56 * PAGE), draws.below(7 * PAGE) + 1);
                    pages.add(from, size);
                    let last = usize::try_from((from + size).div_ceil(PAGE)).expect("a page");
                    plain[usize::try_from(from / PAGE).expect("a page")..last].fill(true);
                }
                assert_eq!(pages.bytes(), plain.iter().filter(|&&is_dirty| is_dirty).count() as u64 * PAGE);
                let begins = (0..64).filter(|&page| plain[page] && (page == 0 || !plain[page - 1]));
                // A stretch that was cut in two at the place of writeback touches nothing either.
                assert_eq!(pages.stretches(), begins.count());
            }
        }
    }
}
