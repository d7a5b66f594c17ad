//! Files and drawings that a run leaves: traces and figures.

use std::io;
use std::path::{Path, PathBuf};

use rtflash_draw::{Gantt, Perfetto, PngError};
use rtflash_exec::Plan;
use rtflash_exec::trace::{JsonLines, Observer, Record};
use rtflash_model::{Instant, parse_ns};

use crate::CommandFailure;
use crate::answer::RunDrawing;
use crate::whole::{self, WholeFile};

/// What a trace file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TraceFormat {
    Perfetto,
    JsonLines,
}

/// What is to be kept of a run beside its report.
#[derive(Debug, Clone)]
pub struct Wanted {
    trace: Option<(PathBuf, TraceFormat)>,
    gantt: Option<(Instant, Instant)>,
    figure: Option<(PathBuf, Option<PngWriter>)>,
}

/// What makes PNG of SVG. It is passed on by whoever has it, so that a program that does not brings
/// along none of the libraries that draw.
pub type PngWriter = fn(&str) -> Result<Vec<u8>, PngError>;

impl Wanted {
    /// What the user asked for, where figures can be PNG with `png`.
    ///
    /// # Errors
    /// An ending that says no format, or a stretch that is none.
    pub fn new(
        trace: Option<&Path>,
        gantt: Option<&str>,
        figure: Option<&Path>,
        png: Option<PngWriter>,
    ) -> Result<Wanted, CommandFailure> {
        let trace = trace.map(|path| match ending(path).as_deref() {
            Some("json") => Ok((path.to_owned(), TraceFormat::Perfetto)),
            Some("jsonl") => Ok((path.to_owned(), TraceFormat::JsonLines)),
            _ => Err(CommandFailure(format!(
                "--trace {}: the name has to end in .json (for Perfetto) or .jsonl (one event a line)",
                path.display()
            ))),
        });
        let figure = figure.map(|path| match ending(path).as_deref() {
            Some("svg") => Ok((path.to_owned(), None)),
            Some("png") if png.is_some() => Ok((path.to_owned(), png)),
            Some("png") => Err(CommandFailure(format!(
                "--gantt-out {}: figures are SVG here, and the command's alone are PNG",
                path.display()
            ))),
            _ => Err(CommandFailure(format!("--gantt-out {}: the name has to end in .svg or .png", path.display()))),
        });
        Ok(Wanted { trace: trace.transpose()?, gantt: gantt.map(stretch).transpose()?, figure: figure.transpose()? })
    }

    /// A trace that could not be written.
    pub fn failure(&self, error: &io::Error) -> String {
        let name = self.trace.as_ref().map_or("the trace".into(), |(path, _)| path.display().to_string());
        format!("cannot write {name}: {error}")
    }

    /// When the stretch that is drawn begins.
    pub fn begins(&self) -> Option<Instant> {
        self.gantt.map(|(from, _)| from)
    }

    /// Whether anything is.
    pub fn is_some(&self) -> bool {
        self.trace.is_some() || self.gantt.is_some()
    }
}

fn ending(path: &Path) -> Option<String> {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase())
}

/// `FROM..TO`.
fn stretch(text: &str) -> Result<(Instant, Instant), CommandFailure> {
    let wrong =
        |problem: &str| CommandFailure(format!("--gantt {text}: {problem}; a stretch is FROM..TO, such as 0ms..40ms"));
    let (from, to) = text.split_once("..").ok_or_else(|| wrong("there is no `..`"))?;
    let instant = |text: &str| {
        let nanoseconds = if text.trim() == "0" { Ok(0) } else { parse_ns(text) };
        nanoseconds.map_err(|error| wrong(&error.to_string())).map(|ns| Instant::from_ns(ns).unwrap_or(Instant::END))
    };
    let (from, to) = (instant(from)?, instant(to)?);
    if from < to { Ok((from, to)) } else { Err(wrong("it ends before it begins")) }
}

enum TraceFile {
    Perfetto(Perfetto<WholeFile>),
    JsonLines(JsonLines<WholeFile>),
}

/// What is kept of a run, while it runs.
pub struct Keeper {
    wanted: Wanted,
    trace: Option<TraceFile>,
    gantt: Option<Gantt>,
    begun: bool,
}

impl Keeper {
    /// Keeps what is wanted.
    pub fn new(wanted: &Wanted) -> Keeper {
        Keeper { wanted: wanted.clone(), trace: None, gantt: None, begun: false }
    }

    /// Files are created with the first record: a run that is refused leaves none.
    fn begin(&mut self, plan: &Plan) -> io::Result<()> {
        if let Some((path, format)) = &self.wanted.trace {
            let file = WholeFile::create(path)?;
            self.trace = Some(match format {
                TraceFormat::Perfetto => TraceFile::Perfetto(Perfetto::new(plan, file)?),
                TraceFormat::JsonLines => TraceFile::JsonLines(JsonLines::new(plan, file)),
            });
        }
        self.gantt = self.wanted.gantt.map(|(from, to)| Gantt::new(plan, from, to));
        self.begun = true;
        Ok(())
    }

    /// Keeps a record.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn keep(&mut self, plan: &Plan, record: &Record) -> io::Result<()> {
        if !self.begun {
            self.begin(plan)?;
        }
        if let Some(gantt) = &mut self.gantt {
            gantt.record(record);
        }
        match &mut self.trace {
            None => Ok(()),
            Some(TraceFile::Perfetto(trace)) => trace.write(record),
            Some(TraceFile::JsonLines(trace)) => trace.write(record),
        }
    }

    /// Ends the files, and returns the drawing, if one is wanted.
    ///
    /// # Errors
    /// Where something cannot be written.
    pub fn finish(mut self, plan: &Plan, duration: Instant) -> Result<Option<RunDrawing>, CommandFailure> {
        let failure = |path: &Path| {
            let what = format!("cannot write {}", path.display());
            move |error: io::Error| CommandFailure::io(&what, &error)
        };
        if let Some((path, _)) = self.wanted.trace.clone() {
            if !self.begun {
                self.begin(plan).map_err(failure(&path))?;
            }
            let ended = match self.trace {
                Some(TraceFile::Perfetto(trace)) => trace.finish(duration).and_then(WholeFile::finish),
                Some(TraceFile::JsonLines(trace)) => trace.finish().and_then(WholeFile::finish),
                None => Ok(()),
            };
            ended.map_err(failure(&path))?;
        }
        let Some((from, to)) = self.wanted.gantt else { return Ok(None) };
        let mut gantt = self.gantt.unwrap_or_else(|| Gantt::new(plan, from, to));
        gantt.finish(duration);
        let svg = gantt.svg();
        if let Some((path, png)) = &self.wanted.figure {
            let bytes = match png {
                Some(png) => {
                    png(&svg).map_err(|error| CommandFailure(format!("cannot draw {}: {error}", path.display())))?
                }
                None => svg.clone().into_bytes(),
            };
            whole::write(path, &bytes).map_err(failure(path))?;
        }
        Ok(Some(RunDrawing { text: gantt.text(WIDTH), svg }))
    }
}

/// Columns of a drawing in the terminal.
const WIDTH: usize = 100;
