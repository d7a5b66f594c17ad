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
    /// Episodes in which all commands cost more, if it has any.
    pub slow: Option<Slow>,
}

/// What a command costs.
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
    fn extra(&self) -> Span {
        most_extra(self.slow)
    }
}

/// What episodes add to a command at most.
fn most_extra(slow: Option<Slow>) -> Span {
    slow.map_or(Span::ZERO, |slow| slow.extra)
}

impl Emmc {
    fn cost(&self, command: &Command) -> EmmcCost {
        if command.op == Op::Read { self.read } else { self.write }
    }

    /// What a command takes, but for what an episode adds; `first`: of its I/O. What is no read is
    /// a write. Parts of a nanosecond count as a whole one.
    pub fn service(&self, command: &Command, first: bool) -> Span {
        let cost = self.cost(command);
        let size = (u128::from(command.size) * u128::from(cost.per_kib.as_ns())).div_ceil(1_024);
        let begin = if first { cost.first } else { cost.next };
        let size = u64::try_from(size).ok().and_then(Span::from_ns);
        size.map_or(begin.saturating_add(Instant::END.since(Instant::START)), |size| begin.saturating_add(size))
    }

    /// The most time of commands.
    pub(super) fn ends(&self) -> Ends {
        let own = most_extra(self.slow);
        let line = |cost: EmmcCost| TimeBySize {
            begin: cost.first.max(cost.next).saturating_add(own).saturating_add(cost.extra()),
            per_kib: cost.per_kib,
        };
        Ends::InTurn { read: line(self.read), write: line(self.write) }
    }

    /// The most that a command takes, in whatever episodes; `first`: of its I/O.
    pub fn longest(&self, command: &Command, first: bool) -> Span {
        let (own, cost) = (most_extra(self.slow), self.cost(command));
        self.service(command, first).saturating_add(own).saturating_add(cost.extra())
    }
}

/// An [`Emmc`] at run time.
#[derive(Debug)]
pub(super) struct RunningEmmc {
    of: Emmc,
    /// What it has, the first one under way until then.
    commands: VecDeque<Handed>,
    ends: Option<Instant>,
    /// The device's own, those of reads, those of writes.
    episodes: [Option<Episodes>; 3],
}

impl RunningEmmc {
    /// An empty drive.
    pub(super) fn new(of: Emmc, seed: u64) -> RunningEmmc {
        let episodes = [(of.slow, b"episodes"), (of.read.slow, b"slow-rea"), (of.write.slow, b"slow-wri")];
        let episodes = episodes.map(|(slow, what)| slow.map(|slow| Episodes::new(slow, seed, what)));
        RunningEmmc { of, commands: VecDeque::new(), ends: None, episodes }
    }

    /// The first command is under way from now on.
    fn start(&mut self, now: Instant) {
        let Some(Handed { command, is_first, .. }) = self.commands.front() else {
            self.ends = None;
            return;
        };
        let [own, reads, writes] = &mut self.episodes;
        let its = if command.op == Op::Read { reads } else { writes };
        let extra = [own, its].into_iter().flatten().map(|episodes| episodes.extra(now));
        let end = now.saturating_add(self.of.service(command, *is_first));
        self.ends = Some(extra.fold(end, Instant::saturating_add));
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
            slow: slow(1_000),
        };
        let Ends::InTurn { read, write } = emmc.ends() else { panic!("one at a time") };
        assert_eq!((read.begin, write.begin), (us(1_120), us(1_240)));
    }
}
