//! The threads of a command.

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
