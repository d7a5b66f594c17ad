//! dbf', B and slack: docs/analysis.md, Sections 2.6 and 6. `None` stands for a number of more than 127 bits.

use super::unit::{Unit, ceil};

/// dbf'(L) in its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Demand {
    pub reads: i128,
    pub writes: i128,
    pub waiting: i128,
    pub gc: i128,
}

impl Demand {
    /// dbf'(L).
    pub fn total(&self) -> Option<i128> {
        self.reads.checked_add(self.writes)?.checked_add(self.waiting)?.checked_add(self.gc)
    }
}

fn sum(mut terms: impl Iterator<Item = Option<i128>>) -> Option<i128> {
    terms.try_fold(0i128, |sum, term| sum.checked_add(term?))
}

impl Unit {
    /// dbf'(L).
    pub fn demand(&self, length: i128) -> Option<Demand> {
        let requests = |writes: bool| {
            let items = self.items.iter().filter(move |item| item.writes == writes);
            sum(items.map(|item| (length / item.period).checked_mul(item.cost)))
        };
        Some(Demand {
            reads: requests(false)?,
            writes: requests(true)?,
            waiting: self.waiting(length)?,
            gc: self.collecting(length)?,
        })
    }

    /// How long the page operations due in an interval wait for neighbours whose load is known, at most: for each of their transfers once, and each
    /// operation once for each of their chips.
    fn waiting(&self, length: i128) -> Option<i128> {
        let own = sum(self.items.iter().map(|item| (length / item.period).checked_mul(item.pages)))?;
        let transfers = sum(self.neighbours.iter().map(|neighbour| {
            let live =
                sum(neighbour.requests.iter().map(|&(period, pages)| (ceil(length, period) + 1).checked_mul(pages)))?;
            neighbour.chips.checked_mul(own.min(live))
        }))?;
        transfers.checked_mul(self.transfer)
    }

    /// [L ≥ D_g] ⌈X(L − D_g)/α⌉ C_g.
    fn collecting(&self, length: i128) -> Option<i128> {
        let Some(gc) = self.gc.as_ref().filter(|gc| length >= gc.deadline) else { return Some(0) };
        let rest = length - gc.deadline;
        let arriving = sum(self.writers().map(|item| (rest / item.period + 1).checked_mul(item.pages)))?;
        ceil(arriving, gc.reclaimed).checked_mul(gc.cost)
    }

    /// B(L).
    pub fn blocking(&self, length: i128) -> i128 {
        let requests = self.items.iter().filter(|item| item.period > length).map(|item| item.longest);
        let gc = self.gc.iter().filter(|gc| gc.deadline > length).map(|gc| gc.longest);
        requests.chain(gc).chain([self.server_step]).max().unwrap_or(0)
    }

    /// (1 − U_s) L − dbf'(L) − B(L), rounded down: below zero where the test fails.
    pub fn slack(&self, length: i128) -> Option<i128> {
        let taken = self.demand(length)?.total()?.checked_add(self.blocking(length))?;
        let left = (1000 - self.server).checked_mul(length)?.checked_sub(taken.checked_mul(1000)?)?;
        Some(left.div_euclid(1000))
    }
}
