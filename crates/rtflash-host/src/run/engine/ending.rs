//! Ends of commands and I/Os.

use std::cmp::Reverse;

use rtflash_model::Instant;

use super::lives::EndOfIo;
use super::tags::Submitter;
use super::{CausedRelease, EngineEvent, HostEngine, Io};
use crate::run::device::Attach;
use crate::run::job::JobReleases;
use crate::run::watch::{RunEvent, Watch};
use crate::{Command, Op};

impl<W: Watch> HostEngine<'_, W> {
    /// A command has ended.
    pub(super) fn complete(&mut self, command: &Command) {
        if command.is_flush() {
            return self.end_flush(command);
        }
        self.scheduler.completed(command, self.now);
        self.watch.see(self.now, &RunEvent::Ended(command));
        if let Some((_, unended)) = self.left.get_mut(&command.id) {
            *unended = unended.saturating_sub(command.size);
            if *unended > 0 {
                return;
            }
            self.left.remove(&command.id);
        }
        self.tags.give_back(command);
        let own = self.io_of.remove(&command.id);
        self.part(own);
        for number in self.merged.remove(&command.id).into_iter().flatten() {
            self.part(Some(number));
        }
    }

    /// A part of an I/O has ended.
    pub(super) fn part(&mut self, number: Option<u64>) {
        if let Some(number) = number
            && let Some(io) = self.ios.get_mut(&number)
        {
            io.left -= 1;
            if io.left == 0 {
                let (job, flushes) = (io.job, std::mem::take(&mut io.flushes));
                if std::mem::take(&mut io.fua) && self.flushes_behind(job, number) {
                    return;
                }
                if flushes && self.end_of_data(job, number) {
                    return;
                }
                let waits = self.is_in_driver(Submitter::Io(number));
                if waits || self.is_blocked(job) { self.unseen[job].push(number) } else { self.finish(number) }
            }
        }
    }

    /// Whether the process that submits all of a job's I/Os waits, for a tag or in the driver.
    pub(super) fn is_blocked(&self, job: usize) -> bool {
        let of = &self.scenario.jobs[job];
        let waits = || self.tags.is_waiting(job) || self.is_in_driver(Submitter::Job(job));
        of.is_async && matches!(of.releases, JobReleases::Closed { .. }) && waits()
    }

    pub(super) fn is_in_driver(&self, submitter: Submitter) -> bool {
        self.card.as_ref().is_some_and(|card| card.holds(submitter))
    }

    /// A process that has waited in the driver sees the end of its I/O, if that has come.
    pub(super) fn see_end(&mut self, number: u64) {
        let job = self.ios.get(&number).map(|io| io.job);
        if let Some(unseen) = job.map(|job| &mut self.unseen[job])
            && let Some(at) = unseen.iter().position(|&of| of == number)
        {
            unseen.remove(at);
            self.finish(number);
        }
    }

    /// A process that has waited sees what has ended, and releases what is due.
    pub(super) fn reap(&mut self, job: usize) {
        for number in std::mem::take(&mut self.unseen[job]) {
            self.finish(number);
        }
        if self.scenario.jobs[job].is_flusher() {
            self.write_back();
        }
        for _ in 0..std::mem::take(&mut self.progress[job].due) {
            self.foresee(|foresight| foresight.happens(job));
            self.release(job);
            self.leave(job);
        }
        // It goes on before the worker of a card does.
        let goes_on = CausedRelease::Io(job);
        while self.scenario.device.attach() == Attach::Mmc
            && let Some(at) = self.caused.iter().position(|&caused| caused == goes_on)
        {
            self.caused.remove(at);
            self.foresee(|foresight| foresight.happens(job));
            self.release(job);
            self.leave(job);
        }
    }

    /// Whether what ends now of a job counts.
    pub(super) fn counts(&self, job: usize) -> bool {
        self.now >= self.scenario.warmup && self.lives[job].counts(self.now)
    }

    /// An I/O has ended.
    fn finish(&mut self, number: u64) {
        let Some(Io { job, released, op, bytes, chain, .. }) = self.ios.remove(&number) else { return };
        self.watch.see(self.now, &RunEvent::Finished { io: number, job, released });
        self.end_page_write(number);
        self.foresee(|foresight| foresight.ended(job));
        let counts = self.counts(job);
        if counts {
            self.lives[job].bytes += u128::from(bytes);
            self.lives[job].moved += if self.ends_in_memory(job, op) { 0 } else { u128::from(bytes) };
        }
        if let Some(chain) = chain {
            self.end_step(chain, released);
            return;
        }
        let latency = self.now.since(released);
        if counts && bytes == 0 {
            self.lives[job].steps[0].note(latency.as_ns());
        } else if counts {
            self.latencies[job].note(latency.as_ns());
            self.late[job] += u64::from(self.scenario.jobs[job].is_late(latency));
        }
        if op == Op::Write && self.flushes_after(job) {
            if self.scenario.jobs[job].is_buffered {
                self.plan_sync(job)
            } else {
                self.flush_cache(job, None)
            }
            return;
        }
        if let JobReleases::Closed { think, .. } = self.scenario.jobs[job].releases {
            let runs = self.now.saturating_add(self.scenario.host.overhead);
            match self.lives[job].end_of_io(&self.scenario.jobs[job], self.now) {
                EndOfIo::Think => self.replace(job, runs.saturating_add(think)),
                EndOfIo::Replace => self.replace(job, runs),
                EndOfIo::Wait => {}
                EndOfIo::ThinkAll(places) => {
                    let at = runs.saturating_add(think);
                    self.lives[job].thinks(at);
                    (0..places).for_each(|_| self.replace(job, at));
                }
            }
        }
        self.leave(job);
    }

    /// A closed job's next I/O is planned. One that comes at once comes after all else at this
    /// instant.
    pub(super) fn replace(&mut self, job: usize, at: Instant) {
        match self.plan(job, at) {
            Some(at) if at == self.now => self.caused.push_back(CausedRelease::Io(job)),
            at => self.events.extend(at.map(|at| Reverse((at, EngineEvent::Release(job))))),
        }
    }
}
