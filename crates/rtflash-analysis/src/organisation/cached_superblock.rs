//! Cached superblock: a superblock whose chips sense or program pages while others are moved.

use rtflash_model::Device;

use super::PageOrganisation;
use super::superblock::Superblock;
use crate::organisation::costs::StepCosts;
use crate::organisation::registers::Registers;
use crate::organisation::shared_bus::SharedBus;
use crate::time::Cost;

/// A [`Superblock`], but for what users' steps take (docs/analysis.md, Section 15).
pub(super) struct CachedSuperblock;

impl PageOrganisation for CachedSuperblock {
    fn base(&self) -> &'static dyn PageOrganisation {
        &Superblock
    }

    fn costs(&self, device: &Device, bus: SharedBus) -> Option<StepCosts> {
        StepCosts::cached_superblock(device, bus, self.read_transfers(bus))
    }

    fn registers(&self, device: &Device, bus: SharedBus) -> Option<Registers> {
        let costs = self.costs(device, bus)?;
        Registers::of_superblock(device, bus, self.read_transfers(bus).most, self.copying(&costs))
    }

    /// A pass has no other step beside its own: q_g.
    fn copying(&self, costs: &StepCosts) -> Cost {
        costs.row.max(costs.longest_read)
    }
}
