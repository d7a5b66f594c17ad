//! A device whose services were measured.

use std::collections::VecDeque;
use std::fmt;

use rtflash_model::random::Stream;
use rtflash_model::{Instant, Span, capped};

use super::{Attach, Handed, Target};
use crate::scheduler::{Ends, TimeBySize};
use crate::{Command, Op};

/// Services in a row that are drawn together: what lasts, such as an episode, lasts in the model.
pub const BLOCK: usize = 50;

/// A device that takes as long as a drive was measured to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredDrive {
    /// The driver in front of it.
    pub attach: Attach,
    /// Commands that are out of the scheduler at most; above zero.
    pub depth: u32,
    /// Commands that it takes, and ends, together at most; 1 for a serial drive.
    pub together: u32,
    /// The cost of each further command of those taken together, without its bytes; no more than
    /// any service.
    pub each: Span,
    /// The cost of 1,024 bytes of a further command; `None` for what they cost a lone command.
    pub each_per_kib: Option<Span>,
    /// The extra cost of the first command after a time without any.
    pub idle: Option<AfterIdle>,
    /// How often commands take longer than is usual for their size; empty for any number of them.
    pub stalls: Vec<StallWindow>,
    /// The cost of a read.
    pub read: MeasuredCost,
    /// The cost of a write.
    pub write: MeasuredCost,
}

/// A limit on stalls: commands that take longer than is usual for their size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StallWindow {
    /// The most of them that begin in any time of this length, both ends included; above zero.
    pub most: u32,
    /// That length; above zero.
    pub within: Span,
}

impl fmt::Display for StallWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {} within {}", self.most, self.within)
    }
}

/// The extra cost of a drive that was idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AfterIdle {
    /// From this time without a command on; above zero.
    pub after: Span,
    /// The first command's extra.
    pub extra: Span,
}

/// The cost of one operation's commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredCost {
    /// The line through the medians: the first command of an I/O, of no bytes.
    pub first: Span,
    /// Each other command of an I/O.
    pub next: Span,
    /// 1,024 bytes.
    pub per_kib: Span,
    /// Services by size, in order of sizes; at least one, and none is empty.
    pub services: Vec<SizeServices>,
}

/// The time of bytes, in ns, rounded up.
fn bytes_at(per_kib: Span, size: u64) -> i128 {
    i128::try_from((u128::from(size) * u128::from(per_kib.as_ns())).div_ceil(1_024)).unwrap_or(i128::MAX / 4)
}

/// An invariant of costs: the reader refuses one without services.
const SERVICES: &str = "a cost has services of one size at least (invariant)";

/// Services of first commands of one size, in the order in which they were measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeServices {
    size: u64,
    ns: Vec<u64>,
    shortest: u64,
    longest: u64,
    usual: u64,
}

impl SizeServices {
    /// The services of commands of `size` bytes; `None` without a service, or with one of no time.
    pub fn new(size: u64, ns: Vec<u64>) -> Option<SizeServices> {
        let (&shortest, &longest) = (ns.iter().min()?, ns.iter().max()?);
        (shortest > 0).then_some(SizeServices { size, ns, shortest, longest, usual: longest })
    }

    /// Sets the usual limit, in ns: a longer service is a stall. No service is one if the limit is
    /// above all of them.
    pub fn with_usual(self, usual: u64) -> SizeServices {
        SizeServices { usual: usual.clamp(self.shortest, self.longest), ..self }
    }

    /// The longest service that is no stall, at most, in ns.
    pub fn usual(&self) -> u64 {
        self.usual
    }

    /// These services, each cut to the usual limit.
    fn without_stalls(&self) -> SizeServices {
        let ns = self.ns.iter().map(|&service| service.min(self.usual)).collect();
        SizeServices { ns, longest: self.usual, ..self.clone() }
    }

    /// Bytes of each command.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The services, in ns.
    pub fn ns(&self) -> &[u64] {
        &self.ns
    }
}

