//! Deadlines of garbage collection that are worth trying.

use rtflash_model::Span;

use crate::organisation::processor::{Processor, WriteStream};
use crate::time::ns;

/// Steps of the search over deadlines, between the shortest and the longest that make sense.
const STEPS: u32 = 40;

/// Deadlines worth trying, in the order of trying; `light` holds up to some deadline, not beyond.
/// Up to the next multiple of a writer's period, less its jitter, the reserve is constant and the
/// demand falls: only such deadlines are tried.
pub(crate) fn candidates(processor: &Processor, rate: f64, light: impl Fn(Span) -> bool) -> impl Iterator<Item = Span> {
    let level = |deadline: Span| {
        let multiple = |writer: &WriteStream| {
            let (period, jitter) = (writer.period.as_ns(), writer.jitter.as_ns());
            let requests = (deadline.max(Span::NANOSECOND).as_ns() + jitter).div_ceil(period);
            Some(requests.checked_mul(period)? - jitter)
        };
        let multiples = processor.write_streams.iter().filter_map(multiple);
        multiples.min().map_or(deadline, |level| Span::from_ns(level).unwrap_or(Span::LONGEST))
    };
    let shortest = processor.shortest_gc_deadline().filter(|&shortest| light(shortest));
    let range = shortest.map(|shortest| (shortest, longest(shortest, &light)));
    range.into_iter().flat_map(move |(shortest, longest)| {
        let even = in_proportion(processor, rate, shortest, longest);
        let others = move || {
            // From there outwards, in equal ratios.
            let ratio = fortieth_root((ns(longest) / ns(shortest)).max(1.0));
            let mut at = ns(shortest);
            let mut steps = Vec::new();
            for _ in 0..=STEPS {
                steps.push(level(about(at)));
                at *= ratio;
            }
            steps.dedup();
            steps.sort_by_key(|&deadline| deadline.max(even).checked_sub(deadline.min(even)));
            steps
        };
        std::iter::once(level(even)).chain(std::iter::once(()).flat_map(move |()| others()))
    })
}

/// The deadline between these at which the demand is in proportion to time: Σ w (1 − (D_g − J)/T) +
/// α − 1 = 0, with α as it is there, and of streams what is rounded up on top.
fn in_proportion(processor: &Processor, rate: f64, shortest: Span, longest: Span) -> Span {
    let pages = |writer: &WriteStream| writer.pages.at_most(1.0 + ns(writer.jitter) / ns(writer.period));
    let pending: f64 = processor.write_streams.iter().map(pages).sum();
    let mut even = longest;
    for _ in 0..4 {
        let reclaimed = processor.gc(even, false).map_or(1, |gc| gc.reclaimed) as f64;
        let before = std::mem::replace(&mut even, about((pending + reclaimed - 1.0) / rate).clamp(shortest, longest));
        // The next round would be the same.
        if before == even {
            break;
        }
    }
    even
}

/// The longest deadline that is light, to a part in 64.
fn longest(shortest: Span, light: impl Fn(Span) -> bool) -> Span {
    let light = |deadline: u64| light(Span::from_ns(deadline).unwrap_or(Span::LONGEST));
    // Twice a length of time is below 2⁶⁴.
    let (mut low, mut high) = (shortest.as_ns(), 2 * shortest.as_ns());
    while light(high) && high < 1 << 62 {
        (low, high) = (high, 2 * high);
    }
    while low.saturating_add(low / 64 + 1) < high {
        let middle = u64::midpoint(low, high);
        if light(middle) { low = middle } else { high = middle }
    }
    Span::from_ns(low).unwrap_or(Span::LONGEST)
}

fn about(nanoseconds: f64) -> Span {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Saturates, which is meant.
    Span::from_ns(nanoseconds as u64).unwrap_or(Span::LONGEST)
}

/// The root of a number of 1 or more, by operations that round alike on every machine.
fn fortieth_root(number: f64) -> f64 {
    let eighth = number.sqrt().sqrt().sqrt();
    // Newton's method for the fifth root of that, from above.
    let mut root = 1.0 + (eighth - 1.0) / 5.0;
    loop {
        let squared = root * root;
        let next = (4.0 * root + eighth / (squared * squared)) / 5.0;
        if next >= root {
            return root;
        }
        root = next;
    }
}

