//! Processes that submit requests and wait for tags, as in block/blk-mq-tag.c and lib/sbitmap.c
//! (6.12.117).
//!
//! A process submits one request after the other (`blk_mq_submit_bio`). If there is no tag it waits
//! in one of eight lines, which take turns in both directions. Each wait is in the next line. Each
//! tag that is given back wakes the first process of the next line that has one. A process that
//! finds no tag after all waits at the end of another line (`blk_mq_get_tag`).

use std::collections::{HashMap, HashSet, VecDeque};

use super::bitmap::Bitmap;
use crate::Command;
use crate::run::scenario::Scenario;

/// Lines of waiting processes (`SBQ_WAIT_QUEUES`).
const LINES: usize = 8;
/// Tags that are given back before a process wakes up, at most (`SBQ_WAKE_BATCH`).
const BATCH: u32 = 8;

/// A process that submits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Submitter {
    /// One for the I/O of this number.
    Io(u64),
    /// One for all I/Os of the job of this position.
    Job(usize),
}

/// A request on its way to the scheduler.
#[derive(Debug, Clone)]
pub(super) struct Submitted {
    /// The request in one piece.
    pub(super) command: Command,
    /// Tags that it takes.
    pub(super) tags: u64,
    /// I/Os that it is a part of, with where their parts end.
    pub(super) ios: Vec<(u64, u64)>,
}

/// A process with all that it has to submit.
#[derive(Debug)]
struct Process {
    submitter: Submitter,
    /// See [`crate::Scheduler::tag_limit`].
    limit: Option<u32>,
    requests: VecDeque<Submitted>,
    /// Whether the first request was tried to be merged.
    is_tried: bool,
    /// The line in which it waits next, if it was woken.
    line: Option<usize>,
}

/// Tags that are free, and processes that wait for one.
#[derive(Debug, Default)]
pub(super) struct Tags {
    bitmap: Bitmap,
    /// Tags by the command that holds them.
    held: HashMap<u64, u32>,
    lines: [VecDeque<Process>; LINES],
    /// Processes that run, the first one first, and those that were woken and have not run.
    running: VecDeque<Process>,
    woken: VecDeque<Process>,
    /// Processes in a line, or woken, and those of jobs among them.
    waiting: u64,
    jobs: HashSet<usize>,
    /// The line of the next wait (`wait_index`), and of the next to wake up (`wake_index`).
    next_wait: usize,
    next_wake: usize,
    /// Tags that were given back since the last waking, and those that a waking takes.
    given_back: u32,
    batch: u32,
    /// Requests on their way.
    pub(super) submitted: usize,
}

impl Tags {
    /// All of a scenario's tags, which are free. The least limit that the kernel knows is `least`.
    pub(super) fn new(scenario: &Scenario, least: Option<u32>) -> Tags {
        let tags = scenario.tags();
        // The kernel does so in `sbq_calc_wake_batch`.
        let batch = (tags.min(least.unwrap_or(tags)) / BATCH).clamp(1, BATCH);
        Tags { bitmap: Bitmap::new(tags, scenario.tags_of_word(), &scenario.host), batch, ..Tags::default() }
    }

    /// The end of a command gives its tag back (`sbitmap_queue_clear`).
    pub(super) fn give_back(&mut self, command: &Command) {
        let tag = self.held.remove(&command.id).expect("invariant: each command at the scheduler holds a tag");
        self.bitmap.clear(command.cpu, tag);
        if self.waiting == 0 {
            return;
        }
        self.given_back += 1;
        if self.given_back >= self.batch {
            self.given_back -= self.batch;
            self.wake();
        }
    }

    /// Wakes as many processes as tags were given back (`__sbitmap_queue_wake_up`).
    fn wake(&mut self) {
        let mut left = self.batch;
        for _ in 0..LINES {
            let line = &mut self.lines[self.next_wake];
            self.next_wake = (self.next_wake + 1) % LINES;
            while left > 0
                && let Some(process) = line.pop_front()
            {
                self.woken.push_back(process);
                left -= 1;
            }
            if left == 0 {
                return;
            }
        }
    }

