//! `rtflash host bound`: bounds on the latencies of a scenario's real-time jobs.

use rtflash_answers::BoundAnswer;
use rtflash_host::bound::{Bound, bounds};
use rtflash_host::run::Scenario;

use super::host_input::Input;
use crate::answer::{SetAnswer, Status, Unanswered};
use crate::args::{Format, HostBoundArgs};
use crate::render::host_bound::text;
use crate::render::rendered;

pub fn answer(args: &HostBoundArgs, input: &Input) -> Result<SetAnswer, Unanswered> {
    let (mut answers, complaint, mut status) = (String::new(), input.remarks()?, Status::Yes);
    for scheduler in args.schedulers.names() {
        let scenario = input.scenario(scheduler)?;
        let measured = input.measured(&scenario)?.map(|fitted| fitted.claims());
        let bounds = bounds(&scenario);
        status = bounds.iter().map(|bound| verdict(bound, &scenario)).fold(status, Status::max);
        let answer = BoundAnswer { measured, ..BoundAnswer::new(&scenario, &bounds) };
        if !answers.is_empty() && args.format.format == Format::Text {
            answers.push('\n');
        }
        answers += &rendered(args.format.format, &answer, || text(&answer));
    }
    Ok(SetAnswer { text: answers, complaint, status, ..SetAnswer::default() })
}

/// Whether a job has a bound within its deadline, as far as that is decided.
fn verdict(bound: &Bound, scenario: &Scenario) -> Status {
    Status::of(match &bound.terms {
        Ok(_) => bound.is_in_time(scenario),
        Err(why) if why.is_open() => None,
        Err(_) => Some(false),
    })
}
