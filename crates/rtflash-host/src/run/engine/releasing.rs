//! When jobs release their I/Os.

use std::cmp::Reverse;

use rtflash_model::random::Stream;
use rtflash_model::{Instant, Span, exponential};

use super::{EngineEvent, HostEngine, Io};
use crate::Command;
use crate::run::foresight::Foresight;
use crate::run::job::JobReleases;
use crate::run::releases::WriteBack;
use crate::run::watch::{RunEvent, Watch};

impl<W: Watch> HostEngine<'_, W> {
    /// Plans the next release of a job that has a period.
    pub(super) fn release_next(&mut self, position: usize) {
        let job = &self.scenario.jobs[position];
        let JobReleases::Every { period, jitter } = job.releases else { return };
        let Some(begun) = self.lives[position].begun().filter(|_| !self.has_released_all(position)) else { return };
        let number = self.progress[position].released / u64::from(job.burst);
        let nominal = if job.is_poisson {
            self.by_chance(position, number, period)
        } else {
            period.checked_mul(number).and_then(|span| begun.checked_add(span))
        };
        let Some(nominal) = nominal else { return };
        let late = if jitter == Span::ZERO {
            0
        } else {
            self.drawn(b"jitter\0\0", position, number).below(jitter.as_ns() + 1)
        };
        let at = nominal.saturating_add(Span::from_ns(late).unwrap_or(jitter));
        // The host does not know the times that chance draws.
        let known = if job.is_poisson { self.now.max(begun) } else { nominal };
        self.foresee(|foresight| foresight.plan(position, known));
        self.lives[position].live += 1;
        self.events.push(Reverse((at, EngineEvent::Release(position))));
    }

    /// The time at which the next I/Os are due that come after exponential times of this mean.
    fn by_chance(&mut self, position: usize, number: u64, mean: Span) -> Option<Instant> {
        let word = self.drawn(b"arrivals", position, number).below(u64::MAX);
        let before = self.progress[position].drawn.or(self.lives[position].begun())?;
        let at = before.checked_add(exponential(word, mean));
        self.progress[position].drawn = at;
        at
    }

    /// When a closed job releases its next I/O that has no time yet: at `at`, or when its pace
    /// allows it; `None` if there is none.
    pub(super) fn plan(&mut self, position: usize, at: Instant) -> Option<Instant> {
        if self.has_planned_all(position) {
            return None;
        }
        let paced = self.pace(position, at).filter(|&at| !self.lives[position].is_late(at))?;
        self.lives[position].live += 1;
        let known = if self.scenario.jobs[position].is_poisson { at } else { paced };
        self.foresee(|foresight| foresight.plan(position, known));
        Some(paced)
    }

    /// Tells what is known of the time to come, if the scheduler wants to know.
    pub(super) fn foresee(&mut self, tell: impl FnOnce(&mut Foresight)) {
        if let Some(foresight) = &mut self.foresight {
            tell(foresight);
        }
    }

    /// Plans the next flush of a job that writes back: the first one that releases something.
    pub(super) fn plan_flush(&mut self, position: usize) {
        let job = &self.scenario.jobs[position];
        let JobReleases::WriteBack(written) = job.releases else { return };
        let flush = written.next(self.progress[position].released, job.size);
        let begun = self.lives[position].begun().unwrap_or(self.now);
        if let Some(at) = flush.and_then(|flush| written.at(begun, flush)) {
            self.foresee(|foresight| foresight.plan(position, at));
            self.lives[position].live += 1;
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
        let any = match self.scenario.jobs[position].releases {
            JobReleases::WriteBack(written) => self.flush(position, &written),
            JobReleases::Every { .. } => self.burst(position),
            JobReleases::Closed { .. } | JobReleases::Flusher => self.release(position),
        };
        self.leave(position);
        any
    }

    /// A job releases its next I/O. Says whether it has one.
    pub(super) fn release(&mut self, position: usize) -> bool {
        if self.scenario.jobs[position].is_chain() {
            return self.begin_chain(position);
        }
        let Some(whole) = self.next_whole(position) else { return false };
        self.lives[position].live += 1;
        if self.ends_in_memory(position, whole.op) {
            self.copy(position, &whole);
        } else {
            self.send(position, whole, None, false);
        }
        true
    }

    /// An I/O is released, for which a chain waits or not.
    pub(super) fn send(&mut self, job: usize, whole: Command, chain: Option<u64>, fua: bool) {
        let io = self.begin_io(Io { chain, fua, ..Io::new(job, self.now, &whole) });
        let requests = self.submit(io, whole);
        if let Some(io) = self.ios.get_mut(&io) {
            io.left = requests;
        }
    }

    /// An I/O is under way from now on. Gives its number.
    pub(super) fn begin_io(&mut self, of: Io) -> u64 {
        let io = self.next_io;
        self.next_io += 1;
        let step = of.chain.map(|chain| self.chains[&chain].step);
        self.watch.see(self.now, &RunEvent::Released { io, job: of.job, step });
        self.foresee(|foresight| foresight.released(of.job));
        self.ios.insert(io, of);
        io
    }

    /// All I/Os of a period. Says whether there is one.
    fn burst(&mut self, position: usize) -> bool {
        let mut any = false;
        for _ in 0..self.scenario.jobs[position].burst {
            if !self.release(position) {
                return any;
            }
            any = true;
        }
        self.release_next(position);
        any
    }

    /// All I/Os that a flush releases. Says whether there is one.
    fn flush(&mut self, position: usize, written: &WriteBack) -> bool {
        let job = &self.scenario.jobs[position];
        let begun = self.lives[position].begun().unwrap_or(self.now);
        let released = written.released(written.flushes(begun, self.now), job.size);
        let mut any = false;
        while self.progress[position].released < released && !self.has_too_many() {
            if !self.release(position) {
                return any;
            }
            any = true;
        }
        // The rest of a flush that is too much is not planned again: the run is given up.
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
