//! Jobs.

use rtflash_model::{Instant, Span};

pub use super::chain::{ChainStep, JobPattern, MixedIo};
use super::releases::WriteBack;
use crate::{Class, Command, Op};

/// The most of an operation that a job releases, from its begin on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobPace {
    /// Bytes a second, above zero: an I/O is released when the bytes of those before it are
    /// allowed.
    Bytes(u64),
    /// I/Os a second, above zero.
    Ios(u64),
}

/// When a closed job lets all its I/Os end before it thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThinkAfter {
    /// It lets each place think by itself.
    #[default]
    Each,
    /// It does so after this number of I/Os, above zero.
    Ios(u32),
    /// It does so after this time since it began or last thought, above zero.
    Time(Span),
}

/// The longest I/O of writeback, in bytes: `BIO_MAX_VECS` pages (include/linux/bio.h, 6.12.117).
pub(super) const MAX_BIO: u64 = 256 * 4_096;

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
    /// At each flush, whole I/Os of an application's data are written back; the rest is carried
    /// over.
    WriteBack(WriteBack),
    /// The kernel's flusher writes back what buffered jobs have written into memory.
    Flusher,
}

/// A source of I/O.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its name, which no other job has.
    pub name: String,
    /// Its operation.
    pub op: Op,
    /// See [`JobPattern`].
    pub pattern: JobPattern,
    /// The first byte of its stretch of the device.
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
    /// The longest time from the release of each I/O to its end, if the job is real-time; `None`
    /// for no limit.
    pub deadline: Option<Span>,
    /// I/Os of different operations or sizes, each drawn by its share. If this is empty, all I/Os
    /// have `op` and `size`. Else `op` and `size` are those of the first.
    pub mix: Vec<MixedIo>,
    /// Whether I/Os of the mix take turns, all of a turn at one random place.
    pub in_turn: bool,
    /// Bytes from the end of an I/O to the next one, if these lie one after the other. Negative
    /// gaps go back: after the first I/O, from the end of the stretch on.
    pub gap: i64,
    /// The paces of reads, writes and all others, each in place of `pace`. An I/O whose operation
    /// is ahead of its pace becomes one of another operation that is not.
    pub paces: [Option<JobPace>; 3],
    /// Whether times between releases are exponential, with the period or the pace as their mean.
    pub is_poisson: bool,
    /// I/Os that each period releases at once; above zero.
    pub burst: u32,
    /// Places of I/Os are multiples of this, from where the stretch begins. `None` stands for the
    /// smallest size of their operation.
    pub align: Option<u64>,
    /// The begins of further stretches that are as long as the first. I/Os go round through all.
    pub stretches: Vec<u64>,
    /// Bytes after which it releases no more; `None` for no end.
    pub total: Option<u64>,
    /// See [`ThinkAfter`].
    pub think_after: ThinkAfter,
    /// Jobs, by position, that have to be over before it begins. It begins at its phase or when the
    /// last of them is over, whichever is later, and `until` is as much later.
    pub after: Vec<usize>,
    /// The time after its begin in which its I/Os do not count.
    pub ramp: Span,
    /// A place whose write is the n-th of the job flushes the device's cache before its next I/O,
    /// for each multiple of this number, above zero. No flush follows the last I/O of the job.
    pub fsync: Option<u32>,
    /// The steps of a chain, which wait for each other. If there are any, each release begins a
    /// chain, `count` counts chains, `deadline` is that of the whole, and a closed job thinks from
    /// the end of a chain to the next one. The I/Os are those of the steps, not `op` and `size`.
    pub steps: Vec<ChainStep>,
    /// Whether its writes end in memory, and the kernel writes them back later, if the host states
    /// a page cache and the jobs have a [flusher](Job::flusher).
    pub is_buffered: bool,
}

impl Default for Job {
    /// Reads of 4 KiB one after the other, without an end.
    fn default() -> Job {
        Job {
            name: String::new(),
            op: Op::Read,
            pattern: JobPattern::Sequential,
            from: 0,
            span: None,
            size: 4_096,
            class: Class::BestEffort,
            level: 4,
            cpu: 0,
            user_centric: false,
            is_async: false,
            releases: JobReleases::Closed { depth: 1, think: Span::ZERO },
            phase: Instant::START,
            count: None,
            until: None,
            pace: None,
            deadline: None,
            mix: Vec::new(),
            in_turn: false,
            gap: 0,
            paces: [None; 3],
            is_poisson: false,
            burst: 1,
            align: None,
            stretches: Vec::new(),
            total: None,
            think_after: ThinkAfter::Each,
            after: Vec::new(),
            ramp: Span::ZERO,
            fsync: None,
            steps: Vec::new(),
            is_buffered: false,
        }
    }
}

