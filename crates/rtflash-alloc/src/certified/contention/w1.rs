//! W1: each page waits for one transfer of each neighbour, as far as the neighbour makes so many
//! (docs/analysis.md, Section 6).

use rtflash_model::Span;

use super::{Activity, Contention, ForeignChip, WaitBound, more_live};
use crate::certified::processor::{DemandTask, transfer_rate};
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
    /// smaller rate counts.
    pub(super) fn w1_line(&self, items: &[DemandTask]) -> WaitBound {
        let (mut load, mut constant) = (Vec::new(), 0.0);
        for item in items {
            let more = u128::from(self.transfer.as_ns()) * u128::from(self.always) * u128::from(item.transfers);
            let time = u128::from(item.cost.as_ns()) + more;
            load.push(Fraction::new(time, item.period.as_ns().into()));
            constant += time as f64 * item.early();
        }
        let rho_i = transfer_rate(items);
        for neighbour in &self.neighbours {
            let cost = u128::from(self.transfer.as_ns()) * u128::from(neighbour.chips);
            let term = |item: &DemandTask| {
                Fraction::new(cost.saturating_mul(item.transfers.into()), item.period.as_ns().into())
            };
            if neighbour.rate < rho_i {
                load.extend(neighbour.requests.iter().map(term));
                constant += cost as f64 * neighbour.more();
            } else {
                load.extend(items.iter().map(term));
                let early: f64 = items.iter().map(|item| item.transfers as f64 * item.early()).sum();
                constant += cost as f64 * early;
            }
        }
        WaitBound { load, constant }
    }

    /// The share of intervals of `length` and more that is waiting, at most, for requests that move
    /// `rate` pages a nanosecond.
    pub(in crate::certified) fn share(&self, length: f64, rate: f64) -> f64 {
        let shares = self
            .neighbours
            .iter()
            .map(|neighbour| neighbour.chips as f64 * rate.min(neighbour.rate + neighbour.more() / length));
        ns(self.transfer) * (shares.sum::<f64>() + self.always as f64 * rate)
    }
}

impl ForeignChip {
    /// min(n_i, N_j) with N_j(L) of Eq. (33), Σ ⌈(L + D)/T⌉ · pages: transfers of one of these
    /// chips that are live in an interval of this length.
    fn transfers(&self, length: Span, n_i: u128) -> u128 {
        let mut n_j = 0u128;
        for request in &self.requests {
            n_j = n_j.saturating_add(u128::from(request.live(length)) * u128::from(request.transfers));
            if n_j >= n_i {
                break;
            }
        }
        n_j.min(n_i)
    }

    /// Transfers beyond the rate's: ⌈(L + D)/T⌉·n ≤ n·L/T + (1 + D/T)·n, summed.
    fn more(&self) -> f64 {
        self.requests.iter().map(|item| more_live(item) * item.transfers as f64).sum()
    }
}