    /// Whether the process of a job waits.
    pub(super) fn is_waiting(&self, job: usize) -> bool {
        self.jobs.contains(&job)
    }

    /// A process has one more request to submit. `merges` puts it into the one before, of the same
    /// process (`blk_attempt_plug_merge`); says whether it has.
    pub(super) fn submit(
        &mut self,
        submitter: Submitter,
        limit: Option<u32>,
        request: Submitted,
        merges: impl FnOnce(&mut Submitted, &Submitted) -> bool,
    ) {
        let own = |process: &&mut Process| process.submitter == submitter;
        let known = match submitter {
            Submitter::Io(_) => self.running.back_mut().filter(own),
            Submitter::Job(job) if self.jobs.contains(&job) => {
                self.woken.iter_mut().chain(self.lines.iter_mut().flatten()).find(own)
            }
            Submitter::Job(_) => self.running.iter_mut().find(own),
        };
        let Some(process) = known else {
            let requests = [request].into();
            self.submitted += 1;
            self.running.push_back(Process { submitter, limit, requests, is_tried: false, line: None });
            return;
        };
        if !process.requests.back_mut().is_some_and(|last| merges(last, &request)) {
            process.requests.push_back(request);
            self.submitted += 1;
        }
    }

    fn next_line(&mut self) -> usize {
        let line = self.next_wait;
        self.next_wait = (self.next_wait + 1) % LINES;
        line
    }

    /// A process that was woken runs. Says whether there is one.
    pub(super) fn run_woken(&mut self) -> bool {
        let Some(process) = self.woken.pop_front() else { return false };
        self.waiting -= 1;
        if let Submitter::Job(job) = process.submitter {
            self.jobs.remove(&job);
        }
        let line = Some(self.next_line());
        self.running.push_back(Process { line, ..process });
        true
    }

    /// The next step of the processes that run. A request that `merges` takes needs no tag.
    pub(super) fn next(&mut self, mut merges: impl FnMut(&Submitted) -> bool) -> Option<Step> {
        loop {
            let mut process = self.running.pop_front()?;
            let Some(request) = process.requests.front() else {
                return Some(Step::Done(process.submitter));
            };
            if !std::mem::replace(&mut process.is_tried, true) && merges(request) {
                self.submitted -= 1;
                process.requests.pop_front();
                process.is_tried = false;
                self.running.push_front(process);
                continue;
            }
            if let Some(tags) = self.take(request.command.cpu, process.limit, request.tags) {
                let request = process.requests.pop_front().expect("invariant: it was the first");
                self.submitted -= 1;
                (process.is_tried, process.line) = (false, None);
                self.running.push_front(process);
                return Some(Step::Admitted(request, tags));
            }
            let line = process.line.take().unwrap_or_else(|| self.next_line());
            self.waiting += 1;
            if let Submitter::Job(job) = process.submitter {
                self.jobs.insert(job);
            }
            self.lines[line].push_back(process);
        }
    }

    /// Takes `number` tags, or none.
    fn take(&mut self, cpu: u32, limit: Option<u32>, number: u64) -> Option<Vec<u32>> {
        let mut taken = Vec::new();
        while (taken.len() as u64) < number {
            let Some(tag) = self.bitmap.take(cpu, limit) else {
                taken.into_iter().for_each(|tag| self.bitmap.clear(cpu, tag));
                return None;
            };
            taken.push(tag);
        }
        Some(taken)
    }

    /// A command holds a tag.
    pub(super) fn hold(&mut self, command: u64, tag: u32) {
        self.held.insert(command, tag);
    }
}

/// A step of a process.
#[derive(Debug)]
pub(super) enum Step {
    /// A request has its tags, one for each piece.
    Admitted(Submitted, Vec<u32>),
    /// It has submitted all that it had.
    Done(Submitter),
}
