//! The faults of a text, each with its bytes.

use std::fmt;
use std::ops::Range;

use crate::invalid::{Invalid, Path};

/// One thing that is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The bytes at fault, on character boundaries in UTF-8; empty where something is missing.
    pub range: Range<usize>,
    /// The value at fault, or the value that lacks something.
    pub path: Path,
    /// A clause without a full stop. It can quote names of any length that hold any character.
    pub problem: String,
    /// The expected value, a clause that follows "expected".
    pub expected: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.steps().is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{} (expected {})", self.problem, self.expected)
    }
}

/// Faults of one text that are kept; of more, only the number is.
pub(super) const MAX_KEPT: usize = 100;

/// The first hundred faults, in the order of the text, and how many there are. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    count: usize,
}

impl Diagnostics {
    /// These faults, in the order of the text.
    pub fn new(wrong: impl IntoIterator<Item = Diagnostic>) -> Diagnostics {
        let mut collected = Collected::default();
        wrong.into_iter().for_each(|fault| collected.push(fault));
        collected.into_diagnostics()
    }

    pub(super) fn one(range: Range<usize>, problem: impl Into<String>, expected: impl Into<String>) -> Diagnostics {
        let (problem, expected) = (problem.into(), expected.into());
        Diagnostics::new([Diagnostic { range, path: Path::root(), problem, expected }])
    }

    /// The first hundred faults, in the order of the text.
    pub fn first(&self) -> &[Diagnostic] {
        &self.kept
    }

    /// If there are more than are kept, some may not have been looked for.
    pub fn count(&self) -> usize {
        self.count
    }
}

/// Faults while they are found: memory for two hundred, however many there are.
#[derive(Debug, Default)]
pub(super) struct Collected {
    kept: Vec<Diagnostic>,
    count: usize,
}

impl Collected {
    pub(super) fn push(&mut self, fault: Diagnostic) {
        self.count += 1;
        self.kept.push(fault);
        if self.kept.len() >= 2 * MAX_KEPT {
            self.keep_first();
        }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    fn keep_first(&mut self) {
        self.kept.sort_by_key(|wrong| (wrong.range.start, wrong.range.end));
        self.kept.truncate(MAX_KEPT);
    }

    pub(super) fn into_diagnostics(mut self) -> Diagnostics {
        self.keep_first();
        Diagnostics { kept: self.kept, count: self.count }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, diagnostic) in self.kept.iter().enumerate() {
            write!(f, "{}{diagnostic}", if position == 0 { "" } else { "\n" })?;
        }
        match self.count - self.kept.len() {
            0 => Ok(()),
            more => write!(f, "\n… and {more} more"),
        }
    }
}

impl std::error::Error for Diagnostics {}

/// A fault that the core types found, on these bytes.
pub(super) fn at(range: Range<usize>, invalid: Invalid) -> Diagnostic {
    Diagnostic { range, path: invalid.path, problem: invalid.problem, expected: invalid.expected }
}

/// Both from 1, in characters; a byte-order mark is none. An offset inside a character means that
/// character, one beyond the text its end.
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = 1 + before.as_bytes().iter().filter(|&&byte| byte == b'\n').count();
    let on_line = &before[line_start..];
    let on_line = if line_start == 0 { on_line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(on_line) } else { on_line };
    (line, 1 + on_line.chars().count())
}

/// U+FEFF, which some editors put at the beginning of a text.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        for (text, offset, expected) in [
            ("", 0, (1, 1)),
            ("", 9, (1, 1)),
            ("ab\ncd", 4, (2, 2)),
            ("ab\ncd", 2, (1, 3)),
            ("ab\ncd", 3, (2, 1)),
            ("µs x", 3, (1, 3)),
            ("µs x", 1, (1, 1)),
            ("\u{feff}{", 3, (1, 1)),
            ("\u{feff}{\n}", 5, (2, 1)),
        ] {
            assert_eq!(line_column(text, offset), expected, "{text:?} {offset}");
        }
    }
}
