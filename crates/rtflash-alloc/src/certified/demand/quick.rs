//! Demand of one interval after another, for a search that looks at hundreds.

use rtflash_model::Span;

use super::Demand;
use crate::certified::contention::QuickWaits;
use crate::certified::processor::DemandTask;
use crate::certified::quick::{QuickPages, QuickPasses};
use crate::certified::time::{Cost, ProcessorTime};
use crate::certified::workload::WorkloadCurve;

/// [`Demand::at`] of intervals up to a longest one: no number is too large.
#[derive(Debug)]
pub(super) struct QuickDemand {
    requests: Vec<QuickRequest>,
    passes: Option<(QuickPasses, Sums)>,
    waits: Option<QuickWaits>,
}

/// Steps of a request.
#[derive(Debug)]
struct QuickRequest {
    steps: QuickPages,
    /// Whether it has as many jobs as the one before.
    same_jobs: bool,
    each: Sums,
}

/// For each page, step or pass: what it takes, how often it asks for the bus, and how long it waits
/// in full.
#[derive(Debug, Clone, Copy, Default)]
struct Sums([u64; 3]);

impl Sums {
    #[inline]
    fn add(&mut self, each: Sums, times: u64) {
        self.0.iter_mut().zip(each.0).for_each(|(sum, each)| *sum += each * times);
    }

    /// The same where it fits into words.
    fn checked_add(mut self, each: Sums, times: u64) -> Option<Sums> {
        for (sum, each) in self.0.iter_mut().zip(each.0) {
            *sum = sum.checked_add(each.checked_mul(times)?)?;
        }
        Some(self)
    }
}

impl Demand<'_> {
    /// `None` where it is not counted in words, or a number on the way may not fit into one, of
    /// lengths up to the longest.
    pub(super) fn quick(&self, longest: Span) -> Option<QuickDemand> {
        let waits = self.waits?;
        let mut requests: Vec<QuickRequest> = Vec::with_capacity(self.processor.tasks.len());
        let mut add = |steps: QuickPages, each: [u64; 3]| {
            let same_jobs = requests.last().is_some_and(|last| last.steps.comes_with(&steps));
            requests.push(QuickRequest { steps, same_jobs, each: Sums(each) });
        };
        let due = |item: &DemandTask, curve: WorkloadCurve| {
            QuickPages::new(curve, item.period, (item.window(), Span::ZERO), longest)
        };
        for item in &self.processor.tasks {
            let [asks, in_full] = waits.of_step(item);
            add(due(item, item.transfers)?, [item.step_cost.as_ns(), asks, in_full]);
            if self.preemption > Cost::ZERO {
                add(due(item, item.with_pages())?, [self.preemption.as_ns(), 0, 0]);
            }
        }
        let passes = match self.gc.and_then(|gc| Some((gc, gc.deadline?))) {
            Some((gc, deadline)) => {
                let [asks, in_full] = waits.of_pass();
                let writers = self.processor.write_streams.iter();
                let arriving = writers
                    .map(|writer| QuickPages::new(writer.pages, writer.period, (deadline, writer.jitter), longest));
                Some((QuickPasses::new(arriving, gc, longest)?, Sums([gc.cost.as_ns(), asks, in_full])))
            }
            None => None,
        };
        let mut quick = QuickDemand { requests, passes, waits: None };
        let Sums([own, n_i, in_full]) = quick.fits(longest)?;
        if !self.contention.is_none() {
            let waiting = self.contention.quick_waits(waits, longest, n_i)?;
            own.checked_add(waiting.waiting(longest.as_ns(), n_i, in_full))?;
            quick.waits = Some(waiting);
        }
        Some(quick)
    }
}

impl QuickDemand {
    /// The demand of an interval, no longer than the longest.
    #[inline]
    pub(super) fn at(&self, length: Span) -> ProcessorTime {
        let length = length.as_ns();
        let time = match &self.waits {
            None => self.own_time(length),
            Some(waits) => {
                let mut sums = Sums::default();
                self.steps(length, |each, steps| sums.add(each, steps));
                let Sums([own, n_i, in_full]) = sums;
                own + waits.waiting(length, n_i, in_full)
            }
        };
        ProcessorTime::from_ns(time.into())
    }

