//! Waiting in a queue for the bus, and of chips with two page registers, in single words.

use rtflash_model::Span;

use super::Contention;
use super::queue::FifoBus;
use super::word_presence::WordPresence;
use super::words::{OwnChip, WordActivity, WordChip};
use crate::certified::registers::Registers;

/// Neighbours of a chip with two page registers that are counted so, and what always counts.
const MOST_RANKED: usize = 8;

/// What all other chips do within an interval.
#[derive(Debug, Clone, Copy)]
#[allow(non_snake_case)] // The document's letters.
struct QueuedChips {
    /// Σ min(n_i, N_j) of the neighbours.
    transfers: u64,
    /// The two greatest X_j.
    X: [u64; 2],
    min_E: u64,
    sum_E: u64,
    sum_R: u64,
}

#[allow(non_snake_case)] // The document's letters.
impl QueuedChips {
    /// So many more chips, with X_j of each.
    fn add(&mut self, queue: FifoBus, chips: u64, X_j: u64, j: WordPresence) -> Option<()> {
        let E_j = j.V_j.checked_add(j.S_j)?;
        self.min_E = self.min_E.min(E_j);
        self.sum_E = self.sum_E.checked_add(E_j.checked_mul(chips)?)?;
        let R_j = if queue.S_bounds_R() { j.V_j.min(j.S_j) } else { j.V_j };
        self.sum_R = self.sum_R.checked_add(R_j.checked_mul(chips)?)?;
        for _ in 0..chips.min(2) {
            if X_j > self.X[0] {
                self.X = [X_j, self.X[0]];
            } else if X_j > self.X[1] {
                self.X[1] = X_j;
            }
        }
        Some(())
    }
}

#[allow(non_snake_case)] // The document's letters.
impl Contention {
    /// W1, and what W2 or W3 is below it, of a processor in a queue that reads.
    pub(super) fn queued_in_words(
        &self,
        chips: &[impl WordChip],
        queue: FifoBus,
        activity: WordActivity,
        own: &impl OwnChip,
    ) -> Option<[u64; 2]> {
        let WordActivity { length, reads, writes, jobs, .. } = activity;
        let n_i = reads.checked_add(writes)?;
        let mut others = QueuedChips { transfers: 0, X: [0; 2], min_E: u64::MAX, sum_E: 0, sum_R: 0 };
        if queue.siblings() > 0 {
            others.add(queue, queue.siblings(), n_i, own.presence(length)?)?;
        }
        for j in chips {
            let X_j = j.moved(length, n_i)?;
            others.add(queue, j.chips(), X_j, j.presence(length)?)?;
            others.transfers = others.transfers.checked_add(X_j.checked_mul(j.chips())?)?;
        }
        let QueuedChips { transfers, X, min_E, sum_E, sum_R } = others;
        let [sigma, phi, sigma_less_phi] = [queue.sigma(), queue.phi(), queue.sigma_less_phi()].map(Span::as_ns);
        let all = n_i.checked_mul(self.always)?;
        let w1 = self.hold.as_ns().checked_mul(all.checked_add(transfers)?)?;
        let full = jobs.checked_add(sum_R)?.checked_add(1)?;
        let (sharing, o) = (u64::try_from(queue.sharing()).ok()?, u64::try_from(queue.others()).ok()?);
        let apart = sigma_less_phi.checked_mul(sum_E.div_ceil(sharing))?.checked_add(phi.checked_mul(min_E)?)?;
        let spoilt = apart.min(sigma.checked_mul(sum_E)? / o);
        let beside: u64 = self.neighbours.iter().try_fold(self.always, |sum, j| sum.checked_add(j.chips))?;
        let w2 = self.hold.as_ns().checked_mul(beside.checked_mul(n_i)?)?;
        let w2 = w2.checked_add(sigma.checked_mul(full)?)?.checked_add(spoilt)?;
        let more = sigma.checked_mul(full.checked_add(writes)?)?.checked_add(phi.checked_mul(sum_E)?)?;
        let less = phi.checked_mul(X[0])?.checked_add(sigma_less_phi.checked_mul(X[1])?)?;
        let below_2 = w1.checked_add(sigma.checked_mul(reads)?)?.saturating_sub(w2);
        Some([w1, below_2.max(less.saturating_sub(more))])
    }

    /// [`Contention::told`].
    pub(super) fn told_in_words(
        &self,
        chips: &[impl WordChip],
        siblings: u64,
        (activity, n_i): (WordActivity, u64),
        own: &impl OwnChip,
    ) -> Option<[u64; 2]> {
        let hold = self.hold.as_ns();
        let transfer = hold.checked_sub(self.command.as_ns())?;
        let (all, one_by_one) = (hold.checked_mul(n_i)?, hold.checked_mul(n_i.checked_sub(activity.reads)?)?);
        let mut waiting = all.checked_mul(self.always)?;
        for j in chips {
            let queued = one_by_one.checked_add(transfer.checked_mul(j.programmed(activity.length)?)?)?;
            let of_one = self.of_one_in_words(j, activity.length, (n_i, all))?.min(queued);
            waiting = waiting.checked_add(of_one.checked_mul(j.chips())?)?;
        }
        let own = transfer.checked_mul(own.programmed(activity.length)?)?;
        let less = hold.checked_mul(activity.reads)?.saturating_sub(own);
        Some([waiting, less.checked_mul(siblings)?])
    }

    /// [`Contention::w4`].
    pub(super) fn w4_in_words(
        &self,
        chips: &[impl WordChip],
        registers: Registers,
        activity: WordActivity,
    ) -> Option<u64> {
        let [fills, empties] = [activity.turns.fills, activity.turns.empties].map(|turns| u64::try_from(turns).ok());
        let ((fills, empties), n_r) = ((fills?, empties?), activity.reads);
        let I = fills.checked_add(empties)?;
        let most = n_r.checked_add(I)?;
        let [fill, empty] = registers.charged().map(|each| each.as_ns());
        let mut waiting = fill.checked_mul(fills)?.checked_add(empty.checked_mul(empties)?)?;
        if self.command > Span::ZERO {
            return waiting.checked_add(self.w1_in_words(chips, activity.length, most)?);
        }
        // Those first that make the most transfers.
        let mut ranked = [(0, 0); MOST_RANKED];
        let count = chips.len();
        *ranked.get_mut(count)? = (most, self.always);
        for (rank, j) in ranked.iter_mut().zip(chips) {
            *rank = (j.moved(activity.length, most)?, j.chips());
        }
        sorted_down(&mut ranked[..=count]);
        let (mut ranks, t_b) = (self.ranks(registers), registers.hold().as_ns());
        for &(N_j, chips) in &ranked[..=count] {
            let in_turns = N_j.min(I);
            let each = t_b.checked_mul(in_turns)?.checked_mul(chips)?;
            let behind = ranks(chips).as_ns().checked_mul(n_r.min(N_j - in_turns))?;
            waiting = waiting.checked_add(each)?.checked_add(behind)?;
        }
        Some(waiting)
    }
}

/// A few pairs, the greatest first.
fn sorted_down(pairs: &mut [(u64, u64)]) {
    for end in 1..pairs.len() {
        let mut at = end;
        while at > 0 && pairs[at - 1] < pairs[at] {
            pairs.swap(at - 1, at);
            at -= 1;
        }
    }
}
