//! More of the same: a processor goes on with what it has done, where nothing comes between. It is
//! what it would decide, without the asking.

use rtflash_model::Instant;

use super::CertifiedGroup;
use super::operate::Planned;
use rtflash_ftl::GcStep;

use crate::ftl::PageStore;
use crate::ids::ChipId;
use crate::trace::{Action, Kind, Observer};

impl<O: Observer> CertifiedGroup<'_, O> {
    /// A step has ended with this chip, and nothing is released now: whether its part, which is
    /// still the first one, has gone on with another step of the same kind.
    #[inline]
    pub(super) fn goes_on(&mut self, chip: ChipId, now: Instant) -> bool {
        let number = self.chips[chip].processor;
        let of = &self.processors[number];
        let Some(part) = of.step.more else { return false };
        if !of.queue.is_first(part) || of.registers.is_some() {
            return false;
        }
        match of.step.pages.is_empty() {
            true => self.goes_on_with_copies(number, chip, part, now),
            false => self.goes_on_with_pages(number, chip, part, now),
        }
    }

    /// A pass goes on with another copy, or step of copies. What else a pass does is left to who
    /// decides.
    fn goes_on_with_copies(&mut self, number: usize, chip: ChipId, part: usize, now: Instant) -> bool {
        if self.goes_on_in_one_go(number, chip, part, now) {
            return true;
        }
        let asks = self.asks_inside();
        let of = &mut self.processors[number];
        let server = self.parts[part].key.1 != Kind::Gc;
        let Some(step) = of.store.step_of_pass(server, &mut self.row) else { return false };
        if matches!(step, GcStep::Erase(_) | GcStep::Starved | GcStep::Moved) {
            return false;
        }
        // The end of a copy inside the chip is known at once, and takes the place of the last one.
        if asks || !of.stripe {
            self.core.ends.set(chip, None);
        }
        self.start_step_of_pass(number, (part, server), step, now);
        true
    }

    /// A request of a task that has had a page read or programmed on a chip of a stripe goes on
    /// with the next one there.
    fn goes_on_with_pages(&mut self, number: usize, chip: ChipId, part: usize, now: Instant) -> bool {
        let (of, at) = (&mut self.processors[number], &mut self.parts[part]);
        let kind = at.key.1;
        let (action, lpn, spot) = match (kind, at.reads.front(), at.writes.front()) {
            (Kind::Read, Some(&lpn), _) => {
                let Some(spot) = of.store.find(lpn) else { return false };
                (Action::Read, lpn, spot)
            }
            (Kind::Write, None, Some(&lpn)) if !of.store.is_zoned() => {
                if let Some(&soon) = at.writes.get(1) {
                    of.store.prefetch_page(soon);
                }
                let Some(spot) = of.store.write(lpn) else { return false };
                (Action::Program, lpn, spot)
            }
            _ => return false,
        };
        match action {
            Action::Read => at.reads.pop_front(),
            _ => at.writes.pop_front(),
        };
        // The page before is over, and the part is not.
        at.unfinished -= 1;
        self.entered -= 1;
        of.step.begin(1);
        of.step.more = Some(part);
        self.core.ends.set(chip, None);
        let page = Planned { part, kind, action, spot, lpn };
        if !self.start_at_once(number, &page, now) {
            self.start_each(number, &[page], None, now);
        }
        true
    }
}
