//! When jobs begin, and when they are over.

use std::cmp::Reverse;

use rtflash_model::{Instant, Span};

use super::{EngineEvent, HostEngine, HostRunError, run_watched};
use crate::run::job::{Job, JobReleases, ThinkAfter};
use crate::run::report::Latencies;
use crate::run::scenario::Scenario;
use crate::run::watch::{RunEvent, Watch};

/// A job in a run.
#[derive(Debug, Clone, Default)]
pub(super) struct JobLife {
    /// When it began; `None` while it waits for others.
    begun: Option<Instant>,
    /// When its releases end; `None` for no end.
    until: Option<Instant>,
    /// When its I/Os begin to count.
    counts: Option<Instant>,
    /// When it was over.
    over: Option<Instant>,
    /// I/Os that are pending, and releases that are planned.
    pub(super) live: u64,
    /// Jobs that have to be over before it begins, and the jobs that wait for it.
    waits_for: usize,
    followers: Vec<usize>,
    /// I/Os planned since it began or last thought, and when that was.
    in_group: u32,
    group: Instant,
    /// Bytes of the I/Os that count.
    pub(super) bytes: u128,
    /// Those that the device moved, with the pages that `fsync` wrote.
    pub(super) moved: u128,
    /// Latencies of the steps of chains that count, or of a job's flushes.
    pub(super) steps: Vec<Latencies>,
}

/// The next step of a closed job when an I/O of it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndOfIo {
    /// Its place thinks.
    Think,
    /// The next one is released at once.
    Replace,
    /// Others have to end before the job thinks.
    Wait,
    /// The job thinks, and then releases this number of I/Os.
    ThinkAll(u32),
}

impl JobLife {
    pub(super) fn all(jobs: &[Job]) -> Vec<JobLife> {
        let life = |job: &Job| {
            let steps = vec![Latencies::default(); job.steps.len() + usize::from(job.fsync.is_some())];
            JobLife { waits_for: job.after.len(), steps, ..JobLife::default() }
        };
        let mut lives: Vec<JobLife> = jobs.iter().map(life).collect();
        for (position, job) in jobs.iter().enumerate() {
            job.after.iter().for_each(|&earlier| lives[earlier].followers.push(position));
        }
        lives
    }

    /// Whether an I/O counts that ends now.
    pub(super) fn counts(&self, now: Instant) -> bool {
        self.counts.is_some_and(|counts| now >= counts)
    }

    /// Whether nothing is released at `at`.
    pub(super) fn is_late(&self, at: Instant) -> bool {
        self.until.is_some_and(|until| at >= until)
    }

    /// When it began, if it has.
    pub(super) fn begun(&self) -> Option<Instant> {
        self.begun
    }

    /// Whether it has nothing left to do.
    pub(super) fn is_over(&self) -> bool {
        self.over.is_some()
    }

    /// The time in which its I/Os count.
    pub(super) fn span(&self, warmup: Instant, duration: Instant) -> Span {
        let from = self.counts.unwrap_or(duration).max(warmup).min(duration);
        self.over.unwrap_or(duration).min(duration).max(from).since(from)
    }

    /// It thinks, and goes on at `at`.
    pub(super) fn thinks(&mut self, at: Instant) {
        (self.in_group, self.group) = (0, at);
    }

    /// One more I/O is planned.
    pub(super) fn planned(&mut self) {
        self.in_group = self.in_group.saturating_add(1);
    }

    /// The next step as an I/O has ended, which is still among the live ones.
    pub(super) fn end_of_io(&self, job: &Job, now: Instant) -> EndOfIo {
        let JobReleases::Closed { depth, .. } = job.releases else { return EndOfIo::Wait };
        let (is_open, places) = match job.think_after {
            ThinkAfter::Each => return EndOfIo::Think,
            ThinkAfter::Ios(ios) => (self.in_group < ios, depth.min(ios)),
            ThinkAfter::Time(time) => (now < self.group.saturating_add(time), depth),
        };
        match (is_open, self.live) {
            (true, _) => EndOfIo::Replace,
            (false, 1) => EndOfIo::ThinkAll(places),
            (false, _) => EndOfIo::Wait,
        }
    }
}

impl<W: Watch> HostEngine<'_, W> {
    /// A job begins at `at`, which is now or later.
    pub(super) fn begin_job(&mut self, position: usize, at: Instant) {
        let job = &self.scenario.jobs[position];
        let later = at.since(job.phase);
        let life = &mut self.lives[position];
        (life.begun, life.group) = (Some(at), at);
        life.until = job.until.map(|until| until.saturating_add(later));
        life.counts = Some(at.saturating_add(job.ramp));
        match job.releases {
            JobReleases::Every { .. } => self.release_next(position),
            JobReleases::Closed { depth, .. } => {
                let places = match job.think_after {
                    ThinkAfter::Ios(ios) => depth.min(ios),
                    _ => depth,
                };
                for _ in 0..places {
                    let at = self.plan(position, at);
                    self.events.extend(at.map(|at| Reverse((at, EngineEvent::Release(position)))));
                }
            }
            JobReleases::WriteBack(_) => self.plan_flush(position),
            // It waits for pages, without an end.
            JobReleases::Flusher => self.lives[position].live += 1,
        }
        if self.lives[position].live == 0 {
            self.end_job(position);
        }
    }

    /// An I/O or a planned release of a job is over.
    pub(super) fn leave(&mut self, position: usize) {
        self.lives[position].live -= 1;
        if self.lives[position].live == 0 {
            self.end_job(position);
        }
    }

    /// A job has nothing left to do. If its time ends it, it is over then.
    fn end_job(&mut self, position: usize) {
        let times_out = !self.has_released_all(position);
        let at = self.lives[position].until.filter(|_| times_out).unwrap_or(self.now).max(self.now);
        if at == self.now {
            self.over(position);
        } else {
            self.events.push(Reverse((at, EngineEvent::Over(position))));
        }
    }

    /// A job is over: others can begin.
    pub(super) fn over(&mut self, position: usize) {
        self.lives[position].over = Some(self.now);
        for follower in std::mem::take(&mut self.lives[position].followers) {
            self.lives[follower].waits_for -= 1;
            if self.lives[follower].waits_for == 0 {
                self.foresee(|foresight| foresight.happens(follower));
                self.begin_job(follower, self.scenario.jobs[follower].phase.max(self.now));
            }
        }
    }

    /// Jobs that wait for no other begin.
    pub(super) fn begin(&mut self) {
        for (position, job) in self.scenario.jobs.iter().enumerate() {
            if job.after.is_empty() {
                self.begin_job(position, job.phase);
            } else {
                // It can begin whenever others are over.
                self.foresee(|foresight| foresight.plan(position, job.phase));
            }
        }
    }
}

/// The scenario with a duration. If it goes on until its jobs have nothing left to do, its duration
/// becomes the time at which they have in a run by this seed. Any other scenario stays as it is.
///
/// # Errors
/// As [`run_watched`].
pub fn until_over(scenario: Scenario, seed: u64) -> Result<Scenario, HostRunError> {
    if scenario.duration < Instant::END {
        return Ok(scenario);
    }
    let mut last = LastEvent(Instant::START);
    run_watched(&scenario, seed, &mut last)?;
    let duration = last.0.max(scenario.warmup.saturating_add(Span::NANOSECOND));
    Ok(Scenario { duration, ..scenario })
}

/// When something happened last.
struct LastEvent(Instant);

impl Watch for LastEvent {
    fn see(&mut self, now: Instant, _: &RunEvent<'_>) {
        self.0 = now;
    }
}
