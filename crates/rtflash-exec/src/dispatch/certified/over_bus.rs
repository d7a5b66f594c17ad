//! Pages that ask for their buses at once and with no command, none of which fails: nearly all do.

use rtflash_model::{Instant, Span};

use super::CertifiedGroup;
use super::operate::{BusUse, ChipAtWork, OpenOperation, Planned};
use super::processor::{Part, ProcessorState};
use crate::dispatch::core::{ChipStep, Core};
use crate::ftl::PagePlace;
use crate::ids::{ChipId, Lpn, PerId};
use crate::options::Waits;
use crate::trace::{Action, Kind, Observer, Operation};

impl<O: Observer> CertifiedGroup<'_, O> {
    /// Whether pages of a processor are such ones.
    #[inline]
    fn asks_at_once(&self, processor: usize) -> bool {
        self.options.placed.waits == Waits::Actual
            && self.core.lengths.command() == Span::ZERO
            && self.processors[processor].faults.is_none()
    }

    /// Starts the pages of a step of users' pages. `beside`: how many other chips of their own
    /// cluster use the channel's bus; all may, where it is not known.
    #[inline]
    pub(super) fn start_each(&mut self, processor: usize, planned: &[Planned], beside: Option<u32>, now: Instant) {
        if !self.asks_at_once(processor) {
            return planned.iter().for_each(|page| self.start_page(processor, page, beside, now));
        }
        let CertifiedGroup { processors, parts, chips, core, .. } = self;
        let of = &processors[processor];
        for page in planned {
            let operation = page_of((of, &mut parts[page.part]), (page.kind, page.action), (page.spot, page.lpn), now);
            ask(core, chips, operation, processor);
        }
    }

    /// Starts the pages of the row that a pass reads or programs, where nothing is filled in. Says
    /// whether they are such pages; if not, nothing has happened.
    #[inline]
    pub(super) fn start_row_at_once(&mut self, processor: usize, part: usize, action: Action, now: Instant) -> bool {
        let is_full = self.row.len() == self.processors[processor].chips.len();
        let is_alone = action == Action::Read || is_full || !self.may_backfill(processor);
        if !is_alone || !self.asks_at_once(processor) {
            return false;
        }
        self.processors[processor].step.chips = self.row.len();
        let CertifiedGroup { processors, parts, chips, core, row, .. } = self;
        let (of, part) = (&processors[processor], &mut parts[part]);
        for &page in row.iter() {
            ask(core, chips, page_of((of, part), (Kind::Gc, action), page, now), processor);
        }
        true
    }
}

/// The operation on a page that begins now.
#[inline(always)]
pub(super) fn page_of(
    (of, part): (&ProcessorState, &mut Part),
    (kind, action): (Kind, Action),
    (spot, lpn): (PagePlace, Lpn),
    now: Instant,
) -> Operation {
    part.starved = false;
    Operation {
        start: now,
        end: now,
        cluster: of.number,
        chip: of.chips[spot.chip],
        action,
        job: part.id(),
        kind,
        block: spot.block,
        page: spot.page,
        lpn,
    }
}

/// An operation begins that asks for its bus: a program now, a read with what it has read.
#[inline(always)]
fn ask<O: Observer>(core: &mut Core<O>, chips: &mut PerId<ChipId, ChipAtWork>, operation: Operation, lane: usize) {
    let (chip, since) = (operation.chip, core.wanted(&operation));
    let ticket = core.begin(&operation, ChipStep::Ask { since, lane }).expect("what asks for a bus has a place");
    chips[chip].open = Some(OpenOperation { operation, ticket, asks_for: BusUse::Page });
}
