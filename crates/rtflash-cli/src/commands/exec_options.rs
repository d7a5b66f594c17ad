//! How a run is asked for: options of the executor, and what an answer says of them.

use rtflash_model::{Reliance, TaskSet};
use rtflash_plan::{Arbitration, Options, Phases, Placed, Policy, Waits};
use rtflash_wire::{JobsLine, Settings};

use super::policies;
use crate::CommandFailure;
use crate::args::{ExecArgs, PhasesArg};
use crate::render::numbers::names;

/// The options of a run, and its settings.
///
/// # Errors
/// A duration that is none.
pub fn exec_options(args: &ExecArgs) -> Result<(Options, Settings), CommandFailure> {
    let (phases, phases_name) = match &args.phases {
        PhasesArg::Policy(phases) => (*phases, phases.name()),
        PhasesArg::File(_) => (Phases::default(), "file"),
    };
    let options = Options {
        duration: policies::duration(&args.duration)?,
        dispatch: args.dispatch,
        service: args.server,
        victims: args.victims,
        aging: args.aging,
        pattern: args.pattern,
        times: args.times,
        phases,
        recurrence: args.arrivals,
        releases: None,
        police: args.police,
        trims: Vec::new(),
        arbitration: args.arbitration,
        ties: args.ties,
        seed: args.seed,
        placed: Placed { backfill: !args.no_backfill, waits: args.waits, faults: args.faults },
    };
    let trims = || args.trims.iter().map(|text| text.clone().into()).collect();
    let settings = Settings {
        phases: Some(phases_name.into()),
        releases: args.releases.is_some().then_some(true),
        trims: (!args.trims.is_empty()).then(trims),
        ..Settings::of(&options)
    };
    Ok((options, settings))
}

/// Why a run says nothing of the promise of clusters that rely on the queue: Q2.
pub fn disobeys(needed: Option<Reliance>, options: &Options) -> Option<String> {
    let breaks = needed == Some(Reliance::Queue) && options.arbitration == Arbitration::RoundRobin;
    breaks.then(|| {
        "this run does not obey what the clusters rely on, a bus that serves first come, first served \
         (`--arbitration round-robin`): requests that are late break no promise"
            .into()
    })
}

/// The fault of an option that only certificates give a meaning, for a run without them.
pub fn needs_certificates(promises: bool, options: &Options) -> Option<String> {
    let Placed { backfill, waits, faults } = options.placed;
    let asked = [("--waits worst", waits == Waits::Worst), ("--no-backfill", !backfill), ("--faults", faults > 0)];
    let (option, _) = asked.into_iter().find(|&(_, asked)| asked && !promises)?;
    Some(format!("{option} changes runs with certificates alone: `--analysis sound` gives them"))
}

/// The fault of stated failures on a device that states none.
pub fn no_faults(set: &TaskSet, options: &Options) -> Option<&'static str> {
    (options.placed.faults > 0 && set.device().spare_blocks() == 0)
        .then_some("--faults lets blocks fail, and the device states that none may: `\"spare_blocks\"` says how many")
}

/// What is wrong with worst waits, where they are asked for: a cluster that holds only next to its
/// neighbours does not hold if every page waits for all of them, and never has to.
pub fn worst_waits(leans: impl Fn() -> bool, predicted: Option<bool>, options: &Options) -> Option<String> {
    let asked = options.placed.waits == Waits::Worst;
    (asked && predicted == Some(true) && leans()).then(|| {
        "some clusters hold because of what is known of the chips on their channels, and --waits worst would have \
         each page wait for more than these ever \
         move: run this allocation with --waits actual"
            .into()
    })
}

/// The streams of jobs of which none completes though some wait.
pub fn unserved(jobs: &[JobsLine<'_>]) -> Option<String> {
    let idle = || jobs.iter().filter(|line| line.completed == 0 && line.pending > 0);
    let waiting: u64 = idle().map(|line| line.pending).sum();
    let streams: Vec<&str> = idle().map(|line| &*line.task).collect();
    (!streams.is_empty()).then(|| {
        let noun = if waiting == 1 { "request waits" } else { "requests wait" };
        format!(
            "aperiodic requests of {} get nothing: {waiting} {noun}, and none completes",
            names(streams.into_iter(), NAMES)
        )
    })
}

/// Streams that are named.
const NAMES: usize = 4;
