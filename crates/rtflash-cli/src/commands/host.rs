//! `rtflash host`: I/O schedulers in front of the device.

use std::path::Path;

use rtflash_host::order::{self, OrderError, read_script};
use rtflash_model::Diagnostics;

use crate::args::{HostArgs, HostCommand};
use crate::output::{self, Output};
use crate::status::Status;
use crate::{Failure, diagnose, source};

/// Carries the command out.
pub fn run(args: &HostArgs) -> Result<Status, Failure> {
    match &args.command {
        HostCommand::Order { file } => order(file),
    }
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
    let called = |id: &u64| usize::try_from(*id).ok().and_then(|id| script.names.get(id)).map_or("", String::as_str);
    let ran = order::run(&script, |ids| {
        let ids: Vec<&str> = ids.iter().map(called).collect();
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
