//! The run itself.

mod ask;
mod bitmap;
mod card;
mod chains;
mod ending;
mod error;
mod flushes;
mod lives;
mod placing;
mod queueing;
mod releasing;
mod tags;
mod writeback;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};

use rtflash_model::{Instant, Span};

use super::chain::ChainStep;
use super::device::{Attach, Handed, Target};
use super::foresight::Foresight;
use super::merge::CommandMerger;
use super::report::{JobReport, Latencies, StepReport};
use super::scenario::Scenario;
use super::watch::{RunEvent, Watch};
use crate::{Command, Op, Scheduler};

use card::Card;
use chains::Chain;
pub use error::HostRunError;
use flushes::FlushQueue;
use lives::JobLife;
pub use lives::until_over;
use placing::JobProgress;
use queueing::Plugged;
use tags::Tags;
use writeback::PageCache;

/// I/Os that may wait or be under way.
const MAX_PENDING: usize = 1 << 20;

/// An event at a known time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EngineEvent {
    /// The job of this position releases an I/O.
    Release(usize),
    /// A chain of the job of this position goes on.
    Step { job: usize, chain: u64 },
    /// A completion causes an asking.
    Ask,
    /// The time of the job of this position is over.
    Over(usize),
    /// The data of a buffered write is in memory, to lie there on the device.
    Copied { io: u64, from: u64 },
    /// The flusher wakes up.
    Wake,
}

/// A release that a completion causes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CausedRelease {
    /// The job of this position releases an I/O, or begins a chain.
    Io(usize),
    /// A chain of the job of this position goes on.
    Step { job: usize, chain: u64 },
    /// The job of this position calls `fsync`.
    Sync(usize),
}

/// An I/O under way.
#[derive(Debug, Clone, Copy)]
struct Io {
    job: usize,
    released: Instant,
    op: Op,
    /// None of a flush.
    bytes: u64,
    /// Requests and pieces that have not ended.
    left: u64,
    /// Whether one of them has gone to the device.
    begun: bool,
    /// The chain that waits for it.
    chain: Option<u64>,
    /// Whether it is a write that ends when the medium has it, and its data has not ended.
    fua: bool,
    /// Whether it is an `fsync` whose data has not ended: a flush follows.
    flushes: bool,
}

impl Io {
    /// An I/O of a job that is released now.
    fn new(job: usize, released: Instant, whole: &Command) -> Io {
        let (op, bytes) = (whole.op, whole.size);
        Io { job, released, op, bytes, left: 0, begun: false, chain: None, fua: false, flushes: false }
    }
}

struct HostEngine<'a, W> {
    scenario: &'a Scenario,
    watch: &'a mut W,
    seed: u64,
    scheduler: Box<dyn Scheduler>,
    /// If the scheduler looks ahead: the state for its forecast, and the bytes of commands that
    /// have not been handed over, and that have not ended.
    foresight: Option<Foresight>,
    left: HashMap<u64, (u64, u64)>,
    now: Instant,
    events: BinaryHeap<Reverse<(Instant, EngineEvent)>>,
    progress: Vec<JobProgress>,
    lives: Vec<JobLife>,
    /// By number.
    ios: BTreeMap<u64, Io>,
    next_io: u64,
    /// By number.
    chains: BTreeMap<u64, Chain>,
    /// The I/O of each command that is queued or inside.
    io_of: HashMap<u64, u64>,
    next_command: u64,
    /// If requests are merged: those that others may be merged into, and the I/Os that commands
    /// have beside their own.
    merger: Option<CommandMerger>,
    merged: HashMap<u64, Vec<u64>>,
    tags: Tags,
    /// Requests and pieces in the plug of the process that runs.
    plug: Vec<Plugged>,
    /// By hardware queue, and flushes that were issued and wait for the device.
    flushes: Vec<FlushQueue>,
    due: VecDeque<Handed>,
    cache: PageCache,
    /// I/Os that have ended while their process waits for a tag, by job: it sees no ends.
    unseen: Vec<Vec<u64>>,
    device: Box<dyn Target + 'a>,
    /// Whether the end of each command asks. Elsewhere one asks if the driver was to be run again
    /// (`BLK_MQ_S_SCHED_RESTART`), and a queue that keeps all it has is asked after a time.
    asks_at_ends: bool,
    restarts: bool,
    retry: Option<Instant>,
    /// The driver, if it issues commands from lists.
    card: Option<Card>,
    /// Requests and pieces at the scheduler.
    queued: usize,
    // Kept for their memory.
    ended: Vec<Command>,
    caused: VecDeque<CausedRelease>,
    latencies: Vec<Latencies>,
    /// I/Os of each job that ended behind their deadline.
    late: Vec<u64>,
}

/// Runs a scenario and returns the report of each job, in order. The result depends only on the
/// scenario and the seed.
///
/// # Errors
/// If the jobs release so much more than the device does that it cannot be kept.
pub fn run(scenario: &Scenario, seed: u64) -> Result<Vec<JobReport>, HostRunError> {
    run_watched(scenario, seed, &mut ())
}

