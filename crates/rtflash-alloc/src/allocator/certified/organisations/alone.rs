//! The least load of tasks in a cluster, by the load of each of them there alone.

use rtflash_analysis::certified::{LeastShares, SURELY_ABOVE_ONE, SharedBus, waits_for_each};
use rtflash_model::TaskId;

use super::{ContentionAssumption, LoadKey, MOST_TASKS, Organisation, Organisations};

impl Organisations<'_> {
    /// Tasks never have less to do together: they leave collection no more room, and wait no less.
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

    /// Then no test of the cluster holds, whatever its garbage collection.
    pub(super) fn has_too_much(&self, key: LoadKey, organisation: Organisation, chips: u32) -> bool {
        let (device, placement) = (self.set.device(), organisation.placement);
        // The shares of many tasks take long to find, and serve few clusters.
        if self.set.tasks().count() > MOST_TASKS {
            return false;
        }
        self.work.charge(2);
        let least = self.known.least(key, || LeastShares::new(device, self.set.tasks(), chips, placement));
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
