//! dbf'', B and slack: docs/analysis.md, Sections 2.6, 6 and 6.1. `None` stands for a number of
//! more than 127 bits.

use super::numbers::{ceil, sum};
use super::processor::{Processor, VerifiedTask};
use super::queue::OwnPages;
use super::told::Asked;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DemandParts {
    pub reads: i128,
    pub writes: i128,
    /// Below zero where the queue spares more than is charged for the cluster's other chips.
    pub waiting: i128,
    pub gc: i128,
}

impl DemandParts {
    pub fn total(&self) -> Option<i128> {
        self.reads.checked_add(self.writes)?.checked_add(self.waiting)?.checked_add(self.gc)
    }
}

impl Processor {
    /// dbf''(L), Eq. (49); dbf'(L), Eq. (35), without a queue; dbf(L), Eq. (12), without
    /// neighbours; Eqs. (67) and (74) with two page registers.
    pub fn demand(&self, length: i128) -> Option<DemandParts> {
        let requests = |writes: bool| {
            let items = self.tasks.iter().filter(move |item| item.writes == writes);
            sum(items.map(|item| item.time_due(length)?.checked_add(self.preempting(item, length)?)))
        };
        Some(DemandParts {
            reads: requests(false)?,
            writes: requests(true)?,
            waiting: self.waiting(length)?,
            gc: self.collecting(length)?,
        })
    }

    /// Beyond what is charged already; below zero where that was too much.
    fn waiting(&self, length: i128) -> Option<i128> {
        if let Some(behind) = self.waiting_behind(length)? {
            return Some(behind);
        }
        let one_by_one = self.waiting_one_by_one(length)?;
        if self.superblock {
            return Some(one_by_one.min(self.waiting_in_full(length)?));
        }
        match self.waiting_in_queue(length)? {
            Some(in_queue) => Some(one_by_one.min(in_queue)),
            None => Some(one_by_one),
        }
    }

    /// W1, Eq. (46): each transfer of known neighbours once, and each operation once for each chip.
    pub fn waiting_one_by_one(&self, length: i128) -> Option<i128> {
        if self.neighbours.is_empty() {
            return Some(0);
        }
        let own = self.asked(length)?.requests.checked_mul(self.transfer)?;
        sum(self.neighbours.iter().map(|neighbour| neighbour.chips.checked_mul(own.min(self.busy(neighbour, length)?))))
    }

    fn asked(&self, length: i128) -> Option<Asked<i128>> {
        let requests = sum(self.tasks.iter().map(|item| item.waits_due(length)))?;
        let passes = self.passes(length)?.checked_mul(self.gc.as_ref().map_or(0, |gc| gc.waits))?;
        let reads = self.tasks.iter().filter(|item| !item.writes);
        let reads = sum(reads.map(|item| item.pages_due(length)))?;
        Some(Asked { requests: requests.checked_add(passes)?, reads })
    }

    /// The wait of a superblock's steps if all others are as busy as can be.
    fn waiting_in_full(&self, length: i128) -> Option<i128> {
        let step = |item: &VerifiedTask| item.steps.of(item.requests_due(length))?.checked_mul(item.in_full);
        let passes = self.passes(length)?.checked_mul(self.gc.as_ref().map_or(0, |gc| gc.in_full))?;
        sum(self.tasks.iter().map(step))?.checked_add(passes)
    }

    /// Less what is charged for the cluster's other chips.
    pub fn waiting_in_queue(&self, length: i128) -> Option<Option<i128>> {
        if let Some(told) = &self.told {
            return Some(Some(told.waiting(length, &self.asked(length)?)?));
        }
        let Some(queue) = &self.queue else { return Some(None) };
        let pages = |writes: bool| {
            let items = self.tasks.iter().filter(move |item| item.writes == writes);
            sum(items.map(|item| item.pages_due(length)))
        };
        let (reads, writes) = (pages(false)?, pages(true)?);
        let requests: i128 = self.tasks.iter().map(|item| item.requests_due(length)).sum();
        // J_i, Eq. (40).
        let jobs = requests.checked_add(self.passes(length)?)?;
        let waiting = queue.waiting(length, OwnPages { reads, writes, jobs }, self.transfer)?;
        let siblings: i128 = queue.chips() - self.neighbours.iter().map(|neighbour| neighbour.chips).sum::<i128>();
        let charged = siblings.checked_mul(self.transfer)?.checked_mul(reads.checked_add(writes)?)?;
        Some(Some(waiting.checked_sub(charged)?))
    }

    pub fn saved(&self, length: i128) -> Option<i128> {
        if self.register.is_some() {
            return Some(0);
        }
        self.waiting_one_by_one(length)?.checked_sub(self.waiting(length)?)
    }

    /// [L ≥ D_g] ⌈X(L − D_g)/α⌉.
    pub fn passes(&self, length: i128) -> Option<i128> {
        let Some(gc) = self.gc.as_ref().filter(|gc| length >= gc.deadline) else { return Some(0) };
        let rest = length - gc.deadline;
        let arriving = sum(self.writers().map(|item| item.pages_arriving(rest)))?;
        Some(ceil(arriving, gc.reclaimed))
    }

    fn collecting(&self, length: i128) -> Option<i128> {
        self.passes(length)?.checked_mul(self.gc.as_ref().map_or(0, |gc| gc.cost))
    }

    /// B(L), Eq. (14): a request with a job due in the interval blocks with no other one. And E.
    pub fn blocking(&self, length: i128) -> i128 {
        let requests = self.tasks.iter().filter(|item| item.soonest() > length).map(|item| item.longest);
        let gc = self.gc.iter().filter(|gc| gc.deadline > length).map(|gc| gc.longest);
        requests.chain(gc).fold(self.always_blocks, i128::max) + self.repeats
    }

    /// (1 − U_s) L − dbf''(L) − B(L), rounded down: below zero where the test fails.
    pub fn slack(&self, length: i128) -> Option<i128> {
        let taken = self.demand(length)?.total()?.checked_add(self.blocking(length))?;
        let left = (1000 - self.server).checked_mul(length)?.checked_sub(taken.checked_mul(1000)?)?;
        Some(left.div_euclid(1000))
    }
}
