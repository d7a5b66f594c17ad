//! Chips with a second page register: a page is sensed or programmed while another one is on the
//! bus (docs/analysis.md, Section 13).

use rtflash_model::Instant;
use serde::{Deserialize, Serialize};

use super::CertifiedGroup;
use super::operate::{BusUse, OpenOperation, Planned};
use crate::dispatch::sequencer::Ticket;
use crate::earliest::earlier;
use crate::flash::BusRequest;
use crate::ids::{ChannelId, ChipId};
use crate::options::Waits;
use crate::trace::{Action, Observer, Operation, Record, Transfer};

/// The registers of a chip, and what users' pages do in them. Copies and erases are steps: they
/// begin when nothing is in the registers.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ChipRegisters {
    array: ArrayState,
    cache: CacheState,
}

/// What the array does.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
enum ArrayState {
    #[default]
    Idle,
    Sensing(PageUnderWay, Instant),
    /// A page has been sensed, and waits for the cache register.
    Held(PageUnderWay),
    /// Programs a page of this part.
    Programming(usize, Instant),
}

/// What the cache register holds.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
enum CacheState {
    #[default]
    Empty,
    /// A page that this part reads: when it has been moved, once that is known.
    Leaving(usize, Option<Instant>),
    /// A page that this part programs: when it is there and when its program will end, once that is
    /// known.
    Committed(usize, Option<(Instant, Instant)>),
}

/// A page that is read, until it leaves the chip.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct PageUnderWay {
    part: usize,
    operation: Operation,
    ticket: Ticket,
}

impl ChipRegisters {
    /// When something happens next, as far as that is known.
    fn next(&self) -> Option<Instant> {
        let array = match self.array {
            ArrayState::Sensing(_, until) | ArrayState::Programming(_, until) => Some(until),
            ArrayState::Idle | ArrayState::Held(_) => None,
        };
        let cache = match (self.cache, self.array) {
            (CacheState::Leaving(_, until), _) => until,
            (CacheState::Committed(_, Some((filled, _))), ArrayState::Idle) => Some(filled),
            _ => None,
        };
        earlier(array, cache)
    }
}

impl<O: Observer> CertifiedGroup<'_, O> {
    /// Whether the next step of a part is possible now; where it is not, nothing else begins. With
    /// one register that is so whenever no step is under way.
    ///
    /// Rules X1, X2 and X3.
    pub(super) fn can_go_on(&self, processor: usize, part: usize) -> bool {
        let Some(ChipRegisters { array, cache }) = &self.processors[processor].registers else { return true };
        let part = &self.parts[part];
        if part.owes {
            matches!((array, cache), (ArrayState::Idle, CacheState::Empty))
        } else if part.reads.is_empty() {
            matches!((array, cache), (ArrayState::Idle | ArrayState::Programming(..), CacheState::Empty))
        } else {
            matches!((array, cache), (ArrayState::Idle, CacheState::Empty | CacheState::Leaving(..)))
        }
    }

    /// Starts to sense a page, or commits one that is to be programmed.
    pub(super) fn start_cached(&mut self, processor: usize, page: &Planned, now: Instant) {
        let operation = self.operation(processor, page, now);
        let ticket = self.observer.open(now);
        if page.action == Action::Read {
            let until = now.saturating_add(self.lengths.sensing(operation.job, operation.chip, now));
            let page = PageUnderWay { part: page.part, operation, ticket };
            self.registers(processor).array = ArrayState::Sensing(page, until);
            self.wake(processor);
        } else {
            self.registers(processor).cache = CacheState::Committed(page.part, None);
            self.ask_cached(processor, operation, ticket, now);
        }
    }

    fn registers(&mut self, processor: usize) -> &mut ChipRegisters {
        self.processors[processor].registers.as_mut().expect("only chips with two page registers work so")
    }

    /// A page asks for its bus; where all waits are the worst there are, it has it then.
    fn ask_cached(&mut self, processor: usize, operation: Operation, ticket: Ticket, now: Instant) {
        let chip = operation.chip;
        let channel = self.channel_of(chip);
        let open = OpenOperation { operation, ticket, asks_for: BusUse::CachedPage };
        if self.options.placed.waits == Waits::Worst {
            let granted = now.saturating_add(self.plan.transfers(self.chips[chip].others));
            let over = granted.saturating_add(self.lengths.transfer(operation.job, channel, granted));
            self.moved_cached(processor, open, over);
            return;
        }
        self.chips[chip].open = Some(open);
        self.channels.request(BusRequest { since: now, channel, chip, lane: processor });
    }

    /// A page is granted its bus.
    pub(super) fn moves_cached(&mut self, processor: usize, open: OpenOperation, channel: ChannelId, now: Instant) {
        let Operation { cluster, chip, job, kind, .. } = open.operation;
        let end = now.saturating_add(self.lengths.transfer(job, channel, now));
        self.channels.hold(channel, end);
        self.moved_cached(processor, open, end);
        self.observer.push(Record::Transfer(Transfer { start: now, end, channel, cluster, chip, job, kind }));
    }

    /// A page will have been moved by `over`: when its operation ends is known from now on.
    fn moved_cached(&mut self, processor: usize, open: OpenOperation, over: Instant) {
        let OpenOperation { operation, ticket, .. } = open;
        let registers = self.processors[processor].registers.as_mut().expect("it has two page registers");
        let end = match registers.cache {
            CacheState::Committed(part, _) => {
                // The array is idle then, or programs till then.
                let begun = match registers.array {
                    ArrayState::Programming(_, until) => over.max(until),
                    _ => over,
                };
                let end = begun.saturating_add(self.lengths.programming(operation.job, operation.chip, begun));
                registers.cache = CacheState::Committed(part, Some((over, end)));
                end
            }
            CacheState::Leaving(part, _) => {
                registers.cache = CacheState::Leaving(part, Some(over));
                over
            }
            CacheState::Empty => unreachable!("what asks for the bus is in the cache register"),
        };
        self.observer.close(ticket, Record::Operation(Operation { end, ..operation }));
        self.wake(processor);
    }

    /// Something may happen on the chip of a processor.
    fn wake(&mut self, processor: usize) {
        let chip: ChipId = self.processors[processor].first_chip();
        let next = self.registers(processor).next();
        self.ends.set(chip.index(), next);
    }

    /// Rule X4: what is due at this instant happens. A page that has been moved leaves the cache
    /// register, one that has been sensed takes it, one that is in it is programmed, each as soon
    /// as it can.
    pub(super) fn registers_go_on(&mut self, processor: usize, now: Instant) {
        self.changed.push(processor);
        loop {
            let registers = self.registers(processor);
            match (registers.array, registers.cache) {
                (_, CacheState::Leaving(part, Some(until))) if until == now => {
                    registers.cache = CacheState::Empty;
                    self.page_is_over(processor, part, now);
                }
                (ArrayState::Programming(part, until), _) if until == now => {
                    registers.array = ArrayState::Idle;
                    self.page_is_over(processor, part, now);
                }
                (ArrayState::Sensing(page, until), _) if until == now => registers.array = ArrayState::Held(page),
                (ArrayState::Held(page), CacheState::Empty) => {
                    (registers.array, registers.cache) = (ArrayState::Idle, CacheState::Leaving(page.part, None));
                    self.ask_cached(processor, page.operation, page.ticket, now);
                }
                (ArrayState::Idle, CacheState::Committed(part, Some((filled, end)))) if filled <= now => {
                    (registers.array, registers.cache) = (ArrayState::Programming(part, end), CacheState::Empty);
                }
                _ => break,
            }
        }
        self.wake(processor);
    }
}
