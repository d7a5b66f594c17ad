//! The device in simulated time: commands of clients in, ends of them out.

use std::collections::{HashMap, HashSet};
use std::fmt;

use rtflash_judge::{Checks, Finding};
use rtflash_model::{Instant, Span, TaskSet};
use rtflash_plan::{Aging, Options, Plan, SourceId};
use rtflash_sim::Hosted;
use rtflash_trace::JobId;

use crate::export::Export;
use crate::police::{Policeman, Ticket};

/// The action of a command on its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientAction {
    /// It reads them.
    Read,
    /// It writes them.
    Write,
    /// It gives them back: what they hold is not needed any more.
    Trim,
}

/// A request of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientCommand {
    /// The number of the export.
    pub export: usize,
    /// The action.
    pub action: ClientAction,
    /// The first page of the export's range.
    pub first: u32,
    /// How many pages: at least one.
    pub pages: u32,
}

/// Why a command is not taken.
#[allow(missing_docs)] // The messages say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DriveError {
    #[error("there are no such pages")]
    NoSuchPages,
    /// The task does not read, or does not write; who does not write does not trim.
    #[error("the task declares no such requests")]
    NotDeclared,
    #[error("the task owns zones, and writes them in order")]
    OutOfOrder,
    /// Its pages cannot be trimmed: it owns zones, or its cluster has no certificate.
    #[error("the pages cannot be trimmed")]
    NotTrimmed,
}

/// The outcome of the requests of a task in one direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServedRequests {
    /// Commands of clients that are over.
    pub commands: u64,
    /// Pages of them.
    pub pages: u64,
    /// Commands that came early or were too large, so that a part of them waited for the policeman.
    pub held: u64,
    /// The longest time from a command's arrival to its end, waiting included.
    pub longest_command: Span,
    /// Requests of the device that are over.
    pub requests: u64,
    /// The longest time from a request's nominal arrival to its end.
    pub longest: Span,
    /// Its deadline.
    pub deadline: Span,
    /// Requests that were over only after it.
    pub late: u64,
}

/// The outcome of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedExport {
    /// The export.
    pub export: Export,
    /// Its reads; `None` where the task does not read.
    pub reads: Option<ServedRequests>,
    /// Its writes; `None` where the task does not write.
    pub writes: Option<ServedRequests>,
    /// Pages that clients have trimmed; a page counts as often as it was.
    pub trimmed: u64,
}

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedRun {
    /// The exports, in the order of the tasks.
    pub exports: Vec<ServedExport>,
    /// The findings of the executor's checkers.
    pub findings: Vec<Finding>,
    /// Simulated time.
    pub duration: Instant,
}

#[derive(Debug)]
struct ServedSource {
    number: SourceId,
    policeman: Policeman,
    counts: ServedRequests,
    in_order: bool,
    next: u32,
}

#[derive(Debug)]
struct OpenCommand {
    source: usize,
    came: Instant,
    pages: u32,
    left: u32,
    held: bool,
}

#[derive(Debug)]
struct OpenRequest {
    source: usize,
    nominal: Instant,
    shares: Vec<(Ticket, u32)>,
}

/// The device in simulated time. For each instant, in order: [`Drive::step`].
pub struct Drive<'a> {
    plan: &'a Plan,
    hosted: Hosted<'a, Checks<'a>>,
    exports: Vec<Export>,
    sources: Vec<ServedSource>,
    of_export: Vec<[Option<usize>; 2]>,
    trimmed: Vec<u64>,
    commands: HashMap<Ticket, OpenCommand>,
    requests: HashMap<JobId, OpenRequest>,
    now: Instant,
    // Kept for its memory.
    over: Vec<JobId>,
}

impl fmt::Debug for Drive<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drive").field("exports", &self.exports).field("now", &self.now).finish_non_exhaustive()
    }
}

impl<'a> Drive<'a> {
    /// The options of a run's begin: the worst content that there can be, and time without end.
    pub fn options() -> Options {
        Options { duration: Instant::END, aging: Aging::default(), ..Options::default() }
    }

