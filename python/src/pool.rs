//! The threads that answer. A process that was forked has none of its parent's threads, and so
//! needs some of its own.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The threads, and the process that has them.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The threads of this process: one for each core.
pub fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut known = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let this = process::id();
    if let Some((process, pool)) = &*known
        && *process == this
    {
        return Ok(Arc::clone(pool));
    }
    let made = ThreadPoolBuilder::new().thread_name(|number| format!("rtflash-{number}")).build();
    let pool = Arc::new(made.map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))?);
    // The parent's threads are not here to be waited for.
    std::mem::forget(known.replace((this, Arc::clone(&pool))));
    Ok(pool)
}
