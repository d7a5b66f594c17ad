//! `rtflash soak`: random search for a broken assumption.

use rtflash_answers::{BrokenLine, SoakAnswer};
use rtflash_model::{format_ns, write_task_set};
use rtflash_plan::{Policy, write_release_pattern};
use rtflash_run::soak::{Broken, Case, Search, World, soak};
use serde_json::value::RawValue;

use super::policies;
use super::soak_answer::text;
use super::soak_watch::BarWatch;
use crate::CommandFailure;
use crate::answer::{SetAnswer, Unanswered, print};
use crate::args::{SoakArgs, SoakWorld};
use crate::render::rendered;
use crate::status::Status;
use crate::whole::SignalHold;

/// Carries the command out. A signal ends the search; what was found until then is printed before
/// it ends the process.
pub fn run(args: &SoakArgs) -> Result<Status, CommandFailure> {
    let signals = SignalHold::new();
    print(answer(args, Some(&signals)))
}

pub fn answer(args: &SoakArgs, signals: Option<&SignalHold>) -> Result<SetAnswer, Unanswered> {
    let world = match args.world {
        SoakWorld::Any => World::Any,
        SoakWorld::Sound => World::Sound,
    };
    let watch = BarWatch::new(args.runs, signals);
    let searched = || soak(Search { seed: args.seed, world }, args.runs, &watch);
    let soaked = policies::on_threads(args.jobs.map(usize::from), searched)?;
    watch.bar.finish();
    let answer = SoakAnswer {
        seed: args.seed,
        runs: args.runs,
        stopped_after: watch.stopped_after(soaked.cases),
        judged: soaked.judged,
        mean_load: (soaked.load > 0).then_some(soaked.load as f64 / 1e6),
        broken: soaked.broken.iter().map(broken_line).collect(),
    };
    let status = Status::of(Some(answer.broken.is_empty()));
    let text = rendered(args.format.format, &answer, || text(&answer));
    Ok(SetAnswer { text, status, ..SetAnswer::default() })
}

fn broken_line(broken: &Broken) -> BrokenLine {
    let worst = broken.finding.gauge.worst();
    BrokenLine {
        name: broken.finding.assumption.name().into(),
        runs: broken.runs,
        first_run: broken.first,
        bound: worst.map(|worst| worst.bound),
        observed: worst.map(|worst| worst.observed),
        command: command(&broken.smallest),
        task_set: RawValue::from_string(write_task_set(&broken.smallest.set, None)).ok(),
    }
}

/// The command that runs a case, with its task set on standard input.
fn command(case: &Case) -> String {
    let options = &case.options;
    let mut command = format!(
        "rtflash exec - --algorithm {} --analysis {} --duration {} --seed {}",
        case.allocator.name(),
        case.analysis.name(),
        format_ns(options.duration.as_ns()),
        options.seed
    );
    let mut add = |option: &str, value: Option<&str>| {
        value.into_iter().for_each(|value| command += &format!(" --{option} {value}"));
    };
    add("assume", case.analysis.demand_test().map(|test| test.rely_on.assumption()));
    add("dispatch", options.dispatch.stated());
    add("server", options.service.stated());
    add("victims", options.victims.stated());
    add("aging", options.aging.stated());
    add("pattern", options.pattern.stated());
    add("times", options.times.stated());
    add("waits", options.placed.waits.stated());
    add("phases", options.phases.stated());
    add("arbitration", options.arbitration.stated());
    add("ties", options.ties.stated());
    add("arrivals", options.recurrence.stated());
    if !options.placed.backfill {
        command += " --no-backfill";
    }
    if options.placed.faults > 0 {
        command += &format!(" --faults {}", options.placed.faults);
    }
    if let Some(releases) = &options.releases {
        let stated = write_release_pattern(releases, &case.set);
        // A shell's quotes end at each of these.
        command += &format!(" --releases '{}'", stated.replace('\'', r"'\''"));
    }
    command
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rtflash_alloc::allocator::Global;
    use rtflash_analysis::Thesis;
    use rtflash_model::{Span, TaskId, read_task_set};
    use rtflash_plan::{Options, ReleasePattern};

    use super::*;

    /// What is stated of releases is part of the command, as a shell reads it.
    #[test]
    fn a_command_states_the_releases() {
        let text = r#"{"device":"dgist-2021","tasks":[{"name":"nose's","read":{"pages":4,"period":"36ms"}}]}"#;
        let set = read_task_set(text).expect("a set").set;
        let mut pattern = ReleasePattern::default();
        pattern.request_mut(TaskId(0), rtflash_trace::Kind::Read).gaps = vec![Span::from_us(3)];
        let options = Options { releases: Some(Arc::new(pattern)), ..Options::default() };
        let case = Case { seed: 1, run: 0, set, allocator: &Global, analysis: &Thesis, options };
        let expected = r#"rtflash exec - --algorithm global --analysis thesis --duration 10s --seed 1 --releases '{"nose'\''s":{"read":{"gaps":["3us"]}}}'"#;
        assert_eq!(command(&case), expected);
    }
}
