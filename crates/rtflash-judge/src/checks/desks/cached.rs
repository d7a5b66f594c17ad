//! Operations of chips with two page registers.

use rtflash_model::{ChipId, PerId, Span};
use rtflash_plan::{ChannelId, Waits};
use rtflash_trace::{Kind, Operation, Padding, Transfer};

use super::{Desks, ToCome};
use crate::Assumption;
use crate::checks::contention::ChipContention;
use crate::checks::registers::Begun;
use crate::gauge::Gauges;
use crate::place::Place;

impl Desks {
    #[inline]
    pub(crate) fn is_cached(&self, chip: ChipId) -> bool {
        self.any_cached && self.places.as_ref().is_some_and(|places| places[chip].cached)
    }

    /// Whether an operation goes through a second page register: copies over the bus do not.
    #[inline]
    pub(crate) fn is_in_registers(&self, operation: &Operation) -> bool {
        let is_so = |place: &ChipContention| place.cached && (place.stripe || operation.kind != Kind::Gc);
        self.any_cached && self.places.as_ref().is_some_and(|places| is_so(&places[operation.chip]))
    }

    /// The chip that stands for those whose registers are as one with this one's.
    fn desk_of(&self, chip: ChipId) -> ChipId {
        self.places.as_ref().map_or(chip, |places| places[chip].first)
    }

    /// The time that a page of a chip with two registers takes beyond the one before.
    pub(crate) fn own_time(&self, operation: &Operation) -> Span {
        self.registers[self.desk_of(operation.chip)].own_time(operation)
    }

    /// Whether this is all that there is to an operation. A page that a pass of a superblock moves
    /// differs only in what is in the registers then.
    pub(crate) fn in_registers(&mut self, operation: &Operation, gauges: &mut Gauges) -> bool {
        let inside = !self.moves(operation);
        let place = Place::from(operation);
        let (of, first) = (self.times, self.desk_of(operation.chip));
        // With commands a copy or an erase has one, as where there is one register.
        if !self.is_in_registers(operation) || inside && self.times.command > Span::ZERO {
            // A step of a pass of a superblock begins with nothing in the registers.
            let begun = self.registers[first].inside(operation.start, operation.end, of);
            self.begins_in_registers(begun, begun.off, place, gauges);
            return false;
        }
        if self.desks[operation.chip].to_come != ToCome::Nothing {
            self.lacks_transfer(operation.chip, gauges);
        }
        let (begun, off) = if inside {
            let begun = self.registers[first].inside(operation.start, operation.end, of);
            let took = operation.end.since(operation.start);
            (begun, begun.off.max(self.inside(operation.action).off(took)))
        } else {
            let waits = self.places.as_ref().filter(|_| self.waits == Waits::Worst);
            let waits = waits.map(|places| places[operation.chip].wait_in_registers(operation.action));
            let begun = self.registers[first].page(operation, of, waits);
            (begun, begun.off)
        };
        self.begins_in_registers(begun, off, place, gauges);
        true
    }

    fn begins_in_registers(&mut self, begun: Begun, off: u64, place: Place, gauges: &mut Gauges) {
        gauges[Assumption::OperationLengths].note(0, off, || place);
        self.exclusion.note(0, begun.overlap, || place);
        if let Some(lacking) = begun.lacking {
            gauges[Assumption::Transfers].note(0, 1, || Place::from(&lacking));
        }
    }

    pub(crate) fn moves_from_registers(&mut self, transfer: &Transfer, channel: ChannelId, gauges: &mut Gauges) {
        let (chip, place) = (transfer.chip, || Place::from(transfer));
        let of = self.times;
        let first = self.desk_of(chip);
        let moved = self.registers[first].moved(transfer, of).filter(|_| channel == transfer.channel);
        gauges[Assumption::Transfers].note(0, u64::from(moved.is_none()), place);
        let Some(moved) = moved else { return };
        gauges[Assumption::OperationLengths].note(0, moved.off, place);
        let bound = |places: &PerId<ChipId, ChipContention>| places[chip].wait_in_registers(moved.action);
        let bound = self.places.as_ref().map_or(Span::ZERO, bound);
        self.page_waits.note(bound.as_ns(), moved.waited, place);
        let Some(chip) = moved.asked else { return self.keeps_bus(transfer, channel) };
        let asked = Transfer { chip, ..*transfer };
        self.takes_bus(&asked, channel, moved.wanted, &mut gauges[Assumption::BusOrder]);
    }

    pub(crate) fn pads_with_registers(&mut self, padding: &Padding, gauges: &mut Gauges) {
        let (of, first) = (self.times, self.desk_of(padding.chip));
        let begun = self.registers[first].inside(padding.start, padding.end, of);
        self.begins_in_registers(begun, 0, Place::from(padding), gauges);
    }

    pub(crate) fn registers_at_the_end(&mut self, gauges: &mut Gauges) {
        let of = self.times;
        for desk in &self.registers {
            if let Some((off, operation)) = desk.off_at_the_end(of) {
                gauges[Assumption::OperationLengths].note(0, off, || Place::from(operation));
            } else if let Some(left) = desk.left() {
                gauges[Assumption::Transfers].note(0, 1, || Place::from(left));
            }
        }
    }
}
