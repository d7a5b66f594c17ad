//! Traces for Perfetto and chrome://tracing, in the JSON Array Format of trace events.
//!
//! Three groups of tracks: the jobs of each source from release to completion, the chips of each
//! cluster, the buses; and counters beside them.
//!
//! **Colours.** Perfetto colours a slice by a hash of its name, less the digits in it. It ignores
//! `cname` on purpose (google/perfetto, issues 208, 620 and 624; `getColorForSlice` in its
//! `colorizer.ts`), and categories have no colours. So what is to have one colour has one name: on
//! chips and buses the names are those of operations, and whose they are is an argument.
//! chrome://tracing takes `cname`.

mod counters;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, Write};

use rtflash_model::{ChipId, ClusterId, Instant, PerId};

use rtflash_plan::{ChannelId, Plan, Promise, SourceId};
use rtflash_trace::{
    Action, Complete, Failed, JobId, JobNames, Kind, NONE, Operation, Record, Release, Starved, TraceEvents, Transfer,
};

use self::counters::Counters;

/// Writes records as a trace to open in Perfetto, as they come, in the order of a trace. Only
/// pending jobs and what is counted are kept in memory.
///
/// Each event is one call of `write_all`, so a file wants a [`BufWriter`](std::io::BufWriter)
/// around it. Without [`finish`](Perfetto::finish) the JSON is not closed.
#[derive(Debug)]
pub struct Perfetto<W: Write> {
    events: TraceEvents<W>,
    names: JobNames,
    pending: BTreeMap<JobId, Release>,
    tracks: Tracks,
    /// When the last operation on each chip's first track ends. With two page registers the next
    /// one may begin before that, and is on a second track.
    ends: PerId<ChipId, Instant>,
    counters: Counters,
}

/// The numbers of processes and threads. Zero is the idle process of an operating system, and
/// thread numbers are not used twice, because viewers take both for what they are in Linux.
#[derive(Debug, Clone, Copy)]
struct Tracks {
    chips: u64,
    channels: u64,
    sources: u64,
}

impl Tracks {
    const JOBS: u64 = 1;
    const BUSES: u64 = 2;

    fn cluster(cluster: ClusterId) -> u64 {
        3 + u64::from(cluster)
    }
    fn chip(chip: ChipId) -> u64 {
        1 + u64::from(chip)
    }
    fn bus(self, channel: ChannelId) -> u64 {
        1 + self.chips + u64::from(channel)
    }
    fn source(self, source: SourceId) -> u64 {
        1 + self.chips + self.channels + u64::from(source)
    }
    fn beside(self, chip: ChipId) -> u64 {
        1 + self.chips + self.channels + self.sources + u64::from(chip)
    }
}

impl<W: Write> Perfetto<W> {
    /// The beginning of a trace of this plan: the names of all tracks.
    pub fn new(plan: &Plan, out: W) -> io::Result<Perfetto<W>> {
        let mut events = TraceEvents::new(out)?;
        let (chips, channels) = (plan.device().chips(), plan.device().channels());
        let tracks = Tracks { chips: chips.into(), channels: channels.into(), sources: plan.sources().len() as u64 };
        events.process(Tracks::JOBS, "jobs", Tracks::JOBS)?;
        for (number, source) in plan.sources().enumerate() {
            events.track(Tracks::JOBS, tracks.source(number), &source.name)?;
        }
        let is_cached = |number: ClusterId| match plan.promise() {
            Promise::Utilization => false,
            Promise::Certified(certified) => certified[number].is_cached(),
        };
        for (number, cluster) in plan.clusters().enumerate() {
            let pid = Tracks::cluster(number);
            events.process(pid, &format!("cluster {number}"), pid)?;
            for &chip in &cluster.chips {
                events.track(pid, Tracks::chip(chip), &format!("chip {chip}"))?;
                if is_cached(number) {
                    events.track(pid, tracks.beside(chip), &format!("chip {chip}, the page before or behind"))?;
                }
            }
        }
        // The buses, though numbered before the clusters, come last.
        events.process(Tracks::BUSES, "channels", u32::MAX.into())?;
        for channel in ChannelId::first(channels) {
            events.track(Tracks::BUSES, tracks.bus(channel), &format!("bus {channel}"))?;
        }
        let counters = Counters::new(
            plan,
            |cluster, chip| (Tracks::cluster(cluster), Tracks::chip(chip)),
            |channel| (Tracks::BUSES, tracks.bus(channel)),
        );
        let (names, ends) = (JobNames::new(plan), PerId::filled(Instant::START, chips));
        Ok(Perfetto { events, names, pending: BTreeMap::new(), tracks, ends, counters })
    }

