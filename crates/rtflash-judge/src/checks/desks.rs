//! How long operations take, and the transfers inside them: chip by chip, which is rule S4, and bus
//! by bus, which are rules S3 and D2.

mod buses;
mod cached;
mod parts;

use rtflash_model::{ChipId, ClusterId, Instant, PerId, Span};
use rtflash_plan::resume::resume;
use rtflash_plan::{Arbitration, Certified, ChannelId, Plan, Promise, SourceId, TieBreaker, Ties, Waits};
use rtflash_trace::{Action, JobId, Kind, NONE, Operation, Padding, Setup, Step, Transfer};
use serde::{Deserialize, Serialize};

use self::buses::BusLine;
use self::parts::ErasedParts;
pub(crate) use self::parts::suspension;
use super::contention::{ChipContention, contentions};
use super::length::Length;
use super::registers::{PartLengths, RegisterDesk};
use super::turns::Turns;
use crate::Assumption;
use crate::gauge::{Gauge, Gauges};
use crate::place::Place;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Desk {
    start: Instant,
    end: Instant,
    job: JobId,
    kind: Kind,
    cluster: ClusterId,
    action: Action,
    /// Whether it is a page's over the bus, not one inside the chip.
    moves: bool,
    /// Since when it may be on the bus next; of a read, at the earliest.
    wanted: Instant,
    to_come: ToCome,
}

impl Desk {
    const BLANK: Desk = Desk {
        start: Instant::START,
        end: Instant::START,
        job: JobId { source: SourceId(NONE), index: 0 },
        kind: Kind::Gc,
        cluster: ClusterId(NONE),
        action: Action::Erase,
        moves: false,
        wanted: Instant::START,
        to_come: ToCome::Nothing,
    };

