//! Streams of JSON values: JSON Lines, values over many lines, several on a line.
//!
//! [`Frames`] cuts a stream where one value ends and the next begins, without decoding them: it
//! counts brackets. A value that is broken must not take those after it along, so a line that
//! begins with `{` where no value may begin ends the one before it; and where a value turns out
//! broken only later, reading goes on at the first line inside it that begins with `{`.

use std::io::{self, Read};

use serde::de::IgnoredAny;

use super::diagnostic::BYTE_ORDER_MARK;
use super::scan::{End, Scan, is_space};

/// Bytes that are asked for at once.
const CHUNK: usize = 256 * 1024;

/// The longest value, in bytes: 1 GiB.
pub const MAX_FRAME: usize = 1 << 30;

/// One top-level value of a stream, or what stands in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Its bytes, without white space around them. Never empty. Not known to be JSON or UTF-8.
    pub text: Vec<u8>,
    /// The line of the stream on which it begins, from 1.
    pub first_line: usize,
    /// The column in which it begins, from 1, in characters.
    pub first_column: usize,
}

/// Longer than [`MAX_FRAME`]: the source of the [`io::Error`] with which reading stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value that begins at line {first_line}, column {first_column} is longer than {MAX_FRAME} bytes")]
pub struct FrameTooLong {
    /// The line of the stream on which it begins, from 1.
    pub first_line: usize,
    /// The column in which it begins, from 1.
    pub first_column: usize,
}

/// The top-level values of a stream, in order.
///
/// A value runs from `{` or `[` to its last bracket; anything else is a line. It is cut short by
/// the end of a line inside a string, and by a line that begins with `{` in column 1 behind no
/// comma, colon or `[`. Linear time; memory for the longest value and one chunk.
#[derive(Debug)]
pub struct Frames<R> {
    source: R,
    chunk: Vec<u8>,
    buffer: Vec<u8>,
    /// Given away or passed over up to here in the buffer; its line and column in the stream.
    taken: usize,
    line: usize,
    column: usize,
    current: Option<Scan>,
    /// Up to here every line that begins with `{` begins a value: one that held it is broken.
    distrust: usize,
    limit: usize,
    state: ScanState,
}

#[derive(Debug)]
enum ScanState {
    /// Nothing has been read: there may be a byte-order mark.
    Fresh,
    Reading,
    Drained,
    Failed(Option<FrameTooLong>),
}

impl<R: Read> Frames<R> {
    /// The values of `source`, which needs no buffer of its own.
    pub fn new(source: R) -> Frames<R> {
        Frames::with_limit(source, MAX_FRAME)
    }

    pub(super) fn with_limit(source: R, limit: usize) -> Frames<R> {
        Frames {
            source,
            chunk: vec![0; CHUNK],
            buffer: Vec::new(),
            taken: 0,
            line: 1,
            column: 1,
            current: None,
            distrust: 0,
            limit,
            state: ScanState::Fresh,
        }
    }

    /// Frames that the next reads complete: at least one, or `None` at the end.
    ///
    /// # Errors
    /// The source's; and [`io::ErrorKind::InvalidData`] with a [`FrameTooLong`], which ends the
    /// stream.
    pub fn next_batch(&mut self) -> io::Result<Option<Vec<Frame>>> {
        loop {
            if let ScanState::Failed(error) = &mut self.state {
                return error.take().map_or(Ok(None), |error| Err(io::Error::new(io::ErrorKind::InvalidData, error)));
            }
            let mut batch = Vec::new();
            while let Some(frame) = self.next_in_buffer() {
                batch.push(frame);
            }
            if !batch.is_empty() {
                return Ok(Some(batch));
            }
            match self.state {
                ScanState::Failed(_) => {}
                ScanState::Drained => return Ok(None),
                ScanState::Fresh | ScanState::Reading => self.fill()?,
            }
        }
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.buffer.capacity() + self.chunk.capacity()
    }

