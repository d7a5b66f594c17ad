//! How two contenders differ on the same sets.
//!
//! Both intervals are of D. G. Bonett and R. M. Price: "Confidence intervals for a ratio of
//! binomial proportions based on paired data", Statistics in Medicine 25, 2006, and "Adjusted Wald
//! confidence interval for a difference of binomial proportions based on paired data", Journal of
//! Educational and Behavioral Statistics 37, 2012. They suppose sets drawn from one population;
//! where the sets come from several points, in equal numbers, they are wider than need be, never
//! narrower.

use super::proportion::interval;
use super::{Estimate, Z, float};
use crate::tally::Pair;

/// How many times as many sets the first schedules as the second, less one: 0.43 is 43 % more.
/// `None` where the second schedules none.
pub fn gain(pair: &Pair) -> Option<Estimate> {
    let (first, second) = (float(pair.both + pair.first), float(pair.both + pair.second));
    if second <= 0.0 {
        return None;
    }
    let either = float(pair.both + pair.first + pair.second);
    let spread = ((float(pair.first + pair.second) + 2.0) / ((first + 1.0) * (second + 1.0))).sqrt();
    let alone = |count: f64| ((1.0 - (count + 1.0) / (either + 2.0)) / (count + 1.0)).sqrt();
    let z = Z * spread / (alone(first) + alone(second));
    let (above, below) = (interval(first, either, z)?, interval(second, either, z)?);
    Some(Estimate {
        value: first / second - 1.0,
        low: above.low / below.high - 1.0,
        high: if below.low > 0.0 { above.high / below.low - 1.0 } else { f64::INFINITY },
    })
}

/// The ratio of the first less that of the second, between −1 and 1. `None` of no sets.
pub fn difference(pair: &Pair) -> Option<Estimate> {
    let all = float(pair.sets());
    if all <= 0.0 {
        return None;
    }
    let value = (float(pair.first) - float(pair.second)) / all;
    let (first, second) = ((float(pair.first) + 1.0) / (all + 2.0), (float(pair.second) + 1.0) / (all + 2.0));
    let middle = first - second;
    let half = Z * ((first + second - middle * middle) / (all + 2.0)).sqrt();
    Some(Estimate { value, low: (middle - half).clamp(-1.0, value), high: (middle + half).clamp(value, 1.0) })
}
