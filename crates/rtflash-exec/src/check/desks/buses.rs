//! Who gets a bus, and when.

use rtflash_model::{Instant, Span};
use serde::{Deserialize, Serialize};

use super::cached::place_of_transfer;
use super::{Desk, Desks, ToCome};
use crate::check::length::Length;
use crate::ids::{ChannelId, ChipId, PerId};
use crate::options::{Arbitration, Waits};
use crate::trace::{Action, OnBus, Operation, StepHead, StepPage, Transfer};

/// What a bus did last.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct BusLine {
    /// When the page that was moved last wanted the bus, and its chip.
    last: Option<(Instant, ChipId)>,
    free_at: Instant,
}

/// What is known of all buses.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PlainBuses {
    /// Whether they serve first come, first served, pages alone, and it is known since when these
    /// wait.
    pub(super) any: bool,
    /// Whether the lowest chip goes first of those that have waited as long.
    pub(super) lowest_first: bool,
}

impl PlainBuses {
    /// Whether a bus is given to the page of a chip as soon as it is free and that wants it, and
    /// whoever was served last has wanted it for longer, or is the lower one.
    #[inline(always)]
    fn is_in_turn(self, bus: &BusLine, (start, chip): (Instant, ChipId), wanted: Instant) -> bool {
        wanted <= start
            && (start <= wanted || start <= bus.free_at)
            && bus
                .last
                .is_none_or(|(since, last)| since < wanted || since == wanted && last <= chip && self.lowest_first)
    }
}

/// A page that is moved in its turn.
pub(in crate::check) struct BusTurn<'d> {
    bus: &'d mut BusLine,
    wanted: Instant,
    chip: ChipId,
    end: Instant,
}

impl BusTurn<'_> {
    /// It is moved.
    #[inline(always)]
    pub(in crate::check) fn take(self) {
        self.bus.last = Some((self.wanted, self.chip));
        self.bus.free_at = self.end.max(self.bus.free_at);
    }
}

/// When the pages of a step have their turns on its bus.
pub(in crate::check) struct StepTurns {
    channel: ChannelId,
    /// Since when they want it.
    wanted: Instant,
    /// When the next one has it, or the last one has had it.
    next: Instant,
    /// What they take behind it.
    behind: Length,
}

impl StepTurns {
    /// When the next page has the bus: with all of them, when it is free.
    #[inline(always)]
    pub(in crate::check) fn next(&self) -> Instant {
        self.next
    }
}

/// Desks and buses, while steps are looked at.
pub(in crate::check) struct StepDesks<'d> {
    desks: &'d PerId<ChipId, Desk>,
    buses: &'d mut PerId<ChannelId, BusLine>,
    transfer: Length,
    /// The least that comes before the page of a read and of a program, and what comes behind it.
    around: [(Span, Length); 2],
}

impl StepDesks<'_> {
    /// The turns of the pages of a step, which ask for its bus, once and with no command, on chips
    /// of its channel from the first one on. It is free at `free_at`, as it was seen. `None` where
    /// whoever was served last should not have been.
    #[inline(always)]
    pub(in crate::check) fn turns(&self, head: &StepHead, first: ChipId, free_at: Instant) -> Option<StepTurns> {
        let StepHead { start, channel, .. } = *head;
        let &(before, behind) = self.around.get(head.action as usize)?;
        let wanted = start.saturating_add(before);
        let bus = &self.buses[channel];
        let next = wanted.max(bus.free_at);
        let is_behind = bus.last.is_none_or(|(since, last)| since < wanted || since == wanted && last <= first);
        (is_behind && free_at <= next).then_some(StepTurns { channel, wanted, next, behind })
    }

    /// Whether the next page of the step has its turn, and its operation takes what it should.
    #[inline(always)]
    pub(in crate::check) fn has_turn(&self, turns: &mut StepTurns, start: Instant, page: &StepPage) -> bool {
        let StepPage { end, on_bus, chip, .. } = *page;
        let is_so = on_bus.0 == turns.next
            && self.transfer.is_between(on_bus.0, on_bus.1)
            && turns.behind.is_between(on_bus.1, end)
            && start < end
            && self.desks[chip].to_come == ToCome::Nothing;
        turns.next = on_bus.1;
        is_so
    }

    /// The pages of the step have had their turns, that of the last chip last.
    #[inline(always)]
    pub(in crate::check) fn had_turns(&mut self, turns: &StepTurns, last: ChipId) {
        self.buses[turns.channel] = BusLine { last: Some((turns.wanted, last)), free_at: turns.next };
    }
}

impl Desk {
    /// Whether a transfer on a channel, that of its chip, is inside this operation.
    #[inline(always)]
    pub(super) fn has(&self, transfer: &Transfer, channel: ChannelId) -> bool {
        self.job == transfer.job
            && self.kind == transfer.kind
            && self.cluster == transfer.cluster
            && channel == transfer.channel
            && transfer.start >= self.start
            && transfer.end <= self.end
    }
}

