//! The next I/O of a job, and its place.

use std::collections::VecDeque;

use rtflash_model::{Instant, exponential};

use super::HostEngine;
use crate::Command;
use crate::run::job::{Job, JobPace, JobPattern, MixedIo, kind_of};
use crate::run::releases::{paced, paced_ios, shuffled};
use crate::run::watch::Watch;

/// The releases of a job so far.
#[derive(Debug, Clone, Default)]
pub(super) struct JobProgress {
    pub(super) released: u64,
    bytes: u64,
    /// The I/Os of a closed job, with those that have a time already; their bytes; and the I/Os
    /// that are not released.
    pub(super) planned: u64,
    planned_bytes: u64,
    coming: VecDeque<MixedIo>,
    /// The plans of reads, writes and others: I/Os, bytes, and when the next one is due by chance.
    paced: [PacedOp; 3],
    /// The place of the next sequential I/O: for each stretch, and reads, writes and others.
    next: Vec<[u64; 3]>,
    /// Writes that have ended, if the job flushes after some of them.
    pub(super) written: u64,
    /// Releases for which its process has had no time.
    pub(super) due: u64,
    /// When the I/O before was released, if chance says when the next one is.
    pub(super) drawn: Option<Instant>,
}

/// The plan of an operation.
#[derive(Debug, Clone, Copy, Default)]
struct PacedOp {
    ios: u64,
    bytes: u64,
    due: Option<Instant>,
}

impl JobProgress {
    pub(super) fn new(job: &Job) -> JobProgress {
        let begins = std::iter::once(job.from).chain(job.stretches.iter().copied()).filter(|_| !job.is_chain());
        let begins = begins.chain(job.steps.iter().map(|step| step.from));
        JobProgress { next: begins.map(|from| [from; 3]).collect(), ..JobProgress::default() }
    }
}

/// A stretch of the device in which I/Os of a job lie.
pub(super) struct JobStretch {
    pub(super) pattern: JobPattern,
    pub(super) begin: u64,
    pub(super) span: Option<u64>,
    /// Above zero.
    pub(super) align: u64,
    /// See [`Job`].
    pub(super) gap: i64,
}

/// The position of an I/O among all of its job.
#[derive(Debug, Clone, Copy)]
pub(super) struct StretchTurn {
    /// I/Os before it in its stretch.
    pub(super) turn: u64,
    /// The position of its stretch, and the number of these.
    pub(super) stretch: usize,
    pub(super) stretches: u64,
}

/// The place at which sequential I/Os go on at the end of a stretch.
fn next_round(of: &JobStretch) -> u64 {
    match of.span {
        Some(span) if of.gap < 0 => of.begin.saturating_add(span.saturating_sub(of.gap.unsigned_abs())),
        _ => of.begin,
    }
}

