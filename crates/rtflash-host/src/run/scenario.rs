//! Scenarios: a device, a host, a scheduler and jobs.

use rtflash_model::{Instant, Span};

use crate::scheduler::Settings;
use crate::{Class, Command, Op};

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// The device.
    pub device: Emmc,
    /// The host.
    pub host: Host,
    /// The scheduler.
    pub scheduler: Settings,
    /// Who has I/O to do; at least one.
    pub jobs: Vec<Job>,
    /// Nothing that ends later counts.
    pub duration: Instant,
    /// Nothing that ends earlier counts.
    pub warmup: Instant,
}

/// A device that does one command at a time, first in, first out, without a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emmc {
    /// Commands that it takes at most, the one that runs counted; above zero.
    pub depth: u32,
    /// What a read costs.
    pub read: Cost,
    /// What a write costs.
    pub write: Cost,
}

/// What a command costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// The first request, or piece, of an I/O; above zero.
    pub first: Span,
    /// Each of its others, whatever ran in between; above zero.
    pub next: Span,
    /// 1,024 bytes.
    pub per_kib: Span,
}

impl Emmc {
    /// What a command takes; `first`: of its I/O. What is no read is a write. Parts of a nanosecond count as a whole one.
    pub fn service(&self, command: &Command, first: bool) -> Span {
        let cost = if command.op == Op::Read { self.read } else { self.write };
        let size = (u128::from(command.size) * u128::from(cost.per_kib.as_ns())).div_ceil(1_024);
        let begin = if first { cost.first } else { cost.next };
        let size = u64::try_from(size).ok().and_then(Span::from_ns);
        size.map_or(begin.saturating_add(Instant::END.since(Instant::START)), |size| begin.saturating_add(size))
    }
}

/// What is between jobs and the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    /// Cores, above zero.
    pub cpus: u32,
    /// The longest request, in bytes, above zero: longer I/Os are cut.
    pub max_sectors: u64,
    /// Tags: one for each request or piece from its arrival at the scheduler to its end; above zero.
    pub requests: u32,
    /// From a completion to the asking that it causes.
    pub turnaround: Span,
}

/// Where the I/Os of a job lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pattern {
    /// One behind the other, and from the beginning again where the next one would not fit into the span.
    #[default]
    Sequential,
    /// Anywhere in the span, at multiples of the size.
    Random,
}

/// When the I/Os of a job are released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Releases {
    /// The k-th at phase + k · period, or up to `jitter` later.
    Every {
        /// Above zero.
        period: Span,
        /// The most that a release is late.
        jitter: Span,
    },
    /// `depth` of them at the phase; each is replaced `think` after it ended.
    Closed {
        /// Above zero.
        depth: u32,
        /// See above.
        think: Span,
    },
}

/// Who has I/O to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// What tells it from the others.
    pub name: String,
    /// What it does.
    pub op: Op,
    /// See [`Pattern`].
    pub pattern: Pattern,
    /// Where its stretch of the device begins, in bytes.
    pub from: u64,
    /// How long that is, in bytes; `None` for no end.
    pub span: Option<u64>,
    /// The size of each I/O, in bytes; above zero.
    pub size: u64,
    /// Its class.
    pub class: Class,
    /// Its level.
    pub level: u8,
    /// Its core.
    pub cpu: u32,
    /// Whether a user waits for it.
    pub user_centric: bool,
    /// See [`Releases`].
    pub releases: Releases,
    /// When it begins.
    pub phase: Instant,
    /// How many I/Os it has; `None` for no end.
    pub count: Option<u64>,
}

impl Scenario {
    /// An I/O of a job at a place, as the scheduler would see it in one piece.
    pub fn whole(&self, job: usize, from: u64) -> Option<Command> {
        let of = self.jobs.get(job)?;
        Some(Command {
            id: 0,
            op: of.op,
            from,
            size: of.size,
            class: of.class,
            level: of.level,
            cpu: of.cpu,
            job: u32::try_from(job).ok()?,
            user_centric: of.user_centric,
        })
    }

    /// The requests of an I/O: it is cut at `max_sectors`.
    pub fn requests(&self, whole: Command) -> impl Iterator<Item = Command> + use<> {
        cut(whole, self.host.max_sectors)
    }
}

/// A command in pieces of so many bytes, above zero, the last one shorter where they do not divide it.
pub fn cut(command: Command, piece: u64) -> impl Iterator<Item = Command> {
    (0..command.size.div_ceil(piece)).map(move |number| {
        let before = number * piece;
        Command { from: command.from.saturating_add(before), size: piece.min(command.size - before), ..command }
    })
}
