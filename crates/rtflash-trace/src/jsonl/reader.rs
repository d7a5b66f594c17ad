//! Reads a trace back, and says of every line that is none what is wrong with it.

use std::collections::HashMap;
use std::io::{self, BufRead, Read};

use rtflash_model::{ChipId, ClusterId, Instant, Lpn};
use rtflash_plan::{JobId, Kind, Layout, NO_LPN, Plan, SourceId};

use super::fields::{Field, LineFields, Wrong, shortened, wrong};
use super::setup;
use crate::any_record::Record;
use crate::record::{
    Action, Complete, EmptyPage, Failed, LeftOut, Moved, NONE, Operation, Padding, Policed, Release, Reserve,
    Selection, Starved, Step, TermsChange, Transfer, Trimmed,
};

/// Bytes that a line of a trace may have, the newline not counted.
pub const MAX_LINE: usize = 1 << 20;

/// Why a line is not a record of the plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}; expected {expected}")]
pub struct TraceError {
    /// The line, from 1.
    pub line: u64,
    /// The fault.
    pub problem: String,
    /// A right form.
    pub expected: String,
}

type ReadLine<Reader> = for<'r, 'f, 'a> fn(&'r Reader, &'f LineFields<'a>) -> Result<Record, Wrong>;

/// Reads the records of a trace, for the plan that it is a trace of.
///
/// Blank lines and unknown fields are skipped. Each line is checked against the plan; the order of
/// lines, and whether operations make sense, is for checkers. Reading can go on behind a wrong
/// line; behind one that cannot be read at all it is over.
#[derive(Debug)]
pub struct TraceReader<'p, R: BufRead> {
    input: R,
    plan: &'p Plan,
    sources: HashMap<&'p str, SourceId>,
    buffer: Vec<u8>,
    line: u64,
    begun: bool,
    over: bool,
}

