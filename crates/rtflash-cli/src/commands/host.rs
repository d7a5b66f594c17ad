//! `rtflash host`: I/O schedulers in front of the device.

use std::path::{Path, PathBuf};

use rtflash_host::order::{self, OrderError, read_script};
use rtflash_host::run::{JobReport, Lengths, QueueLengths, QueueTrace, RunError, Scenario, run_watched};
use rtflash_model::Diagnostics;

use super::host_figures::{self, Ran};
use super::host_input::Input;
use crate::args::{HostArgs, HostCommand, HostFormat, HostRunArgs};
use crate::output::{self, Output};
use crate::render::envelope::line;
use crate::render::host::{CSV, HostAnswer};
use crate::status::Status;
use crate::whole::WholeFile;
use crate::{Failure, diagnose, source};

/// Carries the command out.
pub fn run(args: &HostArgs) -> Result<Status, Failure> {
    match &args.command {
        HostCommand::Order { file } => order(file),
        HostCommand::Run(args) => simulate(args),
    }
}

/// Runs a scenario, by one scheduler or several.
fn simulate(args: &HostRunArgs) -> Result<Status, Failure> {
    if args.trace.as_deref() == Some(Path::new("-")) {
        return Err(Failure("--trace takes a file: the answer is on standard output".into()));
    }
    let input = Input::read(args)?;
    let schedulers: Vec<Option<&str>> = match args.scheduler.as_slice() {
        [] => vec![None],
        names => names.iter().map(|name| Some(name.as_str())).collect(),
    };
    let mut answers = String::new();
    let mut runs = Vec::new();
    for scheduler in &schedulers {
        let Some(scenario) = input.scenario(*scheduler) else { return Ok(Status::Wrong) };
        let trace = args.trace.as_ref().map(|trace| place(trace, scheduler.filter(|_| schedulers.len() > 1)));
        let (jobs, queues) = match traced(&scenario, args.seed, trace.as_deref())? {
            Ok(ran) => ran,
            Err(error) => {
                output::complain(&output::error(&error.to_string()));
                return Ok(Status::CannotTell);
            }
        };
        let span = scenario.duration.since(scenario.warmup);
        let answer = HostAnswer::new(scenario.scheduler.name(), &jobs, &queues, span);
        if !answers.is_empty() && args.format == HostFormat::Text {
            answers.push('\n');
        }
        answers += &match args.format {
            HostFormat::Json => line(&answer),
            HostFormat::Csv => format!("{}{}", if answers.is_empty() { CSV } else { "" }, answer.csv()),
            HostFormat::Text => answer.text(),
        };
        // Only figures need them any longer.
        if args.figures.is_some() {
            runs.push(Ran { scheduler: scenario.scheduler.name(), jobs });
        }
    }
    if let Some(folder) = &args.figures {
        host_figures::write(folder, &runs)?;
    }
    let mut output = Output::stdout();
    let written = |error: &std::io::Error| Failure::io("cannot write", error);
    output.write(&answers).and_then(|_| output.flush()).map_err(|error| written(&error))?;
    Ok(Status::Yes)
}

/// Where the trace of a run by this scheduler goes: its name is put before the ending where there are several.
fn place(trace: &Path, scheduler: Option<&str>) -> PathBuf {
    let Some(scheduler) = scheduler else { return trace.to_owned() };
    let stem = trace.file_stem().unwrap_or_default();
    let mut name = stem.to_owned();
    name.push(format!(".{scheduler}"));
    if let Some(ending) = trace.extension() {
        name.push(".");
        name.push(ending);
    }
    trace.with_file_name(name)
}

/// What is told of jobs and queues.
type Told = (Vec<JobReport>, QueueLengths);

/// Runs a scenario, and writes a trace of it if one is wanted.
fn traced(scenario: &Scenario, seed: u64, trace: Option<&Path>) -> Result<Result<Told, RunError>, Failure> {
    let failure = |error: &std::io::Error| {
        Failure::io(
            &format!("cannot write {}", trace.map_or_else(String::new, |path| path.display().to_string())),
            error,
        )
    };
    let file = trace.map(WholeFile::create).transpose().map_err(|error| failure(&error))?;
    let trace_of_run = file.map(|file| QueueTrace::new(scenario, file)).transpose().map_err(|error| failure(&error))?;
    let mut watch = (Lengths::new(scenario.warmup), trace_of_run);
    let jobs = match run_watched(scenario, seed, &mut watch) {
        Ok(jobs) => jobs,
        Err(error) => return Ok(Err(error)),
    };
    let (lengths, trace) = watch;
    if let Some(trace) = trace {
        trace.finish(scenario.duration).and_then(WholeFile::finish).map_err(|error| failure(&error))?;
    }
    Ok(Ok((jobs, lengths.finish(scenario.duration))))
}

/// Runs a script by its scheduler.
fn order(file: &Path) -> Result<Status, Failure> {
    let (name, text) = source::read(file)?;
    let complain = |wrong: &Diagnostics| {
        output::complain(&diagnose::render(&name, &text, 1, 1, wrong, output::complaints_in_colour()));
        Ok(Status::Wrong)
    };
    let script = match read_script(&text) {
        Ok(script) => script,
        Err(wrong) => return complain(&wrong),
    };
    let mut output = Output::stdout();
    let ran = order::run(&script, |ids| {
        let ids: Vec<_> = ids.iter().map(|&id| script.names.of(id)).collect();
        let line = serde_json::to_string(&ids).map_err(std::io::Error::from)?;
        output.write(&format!("{line}\n")).map(drop)
    });
    let written = |error: &std::io::Error| Failure::io("cannot write", error);
    output.flush().map_err(|error| written(&error))?;
    match ran {
        Ok(()) => Ok(Status::Yes),
        Err(OrderError::Script(wrong)) => complain(&wrong),
        Err(OrderError::Answer(error)) => Err(written(&error)),
    }
}
