//! A share of a processor that is sure to suffice.

use rtflash_model::Span;

use super::{Demand, Segment, end};
use crate::certified::processor::DemandTask;
use crate::certified::time::ns;
use crate::fraction::to_f64;

impl Demand<'_> {
    /// The cheap sufficient test: whether it is sure, from sums alone, that [`Demand::test`] holds.
    pub fn surely_holds(&self) -> bool {
        self.needed_share() <= self.share as f64 / 1_000.0
    }

    /// A share of the processor with which it is sure that demand and blocking fit into every
    /// interval: the left side of Eq. (17) for the deadline at which it is greatest.
    pub fn needed_share(&self) -> f64 {
        self.work.charge(4 * self.processor.tasks.len() + self.contention.requests() + 16);
        // Ten thousand roundings and more stay below this.
        const MARGIN: f64 = 1e-9;
        let (asks, waits) = (self.contention.asks(self.processor, self.gc), !self.contention.is_none());
        let asked = |item: &DemandTask| if waits && !self.is_charged(item) { to_f64(asks.of(item)) } else { 0.0 };
        let mut of_gc = None;
        if let Some((gc, deadline)) = self.gc.and_then(|gc| Some((gc, gc.deadline?))) {
            // What a pass may make the processor wait comes with it.
            let per_page = (gc.cost.to_f64() + self.turnaround.to_f64()) / gc.reclaimed as f64;
            let (mut rate, mut pages) = (0.0, (gc.reclaimed - 1) as f64);
            let mut all = pages;
            for writer in &self.processor.write_streams {
                let (w, t, j) = (writer.pages.mean(), ns(writer.period), ns(writer.jitter));
                rate += w / t;
                pages += writer.pages.at_most(1.0 - (ns(deadline) - j) / t);
                all += writer.pages.at_most(1.0 + (ns(deadline) + j) / t);
            }
            // What is added up may be much more than the sum: its roundings with it.
            let constant = per_page * (pages + end::ROUNDINGS * all);
            let of_a_page = to_f64(asks.pass) / gc.reclaimed as f64;
            let (transfers, early) = (of_a_page * rate, of_a_page * pages.max(0.0));
            of_gc = Some(Sum { deadline, load: per_page * rate, constant, transfers, early });
        }
        let mut next = self.windows.0.iter().peekable();
        let (mut load, mut constant, mut transfers, mut early) = (0.0, 0.0, 0.0, 0.0);
        let mut most = 0.0f64;
        for &Segment { from, blocking } in &self.segments {
            // What is due at once, as a certificate from elsewhere may have it, fits into no share.
            if from == Span::ZERO {
                return f64::INFINITY;
            }
            let due = std::iter::from_fn(|| next.next_if(|&&(window, _)| window <= from));
            let items = due.map(|&(_, place)| &self.processor.tasks[place]);
            let requests = items.map(|item| self.sum_of(item, asked(item)));
            for sum in requests.chain(of_gc.take_if(|sum| sum.deadline <= from)) {
                (load, constant) = (load + sum.load, constant + sum.constant);
                (transfers, early) = (transfers + sum.transfers, early + sum.early);
            }
            let length = ns(from);
            let waiting = if waits || self.processor.registers().is_some() {
                self.contention.share(self.processor, length, transfers + early / length)
            } else {
                0.0
            };
            most = most.max(load + waiting + (constant.max(0.0) + blocking.to_f64()) / length);
        }
        if self.segments.is_empty() { 0.0 } else { most + MARGIN }
    }

    /// Of a request, each step of which makes so many requests for the bus.
    fn sum_of(&self, item: &DemandTask, asked: f64) -> Sum {
        let (turnaround, preemption) = (self.turnaround.to_f64(), self.preemption.to_f64());
        let (cost, period, early) = (item.step_cost.to_f64(), ns(item.period), item.early());
        let (mean, beyond) = (item.transfers.mean(), item.transfers.at_most(early));
        // What jobs take beside their steps: in the long run, and beyond that.
        let (mut beside, mut beside_early) = (turnaround, turnaround * early);
        if preemption > 0.0 {
            beside += preemption * item.with_pages().mean();
            beside_early += preemption * item.with_pages().at_most(early);
        }
        // Most ask for nothing.
        let (transfers, early) = if asked > 0.0 { (asked * mean / period, asked * beyond) } else { (0.0, 0.0) };
        Sum {
            deadline: item.window(),
            load: (cost * mean + beside) / period,
            constant: cost * beyond + beside_early,
            transfers,
            early,
        }
    }

    /// Whether an item is charged all that its pages wait: programs are, where there are two page
    /// registers.
    fn is_charged(&self, item: &DemandTask) -> bool {
        self.processor.registers().is_some() && item.writes
    }
}

/// What is due by a deadline, in the long run.
struct Sum {
    deadline: Span,
    load: f64,
    constant: f64,
    transfers: f64,
    /// Transfers beyond the rate's, where deadlines come before the end of the period, and those of
    /// a stream that are rounded up.
    early: f64,
}
