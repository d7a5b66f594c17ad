//! Means of quantities that are measured on each set.

use super::{Estimate, float};

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
    let (n, z) = (float(degrees), super::Z);
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
