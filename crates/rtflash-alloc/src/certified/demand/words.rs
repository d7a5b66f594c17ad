//! Demand in single words, as far as the numbers fit.

use rtflash_model::Span;

use super::Demand;
use crate::certified::contention::{WordActivity, WordWaits};
use crate::certified::processor::DemandTask;
use crate::certified::registers::{RegisterTurns, TurnCounts};
use crate::certified::time::Cost;

impl Demand<'_> {
    /// What waiting in single words goes by; `None` where it is not counted so.
    pub(super) fn word_waits(&self) -> Option<WordWaits> {
        self.contention.word_waits(self.processor, self.gc)
    }

    /// [`Demand::at`] in nanoseconds; `None` where a number on the way does not fit into a word.
    pub(super) fn at_in_words(&self, waits: WordWaits, length: Span) -> Option<u64> {
        let rest = self.gc.and_then(|gc| length.checked_sub(gc.deadline?));
        self.of_jobs_in_words(waits, length, |item| item.due(length), rest)
    }

    /// The time that so many jobs of each request may take in an interval of `length`, and passes
    /// of what arrives in `rest`.
    pub(super) fn of_jobs_in_words(
        &self,
        waits: WordWaits,
        length: Span,
        jobs: impl Fn(&DemandTask) -> u64,
        rest: Option<Span>,
    ) -> Option<u64> {
        let (mut sum, mut reads, mut writes, mut resets) = (0u64, 0u64, 0u64, 0u64);
        let (mut all_jobs, mut with_page) = (0u64, 0u64);
        for item in &self.processor.tasks {
            let jobs = jobs(item);
            let pages = item.transfers.of_word(jobs)?;
            sum = sum.checked_add(item.step_cost.as_ns().checked_mul(pages)?)?;
            if self.preemption > Cost::ZERO {
                let suspend = self.preemption.as_ns().checked_mul(item.with_pages().of_word(jobs)?)?;
                sum = sum.checked_add(suspend)?;
            }
            if item.resets {
                resets = resets.checked_add(pages)?;
                continue;
            }
            let all = if item.writes { &mut writes } else { &mut reads };
            *all = all.checked_add(pages)?;
            all_jobs = all_jobs.checked_add(jobs)?;
            with_page = with_page.checked_add(jobs.min(pages))?;
        }
        let passes = self.passes_in_words(rest)?;
        if let Some(gc) = self.gc {
            sum = sum.checked_add(gc.cost.as_ns().checked_mul(passes)?)?;
        }
        let mut turns = RegisterTurns::default();
        if self.processor.registers().is_some() {
            let with_page = u128::from(with_page) + u128::from(passes);
            let counts = TurnCounts { J_c: with_page, n_r: reads.into(), n_w: writes.into() };
            turns = self.processor.turns(self.server, counts);
        }
        let jobs = all_jobs.checked_add(passes)?;
        let activity = WordActivity { length, reads, writes, resets, jobs, passes, turns };
        let [waiting, relief] = self.contention.waiting_in_words(waits, activity, &(self.processor, self.gc))?;
        sum.checked_add(waiting)?.checked_sub(relief)
    }

    /// ⌈X(y)/α⌉; none for no y, and without GC jobs.
    fn passes_in_words(&self, rest: Option<Span>) -> Option<u64> {
        let with_deadline = self.gc.filter(|gc| gc.deadline.is_some());
        let (Some(gc), Some(rest)) = (with_deadline, rest) else { return Some(0) };
        let mut arrived = 0u64;
        for writer in &self.processor.write_streams {
            // Two lengths of time are below 2⁶⁴ together, and so are these requests.
            let requests = (rest.as_ns() + writer.jitter.as_ns()) / writer.period.as_ns() + 1;
            arrived = arrived.checked_add(writer.pages.of_word(requests)?)?;
        }
        Some(arrived.div_ceil(gc.reclaimed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certified::processor::Processor;
    use crate::certified::random_processors::{Drawn, ns};
    use crate::work::Work;

    /// In single words it is the same number, among neighbours of all kinds.
    #[test]
    fn demand_is_the_same_in_words() {
        let (mut counted, mut rows, mut waited, mut commands, mut resets) = (0, 0, 0, 0, 0);
        for seed in 0..12_000 {
            let Some(Drawn { processor, mut contention, gc, mut rng, .. }) = Drawn::new(seed) else { continue };
            for other in (1..=rng.within(0, 2)).filter_map(|other| Drawn::new(seed + 20_000 * other)) {
                contention.add(&other.processor, other.gc, rng.within(1, 3));
            }
            let work = Work::new();
            let demand = Demand::new(&processor, &contention, gc, 0, &work);
            let Some(waits) = demand.waits else { continue };
            for length in [rng.within(1, 60), rng.within(1, 600), rng.within(1, 60_000), rng.within(1, 1 << 40)] {
                let length = ns(length);
                let in_words = demand.at_in_words(waits, length).map(u128::from);
                assert_eq!(in_words, Some(demand.at_in_two_words(length).as_ns()), "seed {seed}: {length}");
                assert_eq!(demand.at(length), demand.at_in_two_words(length));
                counted += 1;
            }
            rows += u32::from(processor.rows().is_some() && gc.is_some() && !contention.is_none());
            waited += u32::from(processor.rows().is_none() && !contention.is_none());
            commands += u32::from(contention.has_commands());
            let of_zones = processor.tasks.iter().any(|item| item.resets);
            resets += u32::from(of_zones && contention.has_commands());
        }
        let all = [counted, rows, waited, commands, resets];
        assert!(all.iter().zip([20_000, 800, 2_000, 1_000, 50]).all(|(&found, least)| found > least), "{all:?}");
    }

    /// What does not fit into a word is counted in two.
    #[test]
    fn what_is_too_large_is_counted_in_two_words() {
        let mut two = 0;
        for seed in 0..2_000 {
            let Some(Drawn { processor, contention, gc, .. }) = Drawn::new(seed) else { continue };
            let long = |processor: &Processor| {
                let mut long = processor.clone();
                long.tasks.iter_mut().for_each(|task| task.step_cost = Cost::from_ns(u64::MAX / 2));
                long
            };
            let (processor, work) = (long(&processor), Work::new());
            let demand = Demand::new(&processor, &contention, gc, 0, &work);
            let Some(waits) = demand.waits else { continue };
            let length = ns(1 << 40);
            assert_eq!(demand.at_in_words(waits, length), None, "seed {seed}");
            assert_eq!(demand.at(length), demand.at_in_two_words(length));
            two += 1;
        }
        assert!(two > 200, "{two}");
    }
}
