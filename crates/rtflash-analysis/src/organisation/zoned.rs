//! Zones: each task has blocks of its own on every chip, and resets them itself.

use rtflash_model::{Access, Request};

use super::PageOrganisation;
use super::stripe::Stripe;
use crate::organisation::costs::StepCosts;
use crate::time::Cost;
use crate::workload::WorkloadCurve;

/// A [`Stripe`] without collection: a stream resets a block at its first page (Section 16).
pub(super) struct Zoned;

impl PageOrganisation for Zoned {
    fn base(&self) -> &'static dyn PageOrganisation {
        &Stripe
    }

    fn may_write(&self, request: Request) -> bool {
        request.access() == Access::Stream
    }

    fn collects(&self) -> bool {
        false
    }

    /// ⌈γ(k)/P⌉, Eq. (75), which is ⌈k n/(sP)⌉: every P-th page on a chip begins a block.
    fn resets(&self, write: Request, block_pages: u64, chips: u64) -> Option<WorkloadCurve> {
        Some(WorkloadCurve::stream(write.pages(), block_pages.checked_mul(chips)?))
    }

    /// Nothing is copied.
    fn copying(&self, _: &StepCosts) -> Cost {
        Cost::ZERO
    }

    fn pass(&self, costs: &StepCosts, _: u64, _: u64, _: u64) -> Option<Cost> {
        Some(costs.erase)
    }
}
