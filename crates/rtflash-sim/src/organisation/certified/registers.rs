//! Chips with a second page register: a page is sensed or programmed while another one is on the
//! bus (docs/analysis.md, Section 13). The chips of a superblock are as one, with rows for pages
//! that are programmed (Section 15). If commands are counted a read waits for its own, which goes
//! with the page before if that waits, too (Section 15.1).

use rtflash_model::{ChipId, Instant, Span};
use rtflash_plan::{ChannelId, Waits};
use rtflash_trace::{Action, Observer, Operation, Record, Transfer};
use serde::{Deserialize, Serialize};

use super::CertifiedGroup;
use super::operate::{BusUse, ChipAtWork, OpenOperation, Planned};
use crate::earliest::earlier;
use crate::engine::sequencer::Ticket;
use crate::flash::BusRequest;

/// The registers of a processor's chips, and what users' pages do in them. Copies and erases are
/// steps: they begin when nothing is in the registers.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ChipRegisters {
    array: ArrayState,
    cache: CacheState,
    /// Pages of the row that is committed whose transfers are known.
    row: Vec<OpenOperation>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
enum ArrayState {
    #[default]
    Idle,
    /// Waits for a read's command, which is on the bus by itself or with the page in the cache
    /// register.
    Untold(PageUnderWay, CommandPath),
    Sensing(PageUnderWay, Instant),
    /// A page has been sensed, and waits for the cache register.
    Held(PageUnderWay),
    Programming(usize, u32, Instant),
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
enum CacheState {
    #[default]
    Empty,
    /// A page that is read: since when it is on the bus, and when it has been moved, once that is
    /// known.
    Leaving(PageUnderWay, Option<(Instant, Instant)>),
    /// A row: one page on a chip of a stripe.
    Committed(CommittedRow),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum CommandPath {
    ByItself,
    WithPage,
}

/// Pages that will be programmed together, when all are there.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct CommittedRow {
    part: usize,
    pages: u32,
    /// Pages of which it is not known yet when they are there.
    awaited: u32,
    /// When the last of the others is there.
    filled: Instant,
    /// When its programs end, once that is known.
    end: Option<Instant>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct PageUnderWay {
    part: usize,
    operation: Operation,
    ticket: Ticket,
}

impl ChipRegisters {
    pub(super) fn are_empty(&self) -> bool {
        matches!((self.array, self.cache), (ArrayState::Idle, CacheState::Empty))
    }

    fn next(&self) -> Option<Instant> {
        let array = match self.array {
            ArrayState::Sensing(_, until) | ArrayState::Programming(.., until) => Some(until),
            ArrayState::Idle | ArrayState::Untold(..) | ArrayState::Held(_) => None,
        };
        let cache = match (self.cache, self.array) {
            (CacheState::Leaving(_, moved), _) => moved.map(|(_, until)| until),
            (CacheState::Committed(CommittedRow { filled, end: Some(_), .. }), ArrayState::Idle) => Some(filled),
            _ => None,
        };
        earlier(array, cache)
    }
}

impl<O: Observer> CertifiedGroup<'_, O> {
    /// Whether the next step of a part is possible now; where it is not, nothing else begins. With
    /// one register that is so whenever no step is under way.
    ///
    /// Rules X1, X2 and X3; with commands a read waits for a page that is on the bus.
    pub(super) fn can_go_on(&self, processor: usize, part: usize, now: Instant) -> bool {
        let commands = self.core.lengths.command() > Span::ZERO;
        let Some(ChipRegisters { array, cache, .. }) = &self.processors[processor].registers else { return true };
        let part = &self.parts[part];
        if part.owes {
            matches!((array, cache), (ArrayState::Idle, CacheState::Empty))
        } else if part.reads.is_empty() {
            matches!((array, cache), (ArrayState::Idle | ArrayState::Programming(..), CacheState::Empty))
        } else {
            match (array, cache) {
                (ArrayState::Idle, CacheState::Leaving(_, Some((since, _)))) => !commands || now <= *since,
                (ArrayState::Idle, CacheState::Empty | CacheState::Leaving(_, None)) => true,
                _ => false,
            }
        }
    }

