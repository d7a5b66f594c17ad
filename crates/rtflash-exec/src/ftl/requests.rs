//! Which logical pages a request reads or writes, under a certificate: all of them are known when
//! it is released.

use std::ops::Range;

use rtflash_model::random::Stream;
use rtflash_model::{Access, Placement};

use crate::options::Pattern;

/// The addresses of the requests of one source: pages of its own range.
#[derive(Debug)]
pub struct Requests {
    pattern: Pattern,
    access: Access,
    range: Range<u32>,
    /// s of a stripe: a page's chip is its number mod s.
    stripe: Option<u32>,
    stream: Stream,
    next: u32,
}

/// Pages drawn at most in search of one on a certain chip.
const DRAWS: u32 = 16;

impl Requests {
    /// The addresses of the source at this position of the plan, in a cluster of `chips` chips with
    /// this placement.
    pub fn new(
        (pattern, seed): (Pattern, u64),
        source: u32,
        access: Access,
        range: Range<u32>,
        (placement, chips): (Placement, u32),
    ) -> Requests {
        let stripe = (placement == Placement::Stripe).then_some(chips);
        Requests { pattern, access, range, stripe, stream: Stream::numbered(seed, b"requests", source.into()), next: 0 }
    }

    /// The pages of the range.
    pub fn range(&self) -> Range<u32> {
        self.range.clone()
    }

    /// Whether a write looks for the fullest block instead of drawing.
    pub fn is_for_fullest(&self) -> bool {
        self.pattern == Pattern::Fullest && self.access == Access::Random
    }

    /// The pages of the next request, `pages` of them, added to `lpns`. `chip_of` says on which
    /// chip of the cluster (by position) a page is now.
    ///
    /// Sequential requests take consecutive pages from where the last one ended, and begin anew at
    /// the start of the range when the next one would not fit; only a request longer than the range
    /// goes round.
    pub fn draw(&mut self, pages: u64, lpns: &mut Vec<u32>, chip_of: impl Fn(u32) -> u32) {
        let length = self.range.end - self.range.start;
        if self.access == Access::Sequential {
            let fits = u64::from(length - self.next) >= pages;
            if !fits && pages <= u64::from(length) {
                self.next = 0;
            }
            for _ in 0..pages {
                lpns.push(self.step(length));
            }
            return;
        }
        for _ in 0..pages {
            let lpn = self.draw_one(length, &chip_of);
            lpns.push(lpn);
        }
    }

    /// The page at the position, which moves on.
    fn step(&mut self, length: u32) -> u32 {
        // A position at the end is one at the start, but for a request that has just been found to
        // fit.
        let lpn = self.range.start + self.next % length;
        self.next = self.next % length + 1;
        lpn
    }

    fn draw_one(&mut self, length: u32, chip_of: impl Fn(u32) -> u32) -> u32 {
        let start = self.range.start;
        match (self.pattern, self.stripe) {
            (Pattern::Uniform, _) => start + self.below(length),
            (Pattern::Sequential, _) => self.step(length),
            (Pattern::HotCold, _) => {
                let hot = length.div_ceil(5);
                if hot == length || self.below(10) < 8 {
                    start + self.below(hot)
                } else {
                    start + hot + self.below(length - hot)
                }
            }
            (Pattern::OneChip | Pattern::Fullest, Some(chips)) => {
                let on_first = (start..self.range.end).step_by(chips as usize).len();
                start + self.below(u32::try_from(on_first).unwrap_or(1)) * chips
            }
            (Pattern::OneChip | Pattern::Fullest, None) => {
                let mut lpn = start + self.below(length);
                for _ in 1..DRAWS {
                    if chip_of(lpn) == 0 {
                        break;
                    }
                    lpn = start + self.below(length);
                }
                lpn
            }
        }
    }

    fn below(&mut self, bound: u32) -> u32 {
        u32::try_from(self.stream.below(bound.into())).unwrap_or(0)
    }
}

/// So many consecutive pages of `range`, from the one with this number on, round and round.
pub fn pages_from(first: u64, pages: u64, range: &Range<u32>) -> impl Iterator<Item = u32> + use<> {
    let (start, length) = (range.start, u64::from(range.end - range.start).max(1));
    let first = first % length;
    (0..pages).map(move |page| start + u32::try_from((first + page % length) % length).unwrap_or(0))
}

/// The pages of a job that is not real-time, in the cluster at this position: first those that it
/// reads, then those that it writes, each any page of `range`. `job` is the position of its source
/// in the plan, and its number.
pub fn job_pages(seed: u64, cluster: u32, job: (u32, u64), pages: u64, range: &Range<u32>) -> Vec<u32> {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(b"jobpages");
    key[16..20].copy_from_slice(&cluster.to_le_bytes());
    key[20..24].copy_from_slice(&job.0.to_le_bytes());
    key[24..].copy_from_slice(&job.1.to_le_bytes());
    let mut stream = Stream::new(key);
    let length = u64::from(range.end - range.start);
    (0..pages).map(|_| range.start + u32::try_from(stream.below(length)).unwrap_or(0)).collect()
}
