//! Small arithmetic that several parts need.

use rtflash_model::{Access, Placement, Request};

/// Pages of a request that can fall on one unit.
pub(super) fn pages_on_unit(request: &Request, placement: Placement, size: u64) -> u64 {
    match (placement, request.access()) {
        (Placement::Stripe, Access::Sequential) => request.pages().div_ceil(size),
        _ => request.pages(),
    }
}

/// ⌈a / b⌉ for b > 0.
pub(super) fn ceil(a: i128, b: i128) -> i128 {
    -(-a).div_euclid(b)
}

pub(super) fn sum(mut terms: impl Iterator<Item = Option<i128>>) -> Option<i128> {
    terms.try_fold(0i128, |sum, term| sum.checked_add(term?))
}
