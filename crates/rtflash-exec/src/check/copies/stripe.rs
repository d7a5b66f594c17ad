//! Copies on a chip of a stripe.

use super::follow_each_other;
use crate::check::rules::Rules;
use crate::check::{Checks, WatchedChip};
use crate::ids::{ChipId, PageId};
use crate::trace::{CopiedPage, CopyRun, Kind};

impl Checks<'_> {
    /// Looks at copies of a GC job on a chip of a stripe as long as each is as it should be, where
    /// zeroes need not be noted. Says how many are. Nothing is changed by the one that is not.
    pub(super) fn look_at_copies_in_stripe(&mut self, run: &CopyRun) -> usize {
        let (&[chip], Some(first)) = (&run.chips[..], run.times.first()) else { return 0 };
        let at = self.chips[chip];
        if !self.may_be_plain_in_stripe(run, at, chip) {
            return 0;
        }
        let Rules::Certified(by) = &mut self.rules else { return 0 };
        let Some((free, most)) = by.collections.may_take(at.processor, &mut self.mapping, first.start) else {
            return 0;
        };
        let Some(pass) = by.collections.plain_pass(at.processor, first) else { return 0 };
        let (mut pages, mut next) = (self.mapping.plain_pages(at), self.page_order.next_pages(at.watched));
        let mut seen = 0_usize;
        while let Some(first @ &CopiedPage { lpn, from, to }) = run.pages.get(seen).filter(|_| seen < most) {
            let (there, here) = (pages.spot(from), pages.spot(to));
            let Some(programmed) = next.of(to).filter(|_| pass.may_copy(from.0) && pages.is_of_chip(lpn)) else {
                break;
            };
            let together = pages.move_together(run.pages[seen..].iter().take(most - seen), first, true);
            if together > 0 {
                *programmed += together;
                seen += PageId(together).index();
                continue;
            }
            if !pages.moves(lpn, (from, there), (to, here)) {
                break;
            }
            *programmed += 1;
            seen += 1;
        }
        let Some(before) = seen.checked_sub(1) else { return 0 };
        let (Some(last), Some(page)) = (run.times.get(before), run.pages.get(before)) else { return 0 };
        pass.go_on(seen as u64, first, last);
        *self.chip_exclusion.free_at(chip) = last.end;
        self.mapping.copied(at, (page.lpn, page.to), last.read, seen);
        by.collections.takes(at.processor, chip, free.saturating_sub(seen as u64), last.start);
        if let Some(pending) = self.ledger.get(run.job) {
            let steps = run.times[..seen].iter().map(|times| (times.start, times.end));
            by.processors.goes_on_with(at.processor, steps, pending.deadline());
            pending.last_end = pending.last_end.max(last.end);
            pending.collected = true;
        }
        // A copy is begun with its read.
        self.latest = self.latest.max(last.start);
        seen
    }

    /// Whether copies are in their turn, one behind the other, and take as long as they should, so
    /// that only the pages have to be looked at.
    fn may_be_plain_in_stripe(&mut self, run: &CopyRun, at: WatchedChip, chip: ChipId) -> bool {
        let quiet = self.quiet_of_copies();
        let Rules::Certified(by) = &self.rules else { return false };
        let (Some(pending), Some(lengths)) = (self.ledger.get(run.job), self.desks.plain_copies_in_stripe(chip)) else {
            return false;
        };
        run.pages.len() == run.times.len()
            && run.start() > quiet
            && !by.failures.may_fail()
            && !pending.starved
            && pending.release.kind == Kind::Gc
            && pending.release.cluster == Some(run.cluster)
            && at.cluster == run.cluster
            && self.mapping.is_plain_stripe(run.cluster)
            && self.desks.is_clear(chip)
            && *self.chip_exclusion.free_at(chip) <= run.start()
            && by.processors.is_judged(at.processor, run.job, run.start())
            && follow_each_other(run, lengths)
    }
}
