//! Reads whose commands stand in a queue (docs/analysis.md, Section 6.3).
//!
//! 1. All chips of the channel are in stripes of one page register without servers, and their load
//!    is known.
//! 2. The bus is first come, first served.
//! 3. A command takes at most t_d, and a read's command and sensing together more than t_r.
//!
//! So the reads of another chip delay a read by at most one page and one command.

use super::neighbour::{Neighbour, Presence, programs_line};
use super::w1::{AskingRate, PerStep};
use super::w4::read_rate;
use super::{Activity, Contention, Wait, Waiter};
use crate::long_run::{Line, LongRun};
use crate::time::{Cost, ProcessorTime, ns};

impl Contention {
    /// W1 with Eq. (50), t_b (n_i − n_r) + t_d V_j where that is less, and what siblings take back.
    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn queued_commands(
        &self,
        siblings: u64,
        activity: Activity,
        n_i: u128,
        Waiter { processor, .. }: Waiter<'_>,
    ) -> Wait {
        let t_b = Cost::from(self.hold);
        let programs = |V_j: u128| self.transfer().times(V_j);
        let one_by_one = t_b.times(n_i - activity.reads);
        let of_one = |j: &Neighbour| {
            let V_j = Presence::new(&j.requests, j.gc, activity.length).V_j;
            let queued = one_by_one.saturating_add(programs(V_j));
            self.w1_of(j, activity.length, n_i).min(queued).saturating_mul(j.chips.into())
        };
        let always = t_b.times(n_i).saturating_mul(self.always.into());
        let more = self.neighbours.iter().map(of_one).fold(always, ProcessorTime::saturating_add);
        let own = programs(Presence::new(&processor.tasks, None, activity.length).V_j);
        let less = t_b.times(activity.reads).checked_sub(own).unwrap_or(ProcessorTime::ZERO);
        Wait { more, less: less.saturating_mul(siblings.into()) }
    }

    /// A line above that and the requests' own time, of each chip by the bound of smaller rate.
    pub(super) fn queued_commands_line<L: LongRun>(&self, siblings: u64, waiter: Waiter<'_>) -> Option<Line<L>> {
        let [hold, transfer] = [u128::from(self.hold.as_ns()), u128::from(self.transfer().as_ns())];
        let asks = self.asks(waiter);
        let (mu_i, mu_r) = (self.rate_of_asks(waiter), read_rate(waiter.processor));
        let own_programs: Line<L> = programs_line(&waiter.processor.tasks);
        let mut line = Line::default();
        let is_less = hold as f64 * mu_r > transfer as f64 * own_programs.rate();
        let saved = if is_less { hold.checked_mul(siblings.into())? } else { 0 };
        let always = hold.checked_mul(self.always.into())?;
        for item in &waiter.processor.tasks {
            let each = u128::from(item.step_cost.as_ns()).checked_add(always.checked_mul(asks.of(item))?)?;
            line.add_due(item, each.checked_sub(if item.writes { 0 } else { saved })?)?;
        }
        PerStep { pass: asks.pass, ..PerStep::default() }.add_to(&mut line, waiter, always)?;
        if is_less {
            line.add_scaled(&own_programs, transfer.checked_mul(siblings.into())?, 1)?;
        }
        for j in &self.neighbours {
            let queued = ns(self.hold) * (mu_i - mu_r) + transfer as f64 * programs_line::<f64>(&j.requests).slope;
            let each = hold.checked_mul(j.chips.into())?;
            if queued < self.rate_of_waits(j, mu_i) {
                PerStep { read: asks.read.saturating_sub(1), ..asks }.add_to(&mut line, waiter, each)?;
                line.add_scaled(&programs_line(&j.requests), transfer.checked_mul(j.chips.into())?, 1)?;
            } else {
                self.add_neighbour(&mut line, waiter, j, AskingRate { rate: mu_i, each })?;
            }
        }
        Some(line)
    }

    fn transfer(&self) -> Cost {
        Cost::from(self.hold.saturating_sub(self.command))
    }
}