/// Runs a scenario as [`run`] does, and tells `watch` of everything.
///
/// # Errors
/// As [`run`].
pub fn run_watched(scenario: &Scenario, seed: u64, watch: &mut impl Watch) -> Result<Vec<JobReport>, HostRunError> {
    run_by(scenario, scenario.scheduler(), seed, watch)
}

/// Runs a scenario by a scheduler of the caller's in place of its own, as [`run_watched`] does.
///
/// # Errors
/// As [`run`].
pub fn run_by(
    scenario: &Scenario,
    scheduler: Box<dyn Scheduler>,
    seed: u64,
    watch: &mut impl Watch,
) -> Result<Vec<JobReport>, HostRunError> {
    let (looks_inside, ahead) = (watch.looks_inside(), scheduler.looks_ahead());
    let options = scenario.device.options(scenario.duration, seed);
    let device = scenario.device.target(&scenario.host, &scenario.jobs, &options, looks_inside);
    let mut engine = HostEngine {
        scenario,
        watch,
        seed,
        foresight: ahead.then(|| Foresight::new(scenario)),
        left: HashMap::new(),
        now: Instant::START,
        events: BinaryHeap::new(),
        progress: scenario.jobs.iter().map(JobProgress::new).collect(),
        lives: JobLife::all(&scenario.jobs),
        ios: BTreeMap::new(),
        next_io: 0,
        chains: BTreeMap::new(),
        io_of: HashMap::new(),
        next_command: 0,
        // A command that is cut as it goes out is not the one that was merged.
        merger: (scenario.host.merge && !ahead).then(|| CommandMerger::new(scenario.host.max_sectors)),
        merged: HashMap::new(),
        tags: Tags::new(scenario, scheduler.min_tag_limit(&scenario.host)),
        plug: Vec::new(),
        unseen: vec![Vec::new(); scenario.jobs.len()],
        flushes: (0..device.unfetched().len().max(1)).map(|_| FlushQueue::default()).collect(),
        due: VecDeque::new(),
        cache: PageCache::new(scenario),
        device,
        asks_at_ends: scenario.device.attach().asks_at_ends() || scheduler.kicks_queue(),
        restarts: false,
        retry: None,
        card: (scenario.device.attach() == Attach::Mmc).then(Card::default),
        queued: 0,
        ended: Vec::new(),
        caused: VecDeque::new(),
        scheduler,
        latencies: vec![Latencies::default(); scenario.jobs.len()],
        late: vec![0; scenario.jobs.len()],
    };
    engine.begin();
    while let Some(now) = engine.next_instant().filter(|&now| now <= scenario.duration && !engine.has_ended()) {
        engine.now = now;
        engine.instant();
        engine.device.settle(now);
        if looks_inside {
            engine.look_inside(false);
        }
        if engine.has_too_many() || engine.device.is_overloaded() {
            return Err(HostRunError::TooManyPending { at: now });
        }
    }
    engine.end(looks_inside);
    Ok(engine.report())
}

