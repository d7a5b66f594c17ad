//! Operations of chips with two page registers.

use rtflash_model::Span;

use super::Desks;
use crate::check::flash;
use crate::check::gauge::Place;
use crate::check::registers::{Begun, PartLengths};
use crate::ids::{ChannelId, ChipId};
use crate::options::Waits;
use crate::trace::{Action, Operation, Padding, Transfer};

impl Desks {
    /// Whether a chip uses a second page register.
    #[inline]
    pub(in crate::check) fn is_cached(&self, chip: ChipId) -> bool {
        self.places.as_ref().is_some_and(|places| places[chip].cached)
    }

    /// The time that a page of a chip with two registers takes beyond the one before.
    pub(in crate::check) fn own_time(&self, operation: &Operation) -> Span {
        self.registers[operation.chip].own_time(operation)
    }

    fn parts(&self) -> PartLengths {
        PartLengths { sensing: self.sensing, programming: self.programming, transfer: self.transfer }
    }

    /// An operation of a chip with two page registers.
    pub(super) fn in_registers(&mut self, operation: &Operation) {
        let of = self.parts();
        let waits = self.places.as_ref().filter(|_| self.waits == Waits::Worst);
        let waits = waits.map(|places| places[operation.chip].others);
        let inside = !self.moves(operation);
        let desk = &mut self.registers[operation.chip];
        let mut begun =
            if inside { desk.inside(operation.start, operation.end) } else { desk.page(operation, of, waits) };
        if inside {
            let length = match operation.action {
                Action::Read => self.read,
                Action::Program => self.program,
                Action::Erase => self.erase,
            };
            begun.off = length.off(operation.end.since(operation.start));
        }
        let place = flash::place(operation);
        self.lengths.note(0, begun.off, || place);
        self.begins_in_registers(begun, place);
    }

    fn begins_in_registers(&mut self, begun: Begun, place: Place) {
        self.exclusion.note(0, begun.overlap, || place);
        if let Some(lacking) = begun.lacking {
            self.transfers.note(0, 1, || flash::place(&lacking));
        }
    }

    /// A page of such a chip is moved.
    pub(super) fn moves_from_registers(&mut self, transfer: &Transfer, channel: ChannelId) {
        let (chip, place) = (transfer.chip, || place_of_transfer(transfer));
        let of = self.parts();
        let moved = self.registers[chip].moved(transfer, of).filter(|_| channel == transfer.channel);
        self.transfers.note(0, u64::from(moved.is_none()), place);
        let Some(moved) = moved else { return };
        self.lengths.note(0, moved.off, place);
        let bound = self.places.as_ref().map_or(Span::ZERO, |places| places[chip].others);
        self.page_waits.note(bound.as_ns(), moved.waited, place);
        self.granted(transfer, channel, moved.wanted);
    }

    /// A copy that only lets time pass, on such a chip.
    pub(super) fn pads_with_registers(&mut self, padding: &Padding) {
        let begun = self.registers[padding.chip].inside(padding.start, padding.end);
        let Padding { start: at, job, cluster, chip, .. } = *padding;
        let place = Place { at, job: Some(job), cluster: Some(cluster), chip: Some(chip) };
        self.begins_in_registers(begun, place);
    }
}

/// Where a transfer is.
pub(super) fn place_of_transfer(transfer: &Transfer) -> Place {
    let Transfer { start: at, job, cluster, chip, .. } = *transfer;
    Place { at, job: Some(job), cluster: Some(cluster), chip: Some(chip) }
}
