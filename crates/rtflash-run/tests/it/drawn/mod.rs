//! The draws that tests of changes at run time share.

use rtflash_model::{Request, Span, Task};
pub use rtflash_testkit::ns;

/// The task with shorter periods.
pub fn busier(task: &Task) -> Task {
    let shorter = |of: Request| {
        let part = |time: Span| ns((time.as_ns() * 4 / 5).max(1));
        let busier = of.with_period(part(of.period()))?.with_deadline(of.stated_deadline().map(part))?;
        busier.with_jitter(ns(of.jitter().as_ns() * 4 / 5))
    };
    let of = |request: Option<Request>| request.map(|request| shorter(request).unwrap_or(request));
    Task { read: of(task.read), write: of(task.write), ..task.clone() }
}

/// A whole number of times as many cases, where the environment asks for it.
pub fn times() -> u64 {
    std::env::var("RTFLASH_CASES").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}