    /// Starts to sense a page, or commits a row that is to be programmed: pages of one part.
    pub(super) fn start_cached(&mut self, processor: usize, planned: &[Planned], now: Instant) {
        let part = planned[0].part;
        if planned[0].action == Action::Read {
            let operation = self.operation(processor, &planned[0], now);
            let ticket = self.core.observer.open(&operation);
            let page = PageUnderWay { part, operation, ticket };
            if self.core.lengths.command() > Span::ZERO {
                self.asks_to_read(processor, page, now);
                return;
            }
            let until = now.saturating_add(self.core.lengths.sensing(operation.job, operation.chip, now));
            self.registers(processor).array = ArrayState::Sensing(page, until);
            self.wake(processor);
            return;
        }
        let pages = u32::try_from(planned.len()).expect("no more than chips");
        let row = CommittedRow { part, pages, awaited: pages, filled: now, end: None };
        self.registers(processor).cache = CacheState::Committed(row);
        for page in planned {
            let operation = self.operation(processor, page, now);
            let ticket = self.core.observer.open(&operation);
            self.ask_cached(processor, operation, ticket, now);
        }
    }

    /// Rule X5: a read begins with its command, which goes with the page that waits on the same
    /// channel, or asks for the bus at once. If all waits are the worst there are, it has it then.
    fn asks_to_read(&mut self, processor: usize, page: PageUnderWay, now: Instant) {
        let Operation { job, chip, .. } = page.operation;
        if self.options.placed.waits == Waits::Worst {
            let told = now.saturating_add(self.longest_wait(processor, &page.operation));
            let told = told.saturating_add(self.core.lengths.command());
            let until = told.saturating_add(self.core.lengths.sensing(job, chip, told));
            self.registers(processor).array = ArrayState::Sensing(page, until);
            self.wake(processor);
            return;
        }
        let channel = self.core.channel_of(chip);
        let cache = self.registers(processor).cache;
        let path = match cache {
            CacheState::Leaving(before, _) if self.core.channel_of(before.operation.chip) == channel => {
                CommandPath::WithPage
            }
            _ => CommandPath::ByItself,
        };
        self.registers(processor).array = ArrayState::Untold(page, path);
        if path == CommandPath::ByItself {
            let PageUnderWay { operation, ticket, .. } = page;
            self.chips[chip].open = Some(OpenOperation { operation, ticket, asks_for: BusUse::CachedCommand });
            self.core.channels.request(BusRequest { since: now, channel, chip, lane: processor });
        }
    }

    /// The command of the read that waits for it is on the bus from now on, until the instant that
    /// this gives: then the page is sensed.
    pub(super) fn told_to_read(&mut self, processor: usize, channel: ChannelId, now: Instant) -> Instant {
        let over = now.saturating_add(self.core.lengths.command());
        let ArrayState::Untold(page, _) = self.registers(processor).array else {
            unreachable!("a command is a read's that waits for it")
        };
        let Operation { cluster, chip, job, kind, .. } = page.operation;
        let until = over.saturating_add(self.core.lengths.sensing(job, chip, over));
        self.registers(processor).array = ArrayState::Sensing(page, until);
        self.core.observer.push(Record::Transfer(Transfer {
            start: now,
            end: over,
            channel,
            cluster,
            chip,
            job,
            kind,
        }));
        self.wake(processor);
        over
    }

    /// The longest that a request of an operation may wait for the bus: beside a page that is read
    /// the superblock's other chips are silent.
    fn longest_wait(&self, processor: usize, operation: &Operation) -> Span {
        let ChipAtWork { foreign_chips, others, .. } = self.chips[operation.chip];
        let alone = operation.action == Action::Read && !self.processors[processor].stripe;
        self.plan.transfers(if alone { foreign_chips } else { others })
    }

    fn registers(&mut self, processor: usize) -> &mut ChipRegisters {
        self.processors[processor].registers.as_mut().expect("only chips with two page registers work so")
    }

