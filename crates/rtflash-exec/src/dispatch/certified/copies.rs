//! Copies of a GC job inside a chip of a stripe, which nobody else looks at before the next
//! release: they are made in one go.

use rtflash_model::{Instant, Span};

use super::CertifiedGroup;
use crate::ids::ChipId;
use crate::options::Phases;
use crate::trace::{CopyRun, CopyTimes, Kind, Observer};

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
        let mut run = CopyRun::on_chip(of.number, job, chip);
        let (mut at, mut is_next) = (now, of.store.next_of_pass(false).is_some());
        while is_next && at < until && run.times.len() < COPIES {
            let begun = run.times.len();
            let most = of.store.copies_together().clamp(1, COPIES - begun);
            while run.times.len() - begun < most && at < until {
                let read = at.saturating_add(self.core.lengths.read(job, chip, at));
                if read >= until {
                    break;
                }
                let end = read.saturating_add(self.core.lengths.program(job, chip, read));
                run.times.push(CopyTimes { start: at, read, end });
                at = end;
            }
            let count = run.times.len() - begun;
            if count == 0 {
                break;
            }
            let (observer, pages) = (self.core.observer.as_observer(), &mut run.pages);
            of.store.copy_together(count, |copied| {
                observer.expect(of.number, copied.lpn);
                pages.push(copied);
            });
            // Where no page is free, nothing has changed.
            if run.pages.len() < run.times.len() {
                at = run.times[begun].start;
                run.times.truncate(begun);
                break;
            }
            is_next = of.store.next_of_pass(false).is_some();
        }
        if run.times.is_empty() {
            return false;
        }
        of.step.begin(1);
        of.step.more = Some(part);
        self.parts[part].starved = false;
        self.core.observer.copies(run);
        self.work(chip, at);
        true
    }
}
