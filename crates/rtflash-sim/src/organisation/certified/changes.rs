//! Changes of a processor's garbage collection while it runs (docs/admission.md).

use std::cmp::Reverse;

use rtflash_ftl::PassTerms;
use rtflash_ftl::image::ImageCollection;
use rtflash_model::{Instant, Span};
use rtflash_plan::PlannedChange;
use rtflash_trace::{Observer, Record, TermsChange};

use super::processor::padded_pass;
use super::registers::ChipRegisters;
use super::{CertifiedGroup, RequestEvent};

impl<O: Observer> CertifiedGroup<'_, O> {
    fn next_change(&self, processor: usize) -> Option<PlannedChange> {
        let of = &self.processors[processor];
        self.certified[of.number].changes.get(of.stage).copied()
    }

    fn last_change(&self, processor: usize) -> Option<PlannedChange> {
        let of = &self.processors[processor];
        let changes = &self.certified[of.number].changes;
        of.stage.checked_sub(1).and_then(|last| changes.get(last).copied())
    }

    /// From when on a processor may make its next change: one at an instant, from `soonest` on.
    pub(super) fn await_change(&mut self, processor: usize, soonest: Instant) {
        let next = self.next_change(processor);
        self.processors[processor].awaits_change = next.is_some();
        let Some(next) = next else { return };
        let at = next.change.not_before.max(soonest);
        if at < self.options.duration {
            let stage = self.processors[processor].stage as u64;
            self.events.push(Reverse((at, RequestEvent::Change(processor, stage))));
        }
    }

    /// A processor that has nothing to do makes the change that is due, if its reserve is there.
    pub(super) fn change_if_idle(&mut self, number: usize, now: Instant) {
        let Some(PlannedChange { change, .. }) = self.next_change(number) else { return };
        let extra = self.last_change(number).map_or(0, |last| last.change.extra_passes);
        let of = &self.processors[number];
        let is_idle = of.queue.is_empty()
            && of.starved.is_empty()
            && !of.step.is_under_way
            && of.registers.as_ref().is_none_or(ChipRegisters::are_empty);
        if now < change.not_before || !is_idle || of.extra < extra || of.changed == Some(now) {
            return;
        }
        let free = of.store.free();
        let Some(counted) = change.counted(free) else { return };
        let (plan, by) = (&self.plan.clusters()[of.number], &self.certified[of.number]);
        let collection = change.collection;
        let (valid, victims) = (collection.victim_pages, self.options.victims);
        let padded = padded_pass(plan, by, of.chips.as_slice(), valid, victims, self.plan.device().chips_per_channel());
        let of = &mut self.processors[number];
        let terms = ImageCollection {
            deadline_ns: collection.deadline.map(Span::as_ns),
            reclaimed_pages: collection.reclaimed_pages,
            reserve_pages: change.goal_pages,
            victim_pages: collection.victim_pages,
            wear_pages: 0,
        };
        of.store.ftl.change(PassTerms::new(Some(terms), padded), counted);
        of.notified = of.store.ftl.arrived();
        (of.stage, of.extra, of.changed) = (of.stage + 1, 0, Some(now));
        self.notify_change(number, now);
        if change.extra_passes > 0 {
            self.advance_at(number, now.saturating_add(Span::NANOSECOND));
        }
        self.await_change(number, now.saturating_add(Span::NANOSECOND));
    }

    fn advance_at(&mut self, processor: usize, at: Instant) {
        if at < self.options.duration {
            let extra = self.processors[processor].extra;
            self.events.push(Reverse((at, RequestEvent::Advance(processor, extra))));
        }
    }

    /// An extra GC job is released: as if α pages had arrived, and been programmed.
    pub(super) fn advance(&mut self, number: usize, now: Instant) {
        let Some(PlannedChange { change, .. }) = self.last_change(number) else { return };
        let of = &mut self.processors[number];
        let pages = change.collection.reclaimed_pages;
        of.store.ftl.advance();
        of.notified = of.notified.saturating_add(pages);
        of.extra += 1;
        let more = of.extra < change.extra_passes;
        self.notify_change(number, now);
        self.collect(number, now);
        if more {
            self.advance_at(number, now.saturating_add(change.spacing));
        }
    }

    fn notify_change(&mut self, number: usize, now: Instant) {
        let of = &self.processors[number];
        let changed = TermsChange {
            at: now,
            cluster: of.number,
            chip: of.first_chip(),
            stage: u32::try_from(of.stage).expect("a list of changes is shorter than 2^32"),
            extra: u32::try_from(of.extra).expect("a run releases fewer than 2^32 extra jobs, one by one (invariant)"),
            arrived: of.notified,
            free: if of.extra == 0 { of.store.free() } else { 0 },
        };
        self.core.observer.push(Record::Changed(changed));
    }
}
