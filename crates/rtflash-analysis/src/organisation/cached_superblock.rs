//! Cached superblock: a superblock whose chips sense or program pages while others are moved.

use rtflash_model::{Device, Request};

use super::PageOrganisation;
use super::superblock::Superblock;
use crate::organisation::costs::StepCosts;
use crate::organisation::registers::Registers;
use crate::organisation::shared_bus::SharedBus;
use crate::time::Cost;
use crate::workload::WorkloadCurve;

/// All as in a [`Superblock`], but for what users' steps take (docs/analysis.md, Section 15).
pub(crate) struct CachedSuperblock;

impl PageOrganisation for CachedSuperblock {
    fn width(&self, chips: u64) -> u64 {
        Superblock.width(chips)
    }

    fn is_on_one_channel(&self) -> bool {
        Superblock.is_on_one_channel()
    }

    fn workload(&self, request: Request, chips: u64) -> WorkloadCurve {
        Superblock.workload(request, chips)
    }

    fn programs(&self, pages: WorkloadCurve, chips: u64) -> WorkloadCurve {
        Superblock.programs(pages, chips)
    }

    fn read_transfers(&self, bus: SharedBus) -> (u32, u32) {
        Superblock.read_transfers(bus)
    }

    fn costs(&self, device: &Device, bus: SharedBus) -> Option<StepCosts> {
        StepCosts::cached_superblock(device, bus, self.read_transfers(bus))
    }

    fn registers(&self, device: &Device, bus: SharedBus) -> Option<Registers> {
        let costs = self.costs(device, bus)?;
        Registers::of_superblock(device, bus, self.read_transfers(bus).1, self.copying(&costs))
    }

    fn unfilled(&self, chips: u64) -> u64 {
        Superblock.unfilled(chips)
    }

    fn copies_over_the_bus(&self) -> bool {
        Superblock.copies_over_the_bus()
    }

    /// A pass has no other step beside its own: q_g.
    fn copying(&self, costs: &StepCosts) -> Cost {
        costs.row.max(costs.longest_read)
    }

    fn pass(&self, costs: &StepCosts, valid: u64, block_pages: u64, chips: u64) -> Option<Cost> {
        Superblock.pass(costs, valid, block_pages, chips)
    }
}
