//! The places that answers and complaints go to.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};

use crate::CommandFailure;
use crate::args::Color;
use crate::whole::{self, WholeFile};

static QUIET: AtomicBool = AtomicBool::new(false);

pub fn choose(color: Color, quiet: bool) {
    let choice = match color {
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
    QUIET.store(quiet, Ordering::Relaxed);
}

pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

pub fn print(answer: &str) -> Result<(), CommandFailure> {
    let mut output = Output::stdout();
    output
        .write(answer)
        .and_then(|_| output.flush())
        .map(drop)
        .map_err(|error| CommandFailure::io("cannot write", &error))
}

const ESCAPE: u8 = 0x1b;

/// Standard output, or a file. A reader that has gone away is no error: writing just ends.
pub struct Output {
    sink: OutputSink,
    closed: bool,
}

enum OutputSink {
    /// Standard output, and whether it takes colour.
    Stdout(Box<dyn Write + Send>, bool),
    File(WholeFile),
}

impl OutputSink {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            OutputSink::Stdout(stdout, _) => stdout,
            OutputSink::File(file) => file,
        }
    }
}

impl Output {
    /// Standard output. Colour is taken out unless it is a terminal and NO_COLOR is not set.
    pub fn stdout() -> Output {
        if QUIET.load(Ordering::Relaxed) {
            return Output { sink: OutputSink::Stdout(Box::new(io::sink()), true), closed: false };
        }
        let in_colour = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        let stdout = BufWriter::with_capacity(1 << 16, io::stdout());
        Output { sink: OutputSink::Stdout(Box::new(stdout), in_colour), closed: false }
    }

    /// A file, there once it is whole: [`Output::finish`] puts it into its place. `-` is standard
    /// output.
    pub fn file(path: &Path) -> io::Result<Output> {
        if path == Path::new("-") {
            return Ok(Output::stdout());
        }
        Ok(Output { sink: OutputSink::File(WholeFile::create(path)?), closed: false })
    }

    /// Ends what is written: nothing is buffered any more, and a file is in its place.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        let ended = match self.sink {
            OutputSink::Stdout(..) => Ok(()),
            OutputSink::File(file) => file.finish(),
        };
        // The reader of a pipe can have ended.
        ended.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
    }

    /// Writes a text. Returns whether anybody still listens.
    pub fn write(&mut self, text: &str) -> io::Result<bool> {
        // Most texts have no style in them; to look for a byte is much quicker than for all codes.
        let plain = match &self.sink {
            OutputSink::Stdout(_, false) if text.as_bytes().contains(&ESCAPE) => {
                Some(anstream::adapter::strip_str(text).to_string())
            }
            _ => None,
        };
        let text = plain.as_deref().unwrap_or(text);
        let result = if self.closed { Ok(()) } else { self.sink.writer().write_all(text.as_bytes()) };
        self.settle(result)
    }

    /// Hands on what is buffered. Returns whether anybody still listens.
    pub fn flush(&mut self) -> io::Result<bool> {
        let result = if self.closed { Ok(()) } else { self.sink.writer().flush() };
        self.settle(result)
    }

    fn settle(&mut self, result: io::Result<()>) -> io::Result<bool> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(false)
            }
            Err(error) => Err(error),
            Ok(()) => Ok(!self.closed),
        }
    }
}

/// A complaint to standard error. A write that fails there is ignored.
pub fn complain(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

pub fn complaints_in_colour() -> bool {
    match anstream::AutoStream::choice(&io::stderr()) {
        anstream::ColorChoice::Never => false,
        anstream::ColorChoice::Auto => io::stderr().is_terminal(),
        anstream::ColorChoice::Always | anstream::ColorChoice::AlwaysAnsi => true,
    }
}

/// Writes a file with this content; it is there once it is whole.
pub fn save(path: &Path, content: &[u8]) -> Result<(), CommandFailure> {
    whole::write(path, content).map_err(|error| CommandFailure::writing(path, &error))
}

pub fn folder(path: &Path) -> Result<(), CommandFailure> {
    if path == Path::new("-") || path.exists() && !path.is_dir() {
        fail!("cannot write into {}: it is no folder", path.display());
    }
    std::fs::create_dir_all(path)
        .map_err(|error| CommandFailure::io(&format!("cannot make the folder {}", path.display()), &error))
}

/// The words of a number that cannot be read, for those of the standard library.
pub fn in_plain_words(complaint: &str) -> String {
    let whole = complaint.replace("invalid digit found in string", "a whole number is expected");
    let whole = whole.replace("cannot parse integer from empty string", "a whole number is expected");
    whole.replace("number too large to fit in target type", "it is too large a number")
}

pub fn error(message: &str) -> String {
    format!("{}: {message}\n", paint(RED, "error"))
}

pub fn warning(message: &str) -> String {
    format!("{}: {message}\n", paint(YELLOW, "warning"))
}

pub const GREEN: Style = AnsiColor::Green.on_default().bold();
pub const RED: Style = AnsiColor::Red.on_default().bold();
pub const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();

/// The text in a style. The style is taken out again where colour is not wanted.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
