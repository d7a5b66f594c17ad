//! Files and drawings that a run leaves: traces and figures.

use std::io;
use std::path::{Path, PathBuf};

use rtflash_draw::{Gantt, Perfetto, page::Picture};
use rtflash_model::{Instant, TaskSet, format_ns, parse_ns};
use rtflash_plan::{Plan, Policy};
use rtflash_trace::{JsonLines, Observer, Record};

use crate::answer::RunDrawing;
use crate::args::ExecArgs;
use crate::whole::WholeFile;
use crate::{CommandFailure, output, report};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TraceFormat {
    Perfetto,
    JsonLines,
}

#[derive(Debug, Clone)]
pub struct Wanted {
    trace: Option<(PathBuf, TraceFormat)>,
    gantt: Option<(Instant, Instant)>,
    figure: Option<(PathBuf, Option<PngWriter>)>,
    /// A report, and when the stretch in it ends where none is asked for.
    report: Option<PathBuf>,
    /// The words of `check` that judge the trace, but for the length of the run; empty without a
    /// trace, and if no words of `check` name the allocation.
    judge: Vec<String>,
}

/// The words of `check` that judge the trace of such a run. Chips that `--spread` gives away are
/// in no allocation that `check` finds.
fn judge(args: &ExecArgs) -> Vec<String> {
    let Some(trace) = args.trace.as_deref().filter(|_| !args.spread) else { return Vec::new() };
    let mut words = vec!["rtflash".to_owned(), "check".to_owned(), args.file.display().to_string()];
    let mut add = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
    args.set.changes.iter().for_each(|change| add("--set", change.argument()));
    if let Some(allocation) = &args.allocation {
        add("--allocation", allocation.display().to_string());
    }
    if let Some(algorithm) = &args.by.algorithm.algorithm {
        add("--algorithm", algorithm.clone());
    }
    add("--analysis", args.by.analysis.analysis.clone());
    add("--assume", args.by.rely_on.granted.assumption().to_owned());
    if let Some(dispatch) = args.dispatch.stated() {
        add("--dispatch", dispatch.to_owned());
    }
    add("--trace", trace.display().to_string());
    words
}

/// Turns SVG into PNG. The caller passes it on, so that a program without it links none of the
/// libraries that draw.
pub type PngWriter = fn(&str) -> Result<Vec<u8>, String>;

#[cfg(feature = "pictures")]
pub const PNG: Option<PngWriter> = Some(|svg| rtflash_draw::png(svg).map_err(|error| error.to_string()));
#[cfg(not(feature = "pictures"))]
pub const PNG: Option<PngWriter> = None;

impl Wanted {
    pub fn new(args: &ExecArgs, png: Option<PngWriter>) -> Result<Wanted, CommandFailure> {
        let (trace, figure) = (args.trace.as_deref(), args.gantt_out.as_deref());
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
        Ok(Wanted {
            trace: trace.transpose()?,
            gantt: args.gantt.as_deref().map(stretch).transpose()?,
            figure: figure.transpose()?,
            report: report::place(args.report.as_deref())?,
            judge: judge(args),
        })
    }

    pub fn failure(&self, error: &io::Error) -> String {
        let name = self.trace.as_ref().map_or("the trace".into(), |(path, _)| path.display().to_string());
        format!("cannot write {name}: {error}")
    }

    /// How `check` judges the trace of a run that was stopped: the trace states the whole length.
    pub fn judged_until(&self, stopped: Instant) -> Option<String> {
        self.trace.as_ref().filter(|(_, format)| *format == TraceFormat::JsonLines && !self.judge.is_empty())?;
        let words = [&self.judge[..], &["--duration".to_owned(), format_ns(stopped.as_ns())]].concat();
        Some(format!("the run was stopped: `{}` judges its trace", report::command::line(&words)))
    }

    pub fn begins(&self) -> Option<Instant> {
        self.gantt.map(|(from, _)| from)
    }

    pub fn is_some(&self) -> bool {
        self.trace.is_some() || self.gantt.is_some() || self.report.is_some()
    }

    pub fn report(&self) -> Option<&Path> {
        self.report.as_deref()
    }

    fn stretch(&self, set: &TaskSet, duration: Instant) -> Option<(Instant, Instant)> {
        let usual = || (Instant::START, report::chart_end(set, duration));
        self.gantt.or_else(|| self.report.is_some().then(usual))
    }
}

fn ending(path: &Path) -> Option<String> {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase())
}

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

pub struct Keeper {
    wanted: Wanted,
    stretch: Option<(Instant, Instant)>,
    trace: Option<TraceFile>,
    gantt: Option<Gantt>,
    begun: bool,
}

impl Keeper {
    pub fn new(wanted: &Wanted, set: &TaskSet, duration: Instant) -> Keeper {
        let stretch = wanted.stretch(set, duration);
        Keeper { wanted: wanted.clone(), stretch, trace: None, gantt: None, begun: false }
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
        self.gantt = self.stretch.map(|(from, to)| Gantt::new(plan, from, to));
        self.begun = true;
        Ok(())
    }

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

    pub fn finish(mut self, plan: &Plan, duration: Instant) -> Result<DrawnRun, CommandFailure> {
        if let Some((path, _)) = self.wanted.trace.clone() {
            let failure = |error| CommandFailure::writing(&path, &error);
            if !self.begun {
                self.begin(plan).map_err(failure)?;
            }
            let ended = match self.trace {
                Some(TraceFile::Perfetto(trace)) => trace.finish(duration).and_then(WholeFile::finish),
                Some(TraceFile::JsonLines(trace)) => trace.finish().and_then(WholeFile::finish),
                None => Ok(()),
            };
            ended.map_err(failure)?;
        }
        let Some((from, to)) = self.stretch else { return Ok(DrawnRun::default()) };
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
            output::save(path, &bytes)?;
        }
        let report = self.wanted.report.as_ref();
        Ok(DrawnRun {
            drawing: self.wanted.gantt.is_some().then(|| RunDrawing { text: gantt.text(WIDTH), svg }),
            picture: report.map(|_| Picture::gantt(&caption(from, to), &gantt)),
        })
    }
}

#[derive(Default)]
pub struct DrawnRun {
    pub drawing: Option<RunDrawing>,
    pub picture: Option<Picture>,
}

fn caption(from: Instant, to: Instant) -> String {
    let end = format_ns(to.as_ns());
    if from == Instant::START {
        format!("What chips and buses do in the first {end}")
    } else {
        format!("What chips and buses do from {} to {end}", format_ns(from.as_ns()))
    }
}

/// Columns of a drawing in the terminal.
const WIDTH: usize = 100;
