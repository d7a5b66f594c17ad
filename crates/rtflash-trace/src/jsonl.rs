//! Traces as JSON Lines, one record a line: written here, read back by [`TraceReader`].
//!
//! The format is fixed: other tools read it.

mod accounts;
mod fields;
mod reader;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use rtflash_model::PerId;
use rtflash_plan::{JobId, Kind, Plan, SourceId};

use super::any_record::Record;

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

    /// Writes one line.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        let line = &mut self.line;
        line.0.clear();
        match record {
            Record::Setup(setup) => line.setup(setup),
            Record::Policed(_)
            | Record::Failed(_)
            | Record::Reserve(_)
            | Record::Changed(_)
            | Record::LeftOut(_)
            | Record::Moved(_)
            | Record::Selected(_)
            | Record::Padding(_) => {
                line.account(&self.names, record);
            }
            Record::Trimmed(_) | Record::EmptyPage(_) => line.trim(&self.names, record),
            Record::Release(release) => {
                line.text("{\"release\":").number(release.at.as_ns());
                line.job(&self.names, release.job).kind(release.kind);
                line.text(",\"deadline\":").or_null(release.deadline.map(|deadline| deadline.as_ns()));
                line.text(",\"pages\":").number(release.pages);
                line.text(",\"cluster\":").or_null(release.cluster.map(u64::from));
            }
            Record::Complete(complete) => {
                line.text("{\"complete\":").number(complete.at.as_ns()).job(&self.names, complete.job);
            }
            Record::Starved(starved) => {
                line.text("{\"starved\":").number(starved.at.as_ns()).job(&self.names, starved.job);
                line.text(",\"cluster\":").number(starved.cluster.into());
                line.text(",\"chip\":").number(starved.chip.into());
            }
            Record::Operation(operation) => {
                line.text("{\"start\":").number(operation.start.as_ns());
                line.text(",\"end\":").number(operation.end.as_ns());
                line.text(",\"cluster\":").number(operation.cluster.into());
                line.text(",\"chip\":").number(operation.chip.into());
                line.text(",\"op\":\"").text(operation.action.name()).text("\"");
                line.job(&self.names, operation.job).kind(operation.kind);
                line.text(",\"block\":").number(operation.block.into());
                if !operation.action.erases() {
                    line.text(",\"page\":").number(operation.page.into());
                    line.text(",\"lpn\":").number(operation.lpn.into());
                }
            }
            Record::Transfer(transfer) => {
                line.text("{\"start\":").number(transfer.start.as_ns());
                line.text(",\"end\":").number(transfer.end.as_ns());
                line.text(",\"cluster\":").number(transfer.cluster.into());
                line.text(",\"channel\":").number(transfer.channel.into());
                line.text(",\"chip\":").number(transfer.chip.into());
                line.text(",\"op\":\"transfer\"").job(&self.names, transfer.job).kind(transfer.kind);
            }
        }
        line.text("}\n");
        self.out.write_all(&line.0)
    }

    /// Flushes the writer and gives it back.
    ///
    /// # Errors
    /// Those of the writer.
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
        JobNames(plan.sources().iter().map(|source| escaped(&source.name)).collect())
    }

    /// The name of a source by its position, ready to stand between quotes. Empty if there is no
    /// such source.
    pub fn source(&self, source: SourceId) -> &str {
        self.0.get(source).map_or("", String::as_str)
    }
}

/// A text as a JSON string, with its quotes.
pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("every string has a JSON form")
}

/// A text as the inside of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = quoted(text);
    quoted[1..quoted.len() - 1].to_owned()
}

/// A line in the making. Traces are long: numbers are written without the machinery of `fmt`.
#[derive(Debug, Default)]
pub struct JsonLine(pub(super) Vec<u8>);

impl JsonLine {
    /// Nothing in it any more.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

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

    fn job(&mut self, names: &JobNames, job: JobId) -> &mut JsonLine {
        self.text(",\"job\":\"").job_name(names, job).text("\"")
    }

    fn kind(&mut self, kind: Kind) -> &mut JsonLine {
        self.text(",\"kind\":\"").text(kind.name()).text("\"")
    }
}

/// The digit of a number below ten.
fn digit(number: u64) -> u8 {
    b'0' + u8::try_from(number).expect("a digit is below ten")
}
