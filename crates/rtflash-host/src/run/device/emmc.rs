//! A device that does one command at a time.

use std::collections::VecDeque;

use rtflash_model::{Instant, Span};

use super::slow::{Episodes, Slow};
use super::{Handed, Target};
use crate::scheduler::{Ends, TimeBySize};
use crate::{Command, Op};

/// The driver in front of a device, which says when Linux asks the scheduler (Linux 6.12.117).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Attach {
    /// Not stated: the scheduler is asked while there is room, and after each completion.
    #[default]
    Unstated,
    /// USB storage, SCSI, UFS: a command needs a budget before the scheduler is asked
    /// (`scsi_mq_get_budget` of drivers/scsi/scsi_lib.c), and each end of one asks.
    Budget,
    /// Tags alone: the scheduler is asked before there is a tag, so that one command more is out of
    /// it (`__blk_mq_do_dispatch_sched` of block/blk-mq-sched.c).
    Tags,
    /// SD cards, and MMC without command queueing: 64 tags, and a driver that waits for each
    /// command before it issues the next (`mmc_blk_rw_wait` of drivers/mmc/core/block.c).
    Mmc,
    /// MMC with command queueing: tags, and each end of a command asks
    /// (`mmc_blk_cqe_complete_rq` of drivers/mmc/core/block.c).
    MmcCqe,
}

impl Attach {
    /// Tags of a card without command queueing (`MMC_QUEUE_DEPTH` of drivers/mmc/core/queue.c).
    pub(crate) const MMC_TAGS: u32 = 64;

    /// Whether the end of each command asks the scheduler again.
    pub(crate) fn asks_at_ends(self) -> bool {
        !matches!(self, Attach::Tags | Attach::Mmc)
    }

    /// Whether a command can be out of the scheduler without a tag.
    pub(crate) fn asks_before_tags(self) -> bool {
        matches!(self, Attach::Tags | Attach::Mmc | Attach::MmcCqe)
    }

    /// The driver's tags where `depth` commands are out of the scheduler at most; `None` where they
    /// are not stated.
    pub(crate) fn tags(self, depth: u32) -> Option<u32> {
        (self != Attach::Unstated).then(|| depth - u32::from(self.asks_before_tags()))
    }
}

/// A device that does one command at a time, first in, first out, without a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emmc {
    /// The driver in front of it.
    pub attach: Attach,
    /// Commands that are out of the scheduler at most, the one that runs counted; above zero.
    pub depth: u32,
    /// The cost of a read.
    pub read: EmmcCost,
    /// The cost of a write.
    pub write: EmmcCost,
    /// The cost of a discard; `None` for that of a write.
    pub discard: Option<EmmcCost>,
    /// Its volatile write cache, if it has one that is on.
    pub cache: Option<WriteCache>,
    /// Episodes in which all commands cost more, if it has any.
    pub slow: Option<Slow>,
}

/// A volatile write cache. It drains at a steady rate, whatever commands run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteCache {
    /// Bytes that it holds.
    pub size: u64,
    /// Bytes a second that it drains; above zero.
    pub drain: u64,
    /// The cost of a write into it, if there is room.
    pub write: EmmcCost,
    /// The cost of a flush beside the time that the cache takes to drain; above zero.
    pub flush: Span,
    /// Whether a write can go through it (reliable write, `MMC_BLK_REL_WR` of
    /// drivers/mmc/core/block.c, 6.12.117): at the cost of a write without a cache.
    pub fua: bool,
}

/// Parts of a byte that a cache counts: a cache drains one of them in a nanosecond for each byte
/// that it drains in a second.
const PARTS: u128 = 1_000_000_000;

impl WriteCache {
    /// The time in which this many parts of a byte drain, rounded up.
    fn drains(&self, parts: u128) -> Span {
        let ns = parts.div_ceil(self.drain.into());
        u64::try_from(ns).ok().and_then(Span::from_ns).unwrap_or(Span::LONGEST)
    }
}

/// The costs of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmmcCost {
    /// The first request, or piece, of an I/O; above zero.
    pub first: Span,
    /// Each of its others, whatever ran in between; above zero.
    pub next: Span,
    /// 1,024 bytes.
    pub per_kib: Span,
    /// Episodes in which these commands alone cost more, beside the device's own.
    pub slow: Option<Slow>,
}

impl EmmcCost {
    /// The longer of both begins, and the time of each 1,024 bytes.
    fn line(&self) -> TimeBySize {
        TimeBySize { begin: self.first.max(self.next), per_kib: self.per_kib }
    }
}

/// The most that episodes add to a command.
fn most_extra(slow: Option<Slow>) -> Span {
    slow.map_or(Span::ZERO, |slow| slow.extra)
}

impl Emmc {
    /// The cost of a command. All that is neither a read nor a discard is a write.
    fn cost(&self, command: &Command, fua: bool) -> EmmcCost {
        match command.op {
            Op::Read => self.read,
            Op::Write if !fua => self.cache.map_or(self.write, |cache| cache.write),
            Op::Discard => self.discard.unwrap_or(self.write),
            Op::Write | Op::Other => self.write,
        }
    }

    /// The least that a command takes; `first`: of its I/O. Episodes and a full cache add to it.
    /// Parts of a nanosecond count as a whole one.
    pub fn service(&self, command: &Command, first: bool) -> Span {
        self.service_of(command, first, false)
    }

