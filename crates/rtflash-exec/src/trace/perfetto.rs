//! Traces for Perfetto and chrome://tracing, in the JSON Array Format of trace events.
//!
//! Three groups of tracks: the jobs of each source from release to completion, the chips of each cluster, the buses.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, Write};

use rtflash_model::Instant;

use super::jsonl::{Line, Names, action_name, kind_name, quoted};
use super::record::{Action, Complete, JobId, Kind, Operation, Record, Release, Starved, Transfer};
use crate::Plan;

/// Writes records as a trace to open in Perfetto, as they come: only pending jobs are kept in memory.
///
/// Each event is one call of `write_all`, so a file wants a [`BufWriter`](std::io::BufWriter) around it. Without
/// [`finish`](Perfetto::finish) the JSON is not closed.
#[derive(Debug)]
pub struct Perfetto<W: Write> {
    out: W,
    names: Names,
    line: Line,
    pending: BTreeMap<JobId, Release>,
    tracks: Tracks,
}

/// The numbers of processes and threads. Zero is the idle process of an operating system, and thread numbers are not used twice,
/// because viewers take both for what they are in Linux.
#[derive(Debug, Clone, Copy)]
struct Tracks {
    chips: u64,
    channels: u64,
}

impl Tracks {
    const JOBS: u64 = 1;
    const BUSES: u64 = 2;

    fn cluster(cluster: u32) -> u64 {
        3 + u64::from(cluster)
    }
    fn chip(chip: u32) -> u64 {
        1 + u64::from(chip)
    }
    fn bus(self, channel: u32) -> u64 {
        1 + self.chips + u64::from(channel)
    }
    fn source(self, source: u32) -> u64 {
        1 + self.chips + self.channels + u64::from(source)
    }
}

