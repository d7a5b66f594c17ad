//! Options that several commands have in common: how a run goes, for how long, on how many threads.

use std::time::Duration;

use rtflash_model::reading::parse_bytes;
use rtflash_model::{Instant, parse_ns};

use crate::CommandFailure;
use crate::args;

/// A pool of `count` threads.
pub fn threads(count: usize) -> Result<rayon::ThreadPool, CommandFailure> {
    let pool = rayon::ThreadPoolBuilder::new();
    // Where there are no threads, the one that there is does the work of all.
    let pool =
        if cfg!(target_family = "wasm") { pool.num_threads(1).use_current_thread() } else { pool.num_threads(count) };
    let pool = pool.build();
    pool.map_err(|error| CommandFailure(format!("cannot start {count} threads: {error}")))
}

/// A duration above zero.
pub fn duration(text: &str) -> Result<Instant, CommandFailure> {
    let wrong = |problem: String| CommandFailure(format!("--duration {text}: {problem}; expected a time such as 10s"));
    let nanoseconds = parse_ns(text).map_err(|error| wrong(error.to_string()))?;
    if nanoseconds == 0 {
        return Err(wrong("nothing happens in no time".into()));
    }
    Ok(Instant::from_ns(nanoseconds).unwrap_or(Instant::END))
}

/// How often the state of a run is kept.
#[cfg(feature = "full")]
pub fn checkpoint_every(text: &str) -> Result<Duration, CommandFailure> {
    let wrong = |error| CommandFailure(format!("--checkpoint-every {text}: {error}; expected a time such as 60s"));
    parse_ns(text).map(Duration::from_nanos).map_err(wrong)
}

/// A number of bytes above zero, with its unit.
pub fn memory(text: &str) -> Result<u64, CommandFailure> {
    let wrong = || CommandFailure(format!("--memory {text}: expected a size above zero such as 500MB or 8GiB"));
    parse_bytes(text).filter(|&bytes| bytes > 0).ok_or_else(wrong)
}

/// The executor's word for an option, and the user's.
pub fn dispatch(dispatch: args::DispatchArg) -> (rtflash_plan::Dispatch, &'static str) {
    match dispatch {
        args::DispatchArg::Serial => (rtflash_plan::Dispatch::Serial, "serial"),
        args::DispatchArg::Parallel => (rtflash_plan::Dispatch::Parallel, "parallel"),
    }
}

/// The executor's word for an option, and the user's.
pub fn victims(victims: args::VictimsArg) -> (rtflash_plan::Victims, &'static str) {
    match victims {
        args::VictimsArg::Actual => (rtflash_plan::Victims::Actual, "actual"),
        args::VictimsArg::Worst => (rtflash_plan::Victims::Worst, "worst"),
    }
}

/// The executor's word for an option, and the user's.
pub fn aging(aging: args::AgingArg) -> (rtflash_plan::Aging, &'static str) {
    match aging {
        args::AgingArg::Worst => (rtflash_plan::Aging::Worst, "worst"),
        args::AgingArg::Random => (rtflash_plan::Aging::Random, "random"),
        args::AgingArg::Fresh => (rtflash_plan::Aging::Fresh, "fresh"),
    }
}

/// The executor's word for an option, and the user's.
pub fn pattern(pattern: args::PatternArg) -> (rtflash_plan::Pattern, &'static str) {
    match pattern {
        args::PatternArg::Uniform => (rtflash_plan::Pattern::Uniform, "uniform"),
        args::PatternArg::Sequential => (rtflash_plan::Pattern::Sequential, "sequential"),
        args::PatternArg::HotCold => (rtflash_plan::Pattern::HotCold, "hot-cold"),
        args::PatternArg::OneChip => (rtflash_plan::Pattern::OneChip, "one-chip"),
        args::PatternArg::Fullest => (rtflash_plan::Pattern::Fullest, "fullest"),
    }
}

/// The executor's word for an option, and the user's.
pub fn waits(waits: args::WaitsArg) -> (rtflash_plan::Waits, &'static str) {
    match waits {
        args::WaitsArg::Actual => (rtflash_plan::Waits::Actual, "actual"),
        args::WaitsArg::Worst => (rtflash_plan::Waits::Worst, "worst"),
    }
}

/// The executor's word for an option, and the user's.
pub fn times(times: args::TimesArg) -> (rtflash_plan::Times, &'static str) {
    match times {
        args::TimesArg::Worst => (rtflash_plan::Times::Worst, "worst"),
        args::TimesArg::Best => (rtflash_plan::Times::Best, "best"),
        args::TimesArg::Random => (rtflash_plan::Times::Random, "random"),
    }
}

/// The executor's word for an option, and the user's. What a file says goes before the former.
pub fn phases(phases: &args::PhasesArg) -> (rtflash_plan::Phases, &'static str) {
    match phases {
        args::PhasesArg::Periodic => (rtflash_plan::Phases::Periodic, "periodic"),
        args::PhasesArg::AtErases => (rtflash_plan::Phases::AtErases, "at-erases"),
        args::PhasesArg::Random => (rtflash_plan::Phases::Random, "random"),
        args::PhasesArg::File(_) => (rtflash_plan::Phases::Periodic, "file"),
    }
}

/// The executor's word for an option; and the user's, where it is not the usual one.
pub fn arbitration(arbitration: args::ArbitrationArg) -> (rtflash_plan::Arbitration, Option<&'static str>) {
    match arbitration {
        args::ArbitrationArg::Fifo => (rtflash_plan::Arbitration::Fifo, None),
        args::ArbitrationArg::RoundRobin => (rtflash_plan::Arbitration::RoundRobin, Some("round-robin")),
    }
}

/// The executor's word for an option; and the user's, where it is not the usual one.
pub fn ties(ties: args::TiesArg) -> (rtflash_plan::Ties, Option<&'static str>) {
    match ties {
        args::TiesArg::Lowest => (rtflash_plan::Ties::Lowest, None),
        args::TiesArg::Highest => (rtflash_plan::Ties::Highest, Some("highest")),
        args::TiesArg::Random => (rtflash_plan::Ties::Random, Some("random")),
    }
}

/// The executor's word for an option; and the user's, where it is not the usual one.
pub fn arrivals(arrivals: args::ArrivalsArg) -> (rtflash_plan::Recurrence, Option<&'static str>) {
    match arrivals {
        args::ArrivalsArg::Periodic => (rtflash_plan::Recurrence::Periodic, None),
        args::ArrivalsArg::Sporadic => (rtflash_plan::Recurrence::Sporadic, Some("sporadic")),
    }
}
