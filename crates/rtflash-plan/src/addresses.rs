//! Which logical pages a source reads and writes.

use std::collections::VecDeque;
use std::ops::Range;

use rtflash_model::random::Stream;
use serde::{Deserialize, Serialize};

use super::requests::{below, page_of};
use crate::ids::{ClusterId, ColumnId, Lpn, SourceId};
use crate::options::Pattern;

/// The addresses of one source in one cluster: draws logical pages from its own part of the space.
#[derive(Debug, Serialize, Deserialize)]
pub struct Addresses {
    pattern: Pattern,
    part: Range<Lpn>,
    stream: Stream,
    next: u32,
    /// For [`Pattern::OneChip`]: pages that are, or were, on the first chip, in the order of use.
    on_first: VecDeque<Lpn>,
    chosen: VecDeque<Lpn>,
    /// Whether a page that was drawn stays where it is: it was read, not written.
    stays: bool,
    /// Memory is asked for in time, by patterns that do not depend on places.
    ahead: VecDeque<Lpn>,
}

const FIRST: ColumnId = ColumnId(0);

const AHEAD: usize = 4;

impl Addresses {
    /// Within `part`; `reads`: of reads. `chip_of`: a page's chip at the start, by position.
    pub fn new(
        pattern: Pattern,
        seed: u64,
        cluster: ClusterId,
        source: SourceId,
        reads: bool,
        part: Range<Lpn>,
        chip_of: impl Fn(Lpn) -> ColumnId,
    ) -> Addresses {
        // Reads do not make blocks emptier.
        let pattern = if pattern == Pattern::Fullest && reads { Pattern::OneChip } else { pattern };
        let on_first = match pattern {
            Pattern::OneChip => (part.start.0..part.end.0).map(Lpn).filter(|&lpn| chip_of(lpn) == FIRST).collect(),
            _ => VecDeque::new(),
        };
        let stream = Stream::numbered(seed, b"address\0", u64::from(cluster) << 32 | u64::from(source));
        let (chosen, ahead) = (VecDeque::new(), VecDeque::new());
        Addresses { pattern, part, stream, next: 0, on_first, chosen, stays: reads, ahead }
    }

    /// The part from which pages are to be chosen by what is on the device, if they are.
    pub fn chooses_from(&self) -> Option<&Range<Lpn>> {
        (self.pattern == Pattern::Fullest).then_some(&self.part)
    }

    /// These pages are drawn next.
    pub fn choose(&mut self, pages: impl IntoIterator<Item = Lpn>) {
        self.chosen.extend(pages);
    }

    /// The next logical page. `chip_of` says where a page is now.
    pub fn draw(&mut self, chip_of: impl Fn(Lpn) -> ColumnId) -> Lpn {
        if let Some(chosen) = self.chosen.pop_front() {
            return chosen;
        }
        if self.pattern == Pattern::OneChip {
            return self.draw_next(chip_of);
        }
        while self.ahead.len() <= AHEAD {
            let lpn = self.draw_next(|_| FIRST);
            self.ahead.push_back(lpn);
        }
        self.ahead.pop_front().expect("pages are drawn ahead")
    }

    /// The page that will be drawn `later` draws after the next one, if that is known yet.
    #[inline]
    pub fn ahead(&self, later: usize) -> Option<Lpn> {
        self.ahead.get(later).copied()
    }

    fn draw_next(&mut self, chip_of: impl Fn(Lpn) -> ColumnId) -> Lpn {
        let pages = self.part.end.0 - self.part.start.0;
        let nth = match self.pattern {
            Pattern::Uniform | Pattern::Fullest => self.below(pages),
            Pattern::Sequential => {
                let next = self.next;
                self.next = if next + 1 < pages { next + 1 } else { 0 };
                next
            }
            Pattern::HotCold => {
                let hot = pages.div_ceil(5);
                if hot == pages || self.below(10) < 8 { self.below(hot) } else { hot + self.below(pages - hot) }
            }
            Pattern::OneChip => {
                while let Some(lpn) = self.on_first.pop_front() {
                    if chip_of(lpn) == FIRST {
                        if self.stays {
                            self.on_first.push_back(lpn);
                        }
                        return lpn;
                    }
                }
                self.below(pages)
            }
        };
        Lpn(self.part.start.0 + nth)
    }

    /// The `number`-th page from this one of the part on, round and round.
    pub fn at(&self, first: u64, number: u64) -> Lpn {
        page_of(&self.part, first, number)
    }

    /// Says that a page of this part has been written to a chip (by position in the cluster).
    #[inline]
    pub fn written(&mut self, lpn: Lpn, chip: ColumnId) {
        if self.pattern == Pattern::OneChip && chip == FIRST {
            self.on_first.push_back(lpn);
        }
    }

    fn below(&mut self, bound: u32) -> u32 {
        below(&mut self.stream, bound)
    }
}
