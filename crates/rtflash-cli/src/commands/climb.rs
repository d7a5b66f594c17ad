//! `rtflash soak --climb`: requests are moved towards late ends.

use std::path::Path;

use rtflash_model::{Instant, Span, TaskSet, read_task_set};
use rtflash_plan::Options;
use rtflash_run::climb::rows::{Row, TABLE};
use rtflash_run::climb::{Arrivals, ClimbOptions, Climbed, OnExecutor, climb_while};
use rtflash_wire::{ArrivalsLine, ClimbAnswer, ClimbLine};

use super::found::{FoundAllocation, find};
use super::{allocator, analysis_relying_on};
use crate::CommandFailure;
use crate::answer::{SetAnswer, Unanswered};
use crate::args::SoakArgs;
use crate::render::rendered;
use crate::render::table::table;
use crate::source;
use crate::status::Status;
use crate::whole::SignalHold;

/// Moves from each start, and the run of the start itself.
const RUNS_OF_A_START: u64 = 100;

/// The answer for the rows of the table, or for each request of a set.
///
/// Once a signal is held, no further run is made: the answer has fewer runs, and fewer lines.
pub fn answer(args: &SoakArgs, file: Option<&Path>, signals: Option<&SignalHold>) -> Result<SetAnswer, Unanswered> {
    let goes_on = || signals.is_none_or(|signals| signals.signal().is_none());
    let (climbed, is_table) = match file {
        None => (TABLE.iter().take_while(|_| goes_on()).flat_map(|row| row_lines(args, row, &goes_on)).collect(), true),
        Some(path) => (set_lines(args, path, &goes_on)?, false),
    };
    let made = climbed.iter().map(|line: &ClimbLine| line.runs).sum();
    let answer =
        ClimbAnswer { seed: args.seed, runs: args.runs(), stopped_after: (!goes_on()).then_some(made), climbed };
    // A row of the table is to be late, a set that is given is not.
    let status = Status::of(Some(answer.climbed.iter().all(|line| line.late == is_table)));
    let text = rendered(args.format.format, &answer, || text(&answer));
    Ok(SetAnswer { text, status, ..SetAnswer::default() })
}

fn climb_options(args: &SoakArgs, until_late: bool) -> ClimbOptions {
    let starts = args.runs().div_ceil(RUNS_OF_A_START);
    ClimbOptions { seed: args.seed, starts, moves: (args.runs() / starts).saturating_sub(1), until_late }
}

/// A row on the channel, and on the executor where it does what the row says. The request that is
/// looked at is the read of chip 0.
fn row_lines(args: &SoakArgs, row: &Row, goes_on: &dyn Fn() -> bool) -> Vec<ClimbLine> {
    let climb_options = climb_options(args, true);
    let names =
        row.chips.iter().enumerate().flat_map(|(chip, tasks)| tasks.iter().map(move |_| format!("chip-{chip}")));
    let names: Vec<String> = names.collect();
    let climbed = climb_while(&row.on_channel(), 0, climb_options, goes_on);
    let left_out = || Some(row.left_out.name().into());
    let mut lines = vec![ClimbLine { left_out: left_out(), ..climb_line("channel", 0, &names, climbed, None) }];
    if let Some(on) = row.on_executor() {
        let names: Vec<String> = on.names().map(ToOwned::to_owned).collect();
        let watched = names.iter().position(|name| name == "chip-0.read").expect("chip 0 of each row reads");
        let climbed = climb_while(&on, watched, climb_options, goes_on);
        lines.push(ClimbLine {
            left_out: left_out(),
            ..climb_line("executor", watched, &names, climbed, Some(on.unit()))
        });
    }
    lines
}

fn climb_line(on: &'static str, watched: usize, names: &[String], climbed: Climbed, unit: Option<Span>) -> ClimbLine {
    let unit_ns = unit.map(Span::as_ns);
    let line = |(request, of): (&String, Arrivals)| ArrivalsLine {
        request: request.clone(),
        first: of.first,
        gaps: of.gaps,
        length: of.length,
        unit_ns,
    };
    ClimbLine {
        left_out: None,
        on: on.into(),
        request: names[watched].clone(),
        latest: climbed.latest,
        late: climbed.is_late(),
        runs: climbed.runs,
        arrivals: names.iter().zip(climbed.arrivals).map(line).collect(),
    }
}

/// Each request of a set in its turn.
fn set_lines(args: &SoakArgs, path: &Path, goes_on: &dyn Fn() -> bool) -> Result<Vec<ClimbLine>, Unanswered> {
    let (name, mut text) = source::read(path)?;
    for change in &args.set.changes {
        text = change.apply(&text).map_err(|error| CommandFailure(format!("--set: {error}")))?;
    }
    let read = read_task_set(&text);
    let set = read.map_err(|diagnostics| Unanswered::refused(&name, &text, &diagnostics))?.set;
    let analysis = analysis_relying_on(&args.analysis.analysis, args.rely_on.granted)?;
    let allocator = allocator(args.algorithm.under(analysis))?;
    // An allocation that is found comes with no warning.
    let allocation = match find(&set, None, allocator, analysis, false, &mut String::new()) {
        FoundAllocation::Allocation(allocation) => allocation,
        FoundAllocation::Nothing(why, _) | FoundAllocation::Wrong(why) => return Err(CommandFailure(why).into()),
        FoundAllocation::Refused(answer) => return Err(Unanswered::Input(answer)),
    };
    let duration = duration(&set).ok_or_else(|| CommandFailure(format!("{name}: there is no task")))?;
    let options = Options { duration, seed: args.seed, ..Options::default() };
    let unit = unit(&set);
    let on = OnExecutor::new(&set, &allocation, analysis, options, unit)
        .map_err(|refusal| CommandFailure(format!("{name}: {refusal}")))?;
    let names: Vec<String> = on.names().map(ToOwned::to_owned).collect();
    let line = |watched| {
        let climbed = climb_while(&on, watched, climb_options(args, false), goes_on);
        climb_line("executor", watched, &names, climbed, Some(unit))
    };
    Ok((0..names.len()).take_while(|_| goes_on()).map(line).collect())
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

/// The answer for a person.
pub fn text(answer: &ClimbAnswer) -> String {
    let rows = answer.climbed.iter().map(|line| {
        vec![
            line.left_out.as_deref().unwrap_or("-").to_owned(),
            line.on.to_string(),
            line.request.clone(),
            line.latest.map_or("-".to_owned(), |latest| latest.to_string()),
            if line.late { "late" } else { "in time" }.to_owned(),
            line.runs.to_string(),
        ]
    });
    let table = table(&["left out", "on", "request", ">latest", "is", ">runs"], rows);
    let stopped =
        answer.stopped_after.map_or_else(String::new, |runs| format!(", stopped by a signal after {runs} in all"));
    format!(
        "{} runs for each line at most, seed {}{stopped}. The latest end is counted from the deadline, in nanoseconds on \
         the executor, in units on the channel.\n\n{table}",
        answer.runs, answer.seed
    )
}