impl<W: Watch> HostEngine<'_, W> {
    /// Whether a job has released all that it has.
    pub(super) fn has_released_all(&self, position: usize) -> bool {
        let (job, progress) = (&self.scenario.jobs[position], &self.progress[position]);
        job.count.is_some_and(|count| progress.released >= count)
            || job.total.is_some_and(|total| progress.bytes >= total)
    }

    /// Whether a closed job has planned all that it has.
    pub(super) fn has_planned_all(&self, position: usize) -> bool {
        let (job, progress) = (&self.scenario.jobs[position], &self.progress[position]);
        job.count.is_some_and(|count| progress.planned >= count)
            || job.total.is_some_and(|total| progress.planned_bytes >= total)
    }

    /// An I/O that a job draws, of this operation or of any.
    fn draw(&self, position: usize, number: u64, kind: Option<usize>) -> MixedIo {
        let job = &self.scenario.jobs[position];
        if job.mix.is_empty() {
            return MixedIo { op: job.op, size: job.size, share: 1 };
        }
        if job.in_turn {
            let turn = usize::try_from(number % job.mix.len() as u64).expect("a position in a list");
            return job.mix[turn];
        }
        let of_kind = || job.mix.iter().filter(|io| kind.is_none_or(|kind| kind_of(io.op) == kind));
        let all = of_kind().fold(0, |sum: u64, io| sum.saturating_add(io.share));
        let mut left = self.drawn(b"mixed\0\0\0", position, number).below(all);
        let drawn = of_kind().find(|io| {
            let is_it = left < io.share;
            left = left.saturating_sub(io.share);
            is_it
        });
        *drawn.expect("shares sum up to what was drawn from")
    }

    /// When a closed job can release its next I/O, which is planned here: at `at`, or when its pace
    /// allows it; `None` beyond the end of time.
    pub(super) fn pace(&mut self, position: usize, at: Instant) -> Option<Instant> {
        let number = self.progress[position].planned;
        let mut io = self.draw(position, number, None);
        let mut from = at;
        let job = &self.scenario.jobs[position];
        let due = self.due(position, kind_of(io.op), job.pace_of(io.op))?;
        if due > at {
            // An operation that is behind its pace goes first, else the one that is due first.
            let kinds = job.ios().map(|io| (kind_of(io.op), job.pace_of(io.op)));
            let all = kinds.filter_map(|(kind, pace)| Some((self.due(position, kind, pace)?.max(at), kind)));
            let own = (due, kind_of(io.op));
            let (first, kind) = all.min_by_key(|&(due, kind)| (due, kind != own.1)).unwrap_or(own);
            from = first;
            if kind != own.1 {
                io = self.draw(position, number, Some(kind));
            }
        }
        let pace = self.scenario.jobs[position].pace_of(io.op);
        let poisson = match pace {
            Some(pace) if self.scenario.jobs[position].is_poisson => Some(self.interval(position, number, &io, pace)),
            _ => None,
        };
        let begun = self.lives[position].begun();
        let progress = &mut self.progress[position];
        progress.planned += 1;
        progress.planned_bytes = progress.planned_bytes.saturating_add(io.size);
        progress.coming.push_back(io);
        let paced = &mut progress.paced[kind_of(io.op)];
        (paced.ios, paced.bytes) = (paced.ios + 1, paced.bytes.saturating_add(io.size));
        if let Some(interval) = poisson {
            paced.due = Some(paced.due.or(begun).unwrap_or(at).saturating_add(interval));
        }
        self.lives[position].planned();
        Some(from)
    }

    /// A random time between two I/Os, with the pace as its mean.
    fn interval(&self, position: usize, number: u64, io: &MixedIo, pace: JobPace) -> rtflash_model::Span {
        let start = Instant::START;
        let mean = match pace {
            JobPace::Bytes(rate) => paced(start, rate, 1, io.size),
            JobPace::Ios(ios) => paced_ios(start, ios, 1),
        };
        let mean = mean.unwrap_or(Instant::END).since(start);
        exponential(self.drawn(b"arrivals", position, number).below(u64::MAX), mean)
    }

    /// When an operation goes on by its pace; `None` beyond the end of time.
    fn due(&self, position: usize, kind: usize, pace: Option<JobPace>) -> Option<Instant> {
        let PacedOp { ios, bytes, due } = self.progress[position].paced[kind];
        let begun = self.lives[position].begun().unwrap_or(self.now);
        match pace {
            None => Some(begun),
            Some(_) if self.scenario.jobs[position].is_poisson => Some(due.unwrap_or(begun)),
            Some(JobPace::Bytes(rate)) => paced(begun, rate, 1, bytes),
            Some(JobPace::Ios(rate)) => paced_ios(begun, rate, ios),
        }
    }

    /// The next I/O of a job that releases one now, at its place; `None` if it has none.
    pub(super) fn next_whole(&mut self, position: usize) -> Option<Command> {
        if self.has_released_all(position) || self.lives[position].is_late(self.now) {
            return None;
        }
        let number = self.progress[position].released;
        let planned = self.progress[position].coming.pop_front();
        let io = planned.unwrap_or_else(|| self.draw(position, number, None));
        let from = self.place(position, number, &io);
        let progress = &mut self.progress[position];
        (progress.released, progress.bytes) = (number + 1, progress.bytes.saturating_add(io.size));
        self.scenario.whole_of(position, io, from)
    }

    /// The number of the next chain of a job that begins one now; `None` if it has none.
    pub(super) fn next_chain_of(&mut self, position: usize) -> Option<u64> {
        if self.has_released_all(position) || self.lives[position].is_late(self.now) {
            return None;
        }
        let progress = &mut self.progress[position];
        progress.coming.pop_front();
        progress.released += 1;
        Some(progress.released - 1)
    }

    /// The place of an I/O.
    fn place(&mut self, position: usize, number: u64, io: &MixedIo) -> u64 {
        let job = &self.scenario.jobs[position];
        let number = if job.in_turn { number / job.mix.len() as u64 } else { number };
        let stretches = job.stretches.len() as u64 + 1;
        let stretch = usize::try_from(number % stretches).expect("a position in a list");
        let begin = stretch.checked_sub(1).map_or(job.from, |further| job.stretches[further]);
        let (align, gap) = (job.align(io.op).max(1), job.gap);
        let of = JobStretch { pattern: job.pattern, begin, span: job.span, align, gap };
        self.place_in(position, StretchTurn { turn: number / stretches, stretch, stretches }, &of, io)
    }

    /// The place of an I/O in a stretch of its job.
    pub(super) fn place_in(&mut self, position: usize, at: StretchTurn, of: &JobStretch, io: &MixedIo) -> u64 {
        let StretchTurn { turn, stretch, stretches } = at;
        let begin = of.begin;
        match (of.pattern, of.span) {
            (JobPattern::Random, Some(span)) => {
                let number = turn.wrapping_mul(stretches).wrapping_add(stretch as u64);
                let places = span.saturating_sub(io.size) / of.align + 1;
                let place = self.drawn(b"places\0\0", position, number).below(places);
                begin.saturating_add(place.saturating_mul(of.align))
            }
            (JobPattern::Shuffled, Some(span)) => {
                let places = (span.saturating_sub(io.size) / of.align + 1).max(1);
                let (at, round) = (turn % places, turn / places);
                let mut keys =
                    self.drawn(b"shuffled", position, round.wrapping_mul(stretches).wrapping_add(stretch as u64));
                let keys = [(); 4].map(|()| keys.below(u64::MAX));
                begin.saturating_add(shuffled(at, places, keys).saturating_mul(of.align))
            }
            (_, span) => {
                let next = &mut self.progress[position].next[stretch][kind_of(io.op)];
                let end = next.checked_add(io.size);
                let fits = *next >= begin && span.is_none_or(|span| end.is_some_and(|end| end - begin <= span));
                let from = if fits && end.is_some() { *next } else { next_round(of) };
                // Below the begin of the device is below the begin of the stretch.
                let end = from.saturating_add(io.size);
                let after = end.checked_add_signed(of.gap);
                *next = after.filter(|after| *after >= begin).unwrap_or_else(|| next_round(of));
                from
            }
        }
    }
}