    fn place(&self, chip: ChipId) -> Place {
        Place { at: self.start, job: Some(self.job), cluster: Some(self.cluster), chip: Some(chip) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum ToCome {
    /// A command, of anything but a program; behind that of a read its page.
    Command,
    /// A page; of a program, its command with it.
    Page,
    Nothing,
}

#[derive(Debug)]
pub(crate) struct Desks {
    /// How much too early a chip with two page registers uses one, against zero.
    pub(crate) exclusion: Gauge,
    /// The waits of such a chip's pages for the bus.
    pub(crate) page_waits: Gauge,
    registers: PerId<ChipId, RegisterDesk>,
    desks: PerId<ChipId, Desk>,
    buses: PerId<ChannelId, BusLine>,
    places: Option<PerId<ChipId, ChipContention>>,
    any_cached: bool,
    waits: Waits,
    arbitration: Arbitration,
    /// `None` where they were drawn, and it is not known from what.
    ties: Option<TieBreaker>,
    turns: PerId<ChannelId, Turns>,
    times: PartLengths,
    hold: Span,
    read: Length,
    program: Length,
    erase: Length,
    /// t_s + t_u, where erases are suspended.
    suspension: Option<Span>,
    parts: PerId<ChipId, ErasedParts>,
    pages: (Length, Length),
}

resume!([] Desks {
    values: [exclusion, page_waits, registers, desks, buses, turns, parts],
    parts: [],
    lists: [],
    made: [
        places, any_cached, waits, arbitration, ties, times, hold, read, program, erase, suspension, pages
    ],
});

impl Desks {
    pub(crate) fn new(plan: &Plan) -> Desks {
        let (device, timing) = (plan.device(), plan.timing());
        // By how much times that are ranges may be shorter.
        let read = device.page_read().saturating_sub(device.page_read_min());
        let program = device.page_program().saturating_sub(device.page_program_min());
        let transfer = device.page_transfer().saturating_sub(device.page_transfer_min());
        let mut desks = Desks {
            exclusion: Gauge::default(),
            page_waits: Gauge::default(),
            registers: plan.per_chip(RegisterDesk::default()),
            desks: plan.per_chip(Desk::BLANK),
            buses: plan.per_channel(BusLine::default()),
            places: None,
            any_cached: matches!(plan.promise(), Promise::Certified(by) if by.iter().any(Certified::is_cached)),
            waits: Waits::Actual,
            arbitration: Arbitration::Fifo,
            ties: Some(TieBreaker::default()),
            turns: plan.per_channel(Turns::default()),
            times: PartLengths {
                ways: device.chips_per_channel(),
                sensing: Length::within(timing.sensing(), read),
                programming: Length {
                    // A short transfer that is a part of the page's time leaves more of it.
                    max: match plan.promise() {
                        Promise::Utilization => timing.programming().saturating_add(transfer),
                        Promise::Certified(_) => timing.programming(),
                    },
                    ..Length::within(timing.programming(), program)
                },
                transfer: Length::within(timing.transfer(), transfer),
                command: timing.command(),
            },
            hold: device.bus_hold(),
            read: Length::within(device.page_read(), read),
            program: Length::within(device.page_program(), program),
            erase: Length::within(device.block_erase(), device.block_erase().saturating_sub(device.block_erase_min())),
            suspension: suspension(device),
            parts: plan.per_chip(ErasedParts::default()),
            pages: (
                Length::within(timing.read(), read.saturating_add(transfer)),
                Length::within(timing.program(), program.saturating_add(transfer)),
            ),
        };
        if let Promise::Certified(certified) = plan.promise() {
            desks.places = Some(contentions(plan, certified));
        }
        desks
    }

    pub(crate) fn setup(&mut self, setup: &Setup) {
        // Elsewhere pages wait for a bus alone.
        self.waits = if self.places.is_some() { setup.waits } else { Waits::Actual };
        self.arbitration = setup.arbitration;
        self.ties = match (setup.ties, setup.seed) {
            (ties, Some(seed)) => Some(TieBreaker::new(ties, seed)),
            (Ties::Random, None) => None,
            (ties, None) => Some(TieBreaker::new(ties, 0)),
        };
    }

    #[inline]
    fn moves(&self, operation: &Operation) -> bool {
        let inside =
            operation.kind == Kind::Gc && self.places.as_ref().is_none_or(|places| places[operation.chip].stripe);
        !operation.action.erases() && !inside
    }

    #[inline(always)]
    pub(crate) fn operation(&mut self, operation: &Operation, gauges: &mut Gauges) {
        if self.is_cached(operation.chip) && self.in_registers(operation, gauges) {
            return;
        }
        let moves = self.moves(operation);
        if self.desks[operation.chip].to_come != ToCome::Nothing {
            self.lacks_transfer(operation.chip, gauges);
        }
        if !moves && self.times.command == Span::ZERO {
            let took = operation.end.since(operation.start);
            let off = if operation.action == Action::Erase && self.suspension.is_some() {
                self.off_with_parts(operation.chip, took)
            } else {
                self.inside(operation.action).off(took)
            };
            gauges[Assumption::OperationLengths].note(0, off, || Place::from(operation));
            return;
        }
        let program = operation.action == Action::Program;
        // Programs inside a chip have their command with the read before.
        let commands = self.times.command > Span::ZERO && (moves || !program);
        let to_come = match moves {
            _ if self.waits == Waits::Worst => ToCome::Nothing,
            _ if commands && !program => ToCome::Command,
            true => ToCome::Page,
            false => ToCome::Nothing,
        };
        if to_come != ToCome::Nothing {
            let Operation { start, end, job, kind, cluster, action, .. } = *operation;
            let sensed = start.saturating_add(self.times.sensing.min);
            let wanted = if to_come == ToCome::Page && !program { sensed } else { start };
            self.desks[operation.chip] = Desk { start, end, job, kind, cluster, action, moves, wanted, to_come };
            return;
        }
        let took = operation.end.since(operation.start);
        let others = self.places.as_ref().map_or(Span::ZERO, |places| places[operation.chip].others);
        let begun = if commands { self.times.command.saturating_add(others) } else { Span::ZERO };
        let off = if moves {
            let alone = if program { self.pages.1 } else { self.pages.0 };
            let place = self.places.as_ref().map(|places| &places[operation.chip]);
            // A read waits for its command, too.
            let asks = if commands && !program { 2 } else { 1 };
            let all = (alone + times(others, asks)).off(took);
            match place {
                // A step that is a user's read waits for foreign chips alone, and one of a pass for
                // the pages beside it, too.
                Some(place) if !place.stripe && !program => {
                    let most = if operation.kind == Kind::Gc { place.own } else { 1 };
                    let wait = |beside: u32| place.foreign_wait.saturating_add(times(self.hold, beside.into()));
                    let offs = (0..most).map(|beside| (alone + times(wait(beside), asks)).off(took));
                    offs.min().map_or(all, |off| off.min(all))
                }
                _ => all,
            }
        } else {
            self.inside(operation.action).off(took.saturating_sub(begun))
        };
        gauges[Assumption::OperationLengths].note(0, off, || Place::from(operation));
    }

    #[inline(always)]
    fn inside(&self, action: Action) -> Length {
        match action {
            Action::Read => self.read,
            Action::Program => self.program,
            Action::Erase | Action::ErasePart => self.erase,
        }
    }

    #[cold]
    fn lacks_transfer(&mut self, chip: ChipId, gauges: &mut Gauges) {
        let desk = &mut self.desks[chip];
        desk.to_come = ToCome::Nothing;
        gauges[Assumption::Transfers].note(0, 1, || desk.place(chip));
    }

    #[inline]
    pub(crate) fn transfer(&mut self, transfer: &Transfer, gauges: &mut Gauges) {
        let place = || Place::from(transfer);
        let channel = ChannelId(transfer.chip.0 / self.times.ways);
        if self.is_cached(transfer.chip) && self.desks[transfer.chip].to_come == ToCome::Nothing {
            return self.moves_from_registers(transfer, channel, gauges);
        }
        let desk = &mut self.desks[transfer.chip];
        let is_valid = desk.to_come != ToCome::Nothing && desk.has(transfer, channel);
        gauges[Assumption::Transfers].note(0, u64::from(!is_valid), place);
        if !is_valid {
            return;
        }
        let desk = &mut self.desks[transfer.chip];
        let (behind, wanted) = (desk.end.since(transfer.end), desk.wanted);
        let command = Length::within(self.times.command, Span::ZERO);
        // How long it is on the bus, and how far off what comes behind it is.
        let (length, rest) = match (desk.to_come, desk.action, desk.moves) {
            (ToCome::Command, Action::Read, true) => (command, 0),
            (ToCome::Command, Action::Read, false) => (command, self.read.off(behind)),
            (ToCome::Command, ..) => (command, self.erase.off(behind)),
            (_, Action::Program, _) => (self.times.transfer + self.times.command, self.times.programming.off(behind)),
            _ => (self.times.transfer, behind.as_ns()),
        };
        desk.to_come = match (desk.to_come, desk.moves) {
            (ToCome::Command, true) => ToCome::Page,
            _ => ToCome::Nothing,
        };
        desk.wanted = transfer.end.saturating_add(self.times.sensing.min);
        let early = wanted.since(transfer.start).as_ns();
        let off = length.off(transfer.end.since(transfer.start)).max(rest).max(early);
        gauges[Assumption::OperationLengths].note(0, off, place);
        self.takes_bus(transfer, channel, wanted, &mut gauges[Assumption::BusOrder]);
    }

    pub(crate) fn padding(&mut self, padding: &Padding, gauges: &mut Gauges) {
        let took = padding.end.since(padding.start);
        if self.is_cached(padding.chip) {
            self.pads_with_registers(padding, gauges);
        }
        let place = self.places.as_ref().map(|places| &places[padding.chip]);
        let bus = match (place, self.waits) {
            (Some(place), Waits::Worst) if place.stripe => {
                Some(place.others).filter(|_| self.times.command > Span::ZERO)
            }
            (Some(place), Waits::Actual) if place.stripe => None,
            (Some(_), Waits::Actual) => Some(Span::ZERO),
            (Some(place), Waits::Worst) => Some(place.slowest),
            (None, _) => None,
        };
        let expected = match (padding.step, bus) {
            (Step::Read, None) => self.read,
            (Step::Program, None) => self.program,
            (Step::Copyback, _) => {
                let both = self.read.max.saturating_add(self.program.max);
                let both = Length { min: self.read.min.saturating_add(self.program.min), max: both };
                both + self.times.command.saturating_add(bus.unwrap_or(Span::ZERO))
            }
            (Step::Read, Some(_)) => self.pages.0,
            (Step::Program, Some(wait)) => self.pages.1 + wait,
        };
        let off = match (padding.step, bus, place) {
            // As if one channel had `beside` more pages.
            (Step::Read, Some(slowest), Some(place)) => {
                let asks = if self.times.command > Span::ZERO { 2 } else { 1 };
                let wait = |beside: u32| match self.waits {
                    Waits::Actual => times(self.hold, beside.into()),
                    Waits::Worst => place.foreign.saturating_add(times(self.hold, beside.into())).min(slowest),
                };
                let offs = (0..place.most).map(|beside| (expected + times(wait(beside), asks)).off(took));
                offs.min().unwrap_or_else(|| expected.off(took))
            }
            _ => expected.off(took),
        };
        gauges[Assumption::OperationLengths].note(0, off, || Place::from(padding));
    }

    pub(crate) fn finish(&mut self, gauges: &mut Gauges) {
        self.registers_at_the_end(gauges);
        for (chip, desk) in self.desks.enumerate().filter(|(_, desk)| desk.to_come != ToCome::Nothing) {
            gauges[Assumption::Transfers].note(0, 1, || desk.place(chip));
        }
    }
}

fn times(wait: Span, asks: u64) -> Span {
    wait.checked_mul(asks).unwrap_or(Span::LONGEST)
}
