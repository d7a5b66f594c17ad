//! Requests on their way to the scheduler: tags, and merging.

use super::HostEngine;
use crate::Command;
use crate::run::job::Job;
use crate::run::watch::{RunEvent, Watch};

impl<W: Watch> HostEngine<'_, W> {
    /// Requests that wait get their tags, first come, first served, each for all of its pieces.
    /// What is merged needs none. Says whether something has come to the scheduler.
    pub(super) fn admit(&mut self) -> bool {
        let mut any = false;
        let mut tags = std::mem::take(&mut self.tags);
        while let Some(pieces) = tags.next(|request| self.merge(request)) {
            any = true;
            let is_whole = pieces.len() == 1;
            for command in pieces {
                let io = self.io_of[&command.id];
                self.watch.see(self.now, &RunEvent::Queued { io, command: &command });
                self.scheduler.insert(command, self.now);
                self.queued += 1;
                if self.foresight.is_some() {
                    self.left.insert(command.id, (command.size, command.size));
                }
                if let Some(merger) = self.merger.as_mut().filter(|_| is_whole) {
                    merger.insert(command);
                }
            }
        }
        self.tags = tags;
        any
    }

    /// The number of tags that requests like this one may hold.
    pub(super) fn tag_limit(&self, request: &Command) -> Option<u32> {
        let buffered = self.scenario.jobs.get(request.job as usize).is_some_and(Job::is_buffered);
        self.scheduler.tag_limit(request, buffered, &self.scenario.host)
    }

    /// Merges a request into one that waits at the scheduler, if it can be.
    fn merge(&mut self, request: &Command) -> bool {
        let Some(merger) = &mut self.merger else { return false };
        let device = &self.scenario.device;
        let may = |queued: &Command, request: &Command| {
            device.merges(queued, request) && self.scheduler.merges(queued, request)
        };
        let Some((before, after)) = merger.merge(request, may) else { return false };
        self.scheduler.merged(&before, &after);
        if let Some(io) = self.io_of.remove(&request.id) {
            self.merged.entry(after.id).or_default().push(io);
            self.watch.see(self.now, &RunEvent::Merged { io, command: request, into: &after });
        }
        true
    }
}
