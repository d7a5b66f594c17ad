//! When a real-time request may be released next, as a host can know it: by periods, think times
//! and what has ended, not by what jitter will draw.

use std::collections::BTreeSet;

use rtflash_model::{Instant, Span};

use super::job::{Job, JobReleases, ThinkAfter};
use super::scenario::Scenario;

/// The known next releases of a real-time job.
#[derive(Debug)]
struct Coming {
    job: usize,
    /// The earliest that planned releases can be, with their numbers.
    planned: BTreeSet<(Instant, u64)>,
    numbers: u64,
    /// I/Os that are pending, and how long after its end each is replaced; `None` if they are not.
    pending: u64,
    think: Option<Span>,
    until: Option<Instant>,
}

/// The known next releases of all real-time jobs.
#[derive(Debug)]
pub(super) struct Foresight(Vec<Coming>);

impl Foresight {
    pub(super) fn new(scenario: &Scenario) -> Foresight {
        let coming = |(job, of): (usize, &Job)| {
            let think = match of.releases {
                JobReleases::Closed { think, .. } => Some(think),
                _ => None,
            };
            let think = think.map(|think| if of.think_after == ThinkAfter::Each { think } else { Span::ZERO });
            // The end of each I/O of a chain causes the next one.
            let thinks = of.steps.iter().map(|step| step.think);
            let think = thinks.chain(think).min();
            // A job that waits for others ends as much later as it begins.
            // A chain that has begun goes on.
            let until = of.until.filter(|_| of.after.is_empty() && !of.is_chain());
            let planned = BTreeSet::new();
            of.is_real_time().then_some(Coming { job, planned, numbers: 0, pending: 0, think, until })
        };
        Foresight(scenario.jobs.iter().enumerate().filter_map(coming).collect())
    }

    fn of(&mut self, job: usize) -> Option<&mut Coming> {
        let place = self.0.binary_search_by_key(&job, |coming| coming.job).ok()?;
        self.0.get_mut(place)
    }

    /// A release is planned, and cannot be earlier than this.
    pub(super) fn plan(&mut self, job: usize, earliest: Instant) {
        if let Some(of) = self.of(job) {
            of.planned.insert((earliest, of.numbers));
            of.numbers += 1;
        }
    }

    /// The next planned release happens.
    pub(super) fn happens(&mut self, job: usize) {
        if let Some(of) = self.of(job) {
            of.planned.pop_first();
        }
    }

    /// An I/O is released.
    pub(super) fn released(&mut self, job: usize) {
        if let Some(of) = self.of(job) {
            of.pending += 1;
        }
    }

    /// An I/O has ended.
    pub(super) fn ended(&mut self, job: usize) {
        if let Some(of) = self.of(job) {
            of.pending = of.pending.saturating_sub(1);
        }
    }

    /// Nothing real-time is released before this; `None` if nothing is any more.
    pub(super) fn earliest(&self, now: Instant) -> Option<Instant> {
        let next = |of: &Coming| {
            let planned = of.planned.first().map(|&(at, _)| at.max(now));
            let replaced = of.think.filter(|_| of.pending > 0).map(|think| now.saturating_add(think));
            let next = planned.into_iter().chain(replaced).min();
            next.filter(|&next| of.until.is_none_or(|until| next < until))
        };
        self.0.iter().filter_map(next).min()
    }
}
