//! Small arithmetic that several parts need.

use num_rational::BigRational;
use rtflash_model::{Access, Device, Placement, Request};

use super::lines::AffineBound;

/// Whether a chip is a processor of its own, and so waits on its own channel alone.
pub(super) fn is_chip_by_chip(placement: Placement) -> bool {
    match placement {
        Placement::Stripe | Placement::CachedStripe | Placement::Zoned => true,
        Placement::Superblock | Placement::CachedSuperblock => false,
    }
}

pub(super) fn chips_of_processor(placement: Placement, size: u64) -> u64 {
    if is_chip_by_chip(placement) { 1 } else { size }
}

/// γ(k) = ⌈k n/s⌉ of k jobs in a row of one request: docs/analysis.md, Eq. (24).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PagesInARow {
    pub pages: i128,
    /// s: 1 but for a stream on a stripe.
    pub chips: i128,
}

impl PagesInARow {
    pub fn each(pages: i128) -> PagesInARow {
        PagesInARow { pages, chips: 1 }
    }

    pub fn of(self, jobs: i128) -> Option<i128> {
        Some(ceil(jobs.checked_mul(self.pages)?, self.chips))
    }

    /// A line above γ(jobs/T) times so much: k n/s + 1 − 1/s is no less than ⌈k n/s⌉.
    pub fn above(self, jobs: &AffineBound, each: i128) -> AffineBound {
        let whole = |number: i128| BigRational::from_integer(number.into());
        jobs.times(&whole(self.pages))
            .plus(&AffineBound::level(self.chips - 1))
            .times(&(whole(each) / whole(self.chips)))
    }
}

pub(super) fn pages_on_processor(request: &Request, placement: Placement, size: u64) -> PagesInARow {
    let each = |pages: u64| PagesInARow::each(pages.into());
    match (placement, request.access()) {
        (Placement::Stripe | Placement::CachedStripe | Placement::Zoned, Access::Stream) => {
            PagesInARow { pages: request.pages().into(), chips: size.into() }
        }
        (Placement::Stripe | Placement::CachedStripe | Placement::Zoned, Access::Sequential) => {
            each(request.pages().div_ceil(size))
        }
        (Placement::Stripe | Placement::CachedStripe | Placement::Zoned, Access::Random)
        | (Placement::Superblock | Placement::CachedSuperblock, _) => each(request.pages()),
    }
}

/// c_s = t_s + t_u, Eq. (82); no erase is suspended with commands, zones or a second page register.
pub(super) fn suspension(device: &Device, placement: Placement) -> Option<i128> {
    let spec = device.spec();
    if spec.command.is_some_and(|command| command.as_ns() > 0) {
        return None;
    }
    match placement {
        Placement::Stripe | Placement::Superblock => {
            let resume = spec.erase_resume.map_or(0, |resume| i128::from(resume.as_ns()));
            Some(i128::from(spec.erase_suspend?.as_ns()) + resume)
        }
        Placement::CachedStripe | Placement::CachedSuperblock | Placement::Zoned => None,
    }
}

pub(super) fn ceil(a: i128, b: i128) -> i128 {
    -(-a).div_euclid(b)
}

pub(super) fn sum(mut terms: impl Iterator<Item = Option<i128>>) -> Option<i128> {
    terms.try_fold(0i128, |sum, term| sum.checked_add(term?))
}
