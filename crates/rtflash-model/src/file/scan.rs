//! The scan for the end of a JSON value: a count of brackets that goes on where it stopped when
//! more bytes come.

/// A frame, scanned up to the position `at` of a buffer.
#[derive(Debug)]
pub(super) struct Scan {
    at: usize,
    is_line: bool,
    start: usize,
    depth: usize,
    in_string: bool,
    /// The byte behind the last backslash that escapes something.
    escaped: Option<usize>,
    /// The first line in it that begins with `{`.
    pub(super) candidate: Option<usize>,
}

pub(super) enum End {
    Whole(usize),
    Cut(usize),
    Beyond,
}

impl Scan {
    pub(super) fn new(start: usize, first: u8) -> Scan {
        Scan {
            at: start,
            start,
            is_line: !matches!(first, b'{' | b'['),
            depth: 0,
            in_string: false,
            escaped: None,
            candidate: None,
        }
    }

    /// Adjusts the positions after the buffer has lost `bytes` bytes at its front.
    pub(super) fn move_back(&mut self, bytes: usize) {
        self.at -= bytes;
        self.start -= bytes;
        self.escaped = self.escaped.and_then(|escaped| escaped.checked_sub(bytes));
        self.candidate = self.candidate.map(|candidate| candidate - bytes);
    }

    /// Up to `distrust` a line that begins with `{` always ends the frame.
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
        while let Some(length) = buffer[self.at..].iter().position(|byte| MARKS[usize::from(*byte)]) {
            let here = self.at + length;
            self.at = here + 1;
            if let Some(end) = self.step(buffer, here, distrust) {
                return end;
            }
        }
        self.at = buffer.len();
        End::Beyond
    }

    #[inline]
    fn step(&mut self, buffer: &[u8], here: usize, distrust: usize) -> Option<End> {
        match buffer[here] {
            b'\n' if self.in_string => return Some(End::Cut(here)),
            _ if self.escaped == Some(here) => {}
            b'\\' if self.in_string => self.escaped = Some(here + 1),
            b'"' => self.in_string = !self.in_string,
            _ if self.in_string => {}
            b'}' | b']' => {
                self.depth -= 1;
                if self.depth == 0 {
                    return Some(End::Whole(here + 1));
                }
            }
            byte @ (b'{' | b'[') => {
                if byte == b'{' && self.depth > 0 && buffer[here - 1] == b'\n' {
                    if here < distrust || !self.may_begin_value(&buffer[..here]) {
                        return Some(End::Cut(here));
                    }
                    self.candidate.get_or_insert(here);
                }
                self.depth += 1;
            }
            _ => {}
        }
        None
    }

    /// Outside strings: behind a comma, a colon or `[`.
    fn may_begin_value(&self, before: &[u8]) -> bool {
        let previous = before[self.start..].iter().rfind(|byte| !is_space(**byte));
        matches!(previous, Some(b',' | b':' | b'['))
    }
}

/// The bytes that can change anything: a table, since each byte of a stream is compared.
const MARKS: [bool; 256] = {
    let (mut marks, of, mut at) = ([false; 256], b"{}[]\"\\\n", 0);
    while at < of.len() {
        marks[of[at] as usize] = true;
        at += 1;
    }
    marks
};

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
