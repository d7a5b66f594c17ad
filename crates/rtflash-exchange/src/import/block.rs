//! Block traces: which requests came when.

use std::collections::HashMap;
use std::io::{self, BufRead};

use crate::import::extent::{Extent, TimeBase};
use crate::import::lines::{LineFound, Lines, each_line};
use crate::import::trace_line::{LineRequest, TraceLine};
use crate::import::{blkparse, fio, msr};

/// Requests that a trace may have: some seven gigabytes of memory.
pub const MAX_REQUESTS: usize = 100_000_000;

/// Devices that a trace may name.
const MAX_DEVICES: usize = 10_000;

/// In which form a trace is. Its units are those that the form defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockFormat {
    /// fio's iolog of version 3, which `write_iolog=` makes: times in µs from the start of the run,
    /// offsets and lengths in bytes.
    Fio,
    /// The text that `blkparse` prints where no `-f` changes it: times in seconds, places and
    /// lengths in sectors of 512 bytes. An event is one of many in the life of a request, so one
    /// action is chosen: `Q` is a request that is queued, `D` one that goes to the drive.
    Blkparse {
        /// The action that makes a request: a letter of column 6.
        action: char,
    },
    /// The CSV of the block traces of Microsoft Research in Cambridge: times in ticks of 100 ns,
    /// offsets and sizes in bytes.
    Msr,
}

impl BlockFormat {
    /// How its times are meant.
    pub fn clock(self) -> TimeBase {
        match self {
            BlockFormat::Fio => TimeBase::Microseconds,
            BlockFormat::Blkparse { .. } => TimeBase::Seconds,
            BlockFormat::Msr => TimeBase::FileTime,
        }
    }
}

/// A request of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracedRequest {
    /// When it came, in ns of the trace's own clock.
    pub at: u64,
    /// Whether it writes.
    pub writes: bool,
    /// Its first byte.
    pub offset: u64,
    /// How many bytes, at least one.
    pub bytes: u64,
    /// The device or file that it goes to: an index into [`BlockTrace::devices`].
    pub device: u32,
}

/// The content of a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockTrace {
    /// Its requests, by their times; those of one time in the order of the file.
    pub requests: Vec<TracedRequest>,
    /// The fate of its lines.
    pub lines: Lines,
    /// Requests of all devices that move no data: discards, write zeroes, flushes, commands to
    /// zones, requests of no bytes. They are among the lines that are passed over.
    pub without_data: u64,
    /// The devices or files that it names, in the order in which they come. A byte that is not
    /// UTF-8 stands there as `\xff`.
    pub devices: Vec<String>,
}

/// Why there is no trace.
#[derive(Debug, thiserror::Error)]
pub enum BlockTraceError {
    /// It cannot be read.
    #[error("{0}")]
    Io(io::Error),
    /// It is not in this form: what is wrong, a clause.
    #[error("{0}")]
    OtherForm(String),
    /// It has more requests, or names more devices, than fit.
    #[error("more than {MAX_REQUESTS} requests or {MAX_DEVICES} devices: cut the trace in pieces")]
    TooLarge,
    /// No line holds a request; the lines say why not.
    #[error(
        "no request that moves data in it ({} lines passed over, {} refused{})",
        .0.passed_over,
        .0.refused,
        first_refused(.0)
    )]
    NoRequests(Lines),
}

fn first_refused(lines: &Lines) -> String {
    let first = lines.first_refused.first();
    first.map_or_else(String::new, |first| format!("; line {}: {}", first.line, first.problem))
}

impl From<io::Error> for BlockTraceError {
    fn from(error: io::Error) -> Self {
        BlockTraceError::Io(error)
    }
}

/// Reads a trace. Fails if it cannot be read, is not in this form, or has no requests.
pub fn read_block_trace(from: impl BufRead, format: BlockFormat) -> Result<BlockTrace, BlockTraceError> {
    let mut trace = BlockTrace::default();
    let mut lines = Lines::default();
    let mut known = HashMap::new();
    let (mut is_over, mut is_first) = (false, true);
    each_line::<BlockTraceError>(from, &mut lines, |_, text| {
        if is_over || text.trim().is_empty() {
            return Ok(LineFound::PassedOver);
        }
        let first = std::mem::take(&mut is_first);
        let found = match format {
            BlockFormat::Fio if first => fio::head(text).map_err(BlockTraceError::OtherForm)?,
            BlockFormat::Fio => fio::line(text),
            BlockFormat::Blkparse { action } => blkparse::line(text, action),
            BlockFormat::Msr => msr::line(text, first),
        };
        Ok(match found {
            Err(problem) => LineFound::Refused(problem),
            Ok(TraceLine::Other) => LineFound::PassedOver,
            Ok(TraceLine::Trailer) => {
                is_over = true;
                LineFound::PassedOver
            }
            Ok(TraceLine::WithoutData) => trace.pass_over(),
            Ok(TraceLine::Request(request)) if request.bytes == 0 => trace.pass_over(),
            Ok(TraceLine::Request(request)) if request.offset.checked_add(request.bytes).is_none() => {
                LineFound::Refused("it ends beyond 2^64 bytes".into())
            }
            Ok(TraceLine::Request(request)) => {
                trace.add(&mut known, &request)?;
                LineFound::Read
            }
        })
    })?;
    if trace.requests.is_empty() {
        return Err(BlockTraceError::NoRequests(lines));
    }
    trace.requests.sort_by_key(|request| request.at);
    trace.lines = lines;
    Ok(trace)
}

impl BlockTrace {
    fn add(&mut self, known: &mut HashMap<String, u32>, request: &LineRequest<'_>) -> Result<(), BlockTraceError> {
        if self.requests.len() >= MAX_REQUESTS {
            return Err(BlockTraceError::TooLarge);
        }
        let device = match known.get(request.device) {
            Some(device) => *device,
            None => {
                let next = self.devices.len();
                if next >= MAX_DEVICES {
                    return Err(BlockTraceError::TooLarge);
                }
                let index = u32::try_from(next).expect("few devices");
                self.devices.push(request.device.to_owned());
                known.insert(request.device.to_owned(), index);
                index
            }
        };
        let LineRequest { at, writes, offset, bytes, .. } = *request;
        self.requests.push(TracedRequest { at, writes, offset, bytes, device });
        Ok(())
    }

    fn pass_over(&mut self) -> LineFound {
        self.without_data += 1;
        LineFound::PassedOver
    }

    /// When its requests came, and how much they move; `None` if there are none.
    pub fn extent(&self) -> Option<Extent> {
        Extent::of(self.requests.iter().map(|request| (request.at, request.bytes)))
    }

    /// The trace with the requests of one device only; `None` if it names none of that name.
    pub fn of_device(mut self, name: &str) -> Option<BlockTrace> {
        let index = self.devices.iter().position(|device| device == name)?;
        self.requests.retain(|request| request.device as usize == index);
        Some(self)
    }
}
