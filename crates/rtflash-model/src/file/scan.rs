//! Where a JSON value ends: a count of brackets that goes on where it stopped when more bytes come.

/// A frame, scanned up to the position `at` of a buffer.
#[derive(Debug)]
pub(super) struct Scan {
    at: usize,
    /// It runs to the end of its line.
    is_line: bool,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The last byte that is neither white space nor inside a string.
    previous: u8,
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
            is_line: !matches!(first, b'{' | b'['),
            depth: 0,
            in_string: false,
            escaped: false,
            previous: 0,
            candidate: None,
        }
    }

    /// The buffer has lost so many bytes at its front.
    pub(super) fn move_back(&mut self, bytes: usize) {
        self.at -= bytes;
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
        while let Some(&byte) = buffer.get(self.at) {
            let here = self.at;
            self.at += 1;
            if self.in_string {
                match byte {
                    b'\n' => return End::Cut(here),
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'{' | b'[' => {
                    if byte == b'{' && self.depth > 0 && buffer[here - 1] == b'\n' {
                        if here < distrust || !matches!(self.previous, b',' | b':' | b'[') {
                            return End::Cut(here);
                        }
                        self.candidate.get_or_insert(here);
                    }
                    self.depth += 1;
                }
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return End::Whole(here + 1);
                    }
                }
                b'"' => self.in_string = true,
                _ if is_space(byte) => continue,
                _ => {}
            }
            self.previous = byte;
        }
        End::Beyond
    }
}

/// Whether JSON allows this byte between its parts.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
