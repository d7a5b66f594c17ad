//! The work of a processor, one request or pass after another: docs/analysis.md, Sections 2.6, 2.9
//! and 6.

use super::numbers::PagesInARow;
use super::zones::ZoneResets;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VerifiedTask {
    pub writes: bool,
    pub period: i128,
    pub deadline: i128,
    pub jitter: i128,
    /// The part of each step in C, without waits for neighbours whose load is known.
    pub step_cost: i128,
    pub steps: PagesInARow,
    /// q, with all waits.
    pub longest: i128,
    pub pages: PagesInARow,
    /// How often each step may wait for a transfer of each neighbour.
    pub waits: i128,
    pub in_full: i128,
    pub resets: Option<ZoneResets>,
}

impl VerifiedTask {
    /// d = D − J, Eq. (1): no request is due sooner after its release.
    pub fn soonest(&self) -> i128 {
        self.deadline - self.jitter
    }

    /// n(L) = ⌊(L − d)/T⌋ + 1, Eq. (2), and none for L < d.
    pub fn requests_due(&self, length: i128) -> i128 {
        if length < self.soonest() { 0 } else { (length - self.soonest()).div_euclid(self.period) + 1 }
    }

    /// Includes the resets of Eq. (76).
    pub fn time_due(&self, length: i128) -> Option<i128> {
        let steps = self.steps.of(self.requests_due(length))?;
        let resets = self.resets.map_or(Some(0), |resets| resets.of(steps).checked_mul(resets.cost));
        steps.checked_mul(self.step_cost)?.checked_add(resets?)
    }

    /// Its part of n_i(L), Eq. (33).
    pub fn waits_due(&self, length: i128) -> Option<i128> {
        let steps = self.steps.of(self.requests_due(length))?;
        let resets = self.resets.map_or(Some(0), |resets| resets.of(steps).checked_mul(resets.waits));
        steps.checked_mul(self.waits)?.checked_add(resets?)
    }

    pub fn pages_due(&self, length: i128) -> Option<i128> {
        self.pages.of(self.requests_due(length))
    }

    /// Its part of X(y), Eq. (13): γ(⌊(y + J)/T⌋ + 1) pages from start to end, both included.
    pub fn pages_arriving(&self, length: i128) -> Option<i128> {
        self.pages.of(length.checked_add(self.jitter)?.div_euclid(self.period) + 1)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gc {
    /// D_g.
    pub deadline: i128,
    /// C_g.
    pub cost: i128,
    /// q_g.
    pub longest: i128,
    /// α.
    pub reclaimed: i128,
    /// Waits of a pass beyond its charge: copies of a stripe for their commands alone.
    pub waits: i128,
    /// The longest wait of a pass of a superblock beyond C_g.
    pub in_full: i128,
}
