//! `rtflash soak`: random search for a broken assumption.

use rtflash_alloc::certified::Term;
use rtflash_exec::check::LEVELLED;
use rtflash_exec::{
    Aging, Arbitration, Dispatch, Pattern, Phases, Recurrence, Service, Ties, Times, Victims, Waits,
    write_release_pattern,
};
use rtflash_model::{format_ns, write_task_set};
use rtflash_run::soak::{Broken, Case, LeftOut, Search, World, soak_watched, soak_without};
use rtflash_wire::line;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::CommandFailure;
use crate::answer::{SetAnswer, Unanswered, print};
use crate::args::{ALL_TERMS, SoakArgs, SoakWorld};
use crate::output::{GREEN, RED, paint};
use crate::progress::Bar;
use crate::render::Render;
use crate::render::kind::kind;
use crate::render::numbers::count;
use crate::render::table::table;
use crate::status::Status;

/// The worlds whose sets are accepted by a test that has terms.
const WITH_TERMS: &str = "stripe, queue, superblock, mixed, stream, command, queue-command, register, register-command, \
                          zoned, failing, suspending or levelling";

/// What `rtflash soak --format json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SoakAnswer {
    /// The seed that repeats the search.
    seed: u64,
    /// Cases drawn.
    runs: u64,
    /// Sets that the analysis accepts, where each is run many times.
    #[serde(skip_serializing_if = "Option::is_none")]
    sets: Option<u64>,
    /// Cases that the analysis accepts and that were run.
    judged: u64,
    /// The mean real-time load of the fullest cluster of each case, garbage collection included
    /// (world `sound`).
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_load: Option<f64>,
    /// What broke.
    broken: Vec<BrokenLine>,
    /// What a term that is left out of the test is for (`--without`). What was accepted so was no
    /// promise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    without: Vec<WithoutLine>,
}

/// A term that was left out of the test, and what broke.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WithoutLine {
    term: &'static str,
    /// The term in the letters of docs/analysis.md.
    letters: &'static str,
    /// Sets that the test accepts without it. Where certificates state the same with the term, it
    /// rejects each of them.
    sets: u64,
    /// Runs of them.
    runs: u64,
    /// Runs in which a request or a job of garbage collection was late.
    late: u64,
    /// The first of these, else the first in which anything broke.
    first_run: Option<u64>,
    /// The checks that fail, each with the number of runs.
    checks: Vec<CheckCount>,
    /// A small set with which it does. `exec` refuses it, as nothing is promised.
    #[schemars(with = "serde_json::Value")]
    task_set: Option<Box<RawValue>>,
}

/// How often a check failed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckCount {
    name: &'static str,
    runs: u64,
}

/// An assumption that broke.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BrokenLine {
    name: &'static str,
    runs: u64,
    first_run: u64,
    bound: Option<u64>,
    observed: Option<u64>,
    /// The command that runs the smallest case found, with the task set on standard input.
    command: String,
    /// The smallest case found.
    #[schemars(with = "serde_json::Value")]
    task_set: Option<Box<RawValue>>,
}

/// Carries the command out.
pub fn run(args: &SoakArgs) -> Result<Status, CommandFailure> {
    print(answer(args))
}

/// What is found.
pub fn answer(args: &SoakArgs) -> Result<SetAnswer, Unanswered> {
    let world = match args.world {
        SoakWorld::Any => World::Any,
        SoakWorld::Supposed => World::Supposed,
        SoakWorld::Sound => World::Sound,
        SoakWorld::Stripe => World::Stripe,
        SoakWorld::Queue => World::Queue,
        SoakWorld::Superblock => World::Superblock,
        SoakWorld::Mixed => World::Mixed,
        SoakWorld::Stream => World::Stream,
        SoakWorld::Command => World::Command,
        SoakWorld::QueueCommand => World::QueueCommand,
        SoakWorld::Register => World::Register,
        SoakWorld::RegisterCommand => World::RegisterCommand,
        SoakWorld::Zoned => World::Zoned,
        SoakWorld::Failing => World::Failing,
        SoakWorld::Suspending => World::Suspending,
        SoakWorld::Levelling => World::Levelling,
    };
    let climbs = args.climb.is_some();
    match &args.climb {
        Some(Some(path)) => return super::climb::answer(args, Some(path)),
        Some(None) if world == World::Any => return super::climb::answer(args, None),
        Some(None) if world.terms().is_empty() => {
            let failure = format!(
                "--climb: --world {WITH_TERMS} has sets to climb in; without --world it is in those of the table, and \
                 --climb FILE in a set of your own"
            );
            return Err(CommandFailure(failure).into());
        }
        _ => {}
    }
    let search = Search { climbs, ..Search::new(args.seed, world) };
    let terms = match &args.without {
        Some(name) => terms(world, name)?,
        None => Vec::new(),
    };
    let searched = || if terms.is_empty() { searched(args, search) } else { searched_without(args, search, &terms) };
    let answer = match args.jobs {
        Some(jobs) => super::policies::threads(jobs.into())?.install(searched),
        None => searched(),
    };
    // A term that is left out is to be missed.
    let is_found = answer.without.iter().all(|line| !line.checks.is_empty());
    let status = Status::of(Some(answer.broken.is_empty() && is_found));
    Ok(SetAnswer { text: answer.render(args.format.format), status, ..SetAnswer::default() })
}