impl MeasuredCost {
    /// The measured size nearest to this one by ratio; the smaller one of two.
    fn nearest(&self, size: u64) -> usize {
        let above = self.services.partition_point(|of| of.size < size);
        let Some(below) = above.checked_sub(1) else { return 0 };
        match self.services.get(above) {
            // below ≥ size / √(below · above).
            Some(of) if u128::from(size).pow(2) > u128::from(self.services[below].size) * u128::from(of.size) => above,
            _ => below,
        }
    }

    fn by_size(&self, size: u64) -> i128 {
        bytes_at(self.per_kib, size)
    }

    /// The time by the line, in ns.
    fn by_line(&self, of: &Handed) -> i128 {
        let begin = if of.is_first { self.first } else { self.next };
        i128::from(begin.as_ns()) + self.by_size(of.command.size)
    }

    /// A service of the nearest size, moved along the line to this command.
    fn moved(&self, service: u64, nearest: u64, size: u64, first: bool) -> Span {
        let begin = if first { 0 } else { i128::from(self.next.as_ns()) - i128::from(self.first.as_ns()) };
        let moved = i128::from(service) + begin + self.by_size(size) - self.by_size(nearest);
        let moved = u64::try_from(moved.max(1)).ok().and_then(Span::from_ns);
        moved.unwrap_or_else(|| Instant::END.since(Instant::START))
    }

    fn limit(&self, command: &Command, first: bool, which: fn(&SizeServices) -> u64) -> Span {
        let of = &self.services[self.nearest(command.size)];
        self.moved(which(of), of.size, command.size, first)
    }

    fn line(&self, idle: Span) -> TimeBySize {
        let begin = self.services.iter().map(|of| i128::from(of.longest) - self.by_size(of.size)).max();
        let begin = begin.expect(SERVICES);
        let next = i128::from(self.next.as_ns()) - i128::from(self.first.as_ns());
        let begin = u64::try_from((begin + next.max(0) + 1).max(1)).ok().and_then(Span::from_ns);
        let begin = begin.unwrap_or_else(|| Instant::END.since(Instant::START)).saturating_add(idle);
        TimeBySize { begin, per_kib: self.per_kib }
    }
}

impl MeasuredDrive {
    fn cost(&self, command: &Command) -> &MeasuredCost {
        if command.op == Op::Read { &self.read } else { &self.write }
    }

    /// Whether a service of a first command is a stall.
    pub fn is_stall(&self, op: Op, size: u64, service: Span) -> bool {
        let cost = if op == Op::Read { &self.read } else { &self.write };
        let of = &cost.services[cost.nearest(size)];
        service > cost.moved(of.usual, of.size, size, true)
    }

    /// This drive with each service cut to its usual limit, and the most that is cut from one.
    pub(crate) fn without_stalls(&self) -> (MeasuredDrive, Span) {
        let all = || [&self.read, &self.write].into_iter().flat_map(|cost| &cost.services);
        let beyond = all().map(|of| of.longest - of.usual).max().and_then(Span::from_ns).unwrap_or(Span::ZERO);
        let cost = |of: &MeasuredCost| {
            let services = of.services.iter().map(SizeServices::without_stalls).collect();
            MeasuredCost { services, ..of.clone() }
        };
        let (read, write) = (cost(&self.read), cost(&self.write));
        (MeasuredDrive { read, write, stalls: Vec::new(), ..self.clone() }, beyond)
    }

    fn idle_extra(&self) -> Span {
        self.idle.map_or(Span::ZERO, |idle| idle.extra)
    }

    /// The most that a command takes by the measured services, and no less than it adds to a batch.
    /// Whether it is the first of its I/O is `first`.
    pub fn longest(&self, command: &Command, first: bool) -> Span {
        let longest = self.cost(command).limit(command, first, |of| of.longest).saturating_add(self.idle_extra());
        if self.together > 1 { longest.max(self.each) } else { longest }
    }

    /// The least that a command takes, of what was measured; `first`: of its I/O.
    pub fn shortest(&self, command: &Command, first: bool) -> Span {
        self.cost(command).limit(command, first, |of| of.shortest)
    }

