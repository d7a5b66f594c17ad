//! `rtflash host`: I/O schedulers in front of the device.

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rtflash_answers::Answer;
use rtflash_host::bound::{Assumptions, BoundAssumption};
use rtflash_host::order::{self, OrderError, read_script};
use rtflash_host::run::{
    HostRunError, JobReport, LengthMeasure, QueueLengths, QueueTrace, Scenario, run_watched, until_over,
};
use rtflash_model::Diagnostics;

use super::host_bound;
use super::host_datasheet;
use super::host_drive;
use super::host_figures::{self, Ran};
use super::host_input::{Input, NamedText, advice};
use super::host_tune;
use crate::CommandFailure;
use crate::answer::{SetAnswer, Status, Unanswered, print};
use crate::args::{HostArgs, HostCommand, HostFormat, HostRunArgs};
use crate::output;
use crate::render::host::{CSV, csv, text};
use crate::report;
use crate::whole::WholeFile;

pub fn run(args: &HostArgs) -> Result<Status, CommandFailure> {
    match &args.command {
        HostCommand::Order { file } => order(file),
        HostCommand::Run(args) => print(answer(args, &Input::read(&args.input)?)),
        HostCommand::Bound(args) => print(host_bound::answer(args, &Input::read(&args.input)?)),
        HostCommand::Tune(args) => print(host_tune::answer(args, &Input::read(&args.input)?)),
        HostCommand::Protocol(args) => print(host_drive::protocol(args)),
        HostCommand::Fit(args) => print(host_drive::fit(args)),
        HostCommand::Datasheet(args) => print(host_datasheet::answer(args)),
        HostCommand::Check(args) => print(host_drive::check(args)),
    }
}

pub fn answer(args: &HostRunArgs, input: &Input) -> Result<SetAnswer, Unanswered> {
    if args.trace.as_deref() == Some(Path::new("-")) {
        fail!("--trace takes a file: the answer is on standard output");
    }
    let report = report::place(args.report.as_deref())?;
    let schedulers = args.schedulers.names();
    let (mut answers, mut warnings, mut status) = (String::new(), input.remarks()?, Status::Yes);
    let mut runs = Vec::new();
    for scheduler in &schedulers {
        let gave_up = |error: HostRunError| Unanswered::because(&error.to_string(), Status::CannotTell);
        let scenario = until_over(input.scenario(*scheduler)?, args.seed).map_err(gave_up)?;
        // The jobs are the same by each scheduler.
        if answers.is_empty() {
            warnings += &advice(&scenario);
            if let Some(reason) = input.fitted().and_then(|fitted| fitted.not_measured(&scenario)) {
                warnings += &output::warning(&reason);
            }
        }
        let trace = args.trace.as_ref().map(|trace| place(trace, scheduler.filter(|_| schedulers.len() > 1)));
        let (jobs, queues, assumptions) = traced(&scenario, args.seed, trace.as_deref())?.map_err(gave_up)?;
        let ran = Ran { scheduler: scenario.scheduler.name(), jobs, queues, assumptions };
        let answer = ran.answer();
        status = status.max(status_of(&ran.assumptions, answer.late().next().is_some()));
        for broken in ran.assumptions.iter().filter(|seen| seen.broken.is_some() && seen.name == "ends-within") {
            warnings += &output::warning(&complaint(broken));
        }
        if !answers.is_empty() && args.format == HostFormat::Text {
            answers.push('\n');
        }
        answers += &match args.format {
            HostFormat::Json => answer.line(),
            HostFormat::Csv => format!("{}{}", if answers.is_empty() { CSV } else { "" }, csv(&answer)),
            HostFormat::Text => text(&answer),
        };
        // Only figures and reports need it any longer.
        if args.figures.is_some() || report.is_some() {
            runs.push(ran);
        }
    }
    if let Some(folder) = &args.figures {
        host_figures::write(folder, &runs)?;
    }
    if let Some(path) = &report {
        let answers: Vec<_> = runs.iter().map(Ran::answer).collect();
        report::write(path, &report::host(&answers, args.seed, host_figures::pictures(&runs)))?;
    }
    Ok(SetAnswer { text: answers, complaint: warnings, status, ..SetAnswer::default() })
}

