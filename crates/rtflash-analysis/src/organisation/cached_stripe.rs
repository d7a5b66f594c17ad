//! Cached stripe: a static stripe whose chips sense or program a page while they move another one.

use rtflash_model::Device;

use super::PageOrganisation;
use super::stripe::Stripe;
use crate::organisation::costs::StepCosts;
use crate::organisation::registers::Registers;
use crate::organisation::shared_bus::SharedBus;

/// A [`Stripe`], but for what steps take.
pub(super) struct CachedStripe;

impl PageOrganisation for CachedStripe {
    fn base(&self) -> &'static dyn PageOrganisation {
        &Stripe
    }

    fn costs(&self, device: &Device, bus: SharedBus) -> Option<StepCosts> {
        StepCosts::cached(device, bus)
    }

    fn registers(&self, device: &Device, bus: SharedBus) -> Option<Registers> {
        Registers::new(device, bus)
    }
}
