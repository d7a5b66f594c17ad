//! Whether a task fits on the whole device alone: the test that generated tasks have to pass.

use std::cmp::Ordering;

use rtflash_model::{Device, Task};

use super::Analysis;
use crate::fraction::{Fraction, Rational};

/// U_i(m) ≤ 1, Eq. (IV.7) without blocking: whether the task's utilization in a cluster of all chips is at most one. Exact.
pub fn fits_alone(analysis: &dyn Analysis, device: &Device, task: &Task) -> bool {
    let demand = analysis.demand(device, task, device.chips());
    let total: f64 = demand.utilizations().map(Fraction::to_f64).sum();
    // Three terms of three roundings each, and their sum: far fewer than 32 units in the last place.
    if (total - 1.0).abs() > 32.0 * f64::EPSILON {
        return total < 1.0;
    }
    Rational::sum(&demand.utilizations().collect::<Vec<_>>()).cmp_one() != Ordering::Greater
}
