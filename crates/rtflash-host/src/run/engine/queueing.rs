//! Requests on their way to the scheduler: tags, and merging.

use super::HostEngine;
use super::card::CardRun;
use super::tags::{Step, Submitted, Submitter};
use crate::Command;
use crate::run::job::Job;
use crate::run::scenario::cut;
use crate::run::watch::{RunEvent, Watch};

/// A request or piece in the plug of a process.
#[derive(Debug)]
pub(super) struct Plugged {
    command: Command,
    /// Whether others can be merged into it.
    merges: bool,
}

/// Merges a request into the one that its process submits directly before, if they are one behind
/// the other (`blk_try_merge` of block/blk-merge.c).
fn plug(last: &mut Submitted, request: &Submitted, limit: u64) -> bool {
    let (one, other) = (&last.command, &request.command);
    let alike = (one.op, one.class, one.level) == (other.op, other.class, other.level);
    let size = one.size.saturating_add(other.size);
    let is_behind = one.from.checked_add(one.size) == Some(other.from);
    let is_ahead = other.from.checked_add(other.size) == Some(one.from);
    let fits = alike && (is_behind || is_ahead) && size <= limit;
    if fits {
        last.command = Command { from: one.from.min(other.from), size, ..*one };
        let at = if is_behind { last.ios.len() } else { 0 };
        last.ios.splice(at..at, request.ios.iter().copied());
    }
    fits
}

