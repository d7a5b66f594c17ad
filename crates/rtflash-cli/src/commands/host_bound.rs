//! `rtflash host bound`: bounds on the latencies of a scenario's real-time jobs.

use rtflash_check::verify_certified;
use rtflash_host::bound::bounds_judged;
use rtflash_model::{Allocation, Placement, Reliance, TaskSet};
use rtflash_wire::BoundAnswer;

use super::host_input::Input;
use crate::CommandFailure;
use crate::answer::{SetAnswer, Unanswered, print};
use crate::args::{Format, HostBoundArgs};
use crate::render::Render;
use crate::status::Status;

/// Carries the command out.
pub fn run(args: &HostBoundArgs) -> Result<Status, CommandFailure> {
    print(answer(args, &Input::read(&args.input)?))
}

/// The bounds, by each scheduler.
pub fn answer(args: &HostBoundArgs, input: &Input) -> Result<SetAnswer, Unanswered> {
    let schedulers: Vec<Option<&str>> = match args.scheduler.as_slice() {
        [] => vec![None],
        names => names.iter().map(|name| Some(name.as_str())).collect(),
    };
    let mut answers = String::new();
    for scheduler in schedulers {
        let scenario = input.scenario(scheduler)?;
        let bounds = bounds_judged(&scenario, verify);
        let answer = BoundAnswer::new(&scenario, &bounds);
        if !answers.is_empty() && args.format.format == Format::Text {
            answers.push('\n');
        }
        answers += &answer.render(args.format.format);
    }
    Ok(SetAnswer { text: answers, ..SetAnswer::default() })
}

/// Why the certificates of an allocation do not hold, by the verifier of `check`.
fn verify(set: &TaskSet, allocation: &Allocation) -> Result<(), String> {
    let verification = verify_certified(set, allocation, &Placement::ALL, Reliance::Neighbours);
    if verification.accepts() {
        return Ok(());
    }
    let wrong = verification.clusters.iter().position(|of| of.holds != Some(true) || !of.discrepancies.is_empty());
    let cluster = wrong.expect("some cluster is refused");
    let complaint = verification.clusters[cluster].discrepancies.first();
    let problem = complaint.map_or_else(|| "its test does not hold".to_owned(), Clone::clone);
    Err(format!("the certificate of cluster {cluster} promises nothing: {problem}"))
}
