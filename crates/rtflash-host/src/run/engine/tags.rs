//! Processes that submit requests and wait for tags, as in block/blk-mq-tag.c and lib/sbitmap.c
//! (6.12.117).
//!
//! A process submits one request after the other (`blk_mq_submit_bio`). If there is no tag it runs
//! the queue and searches again. Then it waits in one of eight lines, which take turns in both
//! directions. Each wait is in the next line. Each tag that is given back wakes the first process
//! of the next line that has one. That process runs the queue, too, before it searches. If it finds
//! no tag after all, it waits at the end of another line (`blk_mq_get_tag`).
//!
//! Requests that a process submits together stay in its plug until that is full
//! (`blk_add_rq_to_plug` of block/blk-mq.c). Up to two I/Os of an asynchronous job share no plug
//! (`AIO_PLUG_THRESHOLD` of fs/aio.c, `io_submit_state_start` of io_uring/io_uring.c).

use std::collections::{HashMap, HashSet, VecDeque};

use super::bitmap::Bitmap;
use crate::Command;
use crate::run::device::Attach;
use crate::run::scenario::Scenario;

/// Lines of waiting processes (`SBQ_WAIT_QUEUES`).
const LINES: usize = 8;
/// Tags that are given back before a process wakes up, at most (`SBQ_WAKE_BATCH`).
const BATCH: u32 = 8;
/// Requests of a plug, and bytes of its first one, from which on it is full
/// (`BLK_MAX_REQUEST_COUNT`, `BLK_PLUG_FLUSH_SIZE`). The bytes count where requests are merged.
const PLUG: u32 = 32;
const PLUG_BYTES: u64 = 128 << 10;
/// I/Os that an asynchronous job submits one by one, at most.
const ALONE: u64 = 2;

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

impl Submitted {
    /// Its last I/O.
    fn io(&self) -> u64 {
        self.ios.last().expect("invariant: a request is a part of an I/O").0
    }
}

/// A process with all that it has to submit.
#[derive(Debug)]
struct Process {
    submitter: Submitter,
    /// See [`crate::Scheduler::tag_limit`].
    limit: Option<u32>,
    requests: VecDeque<Submitted>,
    /// I/Os that it was given, and whether they all share a plug.
    ios: u64,
    is_buffered: bool,
    /// Requests in its plug; the bytes of the first one, and the I/O of the last one.
    plugged: u32,
    first: u64,
    last: u64,
    /// The tags of the first request, which waits for the end of a plug.
    granted: Option<Vec<u32>>,
    /// Whether the first request was tried to be merged.
    is_tried: bool,
    /// The line in which it waits next, if it found no tag or was woken.
    line: Option<usize>,
    /// Whether it is to run the queue before it searches for a tag.
    runs: bool,
}

impl Process {
    /// Whether it submits all that it has together.
    fn is_together(&self) -> bool {
        self.is_buffered || self.ios > ALONE
    }

    /// Whether its plug ends in front of a request of this I/O.
    fn ends_plug(&self, io: u64) -> bool {
        self.plugged > 0 && !self.is_together() && self.last != io
    }
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
    /// Processes that run the queue, as their plug is full or they find no tag.
    runners: Vec<Process>,
    is_merging: bool,
    /// Whether a process that finds no tag runs the queue, and so can wait in the driver. Elsewhere
    /// the queue has run at the end of the instant before, and nothing has come since.
    runs_first: bool,
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
        let bitmap = Bitmap::new(tags, scenario.tags_of_word(), &scenario.host);
        let runs_first = scenario.device.attach() == Attach::Mmc;
        Tags { bitmap, batch, is_merging: scenario.host.merge, runs_first, ..Tags::default() }
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

    /// A process has one more request to submit. With `is_buffered` it writes back.
    pub(super) fn submit(&mut self, submitter: Submitter, limit: Option<u32>, is_buffered: bool, request: Submitted) {
        let own = |process: &&mut Process| process.submitter == submitter;
        let known = match submitter {
            Submitter::Io(_) => self.running.back_mut().filter(own),
            Submitter::Job(job) if self.jobs.contains(&job) => {
                self.woken.iter_mut().chain(self.lines.iter_mut().flatten()).find(own)
            }
            Submitter::Job(_) => self.running.iter_mut().chain(&mut self.runners).find(own),
        };
        self.submitted += 1;
        let Some(process) = known else {
            self.running.push_back(Process {
                submitter,
                limit,
                requests: [request].into(),
                ios: 1,
                is_buffered,
                plugged: 0,
                first: 0,
                last: 0,
                granted: None,
                is_tried: false,
                line: None,
                runs: false,
            });
            return;
        };
        let is_part = process.requests.back().is_some_and(|last| last.io() == request.io());
        process.ios += u64::from(!is_part);
        process.requests.push_back(request);
    }

