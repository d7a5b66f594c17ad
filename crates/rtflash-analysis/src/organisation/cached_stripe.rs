//! Cached stripe: a static stripe whose chips sense or program a page while they move another one.

use rtflash_model::{Device, Request};

use super::PageOrganisation;
use super::stripe::Stripe;
use crate::organisation::costs::StepCosts;
use crate::organisation::registers::Registers;
use crate::organisation::shared_bus::SharedBus;
use crate::time::Cost;
use crate::workload::WorkloadCurve;

/// All as in a [`Stripe`], but for what steps take.
pub(crate) struct CachedStripe;

impl PageOrganisation for CachedStripe {
    fn width(&self, chips: u64) -> u64 {
        Stripe.width(chips)
    }

    fn is_on_one_channel(&self) -> bool {
        Stripe.is_on_one_channel()
    }

    fn workload(&self, request: Request, chips: u64) -> WorkloadCurve {
        Stripe.workload(request, chips)
    }

    fn programs(&self, pages: WorkloadCurve, chips: u64) -> WorkloadCurve {
        Stripe.programs(pages, chips)
    }

    fn read_transfers(&self, bus: SharedBus) -> (u32, u32) {
        Stripe.read_transfers(bus)
    }

    fn costs(&self, device: &Device, bus: SharedBus) -> Option<StepCosts> {
        StepCosts::cached(device, bus)
    }

    fn registers(&self, device: &Device, bus: SharedBus) -> Option<Registers> {
        Registers::new(device, bus)
    }

    fn unfilled(&self, chips: u64) -> u64 {
        Stripe.unfilled(chips)
    }

    fn copies_over_the_bus(&self) -> bool {
        Stripe.copies_over_the_bus()
    }

    fn copying(&self, costs: &StepCosts) -> Cost {
        Stripe.copying(costs)
    }

    fn pass(&self, costs: &StepCosts, valid: u64, block_pages: u64, chips: u64) -> Option<Cost> {
        Stripe.pass(costs, valid, block_pages, chips)
    }
}
