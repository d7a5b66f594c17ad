//! `rftl`: Qin and others' real-time flash translation layer.

use rtflash_model::{Device, Task};

use super::partial_steps::{FlashTimes, at_most, blocks, longest, step_terms};
use super::{Baseline, BaselineTerm, EARLIEST_DEADLINE, EVERY_STEP, IMPLICIT, ONE_MEMORY, OOB, SchemeCosts};
use crate::Assumption;

/// RFTL (Qin, Wang, Liu and Shao, RTAS 2012), by Table I of the paper on Lazy-RTGC: three blocks
/// for each logical one, the map in spare areas, a partial step behind every write.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rftl;

impl Rftl {
    /// t_rd + t_oob and t_wr + t_oob + t_er.
    fn costs(self, device: &Device) -> SchemeCosts {
        let times = FlashTimes::of(&self, device);
        SchemeCosts { read: times.read + times.spare, write: times.write + times.spare + times.erase }
    }
}

const BLOCKS: Assumption = Assumption {
    name: "three-blocks",
    statement: "a logical block has three blocks of its own, and what is written to it is collected within them",
};

scheme!(
    Rftl,
    "rftl",
    "RFTL (2012): three blocks for each logical one, a step of collection behind every write",
    &[ONE_MEMORY, EVERY_STEP, OOB, BLOCKS, EARLIEST_DEADLINE, IMPLICIT]
);

impl Baseline for Rftl {
    fn terms(&self, device: &Device, tasks: &[&Task], _: u32) -> Vec<BaselineTerm> {
        step_terms(tasks, self.costs(device))
    }

    fn worst_response(&self, device: &Device) -> u128 {
        longest(self.costs(device))
    }

    fn usable_pages(&self, device: &Device, chips: u32) -> u128 {
        // A third of the blocks.
        at_most(device, chips, blocks(device, chips) / 3 * u128::from(device.pages_per_block()))
    }
}