    /// The first requests of the process that runs are merged in its plug (`blk_attempt_plug_merge`
    /// of block/blk-merge.c). `merges` puts one into the one before, and says whether it has.
    pub(super) fn merge_in_plug(&mut self, merges: impl Fn(&mut Submitted, &Submitted) -> bool) {
        let Some(process) = self.running.front_mut() else { return };
        if process.is_tried || !process.is_together() || matches!(process.submitter, Submitter::Io(_)) {
            return;
        }
        while let Some(mut first) = process.requests.pop_front() {
            let fits = process.requests.front().is_some_and(|next| merges(&mut first, next));
            if !fits {
                process.requests.push_front(first);
                return;
            }
            self.submitted -= 1;
            process.requests[0] = first;
        }
    }

    fn next_line(&mut self) -> usize {
        let line = self.next_wait;
        self.next_wait = (self.next_wait + 1) % LINES;
        line
    }

    /// Whether a process was woken and has not run.
    pub(super) fn has_woken(&self) -> bool {
        !self.woken.is_empty()
    }

    /// Whether a process has something to submit and does not wait.
    pub(super) fn has_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// The first process that was woken goes on.
    pub(super) fn run_woken(&mut self) {
        let Some(process) = self.woken.pop_front() else { return };
        self.waiting -= 1;
        if let Submitter::Job(job) = process.submitter {
            self.jobs.remove(&job);
        }
        let line = Some(self.next_line());
        self.running.push_back(Process { line, runs: true, ..process });
    }

    /// A process has run the queue and goes on, if it has more to submit. Says whether it does.
    pub(super) fn resume(&mut self, submitter: Submitter) -> bool {
        let Some(at) = self.runners.iter().position(|process| process.submitter == submitter) else { return false };
        self.running.push_front(self.runners.remove(at));
        true
    }

    /// The plug of a process that runs the queue is empty.
    pub(super) fn empty_plug(&mut self, submitter: Submitter) {
        let own = self.runners.iter_mut().filter(|process| process.submitter == submitter);
        own.for_each(|process| process.plugged = 0);
    }

    /// The next step of the processes that run. A request that `merges` takes needs no tag.
    pub(super) fn next(&mut self, merges: impl FnOnce(&Submitted) -> bool) -> Option<Step> {
        let mut process = self.running.pop_front()?;
        let submitter = process.submitter;
        let Some(request) = process.requests.front() else { return Some(Step::Done(submitter)) };
        let (io, bytes) = (request.io(), request.command.size);
        if process.ends_plug(io) {
            return Some(self.end_plug(process));
        }
        if !std::mem::replace(&mut process.is_tried, true) && merges(request) {
            self.submitted -= 1;
            process.requests.pop_front();
            process.is_tried = false;
            self.running.push_front(process);
            return Some(Step::GoesOn);
        }
        if std::mem::take(&mut process.runs) {
            self.runners.push(process);
            return Some(Step::Runs(submitter));
        }
        let (cpu, number) = (request.command.cpu, request.tags);
        let Some(tags) = process.granted.take().or_else(|| self.take(cpu, process.limit, number)) else {
            return Some(self.finds_none(process));
        };
        if process.plugged >= PLUG || process.plugged > 0 && self.is_merging && process.first >= PLUG_BYTES {
            process.granted = Some(tags);
            return Some(self.end_plug(process));
        }
        let request = process.requests.pop_front().expect("invariant: it was the first");
        self.submitted -= 1;
        (process.is_tried, process.line) = (false, None);
        if process.plugged == 0 {
            process.first = bytes;
        }
        (process.plugged, process.last) = (process.plugged + 1, io);
        self.running.push_front(process);
        Some(Step::Admitted(request, tags))
    }

    fn end_plug(&mut self, mut process: Process) -> Step {
        process.plugged = 0;
        let submitter = process.submitter;
        self.runners.push(process);
        Step::Plug(submitter)
    }

    /// A process finds no tag: it runs the queue, and waits if it has done so.
    fn finds_none(&mut self, mut process: Process) -> Step {
        let submitter = process.submitter;
        let searched = process.line.take();
        let line = searched.unwrap_or_else(|| self.next_line());
        if searched.is_none() && self.runs_first {
            process.line = Some(line);
            self.runners.push(process);
            return Step::Runs(submitter);
        }
        self.waiting += 1;
        if let Submitter::Job(job) = submitter {
            self.jobs.insert(job);
        }
        // The plug of a process that sleeps is empty (`blk_mq_flush_plug_list`).
        process.plugged = 0;
        self.lines[line].push_back(process);
        Step::Waits
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
    /// It runs the queue for what is in its plug, and then goes on.
    Plug(Submitter),
    /// It runs the queue, without what is in its plug, and then searches for a tag.
    Runs(Submitter),
    /// It waits for a tag.
    Waits,
    /// It has submitted all that it had.
    Done(Submitter),
    /// A request was merged.
    GoesOn,
}
