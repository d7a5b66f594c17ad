//! Chains as the bounds see them.

use rtflash_model::Span;

use crate::run::Job;

/// The costs of a chain, in nanoseconds on the device, turnaround included.
#[derive(Debug, Clone)]
pub(super) struct ChainLoops {
    /// The steps with I/Os, in order.
    pub(super) steps: Vec<ChainStepCosts>,
    /// The cost of all I/Os of a chain, and their commands.
    pub(super) cost: u128,
    pub(super) commands: u128,
    /// The think times between the begin of a chain and its end.
    pub(super) thinks: Span,
    /// The least time from the begin of a chain to its end.
    pub(super) shortest: Span,
}

/// The costs of an I/O of a step.
#[derive(Debug, Clone)]
pub(super) struct ChainStepCosts {
    /// The position of the step in the chain.
    pub(super) step: usize,
    /// I/Os of the step in each chain.
    pub(super) times: u32,
    /// See [`Loops`](super::view::Loops).
    pub(super) cost: u128,
    pub(super) last: u128,
    pub(super) commands: Vec<(u64, u64)>,
    /// The least time from its release to its end.
    pub(super) shortest: Span,
}

impl ChainLoops {
    /// The chain of a job with these steps.
    pub(super) fn new(job: &Job, steps: Vec<ChainStepCosts>) -> ChainLoops {
        let thinks = thinks(job);
        let mut all = ChainLoops { steps: Vec::new(), cost: 0, commands: 0, thinks, shortest: thinks };
        for step in &steps {
            let (times, number) =
                (u128::from(step.times), step.commands.iter().map(|&(_, several)| u128::from(several)));
            all.cost += step.cost * times;
            all.commands += number.sum::<u128>() * times;
            let shortest = step.shortest.checked_mul(step.times.into()).unwrap_or(Span::LONGEST);
            all.shortest = all.shortest.saturating_add(shortest);
        }
        ChainLoops { steps, ..all }
    }

    /// I/Os of a chain.
    pub(super) fn ios(&self) -> u128 {
        self.steps.iter().map(|step| u128::from(step.times)).sum()
    }
}

/// The think times of a chain from its begin to its end: one follows each I/O and flush but the
/// last one.
fn thinks(job: &Job) -> Span {
    let each = |times: u32, think: Span| think.checked_mul(times.into()).unwrap_or(Span::LONGEST);
    let all = job.steps.iter().map(|step| each(step.times, step.think)).fold(Span::ZERO, Span::saturating_add);
    all.saturating_sub(job.steps.last().map_or(Span::ZERO, |last| last.think))
}
