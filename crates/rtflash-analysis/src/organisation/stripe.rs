//! Static stripe: each chip is a processor.

use rtflash_model::{Access, Request};

use super::PageOrganisation;
use crate::organisation::costs::{ReadTransfers, StepCosts};
use crate::organisation::shared_bus::SharedBus;
use crate::time::Cost;
use crate::workload::WorkloadCurve;

pub(crate) struct Stripe;

impl PageOrganisation for Stripe {
    fn base(&self) -> &'static dyn PageOrganisation {
        &Stripe
    }

    fn width(&self, _: u64) -> u64 {
        1
    }

    fn is_on_one_channel(&self) -> bool {
        true
    }

    /// n_c: of consecutive pages every chip has as many.
    fn workload(&self, request: Request, chips: u64) -> WorkloadCurve {
        match request.access() {
            Access::Stream => WorkloadCurve::stream(request.pages(), chips),
            Access::Sequential => WorkloadCurve::each(request.pages().div_ceil(chips)),
            Access::Random => WorkloadCurve::each(request.pages()),
        }
    }

    /// One by one, Eqs. (20) and (21).
    fn programs(&self, pages: WorkloadCurve, _: u64) -> WorkloadCurve {
        pages
    }

    fn read_transfers(&self, bus: SharedBus) -> ReadTransfers {
        ReadTransfers { charged: bus.ways, most: bus.ways.max(bus.most) }
    }

    fn unfilled(&self, _: u64) -> u64 {
        0
    }

    fn copies_over_the_bus(&self) -> bool {
        false
    }

    /// Inside the chip: q_g, Eq. (23).
    fn copying(&self, costs: &StepCosts) -> Cost {
        costs.longest_copy
    }

    /// C_g, Eq. (22).
    fn pass(&self, costs: &StepCosts, valid: u64, _: u64, _: u64) -> Option<Cost> {
        costs.copy.checked_mul(valid)?.checked_add(costs.erase)
    }
}