impl<W: Watch> HostEngine<'_, W> {
    fn end(&mut self, looks_inside: bool) {
        let duration = self.scenario.duration;
        for (command, took) in self.device.overdue(duration) {
            self.watch.see(duration, &RunEvent::Late { command: &command, took });
        }
        if looks_inside {
            self.look_inside(true);
        }
    }

    /// Whether a run without a duration is over.
    fn has_ended(&self) -> bool {
        self.scenario.duration == Instant::END
            && self.lives.iter().zip(&self.scenario.jobs).all(|(life, job)| life.is_over() || job.is_flusher())
    }

    /// Whether more waits than can be kept.
    fn has_too_many(&self) -> bool {
        self.ios.len().max(self.chains.len()).max(self.cache.stretches()) > MAX_PENDING
            || self.io_of.len() + self.tags.submitted > 4 * MAX_PENDING
    }

    fn next_instant(&self) -> Option<Instant> {
        let event = self.events.peek().map(|&Reverse((at, _))| at);
        // A scheduler that wants to be asked can be asked in vain while there is no room.
        let timer = self.scheduler.next().filter(|&at| self.device.has_room() && at > self.now);
        event.into_iter().chain(self.device.next()).chain(timer).chain(self.retry).min()
    }

    /// All that happens now.
    fn instant(&mut self) {
        let retries = self.retry.take_if(|at| *at == self.now).is_some();
        let mut asks = retries || self.scheduler.next() == Some(self.now);
        if asks {
            self.run_by_worker();
        }
        // A command that was out of the scheduler waited for a tag.
        let waited = !self.device.has_room();
        let mut ended = std::mem::take(&mut self.ended);
        self.device.advance(self.now, &mut ended);
        for (command, took) in self.device.late() {
            self.watch.see(self.now, &RunEvent::Late { command: &command, took });
        }
        if !ended.is_empty() {
            ended.drain(..).for_each(|command| self.complete(&command));
            asks |= self.runs_at_end(waited);
            // A worker issues a flush at once (`blk_mq_kick_requeue_list` of block/blk-mq.c).
            asks |= !self.due.is_empty();
        }
        self.ended = ended;
        while let Some(&Reverse((at, event))) = self.events.peek()
            && at == self.now
        {
            self.events.pop();
            asks |= match event {
                EngineEvent::Release(job) => self.timed(job) && !self.scenario.jobs[job].is_in_memory(),
                EngineEvent::Copied { io, from } => self.copied(io, from),
                EngineEvent::Wake => self.wake_flusher(),
                EngineEvent::Step { job, chain } => {
                    self.foresee(|foresight| foresight.happens(job));
                    self.go_on(chain)
                }
                EngineEvent::Ask => {
                    self.drop_retry(!self.device.has_room());
                    self.card_ended();
                    true
                }
                EngineEvent::Over(job) => {
                    self.over(job);
                    false
                }
            };
        }
        self.admit(false);
        if asks {
            self.ask();
        }
        // A process that waits for a tag wakes up behind the completion that frees one, which asks.
        if self.admit(true) {
            self.ask();
        }
        self.cause();
    }

    /// Releases that completions cause at once, each of which asks.
    fn cause(&mut self) {
        while let Some(caused) = self.caused.pop_front() {
            let (CausedRelease::Io(job) | CausedRelease::Step { job, .. } | CausedRelease::Sync(job)) = caused;
            self.foresee(|foresight| foresight.happens(job));
            let any = match caused {
                CausedRelease::Io(job) => self.release(job) && !self.scenario.jobs[job].is_in_memory(),
                CausedRelease::Sync(job) => self.sync_file(job),
                CausedRelease::Step { chain, .. } => self.go_on(chain),
            };
            // A process submits together what it sees the ends of at one time.
            let more = self.scenario.jobs[job].is_async && self.caused.front() == Some(&caused);
            if !more && (self.admit(false) || any) {
                self.ask();
            }
            if let CausedRelease::Io(job) = caused {
                self.leave(job);
            }
        }
    }

    /// A command has ended, and `waited`: the device had no room before. Says whether that asks at
    /// once.
    fn runs_at_end(&mut self, waited: bool) -> bool {
        let turnaround = self.scenario.host.turnaround;
        let runs = std::mem::replace(&mut self.restarts, waited) || self.asks_at_ends || self.card.is_some();
        let at_once = runs && turnaround == Span::ZERO;
        if at_once {
            self.drop_retry(waited);
            self.card_ended();
        }
        if runs && !at_once {
            self.events.push(Reverse((self.now.saturating_add(turnaround), EngineEvent::Ask)));
        }
        at_once
    }

    /// A completion runs the queue, which ends a delay. It does so only if something waits there
    /// (`blk_mq_run_hw_queue` of block/blk-mq.c): at the scheduler, or `waited` for a tag.
    fn drop_retry(&mut self, waited: bool) {
        let runs = self.card.is_none() && (waited || self.queued > 0);
        self.retry.take_if(|_| runs);
    }

    /// Tells what the flash has done; all of it when the run is over.
    fn look_inside(&mut self, over: bool) {
        let records = self.device.records(self.now, over);
        records.iter().for_each(|record| self.watch.inside(record));
    }

    fn report(self) -> Vec<JobReport> {
        let Scenario { jobs, duration, warmup, .. } = self.scenario;
        let report = |((job, latencies), life): ((&super::Job, Latencies), &JobLife)| {
            let span = life.span(*warmup, *duration);
            // A job that begins with the end has no rate.
            let per_s =
                |bytes: u128| if span == Span::ZERO { 0 } else { bytes * 1_000_000_000 / u128::from(span.as_ns()) };
            let (bytes_per_s, moved_per_s) = (per_s(life.bytes), per_s(life.moved));
            let (name, deadline, bytes) = (job.name.clone(), job.deadline, life.bytes);
            let (open, oldest, late) = (0, Span::ZERO, 0);
            let ops = job.steps.iter().map(ChainStep::name).chain(job.fsync.map(|_| "flush"));
            let steps = ops.zip(&life.steps).map(|(op, of)| StepReport { op, latencies: of.clone() }).collect();
            JobReport { name, latencies, bytes, bytes_per_s, moved_per_s, span, open, oldest, deadline, late, steps }
        };
        let mut reports: Vec<JobReport> = jobs.iter().zip(self.latencies).zip(&self.lives).map(report).collect();
        reports.iter_mut().zip(self.late).for_each(|(report, late)| report.late = late);
        let ios = self.ios.values().filter(|io| io.chain.is_none() && io.bytes > 0).map(|io| (io.job, io.released));
        for (job, released) in ios.chain(self.chains.values().map(|chain| (chain.job, chain.begun))) {
            let (report, age) = (&mut reports[job], duration.since(released));
            (report.open, report.oldest) = (report.open + 1, age.max(report.oldest));
            report.late += u64::from(jobs[job].is_late(age));
        }
        reports
    }
}
