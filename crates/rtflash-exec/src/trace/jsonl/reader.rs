//! Reads a trace back, and says of every line that is none what is wrong with it.

use std::fmt;
use std::io::{self, BufRead, Read};

use serde_json::value::RawValue;

use crate::ids::{ChipId, ClusterId, Lpn};
use crate::jobs::{JobId, Kind};
use crate::plan::{Layout, Plan};
use crate::trace::any_record::Record;
use crate::trace::record::{
    Action, Complete, EmptyPage, Failed, LeftOut, Moved, NO_LPN, NONE, Operation, Padding, Policed, Release, Reserve,
    Selection, Starved, TermsChange, Transfer, Trimmed,
};

use super::accounts;
use super::fields::{
    LineFields, Wrong, below, flag, instant, kind, number, or_null, position, present, shortened, string, wrong,
};
use super::sources::Sources;
use super::usual;

/// Bytes that a line of a trace may have, the newline not counted.
pub const MAX_LINE: usize = 1 << 20;

/// Why a line is not a record of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceError {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub expected: String,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}; expected {}", self.line, self.problem, self.expected)
    }
}

impl std::error::Error for TraceError {}

/// Reads the records of a trace, for the plan that it is a trace of.
///
/// Blank lines and fields that are not known are skipped. What is read is checked against the plan
/// line by line only: whether the lines are in order, and whether chips belong to clusters and
/// operations make sense, is for checkers to say. Reading may go on behind a wrong line; behind one
/// that cannot be read at all it is over.
#[derive(Debug)]
pub struct TraceReader<'p, R: BufRead> {
    input: R,
    plan: &'p Plan,
    sources: Sources<'p>,
    buffer: Vec<u8>,
    line: u64,
    /// Whether there was a record.
    begun: bool,
    over: bool,
}