impl Desks {
    /// The turn of a page that is moved in an operation, without certificates, if both are as they
    /// should be in all respects.
    #[inline(always)]
    pub(in crate::check) fn turn(&mut self, operation: &Operation, on: &OnBus) -> Option<BusTurn<'_>> {
        let Operation { start, end, chip, action, .. } = *operation;
        let channel = ChannelId(chip.0 / self.chips_per_channel);
        if on.channel != channel
            || !self.plain.any
            || self.places.is_some()
            || self.desks[chip].to_come != ToCome::Nothing
        {
            return None;
        }
        let (wanted, behind) = match action {
            Action::Program => (start, self.programming),
            _ => (start.saturating_add(self.sensing.min), Length::NONE),
        };
        let bus = &mut self.buses[channel];
        let is_so = on.end <= end
            && self.transfer.has(on.end.since(on.start))
            && behind.has(end.since(on.end))
            && self.plain.is_in_turn(bus, (on.start, chip), wanted);
        is_so.then_some(BusTurn { bus, wanted, chip, end: on.end })
    }

    /// What is asked of steps, if buses serve whoever comes first, and the lowest chip first of
    /// those that come together.
    pub(in crate::check) fn step_desks(&mut self) -> Option<StepDesks<'_>> {
        let Desks { desks, buses, transfer, sensing, programming, .. } = self;
        let around = [(sensing.min, Length::NONE), (Span::ZERO, *programming)];
        let is_so = self.plain.any && self.plain.lowest_first;
        is_so.then_some(StepDesks { desks, buses, transfer: *transfer, around })
    }

    /// The pages of these operations, the last ones of their chips, have had their turns before.
    pub(in crate::check) fn have_had_pages(&mut self, operations: &[Operation]) {
        operations.iter().for_each(|operation| self.desks[operation.chip].to_come = ToCome::Nothing);
    }

    /// Whether it is known since when a read has wanted its bus.
    pub(in crate::check) fn looks_at_order(&self) -> bool {
        self.sensing.min == self.sensing.max
    }

    /// A page goes on behind a command, in the same turn.
    pub(super) fn keeps_bus(&mut self, transfer: &Transfer, channel: ChannelId) {
        let bus = &mut self.buses[channel];
        bus.free_at = transfer.end.max(bus.free_at);
    }

    /// Whether pages under certificates ask for their buses once, and with no command.
    pub(in crate::check) fn has_plain_steps(&self) -> bool {
        self.places.is_some() && self.waits == Waits::Actual && self.command == Span::ZERO && !self.any_cached
    }

    /// An operation under a certificate that moves a page, in its turn on its chip: the page is to
    /// come.
    #[inline(always)]
    pub(in crate::check) fn asks_plainly(&mut self, operation: &Operation) {
        let Operation { start, end, job, kind, cluster, action, .. } = *operation;
        let wanted = if action == Action::Program { start } else { start.saturating_add(self.sensing.min) };
        let to_come = ToCome::Page;
        self.desks[operation.chip] = Desk { start, end, job, kind, cluster, action, moves: true, wanted, to_come };
    }

    /// Whether a transfer is that of the page of its chip's last operation, and all is as it should
    /// be: if not, nothing has changed.
    #[inline(always)]
    pub(in crate::check) fn takes_plainly(&mut self, transfer: &Transfer) -> bool {
        let channel = ChannelId(transfer.chip.0 / self.chips_per_channel);
        self.desks[transfer.chip].has(transfer, channel) && self.takes_its_turn(transfer, channel)
    }

    /// Whether the page of the last operation of a chip, which is moved in it, is as it should be
    /// in all respects: nearly all are. Then no gauge changes where zeroes need not be noted.
    #[inline(always)]
    pub(super) fn takes_its_turn(&mut self, transfer: &Transfer, channel: ChannelId) -> bool {
        let (desk, bus) = (&mut self.desks[transfer.chip], &mut self.buses[channel]);
        let (wanted, end) = (desk.wanted, transfer.end);
        let behind = if desk.action == Action::Program { self.programming } else { Length::NONE };
        let is_so = desk.to_come == ToCome::Page
            && self.plain.any
            && self.transfer.has(end.since(transfer.start))
            && behind.has(desk.end.since(end))
            && self.plain.is_in_turn(bus, (transfer.start, transfer.chip), wanted);
        if is_so {
            desk.to_come = ToCome::Nothing;
            desk.wanted = end.saturating_add(self.sensing.min);
            (bus.last, bus.free_at) = (Some((wanted, transfer.chip)), end.max(bus.free_at));
        }
        is_so
    }

    /// A bus is given to a page, or a command, that has wanted it since then: as soon as it is free
    /// it goes to whoever has waited longest, or in turn. `quiet`: zeroes need not be noted.
    #[inline(always)]
    pub(super) fn takes_bus(&mut self, transfer: &Transfer, channel: ChannelId, wanted: Instant, quiet: bool) {
        if !self.looks_at_order() {
            return;
        }
        let bus = &mut self.buses[channel];
        let free = wanted.max(bus.free_at);
        let late = transfer.start.since(free).as_ns();
        let passed = match self.arbitration {
            Arbitration::Fifo => {
                let place = |chip: ChipId| self.ties.map(|ties| (ties.of_chip(chip, wanted), chip));
                bus.last.map_or(0, |(since, chip)| {
                    let tie = since == wanted && place(chip) > place(transfer.chip);
                    since.since(wanted).as_ns().max(u64::from(tie))
                })
            }
            Arbitration::RoundRobin => {
                let chips = self.chips_per_channel as usize;
                self.turns[channel].take(transfer.chip, wanted, transfer.start, chips).as_ns()
            }
        };
        self.order.note_zero(quiet, late.max(passed), || place_of_transfer(transfer));
        (bus.last, bus.free_at) = (Some((wanted, transfer.chip)), transfer.end.max(bus.free_at));
    }
}
