//! `rtflash soak`: random search for a broken assumption.

use rtflash_analysis::certified::Term;
use rtflash_model::{format_ns, write_task_set};
use rtflash_plan::{Policy, write_release_pattern};
use rtflash_run::soak::{Broken, Case, LeftOut, Search, World, soak_watched, soak_without};
use rtflash_wire::{BrokenLine, CheckCount, SoakAnswer, WithoutLine};
use serde_json::value::RawValue;

use super::soak_stock;
use super::soak_watch::{BarWatch, answered};
use crate::CommandFailure;
use crate::answer::{SetAnswer, Unanswered, print};
use crate::args::{ALL_TERMS, SoakArgs};
use crate::status::Status;
use crate::whole::SignalHold;

/// Carries the command out. A signal ends the search; what was found until then is printed before
/// it ends the process.
pub fn run(args: &SoakArgs) -> Result<Status, CommandFailure> {
    let signals = SignalHold::new();
    print(answer(args, Some(&signals)))
}

/// What is found, until a signal is held.
pub fn answer(args: &SoakArgs, signals: Option<&SignalHold>) -> Result<SetAnswer, Unanswered> {
    if !args.set.changes.is_empty() && !matches!(args.climb, Some(Some(_))) {
        return Err(CommandFailure("--set changes the set of --climb FILE, and there is none".into()).into());
    }
    let Some(world) = args.world.0 else { return soak_stock::answer(args, signals) };
    let climbs = args.climb.is_some();
    match &args.climb {
        Some(Some(path)) => return super::climb::answer(args, Some(path), signals),
        Some(None) if world == World::Any => return super::climb::answer(args, None, signals),
        Some(None) if world.terms().is_empty() => {
            let failure = "--climb: --world any, supposed and sound have no small sets to climb in, all others do; \
                           without --world it is in those of the table, and --climb FILE in a set of your own";
            return Err(CommandFailure(failure.into()).into());
        }
        _ => {}
    }
    let search = Search { climbs, ..Search::new(args.seed, world) };
    let terms = match &args.without {
        Some(name) => terms(world, name)?,
        None => Vec::new(),
    };
    let watch = BarWatch::new(args.runs().saturating_mul(terms.len().max(1) as u64), signals);
    let searched = || match terms.as_slice() {
        [] => searched(args, search, &watch),
        terms => searched_without(args, search, terms, &watch),
    };
    answered(args, &watch, searched)
}

/// The terms of a world's test that `--without` names.
fn terms(world: World, name: &str) -> Result<Vec<Term>, CommandFailure> {
    let of_world = world.terms();
    if of_world.is_empty() {
        let failure = "--without leaves a term out of the test of a --world other than any, supposed and sound";
        return Err(CommandFailure(failure.into()));
    }
    if name == ALL_TERMS {
        return Ok(of_world.to_vec());
    }
    let term = of_world.iter().copied().find(|term| term.name() == name);
    term.map(|term| vec![term]).ok_or_else(|| {
        let names: Vec<&str> = of_world.iter().map(|term| term.name()).collect();
        CommandFailure(format!("--without {name}: --world {} has the terms {}", world.name(), names.join(", ")))
    })
}

fn searched(args: &SoakArgs, search: Search, watch: &BarWatch<'_>) -> SoakAnswer {
    let soaked = soak_watched(search, args.runs(), watch);
    SoakAnswer {
        seed: args.seed,
        runs: args.runs(),
        stopped_after: watch.stopped_after(soaked.cases),
        sets: (search.world.runs_of_a_set() > 1).then_some(soaked.sets),
        judged: soaked.judged,
        mean_load: (soaked.load > 0).then_some(soaked.load as f64 / 1e6),
        broken: soaked.broken.iter().map(broken_line).collect(),
        ..SoakAnswer::default()
    }
}

fn searched_without(args: &SoakArgs, search: Search, terms: &[Term], watch: &BarWatch<'_>) -> SoakAnswer {
    let found: Vec<LeftOut> = terms.iter().map(|&term| soak_without(search, args.runs(), term, watch)).collect();
    SoakAnswer {
        seed: args.seed,
        runs: args.runs(),
        stopped_after: watch.stopped_after(found.iter().map(|of| of.cases).sum()),
        judged: found.iter().map(|of| of.judged).sum(),
        without: found.iter().map(without_line).collect(),
        ..SoakAnswer::default()
    }
}

fn without_line(of: &LeftOut) -> WithoutLine {
    let set = of.smallest.as_ref().and_then(|case| RawValue::from_string(write_task_set(&case.set, None)).ok());
    WithoutLine {
        term: of.term.name().into(),
        letters: of.term.letters().into(),
        sets: of.sets,
        runs: of.judged,
        late: of.late,
        first_run: of.first,
        checks: of
            .broken
            .iter()
            .map(|&(assumption, runs)| CheckCount { name: assumption.name().into(), runs })
            .collect(),
        task_set: set,
    }
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
    add("rely-on", case.analysis.demand_test().map(|test| test.rely_on.name()));
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
        let case = Case { seed: 1, run: 0, set, allocator: &Global, analysis: &Thesis, options, left_out: None };
        let expected = r#"rtflash exec - --algorithm global --analysis thesis --duration 10s --seed 1 --releases '{"nose'\''s":{"read":{"gaps":["3us"]}}}'"#;
        assert_eq!(command(&case), expected);
    }
}