    /// The device of a plan by certificates, as a run begins with `options`.
    pub fn new(set: &TaskSet, plan: &'a Plan, options: &'a Options) -> Drive<'a> {
        let exports = Export::all(set, plan);
        let mut sources = Vec::new();
        let mut add = |number: Option<SourceId>, in_order: bool| {
            let number = number?;
            let policeman = Policeman::new(plan, number)?;
            let deadline = plan.sources()[number].deadline.unwrap_or(Span::LONGEST);
            let counts = ServedRequests { deadline, ..ServedRequests::default() };
            sources.push(ServedSource { number, policeman, counts, in_order, next: 0 });
            Some(sources.len() - 1)
        };
        let of_export = exports.iter().map(|of| [add(of.reads, false), add(of.writes, of.in_order)]).collect();
        let clusters: Vec<_> = plan.clusters().ids().collect();
        let checks = Checks::new(plan, options.dispatch, &clusters);
        Drive {
            plan,
            hosted: Hosted::new(plan, options, checks),
            trimmed: vec![0; exports.len()],
            exports,
            sources,
            of_export,
            commands: HashMap::new(),
            requests: HashMap::new(),
            now: Instant::START,
            over: Vec::new(),
        }
    }

    /// The exports that clients see.
    pub fn exports(&self) -> &[Export] {
        &self.exports
    }

    /// The next instant at which a step has something to do; `None` while nothing is to be done.
    pub fn next_instant(&self) -> Option<Instant> {
        let waiting = self.sources.iter().filter_map(|source| source.policeman.next());
        let next = waiting.chain(self.hosted.next_instant()).min()?;
        Some(next.max(self.now.saturating_add(Span::NANOSECOND)))
    }

    /// The device goes on to `now`, which is behind the last step and not beyond
    /// [`Drive::next_instant`]; these commands come now, each with a number of the caller's that no
    /// open one has. The numbers of those that are over are added to `over`; a trim is at once.
    ///
    /// # Errors
    /// The commands that are not taken, with the reason: they are over.
    pub fn step(
        &mut self,
        now: Instant,
        commands: &[(u64, ClientCommand)],
        over: &mut Vec<u64>,
    ) -> Result<(), Vec<(u64, DriveError)>> {
        self.now = now;
        self.hosted.advance(now, &mut self.over);
        for job in std::mem::take(&mut self.over) {
            self.is_over(job, now, over);
        }
        let mut refused = Vec::new();
        for &(ticket, command) in commands {
            match self.take(ticket, command, now) {
                Ok(true) => over.push(ticket),
                Ok(false) => {}
                Err(error) => refused.push((ticket, error)),
            }
        }
        for source in 0..self.sources.len() {
            self.release(source, now);
        }
        self.hosted.settle(now);
        self.hosted.settled(now);
        if refused.is_empty() { Ok(()) } else { Err(refused) }
    }

    /// A command waits for the device. Says whether it is over already.
    fn take(&mut self, ticket: Ticket, command: ClientCommand, now: Instant) -> Result<bool, DriveError> {
        let ClientCommand { export, action, first, pages } = command;
        let of = self.exports.get(export).ok_or(DriveError::NoSuchPages)?;
        let end = first.checked_add(pages).filter(|&end| pages > 0 && u64::from(end) <= of.pages);
        let end = end.ok_or(DriveError::NoSuchPages)?;
        let source =
            self.of_export[export][usize::from(action != ClientAction::Read)].ok_or(DriveError::NotDeclared)?;
        let state = &mut self.sources[source];
        if action == ClientAction::Trim {
            if !self.hosted.trim(state.number, first..end, now) {
                return Err(DriveError::NotTrimmed);
            }
            self.trimmed[export] += u64::from(pages);
            return Ok(true);
        }
        if state.in_order {
            if first != state.next {
                return Err(DriveError::OutOfOrder);
            }
            state.next = if u64::from(end) == of.pages { 0 } else { end };
        }
        state.policeman.wait(ticket, first, pages);
        self.commands.insert(ticket, OpenCommand { source, came: now, pages, left: pages, held: false });
        Ok(false)
    }

    /// Requests that may leave for the device do; the others have been held.
    fn release(&mut self, source: usize, now: Instant) {
        while let Some(request) = self.sources[source].policeman.take(now) {
            let number = self.sources[source].number;
            for (ticket, _) in &request.shares {
                if let Some(command) = self.commands.get_mut(ticket) {
                    command.held |= command.came < now || u64::from(command.pages) > request.pages.len() as u64;
                }
            }
            let job = self.hosted.request_of(number, request.nominal, now, &request.pages);
            let job = job.expect("a request of pages that there are, no more than are declared");
            self.requests.insert(job, OpenRequest { source, nominal: request.nominal, shares: request.shares });
        }
    }

    fn is_over(&mut self, job: JobId, now: Instant, over: &mut Vec<u64>) {
        // Jobs of garbage collection belong to no request.
        let Some(OpenRequest { source, nominal, shares }) = self.requests.remove(&job) else { return };
        let counts = &mut self.sources[source].counts;
        let took = now.since(nominal);
        counts.requests += 1;
        counts.longest = counts.longest.max(took);
        counts.late += u64::from(took > counts.deadline);
        for (ticket, pages) in shares {
            let Some(command) = self.commands.get_mut(&ticket) else { continue };
            command.left -= pages;
            if command.left > 0 {
                continue;
            }
            let counts = &mut self.sources[command.source].counts;
            counts.commands += 1;
            counts.pages += u64::from(command.pages);
            counts.held += u64::from(command.held);
            counts.longest_command = counts.longest_command.max(now.since(command.came));
            self.commands.remove(&ticket);
            over.push(ticket);
        }
    }

    /// The client that asked these has gone: requests that have not left for the device stay, but
    /// for writes of zones, which go on in order. The numbers of those that are over so are added
    /// to `over`.
    pub fn withdraw(&mut self, tickets: &HashSet<u64>, over: &mut Vec<u64>) {
        for source in 0..self.sources.len() {
            if self.sources[source].in_order {
                continue;
            }
            for (ticket, pages) in self.sources[source].policeman.withdraw(|ticket| tickets.contains(&ticket)) {
                let Some(command) = self.commands.get_mut(&ticket) else { continue };
                command.left -= pages;
                if command.left == 0 {
                    self.commands.remove(&ticket);
                    over.push(ticket);
                }
            }
        }
    }

    /// Whether more is pending than can be kept.
    pub fn is_overloaded(&self) -> bool {
        self.hosted.is_overloaded()
    }

    /// Ends the run then, or just behind the last step: what is on the device is followed to its
    /// end.
    pub fn finish(self, at: Instant) -> ServedRun {
        let duration = at.max(self.now.saturating_add(Span::NANOSECOND));
        let findings = self.hosted.finish().finish(duration);
        let counts = |at: Option<usize>| at.map(|at| self.sources[at].counts.clone());
        let of_export = self.exports.iter().zip(&self.of_export).zip(&self.trimmed);
        let exports = of_export.map(|((export, &[reads, writes]), &trimmed)| ServedExport {
            export: export.clone(),
            reads: counts(reads),
            writes: counts(writes),
            trimmed,
        });
        ServedRun { exports: exports.collect(), findings, duration }
    }

    /// The plan of the run.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }
}
