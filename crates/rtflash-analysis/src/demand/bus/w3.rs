//! W3: reads in a queue beside neighbours that move little (docs/analysis.md, Section 6.1). It
//! assumes what [`w2`](super::w2) assumes.
//!
//! Each neighbour counts with the transfers that it makes, and the two that make the most count
//! with less for each.

use super::neighbour::Neighbour;
use super::queue::{Exceptions, FifoBus};
use super::w1::AskingRate;
use super::{Activity, Contention, Wait, Waiter};
use crate::long_run::{Line, LongRun};
use crate::organisation::processor::transfer_rate;
use crate::time::Cost;

impl Contention {
    /// W3, Eq. (48), on top of W1: σ (1 + n_w + J_i + Σ R_j) + φ Σ E_j, and what is taken back,
    /// φ X_1 + (σ − φ) X_2.
    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn w3_beside_w1(&self, queue: FifoBus, activity: Activity, exceptions: &Exceptions) -> Wait {
        let [sigma, phi, sigma_less_phi] = [queue.sigma, queue.phi, queue.sigma_less_phi()].map(Cost::from);
        let in_full = exceptions.full.saturating_add(activity.writes);
        let more = sigma.times(in_full).saturating_add(phi.times(exceptions.sum_E));
        let [X_1, X_2] = self.greatest(queue, activity);
        Wait { more, less: phi.times(X_1).saturating_add(sigma_less_phi.times(X_2)) }
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
        add(n_i, queue.siblings);
        self.neighbours.iter().for_each(|j| add(j.transfers(activity.length, n_i), j.chips));
        greatest
    }

    /// A line above W3 and the requests' own time. Any two chips may stand for the greatest: the
    /// line takes those of the long run.
    pub(super) fn w3_line<L: LongRun>(&self, queue: FifoBus, waiter: Waiter<'_>) -> Option<Line<L>> {
        let time = |span: rtflash_model::Span| u128::from(span.as_ns());
        let [sigma, transfer] = [queue.sigma, self.hold].map(time);
        let mut less = [queue.phi, queue.sigma_less_phi()].map(time).into_iter();
        let own: u128 = less.by_ref().take(usize::try_from(queue.siblings.min(2)).ok()?).sum();
        let (mut line, exceptions) = self.exceptions_line(queue, waiter, |item| {
            let more = transfer * u128::from(self.always) + if item.writes { sigma } else { 0 };
            (u128::from(item.step_cost.as_ns()) + more).checked_sub(own)
        })?;
        line.add_scaled(&exceptions.sum_E, time(queue.phi), 1)?;
        let rate = transfer_rate(&waiter.processor.tasks);
        // The two that make the most are charged less, as far as siblings have not had it.
        let most = self.making_most(rate, None);
        let second = most.and_then(|most| self.making_most(rate, Some(most)));
        let mut of = |at: Option<usize>| -> u128 {
            let chips = at.map_or(0, |at| self.neighbours[at].chips.min(2));
            less.by_ref().take(usize::from(chips > 0) + usize::from(chips > 1)).sum()
        };
        let (of_most, of_second) = (of(most), of(second));
        for (at, j) in self.neighbours.iter().enumerate() {
            let less = [(most, of_most), (second, of_second)].into_iter().find(|(which, _)| *which == Some(at));
            let each = transfer.checked_mul(j.chips.into())?.checked_sub(less.map_or(0, |(_, less)| less))?;
            self.add_neighbour(&mut line, waiter, j, AskingRate { rate, each })?;
        }
        Some(line)
    }

    /// The neighbour, `other` apart, with the most transfers in the long run, at most μ_i.
    fn making_most(&self, mu_i: f64, other: Option<usize>) -> Option<usize> {
        let rate = |j: &Neighbour| j.pages.slope.min(mu_i);
        let others = self.neighbours.iter().enumerate().filter(|&(at, _)| Some(at) != other);
        // The first of equal ones.
        others.rev().max_by(|a, b| rate(a.1).total_cmp(&rate(b.1))).map(|(at, _)| at)
    }
}
