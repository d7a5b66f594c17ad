//! Drawing the aperiodic requests of a set.

use super::aperiodic::{Aperiodic, AperiodicArrivals};
use super::doubles::{float, whole};
use super::draw::{Exhausted, Refusal};
use super::options::{SetOptions, SetSpec};
use super::utilization::Utilization;
use super::writes::WriteShare;
use crate::arrivals::Arrivals;
use crate::random::Stream;
use crate::task::Job;
use crate::task_set::TaskSet;
use crate::time::Span;

impl SetOptions {
    /// The set `index` at this utilization with streams of aperiodic requests, `j1` to `jn`, beside
    /// its tasks. A stream's utilization is split between reads and writes by the share of writes,
    /// or by two uniform weights. Pages and the mean gap follow as those of a request do. The
    /// streams have random numbers of their own, so the tasks are the same without them.
    ///
    /// # Errors
    /// Pages that would take 2⁶³ ns or more.
    pub fn with_aperiodic(
        &self,
        set: &TaskSet,
        aperiodic: Aperiodic,
        utilization: Utilization,
        index: u64,
    ) -> Result<TaskSet, Exhausted> {
        let mut random = Stream::new(self.key(utilization, index, b"job"));
        let part = aperiodic.utilization.to_f64() / f64::from(aperiodic.streams);
        let jobs = (1..=aperiodic.streams).map(|number| Job {
            name: format!("j{number}"),
            ..self.aperiodic_stream(&mut random, part, aperiodic.arrivals)
        });
        let with_jobs = TaskSet::new(*set.device(), set.tasks().as_slice().to_vec(), jobs.collect());
        let &SetSpec { seed, generator, tasks, .. } = self.spec();
        let mostly = Refusal::Pages;
        with_jobs.map_err(|_| Exhausted {
            utilization,
            index,
            seed,
            generator,
            tasks,
            draws: 1,
            mostly,
            by_fixed_sum: false,
        })
    }

    fn aperiodic_stream(&self, random: &mut Stream, utilization: f64, arrivals: AperiodicArrivals) -> Job {
        let SetSpec { page_costs, periods, pages, writes, .. } = self.spec();
        // In (0, 1]: two zeros would have no ratio.
        let (read, write) = (1.0 - random.unit(), 1.0 - random.unit());
        let writing = writes.share().map_or(write / (read + write), WriteShare::to_f64);
        let gap = float(periods.draw(random));
        let [read_cost, write_cost] = [page_costs.read, page_costs.write].map(|cost| float(cost.as_ns()));
        let pages_of = |part: f64, cost: f64| {
            let drawn = whole(utilization * part * gap / cost).max(1);
            if part > 0.0 { pages.map_or(drawn, |range| range.nearest(drawn)) } else { 0 }
        };
        let (read_pages, write_pages) = (pages_of(1.0 - writing, read_cost), pages_of(writing, write_cost));
        // The gap follows the whole pages, so that the utilization stays.
        let gap = (float(read_pages) * read_cost + float(write_pages) * write_cost) / utilization;
        let gap = Span::from_ns(whole(gap.round()).max(1)).unwrap_or(Span::LONGEST);
        let burst = random.within(2, 16);
        let half = Span::from_ns(gap.as_ns() / 2).unwrap_or(gap).max(Span::NANOSECOND);
        let arrivals = match arrivals {
            AperiodicArrivals::Even => Arrivals::Every(gap),
            AperiodicArrivals::Uniform => Arrivals::Uniform(half, gap.saturating_add(half)),
            AperiodicArrivals::Poisson => Arrivals::Poisson(gap),
            AperiodicArrivals::Bursts => {
                Arrivals::Bursts { every: gap.checked_mul(burst).unwrap_or(Span::LONGEST), burst }
            }
        };
        Job { name: String::new(), read_pages, write_pages, arrivals }
    }
}
