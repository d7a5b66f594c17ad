//! Who gets a bus, and when.

use rtflash_model::Instant;
use serde::{Deserialize, Serialize};

use super::cached::place_of_transfer;
use super::{Desks, ToCome};
use crate::check::length::Length;
use crate::ids::{ChannelId, ChipId};
use crate::options::Arbitration;
use crate::trace::{Action, Transfer};

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

impl Desks {
    /// Whether it is known since when a read has wanted its bus.
    pub(in crate::check) fn looks_at_order(&self) -> bool {
        self.sensing.min == self.sensing.max
    }

    /// A page goes on behind a command, in the same turn.
    pub(super) fn keeps_bus(&mut self, transfer: &Transfer, channel: ChannelId) {
        let bus = &mut self.buses[channel];
        bus.free_at = transfer.end.max(bus.free_at);
    }

    /// Whether the page of the last operation of a chip, which is moved in it, is as it should be
    /// in all respects: nearly all are. Then no gauge changes where zeroes need not be noted.
    #[inline(always)]
    pub(super) fn takes_its_turn(&mut self, transfer: &Transfer, channel: ChannelId) -> bool {
        let (desk, bus) = (&mut self.desks[transfer.chip], &mut self.buses[channel]);
        let (wanted, end) = (desk.wanted, transfer.end);
        let behind = if desk.action == Action::Program { self.programming } else { Length::NONE };
        // Whoever was served last has wanted the bus for longer, or is the lower one.
        let in_turn = bus.last.is_none_or(|(since, chip)| {
            since < wanted || since == wanted && chip <= transfer.chip && self.plain.lowest_first
        });
        let is_so = desk.to_come == ToCome::Page
            && self.plain.any
            && wanted <= transfer.start
            && (transfer.start <= wanted || transfer.start <= bus.free_at)
            && self.transfer.off(end.since(transfer.start)) == 0
            && behind.off(desk.end.since(end)) == 0
            && in_turn;
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