    /// A page asks for its bus; where all waits are the worst there are, it has it then.
    fn ask_cached(&mut self, processor: usize, operation: Operation, ticket: Ticket, now: Instant) {
        let chip = operation.chip;
        let channel = self.core.channel_of(chip);
        let open = OpenOperation { operation, ticket, asks_for: BusUse::CachedPage };
        if self.options.placed.waits == Waits::Worst {
            let mut granted = now.saturating_add(self.longest_wait(processor, &operation));
            if operation.action == Action::Program {
                granted = granted.saturating_add(self.core.lengths.command());
            }
            let over = granted.saturating_add(self.core.lengths.transfer(operation.job, channel, granted));
            self.moved_cached(processor, open, granted, over);
            return;
        }
        self.chips[chip].open = Some(open);
        self.core.channels.request(BusRequest { since: now, channel, chip, lane: processor });
    }

    pub(super) fn moves_cached(&mut self, processor: usize, open: OpenOperation, channel: ChannelId, now: Instant) {
        let Operation { cluster, chip, job, kind, action, .. } = open.operation;
        let mut end = now.saturating_add(self.core.lengths.transfer(job, channel, now));
        let mut start = now;
        if action == Action::Program {
            end = end.saturating_add(self.core.lengths.command());
        } else if let ArrayState::Untold(_, CommandPath::WithPage) = self.registers(processor).array {
            // The command goes first.
            start = self.told_to_read(processor, channel, now);
            end = start.saturating_add(self.core.lengths.transfer(job, channel, start));
        }
        self.core.channels.hold(channel, end);
        self.moved_cached(processor, open, now, end);
        self.core.observer.push(Record::Transfer(Transfer { start, end, channel, cluster, chip, job, kind }));
    }

    /// A page is on the bus from `since` on and will have been moved by `over`: when its operation
    /// ends is known from now on.
    fn moved_cached(&mut self, processor: usize, open: OpenOperation, since: Instant, over: Instant) {
        let ticket = open.ticket;
        let registers = self.processors[processor].registers.as_mut().expect("it has two page registers");
        match &mut registers.cache {
            CacheState::Committed(row) => {
                row.awaited -= 1;
                row.filled = row.filled.max(over);
                registers.row.push(open);
                if row.awaited > 0 {
                    return;
                }
                // The array is idle then, or programs till then.
                let begun = match registers.array {
                    ArrayState::Programming(.., until) => row.filled.max(until),
                    _ => row.filled,
                };
                let mut last = begun;
                for OpenOperation { operation, ticket, .. } in registers.row.drain(..) {
                    let end = begun.saturating_add(self.core.lengths.programming(operation.job, operation.chip, begun));
                    last = last.max(end);
                    self.core.observer.close(ticket, end);
                }
                row.end = Some(last);
            }
            CacheState::Leaving(_, moved) => {
                *moved = Some((since, over));
                self.core.observer.close(ticket, over);
            }
            CacheState::Empty => unreachable!("what asks for the bus is in the cache register"),
        }
        self.wake(processor);
    }

    fn wake(&mut self, processor: usize) {
        let chip: ChipId = self.processors[processor].first_chip();
        let next = self.registers(processor).next();
        self.core.ends(chip, next);
    }

    /// Rule X4: what is due at this instant happens. A page that has been moved leaves the cache
    /// register, one that has been sensed takes it, one that is in it is programmed, each as soon
    /// as it can.
    pub(super) fn registers_go_on(&mut self, processor: usize, now: Instant) {
        self.changed.push(processor);
        loop {
            let registers = self.registers(processor);
            match (registers.array, registers.cache) {
                (_, CacheState::Leaving(page, Some((_, until)))) if until == now => {
                    registers.cache = CacheState::Empty;
                    self.page_is_over(processor, page.part, now);
                }
                (ArrayState::Programming(part, pages, until), _) if until == now => {
                    registers.array = ArrayState::Idle;
                    (0..pages).for_each(|_| self.page_is_over(processor, part, now));
                }
                (ArrayState::Sensing(page, until), _) if until == now => registers.array = ArrayState::Held(page),
                (ArrayState::Held(page), CacheState::Empty) => {
                    (registers.array, registers.cache) = (ArrayState::Idle, CacheState::Leaving(page, None));
                    self.ask_cached(processor, page.operation, page.ticket, now);
                }
                (ArrayState::Idle, CacheState::Committed(CommittedRow { part, pages, filled, end: Some(end), .. }))
                    if filled <= now =>
                {
                    (registers.array, registers.cache) = (ArrayState::Programming(part, pages, end), CacheState::Empty);
                }
                _ => break,
            }
        }
        self.wake(processor);
    }
}
