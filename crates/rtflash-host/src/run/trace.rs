//! A run as a trace for Perfetto and chrome://tracing: I/Os and chains from release to end,
//! requests at the scheduler and in the device, and the lengths of both queues.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rtflash_model::{Instant, Span};
use rtflash_trace::{TraceEvents, quoted};

use super::scenario::Scenario;
use super::watch::{RunEvent, Watch};
use crate::Command;

/// Numbers of processes. Zero is the idle process of an operating system.
const JOBS: u64 = 1;
const SCHEDULER: u64 = 2;
const DEVICE: u64 = 3;

/// The place of a command.
#[derive(Debug, Clone, Copy)]
struct Under {
    command: Command,
    /// In the device, or still at the scheduler.
    is_inside: bool,
}

/// Writes a run as a trace, as it goes: only what is under way is kept in memory.
///
/// Each event is one call of `write_all`, so a file wants a [`BufWriter`](std::io::BufWriter)
/// around it.
#[derive(Debug)]
pub struct QueueTrace<W: Write> {
    events: TraceEvents<W>,
    /// The names of the jobs, as JSON.
    names: Vec<String>,
    /// I/Os by number: whose they are, and when they were released.
    ios: BTreeMap<u64, (usize, Instant)>,
    /// Chains under way by number: whose they are.
    chains: BTreeMap<u64, usize>,
    /// Commands by their id.
    commands: BTreeMap<u64, Under>,
    /// Commands at the scheduler, and those inside: as they are, and as they were written.
    lengths: [u64; 2],
    written: [Option<u64>; 2],
    now: Instant,
    /// The first that could not be written.
    wrong: io::Result<()>,
}

