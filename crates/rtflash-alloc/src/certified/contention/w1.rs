//! W1: each page waits for one transfer of each neighbour, as far as the neighbour makes so many
//! (docs/analysis.md, Section 6).

use rtflash_model::Span;

use super::queue::{passes, passes_live};
use super::{Activity, ChipLines, ChipSum, Contention, ForeignChip, more_live};
use crate::certified::long_run::{Line, LongRun};
use crate::certified::processor::{ChosenGc, DemandTask, Rows, transfer_rate};
use crate::certified::time::{Cost, ProcessorTime, ns};
use crate::fraction::Fraction;

impl Contention {
    /// W1, Eq. (45): t_d Σ min(n_i, N_j) over the neighbours, and t_d n_i for each chip that always
    /// counts.
    pub(super) fn w1(&self, activity: Activity) -> ProcessorTime {
        // Eq. (32).
        let n_i = activity.reads.saturating_add(activity.writes);
        let waits = self.neighbours.iter().map(|j| j.transfers(activity.length, n_i).saturating_mul(j.chips.into()));
        let always = n_i.saturating_mul(self.always.into());
        Cost::from(self.transfer).times(waits.fold(always, u128::saturating_add))
    }

    /// A line above W1 and the requests' own time, Eqs. (35) and (36): of each neighbour the
    /// smaller rate counts. `None` where numbers are too large.
    pub(super) fn w1_line<L: ChipSum>(&self, items: &[DemandTask]) -> Option<Line<L>> {
        let mut line = Line::default();
        for item in items {
            let more = u128::from(self.transfer.as_ns()) * u128::from(self.always);
            line.add_due(item, more.checked_add(item.step_cost.as_ns().into())?)?;
        }
        let rho_i = transfer_rate(items);
        for neighbour in &self.neighbours {
            let each = u128::from(self.transfer.as_ns()) * u128::from(neighbour.chips);
            neighbour.add_to(&mut line, items, rho_i, each)?;
        }
        Some(line)
    }

    /// The share of intervals of `length` and more that is waiting, at most, for requests that move
    /// `rate` pages a nanosecond.
    pub(in crate::certified) fn share(&self, length: f64, rate: f64) -> f64 {
        let shares = self.neighbours.iter().map(|neighbour| {
            neighbour.chips as f64 * rate.min(neighbour.rate() + neighbour.lines.pages.constant / length)
        });
        ns(self.transfer) * (shares.sum::<f64>() + self.always as f64 * rate)
    }
}

impl ForeignChip {
    /// min(n_i, N_j) with N_j(L) of Eq. (33): transfers of one of these chips that are live in an
    /// interval of this length. Σ γ(⌈(L + D)/T⌉); in a superblock of s chips, a part of what
    /// is programmed, and the copies of P_j passes.
    pub(super) fn transfers(&self, length: Span, n_i: u128) -> u128 {
        let (mut n_j, mut programmed) = (0u128, 0u128);
        for request in &self.requests {
            let pages = request.pages.of(request.live(length).into());
            let sum = if request.writes && self.rows.is_some() { &mut programmed } else { &mut n_j };
            *sum = sum.saturating_add(pages);
            if n_j >= n_i {
                return n_i;
            }
        }
        if let Some(Rows { chips, chip_pages }) = self.rows {
            if let Some(gc) = self.gc {
                let passes = passes_live(&self.requests, gc, length);
                n_j = n_j.saturating_add(passes.saturating_mul(gc.valid.min(chip_pages).into()));
                programmed = programmed.saturating_add(passes.saturating_mul(self.copied(gc)));
            }
            n_j = n_j.saturating_add(programmed.div_ceil(chips.into()));
        }
        n_j.min(n_i)
    }

    /// Pages that a pass programs.
    fn copied(&self, gc: ChosenGc) -> u128 {
        if self.rows.is_some_and(|rows| rows.chip_pages == 0) { 0 } else { gc.valid.into() }
    }

    /// ρ_j, about.
    pub(super) fn rate(&self) -> f64 {
        self.lines.pages.slope
    }

    /// Lines above what the chip does; pages by ⌈(L + D)/T⌉ ≤ L/T + 1 + D/T, summed.
    pub(super) fn lines<L: LongRun>(&self) -> ChipLines<L> {
        let mut pages = Line::default();
        for item in &self.requests {
            let chips = self.rows.filter(|_| item.writes).map_or(1, |rows| rows.chips);
            let (of_a_job, among) = item.pages.rate();
            // In a superblock nothing is shared otherwise.
            let shared = u128::from(item.period.as_ns()) * u128::from(chips.max(among));
            pages.add(of_a_job.into(), shared, item.pages.at_most(more_live(item)) / chips as f64);
        }
        if let (Some(Rows { chips, chip_pages }), Some(gc)) = (self.rows, self.gc) {
            // Of a pass: what it reads on the chip, and its part of what the pass programs.
            let each =
                Fraction::new(u128::from(gc.valid.min(chip_pages)) * u128::from(chips) + self.copied(gc), chips.into());
            for (rate, more) in passes(&self.requests, Some(gc)) {
                // Shared by nobody where that cannot be written down: it is above then.
                let shared = rate.denominator().checked_mul(each.denominator()).unwrap_or(rate.denominator());
                pages.add(rate.numerator().saturating_mul(each.numerator()), shared, more * each.to_f64());
            }
        }
        // And a round-up.
        pages.constant += if self.rows.is_some() { 1.0 } else { 0.0 };
        ChipLines {
            pages,
            switches: Line::of_switches(&self.requests, self.gc),
            writes: Line::of_writes(&self.requests),
        }
    }

    /// Adds a line above `each` · min(n_i, N_j): the smaller rate counts, ρ_i or the chip's own.
    /// `None` where numbers are too large.
    pub(super) fn add_to<L: ChipSum>(
        &self,
        line: &mut Line<L>,
        items: &[DemandTask],
        rho_i: f64,
        each: u128,
    ) -> Option<()> {
        if self.rate() < rho_i {
            match L::kept(self) {
                Some(kept) => line.add_scaled(&kept.pages, each, 1)?,
                None => line.add_scaled(&self.lines().pages, each, 1)?,
            }
        } else {
            for item in items {
                line.add_due(item, each)?;
            }
        }
        Some(())
    }
}
