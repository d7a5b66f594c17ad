//! The waits of chips for a bus that serves first come, first served: docs/analysis.md, Section
//! 6.1.

use num_rational::BigRational;

use super::channels::{Neighbour, Transfers};
use super::lines::AffineBound;
use super::numbers::{ceil, sum};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChannelQueue {
    /// The part of the full wait that a read does not wait which follows a read at once.
    pub saved: i128,
    /// The part of it that is saved even if all others begin anew.
    pub first: i128,
    /// A chip cannot ask for one page after another while a read is sensed.
    pub slow_programs: bool,
    pub others: Vec<Neighbour>,
}

/// The work of another chip in an interval that could make one wait in full.
#[derive(Debug, Clone, Copy)]
struct Disturbance {
    /// R_j: requests that come when the chip was served already.
    again: i128,
    /// E_j: requests that do not follow a read of the chip.
    fresh: i128,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct OwnPages {
    /// n_r.
    pub reads: i128,
    /// n_w.
    pub writes: i128,
    /// J_i.
    pub jobs: i128,
}

impl ChannelQueue {
    /// With these t_r, t_w (the shortest) and t_d; `None` where there are no others.
    pub fn of([t_r, t_w, t_d]: [i128; 3], others: Vec<Neighbour>) -> Option<ChannelQueue> {
        let chips: i128 = others.iter().map(|other| other.chips).sum();
        // σ and φ, Eq. (39).
        let saved = t_r.min(if chips > 1 { 2 * t_d } else { t_d });
        (chips > 0).then(|| ChannelQueue { saved, first: t_r.min(t_d), slow_programs: t_d + t_w > t_r, others })
    }

    /// o.
    pub fn chips(&self) -> i128 {
        self.others.iter().map(|other| other.chips).sum()
    }

    /// The lesser of W2 and W3, all waits counted, for these own pages and jobs.
    pub fn waiting(&self, length: i128, own: OwnPages, transfer: i128) -> Option<i128> {
        let others: Vec<(i128, Disturbance)> =
            self.others.iter().map(|it| Some((it.chips, self.disturbance(it, length)?))).collect::<Option<_>>()?;
        let again = sum(others.iter().map(|(chips, it)| chips.checked_mul(it.again)))?;
        let fresh = sum(others.iter().map(|(chips, it)| chips.checked_mul(it.fresh)))?;
        let least = others.iter().map(|(_, it)| it.fresh).min()?;
        let full = self.saved.checked_mul(1i128.checked_add(own.jobs)?.checked_add(again)?)?;
        Some(self.in_full(own, [full, fresh, least], transfer)?.min(self.ranked(
            length,
            own,
            [full, fresh],
            transfer,
        )?))
    }

    /// W2, Eq. (47): every chip counts for every page.
    fn in_full(&self, own: OwnPages, [full, fresh, least]: [i128; 3], transfer: i128) -> Option<i128> {
        let apart = self
            .first
            .checked_mul(least)?
            .checked_add((self.saved - self.first).checked_mul(ceil(fresh, (self.chips() - 1).max(1)))?)?;
        let shared = self.saved.checked_mul(fresh)?.div_euclid(self.chips());
        sum([
            self.chips().checked_mul(transfer)?.checked_mul(own.reads.checked_add(own.writes)?),
            self.saved.checked_mul(own.reads)?.checked_neg(),
            Some(full),
            Some(apart.min(shared)),
        ]
        .into_iter())
    }

    /// W3, Eq. (48): chips count by what they transfer, the two that transfer most for less.
    fn ranked(&self, length: i128, own: OwnPages, [full, fresh]: [i128; 2], transfer: i128) -> Option<i128> {
        let pages = own.reads.checked_add(own.writes)?;
        let mut counts = Vec::new();
        for other in &self.others {
            let count = pages.min(other.transfers(length)?);
            counts.push((count, other.chips));
        }
        counts.sort_by(|a, b| b.cmp(a));
        let one_by_one = sum(counts.iter().map(|(count, chips)| count.checked_mul(*chips)))?.checked_mul(transfer)?;
        let mut greatest =
            counts.iter().flat_map(|&(count, chips)| (0..chips.min(2)).map(move |_| count)).chain([0, 0]);
        let mut next = || greatest.next().expect("zeros come last");
        let first = self.first.checked_mul(next())?;
        let second = (self.saved - self.first).checked_mul(next())?;
        sum([
            Some(one_by_one),
            first.checked_neg(),
            second.checked_neg(),
            self.saved.checked_mul(own.writes),
            Some(full),
            self.first.checked_mul(fresh),
        ]
        .into_iter())
    }

