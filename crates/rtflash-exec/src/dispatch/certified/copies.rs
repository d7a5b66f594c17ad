//! Copies of a GC job inside a chip of a stripe, which nobody else looks at before the next
//! release: they are made in one go.

use rtflash_ftl::GcStep;
use rtflash_model::{Instant, Span};

use super::CertifiedGroup;
use crate::ftl::{PagePlace, PageStore};
use crate::ids::{ChipId, Lpn};
use crate::options::Phases;
use crate::trace::{CopiedPage, CopyRun, CopyTimes, Kind, Observer};

/// So many copies are made in one go at most.
const COPIES: usize = 256;

impl<O: Observer> CertifiedGroup<'_, O> {
    /// Goes on with copies on a chip of a stripe, as long as all of their operations begin before
    /// anything is released. Says whether there are any.
    pub(super) fn goes_on_in_one_go(&mut self, number: usize, chip: ChipId, part: usize, now: Instant) -> bool {
        let (of, until) = (&mut self.processors[number], self.core.undisturbed());
        let of_job = self.parts[part].key.1 == Kind::Gc;
        // With a command a copy asks for the bus. What waits for an erase is released by one.
        let is_alone = of.stripe && of_job && of.faults.is_none() && self.core.lengths.command() == Span::ZERO;
        if !is_alone || self.options.phases == Phases::AtErases {
            return false;
        }
        let job = self.parts[part].id();
        let mut run = CopyRun::new(of.number, job);
        let (mut at, mut next) = (now, of.store.next_of_pass(false));
        while next.is_some() && at < until && run.times.len() < COPIES {
            let read = at.saturating_add(self.core.lengths.read(job, chip, at));
            if read >= until {
                break;
            }
            // Where no page is free, nothing has changed.
            let Some(GcStep::Copyback(from, to, lpn)) = of.store.step_of_pass(false, &mut self.row) else { break };
            let end = read.saturating_add(self.core.lengths.program(job, chip, read));
            let place = |spot: PagePlace| (spot.block, spot.page);
            run.pages.push(CopiedPage { lpn: Lpn(lpn), from: place(from.into()), to: place(to.into()) });
            run.times.push(CopyTimes { start: at, read, end });
            at = end;
            next = of.store.next_of_pass(false);
            if let Some(lpn) = next {
                of.store.prefetch_place(lpn);
                self.core.observer.as_observer().expect(of.number, lpn);
            }
        }
        if run.times.is_empty() {
            return false;
        }
        run.chips.push(chip);
        of.step.begin(1);
        of.step.more = Some(part);
        self.parts[part].starved = false;
        self.core.observer.copies(run);
        self.work(chip, at);
        true
    }
}
