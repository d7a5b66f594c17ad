//! W1: the wait for the transfers that neighbours make (docs/analysis.md, Sections 6 and 14).
//!
//! 1. The bus lets no chip wait for more than one transfer of each other: first come, first served,
//!    or round robin.
//! 2. The load of each neighbour is known; every other chip is charged to each page.
//! 3. The processor is a chip of a stripe, or a superblock that does not backfill.
//!
//! So each request for the bus waits for one transfer of each neighbour, as far as the neighbour
//! makes that many: min(n_i, N_j).

use rtflash_model::Span;

use super::neighbour::{Neighbour, PassTerm, steps_on_chip};
use super::{Activity, Contention, Waiter};
use crate::fraction::to_f64;
use crate::long_run::{Line, LongRun};
use crate::organisation::processor::{DemandTask, Rows, WriteStream};
use crate::time::{Cost, ProcessorTime, ns, product_of_two};

/// A number for each step of a kind, and for each pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PerStep {
    pub(crate) read: u128,
    pub(crate) write: u128,
    pub(crate) reset: u128,
    pub(crate) pass: u128,
}

impl PerStep {
    pub(crate) fn of(self, item: &DemandTask) -> u128 {
        match item.writes {
            _ if item.resets => self.reset,
            true => self.write,
            false => self.read,
        }
    }

    /// The sum over all that a processor does within an interval.
    pub(super) fn of_all(self, activity: Activity) -> u128 {
        let of = |each: u128, times: u128| if each == 0 { 0 } else { product_of_two(each, times) };
        let users = of(self.read, activity.reads).saturating_add(of(self.write, activity.writes));
        users.saturating_add(of(self.reset, activity.resets)).saturating_add(of(self.pass, activity.passes))
    }

    pub(super) fn add_to<L: LongRun>(self, line: &mut Line<L>, waiter: Waiter<'_>, each: u128) -> Option<()> {
        if each == 0 {
            return Some(());
        }
        for item in &waiter.processor.tasks {
            line.add_due(item, each.checked_mul(self.of(item))?)?;
        }
        let of_a_pass = each.checked_mul(self.pass)?;
        if of_a_pass > 0 {
            for PassTerm { rate, .. } in waiter.passes() {
                line.add(of_a_pass.checked_mul(rate.numerator())?, rate.denominator(), 0.0);
            }
            line.constant += to_f64(of_a_pass) * more_due(waiter);
        }
        Some(())
    }
}

#[derive(Clone, Copy)]
pub(super) struct AskingRate {
    /// μ_i, about: requests in a nanosecond.
    pub(super) rate: f64,
    /// Nanoseconds that each of them may wait.
    pub(super) each: u128,
}

impl Contention {
    /// n_i by steps, Eq. (33): in a stripe each request for the bus, with commands (Section 2.10);
    /// in a superblock each step that uses the bus, Eq. (70), with commands twice where it reads.
    pub(crate) fn asks(&self, Waiter { processor, gc, .. }: Waiter<'_>) -> PerStep {
        let commands = u128::from(self.command > Span::ZERO);
        if processor.registers().is_some() {
            // With commands, too, a page and the command behind it ask once.
            return PerStep { read: 1, write: 1, reset: 0, pass: 0 };
        }
        let (read, victim) = (1 + commands, gc.map_or(0, |gc| gc.valid));
        let Some(Rows { chips, chip_pages }) = processor.rows() else {
            return PerStep { read, write: 1, reset: commands, pass: commands * gc.map_or(0, steps_on_chip) };
        };
        let row = u128::from(!self.rows_wait_elsewhere);
        let steps = u128::from(victim.min(chip_pages)) * read;
        let programs = row * (u128::from(victim.div_ceil(chips)) + commands);
        let pass = if gc.is_none() { 0 } else { steps + programs };
        PerStep { read, write: row, reset: 0, pass }
    }

    /// W1, Eq. (46): t_d Σ min(n_i, N_j) over the neighbours, and t_d n_i for each chip that always
    /// counts; with commands Σ min(t_b n_i, t_b N_j + t_c G_j), Section 2.10.
    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn w1(&self, length: Span, n_i: u128) -> ProcessorTime {
        let always = Cost::from(self.hold).times(n_i).saturating_mul(self.always.into());
        let waits = self.neighbours.iter().map(|j| self.w1_of(j, length, n_i).saturating_mul(j.chips.into()));
        waits.fold(always, |sum, wait| sum.saturating_add(wait))
    }

    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn w1_of(&self, j: &Neighbour, length: Span, n_i: u128) -> ProcessorTime {
        let all = |pages: u128| Cost::from(self.hold).times(pages);
        let N_j = j.transfers(length, n_i);
        // A charge in full is no more with commands.
        if self.command == Span::ZERO || N_j == n_i {
            return all(N_j);
        }
        let G_j = j.commands(length);
        all(n_i).min(all(N_j).saturating_add(Cost::from(self.command).times(G_j)))
    }

