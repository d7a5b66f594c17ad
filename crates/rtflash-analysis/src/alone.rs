//! Whether a task fits on the whole device alone: the test that generated tasks have to pass.

use std::cmp::Ordering;

use rtflash_model::{Device, Task};

use super::{Analysis, Test};
use crate::fraction::{Fraction, Rational};

/// Whether U_i(m) ≤ 1, Eq. (IV.7) without blocking, in a cluster of all chips. A demand test goes
/// by the thesis's utilization; under a [`super::ClusterTest`] the task has to pass there or on one
/// chip, as some schemes have a map for each chip.
pub fn fits_alone(analysis: &dyn Analysis, device: &Device, task: &Task) -> bool {
    let chips = device.chips();
    match analysis.test() {
        Test::Cluster(test) => return [chips, 1].iter().any(|&chips| test.verdict(device, &[task], chips).passes),
        Test::Utilization(test) => {
            let terms: Vec<Rational> = test.demand(device, task, chips).exact_utilizations().collect();
            return Rational::sum(&terms).cmp_one() != Ordering::Greater;
        }
        Test::Linear(_) | Test::Demand(_) => {}
    }
    let Some(demand) = analysis.demand(device, task, chips) else { return false };
    let total: f64 = demand.utilizations().map(Fraction::to_f64).sum();
    // Three terms of three roundings each, and their sum: far fewer than 32 units in the last
    // place.
    if (total - 1.0).abs() > 32.0 * f64::EPSILON {
        return total < 1.0;
    }
    Rational::sum(&demand.utilizations().collect::<Vec<_>>()).cmp_one() != Ordering::Greater
}
