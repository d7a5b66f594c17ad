//! What chips wait for a bus that serves first come, first served: docs/analysis.md, Section 6.1.

use num_bigint::BigInt;
use num_rational::BigRational;

use super::channels::{Neighbour, Transfers};
use super::numbers::{ceil, sum};

/// The queue for a channel, as one of its chips finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChannelQueue {
    /// Of the full wait, what a read that follows a read at once does not wait.
    pub saved: i128,
    /// The part of it that is saved even if all others begin anew.
    pub first: i128,
    /// Whether programming takes so long that a chip cannot ask for one page after another while a
    /// read is sensed.
    pub slow_programs: bool,
    /// All other active chips.
    pub others: Vec<Neighbour>,
}

/// What another chip does in an interval that could make one wait in full.
#[derive(Debug, Clone, Copy)]
struct Disturbance {
    /// R_j: requests that come when the chip was served already.
    again: i128,
    /// E_j: requests that do not follow a read of the chip.
    fresh: i128,
}

impl ChannelQueue {
    /// With these t_r, t_w (the shortest) and t_d; `None` where there are no others.
    pub fn of([t_r, t_w, t_d]: [i128; 3], others: Vec<Neighbour>) -> Option<ChannelQueue> {
        let chips: i128 = others.iter().map(|other| other.chips).sum();
        // σ and φ, Eq. (38).
        let saved = t_r.min(if chips > 1 { 2 * t_d } else { t_d });
        (chips > 0).then(|| ChannelQueue { saved, first: t_r.min(t_d), slow_programs: t_w >= t_r, others })
    }

    /// o.
    pub fn chips(&self) -> i128 {
        self.others.iter().map(|other| other.chips).sum()
    }

    /// W2, Eq. (46): what own pages wait that are due in an interval of this length, all waits
    /// counted, where this many of them are read and jobs of this number are in the interval.
    pub fn waiting(&self, length: i128, pages: i128, reads: i128, jobs: i128, transfer: i128) -> Option<i128> {
        let others: Vec<(i128, Disturbance)> =
            self.others.iter().map(|it| Some((it.chips, self.disturbance(it, length)?))).collect::<Option<_>>()?;
        let again = sum(others.iter().map(|(chips, it)| chips.checked_mul(it.again)))?;
        let fresh = sum(others.iter().map(|(chips, it)| chips.checked_mul(it.fresh)))?;
        let least = others.iter().map(|(_, it)| it.fresh).min()?;
        sum([
            self.chips().checked_mul(transfer)?.checked_mul(pages),
            self.saved.checked_mul(reads)?.checked_neg(),
            self.saved.checked_mul(1i128.checked_add(jobs)?.checked_add(again)?),
            self.first.checked_mul(least),
            (self.saved - self.first).checked_mul(ceil(fresh, (self.chips() - 1).max(1))),
        ]
        .into_iter())
    }

    fn disturbance(&self, other: &Neighbour, length: i128) -> Option<Disturbance> {
        let live = |it: &Transfers| it.live(length);
        let writers = || other.requests.iter().filter(|it| it.writes);
        // V_j and P_j, Eqs. (42) and (40).
        let writes = sum(writers().map(|it| live(it)?.checked_mul(it.pages)))?;
        let passes = match other.gc {
            Some((deadline, reclaimed)) => {
                let asked = |it: &Transfers| {
                    let window = length.checked_add(deadline)?.checked_add(it.jitter)?;
                    ceil(window, it.period).checked_mul(it.pages)
                };
                ceil(sum(writers().map(asked))?, reclaimed)
            }
            None => 0,
        };
        // S_j, R_j and E_j, Eqs. (41), (43) and (44).
        let switches = sum(other.requests.iter().map(live))?.checked_add(passes)?.checked_add(1)?;
        let again = if self.slow_programs { writes.min(switches) } else { writes };
        Some(Disturbance { again, fresh: switches.checked_add(writes)? })
    }

