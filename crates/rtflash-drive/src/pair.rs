//! Commands paired from the events of a trace, in memory for what is in flight alone.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::num::NonZeroU32;

use rtflash_host::Op;

use crate::command::Done;
use crate::refused::MeasurementRefused;

/// Commands that a block device of Linux has in flight at most: 2^16 tags.
const MAX_IN_FLIGHT: usize = 1 << 16;

/// Commands without their other end that are no sign of lost events, in per mille of all; the
/// commands in flight as the trace begins come beside them.
const MAX_UNPAIRED_PER_MILLE: u64 = 5;

/// Parts of cut I/Os that wait for their issue at most; of more, all are forgotten.
const MAX_CUT: usize = 1 << 16;

/// Other devices whose commands are counted.
const MAX_DEVICES: usize = 64;

/// Commands beside those in flight that a trace's begin and end extend over.
const ENOUGH: u64 = 64;

/// The time by which an event of another processor can come late, in ns: they are merged by time.
const DISORDER: u64 = 1_000_000_000;

/// An event of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceEvent {
    /// In ns of the trace's clock.
    pub at: u64,
    /// Which device: major and minor number.
    pub device: (u32, u32),
    /// Whether the driver got the command, or the drive ended it.
    pub phase: Phase,
    /// Its operation; `None` for a command that moves no data.
    pub op: Option<Op>,
    /// The process that the event names; `None` if it names none, or the idle one.
    pub process: Option<NonZeroU32>,
    /// The sector of 512 bytes; the first one of the rest if an I/O is cut.
    pub sector: u64,
    /// How many sectors.
    pub sectors: u64,
}

/// Which end of a command an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The driver got it.
    Issued,
    /// It ended.
    Ended,
    /// It ended with an error.
    Failed,
    /// An I/O was cut at a sector: the rest is issued on its own, now or later.
    Cut,
}

/// A command in flight.
#[derive(Debug, Clone, Copy)]
struct InFlight {
    number: u64,
    at: u64,
    op: Op,
    process: Option<NonZeroU32>,
    sectors: u64,
    others: u32,
    continues: bool,
    idle: u64,
}

/// Pairs the events of one device, and hands each command on as it ends.
#[derive(Debug, Default)]
pub struct Pairing {
    device: Option<(u32, u32)>,
    /// By operation and first sector.
    in_flight: HashMap<(Op, u64), VecDeque<InFlight>>,
    /// Numbers of the commands in flight, with their times: the last issue decides who was joined.
    outstanding: BTreeMap<u64, u64>,
    next: u64,
    last_issue: Option<(u64, Op, u64)>,
    last_end: u64,
    /// First sectors of the rests of I/Os that were cut.
    cut: HashSet<(Op, u32)>,
    /// The last command that ended: its number and when, for what continues it.
    ended: Option<(u64, u64)>,
    late_unpaired: u64,
    /// Whether the caller chose the device.
    is_chosen: bool,
    /// Commands that other devices got, of a few devices.
    others: BTreeMap<(u32, u32), u64>,
    /// Counts of the events.
    pub seen: Seen,
}

/// Counts of the events of a trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Commands that were paired.
    pub paired: u64,
    /// Ends without a begin.
    pub unpaired: u64,
    /// Commands that move no data: flushes, discards.
    pub without_data: u64,
    /// Commands that failed.
    pub failed: u64,
    /// Events of other devices.
    pub of_others: u64,
    /// The most commands in flight.
    pub most_in_flight: u32,
    /// The first and the last time, in ns.
    pub first: u64,
    /// See above.
    pub last: u64,
}

impl Pairing {
    /// The device to read; `None` for the first one that the trace names.
    pub fn new(device: Option<(u32, u32)>) -> Pairing {
        Pairing { device, is_chosen: device.is_some(), ..Pairing::default() }
    }

    /// Takes in one event, and gives the command that it ends.
    ///
    /// # Errors
    /// If the trace lost events.
    pub fn event(&mut self, event: TraceEvent) -> Result<Option<Done>, MeasurementRefused> {
        if *self.device.get_or_insert(event.device) != event.device {
            self.seen.of_others += 1;
            if event.phase == Phase::Issued
                && (self.others.len() < MAX_DEVICES || self.others.contains_key(&event.device))
            {
                *self.others.entry(event.device).or_default() += 1;
            }
            return Ok(None);
        }
        if event.phase == Phase::Cut {
            if self.cut.len() >= MAX_CUT {
                self.cut.clear();
            }
            self.cut.extend(event.op.map(|op| (op, low_half(event.sector))));
            return Ok(None);
        }
        let Some(op) = event.op.filter(|_| event.sectors > 0) else {
            self.seen.without_data += u64::from(event.phase == Phase::Issued);
            return Ok(None);
        };
        self.seen.first = if self.seen.first == 0 { event.at } else { self.seen.first };
        if event.at.saturating_add(DISORDER) < self.seen.last {
            return Err(MeasurementRefused::because(
                "the times of the trace go back: it holds one processor behind another, or several traces. Use `trace-cmd \
                 report`, which merges all processors, without `--cpu`; sort a text by its column of times (`sort -s`)",
            ));
        }
        self.seen.last = self.seen.last.max(event.at);
        if event.phase == Phase::Issued {
            self.issued(event, op)?;
            return Ok(None);
        }
        Ok(self.ended(event, op))
    }