/// The place of the trace of a run by this scheduler: its name is put before the ending if there
/// are several.
fn place(trace: &Path, scheduler: Option<&str>) -> PathBuf {
    let Some(scheduler) = scheduler else { return trace.to_owned() };
    let mut name = trace.file_stem().map_or_else(OsString::new, ToOwned::to_owned);
    name.push(format!(".{scheduler}"));
    if let Some(ending) = trace.extension() {
        name.push(".");
        name.push(ending);
    }
    trace.with_file_name(name)
}

/// A bound that a run exceeds is a no, and so is a missed deadline.
fn status_of(assumptions: &[BoundAssumption], is_late: bool) -> Status {
    Status::of(Some(!is_late && assumptions.iter().all(|seen| seen.name != "bounds" || seen.broken.is_none())))
}

fn complaint(seen: &BoundAssumption) -> String {
    let at = seen.broken.map_or_else(String::new, |at| format!(", first at {at}"));
    format!("commands took longer than `ends_within`{at}: what rests on it does not hold")
}

type Watched = (Vec<JobReport>, QueueLengths, Vec<BoundAssumption>);

fn traced(
    scenario: &Scenario,
    seed: u64,
    trace: Option<&Path>,
) -> Result<Result<Watched, HostRunError>, CommandFailure> {
    let failure = |error| CommandFailure::writing(trace.unwrap_or(Path::new("")), &error);
    let file = trace.map(WholeFile::create).transpose().map_err(failure)?;
    let trace_of_run = file.map(|file| QueueTrace::new(scenario, file)).transpose().map_err(failure)?;
    let mut watch = ((LengthMeasure::new(scenario.warmup), Assumptions::new(scenario)), trace_of_run);
    let jobs = match run_watched(scenario, seed, &mut watch) {
        Ok(jobs) => jobs,
        Err(error) => return Ok(Err(error)),
    };
    let ((lengths, assumptions), trace) = watch;
    if let Some(trace) = trace {
        trace.finish(scenario.duration).and_then(WholeFile::finish).map_err(failure)?;
    }
    Ok(Ok((jobs, lengths.finish(scenario.duration), assumptions.found().collect())))
}

fn order(file: &Path) -> Result<Status, CommandFailure> {
    let mut lines = String::new();
    let ordered = ordered(&NamedText::read(file)?, &mut lines);
    // A fault can come behind answers.
    output::print(&lines)?;
    ordered.map_or_else(Unanswered::tell, |()| Ok(Status::Yes))
}

/// Adds each answer to a script as a line, up to the first fault.
pub fn ordered(script: &NamedText, lines: &mut String) -> Result<(), Unanswered> {
    let refused = |wrong: Diagnostics| Unanswered::refused(&script.name, &script.text, &wrong);
    let read = read_script(&script.text).map_err(refused)?;
    let ran = order::run::<Infallible>(&read, |ids| {
        let ids: Vec<_> = ids.iter().map(|&id| read.names.of(id)).collect();
        *lines += &serde_json::to_string(&ids).expect("names are written as JSON");
        lines.push('\n');
        Ok(())
    });
    ran.map_err(|OrderError::Script(wrong)| refused(wrong))
}

#[cfg(test)]
mod tests {
    use rtflash_model::Instant;

    use super::*;

    #[test]
    fn a_bound_that_is_exceeded_is_a_no() {
        let seen = |name, broken| BoundAssumption { name, observed: true, broken };
        assert!(Assumptions::NAMES.contains(&"bounds"));
        for name in Assumptions::NAMES {
            assert_eq!(status_of(&[seen(name, None)], false), Status::Yes, "{name}");
            assert_eq!(status_of(&[seen(name, None)], true), Status::No, "{name}");
            let expected = if name == "bounds" { Status::No } else { Status::Yes };
            assert_eq!(status_of(&[seen("tags", None), seen(name, Some(Instant::START))], false), expected, "{name}");
        }
    }
}
