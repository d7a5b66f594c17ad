//! Which logical pages a request reads or writes, under a certificate: all of them are known when
//! it is released.

use std::ops::Range;

use rtflash_model::Access;
use rtflash_model::random::Stream;

use crate::ids::{ClusterId, ColumnId, Lpn, SourceId};
use crate::jobs::JobId;
use crate::options::{Options, Pattern};
use crate::plan::{DrawnAs, Plan, Promise};
use crate::resume::resume;

/// The addresses of the requests of one source: pages of its own range.
#[derive(Debug)]
pub struct Requests {
    pattern: Pattern,
    access: Access,
    range: Range<Lpn>,
    /// s of a stripe: a page's chip is its number mod s.
    stripe: Option<u32>,
    stream: Stream,
    next: u32,
}

resume!([] Requests {
    values: [stream, next],
    parts: [],
    lists: [],
    made: [pattern, access, range, stripe],
});

/// The most draws in search of a page on a certain chip.
const DRAWS: u32 = 16;

impl Requests {
    /// Its own, or those of the source that it mirrors, from the stated request on.
    ///
    /// # Panics
    /// If the source is none of a task's requests under a certificate.
    pub fn of_source(plan: &Plan, number: SourceId, options: &Options) -> Requests {
        let source = &plan.sources()[number];
        let cluster = source.cluster.expect("a task's requests have a cluster");
        let Promise::Certified(certified) = plan.promise() else { panic!("requests are drawn under certificates") };
        let stripe = certified[cluster].certificate.placement.is_by_chip();
        let stripe = stripe.then_some(plan.clusters()[cluster].layout.chips());
        let DrawnAs { source: drawn_as, skipped } = plan.drawn_as(number);
        let stream = Stream::numbered(options.seed, b"requests", drawn_as.into());
        let (pattern, access, range) = (options.pattern, source.access, plan.range(source));
        let mut requests = Requests { pattern, access, range, stripe, stream, next: 0 };
        let mut over = Vec::new();
        for _ in 0..skipped {
            over.clear();
            requests.draw(source.write_pages, &mut over, |_| ColumnId(0));
        }
        requests
    }

    /// The pages of the range.
    pub fn range(&self) -> Range<Lpn> {
        self.range.clone()
    }

    /// Whether a write looks for the fullest block instead of drawing.
    pub fn is_for_fullest(&self) -> bool {
        self.pattern == Pattern::Fullest && self.access == Access::Random
    }

    /// Adds the next request's `pages` pages; `chip_of` is a page's chip now. Sequential requests
    /// go on from the last one's end, and begin anew if the next would not fit in the range; those
    /// of a stream go round wherever it ends.
    pub fn draw(&mut self, pages: u64, lpns: &mut Vec<Lpn>, chip_of: impl Fn(Lpn) -> ColumnId) {
        let length = self.range.end.0 - self.range.start.0;
        if self.access.is_consecutive() {
            let fits = u64::from(length - self.next) >= pages;
            if self.access == Access::Sequential && !fits && pages <= u64::from(length) {
                self.next = 0;
            }
            for _ in 0..pages {
                let nth = self.step(length);
                lpns.push(self.nth(nth));
            }
            return;
        }
        for _ in 0..pages {
            let lpn = self.draw_one(length, &chip_of);
            lpns.push(lpn);
        }
    }

    fn nth(&self, number: u32) -> Lpn {
        Lpn(self.range.start.0 + number)
    }

    fn step(&mut self, length: u32) -> u32 {
        // A position at the end is one at the start, but for a request that has just been found to
        // fit.
        let at = self.next % length;
        self.next = at + 1;
        at
    }

    fn draw_one(&mut self, length: u32, chip_of: impl Fn(Lpn) -> ColumnId) -> Lpn {
        let number = match (self.pattern, self.stripe) {
            (Pattern::Uniform, _) => self.below(length),
            (Pattern::Sequential, _) => self.step(length),
            (Pattern::HotCold, _) => {
                let hot = length.div_ceil(5);
                if hot == length || self.below(10) < 8 { self.below(hot) } else { hot + self.below(length - hot) }
            }
            (Pattern::OneChip | Pattern::Fullest, Some(chips)) => {
                let on_first = length.div_ceil(chips);
                self.below(on_first) * chips
            }
            (Pattern::OneChip | Pattern::Fullest, None) => {
                let mut number = self.below(length);
                for _ in 1..DRAWS {
                    if chip_of(self.nth(number)) == ColumnId(0) {
                        break;
                    }
                    number = self.below(length);
                }
                number
            }
        };
        self.nth(number)
    }

