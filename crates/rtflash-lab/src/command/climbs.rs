//! Climbing: in the rows of the table "What is necessary", or in a set of one's own.

use std::fs;
use std::path::PathBuf;

use crate::climb::rows::{Row, TABLE};
use crate::climb::{ClimbOptions, Climbed, OnExecutor, climb};
use clap::Args;
use rtflash_alloc::allocator::allocator;
use rtflash_analysis::analysis_relying_on;
use rtflash_model::{Instant, Reliance, Span, TaskSet, read_task_set};
use rtflash_plan::Options;

use super::Found;

/// Moves from each start, and the run of the start itself.
const RUNS_OF_A_START: u64 = 100;

#[derive(Debug, Args)]
pub struct ClimbArgs {
    /// A task set, each request of which is searched; without it: the sets of the last table of
    /// docs/analysis.md, Section 6.1
    file: Option<PathBuf>,
    /// The seed of the randomness
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Runs for each request at most
    #[arg(long, default_value_t = 5_000)]
    runs: u64,
    /// The algorithm that divides the chips
    #[arg(long, default_value = "best-fit")]
    algorithm: String,
    /// The analysis
    #[arg(long, default_value = "sound")]
    analysis: String,
}

/// Climbs, and prints how late each request was. A row of the table is to be late, a set of one's
/// own is not.
pub fn climb_all(args: &ClimbArgs) -> Found {
    let lateness = match &args.file {
        None => TABLE.iter().flat_map(|row| row_climbed(args, row)).collect(),
        Some(file) => set_climbed(args, &fs::read_to_string(file).map_err(|error| error.to_string())?)?,
    };
    Ok(lateness.into_iter().all(|late| late == args.file.is_none()))
}

fn options(args: &ClimbArgs) -> ClimbOptions {
    let starts = args.runs.div_ceil(RUNS_OF_A_START).max(1);
    let moves = (args.runs / starts).saturating_sub(1);
    ClimbOptions { seed: args.seed, starts, moves, until_late: args.file.is_none() }
}

/// Prints how far a climber came; whether it found a late end.
fn climbed(of: &str, on: &str, climbed: &Climbed) -> bool {
    let latest = climbed.latest.map_or("-".into(), |latest| latest.to_string());
    println!("{of} on the {on}: latest {latest} after {} runs: {:?}", climbed.runs, climbed.arrivals);
    climbed.is_late()
}

/// A row on the channel, and on the executor where it does what the row says. The request that is
/// looked at is the read of chip 0.
fn row_climbed(args: &ClimbArgs, row: &Row) -> Vec<bool> {
    let of = row.left_out.name();
    let mut late = vec![climbed(of, "channel", &climb(&row.on_channel(), 0, options(args)))];
    if let Some(on) = row.on_executor() {
        let watched = on.names().position(|name| name == "chip-0.read").expect("chip 0 of each row reads");
        late.push(climbed(of, "executor", &climb(&on, watched, options(args))));
    }
    late
}

/// Each request of a set in its turn.
fn set_climbed(args: &ClimbArgs, text: &str) -> Result<Vec<bool>, String> {
    let set = read_task_set(text).map_err(|diagnostics| format!("{diagnostics:?}"))?.set;
    let analysis = analysis_relying_on(&args.analysis, Reliance::default()).ok_or("no such analysis")?;
    let outcome = allocator(&args.algorithm).ok_or("no such algorithm")?.allocate(&set, analysis);
    let allocation = outcome.allocation().ok_or("no allocation")?;
    let options_of_run = Options { duration: duration(&set).ok_or("no task")?, seed: args.seed, ..Options::default() };
    let on = OnExecutor::new(&set, allocation, analysis, options_of_run, unit(&set));
    let on = on.map_err(|refusal| refusal.to_string())?;
    let late = |(watched, name)| climbed(name, "executor", &climb(&on, watched, options(args)));
    Ok(on.names().enumerate().map(late).collect())
}

/// Four of the longest periods.
fn duration(set: &TaskSet) -> Option<Instant> {
    let requests = set.tasks().iter().flat_map(|task| task.requests());
    let longest = requests.map(|(request, _)| request.period()).max()?;
    Some(Instant::START.saturating_add(longest.checked_mul(4).unwrap_or(Span::LONGEST)))
}

/// A quarter of the device's shortest time.
fn unit(set: &TaskSet) -> Span {
    let device = set.device();
    let times = [device.page_read(), device.page_program(), device.block_erase(), device.page_transfer()];
    let shortest = times.into_iter().filter(|&time| time > Span::ZERO).min().unwrap_or(Span::NANOSECOND);
    Span::from_ns(shortest.as_ns() / 4).filter(|&unit| unit > Span::ZERO).unwrap_or(Span::NANOSECOND)
}
