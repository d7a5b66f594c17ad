//! The run itself.

mod bitmap;
mod card;
mod ending;
mod error;
mod lives;
mod placing;
mod queueing;
mod releasing;
mod tags;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};

use rtflash_model::{Instant, Span};

use super::device::{Attach, Handed, Target};
use super::foresight::Foresight;
use super::merge::CommandMerger;
use super::report::{JobReport, Latencies};
use super::scenario::Scenario;
use super::watch::{RunEvent, Watch};
use crate::{Command, Scheduler};

use card::Card;
pub use error::HostRunError;
use lives::JobLife;
pub use lives::until_over;
use placing::JobProgress;
use tags::Tags;

/// I/Os that may wait or be under way.
const MAX_PENDING: usize = 1 << 20;

/// What happens at a time that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EngineEvent {
    /// The job of this position releases an I/O.
    Release(usize),
    /// A completion causes an asking.
    Ask,
    /// The time of the job of this position is over.
    Over(usize),
}

/// An I/O under way.
#[derive(Debug, Clone, Copy)]
struct Io {
    job: usize,
    released: Instant,
    bytes: u64,
    /// Requests and pieces that have not ended.
    left: u64,
    /// Whether one of them has gone to the device.
    begun: bool,
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
    /// The I/O of each command that is queued or inside.
    io_of: HashMap<u64, u64>,
    next_command: u64,
    /// If requests are merged: those that others may be merged into, and the I/Os that commands
    /// have beside their own.
    merger: Option<CommandMerger>,
    merged: HashMap<u64, Vec<u64>>,
    tags: Tags,
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
    caused: VecDeque<usize>,
    latencies: Vec<Latencies>,
    /// I/Os of each job that ended behind their deadline.
    late: Vec<u64>,
}

/// Runs a scenario and returns the report of each job, in order. The result depends only on the
/// scenario and the seed.
///
/// # Errors
/// Where the jobs release so much more than the device does that it cannot be kept.
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
    let looks_inside = watch.looks_inside();
    let options = scenario.device.options(scenario.duration, seed);
    let mut engine = HostEngine {
        scenario,
        watch,
        seed,
        foresight: scheduler.looks_ahead().then(|| Foresight::new(scenario)),
        left: HashMap::new(),
        now: Instant::START,
        events: BinaryHeap::new(),
        progress: scenario.jobs.iter().map(JobProgress::new).collect(),
        lives: JobLife::all(&scenario.jobs),
        ios: BTreeMap::new(),
        next_io: 0,
        io_of: HashMap::new(),
        next_command: 0,
        // What is cut as it goes out is no longer what was merged.
        merger: (scenario.host.merge && !scheduler.looks_ahead())
            .then(|| CommandMerger::new(scenario.host.max_sectors)),
        merged: HashMap::new(),
        tags: Tags::new(scenario, scheduler.min_tag_limit(&scenario.host)),
        unseen: vec![Vec::new(); scenario.jobs.len()],
        device: scenario.device.target(&scenario.host, &scenario.jobs, &options, looks_inside),
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
    for (command, took) in engine.device.overdue(scenario.duration) {
        engine.watch.see(scenario.duration, &RunEvent::Late { command: &command, took });
    }
    if looks_inside {
        engine.look_inside(true);
    }
    Ok(engine.report())
}

