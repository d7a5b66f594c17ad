//! What tests of changes at run time draw alike.

use rtflash_model::random::Stream;
use rtflash_model::{Request, Span, Task};

pub struct Rng(pub Stream);

impl Rng {
    pub fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    pub fn small(&mut self, low: u32, high: u32) -> u32 {
        u32::try_from(self.within(low.into(), high.into())).expect("small")
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.within(0, all.len() as u64 - 1)).expect("a place")]
    }
}

pub fn ns(time: u64) -> Span {
    Span::from_ns(time).expect("a short time")
}

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
