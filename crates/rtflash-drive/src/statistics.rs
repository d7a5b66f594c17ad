//! Statistics that say how far measurements carry. Doubles here report; no verdict of a bound
//! depends on them.

use statrs::distribution::{ContinuousCDF, Normal};

/// The least of `sorted` that `of_ten_thousand` of ten thousand do not exceed.
pub fn percentile(sorted: &[u64], of_ten_thousand: u64) -> Option<u64> {
    let rank = (sorted.len() as u64 * of_ten_thousand).div_ceil(10_000).max(1);
    sorted.get(usize::try_from(rank - 1).ok()?).copied()
}

/// The median of what is not sorted.
pub fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    percentile(&values, 5_000)
}

/// The p-value of no trend in these values (H. B. Mann, Econometrica 13, 1945; M. G. Kendall 1975:
/// the normal approximation with a correction for ties). One for fewer than four values.
pub fn mann_kendall(values: &[u64]) -> f64 {
    if values.len() < 4 {
        return 1.0;
    }
    let mut sum = 0_i64;
    for (at, one) in values.iter().enumerate() {
        for later in &values[at + 1..] {
            sum += i64::from(later > one) - i64::from(later < one);
        }
    }
    let spread = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let ties: f64 = sorted.chunk_by(|one, other| one == other).map(|tied| spread(tied.len() as f64)).sum();
    let variance = (spread(values.len() as f64) - ties) / 18.0;
    if variance <= 0.0 {
        return 1.0;
    }
    // The sum moves in steps of two: one less is the correction for continuity.
    let score = (sum.unsigned_abs().saturating_sub(1)) as f64 / libm::sqrt(variance);
    (2.0 * Normal::standard().sf(score)).min(1.0)
}

/// The rank correlation (Spearman) of values with those `lag` behind them; zero for too few.
pub fn lag_correlation(values: &[u64], lag: usize) -> f64 {
    if values.len() < lag + 3 {
        return 0.0;
    }
    let (one, other) = (ranks(&values[..values.len() - lag]), ranks(&values[lag..]));
    let mean = (one.len() as f64 - 1.0) / 2.0;
    let (mut both, mut ones, mut others) = (0.0, 0.0, 0.0);
    for (one, other) in one.iter().zip(&other) {
        both += (one - mean) * (other - mean);
        ones += (one - mean) * (one - mean);
        others += (other - mean) * (other - mean);
    }
    if ones > 0.0 && others > 0.0 { both / libm::sqrt(ones * others) } else { 0.0 }
}

/// Ranks from 0; ties have their mean.
fn ranks(values: &[u64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|&at| values[at]);
    let mut ranks = vec![0.0; values.len()];
    let mut begin = 0;
    for tied in order.chunk_by(|&one, &other| values[one] == values[other]) {
        let mean = begin as f64 + (tied.len() as f64 - 1.0) / 2.0;
        tied.iter().for_each(|&at| ranks[at] = mean);
        begin += tied.len();
    }
    ranks
}

/// The largest distance between the distributions of two samples (Kolmogorov and Smirnov).
fn largest_distance(one: &[u64], other: &[u64]) -> f64 {
    let (mut one, mut other) = (one.to_vec(), other.to_vec());
    one.sort_unstable();
    other.sort_unstable();
    let (mut at, mut beside, mut most) = (0, 0, 0.0_f64);
    while at < one.len() && beside < other.len() {
        let value = one[at].min(other[beside]);
        at += one[at..].partition_point(|&of| of <= value);
        beside += other[beside..].partition_point(|&of| of <= value);
        most = most.max((at as f64 / one.len() as f64 - beside as f64 / other.len() as f64).abs());
    }
    most
}

/// The p-value of two samples of independent values coming from one distribution (Kolmogorov and
/// Smirnov: the asymptotic series, with the correction of M. A. Stephens, 1970, for small samples);
/// one for an empty sample. statrs has the test only with `std`, where it asks the machine for its
/// powers: these come from libm.
pub fn same_distribution(one: &[u64], other: &[u64]) -> f64 {
    if one.is_empty() || other.is_empty() {
        return 1.0;
    }
    let (n, m) = (one.len() as f64, other.len() as f64);
    let size = libm::sqrt(n * m / (n + m));
    let scaled = (size + 0.12 + 0.11 / size) * largest_distance(one, other);
    if scaled < 0.2 {
        return 1.0;
    }
    let term = |k: i32| (if k % 2 == 1 { 2.0 } else { -2.0 }) * libm::exp(-2.0 * f64::from(k * k) * scaled * scaled);
    (1..=100).map(term).sum::<f64>().clamp(0.0, 1.0)
}

/// Numbers from `least` to `most`, both above zero, each the same multiple of the one before, in
/// `steps` steps, from 1.
pub fn geometric(least: f64, most: f64, steps: u32) -> Vec<f64> {
    let place = |step: u32| least * libm::pow(most / least, f64::from(step) / f64::from(steps));
    (0..=steps).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_is_found_and_its_absence() {
        let rising: Vec<u64> = (0..19).collect();
        // S = 171 and Var(S) = 19·18·43/18 = 817: z = 170/28.58 = 5.95.
        assert!((mann_kendall(&rising) - 2.7e-9).abs() < 1e-10, "{}", mann_kendall(&rising));
        let wave: Vec<u64> = (0..19).map(|at| at * 7 % 19).collect();
        assert!(mann_kendall(&wave) > 0.05);
        assert!((mann_kendall(&[5; 19]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn correlation_by_hand_and_distance() {
        assert!((lag_correlation(&[1, 2, 3, 4, 5, 6], 1) - 1.0).abs() < 1e-12);
        let wave: Vec<u64> = (0..100).map(|at| at % 2).collect();
        assert!((lag_correlation(&wave, 1) + 1.0).abs() < 1e-9);
        assert!((largest_distance(&[1, 2, 3, 4], &[3, 4, 5, 6]) - 0.5).abs() < 1e-12);
        let (low, high): (Vec<u64>, Vec<u64>) = ((0..200).collect(), (100..300).collect());
        assert!(same_distribution(&low, &high) < 1e-6 && same_distribution(&low, &low) > 0.99);
    }
}
