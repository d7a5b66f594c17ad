//! How a run is asked for: options of the executor, and what an answer says of them.

use rtflash_answers::{JobsLine, Settings};
use rtflash_model::{Device, Instant, Reliance};
use rtflash_plan::{Arbitration, Dispatch, Options, Phases, Placed, Plan, Policy, Promise, Times, Waits};

use crate::CommandFailure;
use crate::args::{ExecArgs, PhasesArg};
use crate::render::numbers::names;

pub fn exec_options(args: &ExecArgs) -> (Options, Settings) {
    let (phases, phases_name) = match &args.phases {
        PhasesArg::Policy(phases) => (*phases, phases.name()),
        PhasesArg::File(_) => (Phases::default(), "file"),
    };
    let options = Options {
        duration: args.duration,
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
    (options, settings)
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

/// Refuses options that change nothing in a run with certificates, or in one without.
pub fn with_effect(promises: bool, device: &Device, options: &Options) -> Result<(), CommandFailure> {
    let Placed { backfill, waits, faults } = options.placed;
    let with_certificates = [
        ("--waits worst", waits == Waits::Worst),
        ("--no-backfill", !backfill),
        ("--faults", faults > 0),
        ("--phases at-erases", options.phases == Phases::AtErases),
    ];
    if let Some((option, _)) = with_certificates.into_iter().find(|&(_, asked)| asked && !promises) {
        fail!("{option} changes runs with certificates alone: `--analysis sound` gives them");
    }
    if promises && options.dispatch == Dispatch::Parallel {
        fail!("--dispatch parallel changes runs without certificates alone, which state their own");
    }
    if options.times != Times::Worst && device.has_single_times() {
        fail!("--times changes runs on a device with ranges alone, such as `page_read_min`");
    }
    Ok(())
}

/// Refuses worst waits of a cluster that holds only next to its neighbours: it does not hold if
/// every page waits for all of them, and never has to. Refuses failures on a device that states
/// none.
pub fn possible(
    leans: impl Fn() -> bool,
    predicted: Option<bool>,
    device: &Device,
    options: &Options,
) -> Result<(), CommandFailure> {
    if options.placed.waits == Waits::Worst && predicted == Some(true) && leans() {
        fail!(
            "some clusters hold because of what is known of the chips on their channels, and --waits worst would have \
             each page wait for more than these ever move: run this allocation with --waits actual"
        );
    }
    if options.placed.faults > 0 && device.spare_blocks() == 0 {
        fail!("--faults lets blocks fail, and the device states that none may: `\"spare_blocks\"` says how many");
    }
    Ok(())
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
