//! The command of the laboratory: `cargo run --release -p rtflash-lab -- soak --world stripe`.

mod climbs;

use std::process::ExitCode;

use crate::stock::{StockCheck, StockSearch, StockSoaked, soak_stock};
use crate::world::{SmallSearch, SmallWorld, soak_small, soak_without};
use crate::{STOCK_TERMS, TERMS, letters};
use clap::{Args, Parser};
use rtflash_model::{TaskSet, write_task_set};
use rtflash_run::soak::{Broken, Search, Soaked, World, soak};

/// Searches for counterexamples, with the analyses as they are or with a term left out.
#[derive(Debug, Parser)]
enum Laboratory {
    /// Draws small sets at the limit of one test and runs each 16 times
    Soak(WorldArgs),
    /// Moves releases, gaps and lengths of operations towards late ends
    Climb(climbs::ClimbArgs),
}

#[derive(Debug, Args)]
struct WorldArgs {
    /// The seed of the randomness
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Cases to draw
    #[arg(long, default_value_t = 1_000)]
    runs: u64,
    /// The world that cases are drawn from: a world of small sets, `stock`, or `supposed`
    #[arg(long)]
    world: String,
    /// The term that is left out of the world's test; `all`: each by itself
    #[arg(long)]
    without: Option<String>,
    /// Whether releases are moved towards late ends
    #[arg(long)]
    climb: bool,
}

/// Whether what was expected was found; an error in words.
type Found = Result<bool, String>;

/// Carries out what was typed. The status is 1 if something else was found than expected.
pub fn run() -> ExitCode {
    let found = match Laboratory::parse() {
        Laboratory::Soak(args) => searched(&args),
        Laboratory::Climb(args) => climbs::climb_all(&args),
    };
    match found {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn searched(args: &WorldArgs) -> Found {
    let small = SmallWorld::ALL.into_iter().find(|world| world.name() == args.world);
    let of_world = match (small, args.world.as_str()) {
        (Some(world), _) => world.terms().to_vec(),
        (None, "stock") => STOCK_TERMS.map(|(name, _)| name).to_vec(),
        (None, "supposed") => Vec::new(),
        (None, other) => {
            let names = SmallWorld::ALL.map(SmallWorld::name).join(", ");
            return Err(format!("no world {other}: there are {names}, stock, supposed"));
        }
    };
    let terms: Vec<&'static str> = match args.without.as_deref() {
        None => Vec::new(),
        Some("all") => of_world.clone(),
        Some(name) => of_world.iter().copied().filter(|term| *term == name).collect(),
    };
    if args.without.is_some() && terms.is_empty() {
        return Err(format!("--without: --world {} has the terms {}", args.world, of_world.join(", ")));
    }
    Ok(match small {
        Some(world) => small_sets(args, world, &terms),
        None if args.world == "stock" => stock_sets(args, &terms),
        None => {
            let search = Search { seed: args.seed, world: World::Supposed };
            is_whole(&soak(search, args.runs, &|_: u64| ()))
        }
    })
}

fn small_sets(args: &WorldArgs, world: SmallWorld, terms: &[&'static str]) -> bool {
    let search = SmallSearch { seed: args.seed, world, left_out: None, climbs: args.climb };
    if terms.is_empty() {
        return is_whole(&soak_small(search, args.runs, &|_: u64| ()));
    }
    let mut missed = true;
    for &term in terms {
        let found = soak_without(SmallSearch { left_out: Some(term), ..search }, args.runs, &|_: u64| ());
        let checks: Vec<String> = found.broken.iter().map(|(of, runs)| format!("{} {runs}", of.name())).collect();
        print_left_out(LeftOutLine {
            term,
            letters: letters(&TERMS, term),
            sets: found.sets,
            runs: found.judged,
            late: found.late,
            first: found.first,
            checks: &checks,
            set: found.smallest.as_ref().map(|case| &case.set),
        });
        missed &= !checks.is_empty();
    }
    missed
}

/// Prints what a search found; whether it found nothing.
fn is_whole(soaked: &Soaked) -> bool {
    let load = soaked.load as f64 / 1e6;
    println!("{} cases, {} sets accepted, {} runs, mean load {load:.3}", soaked.cases, soaked.sets, soaked.judged);
    for Broken { runs, first, smallest, finding } in &soaked.broken {
        println!("{}: {runs} runs, first {first}", finding.assumption.name());
        println!("  {} {} {:?}", smallest.allocator.name(), smallest.analysis.name(), smallest.options);
        println!("  {}", write_task_set(&smallest.set, None));
    }
    soaked.broken.is_empty()
}

/// The line printed for a term that was left out.
struct LeftOutLine<'a> {
    term: &'a str,
    letters: &'a str,
    sets: u64,
    runs: u64,
    late: u64,
    first: Option<u64>,
    /// The checks that fail, each with the number of runs.
    checks: &'a [String],
    /// A small set in which they do.
    set: Option<&'a TaskSet>,
}

fn print_left_out(line: LeftOutLine<'_>) {
    let LeftOutLine { term, letters, sets, runs, late, first, checks, set } = line;
    let first = first.map_or("-".into(), |first| first.to_string());
    let checks = if checks.is_empty() { "none".into() } else { checks.join(", ") };
    println!("{term} ({letters}): {sets} sets, {runs} runs, {late} late, first {first}, checks that fail: {checks}");
    if let Some(set) = set {
        println!("  {}", write_task_set(set, None));
    }
}

fn stock_sets(args: &WorldArgs, terms: &[&'static str]) -> bool {
    let search = StockSearch { seed: args.seed, left_out: None, climbs: args.climb };
    let soaked = |left_out| soak_stock(StockSearch { left_out, ..search }, args.runs, &|_: u64| ());
    if terms.is_empty() {
        let StockSoaked { cases, sets, runs, broken, .. } = soaked(None);
        println!("{cases} cases, {sets} sets accepted, {runs} runs");
        for of in &broken {
            println!("{}: {} runs, first {}: {:?}", of.finding.check.name(), of.runs, of.first, of.finding);
            println!("  {}", write_task_set(&of.smallest, None));
        }
        return broken.is_empty();
    }
    let mut missed = true;
    for &term in terms {
        let found = soaked(Some(term));
        let late = found.broken.iter().find(|of| of.finding.check == StockCheck::Deadlines);
        let shown = late.or_else(|| found.broken.iter().min_by_key(|of| of.first));
        let checks: Vec<String> =
            found.broken.iter().map(|of| format!("{} {}", of.finding.check.name(), of.runs)).collect();
        print_left_out(LeftOutLine {
            term,
            letters: letters(&STOCK_TERMS, term),
            sets: found.sets,
            runs: found.runs,
            late: late.map_or(0, |of| of.runs),
            first: shown.map(|of| of.first),
            checks: &checks,
            set: shown.map(|of| &of.smallest),
        });
        missed &= !checks.is_empty();
    }
    missed
}
