//! W3: reads in a queue beside neighbours that move little (docs/analysis.md, Section 6.1). Each
//! neighbour counts with the transfers that it makes, and the two that make the most count with
//! less for each.

use super::queue::{Exceptions, FifoBus};
use super::{Activity, Contention, WaitBound};
use crate::certified::processor::{ChosenGc, Processor, transfer_rate};
use crate::certified::term::Term;
use crate::certified::time::{Cost, ProcessorTime};

impl Contention {
    /// What W3, Eq. (47), has on top of W1, and what it takes back: σ (1 + n_w + J_i + Σ R_j) +
    /// φ Σ E_j, and φ X_1 + (σ − φ) X_2.
    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn w3_beside_w1(
        &self,
        queue: FifoBus,
        activity: Activity,
        exceptions: &Exceptions,
    ) -> (ProcessorTime, ProcessorTime) {
        let [sigma, phi, sigma_less_phi] = [queue.sigma(), queue.phi(), queue.sigma_less_phi()].map(Cost::from);
        let writes = self.kept(Term::RankedWrites, activity.writes);
        let fresh = phi.times(self.kept(Term::RankedFresh, exceptions.sum_E));
        let more = sigma.times(exceptions.full.saturating_add(writes)).saturating_add(fresh);
        let [X_1, X_2] = self.greatest(queue, activity);
        (more, phi.times(X_1).saturating_add(sigma_less_phi.times(X_2)))
    }

    /// The two greatest of X_j = min(n_i, N_j) over the other chips; siblings make n_i transfers.
    #[allow(non_snake_case)]
    fn greatest(&self, queue: FifoBus, activity: Activity) -> [u128; 2] {
        let n_i = activity.reads.saturating_add(activity.writes);
        let mut greatest = [0; 2];
        let mut add = |X_j: u128, chips: u64| {
            for _ in 0..chips.min(2) {
                if X_j > greatest[0] {
                    greatest = [X_j, greatest[0]];
                } else if X_j > greatest[1] {
                    greatest[1] = X_j;
                }
            }
        };
        add(n_i, queue.siblings());
        self.neighbours.iter().for_each(|j| add(j.transfers(activity.length, n_i), j.chips));
        greatest
    }

    /// A line above W3 and the requests' own time; `None` where numbers are too large.
    ///
    /// Any two chips may stand for the greatest: the line takes those that are so in the long run.
    pub(super) fn w3_line(&self, queue: FifoBus, processor: &Processor, gc: Option<ChosenGc>) -> Option<WaitBound> {
        let time = |span: rtflash_model::Span| u128::from(span.as_ns());
        let [sigma, transfer] = [queue.sigma(), self.transfer].map(time);
        let mut less = [queue.phi(), queue.sigma_less_phi()].map(time).into_iter();
        let own: u128 = less.by_ref().take(usize::try_from(queue.siblings().min(2)).ok()?).sum();
        let (mut line, exceptions) = self.exceptions_line(queue, processor, gc, |item| {
            let charged = u128::from(item.cost.as_ns());
            let more = transfer * u128::from(self.always) + if item.writes { sigma } else { 0 };
            let pages = u128::from(item.transfers);
            (charged + more.checked_mul(pages)?).checked_sub(own.checked_mul(pages)?)
        })?;
        exceptions.charge_all(&mut line, queue.phi(), 1)?;
        let rho_i = transfer_rate(&processor.tasks);
        let mut neighbours: Vec<_> = self.neighbours.iter().collect();
        neighbours.sort_by(|a, b| b.rate.min(rho_i).total_cmp(&a.rate.min(rho_i)));
        for j in neighbours {
            let less: u128 = less.by_ref().take(usize::try_from(j.chips.min(2)).ok()?).sum();
            let each = transfer.checked_mul(j.chips.into())?.checked_sub(less)?;
            j.add_to(&mut line, &processor.tasks, rho_i, each);
        }
        Some(line)
    }
}
