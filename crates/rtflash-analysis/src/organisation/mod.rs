//! The differences between the organisations of a cluster's pages: a file for each.

mod cached_stripe;
mod cached_superblock;
pub(crate) mod costs;
pub(crate) mod processor;
pub(crate) mod registers;
pub(crate) mod shared_bus;
mod stripe;
mod superblock;
mod zoned;

use rtflash_model::{Device, Placement, Request};

use super::time::Cost;
use super::workload::WorkloadCurve;
use crate::organisation::costs::{ReadTransfers, StepCosts};
use crate::organisation::registers::Registers;
use crate::organisation::shared_bus::SharedBus;
use cached_stripe::CachedStripe;
use cached_superblock::CachedSuperblock;
use stripe::Stripe;
use superblock::Superblock;
pub use superblock::may_serve_one_chip;
use zoned::Zoned;

/// Pages of a cluster of `chips` chips. One that is made of another states only what differs.
pub(crate) trait PageOrganisation {
    /// The organisation that it is made of: itself, if it states everything.
    fn base(&self) -> &'static dyn PageOrganisation;

    /// Chips of a processor: of what one EDF queue serves.
    fn width(&self, chips: u64) -> u64 {
        self.base().width(chips)
    }

    /// Then it waits for that channel's chips, and moves no more than its tasks do.
    fn is_on_one_channel(&self) -> bool {
        self.base().is_on_one_channel()
    }

    /// Pages of requests in a row that can fall on a processor.
    fn workload(&self, request: Request, chips: u64) -> WorkloadCurve {
        self.base().workload(request, chips)
    }

    fn programs(&self, pages: WorkloadCurve, chips: u64) -> WorkloadCurve {
        self.base().programs(pages, chips)
    }

    fn may_write(&self, _: Request) -> bool {
        true
    }

    /// Without it a write waits for no pass, and there is no server.
    fn collects(&self) -> bool {
        true
    }

    /// Blocks of a chip that jobs in a row reset; `None` where garbage is collected.
    fn resets(&self, _: Request, _block_pages: u64, _chips: u64) -> Option<WorkloadCurve> {
        None
    }

    fn read_transfers(&self, bus: SharedBus) -> ReadTransfers {
        self.base().read_transfers(bus)
    }

    /// How long steps take; `None` where that cannot be added up.
    fn costs(&self, device: &Device, bus: SharedBus) -> Option<StepCosts> {
        StepCosts::new(device, bus, self.read_transfers(bus))
    }

    /// The time of chips with a second page register beside their steps; `None` where they use one.
    fn registers(&self, _: &Device, _: SharedBus) -> Option<Registers> {
        None
    }

    /// Pages beyond an emptied block that a server's jobs can draw from the reserve.
    fn unfilled(&self, chips: u64) -> u64 {
        self.base().unfilled(chips)
    }

    fn copies_over_the_bus(&self) -> bool {
        self.base().copies_over_the_bus()
    }

    /// The longest step in which a page is copied, erases apart.
    fn copying(&self, costs: &StepCosts) -> Cost {
        self.base().copying(costs)
    }

    /// A pass that copies `valid` pages, erases included.
    fn pass(&self, costs: &StepCosts, valid: u64, block_pages: u64, chips: u64) -> Option<Cost> {
        self.base().pass(costs, valid, block_pages, chips)
    }
}

pub(crate) fn is_on_one_channel(placement: Placement) -> bool {
    organisation(placement).is_on_one_channel()
}

/// It is not where the wait is hidden behind the page before.
pub fn waits_for_each(placement: Placement) -> bool {
    is_on_one_channel(placement) && !placement.is_cached()
}

/// Whether chips ask for the bus as (T'') supposes: once sensed, with one page register, and with
/// no erases among a request's pages.
pub fn may_queue(placement: Placement) -> bool {
    waits_for_each(placement) && collects(placement)
}

/// Whether clusters that place pages so collect garbage.
pub fn collects(placement: Placement) -> bool {
    organisation(placement).collects()
}

/// How many processors a cluster of `chips` chips has.
pub fn processors(placement: Placement, chips: u64) -> u64 {
    chips / organisation(placement).width(chips)
}

pub(crate) fn organisation(placement: Placement) -> &'static dyn PageOrganisation {
    match placement {
        Placement::Stripe => &Stripe,
        Placement::CachedStripe => &CachedStripe,
        Placement::Superblock => &Superblock,
        Placement::CachedSuperblock => &CachedSuperblock,
        Placement::Zoned => &Zoned,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stripe_has_as_many_processors_as_chips_and_a_superblock_has_one() {
        for chips in 1..9 {
            assert_eq!(Placement::ALL.map(|placement| processors(placement, chips)), [chips, chips, 1, 1, chips]);
        }
    }
}
