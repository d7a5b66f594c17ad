//! Against known numbers, a library, and the promise itself: that 95 of 100 intervals cover the
//! truth.

use rtflash_model::random::Stream;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::*;

fn close(estimate: Option<Estimate>, value: f64, low: f64, high: f64) {
    let found = estimate.expect("an estimate");
    let near = |a: f64, b: f64| (a - b).abs() < 5e-4 || a == b;
    assert!(near(found.value, value) && near(found.low, low) && near(found.high, high), "{found:?}");
}

#[test]
fn wilson_intervals_as_published() {
    // R. G. Newcombe, Statistics in Medicine 17, 1998, table I, method 3.
    close(wilson(81, 263), 0.3080, 0.2553, 0.3662);
    close(wilson(15, 148), 0.1014, 0.0624, 0.1605);
    close(wilson(0, 20), 0.0, 0.0, 0.1611);
    close(wilson(1, 29), 0.0345, 0.0061, 0.1718);
    close(wilson(29, 29), 1.0, 0.8830, 1.0);
    assert_eq!(wilson(0, 0), None);
}

#[test]
fn gains_and_differences_at_their_ends() {
    let pair = |both, first, second, neither| Pair { both, first, second, neither };
    let same = gain(&pair(40, 0, 0, 60)).expect("an estimate");
    assert!(same.value == 0.0 && same.low < 0.0 && same.high > 0.0 && same.high < 0.1, "{same:?}");
    assert_eq!(gain(&pair(0, 10, 0, 0)), None);
    assert_eq!(gain(&pair(0, 0, 0, 0)), None);
    assert_eq!(difference(&pair(0, 0, 0, 0)), None);
    let all = difference(&pair(0, 50, 0, 0)).expect("an estimate");
    assert!(all.value == 1.0 && all.high == 1.0 && all.low > 0.85, "{all:?}");
    // None of the second's sets is among the first's.
    assert_eq!(gain(&pair(0, 0, 7, 3)).map(|gain| gain.value), Some(-1.0));
}

#[test]
fn weights_are_utilizations() {
    let share = |utilization, yes, all| Share { utilization, yes, all };
    close(weighted([share(1.0, 50, 100), share(3.0, 0, 0)]), 0.5, 0.4038, 0.5962);
    let found = weighted([share(1.0, 100, 100), share(3.0, 0, 100)]).expect("an estimate");
    assert!(found.value == 0.25 && found.low < 0.25 && found.high > 0.25);
    assert_eq!(weighted([]), None);
}

#[test]
fn means_of_few_and_of_equal_numbers() {
    // 1, 2, 3, 4: s² = 5/3, t = 3.18245.
    close(mean(4, 10, 30), 2.5, 0.4457, 4.5543);
    close(mean(3, 21, 147), 7.0, 7.0, 7.0);
    assert_eq!(mean(0, 0, 0), None);
    assert_eq!(mean(1, 5, 25).map(|one| one.high), Some(f64::INFINITY));
    // (3, 1), (5, 2), (4, 4): differences 2, 3, 0 with s² = 7/3, t = 4.30265.
    close(difference_of_means(3, PairSums { x: 12, y: 7, xx: 50, xy: 29, yy: 21 }), 1.6667, -2.1280, 5.4613);
}

#[test]
fn quantiles_are_those_of_the_library() {
    for degrees in 1..1_000 {
        let exact = StudentsT::new(0.0, 1.0, degrees as f64).expect("a distribution").inverse_cdf(0.975);
        let found = student_quantile(degrees);
        assert!((found - exact).abs() < 2e-5, "{degrees}: {found}, {exact}");
    }
    assert!((student_quantile(u64::MAX) - Z).abs() < 1e-12);
}

/// The share of 20,000 samples whose interval covers the truth.
fn coverage(truth: f64, mut sample: impl FnMut(&mut Stream) -> Option<Estimate>) -> f64 {
    let mut stream = Stream::numbered(1, b"coverage", 0);
    let covered = (0..20_000).filter(|_| sample(&mut stream).is_some_and(|of| of.low <= truth && truth <= of.high));
    covered.count() as f64 / 20_000.0
}

/// A pair of 100 sets with these probabilities.
fn draw(stream: &mut Stream, both: f64, first: f64, second: f64) -> Pair {
    let mut pair = Pair::default();
    for _ in 0..100 {
        let at = stream.unit();
        let cell = match at {
            _ if at < both => &mut pair.both,
            _ if at < both + first => &mut pair.first,
            _ if at < both + first + second => &mut pair.second,
            _ => &mut pair.neither,
        };
        *cell += 1;
    }
    pair
}

#[test]
fn intervals_cover_what_they_promise() {
    for (both, first, second) in [(0.4, 0.2, 0.1), (0.2, 0.3, 0.02), (0.8, 0.1, 0.05), (0.1, 0.05, 0.05)] {
        let ratio = (both + first) / (both + second) - 1.0;
        let found = coverage(ratio, |stream| gain(&draw(stream, both, first, second)));
        assert!((0.94..0.98).contains(&found), "gain {both} {first} {second}: {found}");
        let found = coverage(first - second, |stream| difference(&draw(stream, both, first, second)));
        assert!((0.94..0.98).contains(&found), "difference {both} {first} {second}: {found}");
        let found = coverage(both + first, |stream| {
            let pair = draw(stream, both, first, second);
            wilson(pair.both + pair.first, 100)
        });
        assert!((0.93..0.97).contains(&found), "Wilson {both} {first}: {found}");
        let truth = (both + first + 3.0 * (both + second)) / 4.0;
        let found = coverage(truth, |stream| {
            let (one, other) = (draw(stream, both, first, 0.0), draw(stream, both, second, 0.0));
            let share = |utilization, pair: Pair| Share { utilization, yes: pair.both + pair.first, all: 100 };
            weighted([share(1.0, one), share(3.0, other)])
        });
        assert!((0.93..0.97).contains(&found), "weighted {both} {first}: {found}");
    }
}
