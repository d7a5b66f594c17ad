//! Pages that ask for their buses at once and with no command, none of which fails: nearly all do.

use rtflash_model::{Id, Instant, Span};

use super::CertifiedGroup;
use super::operate::{BusUse, ChipAtWork, OpenOperation, Planned};
use super::processor::{Part, ProcessorState};
use crate::dispatch::core::{ChipStep, Core};
use crate::ftl::PagePlace;
use crate::ids::{ChipId, Lpn, PageId, PerId};
use crate::options::{Arbitration, Ties, Waits};
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
        if !self.processors[processor].stripe && self.moves_in_one_go(processor, planned.iter().copied(), now) {
            return;
        }
        let CertifiedGroup { processors, parts, chips, core, .. } = self;
        let of = &processors[processor];
        for page in planned {
            let operation = page_of((of, &mut parts[page.part]), (page.kind, page.action), (page.spot, page.lpn), now);
            ask(core, chips, operation, processor);
        }
    }

    /// Starts a page that is programmed, where nothing else happens now and its bus is free: it has
    /// it at once. Says whether that is so; if not, nothing has happened.
    #[inline]
    pub(super) fn start_at_once(&mut self, number: usize, page: &Planned, now: Instant) -> bool {
        if page.action != Action::Program || !self.is_alone || !self.asks_at_once(number) {
            return false;
        }
        let CertifiedGroup { processors, parts, core, .. } = self;
        let of = &mut processors[number];
        let channel = core.channel_of(of.chips[page.spot.chip]);
        if !core.is_alone(channel, (now, now)) {
            return false;
        }
        let mut operation = page_of((of, &mut parts[page.part]), (page.kind, page.action), (page.spot, page.lpn), now);
        let end = core.moves_at_once(&mut operation, channel);
        self.works(number, operation.chip, end);
        true
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
        let row = std::mem::take(&mut self.row);
        let planned = |&(spot, lpn): &(PagePlace, Lpn)| Planned { part, kind: Kind::Gc, action, spot, lpn };
        let is_over = self.moves_in_one_go(processor, row.iter().map(planned), now);
        self.row = row;
        if is_over {
            return true;
        }
        let CertifiedGroup { processors, parts, chips, core, row, .. } = self;
        let (of, part) = (&processors[processor], &mut parts[part]);
        for &page in row.iter() {
            ask(core, chips, page_of((of, part), (Kind::Gc, action), page, now), processor);
        }
        true
    }
}

impl<O: Observer> CertifiedGroup<'_, O> {
    /// Starts pages that are alike on chips of one channel, where nothing else happens before the
    /// last of them is on the bus: they have it one behind the other. Says whether that is so; if
    /// not, nothing has happened.
    fn moves_in_one_go(&mut self, number: usize, pages: impl Iterator<Item = Planned> + Clone, now: Instant) -> bool {
        let of = &self.processors[number];
        let (Some(first), true) = (pages.clone().next(), self.is_alone && of.channels == 1) else { return false };
        let action = first.action;
        let in_order = self.options.ties == Ties::Lowest && self.options.arbitration == Arbitration::Fifo;
        let is_alike = in_order && pages.clone().all(|page| page.action == action);
        let channel = self.core.channel_of(of.first_chip());
        let Some((since, last)) = self.core.lengths.on_bus(action, PageId::from_index(pages.clone().count()).0, now)
        else {
            return false;
        };
        if !is_alike || !self.core.is_alone(channel, (now, last)) {
            return false;
        }
        let mut operations = std::mem::take(&mut self.operations);
        operations.clear();
        for page in pages {
            let part = &mut self.parts[page.part];
            operations.push(page_of((of, part), (page.kind, action), (page.spot, page.lpn), now));
        }
        if !operations.is_sorted_by_key(|operation| operation.chip) {
            operations.sort_by_key(|operation| operation.chip);
        }
        for operation in &mut operations {
            let end = self.core.moves_in_turn(operation, channel, since);
            self.works(number, operation.chip, end);
        }
        self.operations = operations;
        true
    }
}

/// The operation on a page that begins now.
#[inline(always)]
fn page_of(
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
    let Operation { start, chip, action, job, .. } = operation;
    let since = match action {
        Action::Read => start.saturating_add(core.lengths.sensing(job, chip, start)),
        _ => start,
    };
    let ticket = core.begin(&operation, ChipStep::Ask { since, lane }).expect("what asks for a bus has a place");
    chips[chip].open = Some(OpenOperation { operation, ticket, asks_for: BusUse::Page });
}
