//! Weighted schedulability: one number for a whole curve.

use super::{Estimate, wilson};

/// What a contender schedules of the sets at one utilization.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The weight: the total utilization.
    pub utilization: f64,
    /// Sets it schedules.
    pub yes: u64,
    /// All sets.
    pub all: u64,
}

/// ΣU·S(U) / ΣU, with S(U) the ratio of sets schedulable at utilization U: A. Bastoni, B. B.
/// Brandenburg and J. H. Anderson, "Cache-related preemption and migration delays: empirical
/// approximation and impact on schedulability", OSPERT 2010.
///
/// The interval combines the Wilson intervals of the points (G. Y. Zou and A. Donner, "Construction
/// of confidence limits about effect measures: a general approach", Statistics in Medicine 27,
/// 2008). Points without sets are left out; `None` if all are.
pub fn weighted(shares: impl IntoIterator<Item = Share>) -> Option<Estimate> {
    let (mut weights, mut sum, mut below, mut above) = (0.0, 0.0, 0.0, 0.0);
    for Share { utilization, yes, all } in shares {
        let Some(ratio) = wilson(yes, all) else { continue };
        let square = |x: f64| x * x;
        weights += utilization;
        sum += utilization * ratio.value;
        below += square(utilization * (ratio.value - ratio.low));
        above += square(utilization * (ratio.high - ratio.value));
    }
    if weights <= 0.0 {
        return None;
    }
    Some(Estimate {
        value: sum / weights,
        low: ((sum - below.sqrt()) / weights).max(0.0),
        high: ((sum + above.sqrt()) / weights).min(1.0),
    })
}
