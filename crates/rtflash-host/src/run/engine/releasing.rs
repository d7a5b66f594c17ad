//! When jobs release their I/Os.

use std::cmp::Reverse;

use rtflash_model::random::Stream;
use rtflash_model::{Instant, Span};

use super::{EngineEvent, HostEngine};
use crate::run::foresight::Foresight;
use crate::run::job::JobReleases;
use crate::run::releases::paced;
use crate::run::watch::Watch;

impl<W: Watch> HostEngine<'_, W> {
    pub(super) fn begin(&mut self) {
        for (position, job) in self.scenario.jobs.iter().enumerate() {
            match job.releases {
                JobReleases::Every { .. } => self.release_next(position),
                JobReleases::Closed { depth, .. } => {
                    for _ in 0..depth {
                        let at = self.plan(position, job.phase);
                        self.events.extend(at.map(|at| Reverse((at, EngineEvent::Release(position)))));
                    }
                }
                JobReleases::WriteBack(_) => self.plan_flush(position),
            }
        }
    }

    /// Plans the next release of a job that has a period.
    pub(super) fn release_next(&mut self, position: usize) {
        let job = &self.scenario.jobs[position];
        let JobReleases::Every { period, jitter } = job.releases else { return };
        let number = self.progress[position].released;
        if job.count.is_some_and(|count| number >= count) {
            return;
        }
        let Some(nominal) = period.checked_mul(number).and_then(|span| job.phase.checked_add(span)) else { return };
        let late = if jitter == Span::ZERO {
            0
        } else {
            self.drawn(b"jitter\0\0", position, number).below(jitter.as_ns() + 1)
        };
        let at = nominal.saturating_add(Span::from_ns(late).unwrap_or(jitter));
        self.foresee(|foresight| foresight.plan(position, nominal));
        self.events.push(Reverse((at, EngineEvent::Release(position))));
    }

    /// When a closed job releases its next I/O that has no time yet: at `at`, or when its pace
    /// allows it; `None` if there is none.
    pub(super) fn plan(&mut self, position: usize, at: Instant) -> Option<Instant> {
        let job = &self.scenario.jobs[position];
        let number = self.progress[position].planned;
        if job.count.is_some_and(|count| number >= count) {
            return None;
        }
        self.progress[position].planned += 1;
        let at = match job.pace {
            None => at,
            Some(rate) => at.max(paced(job.phase, rate, number, job.size)?),
        };
        self.foresee(|foresight| foresight.plan(position, at));
        Some(at)
    }

    /// Tells what is known of the time to come, if the scheduler wants to know.
    pub(super) fn foresee(&mut self, tell: impl FnOnce(&mut Foresight)) {
        if let Some(foresight) = &mut self.foresight {
            tell(foresight);
        }
    }

    /// Plans the next flush of a job that writes back: the first one that releases something.
    fn plan_flush(&mut self, position: usize) {
        let job = &self.scenario.jobs[position];
        let JobReleases::WriteBack(written) = job.releases else { return };
        let flush = written.next(self.progress[position].released, job.size);
        if let Some(at) = flush.and_then(|flush| written.at(job.phase, flush)) {
            self.foresee(|foresight| foresight.plan(position, at));
            self.events.push(Reverse((at, EngineEvent::Release(position))));
        }
    }

    /// A release whose time has come. Says whether there is one.
    pub(super) fn timed(&mut self, position: usize) -> bool {
        if self.is_blocked(position) {
            self.progress[position].due += 1;
            return false;
        }
        self.foresee(|foresight| foresight.happens(position));
        let job = &self.scenario.jobs[position];
        let JobReleases::WriteBack(written) = job.releases else { return self.release(position) };
        let released = written.released(written.flushes(job.phase, self.now), job.size);
        let mut any = false;
        while self.progress[position].released < released && !self.has_too_many() {
            if !self.release(position) {
                return any;
            }
            any = true;
        }
        // What is left of a flush that is too much is not planned again: the run is given up.
        if !self.has_too_many() {
            self.plan_flush(position);
        }
        any
    }

    pub(super) fn drawn(&self, what: &[u8; 8], job: usize, number: u64) -> Stream {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..16].copy_from_slice(what);
        key[16..24].copy_from_slice(&(job as u64).to_le_bytes());
        key[24..].copy_from_slice(&number.to_le_bytes());
        Stream::new(key)
    }
}
