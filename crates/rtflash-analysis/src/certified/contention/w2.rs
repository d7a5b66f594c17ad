//! W2: reads in a queue (docs/analysis.md, Section 6.1). Where a read follows a read, sensing and
//! waiting overlap, and σ is taken back. What may spoil that is charged as exceptions, each at the
//! price of what it spoils.

use super::queue::{Exceptions, FifoBus};
use super::{Activity, ChipSum, Contention};
use crate::certified::long_run::Line;
use crate::certified::processor::{ChosenGc, Processor};
use crate::certified::term::Term;
use crate::certified::time::{Cost, ProcessorTime, ns};

impl Contention {
    /// W2, Eq. (46), before σ n_r is taken back, and σ n_r.
    pub(super) fn w2(
        &self,
        queue: FifoBus,
        activity: Activity,
        exceptions: &Exceptions,
    ) -> (ProcessorTime, ProcessorTime) {
        let sigma = Cost::from(queue.sigma());
        let excepted = sigma.times(exceptions.full).saturating_add(self.spoilt(queue, exceptions));
        // Waits for siblings are in what pages are charged.
        let o_t_d = Cost::from(self.hold).times(self.beside_siblings());
        let n_i = activity.reads.saturating_add(activity.writes);
        (o_t_d.saturating_mul(n_i).saturating_add(excepted), sigma.times(activity.reads))
    }

    /// What fresh requests spoil: φ min E_j + (σ − φ) ⌈Σ E_j / max(1, o − 1)⌉, or ⌊σ Σ E_j / o⌋
    /// where that is less.
    #[allow(non_snake_case)] // The document's letters.
    fn spoilt(&self, queue: FifoBus, exceptions: &Exceptions) -> ProcessorTime {
        let [sigma, phi, sigma_less_phi] = [queue.sigma(), queue.phi(), queue.sigma_less_phi()].map(Cost::from);
        let min_E = self.kept(Term::MinFresh, exceptions.min_E);
        let sum_E = self.kept(Term::SumFresh, exceptions.sum_E);
        let apart = phi.times(min_E).saturating_add(sigma_less_phi.times(sum_E.div_ceil(queue.sharing())));
        let shared = sigma.times(self.kept(Term::SharedFresh, exceptions.sum_E));
        apart.min(shared.shared_by(queue.others()))
    }

    /// Chips that a page waits for beyond what it is charged.
    fn beside_siblings(&self) -> u128 {
        let foreign: u128 = self.neighbours.iter().map(|neighbour| u128::from(neighbour.chips)).sum();
        foreign + u128::from(self.always)
    }

    /// A line above W2 and the requests' own time, by whichever way of counting what fresh requests
    /// spoil has the smaller rate; `None` where numbers are too large.
    pub(super) fn w2_line<L: ChipSum>(
        &self,
        queue: FifoBus,
        processor: &Processor,
        gc: Option<ChosenGc>,
    ) -> Option<Line<L>> {
        let [sigma, transfer] = [queue.sigma(), self.hold].map(|span| u128::from(span.as_ns()));
        let (line, exceptions) = self.exceptions_line(queue, processor, gc, |item| {
            let time = u128::from(item.step_cost.as_ns()) + transfer * self.beside_siblings();
            let saved = if item.writes { 0 } else { sigma };
            Some(time.checked_sub(saved).expect("each read costs σ at least"))
        })?;
        let mut apart = line.clone();
        exceptions.charge_least(&mut apart, queue.phi())?;
        exceptions.charge_all(&mut apart, queue.sigma_less_phi(), queue.sharing())?;
        // And a round-up.
        apart.constant += ns(queue.sigma());
        let mut shared = line;
        exceptions.charge_all(&mut shared, queue.sigma(), queue.others())?;
        Some(if shared.rate() < apart.rate() { shared } else { apart })
    }
}
