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
pub(super) struct Registers {
    array: Array,
    cache: Cache,
}

/// What the array does.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
enum Array {
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
enum Cache {
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

impl Registers {
    /// When something happens next, as far as that is known.
    fn next(&self) -> Option<Instant> {
        let array = match self.array {
            Array::Sensing(_, until) | Array::Programming(_, until) => Some(until),
            Array::Idle | Array::Held(_) => None,
        };
        let cache = match (self.cache, self.array) {
            (Cache::Leaving(_, until), _) => until,
            (Cache::Committed(_, Some((filled, _))), Array::Idle) => Some(filled),
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
        let Some(Registers { array, cache }) = &self.processors[processor].registers else { return true };
        let part = &self.parts[part];
        if part.owes {
            matches!((array, cache), (Array::Idle, Cache::Empty))
        } else if part.reads.is_empty() {
            matches!((array, cache), (Array::Idle | Array::Programming(..), Cache::Empty))
        } else {
            matches!((array, cache), (Array::Idle, Cache::Empty | Cache::Leaving(..)))
        }
    }

    /// Starts to sense a page, or commits one that is to be programmed.
    pub(super) fn start_cached(&mut self, processor: usize, page: &Planned, now: Instant) {
        let operation = self.operation(processor, page, now);
        let ticket = self.observer.open(now);
        if page.action == Action::Read {
            let until = now.saturating_add(self.lengths.sensing(operation.job, operation.chip, now));
            let page = PageUnderWay { part: page.part, operation, ticket };
            self.registers(processor).array = Array::Sensing(page, until);
            self.wake(processor);
        } else {
            self.registers(processor).cache = Cache::Committed(page.part, None);
            self.ask_cached(processor, operation, ticket, now);
        }
    }

    fn registers(&mut self, processor: usize) -> &mut Registers {
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
            Cache::Committed(part, _) => {
                // The array is idle then, or programs till then.
                let begun = match registers.array {
                    Array::Programming(_, until) => over.max(until),
                    _ => over,
                };
                let end = begun.saturating_add(self.lengths.programming(operation.job, operation.chip, begun));
                registers.cache = Cache::Committed(part, Some((over, end)));
                end
            }
            Cache::Leaving(part, _) => {
                registers.cache = Cache::Leaving(part, Some(over));
                over
            }
            Cache::Empty => unreachable!("what asks for the bus is in the cache register"),
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
                (_, Cache::Leaving(part, Some(until))) if until == now => {
                    registers.cache = Cache::Empty;
                    self.page_is_over(processor, part, now);
                }
                (Array::Programming(part, until), _) if until == now => {
                    registers.array = Array::Idle;
                    self.page_is_over(processor, part, now);
                }
                (Array::Sensing(page, until), _) if until == now => registers.array = Array::Held(page),
                (Array::Held(page), Cache::Empty) => {
                    (registers.array, registers.cache) = (Array::Idle, Cache::Leaving(page.part, None));
                    self.ask_cached(processor, page.operation, page.ticket, now);
                }
                (Array::Idle, Cache::Committed(part, Some((filled, end)))) if filled <= now => {
                    (registers.array, registers.cache) = (Array::Programming(part, end), Cache::Empty);
                }
                _ => break,
            }
        }
        self.wake(processor);
    }
}
