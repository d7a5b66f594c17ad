//! `rtflash host`: I/O schedulers in front of the device.

use std::path::Path;

use rtflash_alloc::allocator::Outcome;
use rtflash_alloc::verdict::completed;
use rtflash_host::order::{self, OrderError, read_script};
use rtflash_host::run::{Outside, Seen, Watch, read_scenario_with, run_watched};
use rtflash_model::{Allocation, Diagnostics, Instant, Reliance, Span, TaskSet};

use super::{allocate, allocator, analysis_relying_on};
use crate::args::{HostArgs, HostCommand, HostFormat, HostRunArgs};
use crate::output::{self, Output};
use crate::render::envelope::line;
use crate::render::host::{CSV, HostAnswer};
use crate::status::Status;
use crate::{Failure, diagnose, source};

/// Carries the command out.
pub fn run(args: &HostArgs) -> Result<Status, Failure> {
    match &args.command {
        HostCommand::Order { file } => order(file),
        HostCommand::Run(args) => simulate(args),
    }
}

/// Files beside the scenario, and certificates of the sound analysis.
struct Beside<'p>(Option<&'p Path>);

impl Outside for Beside<'_> {
    fn file(&mut self, name: &str) -> Result<String, String> {
        let path = self.0.map_or_else(|| Path::new(name).to_owned(), |folder| folder.join(name));
        source::read(&path).map(|(_, text)| text).map_err(|failure| failure.0)
    }

    fn certified(&mut self, set: &TaskSet, given: Option<Allocation>) -> Result<Allocation, String> {
        let analysis = analysis_relying_on("sound", Reliance::Neighbours).map_err(|failure| failure.0)?;
        if let Some(given) = given {
            return Ok(completed(set, analysis, given));
        }
        match allocate(set, allocator("clustering-bfd").map_err(|failure| failure.0)?, analysis, false) {
            Outcome::Schedulable(allocation) => Ok(allocation),
            Outcome::CannotTell(limit) => Err(limit.to_string()),
            _ => Err("the sound analysis finds no allocation by which all deadlines are kept".to_owned()),
        }
    }
}

/// Commands that took longer than their device says.
#[derive(Default)]
struct Late {
    count: u64,
    longest: Span,
}

impl Watch for Late {
    fn see(&mut self, _: Instant, what: &Seen<'_>) {
        if let Seen::Late { took, .. } = what {
            (self.count, self.longest) = (self.count + 1, self.longest.max(*took));
        }
    }
}

impl Late {
    fn complaint(&self) -> Option<String> {
        let Late { count, longest } = self;
        (*count > 0).then(|| {
            format!("{count} commands took longer than `ends_within`, up to {longest}: what rests on it does not hold")
        })
    }
}

/// Runs a scenario, by one scheduler or several.
fn simulate(args: &HostRunArgs) -> Result<Status, Failure> {
    let (name, text) = source::read(&args.file)?;
    let schedulers: Vec<Option<&str>> = match args.scheduler.as_slice() {
        [] => vec![None],
        names => names.iter().map(|name| Some(name.as_str())).collect(),
    };
    let mut output = Output::stdout();
    let written = |error: &std::io::Error| Failure::io("cannot write", error);
    let mut answers = String::new();
    for scheduler in schedulers {
        let scenario = match read_scenario_with(&text, scheduler, &mut Beside(args.file.parent())) {
            Ok(scenario) => scenario,
            Err(wrong) => {
                output::complain(&diagnose::render(&name, &text, 1, 1, &wrong, output::complaints_in_colour()));
                return Ok(Status::Wrong);
            }
        };
        let mut late = Late::default();
        let jobs = match run_watched(&scenario, args.seed, &mut late) {
            Ok(jobs) => jobs,
            Err(error) => {
                output::complain(&output::error(&error.to_string()));
                return Ok(Status::CannotTell);
            }
        };
        if let Some(complaint) = late.complaint() {
            output::complain(&output::warning(&complaint));
        }
        let answer = HostAnswer::new(scenario.scheduler.name(), &jobs);
        if !answers.is_empty() && args.format == HostFormat::Text {
            answers.push('\n');
        }
        answers += &match args.format {
            HostFormat::Json => line(&answer),
            HostFormat::Csv => format!("{}{}", if answers.is_empty() { CSV } else { "" }, answer.csv()),
            HostFormat::Text => answer.text(scenario.duration.since(scenario.warmup).as_ns() as f64 / 1e9),
        };
    }
    output.write(&answers).and_then(|_| output.flush()).map_err(|error| written(&error))?;
    Ok(Status::Yes)
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
