//! `rtflash soak`: random search for a broken assumption.

use rtflash_exec::check::CERTIFIED;
use rtflash_exec::{Aging, Arbitration, Dispatch, Pattern, Phases, Recurrence, Service, Ties, Times, Victims, Waits};
use rtflash_model::{format_ns, write_task_set};
use rtflash_run::soak::{Broken, Case, World, soak_watched};
use rtflash_wire::line;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::CommandFailure;
use crate::args::{SoakArgs, SoakWorld};
use crate::output::{self, GREEN, RED, paint};
use crate::progress;
use crate::render::Render;
use crate::render::kind::kind;
use crate::render::numbers::count;
use crate::render::table::table;
use crate::status::Status;

/// What `rtflash soak --format json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SoakAnswer {
    /// The seed that repeats the search.
    seed: u64,
    /// Cases drawn.
    runs: u64,
    /// Cases that the analysis accepts and that were run.
    judged: u64,
    /// The mean real-time load of the fullest cluster of each case, garbage collection included
    /// (world `sound`).
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_load: Option<f64>,
    /// What broke.
    broken: Vec<BrokenLine>,
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
    let world = match args.world {
        SoakWorld::Any => World::Any,
        SoakWorld::Supposed => World::Supposed,
        SoakWorld::Sound => World::Sound,
    };
    let bar =
        progress::bar("{wide_bar} {percent} % of {human_len} cases, {per_sec} a second, {eta} left", 0, args.runs);
    let search = || soak_watched(args.seed, args.runs, world, &|| bar.inc(1));
    let soaked = match args.jobs {
        Some(jobs) => super::policies::threads(jobs.into())?.install(search),
        None => search(),
    };
    bar.finish_and_clear();
    let answer = SoakAnswer {
        seed: args.seed,
        runs: args.runs,
        judged: soaked.judged,
        mean_load: (soaked.load > 0).then_some(soaked.load as f64 / 1e6),
        broken: soaked.broken.iter().map(broken_line).collect(),
    };
    let text = answer.render(args.format.format);
    output::print(&text)?;
    Ok(Status::of(Some(answer.broken.is_empty())))
}

fn broken_line(broken: &Broken) -> BrokenLine {
    let worst = broken.finding.gauge.worst();
    BrokenLine {
        name: CERTIFIED[broken.assumption].name,
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
    let drawn = format!(
        "{} cases drawn from seed {}, {} accepted by their analysis and run",
        answer.runs, answer.seed, answer.judged
    );
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