    /// The wait of each step of a superblock beyond its charge, in ns: it makes (T) the test, so
    /// that what passes (T) passes beside known neighbours.
    pub(super) fn in_full(&self, Waiter { processor, gc, .. }: Waiter<'_>) -> Option<PerStep> {
        let [read, write, pass] = processor.saved_waits(gc)?.map(u128::from);
        Some(PerStep { read, write, reset: 0, pass })
    }

    /// A line above W1 and the requests' own time, Eqs. (36) and (37): the smaller rate counts.
    pub(super) fn w1_line<L: LongRun>(&self, waiter: Waiter<'_>) -> Option<Line<L>> {
        let hold = u128::from(self.hold.as_ns());
        let mut line = waiter.own_line()?;
        self.asks(waiter).add_to(&mut line, waiter, hold.checked_mul(self.always.into())?)?;
        if self.neighbours.is_empty() {
            return Some(line);
        }
        let rate = self.rate_of_asks(waiter);
        for j in &self.neighbours {
            self.add_neighbour(&mut line, waiter, j, AskingRate { rate, each: hold * u128::from(j.chips) })?;
        }
        Some(line)
    }

    /// Adds a line above min(n_i, N_j) of these waits, and of commands: the smaller rate counts.
    pub(super) fn add_neighbour<L: LongRun>(
        &self,
        line: &mut Line<L>,
        waiter: Waiter<'_>,
        j: &Neighbour,
        asking: AskingRate,
    ) -> Option<()> {
        if self.add_busy(line, j, asking)? {
            return Some(());
        }
        self.asks(waiter).add_to(line, waiter, asking.each)
    }

    /// Adds a neighbour's transfers and commands if their rate is below that of the waits.
    pub(super) fn add_busy<L: LongRun>(
        &self,
        line: &mut Line<L>,
        j: &Neighbour,
        AskingRate { rate, each }: AskingRate,
    ) -> Option<bool> {
        if self.rate_of_waits(j, rate) >= ns(self.hold) * rate {
            return Some(false);
        }
        line.add_scaled(&j.pages_line(), each, 1)?;
        if self.command > Span::ZERO {
            let commands = u128::from(self.command.as_ns()).checked_mul(j.chips.into())?;
            line.add_scaled(&j.commands_line(), commands, 1)?;
        }
        Some(true)
    }

    /// The rate at which one chip of a neighbour makes requests of this rate wait, at most.
    pub(super) fn rate_of_waits(&self, j: &Neighbour, mu_i: f64) -> f64 {
        let busy = ns(self.hold) * j.pages.slope + ns(self.command) * j.commands.slope;
        busy.min(ns(self.hold) * mu_i)
    }

    /// μ_i, about: n_i in a nanosecond of the long run.
    pub(super) fn rate_of_asks(&self, waiter: Waiter<'_>) -> f64 {
        let (asks, tasks) = (self.asks(waiter), &waiter.processor.tasks);
        let pages = tasks.iter().map(|item| to_f64(asks.of(item)) * item.transfers.mean() / ns(item.period));
        let all_passes = waiter.passes().filter(|_| asks.pass > 0);
        pages.sum::<f64>() + all_passes.map(|term| term.rate.to_f64() * to_f64(asks.pass)).sum::<f64>()
    }

    /// The share of W1 in intervals of at least `length`, for `rate` requests a nanosecond.
    pub(super) fn w1_share(&self, length: f64, rate: f64) -> f64 {
        let (hold, command) = (ns(self.hold), ns(self.command));
        let shares = self.neighbours.iter().map(|j| {
            let busy = hold * j.pages.share_of(length) + command * j.commands.share_of(length);
            j.chips as f64 * busy.min(hold * rate)
        });
        shares.sum::<f64>() + hold * self.always as f64 * rate
    }
}

/// The most that ⌈X(L − D_g)/α⌉ exceeds its rate.
fn more_due(Waiter { processor, gc, .. }: Waiter<'_>) -> f64 {
    let Some((gc, deadline)) = gc.and_then(|gc| Some((gc, gc.deadline?))) else { return 0.0 };
    let early = |it: &WriteStream| it.pages.at_most(1.0 - (ns(deadline) - ns(it.jitter)) / ns(it.period));
    let pages: f64 = processor.write_streams.iter().map(early).sum();
    ((pages + gc.reclaimed as f64 - 1.0) / gc.reclaimed as f64).max(0.0)
}