    /// What its own steps take.
    #[inline]
    fn own_time(&self, length: u64) -> u64 {
        let mut own = 0;
        self.steps(length, |Sums([each, ..]), steps| own += each * steps);
        own
    }

    /// Calls with each kind of step, and how many of them there are.
    #[inline]
    fn steps(&self, length: u64, mut with: impl FnMut(Sums, u64)) {
        let mut jobs = 0;
        for QuickRequest { steps, same_jobs, each } in &self.requests {
            if !same_jobs {
                jobs = steps.jobs(length);
            }
            with(*each, steps.of(jobs));
        }
        if let Some((passes, each)) = &self.passes {
            with(*each, passes.within(length));
        }
    }

    /// Its sums of the longest interval, where they fit into words: those of shorter ones are no
    /// larger.
    fn fits(&self, longest: Span) -> Option<Sums> {
        let mut sums = Some(Sums::default());
        self.steps(longest.as_ns(), |each, steps| sums = sums.and_then(|sums| sums.checked_add(each, steps)));
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certified::random_processors::{Drawn, ns};
    use crate::work::Work;

    /// It is the same number, among neighbours of all kinds, of each length up to the longest.
    #[test]
    fn demand_is_the_same_of_one_interval_after_another() {
        let (mut counted, mut rows, mut waited, mut commands, mut resets, mut suspended) = (0, 0, 0, 0, 0, 0);
        for seed in 0..12_000 {
            let Some(Drawn { processor, mut contention, gc, mut rng, .. }) = Drawn::new(seed) else { continue };
            for other in (1..=rng.within(0, 2)).filter_map(|other| Drawn::new(seed + 20_000 * other)) {
                contention.add(&other.processor, other.gc, rng.within(1, 3));
            }
            let work = Work::new();
            let demand = Demand::new(&processor, &contention, gc, 0, &work);
            let bits = rng.within(4, 40);
            let longest = rng.within(1, 1 << bits);
            let Some(quick) = demand.quick(ns(longest)) else { continue };
            for most in [longest, longest, longest.min(60), longest.min(600), longest.min(60_000)] {
                let length = ns(if counted % 5 == 0 { longest } else { rng.within(1, most) });
                assert_eq!(quick.at(length), demand.at_in_two_words(length), "seed {seed}: {length}");
                counted += 1;
            }
            rows += u32::from(processor.rows().is_some() && gc.is_some() && !contention.is_none());
            waited += u32::from(processor.rows().is_none() && !contention.is_none());
            commands += u32::from(contention.has_commands());
            let of_zones = processor.tasks.iter().any(|item| item.resets);
            resets += u32::from(of_zones && contention.has_commands());
            suspended += u32::from(demand.preemption > Cost::ZERO);
        }
        let all = [counted, rows, waited, commands, resets, suspended];
        assert!(all.iter().zip([20_000, 800, 2_000, 1_000, 50, 100]).all(|(&found, least)| found > least), "{all:?}");
    }

    /// Where a number may not fit into a word there is none; just before that there is.
    #[test]
    fn what_may_be_too_large_is_not_counted_so() {
        let (mut some, mut none) = (0, 0);
        for seed in 0..4_000 {
            let Some(Drawn { mut processor, contention, gc, mut rng, .. }) = Drawn::new(seed) else { continue };
            let large = rng.within(30, 63);
            processor.tasks.iter_mut().for_each(|task| task.step_cost = Cost::from_ns((1 << large) - 1));
            let work = Work::new();
            let demand = Demand::new(&processor, &contention, gc, 0, &work);
            let bits = rng.within(1, 62);
            let longest = rng.within(1, 1 << bits);
            let Some(quick) = demand.quick(ns(longest)) else {
                none += u32::from(demand.waits.is_some());
                continue;
            };
            for length in [longest, rng.within(1, longest), 1] {
                assert_eq!(quick.at(ns(length)), demand.at_in_two_words(ns(length)), "seed {seed}: {length}");
            }
            some += 1;
        }
        assert!(some > 200 && none > 200, "{some} {none}");
    }
}
