//! `gftl`: Choudhuri and Givargis's guaranteed flash translation layer.

use rtflash_model::{Device, Task};

use super::partial_steps::{FlashTimes, at_most, blocks, longest, step_terms};
use super::{Baseline, BaselineTerm, EARLIEST_DEADLINE, EVERY_STEP, IMPLICIT, ONE_MEMORY, OOB, SchemeCosts};
use crate::Assumption;

/// GFTL (Choudhuri and Givargis, CODES+ISSS 2008; Journal of Software 4(7), 2009), by Table I of
/// the paper on Lazy-RTGC: blocks are mapped, a page is found in spare areas, and a partial step
/// follows every request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gftl;

impl Gftl {
    /// t_rd + π·t_oob + t_er and t_wr + t_er.
    fn costs(self, device: &Device) -> SchemeCosts {
        let times = FlashTimes::of(&self, device);
        SchemeCosts { read: times.read + times.pages * times.spare + times.erase, write: times.write + times.erase }
    }

    /// κ = ⌈π(t_rd + t_wr + t_oob)/t_er⌉: steps of a pass.
    fn steps(self, device: &Device) -> u128 {
        let times = FlashTimes::of(&self, device);
        (times.pages * (times.read + times.write + times.spare)).div_ceil(times.erase)
    }
}

const BUFFER: Assumption = Assumption {
    name: "write-buffer",
    statement: "the write buffer has a share of (kappa + 1) / (2 pi) of all blocks, which the paper proves to \
                be enough",
};

scheme!(
    Gftl,
    "gftl",
    "GFTL (2008): block mapping, a step of collection behind every page",
    &[ONE_MEMORY, EVERY_STEP, OOB, BUFFER, EARLIEST_DEADLINE, IMPLICIT]
);

impl Baseline for Gftl {
    fn terms(&self, device: &Device, tasks: &[&Task], _: u32) -> Vec<BaselineTerm> {
        step_terms(tasks, self.costs(device))
    }

    fn worst_response(&self, device: &Device) -> u128 {
        longest(self.costs(device))
    }

    fn usable_pages(&self, device: &Device, chips: u32) -> u128 {
        // 1 − (κ + 1)/(2π) of all pages.
        let halves = (2 * u128::from(device.pages_per_block())).saturating_sub(self.steps(device) + 1);
        at_most(device, chips, blocks(device, chips) * halves / 2)
    }
}
