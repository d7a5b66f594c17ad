//! `rtflash host`: I/O schedulers in front of the device.

use std::path::Path;

use rtflash_host::order::{self, OrderError, read_script};
use rtflash_host::run::{Seen, Watch, run_watched};
use rtflash_model::{Diagnostics, Instant, Span};

use super::host_bound;
use super::host_input::Input;
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
        HostCommand::Bound(args) => host_bound::run(args),
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
    let input = Input::read(&args.input)?;
    let schedulers: Vec<Option<&str>> = match args.scheduler.as_slice() {
        [] => vec![None],
        names => names.iter().map(|name| Some(name.as_str())).collect(),
    };
    let mut output = Output::stdout();
    let written = |error: &std::io::Error| Failure::io("cannot write", error);
    let mut answers = String::new();
    for scheduler in schedulers {
        let Some(scenario) = input.scenario(scheduler) else { return Ok(Status::Wrong) };
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
