//! Ends of commands and I/Os.

use std::cmp::Reverse;

use super::{EngineEvent, HostEngine, Io};
use crate::Command;
use crate::run::job::JobReleases;
use crate::run::watch::{RunEvent, Watch};

impl<W: Watch> HostEngine<'_, W> {
    /// A command has ended.
    pub(super) fn complete(&mut self, command: &Command) {
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
    fn part(&mut self, number: Option<u64>) {
        if let Some(number) = number
            && let Some(io) = self.ios.get_mut(&number)
        {
            io.left -= 1;
            if io.left == 0 {
                let job = io.job;
                if self.is_blocked(job) { self.unseen[job].push(number) } else { self.finish(number) }
            }
        }
    }

    /// Whether the process that submits all of a job's I/Os waits for a tag.
    pub(super) fn is_blocked(&self, job: usize) -> bool {
        let of = &self.scenario.jobs[job];
        of.is_async && matches!(of.releases, JobReleases::Closed { .. }) && self.tags.is_waiting(job)
    }

    /// A process that has waited sees what has ended, and releases what is due.
    pub(super) fn reap(&mut self, job: usize) {
        for number in std::mem::take(&mut self.unseen[job]) {
            self.finish(number);
        }
        for _ in 0..std::mem::take(&mut self.progress[job].due) {
            self.foresee(|foresight| foresight.happens(job));
            self.release(job);
        }
    }

    /// An I/O has ended.
    fn finish(&mut self, number: u64) {
        let Some(Io { job, released, .. }) = self.ios.remove(&number) else { return };
        self.watch.see(self.now, &RunEvent::Finished { io: number, job, released });
        self.foresee(|foresight| foresight.ended(job));
        if self.now >= self.scenario.warmup {
            self.latencies[job].note(self.now.since(released).as_ns());
        }
        if let JobReleases::Closed { think, .. } = self.scenario.jobs[job].releases {
            // What comes at once comes behind all else at this instant.
            match self.plan(job, self.now.saturating_add(think)) {
                Some(at) if at == self.now => self.caused.push_back(job),
                at => self.events.extend(at.map(|at| Reverse((at, EngineEvent::Release(job))))),
            }
        }
    }
}