impl<W: Write> QueueTrace<W> {
    /// The beginning of a trace of this scenario: the names of all tracks.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn new(scenario: &Scenario, out: W) -> io::Result<QueueTrace<W>> {
        let mut events = TraceEvents::new(out)?;
        events.process(JOBS, "jobs", JOBS)?;
        for (job, number) in scenario.jobs.iter().zip(0..) {
            events.track(JOBS, thread(JOBS, number), &job.name)?;
        }
        events.process(SCHEDULER, scenario.scheduler.name(), SCHEDULER)?;
        for (job, number) in scenario.jobs.iter().zip(0..) {
            events.track(SCHEDULER, thread(SCHEDULER, number), &job.name)?;
        }
        events.process(DEVICE, "device", DEVICE)?;
        events.track(DEVICE, thread(DEVICE, 0), "commands")?;
        Ok(QueueTrace {
            events,
            names: scenario.jobs.iter().map(|job| quoted(&job.name)).collect(),
            ios: BTreeMap::new(),
            chains: BTreeMap::new(),
            commands: BTreeMap::new(),
            lengths: [0; 2],
            written: [None; 2],
            now: Instant::START,
            wrong: Ok(()),
        })
    }

    /// Ends what is under way at `duration`, closes the JSON, flushes the writer and gives it back.
    ///
    /// # Errors
    /// Those of the writer, at whatever time.
    pub fn finish(mut self, duration: Instant) -> io::Result<W> {
        self.wrong?;
        self.wrong = Ok(());
        self.counters()?;
        self.now = duration;
        for (_, Under { command, is_inside }) in std::mem::take(&mut self.commands) {
            self.command("e", &command, is_inside);
            self.events.line().text(",\"args\":{\"pending\":true}");
            self.events.end()?;
        }
        let ios = std::mem::take(&mut self.ios).into_iter().map(|(io, (job, _))| ("io", io, job));
        let chains = std::mem::take(&mut self.chains).into_iter().map(|(chain, job)| ("chain", chain, job));
        for (cat, number, job) in ios.chain(chains) {
            self.slice("e", cat, number, job);
            self.events.line().text(",\"args\":{\"pending\":true}");
            self.events.end()?;
        }
        self.events.finish()
    }

    fn write(&mut self, now: Instant, what: &RunEvent<'_>) -> io::Result<()> {
        if now > self.now {
            self.counters()?;
            self.now = now;
        }
        match *what {
            RunEvent::Released { io, job, .. } => {
                self.ios.insert(io, (job, now));
                self.slice("b", "io", io, job);
                self.events.line().text(",\"args\":{\"io\":").number(io).text("}");
                self.events.end()
            }
            RunEvent::Finished { io, job, released } => {
                self.ios.remove(&io);
                self.ended("io", io, job, now.since(released))
            }
            RunEvent::Queued { io, command } => {
                self.commands.insert(command.id, Under { command: *command, is_inside: false });
                self.lengths[0] += 1;
                self.command("b", command, false);
                self.events.line().text(",\"args\":{\"io\":").number(io);
                self.content(command)
            }
            RunEvent::Merged { io, command, into } => {
                let tid = thread(SCHEDULER, command.job.into());
                self.events.begin("i", SCHEDULER, tid, now).text(",\"s\":\"t\",\"cat\":\"merged\",\"name\":\"merged\"");
                self.events.line().text(",\"args\":{\"into\":").number(into.id).text(",\"io\":").number(io);
                self.content(command)
            }
            RunEvent::HandedOver(command) => {
                if let Some(before) = self.commands.insert(command.id, Under { command: *command, is_inside: true }) {
                    self.lengths[0] = self.lengths[0].saturating_sub(1);
                    self.command("e", &before.command, false);
                    self.events.end()?;
                }
                self.goes_in(command)
            }
            RunEvent::PartHandedOver(command) => self.goes_in(command),
            RunEvent::ChainBegun { chain, job } => {
                self.chains.insert(chain, job);
                self.slice("b", "chain", chain, job);
                self.events.end()
            }
            RunEvent::ChainEnded { chain, job, begun } => {
                self.chains.remove(&chain);
                self.ended("chain", chain, job, now.since(begun))
            }
            RunEvent::Late { .. } => Ok(()),
            RunEvent::Ended(command) => {
                // A part may end while the rest is queued.
                if self.commands.get(&command.id).is_some_and(|under| under.is_inside) {
                    self.commands.remove(&command.id);
                }
                self.lengths[1] = self.lengths[1].saturating_sub(1);
                self.command("e", command, true);
                self.events.end()
            }
        }
    }

    /// A command, or a part of one, is in the device from now on.
    fn goes_in(&mut self, command: &Command) -> io::Result<()> {
        self.lengths[1] += 1;
        self.command("b", command, true);
        let job = self.names.get(command.job as usize).map_or("null", |name| name);
        self.events.line().text(",\"args\":{\"job\":").text(job);
        self.content(command)
    }

    /// The lengths of the queues, as they were at the end of an instant, where they have changed.
    fn counters(&mut self) -> io::Result<()> {
        for (at, (pid, name)) in [(SCHEDULER, "waiting"), (DEVICE, "inside")].into_iter().enumerate() {
            if self.written[at] != Some(self.lengths[at]) {
                self.written[at] = Some(self.lengths[at]);
                self.events.begin("C", pid, thread(pid, 0), self.now).text(",\"name\":\"").text(name);
                self.events.line().text("\",\"args\":{\"requests\":").number(self.lengths[at]).text("}");
                self.events.end()?;
            }
        }
        Ok(())
    }

    /// The begin or the end of an I/O or a chain (`cat`). Viewers put asynchronous events of one
    /// name on one track: that of the job.
    fn slice(&mut self, phase: &str, cat: &str, number: u64, job: usize) {
        let thread = thread(JOBS, job as u64);
        self.events.begin(phase, JOBS, thread, self.now).text(",\"cat\":\"").text(cat).text("\",\"id\":\"").text(cat);
        let name = self.names.get(job).map_or("null", |name| name);
        self.events.line().number(number).text("\",\"name\":").text(name);
    }

    /// The end of an I/O or a chain.
    fn ended(&mut self, cat: &str, number: u64, job: usize, latency: Span) -> io::Result<()> {
        self.slice("e", cat, number, job);
        self.events.line().text(",\"args\":{\"latency_ns\":").number(latency.as_ns()).text("}");
        self.events.end()
    }

    /// The begin or the end of a command's time at the scheduler, or in the device.
    fn command(&mut self, phase: &str, command: &Command, is_inside: bool) {
        let job = u64::from(command.job);
        let (pid, tid, cat) = if is_inside {
            (DEVICE, thread(DEVICE, 0), "device")
        } else {
            (SCHEDULER, thread(SCHEDULER, job), "queued")
        };
        let name =
            if is_inside { "\"commands\"" } else { self.names.get(command.job as usize).map_or("null", |name| name) };
        self.events.begin(phase, pid, tid, self.now).text(",\"cat\":\"").text(cat).text("\",\"id\":\"").text(cat);
        self.events.line().number(command.id).text("\",\"name\":").text(name);
    }

    /// Writes the operation into the arguments that have been begun.
    fn content(&mut self, command: &Command) -> io::Result<()> {
        self.events.line().text(",\"command\":").number(command.id).text(",\"op\":\"").text(if command.is_flush() {
            "flush"
        } else {
            command.op.name()
        });
        self.events.line().text("\",\"from\":").number(command.from).text(",\"size\":").number(command.size);
        self.events.line().text(",\"class\":\"").text(command.class.name()).text("\",\"level\":");
        self.events.line().number(command.level.into()).text("}");
        self.events.end()
    }
}

/// The number of a thread: viewers take equal ones of two processes for one.
fn thread(pid: u64, number: u64) -> u64 {
    10 + 3 * number + pid - JOBS
}

impl<W: Write> Watch for QueueTrace<W> {
    fn see(&mut self, now: Instant, what: &RunEvent<'_>) {
        if self.wrong.is_ok() {
            self.wrong = self.write(now, what);
        }
    }
}
