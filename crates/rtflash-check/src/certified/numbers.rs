//! Small arithmetic that several parts need.

use rtflash_model::{Access, Placement, Request};

/// Whether a chip is a processor of its own, and so waits on its own channel alone.
pub(super) fn is_chip_by_chip(placement: Placement) -> bool {
    match placement {
        Placement::Stripe => true,
        Placement::Superblock => false,
    }
}

/// Chips of a processor of a cluster of `size` chips.
pub(super) fn chips_of_processor(placement: Placement, size: u64) -> u64 {
    if is_chip_by_chip(placement) { 1 } else { size }
}

/// Pages of a request that can fall on one processor.
pub(super) fn pages_on_processor(request: &Request, placement: Placement, size: u64) -> u64 {
    match (placement, request.access()) {
        (Placement::Stripe, Access::Sequential) => request.pages().div_ceil(size),
        (Placement::Stripe, Access::Random) | (Placement::Superblock, _) => request.pages(),
    }
}

/// ⌈a / b⌉ for b > 0.
pub(super) fn ceil(a: i128, b: i128) -> i128 {
    -(-a).div_euclid(b)
}

pub(super) fn sum(mut terms: impl Iterator<Item = Option<i128>>) -> Option<i128> {
    terms.try_fold(0i128, |sum, term| sum.checked_add(term?))
}
