//! Copies of passes that are as they should be in all respects: nearly all are. They are looked at
//! together, chip by chip, and no gauge changes.
//!
//! Here are those under serial dispatch.

mod stripe;

use rtflash_model::Instant;

use super::Checks;
use super::length::Length;
use super::look::class_of;
use super::rules::{Order, Rules};
use crate::ids::PageId;
use crate::trace::{Action, CopiedPage, CopyRun, CopyTimes, Kind};

impl Checks<'_> {
    /// Copies of a pass. What is not as it should be is looked at operation by operation, behind
    /// the rest.
    pub(super) fn look_at_copies(&mut self, run: &CopyRun) {
        let (Some(first), Some(last)) = (run.times.first(), run.times.last()) else { return };
        if let Rules::Certified(_) = self.rules {
            for &chip in &run.chips {
                self.settle(self.chips[chip].processor);
            }
            let seen = self.look_at_copies_in_stripe(run);
            run.for_each_step(|copy, _| copy >= seen, |step| self.look_at(step));
            return;
        }
        run.chips.iter().for_each(|&chip| self.settle_lane(run.cluster, chip));
        if !self.may_be_plain(run, first) {
            run.for_each_step(|_, _| true, |step| self.look_at(step));
            return;
        }
        let mut odd = Vec::new();
        for column in 0..run.chips.len() {
            let seen = self.look_at_copies_on(run, column);
            if seen < run.times.len() {
                odd.push((column, seen));
            }
        }
        let seen = odd.iter().map(|&(_, seen)| seen).min().unwrap_or(run.times.len());
        self.is_copying(run, (first, last), seen);
        if !odd.is_empty() {
            let is_odd = |copy, chip| odd.iter().any(|&(column, seen)| column == chip && copy >= seen);
            run.for_each_step(is_odd, |step| self.look_at(step));
        }
    }

    /// Whether copies are in their turn, one behind the other, and take as long as they should, so
    /// that only the pages have to be looked at; and zeroes need not be noted.
    fn may_be_plain(&mut self, run: &CopyRun, first: &CopyTimes) -> bool {
        let quiet = self.quiet_of_copies();
        let Rules::Utilization(by) = &self.rules else { return false };
        let Order::Serial(edf, idling) = &by.order else { return false };
        let (Some(pending), Some((read, program))) = (self.ledger.get(run.job), self.desks.plain_copies()) else {
            return false;
        };
        run.pages.len() == run.times.len() * run.chips.len()
            && first.start > quiet
            && !pending.starved
            && pending.release.cluster == Some(run.cluster)
            && edf.is_right(run.cluster, run.job)
            && idling.is_busy(run.cluster, first.start, pending)
            && self.mapping.has_plain_copies(run.cluster)
            && follow_each_other(run, (read, program))
    }

    /// Behind which instant zeroes need not be noted of what passes read and program.
    fn quiet_of_copies(&self) -> Instant {
        let quiet = |action| self.quiet[class_of(action, Kind::Gc)];
        quiet(Action::Read).max(quiet(Action::Program))
    }

    /// Looks at the copies on a chip, by its position in the run, as long as each is as it should
    /// be. Says how many are. Nothing is changed by the one that is not.
    fn look_at_copies_on(&mut self, run: &CopyRun, column: usize) -> usize {
        let (Some(&chip), Some(first), Rules::Utilization(by)) =
            (run.chips.get(column), run.times.first(), &mut self.rules)
        else {
            return 0;
        };
        let (at, free_at) = (self.chips[chip], self.chip_exclusion.free_at(chip));
        if at.cluster != run.cluster || !self.desks.is_clear(chip) || *free_at > first.start {
            return 0;
        }
        let (mut pages, mut next) = (self.mapping.plain_pages(at), self.page_order.next_pages(at.watched));
        let Some(mut pass) = by.passes.plain_pass(at.watched) else { return 0 };
        let (width, mut seen) = (run.chips.len(), 0_usize);
        while let Some(next_copy @ &CopiedPage { lpn, from, to }) = run.pages.get(column + seen * width) {
            let (there, here) = (pages.spot(from), pages.spot(to));
            let Some(of_victim) = pass.may_copy(from, there) else { break };
            let Some(programmed) = next.of(to) else { break };
            let copies = run.pages[column + seen * width..].iter().step_by(width);
            let together = if of_victim { pages.move_together(copies, next_copy, false) } else { 0 };
            if together > 0 {
                *programmed += together;
                pass.copied_together(together, here + (together - 1));
                seen += PageId(together).index();
                continue;
            }
            if !pages.moves(lpn, (from, there), (to, here)) {
                break;
            }
            *programmed += 1;
            pass.copied(of_victim, here);
            seen += 1;
        }
        let Some(&CopyTimes { end, .. }) = seen.checked_sub(1).and_then(|last| run.times.get(last)) else { return 0 };
        *free_at = end;
        by.passes.goes_on_plainly(at.watched, pass, (seen as u64, end.since(first.start)));
        self.mapping.takes(at, seen);
        if let Some(pending) = self.ledger.get(run.job) {
            pending.last_end = pending.last_end.max(end);
            pending.collected = true;
        }
        seen
    }

    /// The cluster is busy with copies, from the first to the last one. So many of them are as they
    /// should be on all chips.
    fn is_copying(&mut self, run: &CopyRun, (first, last): (&CopyTimes, &CopyTimes), seen: usize) {
        let (Rules::Utilization(by), Some(pending)) = (&mut self.rules, self.ledger.get(run.job)) else { return };
        let Order::Serial(_, idling) = &mut by.order else { return };
        by.under_way.begins(run.cluster.index(), (last.read, last.end), pending.deadline());
        idling.works(run.cluster, first.start, last.end);
        if let Some(last) = seen.checked_sub(1).and_then(|last| run.times.get(last)) {
            by.passes.steps(run.cluster, last.start, seen as u64);
        }
        self.latest = self.latest.max(last.read);
    }
}

/// Whether each copy begins when the one before ends, and takes as long as it should.
fn follow_each_other(run: &CopyRun, (read, program): (Length, Length)) -> bool {
    let mut now = run.start();
    run.times.iter().all(|&CopyTimes { start, read: between, end }| {
        let follows = start == now && start <= between && between <= end;
        now = end;
        follows && read.has(between.since(start)) && program.has(end.since(between))
    })
}
