//! Numbers in [0, 1] of a given sum, uniform and without discarding: RandFixedSum.
//!
//! Sources: R. Stafford, "Random vectors with fixed sum", 2006; P. Emberson, R. Stafford and
//! R. I. Davis, "Techniques for the synthesis of multiprocessor tasksets", WATERS 2010.
//!
//! S_i(x) is the slice {y in [0, 1]^i, Σy = x}, of volume v_i(x) up to a factor that depends on i
//! alone. Its facets have one number that is 0 or 1, and are slices S_{i−1}(x) and S_{i−1}(x − 1).
//! It is made of the cones from its centre (x/i, …, x/i) to them. The heights of the cones are as x
//! to i − x, so that
//! - v_i(x) is as x·v_{i−1}(x) + (i − x)·v_{i−1}(x − 1), and
//! - a point of S_i(x) is in a cone to a facet of ones with the probability
//!   1/(1 + x/((i − x)·g_{i−1}(x))), where g_i(x) = v_i(x − 1)/v_i(x).
//!
//! A point of a cone lies at the part u^(1/(i−1)) of the way from the centre to a point of the
//! facet, with u uniform. So the numbers come one by one, and are shuffled in the end, because
//! every number is alike. Ratios of volumes stay near one where volumes underflow.

use crate::random::Stream;

/// Numbers that a table is made for: 1,000 take 8 MB at most.
pub(super) const MAX_NUMBERS: u32 = 1_000;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct FixedSum {
    /// s: at most the count of the numbers.
    sum: f64,
    /// Entries of a row: as many ones as there are in s, and none.
    width: usize,
    /// At i·width + d: of i numbers of the sum s − d one is 1 on the facet.
    ones: Vec<f64>,
}

impl FixedSum {
    pub(super) fn new(count: u32, sum: f64) -> FixedSum {
        let rests: Vec<f64> = (0..=count).map(|ones| sum - f64::from(ones)).take_while(|&rest| rest >= 0.0).collect();
        let width = rests.len();
        // No number, and one number: nothing to choose.
        let mut ones = vec![0.0; 2 * width];
        let mut ratios = vec![0.0; width];
        for i in (2..=count).map(f64::from) {
            ones.extend(rests.iter().zip(&ratios).map(|(&rest, &ratio)| chance(i, rest, ratio)));
            let below: Vec<f64> =
                rests.iter().zip(&ratios).map(|(&rest, &ratio)| ratio_at(i - 1.0, rest, ratio)).collect();
            let next = |d: usize| {
                let (x, after) = (rests[d], below.get(d + 1).copied().unwrap_or(0.0));
                let upper = (x - 1.0) + (i - x + 1.0) * after;
                upper / (x / below[d] + (i - x))
            };
            ratios = (0..width).map(next).collect();
        }
        FixedSum { sum, width, ones }
    }

    pub(super) fn draw(&self, stream: &mut Stream, numbers: &mut [f64]) {
        let (mut reached, mut scale, mut ones) = (0.0, 1.0, 0);
        let (mut rest, all) = (self.sum, numbers.len());
        for (position, number) in numbers.iter_mut().enumerate() {
            let left = all - position;
            let centre = rest / count(left);
            if left == 1 {
                *number = (reached + scale * rest).min(1.0);
                break;
            }
            let is_one = stream.unit() < self.ones[left * self.width + ones];
            let way = libm::pow(stream.unit(), 1.0 / count(left - 1));
            reached += scale * (1.0 - way) * centre;
            scale *= way;
            // Rounding alone leaves the interval.
            *number = if is_one { (reached + scale).min(1.0) } else { reached };
            if is_one {
                (ones, rest) = (ones + 1, rest - 1.0);
            }
        }
        for left in (2..=numbers.len()).rev() {
            let chosen = usize::try_from(stream.below(left as u64)).expect("a position");
            numbers.swap(left - 1, chosen);
        }
    }
}

/// g_i(x), from what the recurrence gives where both volumes are above zero.
fn ratio_at(i: f64, x: f64, ratio: f64) -> f64 {
    if x >= i {
        f64::INFINITY
    } else if x <= 1.0 {
        0.0
    } else {
        ratio
    }
}

/// The probability of a facet of ones of S_i(x), from g_{i−1}(x).
fn chance(i: f64, x: f64, ratio: f64) -> f64 {
    if x >= i - 1.0 {
        1.0
    } else if x <= 1.0 {
        0.0
    } else {
        1.0 / (1.0 + x / ((i - x) * ratio))
    }
}

/// At most [`MAX_NUMBERS`], so it is exact.
fn count(numbers: usize) -> f64 {
    numbers as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// v_i(x) as the density of the sum of i uniform numbers (P. Hall, J. O. Irwin 1927).
    fn irwin_hall(i: u32, x: f64) -> f64 {
        if x < 0.0 || x > f64::from(i) {
            return 0.0;
        }
        let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
        let term = |k: u32| {
            let choose = factorial(i) / factorial(k) / factorial(i - k);
            let sign = if k.is_multiple_of(2) { 1.0 } else { -1.0 };
            sign * choose * (x - f64::from(k)).powi(i32::try_from(i).unwrap() - 1)
        };
        (0..=i).filter(|&k| f64::from(k) <= x).map(term).sum::<f64>() / factorial(i - 1)
    }

    #[test]
    fn chances_are_those_of_the_volumes() {
        for (count, sum) in [(3, 1.2), (5, 2.5), (8, 2.0), (8, 3.7), (10, 5.0), (10, 7.3)] {
            let table = FixedSum::new(count, sum);
            for i in 3..=count {
                for d in 0..table.width {
                    let x = sum - d as f64;
                    let (n, zeros) = (f64::from(i), irwin_hall(i - 1, x));
                    let ones = irwin_hall(i - 1, x - 1.0);
                    if x >= n || x <= 0.0 || zeros + ones == 0.0 {
                        continue;
                    }
                    let expected = (n - x) * ones / (x * zeros + (n - x) * ones);
                    let got = table.ones[i as usize * table.width + d];
                    assert!((got - expected).abs() < 1e-9, "{count} {sum}: {i} {x}: {got} {expected}");
                }
            }
        }
    }

    #[test]
    fn many_numbers_of_any_sum_are_drawn() {
        for sum in [0.0, 0.01, 1.0, 3.3, 250.0, 500.0, 731.25, 999.99, 1_000.0] {
            let table = FixedSum::new(MAX_NUMBERS, sum);
            assert!(table.ones.iter().all(|chance| (0.0..=1.0).contains(chance)), "{sum}");
            let mut numbers = vec![0.0; MAX_NUMBERS as usize];
            table.draw(&mut Stream::new([5; 32]), &mut numbers);
            assert!(numbers.iter().all(|number| (0.0..=1.0).contains(number)), "{sum}");
            assert!((numbers.iter().sum::<f64>() - sum).abs() < 1e-9, "{sum}");
        }
    }
}
