//! Traces as JSON Lines, one record a line: written here, read back by [`TraceReader`].
//!
//! The format is fixed: other tools read it.

mod fields;
mod reader;
mod setup;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use rtflash_model::{ChipId, ClusterId, Instant, PerId};
use rtflash_plan::{JobId, Plan, SourceId};

use super::any_record::Record;
use super::record::NONE;

pub use reader::{MAX_LINE, TraceError, TraceReader};

/// Writes records as JSON Lines.
///
/// Records are written in the order in which they come; a trace is in the order of
/// [`Record::order`]. Each line is one call of `write_all`, so a file wants a
/// [`BufWriter`](std::io::BufWriter) around it.
#[derive(Debug)]
pub struct JsonLines<W: Write> {
    out: W,
    names: JobNames,
    line: JsonLine,
}

impl<W: Write> JsonLines<W> {
    /// Lines for a run of this plan.
    pub fn new(plan: &Plan, out: W) -> JsonLines<W> {
        JsonLines { out, names: JobNames::new(plan), line: JsonLine::default() }
    }

    /// Writes one line, or returns the writer's error.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        self.line.0.clear();
        self.line.record(&self.names, record).text("}\n");
        self.out.write_all(&self.line.0)
    }

    /// Flushes the writer and gives it back, or returns its error.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// The names of all sources as the inside of a JSON string, escaped once for all their jobs.
#[derive(Debug)]
pub struct JobNames(PerId<SourceId, String>);

impl JobNames {
    /// The names of a plan's sources.
    pub fn new(plan: &Plan) -> JobNames {
        let inside = |text: String| text[1..text.len() - 1].to_owned();
        JobNames(plan.sources().iter().map(|source| inside(quoted(&source.name))).collect())
    }

    /// The name of a source, ready to stand between quotes. Empty if there is no such source.
    pub fn source(&self, source: SourceId) -> &str {
        self.0.get(source).map_or("", String::as_str)
    }
}

/// A text as a JSON string, with its quotes.
pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("every string has a JSON form")
}

/// A line in the making. Traces are long: numbers are written without the machinery of `fmt`.
#[derive(Debug, Default)]
pub struct JsonLine(pub(super) Vec<u8>);