impl Job {
    /// Whether it is real-time.
    pub fn is_real_time(&self) -> bool {
        self.class == Class::RealTime
    }

    /// Whether it flushes the device's cache, or writes through it (`fua`).
    pub fn flushes(&self) -> bool {
        self.fsync.is_some() || self.steps.iter().any(|step| step.io().is_none() || step.fua)
    }

    /// Whether an I/O that took this long is later than its deadline, if it has one.
    pub(super) fn is_late(&self, latency: Span) -> bool {
        self.deadline.is_some_and(|deadline| latency > deadline)
    }

    /// Whether its requests are asynchronous for Linux, as the kernel issues them: it writes back.
    pub(crate) fn writes_back(&self) -> bool {
        matches!(self.releases, JobReleases::WriteBack(_) | JobReleases::Flusher)
    }

    /// Whether it is the kernel's flusher.
    pub fn is_flusher(&self) -> bool {
        self.releases == JobReleases::Flusher
    }

    /// Whether all its I/Os end in memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.is_buffered && self.ios().all(|io| io.op == Op::Write)
    }

    /// Whether it is buffered, and writes.
    pub fn writes_into_memory(&self) -> bool {
        self.is_buffered && self.ios().any(|io| io.op == Op::Write)
    }

    /// The kernel's flusher, if one of these jobs writes into memory: a job of class `be`, level 4,
    /// as the kernel's workers have it (`bio_set_ioprio` of block/blk-core.c, 6.12.117). Its I/Os
    /// are pages that lie one behind the other, at most 1 MiB of them.
    pub fn flusher(jobs: &[Job]) -> Option<Job> {
        jobs.iter().any(Job::writes_into_memory).then(|| {
            let mut names = std::iter::once("writeback".to_owned()).chain((2..).map(|of| format!("writeback ({of})")));
            let name = names.find(|name| jobs.iter().all(|job| job.name != *name));
            let name = name.expect("one of any number of names is free");
            Job { name, op: Op::Write, size: MAX_BIO, releases: JobReleases::Flusher, ..Job::default() }
        })
    }

    /// Whether one process submits all of its I/Os: it does so asynchronously, or is the kernel's
    /// that writes back.
    pub(crate) fn submits_alone(&self) -> bool {
        self.is_async || self.writes_back()
    }

    /// I/Os at most; 2⁶⁴ − 1 where nothing ends them.
    pub(crate) fn max_ios(&self) -> u64 {
        self.count.unwrap_or(u64::MAX)
    }

    /// Whether its I/Os wait for each other in chains.
    pub fn is_chain(&self) -> bool {
        !self.steps.is_empty()
    }

    /// The I/Os that it draws from, or those of its steps: one, if all are alike.
    pub fn ios(&self) -> impl Iterator<Item = MixedIo> + '_ {
        let is_alike = self.mix.is_empty() && self.steps.is_empty();
        let alike = is_alike.then_some(MixedIo { op: self.op, size: self.size, share: 1 });
        alike.into_iter().chain(self.mix.iter().copied()).chain(self.steps.iter().filter_map(ChainStep::io))
    }

    /// The pace of an operation.
    pub(super) fn pace_of(&self, op: Op) -> Option<JobPace> {
        self.paces[kind_of(op)].or(self.pace.map(JobPace::Bytes))
    }

    /// The number of which the places of an operation's I/Os are multiples.
    pub(super) fn align(&self, op: Op) -> u64 {
        let smallest = || self.ios().filter(|io| io.op == op).map(|io| io.size).min();
        self.align.or_else(smallest).unwrap_or(self.size)
    }

    /// An I/O at a place, as the scheduler would see it in one piece; `number`: of the job.
    pub(super) fn io(&self, number: u32, io: MixedIo, from: u64) -> Command {
        Command {
            id: 0,
            op: io.op,
            from,
            size: io.size,
            class: self.class,
            level: self.level,
            cpu: self.cpu,
            job: number,
            user_centric: self.user_centric,
        }
    }
}

/// Which of reads, writes and others an operation belongs to.
pub(super) fn kind_of(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        _ => 2,
    }
}