impl<W: Write> Perfetto<W> {
    /// The beginning of a trace of this plan: the names of all tracks.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn new(plan: &Plan, mut out: W) -> io::Result<Perfetto<W>> {
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")?;
        let (chips, channels) = (plan.device().chips(), plan.device().channels());
        let tracks = Tracks { chips: chips.into(), channels: channels.into() };
        let (names, line, pending) = (Names::new(plan), Line::default(), BTreeMap::new());
        let mut trace = Perfetto { out, names, line, pending, tracks };
        // The first event is the only one without a comma before it.
        trace.line.text("{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"jobs\"}}");
        trace.out.write_all(&trace.line.0)?;
        trace.metadata("process_sort_index", Tracks::JOBS, None, "sort_index", "1")?;
        for (source, number) in plan.sources().iter().zip(0..) {
            trace.track(Tracks::JOBS, tracks.source(number), &quoted(&source.name))?;
        }
        for (cluster, number) in plan.clusters().iter().zip(0..) {
            let pid = Tracks::cluster(number);
            trace.process(pid, &format!("\"cluster {number}\""))?;
            for &chip in &cluster.chips {
                trace.track(pid, Tracks::chip(chip), &format!("\"chip {chip}\""))?;
            }
        }
        trace.process(Tracks::BUSES, "\"channels\"")?;
        for channel in 0..channels {
            trace.track(Tracks::BUSES, tracks.bus(channel), &format!("\"bus {channel}\""))?;
        }
        Ok(trace)
    }

    /// Writes what a record shows.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        match record {
            Record::Release(release) => self.release(release),
            Record::Complete(complete) => self.complete(complete),
            Record::Starved(starved) => self.starved(starved),
            Record::Operation(operation) => self.operation(operation),
            Record::Transfer(transfer) => self.transfer(transfer),
            // How it came to that is not drawn.
            _ => Ok(()),
        }
    }

    /// Ends pending jobs at `duration`, marks those that are late by then, closes the JSON, flushes the writer and gives it back.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(mut self, duration: Instant) -> io::Result<W> {
        for (job, release) in std::mem::take(&mut self.pending) {
            // What is due at the very end could only have been completed until then.
            if let Some(deadline) = release.deadline.filter(|&deadline| deadline <= duration) {
                self.miss(job, deadline, None)?;
            }
            self.job_event("e", duration, job, release.kind);
            self.line.text(",\"args\":{\"pending\":true}");
            self.end()?;
        }
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn release(&mut self, release: &Release) -> io::Result<()> {
        if self.pending.insert(release.job, *release).is_some() {
            return Ok(());
        }
        self.job_event("b", release.at, release.job, release.kind);
        self.line.text(",\"args\":{\"job\":\"").job_name(&self.names, release.job);
        self.line.text("\",\"deadline_ns\":").or_null(release.deadline.map(Instant::as_ns));
        self.line.text(",\"pages\":").number(release.pages);
        self.line.text(",\"cluster\":").or_null(release.cluster.map(u64::from)).text("}");
        self.end()
    }

    fn complete(&mut self, complete: &Complete) -> io::Result<()> {
        let Some(release) = self.pending.remove(&complete.job) else { return Ok(()) };
        if let Some(deadline) = release.deadline.filter(|&deadline| deadline < complete.at) {
            self.miss(complete.job, deadline, Some(complete.at))?;
        }
        self.job_event("e", complete.at, complete.job, release.kind);
        let response = complete.at.since(release.at);
        self.line.text(",\"args\":{\"response_ns\":").number(response.as_ns()).text("}");
        self.end()
    }

    fn starved(&mut self, starved: &Starved) -> io::Result<()> {
        let (pid, tid) = (Tracks::cluster(starved.cluster), Tracks::chip(starved.chip));
        self.begin("i", pid, tid, starved.at)
            .text(",\"s\":\"t\",\"cat\":\"starved\",\"cname\":\"bad\",\"name\":\"STARVED ");
        self.line.job_name(&self.names, starved.job).text("\"");
        self.end()
    }

    fn operation(&mut self, operation: &Operation) -> io::Result<()> {
        let (pid, tid) = (Tracks::cluster(operation.cluster), Tracks::chip(operation.chip));
        self.begin("X", pid, tid, operation.start);
        self.duration(operation.start, operation.end, operation.kind, operation.action);
        self.line.text(",\"name\":\"");
        // Viewers colour by name as well: garbage collection is to look the same wherever it is.
        match operation.kind {
            Kind::Gc => self.line.text("GC ").text(action_name(operation.action)),
            _ => self.line.job_name(&self.names, operation.job),
        };
        self.line.text("\",\"args\":{\"job\":\"").job_name(&self.names, operation.job);
        self.line.text("\",\"op\":\"").text(action_name(operation.action));
        self.line.text("\",\"block\":").number(operation.block.into());
        if operation.action != Action::Erase {
            self.line.text(",\"page\":").number(operation.page.into());
            self.line.text(",\"lpn\":").number(operation.lpn.into());
        }
        self.line.text("}");
        self.end()
    }

    fn transfer(&mut self, transfer: &Transfer) -> io::Result<()> {
        let tid = self.tracks.bus(transfer.channel);
        self.begin("X", Tracks::BUSES, tid, transfer.start);
        self.duration(transfer.start, transfer.end, transfer.kind, Action::Read);
        self.line.text(",\"name\":\"").job_name(&self.names, transfer.job).text("\",\"args\":{\"cluster\":");
        self.line.number(transfer.cluster.into()).text(",\"chip\":").number(transfer.chip.into()).text("}");
        self.end()
    }

    /// At the deadline, on the track of the source.
    fn miss(&mut self, job: JobId, deadline: Instant, completed: Option<Instant>) -> io::Result<()> {
        let tid = self.tracks.source(job.source);
        self.begin("i", Tracks::JOBS, tid, deadline).text(",\"s\":\"t\",\"cat\":\"miss\",\"cname\":\"terrible\"");
        self.line.text(",\"name\":\"MISS ").job_name(&self.names, job);
        self.line.text("\",\"args\":{\"completed_ns\":").or_null(completed.map(Instant::as_ns));
        self.line.text(",\"late_ns\":").or_null(completed.map(|at| at.since(deadline).as_ns())).text("}");
        self.end()
    }

    /// The begin or the end of a job. Viewers put asynchronous events of one name on one track: it is the name of the source.
    fn job_event(&mut self, phase: &str, at: Instant, job: JobId, kind: Kind) {
        let tid = self.tracks.source(job.source);
        self.begin(phase, Tracks::JOBS, tid, at).text(",\"cat\":\"job,").text(kind_name(kind)).text("\",\"id\":\"");
        self.line.number(job.source.into()).text(".").number(job.index).text("\",\"name\":\"");
        self.line.text(self.names.source(job.source)).text("\"");
    }

    fn begin(&mut self, phase: &str, pid: u64, tid: u64, at: Instant) -> &mut Line {
        self.line.0.clear();
        self.line.text(",\n{\"ph\":\"").text(phase).text("\",\"pid\":").number(pid).text(",\"tid\":").number(tid);
        self.line.text(",\"ts\":").microseconds(at.as_ns())
    }

    fn duration(&mut self, start: Instant, end: Instant, kind: Kind, action: Action) {
        self.line.text(",\"dur\":").microseconds(end.since(start).as_ns());
        self.line
            .text(",\"cat\":\"")
            .text(kind_name(kind))
            .text("\",\"cname\":\"")
            .text(colour(kind, action))
            .text("\"");
    }

    fn end(&mut self) -> io::Result<()> {
        self.line.text("}");
        self.out.write_all(&self.line.0)
    }

    fn process(&mut self, pid: u64, name: &str) -> io::Result<()> {
        self.metadata("process_name", pid, None, "name", name)?;
        // The buses, though numbered before the clusters, come last.
        let position = if pid == Tracks::BUSES { u64::from(u32::MAX) } else { pid };
        self.metadata("process_sort_index", pid, None, "sort_index", &position.to_string())
    }

    fn track(&mut self, pid: u64, tid: u64, name: &str) -> io::Result<()> {
        self.metadata("thread_name", pid, Some(tid), "name", name)?;
        self.metadata("thread_sort_index", pid, Some(tid), "sort_index", &tid.to_string())
    }

    fn metadata(&mut self, what: &str, pid: u64, tid: Option<u64>, key: &str, json: &str) -> io::Result<()> {
        self.line.0.clear();
        self.line.text(",\n{\"ph\":\"M\",\"pid\":").number(pid);
        if let Some(tid) = tid {
            self.line.text(",\"tid\":").number(tid);
        }
        self.line.text(",\"name\":\"").text(what).text("\",\"args\":{\"").text(key).text("\":").text(json).text("}");
        self.end()
    }
}

/// One of the names of colours that the format has.
fn colour(kind: Kind, action: Action) -> &'static str {
    match (kind, action) {
        (Kind::Read, _) => "rail_response",
        (Kind::Write, _) => "thread_state_iowait",
        (Kind::Gc, Action::Erase) => "black",
        (Kind::Gc, _) => "olive",
        (Kind::Server, _) => "thread_state_uninterruptible",
    }
}
