//! How a run is asked for: options of the executor, and what an answer says of them.

use rtflash_model::{Device, Reliance, TaskSet};
use rtflash_plan::{Arbitration, Dispatch, Options, Phases, Placed, Service, Times, Waits};
use rtflash_wire::Settings;

use super::policies;
use crate::CommandFailure;
use crate::args::{self, ExecArgs};

/// The options of a run, and its settings.
///
/// # Errors
/// A duration that is none.
pub fn exec_options(args: &ExecArgs) -> Result<(Options, Settings), CommandFailure> {
    let (service, server) = match args.server {
        args::ServerArg::Tbs => (Service::Tbs, "tbs"),
        args::ServerArg::Background => (Service::Background, "background"),
    };
    let (dispatch, dispatch_name) = policies::dispatch(args.dispatch);
    let (victims, victims_name) = policies::victims(args.victims);
    let (aging, aging_name) = policies::aging(args.aging);
    let (pattern, pattern_name) = policies::pattern(args.pattern);
    let duration = policies::duration(&args.duration)?;
    let (waits, waits_name) = policies::waits(args.waits);
    let (phases, phases_name) = policies::phases(&args.phases);
    let (recurrence, arrivals_name) = policies::arrivals(args.arrivals);
    let placed = Placed { backfill: !args.no_backfill, waits, faults: args.faults };
    let (times, times_name) = policies::times(args.times);
    let (arbitration, arbitration_name) = policies::arbitration(args.arbitration);
    let (ties, ties_name) = policies::ties(args.ties);
    let options = Options {
        duration,
        dispatch,
        service,
        victims,
        aging,
        pattern,
        times,
        phases,
        recurrence,
        releases: None,
        police: args.police,
        trims: Vec::new(),
        arbitration,
        ties,
        seed: args.seed,
        placed,
    };
    let settings = Settings {
        duration_ns: duration.as_ns(),
        stopped_before_ns: None,
        dispatch: dispatch_name.into(),
        server: Some(server.into()),
        victims: Some(victims_name.into()),
        aging: Some(aging_name.into()),
        pattern: Some(pattern_name.into()),
        times: Some(times_name.into()),
        waits: Some(waits_name.into()),
        phases: Some(phases_name.into()),
        releases: args.releases.is_some().then_some(true),
        arrivals: arrivals_name.map(Into::into),
        police: args.police.then_some(true),
        trims: (!args.trims.is_empty()).then(|| args.trims.iter().map(|text| text.clone().into()).collect()),
        arbitration: arbitration_name.map(Into::into),
        ties: ties_name.map(Into::into),
        backfill: Some(placed.backfill),
        faults: (args.faults > 0).then_some(args.faults),
        seed: Some(args.seed),
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
