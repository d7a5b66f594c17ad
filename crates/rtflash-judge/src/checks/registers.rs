//! Chips with two page registers: an operation may begin while the one before is on the bus. The
//! work of the array and the cache register follows from the records: rules X1, X2, X3 and X4, and
//! with commands X5.

use std::collections::VecDeque;

use rtflash_model::{ChipId, Instant, Span};
use rtflash_trace::{Action, Operation, Transfer};
use serde::{Deserialize, Serialize};

use super::length::Length;

#[derive(Debug, Clone, Copy)]
pub(crate) struct PartLengths {
    pub(crate) sensing: Length,
    pub(crate) programming: Length,
    pub(crate) transfer: Length,
    pub(crate) command: Span,
    pub(crate) ways: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum CommandToCome {
    Already,
    ByItself,
    WithPage,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct StepOnBus {
    pages: Vec<(Operation, Option<(Instant, Instant)>)>,
    /// Since when they want the bus: at the earliest, and at the latest.
    wanted: (Instant, Instant),
    /// When the array is through with the page before, at the latest; of a read, the register.
    free: Instant,
    told: CommandToCome,
    /// The end of a command that went before its page.
    follows: Option<Instant>,
}

/// By the records so far. If times are ranges, a register gets free at the earliest instant.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct RegisterDesk {
    /// When the array, and the cache register, are free of what was recorded.
    array_free: Instant,
    cache_free: Instant,
    /// At most two: one that is moved, and one that is sensed behind it.
    steps: VecDeque<StepOnBus>,
    /// Since when the page that was read last has been on the bus; the end of time while it waits.
    on_bus: Instant,
    end: Instant,
    inside: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Begun {
    pub(crate) overlap: u64,
    /// An operation before whose page was never moved.
    pub(crate) lacking: Option<Operation>,
    /// How far it is from what its parts take, where no transfer will say.
    pub(crate) off: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MovedPage {
    pub(crate) action: Action,
    /// Since when its page wanted the bus, at the earliest; and how long it waited, at least.
    pub(crate) wanted: Instant,
    pub(crate) waited: u64,
    /// How far it, and the operation, are from what their parts take.
    pub(crate) off: u64,
    /// The chip that asked for the bus; `None` where it goes on behind a command.
    pub(crate) asked: Option<ChipId>,
}

impl RegisterDesk {
    /// `waits`: what it waits for a bus that is not looked at.
    pub(crate) fn page(&mut self, operation: &Operation, of: PartLengths, waits: Option<Span>) -> Begun {
        let start = operation.start;
        let program = operation.action == Action::Program;
        let joins = program && self.steps.back().is_some_and(|row| row.takes(operation));
        let (mut overlap, mut lacking, mut off) = (0, None, 0);
        if !joins {
            (lacking, off) = self.lacking(start, of);
            let behind_page = of.command > Span::ZERO && start > self.on_bus;
            let needed = match program {
                true => self.cache_free,
                // Its command waits for a page that is on the bus.
                false if behind_page => self.array_free.max(self.cache_free),
                false => self.array_free,
            };
            overlap = needed.since(start).as_ns();
            let told = if program { CommandToCome::Already } else { self.comes(operation, of, waits) };
            let (wanted, free) = if program {
                ((start, start), self.array_free)
            } else {
                (self.sensed(start, of, waits), self.cache_free)
            };
            self.steps.push_back(StepOnBus { pages: Vec::new(), wanted, free, told, follows: None });
        }
        let step = self.steps.back_mut().expect("it is there, or has just come");
        let command = if program { of.command } else { Span::ZERO };
        let over = waits.map(|wait| {
            let wait = wait.saturating_add(command);
            let over = |wanted: Instant, transfer: Span| wanted.saturating_add(wait).saturating_add(transfer);
            (over(step.wanted.0, of.transfer.min), over(step.wanted.1, of.transfer.max))
        });
        step.pages.push((*operation, over));
        if program {
            // It leaves the cache register as the array begins; a transfer says when that is.
            let begun = start.max(before(operation.end, of.programming.max));
            self.cache_free = if joins { self.cache_free.max(begun) } else { begun };
            self.array_free = if joins { self.array_free.max(operation.end) } else { operation.end };
        } else {
            self.array_free = step.wanted.0;
            self.cache_free = operation.end;
            self.on_bus = waits.map_or(Instant::END, |wait| step.wanted.1.saturating_add(wait));
        }
        self.end = if joins { self.end.max(operation.end) } else { operation.end };
        Begun { overlap, lacking, off }
    }

    fn comes(&self, operation: &Operation, of: PartLengths, waits: Option<Span>) -> CommandToCome {
        if of.command == Span::ZERO || waits.is_some() {
            return CommandToCome::Already;
        }
        let channel = |chip: ChipId| chip.0 / of.ways;
        let waits_there = |(page, over): &(Operation, Option<_>)| {
            page.action == Action::Read && over.is_none() && channel(page.chip) == channel(operation.chip)
        };
        let with = self.steps.back().is_some_and(|step| step.pages.iter().any(waits_there));
        if with { CommandToCome::WithPage } else { CommandToCome::ByItself }
    }

    /// At the earliest and at the latest; as if without the command that is still to come.
    fn sensed(&self, start: Instant, of: PartLengths, waits: Option<Span>) -> (Instant, Instant) {
        let told = match waits {
            Some(wait) if of.command > Span::ZERO => start.saturating_add(wait).saturating_add(of.command),
            _ => start,
        };
        let sensed = |sensing: Span| told.saturating_add(sensing).max(self.cache_free);
        (sensed(of.sensing.min), sensed(of.sensing.max))
    }

    /// The registers are empty. Chips that begin together do so in one step.
    pub(crate) fn inside(&mut self, start: Instant, end: Instant, of: PartLengths) -> Begun {
        if self.inside == Some(start) {
            let end = end.max(self.end);
            (self.array_free, self.cache_free, self.end) = (end, end, end);
            return Begun { overlap: 0, lacking: None, off: 0 };
        }
        let (lacking, off) = self.lacking(start, of);
        let overlap = self.array_free.max(self.cache_free).since(start).as_ns();
        (self.array_free, self.cache_free, self.end, self.inside) = (end, end, end, Some(start));
        Begun { overlap, lacking, off }
    }

    /// Over, or the third of those that are not: an operation whose page was never moved; or how
    /// far it is from what its parts take, if no transfer said.
    fn lacking(&mut self, now: Instant, of: PartLengths) -> (Option<Operation>, u64) {
        let Some(first) = self.steps.front() else { return (None, 0) };
        if let Some(off) = first.off(of) {
            self.steps.pop_front();
            return (None, off);
        }
        let lacks = self.steps.len() > 1 || first.pages.iter().all(|(operation, _)| operation.end <= now);
        let step = if lacks { self.steps.pop_front() } else { None };
        (step.and_then(|step| step.left().copied()), 0)
    }

    /// A page is moved; `None` where none is to be that is like it.
    pub(crate) fn moved(&mut self, transfer: &Transfer, of: PartLengths) -> Option<MovedPage> {
        if let Some(told) = self.told(transfer, of) {
            return Some(told);
        }
        // The command that goes with the page is to come before it.
        let others = self.steps.len() > 1;
        let misses = others && self.steps.back().is_some_and(|step| step.told == CommandToCome::WithPage);
        let step = self.steps.front_mut().filter(|step| step.told == CommandToCome::Already)?;
        let is_its = |operation: &Operation| is_of(operation, transfer);
        let page = step.pages.iter_mut().find(|(operation, over)| over.is_none() && is_its(operation))?;
        page.1 = Some((transfer.end, transfer.end));
        let action = page.0.action;
        let (wanted, follows) = (step.wanted, step.follows);
        let mut off = if action == Action::Program {
            (of.transfer + of.command).off(transfer.end.since(transfer.start))
        } else {
            // Behind another read nothing begins before that has left the array.
            if !others {
                self.on_bus = transfer.start;
            }
            of.transfer.off(transfer.end.since(transfer.start))
        };
        off = off.max(wanted.0.since(transfer.start).as_ns()).max(u64::from(misses));
        if let Some(told) = follows {
            off = off.max(apart(told, transfer.start));
        }
        if let Some(all) = step.off(of) {
            off = off.max(all);
            let step = self.steps.pop_front().expect("it is the first");
            if step.is_program() && self.steps.is_empty() && self.inside.is_none_or(|inside| inside < wanted.0) {
                self.cache_free = step.begun().map_or(self.cache_free, |(begun, _)| begun);
            }
        }
        let waited = if follows.is_some() { 0 } else { transfer.start.since(wanted.1).as_ns() };
        let asked = follows.is_none().then_some(transfer.chip);
        Some(MovedPage { action, wanted: wanted.0, waited, off, asked })
    }

    /// It is sensed from then on. `None` where no command like it is to come.
    fn told(&mut self, transfer: &Transfer, of: PartLengths) -> Option<MovedPage> {
        let step = self.steps.back().filter(|step| step.told != CommandToCome::Already)?;
        let (operation, _) = step.pages.first().filter(|(operation, _)| is_of(operation, transfer))?;
        let mut off = Length::within(of.command, Span::ZERO).off(transfer.end.since(transfer.start));
        let with_page = step.told == CommandToCome::WithPage;
        let (mut wanted, mut asked) = ((operation.start, operation.start), Some(transfer.chip));
        if with_page {
            let page = self.steps.front_mut().filter(|step| step.told == CommandToCome::Already)?;
            let (before, _) = page.pages.first()?;
            (wanted, asked) = (page.wanted, Some(before.chip));
            page.follows = Some(transfer.end);
            off = off.max(wanted.0.since(transfer.start).as_ns());
        }
        let step = self.steps.back_mut()?;
        let sensed = |sensing: Span| transfer.end.saturating_add(sensing).max(step.free);
        (step.wanted, step.told) = ((sensed(of.sensing.min), sensed(of.sensing.max)), CommandToCome::Already);
        self.array_free = step.wanted.0;
        let waited = transfer.start.since(wanted.1).as_ns();
        Some(MovedPage { action: Action::Read, wanted: wanted.0, waited, off, asked })
    }

    pub(crate) fn left(&self) -> Option<&Operation> {
        self.steps.front().and_then(StepOnBus::left)
    }

    /// How far from what the parts take, and one of the operations.
    pub(crate) fn off_at_the_end(&self, of: PartLengths) -> Option<(u64, &Operation)> {
        let step = self.steps.front()?;
        Some((step.off(of)?, &step.pages.first()?.0))
    }

    pub(crate) fn own_time(&self, operation: &Operation) -> Span {
        operation.end.since(self.end.max(operation.start))
    }
}

impl StepOnBus {
    fn is_program(&self) -> bool {
        self.pages.iter().all(|(operation, _)| operation.action == Action::Program)
    }

    fn takes(&self, page: &Operation) -> bool {
        let is_beside = |operation: &Operation| {
            operation.start == page.start
                && operation.action == Action::Program
                && operation.job == page.job
                && operation.chip != page.chip
        };
        self.pages.iter().all(|(operation, _)| is_beside(operation))
    }

    fn left(&self) -> Option<&Operation> {
        self.pages.iter().find(|(_, over)| over.is_none()).map(|(operation, _)| operation)
    }

    /// When all pages have been moved and the array is free: at the earliest, and at the latest.
    fn begun(&self) -> Option<(Instant, Instant)> {
        self.pages.iter().try_fold((self.free, self.free), |(low, high), (_, over)| {
            let (earliest, latest) = (*over)?;
            Some((low.max(earliest), high.max(latest)))
        })
    }

    /// From where the ends should be; `None` until all pages have been moved.
    fn off(&self, of: PartLengths) -> Option<u64> {
        let (low, high) = self.begun()?;
        let each = self.pages.iter().map(|&(operation, over)| {
            let (low, high) = match (operation.action, over) {
                (Action::Program, _) => {
                    (low.saturating_add(of.programming.min), high.saturating_add(of.programming.max))
                }
                (_, over) => over.unwrap_or((low, high)),
            };
            low.since(operation.end).max(operation.end.since(high)).as_ns()
        });
        each.max()
    }
}

fn is_of(operation: &Operation, transfer: &Transfer) -> bool {
    operation.chip == transfer.chip
        && operation.job == transfer.job
        && operation.kind == transfer.kind
        && operation.cluster == transfer.cluster
        && transfer.start >= operation.start
        && transfer.end <= operation.end
}

fn apart(one: Instant, other: Instant) -> u64 {
    one.since(other).max(other.since(one)).as_ns()
}

/// So long before an instant; the start where that is before it.
fn before(at: Instant, span: Span) -> Instant {
    Instant::from_ns(at.as_ns().saturating_sub(span.as_ns())).expect("earlier than an instant")
}