    fn service_of(&self, command: &Command, first: bool, fua: bool) -> Span {
        let cost = self.cost(command, fua);
        let size = (u128::from(command.size) * u128::from(cost.per_kib.as_ns())).div_ceil(1_024);
        let begin = if first { cost.first } else { cost.next };
        let size = u64::try_from(size).ok().and_then(Span::from_ns);
        size.map_or(begin.saturating_add(Instant::END.since(Instant::START)), |size| begin.saturating_add(size))
    }

    /// The most time of commands.
    pub(super) fn ends(&self) -> Ends {
        let cached = self.cache.map(|cache| {
            let line = cache.write.line();
            TimeBySize { per_kib: line.per_kib.max(cache.drains(1_024 * PARTS)), ..line }
        });
        let others = self.discard.map(|discard| discard.line()).into_iter().chain(cached);
        let write = others.fold(self.write.line(), |one, other| TimeBySize {
            begin: one.begin.max(other.begin),
            per_kib: one.per_kib.max(other.per_kib),
        });
        let with_extra = |line: TimeBySize, op| TimeBySize { begin: line.begin.saturating_add(self.extra(op)), ..line };
        Ends::InTurn { read: with_extra(self.read.line(), Op::Read), write: with_extra(write, Op::Write) }
    }

    /// The most that a command takes that does not go through the cache, in whatever episodes;
    /// `first`: of its I/O. A write waits for as many bytes to drain as it has at most.
    pub fn longest(&self, command: &Command, first: bool) -> Span {
        let cache = self.cache.filter(|_| command.op == Op::Write);
        let drained = cache.map_or(Span::ZERO, |cache| cache.drains(u128::from(command.size) * PARTS));
        self.service(command, first).max(drained).saturating_add(self.extra(command.op))
    }

    /// The most that episodes add to a command.
    fn extra(&self, op: Op) -> Span {
        let cost = if op == Op::Read { self.read } else { self.write };
        most_extra(self.slow).saturating_add(most_extra(cost.slow))
    }
}

/// An [`Emmc`] at run time.
#[derive(Debug)]
pub(super) struct RunningEmmc {
    of: Emmc,
    /// Its commands, the first one under way until then.
    commands: VecDeque<Handed>,
    ends: Option<Instant>,
    /// The device's own, those of reads, those of writes.
    episodes: [Option<Episodes>; 3],
    /// Parts of a byte in the cache by then, each command under way included.
    held: u128,
    drained: Instant,
}

impl RunningEmmc {
    /// An empty drive.
    pub(super) fn new(of: Emmc, seed: u64) -> RunningEmmc {
        let episodes = [(of.slow, b"episodes"), (of.read.slow, b"slow-rea"), (of.write.slow, b"slow-wri")];
        let episodes = episodes.map(|(slow, what)| slow.map(|slow| Episodes::new(slow, seed, what)));
        RunningEmmc { of, commands: VecDeque::new(), ends: None, episodes, held: 0, drained: Instant::START }
    }

    /// The first command is under way from now on.
    fn start(&mut self, now: Instant) {
        let Some(&Handed { command, is_first, fua, .. }) = self.commands.front() else {
            self.ends = None;
            return;
        };
        let service = self.service(&command, is_first, fua, now);
        let [own, reads, writes] = &mut self.episodes;
        let its = if command.op == Op::Read { reads } else { writes };
        let extra = [own, its].into_iter().flatten().map(|episodes| episodes.extra(now));
        let end = now.saturating_add(service);
        self.ends = Some(extra.fold(end, Instant::saturating_add));
    }

    /// The service of a command that begins now, without the time that episodes add.
    fn service(&mut self, command: &Command, is_first: bool, fua: bool, now: Instant) -> Span {
        let service = |of: Emmc| of.service_of(command, is_first, fua);
        let Some(cache) = self.of.cache else { return service(self.of) };
        let drained = u128::from(now.since(self.drained).as_ns()) * u128::from(cache.drain);
        (self.held, self.drained) = (self.held.saturating_sub(drained), now);
        if command.is_flush() {
            return cache.flush.saturating_add(cache.drains(self.held));
        }
        if command.op != Op::Write || fua {
            return service(self.of);
        }
        self.held += u128::from(command.size) * PARTS;
        service(self.of).max(cache.drains(self.held.saturating_sub(u128::from(cache.size) * PARTS)))
    }
}

impl Target for RunningEmmc {
    fn has_room(&self) -> bool {
        self.commands.len() < self.of.depth as usize
    }

    fn take(&mut self, handed: Handed, now: Instant) {
        self.commands.push_back(handed);
        if self.ends.is_none() {
            self.start(now);
        }
    }

    fn next(&self) -> Option<Instant> {
        self.ends
    }

    fn advance(&mut self, now: Instant, ended: &mut Vec<Command>) {
        if self.ends == Some(now) {
            ended.extend(self.commands.pop_front().map(|handed| handed.command));
            self.start(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::slow::Between;
    use super::*;

    #[test]
    fn ends_count_the_episodes_of_the_device_and_of_the_operation() {
        let us = Span::from_us;
        let between = Between { shortest: us(1_000), longest: us(2_000) };
        let slow = |extra| Some(Slow { every: between, length: between, extra: us(extra) });
        let cost =
            |first, next, extra| EmmcCost { first: us(first), next: us(next), per_kib: us(1), slow: slow(extra) };
        let emmc = Emmc {
            attach: Attach::Unstated,
            depth: 1,
            read: cost(10, 20, 100),
            write: cost(40, 30, 200),
            discard: None,
            cache: None,
            slow: slow(1_000),
        };
        let Ends::InTurn { read, write } = emmc.ends() else { panic!("one at a time") };
        assert_eq!((read.begin, write.begin), (us(1_120), us(1_240)));
    }
}
