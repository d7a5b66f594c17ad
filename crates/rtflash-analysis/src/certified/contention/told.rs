//! Reads whose commands stand in a queue (docs/analysis.md, Section 6.3): what another chip reads
//! delays a read by one page and one command at most, never by two pages.

use super::queue::Presence;
use super::registers::read_rate;
use super::w1::{add_counted, add_counted_passes};
use super::{Activity, ChipSum, Contention, ForeignChip};
use crate::certified::long_run::Line;
use crate::certified::processor::{ChosenGc, Processor};
use crate::certified::term::Term;
use crate::certified::time::{Cost, ProcessorTime, ns};

impl Contention {
    /// W1 with Eq. (83), t_b (n_i − n_r) + t_d V_j for each neighbour where that is less, and what
    /// the chip's own siblings, so many, may make it wait less than it is charged.
    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn told(
        &self,
        siblings: u64,
        activity: Activity,
        n_i: u128,
        processor: &Processor,
    ) -> (ProcessorTime, ProcessorTime) {
        let t_b = Cost::from(self.hold);
        let programs = |V_j: u128| self.transfer().times(self.kept(Term::QueuedPrograms, V_j));
        let one_by_one = t_b.times(n_i - activity.reads);
        let of_one = |j: &ForeignChip| {
            let V_j = Presence::new(&j.requests, j.gc, activity.length).V_j;
            let queued = one_by_one.saturating_add(programs(V_j));
            self.w1_of(j, activity.length, n_i).min(queued).saturating_mul(j.chips.into())
        };
        let always = t_b.times(n_i).saturating_mul(self.always.into());
        let waits = self.neighbours.iter().map(of_one).fold(always, ProcessorTime::saturating_add);
        let own = programs(Presence::new(&processor.tasks, None, activity.length).V_j);
        let less = t_b.times(activity.reads).checked_sub(own).unwrap_or(ProcessorTime::ZERO);
        (waits, less.saturating_mul(siblings.into()))
    }

    /// A line above the same and the requests' own time, of each chip by whichever bound has the
    /// smallest rate. `None` where numbers are too large.
    pub(super) fn told_line<L: ChipSum>(
        &self,
        siblings: u64,
        processor: &Processor,
        gc: Option<ChosenGc>,
    ) -> Option<Line<L>> {
        let [hold, transfer] = [u128::from(self.hold.as_ns()), u128::from(self.transfer().as_ns())];
        let asks = self.asks(processor, gc);
        let (mu_i, mu_r) = (self.rate_of_asks(processor, gc), read_rate(processor));
        let writes: Line<L> = Line::of_writes(&processor.tasks);
        let mut line = Line::default();
        let is_less = hold as f64 * mu_r > transfer as f64 * writes.rate();
        let saved = if is_less { hold.checked_mul(siblings.into())? } else { 0 };
        let always = hold.checked_mul(self.always.into())?;
        for item in &processor.tasks {
            let each = u128::from(item.step_cost.as_ns()).checked_add(always.checked_mul(asks.of(item))?)?;
            line.add_due(item, each.checked_sub(if item.writes { 0 } else { saved })?)?;
        }
        add_counted_passes(&mut line, processor, gc, always.checked_mul(asks.pass)?)?;
        if is_less {
            line.add_scaled(&writes, transfer.checked_mul(siblings.into())?, 1)?;
        }
        for j in &self.neighbours {
            let queued = ns(self.hold) * (mu_i - mu_r) + transfer as f64 * j.lines.writes.slope;
            let each = hold.checked_mul(j.chips.into())?;
            if queued < self.rate_of_waits(j, mu_i) {
                let behind = super::PerStep { read: asks.read.saturating_sub(1), ..asks };
                add_counted(&mut line, processor, gc, behind, each)?;
                line.add_scaled(&Line::of_writes(&j.requests), transfer.checked_mul(j.chips.into())?, 1)?;
            } else {
                self.add_neighbour(&mut line, (processor, gc), j, (mu_i, each))?;
            }
        }
        Some(line)
    }

    /// t_d.
    fn transfer(&self) -> Cost {
        Cost::from(self.hold.saturating_sub(self.command))
    }
}
