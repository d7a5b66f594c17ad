//! Superblock: all chips of the cluster are one processor.

use rtflash_model::{Device, Request};

use super::PageOrganisation;
use crate::organisation::costs::{ReadTransfers, StepCosts};
use crate::organisation::shared_bus::SharedBus;
use crate::time::Cost;
use crate::workload::WorkloadCurve;

pub(crate) struct Superblock;

/// Whether a superblock of one chip can be in time where a stripe is not (docs/analysis.md, Section
/// 4): its copy is two shorter steps, which helps if a copy blocks longest or is repeated.
pub fn may_serve_one_chip(device: &Device) -> bool {
    let (sense, program, transfer) = (device.page_read(), device.page_program(), device.page_transfer());
    let copies_block = device.block_erase() < sense.saturating_add(program) || device.erase_suspend().is_some();
    transfer < sense && (device.program_failures() > 0 || transfer < program && copies_block)
}

impl PageOrganisation for Superblock {
    fn base(&self) -> &'static dyn PageOrganisation {
        &Superblock
    }

    fn width(&self, chips: u64) -> u64 {
        chips
    }

    /// A step waits on all channels at once.
    fn is_on_one_channel(&self) -> bool {
        false
    }

    /// All chips are one processor.
    fn workload(&self, request: Request, _: u64) -> WorkloadCurve {
        WorkloadCurve::each(request.pages())
    }

    /// Row by row, each request for itself; reads page by page. Eqs. (25) and (26).
    fn programs(&self, pages: WorkloadCurve, chips: u64) -> WorkloadCurve {
        WorkloadCurve::each(pages.of_one().div_ceil(chips))
    }

    /// Its own cluster is silent: c_r' of Eq. (29).
    fn read_transfers(&self, bus: SharedBus) -> ReadTransfers {
        let with_own = |foreign: u32, ways: u32| foreign.saturating_add(1).min(ways);
        ReadTransfers {
            charged: with_own(bus.foreign, bus.ways),
            most: with_own(bus.most_foreign, bus.ways.max(bus.most)),
        }
    }

    /// A row may be programmed before it is full.
    fn unfilled(&self, chips: u64) -> u64 {
        chips - 1
    }

    fn copies_over_the_bus(&self) -> bool {
        true
    }

    /// Over the bus: read, and programmed in rows. q_g, Eq. (28).
    fn copying(&self, costs: &StepCosts) -> Cost {
        costs.longest_write.max(costs.longest_read)
    }

    /// C_g, Eq. (27).
    fn pass(&self, costs: &StepCosts, valid: u64, block_pages: u64, chips: u64) -> Option<Cost> {
        let steps = valid.min(block_pages / chips);
        let beside = costs.beside.checked_mul(valid - steps)?;
        // With commands a page beside another one may cost more than one by itself.
        let apart = costs.alone.max(costs.beside).checked_mul(steps)?.checked_add(beside)?;
        let reads = costs.read.checked_mul(steps)?.min(apart);
        let rows = costs.row.checked_mul(valid.div_ceil(chips))?;
        reads.checked_add(rows)?.checked_add(costs.erase)
    }
}
