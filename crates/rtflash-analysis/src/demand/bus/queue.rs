//! The queue for the bus (docs/analysis.md, Section 6.1): σ and φ, which a read waits less behind
//! other reads, and the exceptions that spoil them. [`w2`](super::w2) and [`w3`](super::w3) charge
//! each exception at the price of what it spoils.

use rtflash_model::{Device, Span};

use super::neighbour::{PassTerm, Presence, programs_line, switches_line};
use super::{Activity, Contention, Waiter};
use crate::long_run::{Line, LongRun};
use crate::organisation::processor::DemandTask;
use crate::time::ns;

/// A bus that serves first come, first served, all of whose other chips are known.
#[derive(Debug, Clone, Copy)]
#[allow(non_snake_case)] // R_j is the document's letter.
pub(super) struct FifoBus {
    pub(super) sigma: Span,
    /// φ: the part of σ that is lost only if all others come fresh.
    pub(super) phi: Span,
    /// Whether t_w > t_r − t_d, so that S_j bounds R_j, too.
    S_bounds_R: bool,
    pub(super) siblings: u64,
    pub(super) o: u64,
}

impl FifoBus {
    /// `None` without other active chips, and if commands use the bus, too.
    #[allow(non_snake_case)]
    pub(super) fn new(device: &Device, siblings: u64, o: u64) -> Option<FifoBus> {
        let (t_r, t_d) = (device.page_read(), device.page_transfer());
        // Eq. (39).
        let phi = t_r.min(t_d);
        let sigma = if o > 1 { t_r.min(t_d.saturating_add(t_d)) } else { phi };
        let S_bounds_R = device.page_program_min().saturating_add(t_d) > t_r;
        (o > 0 && !device.has_commands()).then_some(FifoBus { sigma, phi, S_bounds_R, siblings, o })
    }

    pub(super) fn sigma_less_phi(self) -> Span {
        self.sigma.checked_sub(self.phi).expect("φ is a part of σ")
    }

    /// max(1, o − 1): chips that share the cycles of σ − φ.
    pub(super) fn sharing(self) -> u128 {
        if self.o > 1 { u128::from(self.o) - 1 } else { 1 }
    }
}

impl Presence {
    /// R_j, Eq. (44): a page, and then the bus asked for a program, before another chip reads.
    #[allow(non_snake_case)]
    fn R_j(&self, queue: FifoBus) -> u128 {
        if queue.S_bounds_R { self.V_j.min(self.S_j) } else { self.V_j }
    }

    /// E_j, Eq. (45): transfers that it may ask for without having just finished another.
    #[allow(non_snake_case)]
    fn E_j(&self) -> u128 {
        self.V_j.saturating_add(self.S_j)
    }
}

#[allow(non_snake_case)] // The document's letters.
pub(super) struct Exceptions {
    /// 1 + J_i + Σ R_j: operations that wait in full.
    pub(super) full: u128,
    pub(super) min_E: u128,
    pub(super) sum_E: u128,
}

#[allow(non_snake_case)] // The document's letters.
pub(super) struct ExceptionLines<L> {
    pub(super) min_E: Line<L>,
    pub(super) sum_E: Line<L>,
}

impl Contention {
    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn exceptions(&self, queue: FifoBus, activity: Activity, waiter: Waiter<'_>) -> Exceptions {
        let length = activity.length;
        let siblings =
            (queue.siblings > 0).then(|| (queue.siblings, Presence::new(&waiter.processor.tasks, waiter.gc, length)));
        let neighbours = self.neighbours.iter().map(|j| (j.chips, Presence::new(&j.requests, j.gc, length)));
        let (mut min_E, mut sum_E, mut sum_R) = (u128::MAX, 0, 0);
        for (chips, j) in siblings.into_iter().chain(neighbours) {
            min_E = min_E.min(j.E_j());
            sum_E = j.E_j().saturating_mul(chips.into()).saturating_add(sum_E);
            sum_R = j.R_j(queue).saturating_mul(chips.into()).saturating_add(sum_R);
        }
        Exceptions { full: activity.jobs.saturating_add(sum_R).saturating_add(1), min_E, sum_E }
    }

    /// A line above the own time, `own` of each page, and σ (1 + J_i + Σ R_j) (Section 6.1).
    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn exceptions_line<L: LongRun>(
        &self,
        queue: FifoBus,
        waiter: Waiter<'_>,
        own: impl Fn(&DemandTask) -> Option<u128>,
    ) -> Option<(Line<L>, ExceptionLines<L>)> {
        let sigma = u128::from(queue.sigma.as_ns());
        let mut line = Line { slope: L::default(), constant: ns(queue.sigma) };
        for item in &waiter.processor.tasks {
            line.add_due(item, own(item)?)?;
            line.add(sigma, item.period.as_ns().into(), ns(queue.sigma) * item.early());
        }
        for PassTerm { rate, more } in waiter.passes() {
            line.add(sigma.checked_mul(rate.numerator())?, rate.denominator(), more * ns(queue.sigma));
        }
        let own_chips = (queue.siblings > 0).then_some((queue.siblings, &waiter.processor.tasks, waiter.gc));
        let neighbours = self.neighbours.iter().map(|j| (j.chips, &j.requests, j.gc));
        let (mut min_E, mut sum_E): (Option<Line<L>>, Line<L>) = (None, Line::default());
        for (chips, requests, gc) in own_chips.into_iter().chain(neighbours) {
            let (switches, writes) = (switches_line(requests, gc), programs_line(requests));
            // The lesser of the two, as in any interval.
            let again = if queue.S_bounds_R && switches.rate() < writes.rate() { &switches } else { &writes };
            line.add_scaled(again, sigma.checked_mul(chips.into())?, 1)?;
            let mut E_j = switches;
            E_j.add_scaled(&writes, 1, 1)?;
            sum_E.add_scaled(&E_j, chips.into(), 1)?;
            if min_E.as_ref().is_none_or(|least| E_j.rate() < least.rate()) {
                min_E = Some(E_j);
            }
        }
        Some((line, ExceptionLines { min_E: min_E?, sum_E }))
    }
}
