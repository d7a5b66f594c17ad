//! Operations of chips with two page registers.

use rtflash_model::{ChipId, PerId, Span};
use rtflash_plan::{ChannelId, Waits};
use rtflash_trace::{Action, Kind, Operation, Padding, Transfer};

use super::{Desks, ToCome};
use crate::checks::contention::ChipContention;
use crate::checks::registers::{Begun, PartLengths};
use crate::place::Place;

impl Desks {
    /// Whether a chip uses a second page register.
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

    fn parts(&self) -> PartLengths {
        let Desks { sensing, programming, transfer, command, chips_per_channel: ways, .. } = *self;
        PartLengths { sensing, programming, transfer, command, ways }
    }

    /// An operation of a chip with two page registers: whether this is all that there is to it. A
    /// page that a pass of a superblock moves is like any other one's, but for what is in the
    /// registers then.
    pub(crate) fn in_registers(&mut self, operation: &Operation) -> bool {
        let inside = !self.moves(operation);
        // With commands a copy or an erase has one, as where there is one register.
        if !self.is_in_registers(operation) || inside && self.command > Span::ZERO {
            self.empties_registers(operation);
            return false;
        }
        if self.desks[operation.chip].to_come != ToCome::Nothing {
            self.lacks_transfer(operation.chip);
        }
        let of = self.parts();
        let waits = self.places.as_ref().filter(|_| self.waits == Waits::Worst);
        let waits = waits.map(|places| places[operation.chip].wait_in_registers(operation.action));
        let first = self.desk_of(operation.chip);
        let desk = &mut self.registers[first];
        let mut begun =
            if inside { desk.inside(operation.start, operation.end, of) } else { desk.page(operation, of, waits) };
        if inside {
            let length = match operation.action {
                Action::Read => self.read,
                Action::Program => self.program,
                Action::Erase | Action::ErasePart => self.erase,
            };
            begun.off = begun.off.max(length.off(operation.end.since(operation.start)));
        }
        let place = Place::from(operation);
        self.lengths.note(0, begun.off, || place);
        self.begins_in_registers(begun, place);
        true
    }

    /// A step of a pass of a cached superblock begins: with nothing in the registers.
    fn empties_registers(&mut self, operation: &Operation) {
        let (of, first) = (self.parts(), self.desk_of(operation.chip));
        let begun = self.registers[first].inside(operation.start, operation.end, of);
        let place = Place::from(operation);
        self.lengths.note(0, begun.off, || place);
        self.begins_in_registers(begun, place);
    }

    fn begins_in_registers(&mut self, begun: Begun, place: Place) {
        self.exclusion.note(0, begun.overlap, || place);
        if let Some(lacking) = begun.lacking {
            self.transfers.note(0, 1, || Place::from(&lacking));
        }
    }

    /// A page of such a chip is moved.
    pub(crate) fn moves_from_registers(&mut self, transfer: &Transfer, channel: ChannelId) {
        let (chip, place) = (transfer.chip, || Place::from(transfer));
        let of = self.parts();
        let first = self.desk_of(chip);
        let moved = self.registers[first].moved(transfer, of).filter(|_| channel == transfer.channel);
        self.transfers.note(0, u64::from(moved.is_none()), place);
        let Some(moved) = moved else { return };
        self.lengths.note(0, moved.off, place);
        let bound = |places: &PerId<ChipId, ChipContention>| places[chip].wait_in_registers(moved.action);
        let bound = self.places.as_ref().map_or(Span::ZERO, bound);
        self.page_waits.note(bound.as_ns(), moved.waited, place);
        match moved.asked {
            Some(chip) => self.takes_bus(&Transfer { chip, ..*transfer }, channel, moved.wanted),
            None => self.keeps_bus(transfer, channel),
        }
    }

    /// A copy that only lets time pass, on such a chip.
    pub(crate) fn pads_with_registers(&mut self, padding: &Padding) {
        let (of, first) = (self.parts(), self.desk_of(padding.chip));
        let begun = self.registers[first].inside(padding.start, padding.end, of);
        let Padding { start: at, job, cluster, chip, .. } = *padding;
        let place = Place { at, job: Some(job), cluster: Some(cluster), chip: Some(chip) };
        self.begins_in_registers(begun, place);
    }
}

impl Desks {
    /// The run is over: what is left in registers.
    pub(crate) fn registers_at_the_end(&mut self) {
        let of = self.parts();
        for desk in &self.registers {
            if let Some((off, operation)) = desk.off_at_the_end(of) {
                self.lengths.note(0, off, || Place::from(operation));
            } else if let Some(left) = desk.left() {
                self.transfers.note(0, 1, || Place::from(left));
            }
        }
    }
}
