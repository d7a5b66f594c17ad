//! How a run is asked for: options of the executor, and what an answer says of them.

use rtflash_answers::{JobsLine, Settings};
use rtflash_model::{Device, Instant, Reliance, TaskSet};
use rtflash_plan::{Arbitration, Dispatch, Options, Phases, Placed, Plan, Policy, Promise, Times, Waits};

use super::policies;
use crate::CommandFailure;
use crate::args::{ExecArgs, PhasesArg};
use crate::render::numbers::names;

/// The options of a run, and its settings.
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

/// The fault of an option that changes nothing in a run with certificates, or in one without.
pub fn without_effect(promises: bool, device: &Device, options: &Options) -> Option<String> {
    let Placed { backfill, waits, faults } = options.placed;
    let with_certificates = [
        ("--waits worst", waits == Waits::Worst),
        ("--no-backfill", !backfill),
        ("--faults", faults > 0),
        ("--phases at-erases", options.phases == Phases::AtErases),
    ];
    if let Some((option, _)) = with_certificates.into_iter().find(|&(_, asked)| asked && !promises) {
        return Some(format!("{option} changes runs with certificates alone: `--analysis sound` gives them"));
    }
    if promises && options.dispatch == Dispatch::Parallel {
        return Some("--dispatch parallel changes runs without certificates alone, which state their own".into());
    }
    (options.times != Times::Worst && device.has_single_times())
        .then(|| "--times changes runs on a device with ranges alone, such as `page_read_min`".into())
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
pub fn unserved(jobs: &[JobsLine<'_>], plan: &Plan, end: Instant) -> Option<String> {
    let idle = || jobs.iter().filter(|line| line.completed == 0 && line.pending > 0);
    let waiting: u64 = idle().map(|line| line.pending).sum();
    let streams: Vec<&str> = idle().map(|line| &*line.task).collect();
    (!streams.is_empty()).then(|| {
        let noun = if waiting == 1 { "request waits" } else { "requests wait" };
        let streams = names(streams.into_iter(), NAMES);
        if has_server(plan) {
            return format!("of the aperiodic requests of {streams} none completes within {end}: {waiting} {noun}");
        }
        format!("aperiodic requests of {streams} get nothing: {waiting} {noun}, and none completes")
    })
}

/// Whether certificates leave jobs that are not real-time a share; without them what is left is
/// theirs.
fn has_server(plan: &Plan) -> bool {
    match plan.promise() {
        Promise::Utilization => true,
        Promise::Certified(by) => by.iter().any(|by| by.certificate.server_thousandths > 0),
    }
}

const NAMES: usize = 4;