    /// The most that a command takes if it can be merged with others. It is a line above all
    /// services, by which a merged command takes no longer than its parts.
    pub(crate) fn longest_merged(&self, command: &Command) -> Span {
        let line = self.cost(command).line(self.idle_extra());
        let begin = if self.together > 1 { line.begin.max(self.each) } else { line.begin };
        let bytes = u64::try_from(self.cost(command).by_size(command.size)).ok().and_then(Span::from_ns);
        begin.saturating_add(bytes.unwrap_or(Span::LONGEST))
    }

    /// The least that a command takes if it can be merged with others: a line below all services.
    pub(crate) fn shortest_merged(&self, command: &Command) -> Span {
        let cost = self.cost(command);
        let begin = cost.services.iter().map(|of| i128::from(of.shortest) - cost.by_size(of.size)).min();
        let begin = begin.expect(SERVICES);
        let next = i128::from(cost.next.as_ns()) - i128::from(cost.first.as_ns());
        let least = (begin + next.min(0) + cost.by_size(command.size)).max(1);
        u64::try_from(least).ok().and_then(Span::from_ns).unwrap_or(Span::LONGEST)
    }

    /// The most time of commands.
    pub(super) fn ends(&self) -> Ends {
        let idle = self.idle_extra();
        Ends::InTurn { read: self.read.line(idle), write: self.write.line(idle) }
    }

    /// The time that a command adds to a batch of others: no more than its longest service.
    fn adds(&self, of: &Handed) -> Span {
        let per_kib = self.each_per_kib.unwrap_or(self.cost(&of.command).per_kib);
        let bytes = capped(bytes_at(per_kib, of.command.size).unsigned_abs());
        let bytes = Span::from_ns(bytes).unwrap_or(Span::LONGEST);
        self.each.saturating_add(bytes).min(self.longest(&of.command, of.is_first))
    }

    /// The most time that commands after one in its batch add to it, if at most `inside` are in
    /// flight, none of which has more than `size` bytes or takes more than `longest` ns.
    pub(crate) fn behind(&self, inside: u64, size: u64, longest: u64) -> Span {
        let others = u64::from(self.together).min(inside).saturating_sub(1);
        let bytes = bytes_at(self.each_per_kib.unwrap_or(self.read.per_kib.max(self.write.per_kib)), size);
        let adds = self.each.as_ns().saturating_add(capped(bytes.unsigned_abs())).min(longest);
        Span::from_ns(others.saturating_mul(adds)).unwrap_or_else(|| Instant::END.since(Instant::START))
    }
}

/// The state of a draw of blocks of one size.
#[derive(Debug, Clone, Copy, Default)]
struct Draw {
    blocks: u64,
    at: usize,
    end: usize,
}

/// A [`MeasuredDrive`] device at run time.
#[derive(Debug)]
pub(super) struct RunningMeasured<'a> {
    of: &'a MeasuredDrive,
    seed: u64,
    draws: [Vec<Draw>; 2],
    /// Its commands, the first `running` of them under way until `ends`.
    commands: VecDeque<Handed>,
    running: usize,
    ends: Option<Instant>,
    /// When it had nothing to do last.
    free: Instant,
    /// The begins of the last stalls, as many as a limit counts.
    stalled: VecDeque<Instant>,
}

