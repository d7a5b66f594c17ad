//! Jobs.

use rtflash_model::{Instant, Span};

use super::releases::WriteBack;
use crate::{Class, Command, Op};

/// Where the I/Os of a job lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JobPattern {
    /// One behind the other, and from the beginning again where the next one would not fit into the
    /// span.
    #[default]
    Sequential,
    /// Anywhere in the span, at multiples of the size.
    Random,
}

/// When the I/Os of a job are released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobReleases {
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
    /// What an application has written is written back at each flush, as far as it is whole I/Os;
    /// the rest is carried over.
    WriteBack(WriteBack),
}

/// Who has I/O to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// What tells it from the others.
    pub name: String,
    /// What it does.
    pub op: Op,
    /// See [`JobPattern`].
    pub pattern: JobPattern,
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
    /// Whether one process submits all I/Os, without waiting for their ends; else there is one for
    /// each I/O that is pending.
    pub is_async: bool,
    /// See [`JobReleases`].
    pub releases: JobReleases,
    /// When it begins.
    pub phase: Instant,
    /// How many I/Os it has; `None` for no end.
    pub count: Option<u64>,
    /// When it ends: nothing is released from then on; `None` for no end.
    pub until: Option<Instant>,
    /// Bytes a second that it releases at most, if its releases are closed, above zero: I/O k, from
    /// 0, not before the phase and the time that k I/Os take at this rate.
    pub pace: Option<u64>,
    /// From the release of each I/O to its end at most, if the job is real-time; `None` for no
    /// limit.
    pub deadline: Option<Span>,
}

impl Job {
    /// Whether it is real-time.
    pub fn is_real_time(&self) -> bool {
        self.class == Class::RealTime
    }

    /// Whether an I/O that took this long is later than its deadline, if it has one.
    pub(super) fn is_late(&self, latency: Span) -> bool {
        self.deadline.is_some_and(|deadline| latency > deadline)
    }

    /// Whether its requests are asynchronous for Linux, as the kernel issues them: it writes back.
    pub(crate) fn is_buffered(&self) -> bool {
        matches!(self.releases, JobReleases::WriteBack(_))
    }

    /// Whether one process submits all of its I/Os: it does so asynchronously, or is the kernel's
    /// that writes back.
    pub(crate) fn submits_alone(&self) -> bool {
        self.is_async || self.is_buffered()
    }

    /// I/Os at most; 2⁶⁴ − 1 where nothing ends them.
    pub(crate) fn max_ios(&self) -> u64 {
        self.count.unwrap_or(u64::MAX)
    }

    /// An I/O at a place, as the scheduler would see it in one piece; `number`: of the job.
    pub(super) fn io(&self, number: u32, from: u64) -> Command {
        Command {
            id: 0,
            op: self.op,
            from,
            size: self.size,
            class: self.class,
            level: self.level,
            cpu: self.cpu,
            job: number,
            user_centric: self.user_centric,
        }
    }
}
