//! Options that several commands have in common: how a run goes, for how long, on how many threads.

use std::time::Duration;

use rtflash_model::reading::parse_bytes;
use rtflash_model::{Instant, parse_ns};

use crate::CommandFailure;

pub fn on_threads<T: Send>(count: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T, CommandFailure> {
    Ok(match count {
        Some(count) => threads(count)?.install(work),
        None => work(),
    })
}

/// A pool of `count` threads. A web page starts none: the thread that asks does the work there.
fn threads(count: usize) -> Result<rayon::ThreadPool, CommandFailure> {
    let started = rayon::ThreadPoolBuilder::new().num_threads(count).build();
    let pool = started.or_else(|_| rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build());
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

#[cfg(feature = "full")]
pub fn checkpoint_every(text: &str) -> Result<Duration, CommandFailure> {
    let wrong = |error| CommandFailure(format!("--checkpoint-every {text}: {error}; expected a time such as 60s"));
    parse_ns(text).map(Duration::from_nanos).map_err(wrong)
}

pub fn memory(text: &str) -> Result<u64, CommandFailure> {
    let wrong = || CommandFailure(format!("--memory {text}: expected a size above zero such as 500MB or 8GiB"));
    parse_bytes(text).filter(|&bytes| bytes > 0).ok_or_else(wrong)
}
