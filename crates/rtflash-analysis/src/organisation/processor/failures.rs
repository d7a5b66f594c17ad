//! Blocks that fail, and programs that are repeated (docs/analysis.md, Section 17).

use rtflash_model::Device;

use super::Processor;
use crate::organisation::costs::StepCosts;
use crate::organisation::{PageOrganisation, organisation};
use crate::time::Cost;

/// Blocks of a processor without the spare ones: a block that fails takes its row with it.
pub(crate) fn blocks_left(device: &Device, width: u64) -> u64 {
    u64::from(device.blocks_per_chip()).saturating_sub(width.saturating_mul(device.spare_blocks().into()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failures {
    /// While it is busy without a break.
    at_once: u64,
    /// Ever: others may be busy for longer.
    ever: u64,
}

/// Programs of such a processor that may fail; `None` where what they take cannot be added up.
pub(crate) fn repeated(
    device: &Device,
    width: u64,
    organisation: &dyn PageOrganisation,
    costs: &StepCosts,
) -> Option<Failures> {
    let at_once = width.checked_mul(device.program_failures().into())?;
    again(organisation, costs).checked_mul(at_once)?;
    let ever = if at_once > 0 { width.checked_mul(device.spare_blocks().into())? } else { 0 };
    Some(Failures { at_once, ever })
}

/// A program with all that it can wait, or a copy inside a chip.
fn again(organisation: &dyn PageOrganisation, costs: &StepCosts) -> Cost {
    let copies = if organisation.copies_over_the_bus() { Cost::ZERO } else { organisation.copying(costs) };
    costs.longest_write.max(copies)
}

impl Processor {
    fn programs(&self, server: bool) -> bool {
        server || self.tasks.iter().any(|task| task.writes)
    }

    /// Programs of it that may ever fail: of a superblock on any of its chips.
    pub(crate) fn repeated_programs(&self) -> u64 {
        if self.programs(false) { self.repeated.ever } else { 0 }
    }

    /// E, Eq. (80): what they take to be repeated, each with all that it can wait.
    pub(crate) fn repeats(&self, server: bool) -> Cost {
        let programs = if self.programs(server) { self.repeated.at_once } else { 0 };
        let each = again(organisation(self.placement), &self.costs);
        each.saturating_mul(programs)
    }
}