impl<'a> RunningMeasured<'a> {
    /// An empty drive.
    pub(super) fn new(of: &'a MeasuredDrive, seed: u64) -> RunningMeasured<'a> {
        let draws = [&of.read, &of.write].map(|cost| vec![Draw::default(); cost.services.len()]);
        let (commands, stalled) = (VecDeque::new(), VecDeque::new());
        RunningMeasured { of, seed, draws, commands, running: 0, ends: None, free: Instant::START, stalled }
    }

    /// Whether no limit forbids a stall that begins now; counts it then.
    fn stalls(&mut self, now: Instant) -> bool {
        let is_beyond = |limit: &StallWindow| {
            let before = self.stalled.len().checked_sub(limit.most as usize).map(|at| self.stalled[at]);
            before.is_some_and(|before| now.since(before) <= limit.within)
        };
        if self.of.stalls.iter().any(is_beyond) {
            return false;
        }
        let most = self.of.stalls.iter().map(|limit| limit.most as usize).fold(0, usize::max);
        self.stalled.push_back(now);
        while self.stalled.len() > most {
            self.stalled.pop_front();
        }
        true
    }

    /// The next service of a command that begins now.
    fn service(&mut self, handed: &Handed, now: Instant) -> Span {
        let Handed { command, is_first, .. } = handed;
        let cost = self.of.cost(command);
        let which = cost.nearest(command.size);
        let of = &cost.services[which];
        let writes = usize::from(command.op != Op::Read);
        let draw = &mut self.draws[writes][which];
        if draw.at == draw.end {
            let domain = [b"mea-read", b"mea-writ"][writes];
            let index = ((which as u64) << 40) | draw.blocks;
            // A block begins anywhere, so that each service is as likely as the others but for the
            // last ones.
            let length = of.ns.len().min(BLOCK);
            let begin = Stream::numbered(self.seed, domain, index).index(of.ns.len() - length + 1);
            *draw = Draw { blocks: draw.blocks + 1, at: begin, end: begin + length };
        }
        let drawn = of.ns[draw.at];
        draw.at += 1;
        let service = if drawn > of.usual && !self.stalls(now) { of.usual } else { drawn };
        cost.moved(service, of.size, command.size, *is_first)
    }

    /// Takes as many commands as it takes together.
    fn start(&mut self, now: Instant) {
        self.running = self.commands.len().min(self.of.together as usize);
        if self.running == 0 {
            return;
        }
        // Slow times of a drive meet all commands of a batch: one service is drawn, that of the
        // command with the longest time by its line. The longest of independent services would lie
        // in their tail for most batches. No command takes less than its shortest service.
        let batch = self.commands.iter().take(self.running).enumerate();
        let by_line = batch.clone().max_by_key(|(_, of)| self.of.cost(&of.command).by_line(of));
        let least = batch.clone().map(|(at, of)| (self.of.shortest(&of.command, of.is_first), at)).max();
        let drawn = by_line.map_or(0, |(at, _)| at);
        let handed = self.commands[drawn];
        let drawn = (self.service(&handed, now), drawn);
        let (longest, at) = least.map_or(drawn, |least| if least.0 > drawn.0 { least } else { drawn });
        let others = self.commands.iter().take(self.running).enumerate().filter(|&(other, _)| other != at);
        let others = others.map(|(_, of)| self.of.adds(of)).fold(Span::ZERO, Span::saturating_add);
        let waited = now.since(self.free);
        let idle = self.of.idle.filter(|idle| waited >= idle.after).map_or(Span::ZERO, |idle| idle.extra);
        self.ends = Some(now.saturating_add(longest).saturating_add(idle).saturating_add(others));
    }

    /// Commands that come while a batch runs join it, while their shortest service is left: most of
    /// a long service is a wait before the drive takes its commands. On loop devices 50 to 98 % of
    /// the commands that came behind a lone one in time ended with it, but mostly 10 to 35 % of
    /// writes behind a read: these do not join.
    fn join(&mut self, now: Instant, mut ends: Instant) {
        let begun_by = self.commands.front().map(|of| of.command.op);
        for of in self.commands.iter().take(self.of.together as usize).skip(self.running) {
            let joins = of.command.op == Op::Read || begun_by != Some(Op::Read);
            if !joins || now.saturating_add(self.of.shortest(&of.command, of.is_first)) > ends {
                break;
            }
            ends = ends.saturating_add(self.of.adds(of));
            self.running += 1;
        }
        self.ends = Some(ends);
    }
}

impl Target for RunningMeasured<'_> {
    fn has_room(&self) -> bool {
        self.commands.len() < self.of.depth as usize
    }

    fn take(&mut self, handed: Handed, _: Instant) {
        self.commands.push_back(handed);
    }

    fn next(&self) -> Option<Instant> {
        self.ends
    }

    fn advance(&mut self, now: Instant, ended: &mut Vec<Command>) {
        if self.ends == Some(now) {
            ended.extend(self.commands.drain(..self.running).map(|handed| handed.command));
            (self.running, self.ends, self.free) = (0, None, now);
        }
    }

    /// Begins once the host has handed over all that it has at an instant: these go together.
    fn settle(&mut self, now: Instant) {
        match self.ends {
            None => self.start(now),
            Some(ends) => self.join(now, ends),
        }
    }
}