impl<W: Watch> HostEngine<'_, W> {
    /// Whether a run without a duration is over.
    fn has_ended(&self) -> bool {
        self.scenario.duration == Instant::END && self.lives.iter().all(JobLife::is_over)
    }

    /// Whether more waits than can be kept.
    fn has_too_many(&self) -> bool {
        self.ios.len() > MAX_PENDING || self.io_of.len() + self.tags.submitted > 4 * MAX_PENDING
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
        }
        self.ended = ended;
        while let Some(&Reverse((at, event))) = self.events.peek()
            && at == self.now
        {
            self.events.pop();
            asks |= match event {
                EngineEvent::Release(job) => self.timed(job),
                EngineEvent::Ask => {
                    self.retry.take_if(|_| self.card.is_none());
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
        while let Some(job) = self.caused.pop_front() {
            self.foresee(|foresight| foresight.happens(job));
            let any = self.release(job);
            // A process submits together what it sees the ends of at one time.
            let more = self.scenario.jobs[job].is_async && self.caused.front() == Some(&job);
            if !more && (self.admit(false) || any) {
                self.ask();
            }
            self.leave(job);
        }
    }

    /// A command has ended, and `waited`: the device had no room before. Says whether that asks at
    /// once.
    fn runs_at_end(&mut self, waited: bool) -> bool {
        let turnaround = self.scenario.host.turnaround;
        let is_card = self.card.is_some();
        let runs = std::mem::replace(&mut self.restarts, waited) || self.asks_at_ends || is_card;
        let at_once = runs && turnaround == Span::ZERO;
        self.retry.take_if(|_| at_once && !is_card);
        if at_once {
            self.card_ended();
        }
        if runs && !at_once {
            self.events.push(Reverse((self.now.saturating_add(turnaround), EngineEvent::Ask)));
        }
        at_once
    }

    /// Tells what the flash has done; all of it when the run is over.
    fn look_inside(&mut self, over: bool) {
        let records = self.device.records(self.now, over);
        records.iter().for_each(|record| self.watch.inside(record));
    }

    /// A job releases its next I/O. Says whether it has one.
    fn release(&mut self, position: usize) -> bool {
        let Some(whole) = self.next_whole(position) else { return false };
        let io = self.next_io;
        self.next_io += 1;
        self.watch.see(self.now, &RunEvent::Released { io, job: position });
        self.foresee(|foresight| foresight.released(position));
        self.ios.insert(io, Io { job: position, released: self.now, bytes: whole.size, left: 0, begun: false });
        let requests = self.submit(io, whole);
        if let Some(io) = self.ios.get_mut(&io) {
            io.left = requests;
        }
        self.lives[position].live += 1;
        true
    }

    /// Asks until nothing comes, or there is no room.
    fn ask(&mut self) {
        if self.run_card(None) {
            return;
        }
        while self.device.has_room() {
            let Some(handed) = self.hand_over() else {
                if !self.asks_at_ends && self.queued > 0 {
                    // A delay that runs is kept (`blk_mq_delay_run_hw_queues`). The run at a
                    // completion has ended it (`blk_mq_sched_restart`), that at an arrival has not.
                    self.retry.get_or_insert(self.scenario.host.retry(self.now));
                }
                break;
            };
            self.device.take(handed, self.now);
        }
        self.restarts |= !self.device.has_room();
    }

    /// Asks once.
    fn hand_over(&mut self) -> Option<Handed> {
        if let Some(foresight) = &self.foresight {
            self.scheduler.foresee(foresight.earliest(self.now));
        }
        let command = self.scheduler.ask(self.now)?;
        let command = self.merger.as_mut().and_then(|merger| merger.take(command.id)).unwrap_or(command);
        let is_part = self.left.get_mut(&command.id).is_some_and(|(unhanded, _)| {
            *unhanded = unhanded.saturating_sub(command.size);
            *unhanded > 0
        });
        self.queued -= usize::from(!is_part);
        let seen = if is_part { RunEvent::PartHandedOver(&command) } else { RunEvent::HandedOver(&command) };
        self.watch.see(self.now, &seen);
        let mut is_first = false;
        for number in self.io_of.get(&command.id).into_iter().chain(self.merged.get(&command.id).into_iter().flatten())
        {
            let io = self.ios.get_mut(number);
            is_first |= io.is_none_or(|io| !std::mem::replace(&mut io.begun, true));
        }
        let queue = self.scheduler.queue(&command, self.device.unfetched());
        Some(Handed { command, is_first, queue })
    }

    fn report(self) -> Vec<JobReport> {
        let Scenario { jobs, duration, warmup, .. } = self.scenario;
        let each = jobs.iter().zip(self.latencies).zip(self.late).zip(&self.lives);
        let report = |(((job, latencies), late), life): (((&super::Job, Latencies), u64), &JobLife)| {
            let span = life.span(*warmup, *duration);
            let bytes_per_s = (life.bytes * 1_000_000_000).checked_div(span.as_ns().into()).unwrap_or(0);
            let (name, deadline, bytes) = (job.name.clone(), job.deadline, life.bytes);
            JobReport { name, latencies, bytes, bytes_per_s, span, open: 0, oldest: Span::ZERO, deadline, late }
        };
        let mut reports: Vec<JobReport> = each.map(report).collect();
        for io in self.ios.values() {
            let (report, age) = (&mut reports[io.job], duration.since(io.released));
            (report.open, report.oldest) = (report.open + 1, age.max(report.oldest));
            report.late += u64::from(jobs[io.job].is_late(age));
        }
        reports
    }
}
