//! What tasks have to do at least in a cluster, by what each of them has to do there alone.

use rtflash_analysis::certified::{LeastLoad, LeastShares, SURELY_ABOVE_ONE, SharedBus, waits_for_each};
use rtflash_model::TaskId;

use super::{ContentionAssumption, LoadKey, MOST_TASKS, Organisation, Organisations};

impl Organisations<'_> {
    /// The sum of what tasks have to do alone in a cluster, waiting included. They never have less
    /// to do together: they leave no more room to garbage collection, and wait no less.
    pub(super) fn load_alone(&self, tasks: &[TaskId], organisation: Organisation, chips: u32) -> f64 {
        let mut known = self.known.alone.borrow_mut();
        let known = known.entry((self.same_assumption(organisation, chips), organisation, chips)).or_default();
        let last = tasks.iter().max().map_or(0, |last| last.0 as usize + 1);
        if known.len() < last {
            known.resize(last, f64::NAN);
        }
        let loads = tasks.iter().map(|task| {
            let load = &mut known[task.0 as usize];
            if load.is_nan() {
                // Nothing where times cannot be added up.
                let processor = self.processor(&[*task], organisation, chips);
                *load = processor.map_or(0.0, |(processor, others)| self.long_run_load(&processor, &others));
            }
            *load
        });
        loads.sum()
    }

    /// Whether these tasks have more to do than this load in a cluster of this organisation, by
    /// what each of them has to do there alone, or all of them with garbage collection at its
    /// shortest deadline: then it does not matter whether they hold in it.
    pub(super) fn surely_has_more(&self, load: f64, tasks: &[TaskId], organisation: Organisation, chips: u32) -> bool {
        let is_more = |least: f64| least > load + SURELY_ABOVE_ONE - 1.0;
        let together = || {
            let processor = self.processor(tasks, organisation, chips);
            processor.is_none_or(|(processor, others)| is_more(self.long_run_load(&processor, &others)))
        };
        self.passes_over && (is_more(self.load_alone(tasks, organisation, chips)) || together())
    }

    /// Whether a cluster has too much to do under the assumption, whatever its garbage collection:
    /// then no test of it holds.
    pub(super) fn has_too_much(&self, key: LoadKey, organisation: Organisation, chips: u32) -> bool {
        let (device, placement) = (self.set.device(), organisation.placement());
        let least = if self.set.tasks().count() > MOST_TASKS {
            LeastLoad::new(device, self.tasks(&key.tasks()), chips, placement, self.work)
        } else {
            self.work.charge(2);
            self.known.least(key, || LeastShares::new(device, self.set.tasks(), chips, placement))
        };
        let ways = SharedBus::anywhere(device).ways;
        let load = match self.assumption {
            _ if !waits_for_each(placement) => least.alone(),
            ContentionAssumption::NoContention => least.alone(),
            ContentionAssumption::WorstCase => least.waiting_for(device, ways - 1),
            ContentionAssumption::Optimistic(ways) => least.waiting_for(device, ways - 1),
            ContentionAssumption::Queue => least.in_a_queue(device, ways),
        };
        load > SURELY_ABOVE_ONE
    }
}