#[cfg(test)]
mod tests {
    use rtflash_testkit::ns;

    use super::*;
    use crate::random_processors::Drawn;
    use crate::time::ns as ns_of;

    /// As the machine's library has them, but for the last digits.
    #[test]
    fn roots_are_what_they_are() {
        for number in [1.0, 1.0 + 1e-15, 1.5, 2.0, 300.0, 1e6, 1.8e19] {
            let (root, exact) = (fortieth_root(number), f64::powf(number, 1.0 / 40.0));
            assert!((root - exact).abs() <= 4.0 * f64::EPSILON, "{number}: {root}, {exact}");
        }
    }

    /// Up to the longest one that the load allows, no two far from each other.
    #[test]
    fn candidates_reach_from_the_shortest_to_the_longest() {
        let mut compared = 0;
        for seed in 0..2_000 {
            let Some(Drawn { processor, mut rng, .. }) = Drawn::new(seed) else { continue };
            let Some(shortest) = processor.shortest_gc_deadline().map(Span::as_ns) else { continue };
            let limit = shortest * rng.within(1, 300) + rng.within(0, shortest - 1);
            let rate =
                processor.write_streams.iter().map(|writer| writer.pages.mean() / writer.period.as_ns() as f64).sum();
            let all = candidates(&processor, rate, |deadline| deadline <= ns(limit));
            let all: Vec<u64> = all.map(Span::as_ns).collect();
            let (least, most) = (*all.iter().min().expect("a deadline"), *all.iter().max().expect("a deadline"));
            let longest = processor.write_streams.iter().map(|writer| writer.period.as_ns()).max().expect("a writer");
            assert!(least <= shortest + longest, "seed {seed}: {least} from {shortest}");
            assert!(most >= limit - limit / 32 - 1, "seed {seed}: {most} up to {limit}");
            let mut sorted = all;
            sorted.sort_unstable();
            for pair in sorted.windows(2) {
                // 40 equal ratios, each then up to a multiple of a period.
                let next = pair[0] as f64 * 300f64.powf(1.0 / 40.0);
                assert!(pair[1] as f64 <= next + 2.0 * longest as f64, "seed {seed}: {pair:?}");
            }
            compared += 1;
        }
        assert!(compared > 500, "{compared}");
        let Some(drawn) =
            (0..).find_map(|seed| Drawn::new(seed).filter(|drawn| !drawn.processor.write_streams.is_empty()))
        else {
            return;
        };
        assert!(candidates(&drawn.processor, 1.0, |_| false).next().is_none(), "too much at the shortest");
    }

    /// The first deadline is the next level above the one at which the demand is in proportion,
    /// where that is one that the load allows.
    #[test]
    fn the_first_candidate_is_where_demand_is_in_proportion() {
        let (mut compared, mut found) = (0, 0);
        for seed in 0..4_000 {
            let Some(Drawn { processor, .. }) = Drawn::new(seed) else { continue };
            let Some(shortest) = processor.shortest_gc_deadline().map(ns_of) else { continue };
            let writers = || processor.write_streams.iter();
            let rate: f64 = writers().map(|it| it.pages.mean() / ns_of(it.period)).sum();
            let limit = 300.0 * shortest;
            let first = candidates(&processor, rate, |deadline| ns_of(deadline) <= limit).next().expect("the shortest");
            let Some(gc) = processor.gc(first, false) else { continue };
            // Σ w (T + J)/T + α − 1 pages in proportion.
            let pages: f64 = writers().map(|it| it.pages.at_most(1.0 + ns_of(it.jitter) / ns_of(it.period))).sum();
            let even = (pages + gc.reclaimed as f64 - 1.0) / rate;
            if even < shortest || even > limit * 0.98 {
                continue;
            }
            let level = |it: &WriteStream| {
                let (period, jitter) = (ns_of(it.period), ns_of(it.jitter));
                ((even + jitter) / period).ceil() * period - jitter
            };
            let next = writers().map(level).fold(f64::INFINITY, f64::min);
            compared += 1;
            found += u32::from((ns_of(first) - next).abs() < 1.0);
        }
        // If α changes with the deadline, four rounds may end beside it.
        assert!(compared > 500 && found * 100 > compared * 95, "{found} of {compared}");
    }
}
