//! Trace events in the JSON format that Perfetto and chrome://tracing read: what all traces in it
//! have in common.

use std::io::{self, Write};

use rtflash_model::Instant;

use super::jsonl::{JsonLine, quoted};

/// Writes trace events, as they come, inside one JSON object.
///
/// Each event is one call of `write_all`, so a file wants a [`BufWriter`](std::io::BufWriter)
/// around it. Without [`finish`](TraceEvents::finish) the JSON is not closed.
#[derive(Debug)]
pub struct TraceEvents<W: Write> {
    out: W,
    line: JsonLine,
    has_some: bool,
}

impl<W: Write> TraceEvents<W> {
    /// Begins a trace, or returns the writer's error.
    pub fn new(mut out: W) -> io::Result<TraceEvents<W>> {
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")?;
        Ok(TraceEvents { out, line: JsonLine::default(), has_some: false })
    }

    /// Names a process, which viewers show at this position among them, or returns the writer's
    /// error.
    pub fn process(&mut self, pid: u64, name: &str, position: u64) -> io::Result<()> {
        self.metadata("process_name", pid, None, "name", &quoted(name))?;
        self.metadata("process_sort_index", pid, None, "sort_index", &position.to_string())
    }

    /// Names a thread of a process, or returns the writer's error. Viewers order threads by number.
    pub fn track(&mut self, pid: u64, tid: u64, name: &str) -> io::Result<()> {
        self.metadata("thread_name", pid, Some(tid), "name", &quoted(name))?;
        self.metadata("thread_sort_index", pid, Some(tid), "sort_index", &tid.to_string())
    }

    /// Begins an event of this phase. [`end`](TraceEvents::end) writes it.
    pub fn begin(&mut self, phase: &str, pid: u64, tid: u64, at: Instant) -> &mut JsonLine {
        self.open();
        self.line.text("{\"ph\":\"").text(phase).text("\",\"pid\":").number(pid).text(",\"tid\":").number(tid);
        self.line.text(",\"ts\":").microseconds(at.as_ns())
    }

    /// The event that has been begun: fields are added to it.
    pub fn line(&mut self) -> &mut JsonLine {
        &mut self.line
    }

    /// Writes the event that has been begun, or returns the writer's error.
    pub fn end(&mut self) -> io::Result<()> {
        self.line.text("}");
        self.has_some = true;
        self.out.write_all(&self.line.0)
    }

    /// Closes the JSON, flushes the writer and gives it back, or returns its error.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// The first event is the only one without a comma before it.
    fn open(&mut self) {
        self.line.0.clear();
        if self.has_some {
            self.line.text(",\n");
        }
    }

    fn metadata(&mut self, what: &str, pid: u64, tid: Option<u64>, key: &str, json: &str) -> io::Result<()> {
        self.open();
        self.line.text("{\"ph\":\"M\",\"pid\":").number(pid);
        if let Some(tid) = tid {
            self.line.text(",\"tid\":").number(tid);
        }
        self.line.text(",\"name\":\"").text(what).text("\",\"args\":{\"").text(key).text("\":").text(json).text("}");
        self.end()
    }
}
