//! Lines of a text, one after the other, in bounded memory: how many were read and refused.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufRead, Read};

/// Bytes of a line, at most. A longer one is refused.
pub const MAX_LINE: usize = 1 << 16;

/// Refused lines of which the reason is kept.
const MAX_REFUSALS: usize = 20;

/// The fate of the lines, or of the records, of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// Those that hold what was asked for.
    pub read: u64,
    /// Those that are well-formed and hold something else: headers, other actions, empty ones.
    pub passed_over: u64,
    /// Those that could not be read.
    pub refused: u64,
    /// The first twenty of those that could not be read.
    pub first_refused: Vec<RefusedLine>,
}

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedLine {
    /// Which line, from 1.
    pub line: u64,
    /// The fault, a clause.
    pub problem: String,
}

pub(crate) enum LineFound {
    Read,
    PassedOver,
    Refused(String),
}

impl Lines {
    pub(crate) fn count(&mut self, line: u64, found: LineFound) {
        match found {
            LineFound::Read => self.read += 1,
            LineFound::PassedOver => self.passed_over += 1,
            LineFound::Refused(problem) => {
                self.refused += 1;
                if self.first_refused.len() < MAX_REFUSALS {
                    self.first_refused.push(RefusedLine { line, problem });
                }
            }
        }
    }
}

/// Gives each line, without its end, to `each`, until that fails. A line that is too long is
/// counted as refused and not given.
pub(crate) fn each_line<E: From<io::Error>>(
    mut from: impl BufRead,
    lines: &mut Lines,
    mut each: impl FnMut(u64, &str) -> Result<LineFound, E>,
) -> Result<(), E> {
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        if from.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let is_whole = bytes.last() == Some(&b'\n');
        if !is_whole && bytes.len() > MAX_LINE {
            pass_to_the_end(&mut from)?;
            lines.count(number, LineFound::Refused(format!("longer than {MAX_LINE} bytes")));
            continue;
        }
        let text = as_text(&bytes);
        let found = each(number, text.trim_end_matches(['\n', '\r']).trim_start_matches('\u{feff}'))?;
        lines.count(number, found);
    }
    Ok(())
}

/// The bytes as text. A byte that is not UTF-8 becomes `\xff`: names of files and processes are
/// bytes to Linux, and names that differ stay different.
fn as_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    Cow::Owned(text)
}

/// Reads up to the end of the line and keeps nothing of it.
fn pass_to_the_end(from: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = from.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let (used, ends) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (buffer.len(), false),
        };
        from.consume(used);
        if ends {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_refused_and_the_next_one_read() {
        let text = format!("a\r\n{}\nb\n\u{feff}c", "x".repeat(3 * MAX_LINE));
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        each_line::<io::Error>(text.as_bytes(), &mut lines, |number, line| {
            seen.push((number, line.to_owned()));
            Ok(LineFound::Read)
        })
        .unwrap();
        assert_eq!(seen, [(1, "a".into()), (3, "b".into()), (4, "c".into())]);
        assert_eq!((lines.read, lines.refused, lines.first_refused[0].line), (3, 1, 2));
    }

    #[test]
    fn a_line_of_the_greatest_length_is_read() {
        let text = format!("{}\n{}\n\u{fffd}", "x".repeat(MAX_LINE), "y".repeat(MAX_LINE + 1));
        let mut bytes = text.into_bytes();
        bytes.extend([b'\n', 0xff]);
        let (mut lines, mut last) = (Lines::default(), String::new());
        each_line::<io::Error>(bytes.as_slice(), &mut lines, |_, line| {
            line.clone_into(&mut last);
            Ok(LineFound::PassedOver)
        })
        .unwrap();
        assert_eq!((lines.passed_over, lines.refused, last.as_str()), (3, 1, "\\xff"));
    }
}