impl<'p, R: BufRead> TraceReader<'p, R> {
    /// The records in `input`.
    pub fn new(plan: &'p Plan, input: R) -> TraceReader<'p, R> {
        let sources = plan.sources().enumerate().map(|(number, source)| (source.name.as_str(), number)).collect();
        TraceReader { input, plan, sources, buffer: Vec::new(), line: 0, begun: false, over: false }
    }

    /// The number of the line that was read last, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Reads a line into the buffer; `false` at the end.
    fn read_line(&mut self) -> Result<bool, Wrong> {
        self.buffer.clear();
        // One more for the newline. A longer line is neither kept nor read to its end.
        let limit = MAX_LINE as u64 + 1;
        let read = self.input.by_ref().take(limit).read_until(b'\n', &mut self.buffer).map_err(unreadable)?;
        self.line += u64::from(read > 0);
        if self.buffer.len() > MAX_LINE && self.buffer.last() != Some(&b'\n') {
            return Err(wrong(format!("more than {MAX_LINE} bytes in one line"), "one record a line"));
        }
        Ok(read > 0)
    }

    /// The fields that tell kinds of lines apart, and what reads such a line.
    const KINDS: [(Field, ReadLine<Self>); 15] = [
        (Field::Release, Self::release),
        (Field::Complete, Self::complete),
        (Field::Starved, Self::starved),
        (Field::Start, Self::occupied),
        (Field::Reserve, Self::reserve),
        (Field::LeftOut, Self::left_out),
        (Field::Moved, Self::moved),
        (Field::Selected, Self::selected),
        (Field::Silent, Self::padding),
        (Field::Policed, Self::policed),
        (Field::Changed, Self::changed),
        (Field::Failed, Self::failed),
        (Field::Trimmed, Self::trimmed),
        (Field::Empty, Self::empty_page),
        (Field::Arrivals, Self::setup),
    ];

    fn record(&self) -> Result<Option<Record>, Wrong> {
        let text = std::str::from_utf8(&self.buffer).map_err(|_| wrong("not UTF-8", "a JSON object in UTF-8"))?.trim();
        if text.is_empty() {
            return Ok(None);
        }
        // Serde takes a struct from an array as well.
        if !text.starts_with('{') {
            return Err(wrong("not a JSON object", "a line such as {\"complete\":2000000,\"job\":\"camera.read#0\"}"));
        }
        let fields = LineFields::read(text)
            .map_err(|error| wrong(error.to_string().replace(" at line 1 column ", " at column "), "a JSON object"))?;
        let mut found = Self::KINDS.iter().filter(|(field, _)| fields.has(*field));
        match (found.next(), found.next()) {
            (Some((_, read)), None) => read(self, &fields).map(Some),
            _ => Err(wrong(
                "not one kind of line",
                "exactly one of the fields `release`, `complete`, `starved`, `start`, `reserve`, `left_out`, `moved`, \
                 `selected`, `silent`, `policed`, `changed`, `failed`, `trimmed`, `empty` and `arrivals`",
            )),
        }
    }

    fn release(&self, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        let (job, of) = self.job(fields)?;
        Ok(Record::Release(Release {
            at: fields.instant(Field::Release)?,
            job,
            kind: fields.kind(&[of])?,
            deadline: fields.or_null(Field::Deadline, |field| fields.instant(field))?,
            pages: fields.count(Field::Pages)?,
            cluster: fields.or_null(Field::Cluster, |_| self.cluster(fields))?,
        }))
    }

    fn complete(&self, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        Ok(Record::Complete(Complete { at: fields.instant(Field::Complete)?, job: self.job(fields)?.0 }))
    }

    fn starved(&self, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        let (at, job) = (fields.instant(Field::Starved)?, self.job(fields)?.0);
        Ok(Record::Starved(Starved { at, job, cluster: self.cluster(fields)?, chip: self.chip(fields)? }))
    }

    fn occupied(&self, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        let (start, end) = interval(fields, Field::Start, "start")?;
        let (job, of) = self.job(fields)?;
        // Server jobs may have passes of their own.
        let kind =
            fields.kind(if of == Kind::Server { &[Kind::Server, Kind::Gc] } else { std::slice::from_ref(&of) })?;
        let (cluster, chip) = self.place(fields)?;
        let op = fields.string(Field::Op)?;
        let action = match &*op {
            "read" => Action::Read,
            "program" => Action::Program,
            "erase" => Action::Erase,
            "erase-part" => Action::ErasePart,
            "transfer" => {
                let channel = fields.position(Field::Channel, self.plan.device().channels())?;
                return Ok(Record::Transfer(Transfer { start, end, channel, cluster, chip, job, kind }));
            }
            _ => {
                let problem = format!("unknown operation `{}`", shortened(&op));
                return Err(wrong(problem, "`op` to be one of read, program, erase, erase-part and transfer"));
            }
        };
        let layout = self.layout(cluster);
        let block = fields.position(Field::Block, layout.blocks() + layout.spare_blocks())?;
        let (page, lpn) = match action {
            Action::Erase | Action::ErasePart => (NONE, NO_LPN),
            _ => (fields.below(Field::Page, layout.pages())?, fields.position(Field::Lpn, layout.logical_pages())?),
        };
        Ok(Record::Operation(Operation { start, end, cluster, chip, action, job, kind, block, page, lpn }))
    }

    fn reserve(&self, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        let (at, (cluster, chip)) = (fields.instant(Field::Reserve)?, self.place(fields)?);
        let (arrived, free) = (fields.count(Field::Arrived)?, fields.count(Field::Free)?);
        Ok(Record::Reserve(Reserve { at, cluster, chip, arrived, free, pending: fields.count(Field::Pending)? }))
    }

    fn left_out(&self, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        let (at, job) = (fields.instant(Field::LeftOut)?, self.collecting(fields)?);
        let (cluster, chip) = self.place(fields)?;
        Ok(Record::LeftOut(LeftOut { at, job, cluster, chip, free: fields.count(Field::Free)? }))
    }

    fn moved(&self, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        let cluster = self.cluster(fields)?;
        let lpn = fields.position(Field::Lpn, self.layout(cluster).logical_pages())?;
        let (at, job) = (fields.instant(Field::Moved)?, self.job(fields)?.0);
        Ok(Record::Moved(Moved { at, job, cluster, chip: self.chip(fields)?, lpn }))
    }

    fn selected(&self, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        let (at, job) = (fields.instant(Field::Selected)?, self.collecting(fields)?);
        let (cluster, chip) = self.place(fields)?;
        let block = fields.position(Field::Block, self.plan.device().blocks_per_chip())?;
        let (valid, forced) = (fields.below(Field::Valid, NONE)?, fields.flag(Field::Forced, false)?);
        Ok(Record::Selected(Selection { at, job, cluster, chip, block, valid, forced }))
    }

    fn padding(&self, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        let (start, end) = interval(fields, Field::Silent, "silent")?;
        let job = self.collecting(fields)?;
        fields.present(Field::Step)?;
        let step = fields.named(Field::Step, &Step::ALL, Step::name, Step::Read)?;
        let (cluster, chip) = self.place(fields)?;
        Ok(Record::Padding(Padding { start, end, job, cluster, chip, step }))
    }

    fn policed(&self, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        Ok(Record::Policed(Policed {
            at: fields.instant(Field::Policed)?,
            job: self.job(fields)?.0,
            arrived: fields.instant(Field::Arrived)?,
            pages: fields.count(Field::Pages)?,
        }))
    }

    fn changed(&self, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        let (at, (cluster, chip)) = (fields.instant(Field::Changed)?, self.place(fields)?);
        let (stage, extra) = (fields.below(Field::Stage, u32::MAX)?, fields.below(Field::Extra, u32::MAX)?);
        let (arrived, free) = (fields.count(Field::Arrived)?, fields.count(Field::Free)?);
        Ok(Record::Changed(TermsChange { at, cluster, chip, stage, extra, arrived, free }))
    }

    fn failed(&self, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        let device = self.plan.device();
        Ok(Record::Failed(Failed {
            at: fields.instant(Field::Failed)?,
            job: self.job(fields)?.0,
            cluster: self.cluster(fields)?,
            chip: self.chip(fields)?,
            block: fields.position(Field::Block, device.blocks_per_chip())?,
            // An erase has no page.
            page: if fields.has(Field::Page) { fields.below(Field::Page, device.pages_per_block())? } else { NONE },
        }))
    }

    fn trimmed(&self, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        let cluster = self.cluster(fields)?;
        let all = self.layout(cluster).logical_pages();
        let lpn: Lpn = fields.position(Field::Lpn, all)?;
        let pages = fields.below(Field::Pages, all - lpn.0 + 1)?;
        if pages == 0 {
            return Err(wrong("`pages` is 0", "a page that is trimmed"));
        }
        let (at, kept) = (fields.instant(Field::Trimmed)?, fields.flag(Field::Kept, false)?);
        Ok(Record::Trimmed(Trimmed { at, cluster, lpn, pages, kept }))
    }

    fn empty_page(&self, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        let cluster = self.cluster(fields)?;
        let lpn = fields.position(Field::Lpn, self.layout(cluster).logical_pages())?;
        let (at, job) = (fields.instant(Field::Empty)?, self.job(fields)?.0);
        Ok(Record::EmptyPage(EmptyPage { at, job, cluster, chip: self.chip(fields)?, lpn }))
    }

    fn setup(&self, fields: &LineFields<'_>) -> Result<Record, Wrong> {
        if self.begun {
            return Err(wrong(
                "how the run was made is said behind its beginning",
                "`arrivals` in the first line alone",
            ));
        }
        setup::setup(fields).map(Record::Setup)
    }

    fn collecting(&self, fields: &LineFields<'_>) -> Result<JobId, Wrong> {
        match self.job(fields)? {
            (job, Kind::Gc | Kind::Server) => Ok(job),
            _ => Err(wrong(
                "a pass for a request",
                "the `job` of a pass: garbage collection, or one that is not real-time",
            )),
        }
    }

    fn job(&self, fields: &LineFields<'_>) -> Result<(JobId, Kind), Wrong> {
        let name = fields.string(Field::Job)?;
        let expected = "`job` to be the name of a source, `#` and a number, such as camera.read#0";
        // The source's own name may have a # in it.
        let (source, index) =
            name.rsplit_once('#').ok_or_else(|| wrong(format!("no number in `{}`", shortened(&name)), expected))?;
        let plain = index.bytes().all(|byte| byte.is_ascii_digit()) && (index == "0" || !index.starts_with('0'));
        let index = index.parse().ok().filter(|_| plain);
        let index =
            index.ok_or_else(|| wrong(format!("not the number of a job in `{}`", shortened(&name)), expected))?;
        match self.sources.get(source) {
            Some(&source) => Ok((JobId { source, index }, self.plan.sources()[source].kind)),
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
        fields.position(Field::Cluster, self.plan.clusters().count())
    }

    fn place(&self, fields: &LineFields<'_>) -> Result<(ClusterId, ChipId), Wrong> {
        Ok((self.cluster(fields)?, self.chip(fields)?))
    }

    fn chip(&self, fields: &LineFields<'_>) -> Result<ChipId, Wrong> {
        fields.position(Field::Chip, self.plan.device().chips())
    }
}

impl<R: BufRead> Iterator for TraceReader<'_, R> {
    type Item = Result<Record, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
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
            let line = self.line;
            return record
                .map(|record| record.map_err(|Wrong { problem, expected }| TraceError { line, problem, expected }));
        }
        None
    }
}

fn interval(fields: &LineFields<'_>, start: Field, name: &str) -> Result<(Instant, Instant), Wrong> {
    let (start, end) = (fields.instant(start)?, fields.instant(Field::End)?);
    if start < end {
        return Ok((start, end));
    }
    Err(wrong(format!("`end` is {end}, `{name}` is {start}"), "an end behind the start"))
}

fn unreadable(error: io::Error) -> Wrong {
    wrong(format!("cannot be read on: {error}"), "a file that can be read to its end")
}
