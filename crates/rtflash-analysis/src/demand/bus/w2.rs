//! W2: reads in a queue (docs/analysis.md, Section 6.1).
//!
//! 1. All chips of the channel are in stripes of one page register without servers, and their load
//!    is known.
//! 2. The bus is first come, first served.
//! 3. Transfers take exactly t_d, and a read senses for more than t_r − t_d.
//! 4. Each chip breaks ties of EDF by a fixed order of jobs.
//!
//! If a read follows a read, sensing and waiting overlap, and σ is taken back. Exceptions spoil
//! that, each at a price of its own.

use super::queue::{Exceptions, FifoBus};
use super::{Activity, Contention, Wait, Waiter};
use crate::long_run::{Line, LongRun};
use crate::time::{Cost, ProcessorTime, ns};

impl Contention {
    /// W2, Eq. (47); what is taken back is σ n_r.
    pub(super) fn w2(&self, queue: FifoBus, activity: Activity, exceptions: &Exceptions) -> Wait {
        let sigma = Cost::from(queue.sigma);
        let excepted = sigma.times(exceptions.full).saturating_add(self.spoilt(queue, exceptions));
        // Waits for siblings are in what pages are charged.
        let o_t_d = Cost::from(self.hold).times(self.beside_siblings());
        let n_i = activity.reads.saturating_add(activity.writes);
        Wait { more: o_t_d.saturating_mul(n_i).saturating_add(excepted), less: sigma.times(activity.reads) }
    }

    /// The fresh requests' effect: φ min E_j + (σ − φ) ⌈Σ E_j / max(1, o − 1)⌉, or ⌊σ Σ E_j / o⌋
    /// where that is less.
    #[allow(non_snake_case)] // The document's letters.
    fn spoilt(&self, queue: FifoBus, exceptions: &Exceptions) -> ProcessorTime {
        let [sigma, phi, sigma_less_phi] = [queue.sigma, queue.phi, queue.sigma_less_phi()].map(Cost::from);
        let cycles = exceptions.sum_E.div_ceil(queue.sharing());
        let apart = phi.times(exceptions.min_E).saturating_add(sigma_less_phi.times(cycles));
        let shared = sigma.times(exceptions.sum_E);
        apart.min(shared.shared_by(queue.o.into()))
    }

    fn beside_siblings(&self) -> u128 {
        let foreign: u128 = self.neighbours.iter().map(|j| u128::from(j.chips)).sum();
        foreign + u128::from(self.always)
    }

    /// A line above W2 and the requests' own time, by the way of counting with the smaller rate.
    pub(super) fn w2_line<L: LongRun>(&self, queue: FifoBus, waiter: Waiter<'_>) -> Option<Line<L>> {
        let time = |span: rtflash_model::Span| u128::from(span.as_ns());
        let (sigma, beside) = (time(queue.sigma), time(self.hold) * self.beside_siblings());
        let (line, exceptions) = self.exceptions_line(queue, waiter, |item| {
            let saved = if item.writes { 0 } else { sigma };
            let time = u128::from(item.step_cost.as_ns()) + beside;
            Some(time.checked_sub(saved).expect("each read costs σ at least"))
        })?;
        let mut apart = line.clone();
        apart.add_scaled(&exceptions.min_E, time(queue.phi), 1)?;
        apart.add_scaled(&exceptions.sum_E, time(queue.sigma_less_phi()), queue.sharing())?;
        // And a round-up.
        apart.constant += ns(queue.sigma);
        let mut shared = line;
        shared.add_scaled(&exceptions.sum_E, sigma, queue.o.into())?;
        Some(if shared.rate() < apart.rate() { shared } else { apart })
    }
}
