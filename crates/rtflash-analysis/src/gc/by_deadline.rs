//! Garbage collection at many deadlines, each looked at by what it takes alone: requests are
//! counted one by one only where an estimate of their pages does not decide it.

use std::cell::Cell;

use rtflash_model::Span;

use crate::organisation::processor::Processor;
use crate::term::Term;
use crate::time::{Cost, ns};

/// Roundings of an estimate stay below this part of it.
const MARGIN: f64 = 1e-9;

/// What a pass takes, and reclaims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PassLoad {
    /// C_g.
    pub(crate) cost: Cost,
    /// α.
    pub(crate) reclaimed: u64,
}

/// What passes take, by their deadline.
pub(crate) struct GcByDeadline<'p> {
    processor: &'p Processor,
    server: bool,
    /// W.
    pending: u64,
    /// A ≥ slope · D_g + least, and A ≤ slope · D_g + most, about.
    slope: f64,
    least: f64,
    most: f64,
    /// What was found last, by F: it depends on nothing else.
    last: Cell<Option<(u64, Option<PassLoad>)>>,
}

impl<'p> GcByDeadline<'p> {
    pub fn new(processor: &'p Processor, server: bool) -> GcByDeadline<'p> {
        let (mut slope, mut least, mut most) = (0.0, 0.0, 0.0);
        if !processor.leaves_out(Term::Arrivals) {
            for writer in &processor.write_streams {
                let (w, t, j) = (writer.pages.mean(), ns(writer.period), ns(writer.jitter));
                slope += w / t;
                // γ(k) is less than a page away from w k, and k less than one from (D_g + J)/T.
                least += w * j / t - 1.0;
                most += w * (1.0 + j / t) + 1.0;
            }
        }
        GcByDeadline { processor, server, pending: processor.pending(), slope, least, most, last: Cell::new(None) }
    }

    /// Pages that A is at least, and at most, with this deadline.
    fn arrivals_between(&self, deadline: Span) -> (u64, u64) {
        let length = ns(deadline);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Saturates, which is meant.
        let pages = |beyond: f64, margin: f64| ((self.slope * length + beyond) * margin) as u64;
        (pages(self.least, 1.0 - MARGIN), pages(self.most, 1.0 + MARGIN))
    }

    /// The most pages that A may be where what a pass takes and reclaims is light: it is up to some
    /// number of valid pages, and not beyond. `None` where it is with none.
    pub(crate) fn most_arrivals(&self, is_light: impl Fn(PassLoad) -> bool) -> Option<u64> {
        let processor = self.processor;
        let is_light = |valid: u64| self.of_valid(valid).is_some_and(&is_light);
        let (mut light, mut heavy) = (0, processor.block_pages);
        if !is_light(light) {
            return None;
        }
        while light + 1 < heavy {
            let middle = u64::midpoint(light, heavy);
            if is_light(middle) { light = middle } else { heavy = middle }
        }
        // So many blocks have to be closed, and the others may be filled.
        let left_out = u64::from(processor.leaves_out(Term::VictimPage));
        let closed = processor.mapped / (light + left_out + 1) + 1;
        let full = processor.blocks.checked_sub(closed)?.checked_sub(u64::from(self.server))?;
        let pages = full.checked_mul(processor.block_pages)?.checked_sub(self.pending).filter(|&pages| pages > 0)?;
        pages.checked_sub(processor.reserve(0, self.server)?)
    }

    /// Whether A is at most `pages` with this deadline.
    pub(crate) fn arrive_within(&self, deadline: Span, pages: u64) -> bool {
        match self.arrivals_between(deadline) {
            (_, most) if most <= pages => true,
            (least, _) if least > pages => false,
            _ => self.processor.arrivals_of_gc(deadline).is_some_and(|arrivals| arrivals <= pages),
        }
    }

    /// What a pass takes and reclaims with [`Processor::gc`] of this deadline.
    pub(crate) fn pass(&self, deadline: Span) -> Option<PassLoad> {
        let open = |arrivals: u64| {
            let reserve = self.processor.reserve(arrivals, self.server)?;
            self.processor.open(reserve, self.pending, self.server)
        };
        let (least, most) = self.arrivals_between(deadline);
        // With more pages there is never more room, nor are victims emptier.
        let (least, most) = (open(least)?, open(most));
        if most == Some(least) {
            return self.of_open(least);
        }
        let valid = self.processor.valid(least)?;
        if most.and_then(|most| self.processor.valid(most)) == Some(valid) {
            return self.of_open(least);
        }
        self.of_open(open(self.processor.arrivals_of_gc(deadline)?)?)
    }

    /// What a pass takes and reclaims if F is `open` blocks.
    fn of_open(&self, open: u64) -> Option<PassLoad> {
        if let Some((known, pass)) = self.last.get()
            && known == open
        {
            return pass;
        }
        let pass = self.processor.valid(open).and_then(|valid| self.of_valid(valid));
        self.last.set(Some((open, pass)));
        pass
    }

    /// What a pass takes and reclaims if `valid` pages are valid.
    fn of_valid(&self, valid: u64) -> Option<PassLoad> {
        let (cost, _) = self.processor.pass_of(valid)?;
        Some(PassLoad { cost, reclaimed: self.processor.reclaimed(valid) })
    }
}
