//! The grants of a bus, and their times.

use rtflash_model::{ChipId, Instant};
use rtflash_plan::{Arbitration, ChannelId};
use rtflash_trace::Transfer;
use serde::{Deserialize, Serialize};

use super::{Desk, Desks};
use crate::gauge::Gauge;
use crate::place::Place;

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct BusLine {
    /// When the page that was moved last wanted the bus, and its chip.
    last: Option<(Instant, ChipId)>,
    free_at: Instant,
}

impl Desk {
    #[inline(always)]
    pub(crate) fn has(&self, transfer: &Transfer, channel: ChannelId) -> bool {
        self.job == transfer.job
            && self.kind == transfer.kind
            && self.cluster == transfer.cluster
            && channel == transfer.channel
            && transfer.start >= self.start
            && transfer.end <= self.end
    }
}

impl Desks {
    pub(crate) fn keeps_bus(&mut self, transfer: &Transfer, channel: ChannelId) {
        let bus = &mut self.buses[channel];
        bus.free_at = transfer.end.max(bus.free_at);
    }

    /// As soon as the bus is free it goes to the chip that has waited longest, or in turn.
    #[inline(always)]
    pub(crate) fn takes_bus(&mut self, transfer: &Transfer, channel: ChannelId, wanted: Instant, gauge: &mut Gauge) {
        // Only then is it known since when a read has wanted its bus.
        if self.times.sensing.min != self.times.sensing.max {
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
                let chips = self.times.ways as usize;
                self.turns[channel].take(transfer.chip, wanted, transfer.start, chips).as_ns()
            }
        };
        gauge.note(0, late.max(passed), || Place::from(transfer));
        (bus.last, bus.free_at) = (Some((wanted, transfer.chip)), transfer.end.max(bus.free_at));
    }
}