    fn fill(&mut self) -> io::Result<()> {
        self.drop_taken();
        let count = loop {
            match self.source.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.buffer.extend_from_slice(&self.chunk[..count]);
        let mark = BYTE_ORDER_MARK.to_string();
        if matches!(self.state, ScanState::Fresh) && (count == 0 || !mark.as_bytes().starts_with(&self.buffer)) {
            self.taken = if self.buffer.starts_with(mark.as_bytes()) { mark.len() } else { 0 };
            self.state = ScanState::Reading;
        }
        if count == 0 {
            self.state = ScanState::Drained;
        }
        Ok(())
    }

    fn drop_taken(&mut self) {
        self.buffer.drain(..self.taken);
        if let Some(scan) = &mut self.current {
            scan.move_back(self.taken);
        }
        self.distrust = self.distrust.saturating_sub(self.taken);
        self.taken = 0;
        // One huge value is no reason to keep its memory.
        if self.buffer.capacity() > 4 * CHUNK && self.buffer.len() < CHUNK {
            self.buffer.shrink_to(2 * CHUNK);
        }
    }

    fn next_in_buffer(&mut self) -> Option<Frame> {
        let mut scan = match self.current.take() {
            Some(scan) => scan,
            None => self.begin()?,
        };
        let end = scan.run(&self.buffer, self.distrust);
        let is_beyond = matches!(end, End::Beyond);
        let (end, whole) = match end {
            End::Whole(end) => (end, true),
            End::Cut(end) => (end, false),
            End::Beyond => (self.buffer.len(), false),
        };
        if end - self.taken > self.limit {
            self.state = ScanState::Failed(Some(FrameTooLong { first_line: self.line, first_column: self.column }));
            return None;
        }
        if is_beyond && !matches!(self.state, ScanState::Drained) {
            self.current = Some(scan);
            return None;
        }
        Some(self.close(&scan, end, whole))
    }

    /// Passes over white space and begins a frame, where there is anything left.
    fn begin(&mut self) -> Option<Scan> {
        if !matches!(self.state, ScanState::Reading | ScanState::Drained) {
            return None;
        }
        let rest = &self.buffer[self.taken..];
        let blank = rest.iter().position(|byte| !is_space(*byte)).unwrap_or(rest.len());
        self.take(self.taken + blank);
        let first = *self.buffer.get(self.taken)?;
        Some(Scan::new(self.taken, first))
    }

    /// From `taken` to `end`, or if it is broken, to where reading goes on.
    fn close(&mut self, scan: &Scan, end: usize, whole: bool) -> Frame {
        let start = self.taken;
        let is_json = || serde_json::from_slice::<IgnoredAny>(&self.buffer[start..end]).is_ok();
        let mut resume = end;
        if let Some(candidate) = scan.candidate
            && !(whole && is_json())
        {
            // Each of the lines up to `end` is scanned a second time, but not a third: there a
            // frame ends with its line.
            self.distrust = self.distrust.max(end);
            resume = candidate;
        }
        let text = &self.buffer[start..resume];
        let length = text.iter().rposition(|byte| !is_space(*byte)).map_or(0, |last| last + 1);
        let text = text[..length].to_vec();
        let frame = Frame { text, first_line: self.line, first_column: self.column };
        self.take(resume);
        frame
    }

    fn take(&mut self, to: usize) {
        let passed = &self.buffer[self.taken..to];
        let newlines = count(passed, |byte| byte == b'\n');
        let last_line = match newlines {
            0 => passed,
            _ => {
                self.column = 1;
                passed.rsplit(|byte| *byte == b'\n').next().expect("a split has a last part")
            }
        };
        // Bytes that continue a character of UTF-8 are no columns.
        self.column += count(last_line, |byte| byte & 0xc0 != 0x80);
        self.line += newlines;
        self.taken = to;
    }
}

fn count(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    // Sums of single bytes are made many at a time.
    let sums = bytes.chunks(255).map(|few| few.iter().map(|byte| u8::from(is(*byte))).sum::<u8>());
    sums.map(usize::from).sum()
}