impl JsonLine {
    /// Adds a text as it is.
    pub fn text(&mut self, text: &str) -> &mut JsonLine {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// Adds a number in digits.
    pub fn number(&mut self, mut number: u64) -> &mut JsonLine {
        let mut digits = [b'0'; 20];
        let mut first = digits.len() - 1;
        while number > 9 {
            digits[first] = digit(number % 10);
            number /= 10;
            first -= 1;
        }
        digits[first] = digit(number);
        self.0.extend_from_slice(&digits[first..]);
        self
    }

    /// Adds nanoseconds as microseconds, exactly: `50.001`.
    pub fn microseconds(&mut self, nanoseconds: u64) -> &mut JsonLine {
        self.number(nanoseconds / 1000);
        match nanoseconds % 1000 {
            0 => self,
            rest => {
                let digits = [b'.', digit(rest / 100), digit(rest / 10 % 10), digit(rest % 10)];
                self.0.extend_from_slice(&digits);
                self
            }
        }
    }

    /// Adds a number, or `null`.
    pub fn or_null(&mut self, number: Option<u64>) -> &mut JsonLine {
        match number {
            Some(number) => self.number(number),
            None => self.text("null"),
        }
    }

    /// Adds the name of a job, without quotes: `camera.read#0`.
    pub fn job_name(&mut self, names: &JobNames, job: JobId) -> &mut JsonLine {
        self.text(names.source(job.source)).text("#").number(job.index)
    }

    fn begins(&mut self, kind: &str, at: Instant) -> &mut JsonLine {
        self.text("{\"").text(kind).text("\":").number(at.as_ns())
    }

    fn field(&mut self, name: &str, number: impl Into<u64>) -> &mut JsonLine {
        self.text(",\"").text(name).text("\":").number(number.into())
    }

    fn field_if(&mut self, is_there: bool, name: &str, number: impl Into<u64>) -> &mut JsonLine {
        if is_there { self.field(name, number) } else { self }
    }

    fn true_if(&mut self, is_true: bool, name: &str) -> &mut JsonLine {
        if is_true { self.text(",\"").text(name).text("\":true") } else { self }
    }

    fn word(&mut self, name: &str, word: &str) -> &mut JsonLine {
        self.text(",\"").text(name).text("\":\"").text(word).text("\"")
    }

    fn until(&mut self, end: Instant) -> &mut JsonLine {
        self.field("end", end.as_ns())
    }

    fn job(&mut self, names: &JobNames, job: JobId) -> &mut JsonLine {
        self.text(",\"job\":\"").job_name(names, job).text("\"")
    }

    fn place(&mut self, cluster: ClusterId, chip: ChipId) -> &mut JsonLine {
        self.field("cluster", cluster).field("chip", chip)
    }

    fn record(&mut self, names: &JobNames, record: &Record) -> &mut JsonLine {
        match record {
            Record::Setup(of) => self.setup(of),
            Record::Release(of) => {
                self.begins("release", of.at).job(names, of.job).word("kind", of.kind.name());
                self.text(",\"deadline\":").or_null(of.deadline.map(Instant::as_ns)).field("pages", of.pages);
                self.text(",\"cluster\":").or_null(of.cluster.map(u64::from))
            }
            Record::Complete(of) => self.begins("complete", of.at).job(names, of.job),
            Record::Starved(of) => self.begins("starved", of.at).job(names, of.job).place(of.cluster, of.chip),
            Record::Operation(of) => {
                let has_page = !of.action.erases();
                self.begins("start", of.start).until(of.end).place(of.cluster, of.chip).word("op", of.action.name());
                self.job(names, of.job).word("kind", of.kind.name()).field("block", of.block);
                self.field_if(has_page, "page", of.page).field_if(has_page, "lpn", of.lpn)
            }
            Record::Transfer(of) => {
                self.begins("start", of.start).until(of.end).field("cluster", of.cluster);
                self.field("channel", of.channel).field("chip", of.chip).word("op", "transfer");
                self.job(names, of.job).word("kind", of.kind.name())
            }
            Record::Policed(of) => {
                self.begins("policed", of.at).job(names, of.job);
                self.field("arrived", of.arrived.as_ns()).field("pages", of.pages)
            }
            Record::Failed(of) => {
                self.begins("failed", of.at).job(names, of.job).place(of.cluster, of.chip);
                self.field("block", of.block).field_if(of.page != NONE, "page", of.page)
            }
            Record::Reserve(of) => {
                self.begins("reserve", of.at).place(of.cluster, of.chip).field("arrived", of.arrived);
                self.field("free", of.free).field("pending", of.pending)
            }
            Record::Changed(of) => {
                self.begins("changed", of.at).place(of.cluster, of.chip).field("stage", of.stage);
                self.field("extra", of.extra).field("arrived", of.arrived).field("free", of.free)
            }
            Record::LeftOut(of) => {
                self.begins("left_out", of.at).job(names, of.job).place(of.cluster, of.chip).field("free", of.free)
            }
            Record::Moved(of) => {
                self.begins("moved", of.at).job(names, of.job).place(of.cluster, of.chip).field("lpn", of.lpn)
            }
            Record::Selected(of) => {
                self.begins("selected", of.at).job(names, of.job).place(of.cluster, of.chip);
                self.field("block", of.block).field("valid", of.valid).true_if(of.forced, "forced")
            }
            Record::Padding(of) => {
                self.begins("silent", of.start).until(of.end).job(names, of.job).place(of.cluster, of.chip);
                self.word("step", of.step.name())
            }
            Record::Trimmed(of) => {
                self.begins("trimmed", of.at).field("cluster", of.cluster).field("lpn", of.lpn);
                self.field("pages", of.pages).true_if(of.kept, "kept")
            }
            Record::EmptyPage(of) => {
                self.begins("empty", of.at).job(names, of.job).place(of.cluster, of.chip).field("lpn", of.lpn)
            }
        }
    }
}

fn digit(number: u64) -> u8 {
    b'0' + u8::try_from(number).expect("a digit is below ten")
}