    fn issued(&mut self, event: TraceEvent, op: Op) -> Result<(), MeasurementRefused> {
        let others = self.outstanding.len();
        if others >= MAX_IN_FLIGHT {
            return Err(lost(self.seen.paired));
        }
        let follows = self.last_issue.replace((self.next, op, event.sector.saturating_add(event.sectors)));
        let is_rest = !self.cut.is_empty() && self.cut.remove(&(op, low_half(event.sector)));
        let continues = is_rest
            || follows.is_some_and(|(number, before, end)| {
                let is_pending = self.outstanding.contains_key(&number) || self.ended == Some((number, event.at));
                before == op && end == event.sector && is_pending
            });
        let idle = if others == 0 && self.last_end > 0 { event.at.saturating_sub(self.last_end) } else { 0 };
        let others = u32::try_from(others).expect("few commands in flight: invariant of MAX_IN_FLIGHT");
        let TraceEvent { at, process, sectors, .. } = event;
        let begun = InFlight { number: self.next, at, op, process, sectors, others, continues, idle };
        self.in_flight.entry((op, event.sector)).or_default().push_back(begun);
        self.outstanding.insert(self.next, event.at);
        self.seen.most_in_flight = self.seen.most_in_flight.max(others + 1);
        self.next += 1;
        Ok(())
    }

    fn ended(&mut self, event: TraceEvent, op: Op) -> Option<Done> {
        let place = (op, event.sector);
        let Some(begun) = self.in_flight.get_mut(&place).and_then(VecDeque::pop_front) else {
            self.seen.unpaired += 1;
            // Commands in flight at the beginning have ended by then.
            let begun = 4 * u64::from(self.seen.most_in_flight) + ENOUGH;
            self.late_unpaired += u64::from(self.seen.paired > begun);
            self.last_end = event.at;
            return None;
        };
        if self.in_flight.get(&place).is_some_and(VecDeque::is_empty) {
            self.in_flight.remove(&place);
        }
        self.outstanding.remove(&begun.number);
        let free = std::mem::replace(&mut self.last_end, event.at);
        self.ended = Some((begun.number, event.at));
        if event.phase == Phase::Failed {
            self.seen.failed += 1;
            return None;
        }
        self.seen.paired += 1;
        Some(Done {
            issued: begun.at,
            ended: event.at.max(begun.at),
            op: begun.op,
            process: begun.process,
            from: event.sector.saturating_mul(512),
            size: begun.sectors.saturating_mul(512),
            others: begun.others,
            is_joined: self.next > begun.number + 1,
            continues: begun.continues,
            idle: begun.idle,
            free,
        })
    }

    /// The end of the trace.
    ///
    /// # Errors
    /// If the trace lost events, or if the caller chose no device and the first one is not the one
    /// that got most commands.
    pub fn finish(&self) -> Result<Seen, MeasurementRefused> {
        let most = self.others.iter().max_by_key(|(_, issued)| **issued);
        if let Some((&(major, minor), &issued)) = most.filter(|&(_, &issued)| !self.is_chosen && issued > self.next) {
            let (own, other) = self.device.expect("others are other than the device: invariant");
            return Err(MeasurementRefused::because(format!(
                "the trace has commands of several drives ({} of {own}:{other}, {issued} of {major}:{minor}): choose \
                 yours with --of MAJOR:MINOR (`lsblk` prints both numbers)",
                self.next
            )));
        }
        // Commands in flight at the end were issued among the last commands.
        let recent = 4 * self.outstanding.len() as u64 + ENOUGH;
        let stale = self.outstanding.keys().filter(|&&number| number + recent < self.next).count() as u64;
        let lost_events = self.late_unpaired + stale;
        if lost_events > 2 + self.seen.paired * MAX_UNPAIRED_PER_MILLE / 1_000 {
            return Err(lost(lost_events));
        }
        Ok(self.seen)
    }
}

/// The event of a cut has the lower half of the sector: its argument is an `unsigned int`
/// (`block_split` of include/trace/events/block.h).
fn low_half(sector: u64) -> u32 {
    u32::try_from(sector & u64::from(u32::MAX)).expect("32 bits: invariant of the mask")
}

fn lost(number: u64) -> MeasurementRefused {
    MeasurementRefused::because(format!(
        "the trace lost events ({number} commands have one end alone): record again with larger buffers (`trace-cmd \
         record -b 65536`, `buffer_size_kb`, `blktrace -b 4096`)"
    ))
}
