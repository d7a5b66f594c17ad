//! Options that several commands have in common: how a run goes, for how long, on how many threads.

use rtflash_model::reading::parse_bytes;
use rtflash_model::{Instant, parse_ns};

use crate::Failure;
use crate::args;

/// A pool of so many threads.
pub fn threads(count: usize) -> Result<rayon::ThreadPool, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
    pool.map_err(|error| Failure(format!("cannot start {count} threads: {error}")))
}

/// A duration above zero.
pub fn duration(text: &str) -> Result<Instant, Failure> {
    let wrong = |problem: String| Failure(format!("--duration {text}: {problem}; expected a time such as 10s"));
    let nanoseconds = parse_ns(text).map_err(|error| wrong(error.to_string()))?;
    if nanoseconds == 0 {
        return Err(wrong("nothing happens in no time".into()));
    }
    Ok(Instant::from_ns(nanoseconds).unwrap_or(Instant::END))
}

/// A number of bytes above zero, with its unit.
pub fn memory(text: &str) -> Result<u64, Failure> {
    let wrong = || Failure(format!("--memory {text}: expected a size above zero such as 500MB or 8GiB"));
    parse_bytes(text).filter(|&bytes| bytes > 0).ok_or_else(wrong)
}

/// The executor's word for an option, and the user's.
pub fn dispatch(dispatch: args::Dispatch) -> (rtflash_exec::Dispatch, &'static str) {
    match dispatch {
        args::Dispatch::Serial => (rtflash_exec::Dispatch::Serial, "serial"),
        args::Dispatch::Parallel => (rtflash_exec::Dispatch::Parallel, "parallel"),
    }
}

/// The executor's word for an option, and the user's.
pub fn victims(victims: args::Victims) -> (rtflash_exec::Victims, &'static str) {
    match victims {
        args::Victims::Actual => (rtflash_exec::Victims::Actual, "actual"),
        args::Victims::Worst => (rtflash_exec::Victims::Worst, "worst"),
    }
}

/// The executor's word for an option, and the user's.
pub fn aging(aging: args::Aging) -> (rtflash_exec::Aging, &'static str) {
    match aging {
        args::Aging::Worst => (rtflash_exec::Aging::Worst, "worst"),
        args::Aging::Random => (rtflash_exec::Aging::Random, "random"),
        args::Aging::Fresh => (rtflash_exec::Aging::Fresh, "fresh"),
    }
}

/// The executor's word for an option, and the user's.
pub fn pattern(pattern: args::Pattern) -> (rtflash_exec::Pattern, &'static str) {
    match pattern {
        args::Pattern::Uniform => (rtflash_exec::Pattern::Uniform, "uniform"),
        args::Pattern::Sequential => (rtflash_exec::Pattern::Sequential, "sequential"),
        args::Pattern::HotCold => (rtflash_exec::Pattern::HotCold, "hot-cold"),
        args::Pattern::OneChip => (rtflash_exec::Pattern::OneChip, "one-chip"),
        args::Pattern::Fullest => (rtflash_exec::Pattern::Fullest, "fullest"),
    }
}

/// The executor's word for an option, and the user's.
pub fn waits(waits: args::Waits) -> (rtflash_exec::Waits, &'static str) {
    match waits {
        args::Waits::Actual => (rtflash_exec::Waits::Actual, "actual"),
        args::Waits::Worst => (rtflash_exec::Waits::Worst, "worst"),
    }
}

/// The executor's word for an option, and the user's.
pub fn times(times: args::Times) -> (rtflash_exec::Times, &'static str) {
    match times {
        args::Times::Worst => (rtflash_exec::Times::Worst, "worst"),
        args::Times::Best => (rtflash_exec::Times::Best, "best"),
        args::Times::Random => (rtflash_exec::Times::Random, "random"),
    }
}

/// The executor's word for an option, and the user's.
pub fn phases(phases: args::Phases) -> (rtflash_exec::Phases, &'static str) {
    match phases {
        args::Phases::Periodic => (rtflash_exec::Phases::Periodic, "periodic"),
        args::Phases::AtErases => (rtflash_exec::Phases::AtErases, "at-erases"),
    }
}
