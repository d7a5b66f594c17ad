//! Steps without pages, which let time pass: with worst victims.

use rtflash_model::{Instant, Span};
use rtflash_plan::{ColumnId, Waits};
use rtflash_trace::{JobId, Observer, Padding, Record};

use super::CertifiedGroup;
use super::operate::ChipAtWork;

impl<O: Observer> CertifiedGroup<'_, O> {
    pub(super) fn pad(&mut self, processor: usize, part: usize, step: rtflash_trace::Step, now: Instant, end: Instant) {
        let of = &self.processors[processor];
        let (cluster, chip) = (of.number, of.first_chip());
        let job = self.parts[part].id();
        self.core.observer.push(Record::Padding(Padding { start: now, end, job, cluster, chip, step }));
        self.work(chip, end);
    }

    /// The time on the bus that a step without pages lets pass, with what it waits for.
    pub(super) fn bus_in_padding(&self, processor: usize, job: JobId, beside: Option<u32>, at: Instant) -> Span {
        let chips = &self.processors[processor].chips;
        let channel = self.core.channel_of(chips[ColumnId(0)]);
        self.core.lengths.transfer(job, channel, at).saturating_add(self.wait_in_padding(processor, beside))
    }

    /// What a step without pages waits for the bus: `beside` so many pages of its own cluster, or
    /// as many as there may be.
    pub(super) fn wait_in_padding(&self, processor: usize, beside: Option<u32>) -> Span {
        let beside = match self.options.placed.waits {
            Waits::Actual => match beside {
                None | Some(0) => return Span::ZERO,
                Some(pages) => pages,
            },
            Waits::Worst => {
                let chips = &self.processors[processor].chips;
                let most = |of: fn(&ChipAtWork) -> u32| chips.iter().map(|&chip| of(&self.chips[chip])).max();
                let others = most(|chip| chip.others).expect("a processor has chips");
                let foreign = most(|chip| chip.foreign_chips).expect("a processor has chips");
                beside.map_or(others, |beside| foreign.saturating_add(beside).min(others))
            }
        };
        self.plan.transfers(beside)
    }

    /// When a step without pages that begins now has read, its command on the bus before that.
    pub(super) fn read_in_padding(&self, processor: usize, job: JobId, beside: Option<u32>, now: Instant) -> Instant {
        let command = self.core.lengths.command();
        let begun = if command == Span::ZERO {
            now
        } else {
            now.saturating_add(command).saturating_add(self.wait_in_padding(processor, beside))
        };
        begun.saturating_add(self.core.lengths.read(job, self.processors[processor].first_chip(), begun))
    }
}