/// The terms of a world's test that `--without` names.
fn terms(world: World, name: &str) -> Result<Vec<Term>, CommandFailure> {
    let of_world = world.terms();
    if of_world.is_empty() {
        let failure = format!("--without leaves a term out of the test of --world {WITH_TERMS}, and of no other");
        return Err(CommandFailure(failure));
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

fn bar(cases: u64) -> Bar {
    Bar::new("{wide_bar} {percent} % of {human_len} cases, {per_sec} a second, {eta} left", 0, cases)
}

fn searched(args: &SoakArgs, search: Search) -> SoakAnswer {
    let bar = bar(args.runs());
    let soaked = soak_watched(search, args.runs(), &|cases| bar.inc(cases));
    bar.finish();
    SoakAnswer {
        seed: args.seed,
        runs: args.runs(),
        sets: (search.world.runs_of_a_set() > 1).then_some(soaked.sets),
        judged: soaked.judged,
        mean_load: (soaked.load > 0).then_some(soaked.load as f64 / 1e6),
        broken: soaked.broken.iter().map(broken_line).collect(),
        without: Vec::new(),
    }
}

fn searched_without(args: &SoakArgs, search: Search, terms: &[Term]) -> SoakAnswer {
    let bar = bar(args.runs().saturating_mul(terms.len() as u64));
    let over = |cases| bar.inc(cases);
    let found: Vec<LeftOut> = terms.iter().map(|&term| soak_without(search, args.runs(), term, &over)).collect();
    bar.finish();
    SoakAnswer {
        seed: args.seed,
        runs: args.runs(),
        sets: None,
        judged: found.iter().map(|of| of.judged).sum(),
        mean_load: None,
        broken: Vec::new(),
        without: found.iter().map(without_line).collect(),
    }
}

fn without_line(of: &LeftOut) -> WithoutLine {
    let set = of.smallest.as_ref().and_then(|case| RawValue::from_string(write_task_set(&case.set, None)).ok());
    WithoutLine {
        term: of.term.name(),
        letters: of.term.letters(),
        sets: of.sets,
        runs: of.judged,
        late: of.late,
        first_run: of.first,
        checks: of.broken.iter().map(|&(at, runs)| CheckCount { name: LEVELLED[at].name, runs }).collect(),
        task_set: set,
    }
}

fn broken_line(broken: &Broken) -> BrokenLine {
    let worst = broken.finding.gauge.worst();
    BrokenLine {
        name: LEVELLED[broken.assumption].name,
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
    let mut add = |differs: bool, option: &str| {
        if differs {
            command += option;
        }
    };
    if let Some(rely_on) = kind(case.analysis).rely_on() {
        add(true, &format!(" --rely-on {}", rely_on.name()));
    }
    add(options.dispatch == Dispatch::Parallel, " --dispatch parallel");
    add(options.service == Service::Background, " --server background");
    add(options.victims == Victims::Worst, " --victims worst");
    add(options.aging == Aging::Random, " --aging random");
    add(options.aging == Aging::Fresh, " --aging fresh");
    add(options.pattern == Pattern::Sequential, " --pattern sequential");
    add(options.pattern == Pattern::HotCold, " --pattern hot-cold");
    add(options.pattern == Pattern::OneChip, " --pattern one-chip");
    add(options.pattern == Pattern::Fullest, " --pattern fullest");
    add(options.times == Times::Best, " --times best");
    add(options.times == Times::Random, " --times random");
    add(options.placed.waits == Waits::Worst, " --waits worst");
    add(options.phases == Phases::AtErases, " --phases at-erases");
    add(options.phases == Phases::Random, " --phases random");
    add(options.arbitration == Arbitration::RoundRobin, " --arbitration round-robin");
    add(options.ties == Ties::Highest, " --ties highest");
    add(options.ties == Ties::Random, " --ties random");
    add(options.recurrence == Recurrence::Sporadic, " --arrivals sporadic");
    add(!options.placed.backfill, " --no-backfill");
    add(options.placed.faults > 0, &format!(" --faults {}", options.placed.faults));
    if let Some(releases) = &options.releases {
        let stated = write_release_pattern(releases, &case.set);
        // A shell's quotes end at each of these.
        add(true, &format!(" --releases '{}'", stated.replace('\'', r"'\''")));
    }
    command
}

impl Render for SoakAnswer {
    fn text(&self) -> String {
        text(self)
    }

    fn json(&self) -> String {
        line(self)
    }
}

fn text(answer: &SoakAnswer) -> String {
    if !answer.without.is_empty() {
        return text_without(answer);
    }
    let drawn = match answer.sets {
        Some(sets) => format!(
            "{} cases drawn from seed {}, {sets} sets accepted by their analysis, {} runs of them",
            answer.runs, answer.seed, answer.judged
        ),
        None => format!(
            "{} cases drawn from seed {}, {} accepted by their analysis and run",
            answer.runs, answer.seed, answer.judged
        ),
    };
    let drawn = match answer.mean_load {
        Some(load) => format!("{drawn} (mean real-time load of the fullest cluster {load:.3})"),
        None => drawn,
    };
    if answer.broken.is_empty() {
        return format!("{}: {drawn}: no check fails\n", paint(GREEN, "pass"));
    }
    let assumptions = count(answer.broken.len(), "assumption");
    let verb = if answer.broken.len() == 1 { "breaks" } else { "break" };
    let mut text = format!("{}: {drawn}: {assumptions} {verb}\n\n", paint(RED, "fail"));
    let number = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
    let rows = answer.broken.iter().map(|broken| {
        vec![
            broken.name.to_owned(),
            broken.runs.to_string(),
            broken.first_run.to_string(),
            number(broken.bound),
            number(broken.observed),
        ]
    });
    text += &table(&["check", ">runs", ">first", ">bound", ">observed"], rows.collect::<Vec<_>>());
    text += "\nThe smallest cases found (bound and observation above are theirs):\n";
    for broken in &answer.broken {
        let set = broken.task_set.as_deref().map_or("", RawValue::get);
        text += &format!("\n{}\n  {}\n  {set}\n", broken.name, broken.command);
    }
    text
}

fn text_without(answer: &SoakAnswer) -> String {
    let rows = answer.without.iter().map(|line| {
        let checks: Vec<String> = line.checks.iter().map(|check| format!("{} {}", check.name, check.runs)).collect();
        vec![
            line.term.to_owned(),
            line.letters.to_owned(),
            line.sets.to_string(),
            line.runs.to_string(),
            line.late.to_string(),
            line.first_run.map_or("-".to_owned(), |run| run.to_string()),
            if checks.is_empty() { "none".to_owned() } else { checks.join(", ") },
        ]
    });
    let table = table(&["left out", "is", ">sets", ">runs", ">late", ">first", "checks that fail"], rows);
    format!(
        "{} cases for each term, drawn from seed {}. A term is left out of the test, so nothing of this is \
         promised.\n\n{table}",
        answer.runs, answer.seed
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rtflash_alloc::allocator::Global;
    use rtflash_alloc::analysis::Thesis;
    use rtflash_exec::{Options, ReleasePattern};
    use rtflash_model::{Span, TaskId, read_task_set};

    use super::*;

    /// What is stated of releases is part of the command, as a shell reads it.
    #[test]
    fn a_command_states_the_releases() {
        let text = r#"{"device":"dgist-2021","tasks":[{"name":"nose's","read":{"pages":4,"period":"36ms"}}]}"#;
        let set = read_task_set(text).expect("a set").set;
        let mut pattern = ReleasePattern::default();
        pattern.request_mut(TaskId(0), rtflash_exec::trace::Kind::Read).gaps = vec![Span::from_us(3)];
        let options = Options { releases: Some(Arc::new(pattern)), ..Options::default() };
        let case = Case { seed: 1, run: 0, set, allocator: &Global, analysis: &Thesis, options, left_out: None };
        let expected = r#"rtflash exec - --algorithm global --analysis thesis --duration 10s --seed 1 --releases '{"nose'\''s":{"read":{"gaps":["3us"]}}}'"#;
        assert_eq!(command(&case), expected);
    }
}