    fn disturbance(&self, other: &Neighbour, length: i128) -> Option<Disturbance> {
        let writers = other.requests.iter().filter(|it| it.writes);
        // V_j, Eq. (43).
        let writes = sum(writers.map(|it| it.pages.of(it.live(length)?)))?;
        // S_j, R_j and E_j, Eqs. (42), (44) and (45).
        let jobs = sum(other.requests.iter().map(|it| it.live(length)))?;
        let switches = jobs.checked_add(other.passes(length)?)?.checked_add(1)?;
        let again = if self.slow_programs { writes.min(switches) } else { writes };
        Some(Disturbance { again, fresh: switches.checked_add(writes)? })
    }

    /// `reads`, `writes` and `jobs` are lines above the own pages and jobs.
    pub fn above(
        &self,
        reads: &AffineBound,
        writes: &AffineBound,
        jobs: &AffineBound,
        transfer: i128,
    ) -> [AffineBound; 3] {
        let whole = |number: i128| BigRational::from_integer(number.into());
        let others: Vec<(BigRational, AffineBound, AffineBound)> = self
            .others
            .iter()
            .map(|it| {
                let (again, fresh) = self.disturbance_above(it);
                (whole(it.chips), again, fresh)
            })
            .collect();
        let mut full = jobs.plus(&AffineBound::level(1)).times(&whole(self.saved));
        let mut fresh_of_all = AffineBound::level(0);
        for (chips, again, fresh) in &others {
            full = full.plus(&again.times(&(chips * whole(self.saved))));
            fresh_of_all = fresh_of_all.plus(&fresh.times(chips));
        }
        let chips = self.chips();
        let charged = reads.times(&whole(chips * transfer - self.saved)).plus(&writes.times(&whole(chips * transfer)));
        let least = others.into_iter().map(|(.., fresh)| fresh).min().unwrap_or(AffineBound::level(0));
        let share = fresh_of_all.times(&BigRational::new(1.into(), (chips - 1).max(1).into()));
        let apart = least
            .times(&whole(self.first))
            .plus(&share.plus(&AffineBound::level(1)).times(&whole(self.saved - self.first)));
        let shared = fresh_of_all.times(&BigRational::new(self.saved.into(), chips.into()));
        let in_full = charged.plus(&full);
        let ranked = self.ranked_above(&reads.plus(writes), transfer);
        let ranked = ranked.plus(&full).plus(&writes.times(&whole(self.saved)));
        let ranked = ranked.plus(&fresh_of_all.times(&whole(self.first)));
        [in_full.plus(&apart), in_full.plus(&shared), ranked]
    }

    /// Above what W3 charges for transfers: any two chips may be those that count for less.
    fn ranked_above(&self, pages: &AffineBound, transfer: i128) -> AffineBound {
        let mut lines: Vec<AffineBound> = Vec::new();
        for other in &self.others {
            let line = pages.clone().min(other.transfers_above());
            lines.extend((0..other.chips).map(|_| line.clone()));
        }
        lines.sort_by(|a, b| b.cmp(a));
        let less = [self.first, self.saved - self.first].into_iter().chain(std::iter::repeat(0));
        let charged =
            |(line, less): (&AffineBound, i128)| line.times(&BigRational::from_integer((transfer - less).into()));
        AffineBound::sum(lines.iter().zip(less).map(charged))
    }

    fn disturbance_above(&self, other: &Neighbour) -> (AffineBound, AffineBound) {
        let writers = other.requests.iter().filter(|it| it.writes);
        let writes = AffineBound::sum(writers.map(Transfers::pages_above));
        let jobs = AffineBound::sum(other.requests.iter().map(Transfers::live_above));
        let switches = jobs.plus(&AffineBound::level(1)).plus(&other.passes_above());
        let fresh = switches.plus(&writes);
        (if self.slow_programs { writes.min(switches) } else { writes }, fresh)
    }
}