impl<'p, R: BufRead> TraceReader<'p, R> {
    /// The records in `input`.
    pub fn new(plan: &'p Plan, input: R) -> TraceReader<'p, R> {
        TraceReader { input, plan, sources: Sources::new(plan), buffer: Vec::new(), line: 0, begun: false, over: false }
    }

    /// The number of the line that was read last, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Reads a line into the buffer; `false` at the end.
    fn read_line(&mut self) -> Result<bool, Wrong> {
        self.buffer.clear();
        // One more for the newline. What is longer is neither kept nor read to its end.
        let limit = MAX_LINE as u64 + 1;
        let read = self.input.by_ref().take(limit).read_until(b'\n', &mut self.buffer).map_err(unreadable)?;
        self.line += u64::from(read > 0);
        if self.buffer.len() > MAX_LINE && self.buffer.last() != Some(&b'\n') {
            return Err(wrong(format!("more than {MAX_LINE} bytes in one line"), "one record a line"));
        }
        Ok(read > 0)
    }

    /// The record in the buffer; `None` for a blank line.
    fn record(&self) -> Result<Option<Record>, Wrong> {
        let text = std::str::from_utf8(&self.buffer).map_err(|_| wrong("not UTF-8", "a JSON object in UTF-8"))?.trim();
        if text.is_empty() {
            return Ok(None);
        }
        // Serde takes a struct from an array as well.
        if !text.starts_with('{') {
            return Err(wrong("not a JSON object", "a line such as {\"complete\":2000000,\"job\":\"camera.read#0\"}"));
        }
        let fields: LineFields<'_> = serde_json::from_str(text)
            .map_err(|error| wrong(error.to_string().replace(" at line 1 column ", " at column "), "a JSON object"))?;
        let keys = [
            fields.release,
            fields.complete,
            fields.starved,
            fields.start,
            fields.reserve,
            fields.left_out,
            fields.moved,
            fields.selected,
            fields.silent,
            fields.policed,
            fields.changed,
            fields.failed,
            fields.trimmed,
            fields.empty,
            fields.arrivals,
        ];
        let mut found = keys.into_iter().enumerate().filter_map(|(which, value)| Some((which, value?)));
        match (found.next(), found.next()) {
            (Some((which, at)), None) => self.line_of(which, at, &fields),
            _ => Err(wrong(
                "not one kind of line",
                "exactly one of the fields `release`, `complete`, `starved`, `start`, `reserve`, `left_out`, `moved`, \
                 `selected`, `silent`, `policed`, `changed`, `failed`, `trimmed`, `empty` and `arrivals`",
            )),
        }
        .map(Some)
    }

    /// A line with the key of this number.
    fn line_of(&self, which: usize, at: &RawValue, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        Ok(match which {
            0 => Record::Release(self.release(at, fields)?),
            1 => Record::Complete(Complete { at: instant("complete", at)?, job: self.job(fields)?.0 }),
            2 => {
                let (at, job) = (instant("starved", at)?, self.job(fields)?.0);
                Record::Starved(Starved { at, job, cluster: self.cluster(fields)?, chip: self.chip(fields)? })
            }
            3 => self.occupied(at, fields)?,
            4 => Record::Reserve(Reserve {
                at: instant("reserve", at)?,
                cluster: self.cluster(fields)?,
                chip: self.chip(fields)?,
                arrived: number("arrived", present("arrived", fields.arrived)?, u64::MAX)?,
                free: number("free", present("free", fields.free)?, u64::MAX)?,
                pending: number("pending", present("pending", fields.pending)?, u64::MAX)?,
            }),
            5 => Record::LeftOut(LeftOut {
                at: instant("left_out", at)?,
                job: self.collecting(fields)?,
                cluster: self.cluster(fields)?,
                chip: self.chip(fields)?,
                free: number("free", present("free", fields.free)?, u64::MAX)?,
            }),
            6 => {
                let cluster = self.cluster(fields)?;
                let lpn = position("lpn", fields.lpn, self.layout(cluster).logical_pages())?;
                let (at, job) = (instant("moved", at)?, self.job(fields)?.0);
                Record::Moved(Moved { at, job, cluster, chip: self.chip(fields)?, lpn })
            }
            7 => Record::Selected(Selection {
                at: instant("selected", at)?,
                job: self.collecting(fields)?,
                cluster: self.cluster(fields)?,
                chip: self.chip(fields)?,
                block: position("block", fields.block, self.plan.device().blocks_per_chip())?,
                valid: below("valid", fields.valid, NONE)?,
                forced: flag("forced", fields.forced, false)?,
            }),
            8 => Record::Padding(self.padding(at, fields)?),
            9 => Record::Policed(self.policed(at, fields)?),
            10 => Record::Changed(self.changed(at, fields)?),
            11 => Record::Failed(self.failed(at, fields)?),
            12 => Record::Trimmed(self.trimmed(at, fields)?),
            13 => Record::EmptyPage(self.empty_page(at, fields)?),
            _ if self.begun => {
                return Err(wrong(
                    "how the run was made is said behind its beginning",
                    "`arrivals` in the first line alone",
                ));
            }
            _ => Record::Setup(accounts::setup(fields)?),
        })
    }

    /// The job of a pass.
    fn collecting(&self, fields: &LineFields<'_>) -> Result<JobId, Wrong> {
        match self.job(fields)? {
            (job, Kind::Gc | Kind::Server) => Ok(job),
            _ => Err(wrong(
                "a pass for a request",
                "the `job` of a pass: garbage collection, or one that is not real-time",
            )),
        }
    }

    fn padding(&self, at: &RawValue, fields: &LineFields<'_>) -> Result<Padding, Wrong> {
        let (start, end) = (instant("silent", at)?, instant("end", present("end", fields.end)?)?);
        if start >= end {
            return Err(wrong(format!("`end` is {end}, `silent` is {start}"), "an end behind the start"));
        }
        let (job, step) = (self.collecting(fields)?, accounts::step(fields)?);
        Ok(Padding { start, end, job, cluster: self.cluster(fields)?, chip: self.chip(fields)?, step })
    }

    fn failed(&self, at: &RawValue, fields: &LineFields<'_>) -> Result<Failed, Wrong> {
        let device = self.plan.device();
        Ok(Failed {
            at: instant("failed", at)?,
            job: self.job(fields)?.0,
            cluster: self.cluster(fields)?,
            chip: self.chip(fields)?,
            block: position("block", fields.block, device.blocks_per_chip())?,
            page: fields.page.map_or(Ok(NONE), |page| below("page", Some(page), device.pages_per_block()))?,
        })
    }

    fn trimmed(&self, at: &RawValue, fields: &LineFields<'_>) -> Result<Trimmed, Wrong> {
        let cluster = self.cluster(fields)?;
        let all = self.layout(cluster).logical_pages();
        let lpn: Lpn = position("lpn", fields.lpn, all)?;
        let pages = below("pages", fields.pages, all - lpn.0 + 1)?;
        if pages == 0 {
            return Err(wrong("`pages` is 0", "a page that is trimmed"));
        }
        Ok(Trimmed { at: instant("trimmed", at)?, cluster, lpn, pages, kept: flag("kept", fields.kept, false)? })
    }

    fn empty_page(&self, at: &RawValue, fields: &LineFields<'_>) -> Result<EmptyPage, Wrong> {
        let cluster = self.cluster(fields)?;
        let lpn = position("lpn", fields.lpn, self.layout(cluster).logical_pages())?;
        let (at, job) = (instant("empty", at)?, self.job(fields)?.0);
        Ok(EmptyPage { at, job, cluster, chip: self.chip(fields)?, lpn })
    }

    fn changed(&self, at: &RawValue, fields: &LineFields<'_>) -> Result<TermsChange, Wrong> {
        Ok(TermsChange {
            at: instant("changed", at)?,
            cluster: self.cluster(fields)?,
            chip: self.chip(fields)?,
            stage: below("stage", fields.stage, u32::MAX)?,
            extra: below("extra", fields.extra, u32::MAX)?,
            arrived: number("arrived", present("arrived", fields.arrived)?, u64::MAX)?,
            free: number("free", present("free", fields.free)?, u64::MAX)?,
        })
    }

    fn policed(&self, at: &RawValue, fields: &LineFields<'_>) -> Result<Policed, Wrong> {
        Ok(Policed {
            at: instant("policed", at)?,
            job: self.job(fields)?.0,
            arrived: instant("arrived", present("arrived", fields.arrived)?)?,
            pages: number("pages", present("pages", fields.pages)?, u64::MAX)?,
        })
    }

    fn release(&self, at: &RawValue, fields: &LineFields<'_>) -> Result<Release, Wrong> {
        let (job, of) = self.job(fields)?;
        Ok(Release {
            at: instant("release", at)?,
            job,
            kind: kind(fields, &[of])?,
            deadline: or_null(present("deadline", fields.deadline)?, |value| instant("deadline", value))?,
            pages: number("pages", present("pages", fields.pages)?, u64::MAX)?,
            cluster: or_null(present("cluster", fields.cluster)?, |_| self.cluster(fields))?,
        })
    }

    fn occupied(&self, start: &RawValue, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        let (start, end) = (instant("start", start)?, instant("end", present("end", fields.end)?)?);
        if start >= end {
            return Err(wrong(format!("`end` is {end}, `start` is {start}"), "an end behind the start"));
        }
        let (job, of) = self.job(fields)?;
        // Server jobs may have passes of their own.
        let kind =
            kind(fields, if of == Kind::Server { &[Kind::Server, Kind::Gc] } else { std::slice::from_ref(&of) })?;
        let (cluster, chip) = (self.cluster(fields)?, self.chip(fields)?);
        let op = string("op", present("op", fields.op)?)?;
        let action = match &*op {
            "read" => Action::Read,
            "program" => Action::Program,
            "erase" => Action::Erase,
            "erase-part" => Action::ErasePart,
            "transfer" => {
                let channel = position("channel", fields.channel, self.plan.device().channels())?;
                return Ok(Record::Transfer(Transfer { start, end, channel, cluster, chip, job, kind }));
            }
            _ => {
                let problem = format!("unknown operation `{}`", shortened(&op));
                return Err(wrong(problem, "`op` to be one of read, program, erase, erase-part and transfer"));
            }
        };
        let layout = self.layout(cluster);
        let block = position("block", fields.block, layout.blocks() + layout.spare_blocks())?;
        let (page, lpn) = match action {
            Action::Erase | Action::ErasePart => (NONE, NO_LPN),
            _ => (below("page", fields.page, layout.pages())?, position("lpn", fields.lpn, layout.logical_pages())?),
        };
        Ok(Record::Operation(Operation { start, end, cluster, chip, action, job, kind, block, page, lpn }))
    }

    fn job(&self, fields: &LineFields<'_>) -> Result<(JobId, Kind), Wrong> {
        let name = string("job", present("job", fields.job)?)?;
        let expected = "`job` to be the name of a source, `#` and a number, such as camera.read#0";
        // The source's own name may have a # in it.
        let (source, index) =
            name.rsplit_once('#').ok_or_else(|| wrong(format!("no number in `{}`", shortened(&name)), expected))?;
        let plain = index.bytes().all(|byte| byte.is_ascii_digit()) && (index == "0" || !index.starts_with('0'));
        let index = index.parse().ok().filter(|_| plain);
        let index =
            index.ok_or_else(|| wrong(format!("not the number of a job in `{}`", shortened(&name)), expected))?;
        match self.sources.of(source) {
            Some(source) => Ok((JobId { source, index }, self.plan.sources()[source].kind)),
            None => Err(wrong(
                format!("unknown job: there is no `{}`", shortened(source)),
                "a trace of this task set and allocation",
            )),
        }
    }

    fn layout(&self, cluster: ClusterId) -> &Layout {
        &self.plan.clusters()[cluster].layout
    }

    fn cluster(&self, fields: &LineFields<'_>) -> Result<ClusterId, Wrong> {
        position("cluster", fields.cluster, self.plan.clusters().count())
    }

    fn chip(&self, fields: &LineFields<'_>) -> Result<ChipId, Wrong> {
        position("chip", fields.chip, self.plan.device().chips())
    }
}

impl<R: BufRead> TraceReader<'_, R> {
    /// The next record where it lies in the buffer of the input as it is written here.
    #[inline]
    fn next_usual(&mut self) -> Option<Result<Record, TraceError>> {
        let text = match self.input.fill_buf() {
            Ok(text) => text,
            // The other reader asks again.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return None,
            Err(error) => {
                self.over = true;
                return Some(Err(self.refused(unreadable(error))));
            }
        };
        let found = usual::record(self.plan, &mut self.sources, text);
        // Beside the end of the line.
        let (record, length) = found.filter(|(_, length)| length - 1 <= MAX_LINE)?;
        self.input.consume(length);
        self.line += 1;
        self.begun = true;
        Some(Ok(record))
    }

    fn refused(&self, Wrong { problem, expected }: Wrong) -> TraceError {
        TraceError { line: self.line, problem, expected }
    }

    /// The next record, or what is wrong with it, read as any JSON is.
    pub(super) fn next_thoroughly(&mut self) -> Option<Result<Record, TraceError>> {
        while !self.over {
            let read = self.read_line();
            self.over = !matches!(read, Ok(true));
            let record = match read {
                Ok(false) => None,
                Ok(true) => match self.record() {
                    Ok(None) => continue,
                    Ok(Some(record)) => Some(Ok(record)),
                    Err(wrong) => Some(Err(wrong)),
                },
                Err(wrong) => Some(Err(wrong)),
            };
            self.begun |= record.is_some();
            return record.map(|record| record.map_err(|wrong| self.refused(wrong)));
        }
        None
    }
}

impl<R: BufRead> Iterator for TraceReader<'_, R> {
    type Item = Result<Record, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        match self.next_usual() {
            Some(next) => Some(next),
            None => self.next_thoroughly(),
        }
    }
}

fn unreadable(error: io::Error) -> Wrong {
    wrong(format!("cannot be read on: {error}"), "a file that can be read to its end")
}