impl<W: Watch> HostEngine<'_, W> {
    /// The requests of an I/O are on their way. Says how many there are.
    pub(super) fn submit(&mut self, io: u64, whole: Command) -> u64 {
        let job = &self.scenario.jobs[whole.job as usize];
        let alone = job.submits_alone();
        let submitter = if alone { Submitter::Job(whole.job as usize) } else { Submitter::Io(io) };
        let mut parts = 0;
        for command in self.scenario.requests(whole) {
            let ios = vec![(io, command.from.saturating_add(command.size))];
            let limit = self.tag_limit(&command);
            let tags = self.pieces(&command);
            self.tags.submit(submitter, limit, job.writes_back(), Submitted { command, tags, ios });
            parts += 1;
        }
        parts
    }

    /// Puts a request into the one before it in the plug of its process, if it fits.
    fn plugs(&self, last: &mut Submitted, request: &Submitted) -> bool {
        let merges = self.merger.is_some() && self.scenario.device.merges(&last.command, &request.command);
        let fits = merges && plug(last, request, self.scenario.host.max_sectors);
        if fits {
            last.tags = self.pieces(&last.command);
        }
        fits
    }

    /// Pieces of a request.
    fn pieces(&self, request: &Command) -> u64 {
        request.size.div_ceil(self.scheduler.piece(request).unwrap_or(request.size))
    }

    /// Processes that run submit until they wait or have no more, and with `woken` those that were
    /// woken. Says whether something has come to the scheduler.
    pub(super) fn admit(&mut self, woken: bool) -> bool {
        let mut any = false;
        loop {
            let mut tags = std::mem::take(&mut self.tags);
            tags.merge_in_plug(|last, request| self.plugs(last, request));
            let step = tags.next(|request| self.merge(request));
            self.tags = tags;
            match step {
                Some(Step::Admitted(request, taken)) => {
                    any = true;
                    for (command, tag) in self.insert(&request).into_iter().zip(taken) {
                        self.tags.hold(command.id, tag);
                    }
                }
                Some(Step::GoesOn) => {}
                Some(Step::Plug(submitter)) => {
                    self.unplug();
                    self.run_queue(submitter, true);
                }
                Some(Step::Runs(submitter)) => {
                    self.run_queue(submitter, false);
                    // A process that sleeps leaves its plug to the worker.
                    if self.is_in_driver(submitter) && self.unplug() {
                        self.tags.empty_plug(submitter);
                        self.leave_to_worker();
                    }
                }
                Some(Step::Waits) => {
                    if self.unplug() {
                        self.leave_to_worker();
                    }
                }
                Some(Step::Done(submitter)) => {
                    self.unplug();
                    self.run_card(Some(CardRun { submitter, is_own: true }));
                    if let Submitter::Job(job) = submitter
                        && !self.is_in_driver(submitter)
                    {
                        self.reap(job);
                    }
                }
                None if woken && self.tags.has_woken() => self.tags.run_woken(),
                None => return any,
            }
        }
    }

    /// A process that has more to submit runs the queue; `is_own`: for what was in its plug.
    fn run_queue(&mut self, submitter: Submitter, is_own: bool) {
        if !self.run_card(Some(CardRun { submitter, is_own })) {
            self.ask();
            self.tags.resume(submitter);
        }
    }

    /// The scheduler gets what is in the plug of the process that runs. Says whether that is
    /// something.
    fn unplug(&mut self) -> bool {
        let plug = std::mem::take(&mut self.plug);
        for of in &plug {
            self.scheduler.insert(of.command, self.now);
            if let Some(merger) = self.merger.as_mut().filter(|_| of.merges) {
                merger.insert(of.command);
            }
        }
        self.queued += plug.len();
        !plug.is_empty()
    }

    /// A request comes into the plug of its process, in its pieces.
    fn insert(&mut self, request: &Submitted) -> Vec<Command> {
        let piece = self.scheduler.piece(&request.command).unwrap_or(request.command.size);
        let mut pieces: Vec<Command> = Vec::new();
        for piece in cut(request.command, piece) {
            let command = Command { id: self.next_command, ..piece };
            self.next_command += 1;
            // The I/Os whose parts are in the piece.
            let mut begin = request.command.from;
            let end = piece.from.saturating_add(piece.size);
            for &(io, ends) in &request.ios {
                if begin < end && ends > piece.from {
                    if let Some(of) = self.ios.get_mut(&io) {
                        // One was counted for the request.
                        of.left += u64::from(begin < piece.from);
                    }
                    if let Some(first) = self.io_of.insert(command.id, io) {
                        self.io_of.insert(command.id, first);
                        self.merged.entry(command.id).or_default().push(io);
                    }
                }
                begin = ends;
            }
            pieces.push(command);
        }
        for &command in &pieces {
            let io = self.io_of[&command.id];
            self.watch.see(self.now, &RunEvent::Queued { io, command: &command });
            for &io in self.merged.get(&command.id).into_iter().flatten() {
                self.watch.see(self.now, &RunEvent::Merged { io, command: &command, into: &command });
            }
            // `REQ_NOMERGE_FLAGS` of include/linux/blk_types.h.
            let merges = pieces.len() == 1 && !self.ios.get(&io).is_some_and(|io| io.fua);
            self.plug.push(Plugged { command, merges });
            if self.foresight.is_some() {
                self.left.insert(command.id, (command.size, command.size));
            }
        }
        pieces
    }

    /// See [`crate::Scheduler::tag_limit`].
    fn tag_limit(&self, request: &Command) -> Option<u32> {
        let buffered = self.scenario.jobs.get(request.job as usize).is_some_and(Job::writes_back);
        self.scheduler.tag_limit(request, buffered, &self.scenario.host)
    }

    /// Merges a request into one that waits at the scheduler, if it can be.
    fn merge(&mut self, request: &Submitted) -> bool {
        let is_fua = request.ios.iter().any(|(io, _)| self.ios.get(io).is_some_and(|io| io.fua));
        let Some(merger) = self.merger.as_mut().filter(|_| request.tags == 1 && !is_fua) else { return false };
        let device = &self.scenario.device;
        let may = |queued: &Command, request: &Command| {
            device.merges(queued, request) && self.scheduler.merges(queued, request)
        };
        let Some((before, after)) = merger.merge(&request.command, may) else { return false };
        self.scheduler.merged(&before, &after);
        for &(io, _) in &request.ios {
            self.merged.entry(after.id).or_default().push(io);
            self.watch.see(self.now, &RunEvent::Merged { io, command: &request.command, into: &after });
        }
        true
    }
}