    /// A line above what is to be added, for any length, to the full wait of all own pages but for
    /// what is saved of each read; `jobs` is one above the number of own jobs.
    pub fn above(&self, jobs: AffineBound) -> AffineBound {
        let whole = |number: i128| BigRational::from_integer(number.into());
        let others: Vec<(BigRational, AffineBound, AffineBound)> = self
            .others
            .iter()
            .map(|it| {
                let (again, fresh) = self.disturbance_above(it);
                (whole(it.chips), again, fresh)
            })
            .collect();
        let mut all = jobs.plus(&AffineBound::level(1)).times(&whole(self.saved));
        let mut fresh_of_all = AffineBound::level(0);
        for (chips, again, fresh) in &others {
            all = all.plus(&again.times(&(chips * whole(self.saved))));
            fresh_of_all = fresh_of_all.plus(&fresh.times(chips));
        }
        if let Some(least) = others.into_iter().map(|(.., fresh)| fresh).min() {
            all = all.plus(&least.times(&whole(self.first)));
        }
        let share = fresh_of_all.times(&BigRational::new(1.into(), (self.chips() - 1).max(1).into()));
        all.plus(&share.plus(&AffineBound::level(1)).times(&whole(self.saved - self.first)))
    }

    /// Above R_j and E_j.
    fn disturbance_above(&self, other: &Neighbour) -> (AffineBound, AffineBound) {
        let writers = || other.requests.iter().filter(|it| it.writes);
        // ⌈(L + D)/T⌉ is less than L/T + D/T + 1.
        let live = |it: &Transfers, each: i128| {
            let line = AffineBound::new((each, it.period), each.into());
            AffineBound { constant: line.constant + &line.rate * BigRational::from_integer(it.deadline.into()), ..line }
        };
        let writes = AffineBound::sum(writers().map(|it| live(it, it.pages)));
        let mut switches = AffineBound::sum(other.requests.iter().map(|it| live(it, 1))).plus(&AffineBound::level(1));
        if let Some((deadline, reclaimed)) = other.gc {
            // ⌈(L + D_g + J)/T⌉ is less than (L + D_g + J)/T + 1, and so it is with what α divides.
            let asked = AffineBound::sum(writers().map(|it| {
                let line = AffineBound::new((it.pages, it.period), it.pages.into());
                let early = BigRational::from_integer(BigInt::from(deadline) + BigInt::from(it.jitter));
                AffineBound { constant: line.constant + &line.rate * early, ..line }
            }));
            switches =
                switches.plus(&asked.times(&BigRational::new(1.into(), reclaimed.into()))).plus(&AffineBound::level(1));
        }
        let fresh = switches.plus(&writes);
        (if self.slow_programs { writes.min(switches) } else { writes }, fresh)
    }
}

/// rate · L + constant. The lower one of two, in the end, is the lesser.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AffineBound {
    pub rate: BigRational,
    pub constant: BigRational,
}

impl AffineBound {
    /// With this fraction for the rate.
    pub fn new((numerator, denominator): (i128, i128), constant: BigInt) -> AffineBound {
        let rate = BigRational::new(numerator.into(), denominator.into());
        AffineBound { rate, constant: BigRational::from_integer(constant) }
    }

    pub fn level(constant: i128) -> AffineBound {
        AffineBound::new((0, 1), constant.into())
    }

    pub fn plus(&self, other: &AffineBound) -> AffineBound {
        AffineBound { rate: &self.rate + &other.rate, constant: &self.constant + &other.constant }
    }

    pub fn times(&self, factor: &BigRational) -> AffineBound {
        AffineBound { rate: &self.rate * factor, constant: &self.constant * factor }
    }

    pub fn sum(lines: impl Iterator<Item = AffineBound>) -> AffineBound {
        lines.fold(AffineBound::level(0), |sum, line| sum.plus(&line))
    }
}
