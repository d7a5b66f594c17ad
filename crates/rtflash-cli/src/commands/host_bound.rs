//! `rtflash host bound`: bounds on the latencies of a scenario's real-time jobs.

use rtflash_host::bound::bounds;

use super::host_input::Input;
use crate::Failure;
use crate::args::{Format, HostBoundArgs};
use crate::output::Output;
use crate::render::envelope::line;
use crate::render::host_bound::BoundAnswer;
use crate::status::Status;

/// Carries the command out.
pub fn run(args: &HostBoundArgs) -> Result<Status, Failure> {
    let input = Input::read(&args.input)?;
    let schedulers: Vec<Option<&str>> = match args.scheduler.as_slice() {
        [] => vec![None],
        names => names.iter().map(|name| Some(name.as_str())).collect(),
    };
    let mut answers = String::new();
    for scheduler in schedulers {
        let Some(scenario) = input.scenario(scheduler) else { return Ok(Status::Wrong) };
        let bounds = bounds(&scenario);
        let answer = BoundAnswer::new(&scenario, &bounds);
        if !answers.is_empty() && args.format.format == Format::Text {
            answers.push('\n');
        }
        answers += &match args.format.format {
            Format::Json => line(&answer),
            Format::Text => answer.text(),
        };
    }
    let mut output = Output::stdout();
    output.write(&answers).and_then(|_| output.flush()).map_err(|error| Failure::io("cannot write", &error))?;
    Ok(Status::Yes)
}