    fn below(&mut self, bound: u32) -> u32 {
        below(&mut self.stream, bound)
    }
}

#[inline]
pub(super) fn below(stream: &mut Stream, bound: u32) -> u32 {
    u32::try_from(stream.below(bound.into())).expect("a number below one of 32 bits")
}

/// The `number`-th page from the `first`-th one of a range on, round and round.
pub(super) fn page_of(range: &Range<Lpn>, first: u64, number: u64) -> Lpn {
    let length = u64::from(range.end.0 - range.start.0);
    let at = (first % length + number % length) % length;
    Lpn(range.start.0 + u32::try_from(at).expect("a number below one of 32 bits"))
}

/// Consecutive pages of `range`, from the one with number `first` on, round and round.
pub fn pages_from(first: u64, pages: u64, range: &Range<Lpn>) -> impl Iterator<Item = Lpn> + use<> {
    let range = range.clone();
    (0..pages).map(move |page| page_of(&range, first, page))
}

/// First its reads, then its writes, each any page of `range`.
pub fn job_pages(seed: u64, cluster: ClusterId, job: JobId, pages: u64, range: &Range<Lpn>) -> Vec<Lpn> {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(b"jobpages");
    key[16..20].copy_from_slice(&cluster.0.to_le_bytes());
    key[20..24].copy_from_slice(&job.source.0.to_le_bytes());
    key[24..].copy_from_slice(&job.index.to_le_bytes());
    let mut stream = Stream::new(key);
    let length = range.end.0 - range.start.0;
    (0..pages).map(|_| Lpn(range.start.0 + below(&mut stream, length))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pages of requests in a row, of the range 8..16 of a stripe of four chips.
    fn drawn(access: Access, pages: u64, requests: u32) -> Vec<Vec<u32>> {
        let range = Lpn(8)..Lpn(16);
        let stream = Stream::numbered(1, b"requests", 0);
        let mut of = Requests { pattern: Pattern::OneChip, access, range, stripe: Some(4), stream, next: 0 };
        let mut next = || {
            let mut lpns = Vec::new();
            of.draw(pages, &mut lpns, |_| ColumnId(0));
            lpns.into_iter().map(|lpn| lpn.0).collect()
        };
        (0..requests).map(|_| next()).collect()
    }

    #[test]
    fn a_stream_goes_round_and_a_sequential_request_begins_anew() {
        assert_eq!(drawn(Access::Sequential, 3, 3), [[8, 9, 10], [11, 12, 13], [8, 9, 10]]);
        assert_eq!(drawn(Access::Stream, 3, 4), [[8, 9, 10], [11, 12, 13], [14, 15, 8], [9, 10, 11]]);
        let whole: Vec<u32> = (8..16).collect();
        assert_eq!(drawn(Access::Stream, 8, 2), [whole.clone(), whole.clone()]);
        assert_eq!(drawn(Access::Stream, 20, 1), [[whole.clone(), whole, vec![8, 9, 10, 11]].concat()]);
    }

    /// A chip has at most an s-th, rounded up, of the pages of a stream's requests in a row, and
    /// some chip has that many.
    #[test]
    fn a_stream_is_spread_evenly() {
        for pages in 1..11 {
            let drawn = drawn(Access::Stream, pages, 40);
            for (first, count) in (0..20).flat_map(|first| (1..20).map(move |count| (first, count))) {
                let row = drawn[first..first + count].concat();
                let on = |chip: u32| row.iter().filter(|&&lpn| lpn % 4 == chip).count();
                assert_eq!((0..4).map(on).max(), Some(row.len().div_ceil(4)), "{count} of {pages} from the {first}-th");
            }
        }
    }
}
