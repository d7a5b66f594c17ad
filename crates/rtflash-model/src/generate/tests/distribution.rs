//! The distribution of the shares, by Kolmogorov-Smirnov tests on fixed seeds: what passes once
//! passes always.

use crate::generate::Generator;
use crate::generate::fixed_sum::FixedSum;
use crate::generate::shares::{Method, ShareProposal};
use crate::random::Stream;

const DRAWS: usize = 20_000;
/// √m·D stays below this with a probability of 99.9 % (Kolmogorov's limit).
const CRITICAL: f64 = 1.95;

/// Draws `DRAWS` share vectors that were not discarded.
fn sample(shares: &ShareProposal, tasks: usize, seed: u8) -> Vec<Vec<f64>> {
    let mut stream = Stream::new([seed; 32]);
    let mut drawn = Vec::with_capacity(DRAWS);
    while drawn.len() < DRAWS {
        let mut one = vec![0.0; tasks];
        if shares.propose(&mut stream, &mut one) {
            drawn.push(one);
        }
    }
    drawn
}

fn slice(total: f64, method: Method) -> ShareProposal {
    ShareProposal::Slice { total, method, complement: false, least: 0.0 }
}

fn sorted(sample: &[Vec<f64>], value: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut values: Vec<f64> = sample.iter().map(|shares| value(shares)).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn part(count: usize, of: usize) -> f64 {
    count as f64 / of as f64
}

/// √m·D of sorted values against a distribution function.
fn one_sample(values: &[f64], distribution: impl Fn(f64) -> f64) -> f64 {
    let n = values.len();
    let distance = |(i, &x): (usize, &f64)| {
        let p = distribution(x);
        (part(i + 1, n) - p).max(p - part(i, n))
    };
    values.iter().enumerate().map(distance).fold(0.0, f64::max) * part(n, 1).sqrt()
}

/// √m·D of two sorted samples of equal size, with m half of it.
fn two_samples(a: &[f64], b: &[f64]) -> f64 {
    let (mut i, mut j, mut distance) = (0, 0, 0.0f64);
    while i < a.len() && j < b.len() {
        if a[i] <= b[j] {
            i += 1;
        } else {
            j += 1;
        }
        distance = distance.max((part(i, a.len()) - part(j, b.len())).abs());
    }
    distance * part(a.len(), 2).sqrt()
}

/// A number that stands for a vector of shares.
type Statistic = fn(&[f64]) -> f64;

/// First, second and last share, the greatest, the least, and the sum of squares.
fn assert_same(a: &[Vec<f64>], b: &[Vec<f64>], what: &str) {
    let statistics: [(&str, Statistic); 6] = [
        ("first", |shares| shares[0]),
        ("second", |shares| shares[1]),
        ("last", |shares| shares[shares.len() - 1]),
        ("greatest", |shares| shares.iter().copied().fold(0.0, f64::max)),
        ("least", |shares| shares.iter().copied().fold(1.0, f64::min)),
        ("squares", |shares| shares.iter().map(|share| share * share).sum()),
    ];
    for (name, statistic) in statistics {
        let distance = two_samples(&sorted(a, statistic), &sorted(b, statistic));
        assert!(distance < CRITICAL, "{what}, {name}: {distance}");
    }
}

#[test]
fn every_share_of_uunifast_has_the_marginal_of_the_simplex() {
    for tasks in 2..=5u8 {
        for total in [0.3, 1.0] {
            let drawn = sample(&slice(total, Method::UUniFast), usize::from(tasks), tasks);
            for task in 0..usize::from(tasks) {
                // P(U_i ≤ x) = 1 − (1 − x/U)^(n−1)
                let theory = |x: f64| 1.0 - (1.0 - x / total).max(0.0).powi(i32::from(tasks) - 1);
                let distance = one_sample(&sorted(&drawn, |shares| shares[task]), theory);
                assert!(distance < CRITICAL, "n = {tasks}, U = {total}, share {task}: {distance}");
            }
        }
    }
}

#[test]
fn the_test_itself_would_notice() {
    // The naive way (uniform numbers, scaled) and a rate that is left uncorrected must both fail
    // against UUniFast.
    let drawn = sample(&slice(1.0, Method::UUniFast), 3, 1);
    let mut stream = Stream::new([2; 32]);
    let naive: Vec<Vec<f64>> = (0..DRAWS)
        .map(|_| {
            let x = [stream.unit(), stream.unit(), stream.unit()];
            x.iter().map(|x_i| x_i / x.iter().sum::<f64>()).collect()
        })
        .collect();
    assert!(two_samples(&sorted(&drawn, |shares| shares[0]), &sorted(&naive, |shares| shares[0])) > 2.0 * CRITICAL);
}

#[test]
fn all_methods_draw_from_one_distribution() {
    for (tasks, total) in [(3u8, 1.2), (4, 1.5), (5, 2.0), (5, 2.5), (8, 2.5)] {
        let table = Method::FixedSum(FixedSum::new(tasks.into(), total));
        let tasks = usize::from(tasks);
        let plain = sample(&slice(total, Method::UUniFast), tasks, 1);
        let independent = sample(&slice(total, Method::Independent), tasks, 2);
        let fixed = sample(&slice(total, table), tasks, 5);
        assert_same(&plain, &fixed, &format!("of a fixed sum, n = {tasks}, U = {total}"));
        assert_same(&plain, &independent, &format!("independent, n = {tasks}, U = {total}"));
        // The rate does not matter.
        for (seed, rate) in [(3, 0.5), (4, 3.0)] {
            let tilted = sample(&slice(total, Method::Tilted { rate }), tasks, seed);
            assert_same(&plain, &tilted, &format!("tilted by {rate}, n = {tasks}, U = {total}"));
        }
    }
}

#[test]
fn the_complement_has_the_distribution_of_plain_discarding() {
    for (tasks, utilization) in [(3u8, "2.1"), (4, "2.6"), (5, "3.2"), (6, "4.2")] {
        let utilization: crate::generate::Utilization = utilization.parse().unwrap();
        let shares = ShareProposal::new(Generator::UUniFast, u32::from(tasks), utilization).unwrap();
        assert!(matches!(shares, ShareProposal::Slice { complement: true, .. }));
        let plain = sample(&slice(utilization.to_f64(), Method::UUniFast), usize::from(tasks), 1);
        assert_same(&plain, &sample(&shares, usize::from(tasks), 2), &format!("n = {tasks}, U = {utilization}"));
    }
}

#[test]
fn shares_of_at_least_so_much_have_the_distribution_of_plain_discarding() {
    for (tasks, total, least) in [(3u8, 1.0, 0.1), (4, 1.4, 0.05), (5, 1.2, 0.02)] {
        let plain = slice(total, Method::UUniFast);
        let moved = plain.clone().of_at_least(least, tasks.into());
        assert_ne!(plain, moved);
        let (mut stream, mut one, mut discarded) = (Stream::new([1; 32]), vec![0.0; usize::from(tasks)], Vec::new());
        while discarded.len() < DRAWS {
            if plain.propose(&mut stream, &mut one) && one.iter().all(|&share| share >= least) {
                discarded.push(one.clone());
            }
        }
        assert_same(&discarded, &sample(&moved, usize::from(tasks), 2), &format!("n = {tasks}, U = {total}"));
    }
}

#[test]
fn shares_are_in_the_unit_interval_and_make_up_the_total() {
    for (tasks, utilization) in
        [(1, "1"), (2, "2"), (8, "0.5"), (8, "4"), (8, "7.9"), (32, "10"), (32, "22"), (300, "90")]
    {
        let utilization: crate::generate::Utilization = utilization.parse().unwrap();
        for generator in Generator::ALL {
            let shares = ShareProposal::new(generator, tasks, utilization).filter(|_| generator.divides_total());
            let Some(shares) = shares else { continue };
            let (mut stream, mut one, mut kept) = (Stream::new([1; 32]), vec![0.0; tasks as usize], 0);
            for _ in 0..5_000 {
                if shares.propose(&mut stream, &mut one) {
                    kept += 1;
                    assert!(one.iter().all(|share| (0.0..=1.0).contains(share)), "{generator} {utilization}: {one:?}");
                    assert!((one.iter().sum::<f64>() - utilization.to_f64()).abs() < 1e-9);
                }
            }
            // No way is hopeless, but for two near the limit, and one discards nothing.
            let hopeless = matches!(generator, Generator::IntegerShares | Generator::UUniFastDiscard);
            assert!(kept > 25 || hopeless, "{tasks} {utilization}: {kept}");
            assert!(kept == 5_000 || generator != Generator::RandFixedSum, "{tasks} {utilization}: {kept}");
        }
    }
}
