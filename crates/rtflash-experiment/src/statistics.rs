//! What counts say about the population they were drawn from. All intervals are two-sided, of 95 %.
//!
//! Only additions, multiplications, divisions and square roots are used, which IEEE 754 rounds
//! correctly: the same numbers everywhere.

#[cfg(test)]
mod tests;

use crate::tally::Pair;

/// The 97.5 % quantile of the normal distribution.
pub const Z: f64 = 1.959_963_984_540_054;

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval; may be infinite.
    pub high: f64,
}

fn float(count: u64) -> f64 {
    count as f64
}

/// `yes` of `all`, with the interval of E. B. Wilson, "Probable inference, the law of succession,
/// and statistical inference", 1927. `None` of no sets.
pub fn wilson(yes: u64, all: u64) -> Option<Estimate> {
    interval(float(yes), float(all), Z)
}

/// Wilson's interval for `yes` of `all` at any normal quantile `z`. `None` of no sets.
fn interval(yes: f64, all: f64, z: f64) -> Option<Estimate> {
    if all <= 0.0 {
        return None;
    }
    let ratio = yes / all;
    let square = z * z;
    let middle = 2.0 * yes + square;
    let half = z * (square + 4.0 * yes * (1.0 - ratio)).sqrt();
    let scale = 2.0 * (all + square);
    // At both ends rounding must not take an interval away from its certain end.
    let low = if yes <= 0.0 { 0.0 } else { ((middle - half) / scale).clamp(0.0, ratio) };
    let high = if yes >= all { 1.0 } else { ((middle + half) / scale).clamp(ratio, 1.0) };
    Some(Estimate { value: ratio, low, high })
}

/// The sets at one utilization that a contender schedules.
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

// The intervals of `gain` and `difference` are of D. G. Bonett and R. M. Price: "Confidence
// intervals for a ratio of binomial proportions based on paired data", Statistics in Medicine 25,
// 2006, and "Adjusted Wald confidence interval for a difference of binomial proportions based on
// paired data", Journal of Educational and Behavioral Statistics 37, 2012. They suppose sets drawn
// from one population. If the sets come from several points, in equal numbers, the intervals are
// wider than need be, never narrower.

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

/// The mean of `count` numbers with this sum and sum of squares, with Student's interval. `None` of
/// no numbers; of one alone, and of sums that no numbers have, the interval is the whole line.
pub fn mean(count: u64, sum: u64, squares: u128) -> Option<Estimate> {
    // n Σx² − (Σx)², exactly: where nothing varies it is zero.
    let scatter = u128::from(count)
        .checked_mul(squares)
        .zip(u128::from(sum).checked_mul(sum.into()))
        .map(|(all, square)| all.checked_sub(square));
    estimate(count, float(sum), scatter.flatten().map(|scatter| scatter as f64))
}

/// Sums over pairs of counts x and y.
#[derive(Debug, Clone, Copy)]
pub struct PairSums {
    /// Σx.
    pub x: u64,
    /// Σy.
    pub y: u64,
    /// Σx².
    pub xx: u128,
    /// Σx·y.
    pub xy: u128,
    /// Σy².
    pub yy: u128,
}

/// The mean of x − y over `count` pairs with these sums, with Student's interval. `None` as in
/// [`mean`].
pub fn difference_of_means(count: u64, sums: PairSums) -> Option<Estimate> {
    let sum = i128::from(sums.x) - i128::from(sums.y);
    let squares =
        sums.xx.checked_add(sums.yy).zip(sums.xy.checked_mul(2)).and_then(|(all, twice)| all.checked_sub(twice));
    let square = sum.unsigned_abs().checked_mul(sum.unsigned_abs());
    let scatter = squares.and_then(|squares| u128::from(count).checked_mul(squares)?.checked_sub(square?));
    estimate(count, sum as f64, scatter.map(|scatter| scatter as f64))
}

/// The mean, from n, Σx and n Σx² − (Σx)².
fn estimate(count: u64, sum: f64, scatter: Option<f64>) -> Option<Estimate> {
    if count == 0 {
        return None;
    }
    let n = float(count);
    let value = sum / n;
    let half = match scatter {
        Some(scatter) if count > 1 => student_quantile(count - 1) * (scatter / (n - 1.0)).sqrt() / n,
        _ => f64::INFINITY,
    };
    Some(Estimate { value, low: value - half, high: value + half })
}

/// The 97.5 % quantiles of Student's distribution with 1 … 10 degrees of freedom.
const FEW: [f64; 10] = [
    12.706_204_736,
    4.302_652_730,
    3.182_446_305,
    2.776_445_105,
    2.570_581_836,
    2.446_911_851,
    2.364_624_252,
    2.306_004_135,
    2.262_157_163,
    2.228_138_852,
];

/// The 97.5 % quantile of Student's distribution with `degrees` degrees of freedom, from one up.
/// From eleven on the expansion about the normal quantile (M. Abramowitz and I. A. Stegun, Handbook
/// of Mathematical Functions, 26.7.5), right to 10⁻⁵.
pub fn student_quantile(degrees: u64) -> f64 {
    let position = usize::try_from(degrees.max(1) - 1).ok();
    if let Some(&quantile) = position.and_then(|position| FEW.get(position)) {
        return quantile;
    }
    let (n, z) = (float(degrees), Z);
    let square = z * z;
    let z3 = z * square;
    let z5 = z3 * square;
    let z7 = z5 * square;
    let z9 = z7 * square;
    let terms = [
        (z3 + z) / 4.0,
        (5.0 * z5 + 16.0 * z3 + 3.0 * z) / 96.0,
        (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / 384.0,
        (79.0 * z9 + 776.0 * z7 + 1482.0 * z5 - 1920.0 * z3 - 945.0 * z) / 92160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / n) + z
}
