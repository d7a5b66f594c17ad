//! A set near the limit for which `exact` has to refine a partition: a heap of partitions fits the
//! chips, and none of them holds with as few chips a cluster as it would need without its
//! neighbours, one behind the other.

use rtflash_alloc::allocator::{Allocator, BestFit, Exact};
use rtflash_analysis::Stripe;
use rtflash_model::{Placement, Reliance, read_task_set};

#[test]
fn exact_refines_partitions() {
    let set = read_task_set(include_str!("refined.json")).expect("a task set").set;
    let analysis = Stripe::relying_on(Reliance::Queue);
    assert_ne!(BestFit.allocate(&set, &analysis).is_schedulable(), Some(true), "it is no easy one");
    let outcome = Exact.allocate(&set, &analysis);
    let allocation = outcome.allocation().filter(|_| outcome.is_schedulable() == Some(true)).expect("found");
    let verification = rtflash_verify::verify_certified(&set, allocation, &[Placement::Stripe], Reliance::Queue);
    assert!(verification.accepts(), "{verification:?}");
}
