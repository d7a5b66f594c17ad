//! A share of a processor that is sure to suffice.

use rtflash_model::Span;

use super::windows::windows;
use super::{Demand, end};
use crate::demand::bus::{Contention, Waiter};
use crate::fraction::to_f64;
use crate::gc::ChosenGc;
use crate::organisation::processor::{DemandTask, Processor};
use crate::time::{Cost, ns};
use crate::work::Work;

impl Demand<'_> {
    /// The cheap sufficient test: whether it is sure, from sums alone, that [`Demand::test`] holds.
    pub fn surely_holds(&self) -> bool {
        self.shares().surely_holds(self.gc)
    }

    /// A share with which both surely fit: the left side of Eq. (19) at its greatest.
    pub fn needed_share(&self) -> f64 {
        self.shares().needed_share(self.gc)
    }

    pub(crate) fn shares(&self) -> SureShares<'_> {
        let Demand { processor, contention, work, .. } = *self;
        let server = 1_000 - u32::try_from(self.share).expect("a thousand at most");
        SureShares::new(processor, contention, server, work)
    }
}

/// For one garbage collection after another: what requests have due does not depend on it.
pub(crate) struct SureShares<'u> {
    demand: Demand<'u>,
    due: Vec<Due>,
    waits: bool,
}

struct Due {
    sum: Sum,
    /// The blocking by work that is not due yet, whatever garbage collection does.
    before: Cost,
    after: Cost,
}

impl<'u> SureShares<'u> {
    pub fn new(
        processor: &'u Processor,
        contention: &'u Contention,
        server_thousandths: u32,
        work: &'u Work,
    ) -> SureShares<'u> {
        let demand = Demand::in_the_long_run(processor, contention, None, server_thousandths, work);
        let (asks, waits) = (contention.asks(Waiter { processor, gc: None, server: false }), !contention.is_none());
        let due = windows(processor).into_iter().map(|(_, place)| {
            let item = &processor.tasks[place];
            let asked = if waits && !demand.is_charged(item) { to_f64(asks.of(item)) } else { 0.0 };
            Due { sum: demand.sum_of(item, asked), before: item.step, after: Cost::ZERO }
        });
        let mut due: Vec<Due> = due.collect();
        let (mut blocking, mut after) = (demand.always_blocking, demand.always_blocking);
        let mut last = None;
        for item in due.iter_mut().rev() {
            // None of those that are due together blocks from there on.
            if last != Some(item.sum.deadline) {
                (last, after) = (Some(item.sum.deadline), blocking);
            }
            blocking = blocking.max(item.before);
            (item.before, item.after) = (blocking, after);
        }
        SureShares { demand, due, waits }
    }

    pub(crate) fn surely_holds(&self, gc: Option<ChosenGc>) -> bool {
        let share = self.demand.share as f64 / 1_000.0;
        self.share_up_to(gc, share) <= share
    }

    fn needed_share(&self, gc: Option<ChosenGc>) -> f64 {
        self.share_up_to(gc, f64::INFINITY)
    }

    /// The needed share; if it is more than `enough`, any number that is.
    pub(crate) fn share_up_to(&self, gc: Option<ChosenGc>, enough: f64) -> f64 {
        // Ten thousand roundings and more stay below this.
        const MARGIN: f64 = 1e-9;
        let Demand { processor, contention, work, repeats, .. } = self.demand;
        work.charge(4 * processor.tasks.len() + contention.requests() + 16);
        let mut of_gc = self.sum_of_gc(gc);
        let (mut load, mut constant, mut transfers, mut early) = (0.0, 0.0, 0.0, 0.0);
        let mut most: Option<f64> = None;
        let mut next = self.due.iter().peekable();
        loop {
            let first = next.peek().map(|due| due.sum.deadline);
            let passes = of_gc.as_ref().map(|(sum, _)| sum.deadline);
            let Some(from) = first.into_iter().chain(passes).min() else { break };
            // Work that is due at once, as a certificate from elsewhere may have it, fits into no
            // share.
            if from == Span::ZERO {
                return f64::INFINITY;
            }
            let mut blocking = next.peek().map_or(self.demand.always_blocking, |due| due.before);
            let mut add = |sum: &Sum| {
                (load, constant) = (load + sum.load, constant + sum.constant);
                (transfers, early) = (transfers + sum.transfers, early + sum.early);
            };
            while let Some(due) = next.next_if(|due| due.sum.deadline == from) {
                add(&due.sum);
                blocking = due.after;
            }
            if let Some((sum, _)) = of_gc.take_if(|(sum, _)| sum.deadline == from) {
                add(&sum);
            }
            blocking = of_gc.as_ref().map_or(blocking, |&(_, step)| blocking.max(step));
            let (blocking, length) = (blocking.saturating_add(repeats).to_f64(), ns(from));
            let waiting =
                if self.waits { contention.share(processor, length, transfers + early.max(0.0) / length) } else { 0.0 };
            let here = load + waiting + (constant.max(0.0) + blocking) / length;
            let greatest = most.unwrap_or(0.0).max(here);
            if greatest + MARGIN > enough {
                return greatest + MARGIN;
            }
            most = Some(greatest);
        }
        most.map_or(0.0, |most| most + MARGIN)
    }

    /// The time of passes that are due, and their longest step; `None` where none is released.
    fn sum_of_gc(&self, gc: Option<ChosenGc>) -> Option<(Sum, Cost)> {
        let (gc, deadline) = gc.and_then(|gc| Some((gc, gc.deadline?)))?;
        let Demand { processor, contention, turnaround, .. } = self.demand;
        // The wait of the processor for a pass comes with it.
        let per_page = (gc.cost.to_f64() + turnaround.to_f64()) / gc.reclaimed as f64;
        let (mut rate, mut pages) = (0.0, (gc.reclaimed - 1) as f64);
        let mut all = pages;
        for writer in &processor.write_streams {
            let (w, t, j) = (writer.pages.mean(), ns(writer.period), ns(writer.jitter));
            rate += w / t;
            pages += writer.pages.at_most(1.0 - (ns(deadline) - j) / t);
            all += writer.pages.at_most(1.0 + (ns(deadline) + j) / t);
        }
        // The terms may be much more than the sum: its roundings with it.
        let constant = per_page * (pages + end::ROUNDINGS * all);
        let of_a_page =
            to_f64(contention.asks(Waiter { processor, gc: Some(gc), server: false }).pass) / gc.reclaimed as f64;
        let (transfers, early) = (of_a_page * rate, of_a_page * pages.max(0.0));
        Some((Sum { deadline, load: per_page * rate, constant, transfers, early }, gc.step))
    }
}

impl Demand<'_> {
    /// The sum of a request, each step of which asks for the bus `asked` times.
    fn sum_of(&self, item: &DemandTask, asked: f64) -> Sum {
        let (turnaround, preemption) = (self.turnaround.to_f64(), self.preemption.to_f64());
        let (cost, period, early) = (item.step_cost.to_f64(), ns(item.period), item.early());
        let (mean, beyond) = (item.transfers.mean(), item.transfers.at_most(early));
        // The time of jobs beside their steps: in the long run, and beyond that.
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

    /// Programs are charged all that they wait, where there are two page registers.
    fn is_charged(&self, item: &DemandTask) -> bool {
        self.processor.registers().is_some() && item.writes
    }
}

/// The work that is due by a deadline, in the long run.
struct Sum {
    deadline: Span,
    load: f64,
    constant: f64,
    transfers: f64,
    /// Transfers beyond the rate's: early deadlines, and rounded-up streams. Can be below zero.
    early: f64,
}
