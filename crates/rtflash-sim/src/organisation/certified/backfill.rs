//! Chips of a superblock that a step leaves idle, and what they may do meanwhile: rule D3.

use rtflash_ftl::FILL_IN_LOOKS;
use rtflash_model::Span;
use rtflash_plan::ColumnId;
use rtflash_trace::{Action, Kind, Observer};

use super::CertifiedGroup;
use super::operate::Planned;
use crate::engine::priority::Priority;

impl<O: Observer> CertifiedGroup<'_, O> {
    pub(super) fn may_backfill(&self, processor: usize) -> bool {
        self.options.placed.backfill && self.certified[self.processors[processor].number].may_backfill()
    }

    pub(super) fn pages_beside(&self, processor: usize, page: &Planned, step: &[Planned]) -> u32 {
        let channel = |page: &Planned| self.core.channel_of(self.processors[processor].chips[page.spot.chip]);
        let beside = step.iter().filter(|other| channel(other) == channel(page)).count() - 1;
        u32::try_from(beside).expect("chips are numbered with 32 bits")
    }

    /// Adds pages of other requests to a step of users' pages: to the free columns of a row pages
    /// that other requests of tasks write, and to chips that are idle then pages that any job
    /// reads. `reads`: the step is a read.
    pub(super) fn backfill(&mut self, processor: usize, key: Priority, reads: bool, planned: &mut Vec<Planned>) {
        let width = self.processors[processor].chips.len();
        if !reads && planned.len() < width {
            let others: Vec<usize> = self.processors[processor]
                .queue
                .behind(key)
                .filter(|other| other.kind == Kind::Write)
                .take(width - planned.len())
                .map(|other| other.slot)
                .collect();
            for part in others {
                let free = width - planned.len();
                self.write_row(part, free, planned);
            }
        }
        self.backfill_reads(processor, if reads { Some(planned[0].spot.chip) } else { None }, planned);
    }

    /// Adds pages that jobs read, in the order of their priorities from the step's own job on,
    /// where their chips are idle and they are sure to end with the step. `read`: the chip of a
    /// user's read that the step is; then no two pages may be on one channel.
    pub(super) fn backfill_reads(&mut self, processor: usize, read: Option<ColumnId>, planned: &mut Vec<Planned>) {
        let of = &self.processors[processor];
        // No two pages on one channel, or on one chip.
        let max = if read.is_some() { of.channels } else { of.chips.len() };
        if planned.len() >= max {
            return;
        }
        let row = planned.iter().any(|page| page.action == Action::Program);
        let device = self.plan.device();
        // A read is to be no longer than the row; with commands it waits once more.
        let cluster = &self.plan.clusters()[of.number];
        let wait = if device.has_commands() { cluster.page_delay } else { Span::ZERO };
        if row && device.page_read().saturating_add(wait) > device.page_program() {
            return;
        }
        let channel_of = |chip: ColumnId| self.core.channel_of(of.chips[chip]);
        let foreign_of = |chip: ColumnId| self.chips[of.chips[chip]].foreign_chips;
        let mut looks = 0;
        let mut taken: Vec<(usize, usize)> = Vec::new();
        'queue: for key in of.queue.iter() {
            for (place, &lpn) in self.parts[key.slot].reads.iter().enumerate() {
                looks += 1;
                if looks > FILL_IN_LOOKS || planned.len() >= max {
                    break 'queue;
                }
                // A page that holds nothing is over when it is the first one.
                let Some(spot) = of.store.find(lpn) else { continue };
                let is_valid = planned.iter().all(|page| {
                    page.spot.chip != spot.chip
                        && (read.is_none() || channel_of(page.spot.chip) != channel_of(spot.chip))
                });
                if is_valid && read.is_none_or(|read| foreign_of(spot.chip) <= foreign_of(read)) {
                    planned.push(Planned { part: key.slot, kind: key.kind, action: Action::Read, spot, lpn });
                    taken.push((key.slot, place));
                }
            }
        }
        // From behind, so that the places are still right.
        for (part, place) in taken.into_iter().rev() {
            self.parts[part].reads.remove(place);
        }
    }
}
