//! The answer of `rtflash host bound --format json`.

use rtflash_host::bound::{Bound, LatencyTerms, rests_on};
use rtflash_host::run::{Job, Scenario};
use rtflash_model::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::Text;

/// The answer of `rtflash host bound --format json` for each scheduler, a line each.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct BoundAnswer<'a> {
    /// The scheduler.
    pub scheduler: Text<'a>,
    /// The real-time jobs, in the scenario's order.
    pub jobs: Vec<JobBound<'a>>,
    /// The grounds of the bounds, a clause each: first the name by which docs/host.md calls it.
    pub rests_on: Vec<String>,
    /// The claims of a device that was fitted to measurements, a sentence each; null for other
    /// devices.
    pub measured: Option<Vec<String>>,
}

/// A real-time job in a [`BoundAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct JobBound<'a> {
    /// Its name.
    pub name: Text<'a>,
    /// No I/O of it takes longer, from its release to the end of its last request, in nanoseconds;
    /// null where there is no bound.
    pub bound_ns: Option<u64>,
    /// The job's `deadline`, in nanoseconds; null if the scenario states none.
    pub deadline_ns: Option<u64>,
    /// Whether the bound is within the deadline; null without a bound or a deadline.
    pub in_time: Option<bool>,
    /// The rule of docs/host.md by which a bound was looked for.
    pub rule: Text<'static>,
    /// Why there is no bound; null where there is one.
    pub why: Option<String>,
    /// The terms of the bound; null if there is none.
    pub terms: Option<BoundTerms>,
    /// Bounds of the steps of a chain with I/Os; null for a job without `steps`, or without a
    /// bound. The bound above is one of the whole chain, and can be less than their sum.
    pub steps: Option<Vec<StepLatency<'a>>>,
}

/// A step of a [`JobBound`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct StepLatency<'a> {
    /// Its number in the chain, from 1.
    pub step: u32,
    /// Its operation.
    pub op: Text<'a>,
    /// Its I/Os in each chain.
    pub times: u32,
    /// No I/O of it takes longer, from its release to the end of its last request, in nanoseconds.
    pub bound_ns: u64,
}

/// The terms of a bound, in nanoseconds.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct BoundTerms {
    /// The requests that can be inside the device.
    pub inside_ns: u64,
    /// The requests that other real-time jobs send ahead.
    pub ahead_ns: u64,
    /// The I/O itself.
    pub own_ns: u64,
}

impl<'a> BoundAnswer<'a> {
    /// The answer for a scenario.
    pub fn new(scenario: &'a Scenario, bounds: &[Bound]) -> BoundAnswer<'a> {
        let step = |job: &'a Job, (at, terms): &(usize, LatencyTerms)| {
            let (of, number) = (&job.steps[*at], u32::try_from(at + 1));
            let step = number.expect("a chain has at most 16,384 steps (invariant)");
            StepLatency { step, op: of.name().into(), times: of.times, bound_ns: terms.bound().as_ns() }
        };
        let job = |bound: &Bound| {
            let (terms, own) = (bound.terms.as_ref().ok(), &scenario.jobs[bound.job]);
            JobBound {
                name: own.name.as_str().into(),
                bound_ns: terms.map(|terms| terms.bound().as_ns()),
                deadline_ns: own.deadline.map(Span::as_ns),
                in_time: own.deadline.and_then(|_| bound.is_in_time(scenario)),
                rule: bound.rule.name().into(),
                why: bound.terms.as_ref().err().map(ToString::to_string),
                terms: terms.map(|terms| BoundTerms {
                    inside_ns: terms.inside.as_ns(),
                    ahead_ns: terms.ahead.as_ns(),
                    own_ns: terms.own.as_ns(),
                }),
                steps: (!bound.steps.is_empty()).then(|| bound.steps.iter().map(|of| step(own, of)).collect()),
            }
        };
        let scheduler = scenario.scheduler.name().into();
        BoundAnswer { scheduler, jobs: bounds.iter().map(job).collect(), rests_on: rests_on(scenario), measured: None }
    }
}
