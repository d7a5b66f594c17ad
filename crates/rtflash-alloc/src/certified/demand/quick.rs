//! Demand of one interval after another, for a search that looks at hundreds.

use rtflash_model::Span;

use super::Demand;
use crate::certified::contention::{QuickWaits, WordActivity};
use crate::certified::processor::{DemandTask, Processor};
use crate::certified::quick::{QuickPages, QuickPasses, sum};
use crate::certified::registers::TurnCounts;
use crate::certified::time::{Cost, ProcessorTime};
use crate::certified::workload::WorkloadCurve;

/// [`Demand::at`] of intervals up to a longest one.
#[derive(Debug)]
pub(super) struct QuickDemand<'d> {
    processor: &'d Processor,
    server: bool,
    requests: Vec<QuickRequest>,
    passes: Option<(QuickPasses, Sums)>,
    waits: Option<QuickWaits<'d>>,
    /// Whether nothing is taken back, and no number is too large.
    plain: bool,
}

/// Steps of a request.
#[derive(Debug)]
struct QuickRequest {
    steps: QuickPages,
    /// Whether it has as many jobs as the one before.
    same_jobs: bool,
    each: Sums,
    kind: StepKind,
}

/// What a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepKind {
    Read,
    Write,
    Reset,
    /// An erase is suspended for it.
    Suspension,
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
    pub(super) fn quick(&self, longest: Span) -> Option<QuickDemand<'_>> {
        let waits = self.waits?;
        let mut requests: Vec<QuickRequest> = Vec::with_capacity(self.processor.tasks.len());
        let mut add = |steps: QuickPages, each: [u64; 3], kind: StepKind| {
            let same_jobs = requests.last().is_some_and(|last| last.steps.comes_with(&steps));
            requests.push(QuickRequest { steps, same_jobs, each: Sums(each), kind });
        };
        let due = |item: &DemandTask, curve: WorkloadCurve| {
            QuickPages::new(curve, item.period, (item.window(), Span::ZERO), longest)
        };
        for item in &self.processor.tasks {
            let [asks, in_full] = waits.of_step(item);
            let kind = match item.writes {
                _ if item.resets => StepKind::Reset,
                true => StepKind::Write,
                false => StepKind::Read,
            };
            add(due(item, item.transfers)?, [item.step_cost.as_ns(), asks, in_full], kind);
            if self.preemption > Cost::ZERO {
                add(due(item, item.with_pages())?, [self.preemption.as_ns(), 0, 0], StepKind::Suspension);
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
        let (processor, server) = (self.processor, self.server);
        let mut quick = QuickDemand { processor, server, requests, passes, waits: None, plain: true };
        let Sums([own, n_i, in_full]) = quick.fits(longest)?;
        if !waits.are_plain() || !self.contention.is_none() {
            let waiting = self.contention.quick_waits(waits, longest, (processor, self.gc))?;
            quick.plain = waiting.is_surely_plain(longest, n_i)
                && own.checked_add(waiting.waiting(longest.as_ns(), n_i, in_full)).is_some();
            quick.waits = Some(waiting);
        }
        Some(quick)
    }
}

impl QuickDemand<'_> {
    /// The demand of an interval, no longer than the longest; `None` where a number on the way does
    /// not fit into a word.
    #[inline]
    pub(super) fn at(&self, length: Span) -> Option<ProcessorTime> {
        let time = match &self.waits {
            None => self.own_time(length.as_ns()),
            Some(waits) if self.plain => {
                let mut sums = Sums::default();
                self.steps(length.as_ns(), |each, steps| sums.add(each, steps));
                let Sums([own, n_i, in_full]) = sums;
                own + waits.waiting(length.as_ns(), n_i, in_full)
            }
            Some(waits) => self.beside(waits, length)?,
        };
        Some(ProcessorTime::from_ns(time.into()))
    }

    /// The same beside any neighbours.
    fn beside(&self, waits: &QuickWaits<'_>, length: Span) -> Option<u64> {
        let (mut own, mut jobs, mut all_jobs, mut with_page) = (0, 0, 0, 0);
        let [mut reads, mut writes, mut resets] = [0; 3];
        for QuickRequest { steps, same_jobs, each: Sums([each, ..]), kind } in &self.requests {
            if !same_jobs {
                jobs = steps.jobs(length.as_ns());
            }
            let pages = steps.of(jobs);
            own += each * pages;
            match kind {
                StepKind::Read => reads += pages,
                StepKind::Write => writes += pages,
                StepKind::Reset => resets += pages,
                StepKind::Suspension => {}
            }
            if matches!(kind, StepKind::Read | StepKind::Write) {
                (all_jobs, with_page) = (all_jobs + jobs, with_page + jobs.min(pages));
            }
        }
        let mut passes = 0;
        if let Some((of, Sums([each, ..]))) = &self.passes {
            passes = of.within(length.as_ns());
            own += each * passes;
        }
        let with_page = u128::from(with_page) + u128::from(passes);
        let counts = TurnCounts { J_c: with_page, n_r: u128::from(reads), n_w: u128::from(writes) };
        let turns = self.processor.turns(self.server, counts);
        let jobs = all_jobs + passes;
        let activity = WordActivity { length, reads, writes, resets, jobs, passes, turns };
        let [waiting, relief] = waits.waiting_of(activity)?;
        own.checked_add(waiting)?.checked_sub(relief)
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
        for QuickRequest { steps, same_jobs, each, .. } in &self.requests {
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
        let (mut sums, mut all) = (Some(Sums::default()), Some(0u64));
        self.steps(longest.as_ns(), |each, steps| {
            sums = sums.and_then(|sums| sums.checked_add(each, steps));
            all = all.and_then(|all| all.checked_add(steps));
        });
        let jobs = self.requests.iter().map(|request| request.steps.jobs(longest.as_ns()));
        let passes = self.passes.as_ref().map_or(0, |(passes, _)| passes.within(longest.as_ns()));
        all.and(sum(jobs)?.checked_add(passes)).and(sums)
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
                assert_eq!(quick.at(length), Some(demand.at_in_two_words(length)), "seed {seed}: {length}");
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
                assert_eq!(
                    quick.at(ns(length)).unwrap_or(demand.at(ns(length))),
                    demand.at_in_two_words(ns(length)),
                    "seed {seed}: {length}"
                );
            }
            some += 1;
        }
        assert!(some > 200 && none > 200, "{some} {none}");
    }
}
