//! Where a JSON value ends: a count of brackets that goes on where it stopped when more bytes come.

use crate::words::{eight, equal, first};

/// A frame, scanned up to the position `at` of a buffer.
#[derive(Debug)]
pub(super) struct Scan {
    at: usize,
    /// It runs to the end of its line.
    is_line: bool,
    start: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The first line in it that begins with `{`.
    pub(super) candidate: Option<usize>,
}

/// Where a scan ends.
pub(super) enum End {
    /// Here, complete.
    Whole(usize),
    /// Here, cut short.
    Cut(usize),
    /// Beyond the buffer.
    Beyond,
}

impl Scan {
    /// A frame that begins at `start` with the byte `first`.
    pub(super) fn new(start: usize, first: u8) -> Scan {
        Scan {
            at: start,
            start,
            is_line: !matches!(first, b'{' | b'['),
            depth: 0,
            in_string: false,
            escaped: false,
            candidate: None,
        }
    }

    /// The buffer has lost so many bytes at its front.
    pub(super) fn move_back(&mut self, bytes: usize) {
        self.at -= bytes;
        self.start -= bytes;
        self.candidate = self.candidate.map(|candidate| candidate - bytes);
    }

    /// Goes on to the end of the frame, or of the buffer. Up to `distrust` a line that begins with
    /// `{` always ends it.
    pub(super) fn run(&mut self, buffer: &[u8], distrust: usize) -> End {
        if self.is_line {
            let newline = buffer[self.at..].iter().position(|byte| *byte == b'\n');
            return match newline {
                Some(length) => End::Cut(self.at + length),
                None => {
                    self.at = buffer.len();
                    End::Beyond
                }
            };
        }
        loop {
            if self.in_string {
                match self.end_of_string(buffer) {
                    Some(b'"') => self.in_string = false,
                    Some(_) => return End::Cut(self.at),
                    None => return End::Beyond,
                }
            }
            let Some(passed) = first(&buffer[self.at..], structural) else {
                self.at = buffer.len();
                return End::Beyond;
            };
            let here = self.at + passed;
            self.at = here + 1;
            match buffer[here] {
                b'"' => self.in_string = true,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return End::Whole(here + 1);
                    }
                }
                byte => {
                    if byte == b'{' && self.depth > 0 && buffer[here - 1] == b'\n' {
                        if here < distrust || !self.may_begin_value(&buffer[..here]) {
                            return End::Cut(here);
                        }
                        self.candidate.get_or_insert(here);
                    }
                    self.depth += 1;
                }
            }
        }
    }

    /// Goes on to the byte that ends a string, and behind it where that is its quote; at the end of
    /// a line stays before it.
    fn end_of_string(&mut self, buffer: &[u8]) -> Option<u8> {
        loop {
            if self.escaped {
                let byte = *buffer.get(self.at)?;
                if byte == b'\n' {
                    return Some(byte);
                }
                self.escaped = false;
                self.at += 1;
            }
            let Some(passed) = first(&buffer[self.at..], in_strings) else {
                self.at = buffer.len();
                return None;
            };
            self.at += passed;
            let byte = buffer[self.at];
            if byte != b'\n' {
                self.at += 1;
            }
            if byte != b'\\' {
                return Some(byte);
            }
            self.escaped = true;
        }
    }

    /// Whether a value may begin behind this, which ends outside strings: behind a comma, a colon
    /// or `[`.
    fn may_begin_value(&self, before: &[u8]) -> bool {
        let previous = before[self.start..].iter().rfind(|byte| !is_space(**byte));
        matches!(previous, Some(b',' | b':' | b'['))
    }
}

/// Marks the bytes that are looked at outside strings.
#[inline]
fn structural(word: u64) -> u64 {
    // The two of each kind of bracket differ in a single bit.
    let brackets = word | eight(b'{' ^ b'[');
    equal(brackets, b'{') | equal(brackets, b'}') | equal(word, b'"')
}

/// Marks the bytes that are looked at inside strings.
#[inline]
fn in_strings(word: u64) -> u64 {
    equal(word, b'"') | equal(word, b'\\') | equal(word, b'\n')
}

/// Whether JSON allows this byte between its parts.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