    /// Writes what a record shows.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        self.counters.advance(record.start(), &mut self.events)?;
        match record {
            Record::Setup(setup) => {
                self.counters.starts(setup);
                Ok(())
            }
            Record::Release(release) => self.release(release),
            Record::Complete(complete) => self.complete(complete),
            Record::Starved(starved) => self.starved(starved),
            Record::Failed(failed) => self.failed(failed),
            Record::Operation(operation) => self.operation(operation),
            Record::Transfer(transfer) => self.transfer(transfer),
            // How it came to that is not drawn.
            _ => Ok(()),
        }
    }

    /// Ends pending jobs at `duration`, marks those that are late by then, closes the JSON, flushes
    /// the writer and gives it back.
    pub fn finish(mut self, duration: Instant) -> io::Result<W> {
        self.counters.finish(duration, &mut self.events)?;
        for (job, release) in std::mem::take(&mut self.pending) {
            // A request that is due at the very end could only have been completed until then.
            if let Some(deadline) = release.deadline.filter(|&deadline| deadline <= duration) {
                self.miss(job, deadline, None)?;
            }
            self.job_event("e", duration, job, release.kind);
            self.events.line().text(",\"args\":{\"pending\":true}");
            self.events.end()?;
        }
        self.events.finish()
    }

    fn release(&mut self, release: &Release) -> io::Result<()> {
        if self.pending.insert(release.job, *release).is_some() {
            return Ok(());
        }
        if let Some(cluster) = release.cluster {
            self.counters.released(cluster);
        }
        self.job_event("b", release.at, release.job, release.kind);
        self.events.line().text(",\"args\":{\"job\":\"").job_name(&self.names, release.job);
        self.events.line().text("\",\"deadline_ns\":").or_null(release.deadline.map(Instant::as_ns));
        self.events.line().text(",\"pages\":").number(release.pages);
        self.events.line().text(",\"cluster\":").or_null(release.cluster.map(u64::from)).text("}");
        self.events.end()
    }

    fn complete(&mut self, complete: &Complete) -> io::Result<()> {
        let Some(release) = self.pending.remove(&complete.job) else { return Ok(()) };
        if let Some(cluster) = release.cluster {
            self.counters.completed(cluster);
        }
        if let Some(deadline) = release.deadline.filter(|&deadline| deadline < complete.at) {
            self.miss(complete.job, deadline, Some(complete.at))?;
        }
        self.job_event("e", complete.at, complete.job, release.kind);
        let response = complete.at.since(release.at);
        self.events.line().text(",\"args\":{\"response_ns\":").number(response.as_ns()).text("}");
        self.events.end()
    }

    fn starved(&mut self, starved: &Starved) -> io::Result<()> {
        let (pid, tid) = (Tracks::cluster(starved.cluster), Tracks::chip(starved.chip));
        self.events
            .begin("i", pid, tid, starved.at)
            .text(",\"s\":\"t\",\"cat\":\"starved\",\"cname\":\"bad\",\"name\":\"STARVED ");
        self.events.line().job_name(&self.names, starved.job).text("\"");
        self.events.end()
    }

    fn failed(&mut self, failed: &Failed) -> io::Result<()> {
        self.counters.failed(failed);
        let (pid, tid) = (Tracks::cluster(failed.cluster), Tracks::chip(failed.chip));
        let line = self.events.begin("i", pid, tid, failed.at);
        line.text(",\"s\":\"t\",\"cat\":\"failed\",\"cname\":\"terrible\",\"name\":\"FAILED block ");
        line.number(failed.block.into()).text("\",\"args\":{\"job\":\"");
        self.events.line().job_name(&self.names, failed.job).text("\"");
        if failed.page != NONE {
            self.events.line().text(",\"page\":").number(failed.page.into());
        }
        self.events.line().text("}");
        self.events.end()
    }

    fn operation(&mut self, operation: &Operation) -> io::Result<()> {
        self.counters.operation(operation);
        let (pid, mut tid) = (Tracks::cluster(operation.cluster), Tracks::chip(operation.chip));
        let end = &mut self.ends[operation.chip];
        if operation.start < *end {
            tid = self.tracks.beside(operation.chip);
        } else {
            *end = operation.end;
        }
        self.events.begin("X", pid, tid, operation.start);
        self.duration(operation.start, operation.end, operation.kind, operation.action);
        self.events.line().text(",\"args\":{\"job\":\"").job_name(&self.names, operation.job);
        self.events.line().text("\",\"op\":\"").text(operation.action.name());
        self.events.line().text("\",\"block\":").number(operation.block.into());
        if !operation.action.erases() {
            self.events.line().text(",\"page\":").number(operation.page.into());
            self.events.line().text(",\"lpn\":").number(operation.lpn.into());
        }
        self.events.line().text("}");
        self.events.end()
    }

    fn transfer(&mut self, transfer: &Transfer) -> io::Result<()> {
        self.counters.transfer(transfer);
        let tid = self.tracks.bus(transfer.channel);
        self.events.begin("X", Tracks::BUSES, tid, transfer.start);
        self.duration(transfer.start, transfer.end, transfer.kind, Action::Read);
        self.events.line().text(",\"args\":{\"job\":\"").job_name(&self.names, transfer.job).text("\",\"cluster\":");
        self.events.line().number(transfer.cluster.into()).text(",\"chip\":").number(transfer.chip.into()).text("}");
        self.events.end()
    }

    fn miss(&mut self, job: JobId, deadline: Instant, completed: Option<Instant>) -> io::Result<()> {
        let tid = self.tracks.source(job.source);
        self.events
            .begin("i", Tracks::JOBS, tid, deadline)
            .text(",\"s\":\"t\",\"cat\":\"miss\",\"cname\":\"terrible\"");
        self.events.line().text(",\"name\":\"MISS ").job_name(&self.names, job);
        self.events.line().text("\",\"args\":{\"completed_ns\":").or_null(completed.map(Instant::as_ns));
        self.events.line().text(",\"late_ns\":").or_null(completed.map(|at| at.since(deadline).as_ns())).text("}");
        self.events.end()
    }

    /// The begin or the end of a job. Viewers put asynchronous events of one name on one track: it
    /// is the name of the source.
    fn job_event(&mut self, phase: &str, at: Instant, job: JobId, kind: Kind) {
        let tid = self.tracks.source(job.source);
        self.events.begin(phase, Tracks::JOBS, tid, at).text(",\"cat\":\"job,").text(kind.name()).text("\",\"id\":\"");
        self.events.line().number(job.source.into()).text(".").number(job.index).text("\",\"name\":\"");
        self.events.line().text(self.names.source(job.source)).text("\"");
    }

    fn duration(&mut self, start: Instant, end: Instant, kind: Kind, action: Action) {
        let (name, colour) = look(kind, action);
        self.events.line().text(",\"dur\":").microseconds(end.since(start).as_ns());
        self.events.line().text(",\"cat\":\"").text(kind.name()).text("\",\"cname\":\"").text(colour);
        self.events.line().text("\",\"name\":\"").text(name).text("\"");
    }
}

/// The name that an operation has in a trace, by which Perfetto colours it, and one of the names of
/// colours that the format has.
fn look(kind: Kind, action: Action) -> (&'static str, &'static str) {
    match (kind, action) {
        (Kind::Read, _) => ("read", "rail_response"),
        (Kind::Gc, Action::Erase | Action::ErasePart) => ("erase", "black"),
        (Kind::Write, Action::Erase) => ("zone reset", "black"),
        (Kind::Write, _) => ("write", "thread_state_iowait"),
        (Kind::Gc, _) => ("GC copy", "olive"),
        (Kind::Server, _) => ("not real-time", "thread_state_uninterruptible"),
    }
}
