//! `lazy-rtgc`: Zhang and others' lazy real-time garbage collection.

use rtflash_model::{Device, Task};

use super::partial_steps::{FlashTimes, at_most, blocks, longest, step_terms};
use super::{Baseline, BaselineTerm, EARLIEST_DEADLINE, EVERY_STEP, IMPLICIT, ONE_MEMORY, SchemeCosts};
use crate::Assumption;

/// Lazy-RTGC (Zhang et al., ACM TODAES 20(3), 2015): pages are mapped in memory, and while at most
/// one free block is left a partial step follows every write.
#[derive(Debug, Clone, Copy, Default)]
pub struct LazyRtgc;

impl LazyRtgc {
    /// t_rd and t_wr + t_er.
    fn costs(self, device: &Device) -> SchemeCosts {
        let times = FlashTimes::of(&self, device);
        SchemeCosts { read: times.read, write: times.write + times.erase }
    }

    /// a = ⌊t_er/(t_rd + t_wr)⌋: copies of a partial step.
    pub fn copies(self, device: &Device) -> u128 {
        let times = FlashTimes::of(&self, device);
        times.erase / (times.read + times.write)
    }

    /// ⌊(π − 1)·a/(a + 1)⌋, the largest v with ⌈v/a⌉ + 1 ≤ π − v: steps, each behind a write, must
    /// not outnumber the pages reclaimed. The paper's U(σ) = (π − 1)·a/((a + 1)·π) is not rounded.
    pub fn victim_pages(self, device: &Device) -> u128 {
        let copies = self.copies(device);
        (u128::from(device.pages_per_block()) - 1).saturating_mul(copies) / (copies + 1)
    }
}

const VICTIM: Assumption = Assumption {
    name: "victim-bound",
    statement: "a victim has at most as many valid pages as the mean of all blocks, rounded up: the block with \
                the fewest is taken, of all blocks (its Theorem 4.3)",
};

scheme!(
    LazyRtgc,
    "lazy-rtgc",
    "Lazy-RTGC (2015): page mapping, a step of collection behind a write once one free block is left",
    &[ONE_MEMORY, EVERY_STEP, VICTIM, EARLIEST_DEADLINE, IMPLICIT]
);

impl Baseline for LazyRtgc {
    fn terms(&self, device: &Device, tasks: &[&Task], _: u32) -> Vec<BaselineTerm> {
        step_terms(tasks, self.costs(device))
    }

    fn worst_response(&self, device: &Device) -> u128 {
        longest(self.costs(device))
    }

    fn usable_pages(&self, device: &Device, chips: u32) -> u128 {
        at_most(device, chips, blocks(device, chips) * self.victim_pages(device))
    }
}
