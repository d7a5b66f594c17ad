//! The test against a look at each interval.

use rtflash_model::Span;
use rtflash_testkit::ns;

use super::end::FitsFrom;
use super::{Demand, DemandVerdict, Segment, Waiter};
use crate::gc::ChosenGc;
use crate::random_processors::Drawn;
use crate::work::Work;

/// The least slack of these intervals, each looked at.
fn least(demand: &Demand<'_>, lengths: impl Iterator<Item = u64>) -> Option<i128> {
    lengths.map(|length| demand.look(ns(length), demand.blocking(ns(length))).slack).min()
}

/// Four times as far as it has to look, nothing fails that the test has not seen.
#[test]
fn the_test_is_that_of_every_interval() {
    let (mut holds, mut fails, mut overloaded) = (0, 0, 0);
    for seed in 0..6_000 {
        let Some(Drawn { processor, contention, gc, mut rng, .. }) = Drawn::new(seed) else { continue };
        let server = rng.small(0, 3).saturating_sub(1) * rng.small(1, 200);
        let work = Work::new();
        let demand = Demand::new(&processor, &contention, gc, server, &work);
        let verdict = demand.test();
        let end = match demand.end() {
            FitsFrom::At(end) => end.as_ns(),
            FitsFrom::Overloaded => {
                assert_eq!(verdict, DemandVerdict::Overloaded, "seed {seed}");
                // A load of all that there is, is too much, too.
                let slack = demand.look(ns(1 << 40), demand.blocking(ns(1 << 40))).slack;
                assert!(slack < 1 << 20, "seed {seed}: {slack}");
                overloaded += 1;
                continue;
            }
            FitsFrom::TooLong => continue,
        };
        // Nothing is due within less.
        let first = demand.segments.first().map_or(1, |first| first.from.as_ns());
        let slack = least(&demand, first..=(4 * end).min(3_000)).expect("a length, if only one");
        match verdict {
            DemandVerdict::Holds => assert!(slack >= 0, "seed {seed}: {slack}"),
            DemandVerdict::Fails(length) => {
                let seen = demand.look(length, demand.blocking(length)).slack;
                assert!(seen < 0 && length.as_ns() <= end, "seed {seed}: {seen} at {length}");
                assert!(slack < 0 || end > 3_000, "seed {seed}: {slack}");
            }
            DemandVerdict::Overloaded | DemandVerdict::TooLong => panic!("seed {seed}: small numbers"),
        }
        if demand.surely_holds() {
            assert_eq!(verdict, DemandVerdict::Holds, "seed {seed}");
        }
        // One interval that fails is enough, and none fails where the test holds.
        let one = ns(rng.within(1, 2 * end));
        let failing = demand.fails_at(one);
        let slack = demand.look(one, demand.blocking(one)).slack;
        assert_eq!(failing, one.as_ns() >= first && slack < 0, "seed {seed}: {slack} at {one}");
        assert!(!failing || verdict != DemandVerdict::Holds, "seed {seed}: at {one}");
        if let DemandVerdict::Fails(length) = verdict {
            assert!(demand.fails_at(length), "seed {seed}: at {length}");
        }
        holds += u32::from(verdict == DemandVerdict::Holds);
        fails += u32::from(verdict != DemandVerdict::Holds);
    }
    assert!(holds > 200 && fails > 500 && overloaded > 500, "{holds} {fails} {overloaded}");
}

/// Whether it is looked at a few lengths first decides nothing.
#[test]
fn a_few_lengths_say_what_all_say() {
    let (mut holds, mut early) = (0, 0);
    for seed in 0..20_000 {
        let Some(Drawn { processor, contention, gc, .. }) = Drawn::new(seed) else { continue };
        let work = Work::new();
        let demand = Demand::new(&processor, &contention, gc, 0, &work);
        let searched = demand.test_within(1 << 20);
        assert_eq!(std::mem::discriminant(&demand.test()), std::mem::discriminant(&searched), "seed {seed}");
        if let Some(length) = demand.fails_early() {
            assert!(demand.look(length, demand.blocking(length)).slack < 0, "seed {seed}: at {length}");
            assert_ne!(searched, DemandVerdict::Holds, "seed {seed}");
            early += 1;
        }
        holds += u32::from(searched == DemandVerdict::Holds);
    }
    assert!(holds > 500 && early > 500, "{holds} hold, {early} fail early");
}

/// A set that fails without a pass does so at the same length by all terms of garbage collection.
#[test]
fn passes_only_add_to_the_demand() {
    let mut failing = 0;
    for seed in 0..6_000 {
        let Some(Drawn { processor, contention, mut rng, .. }) = Drawn::new(seed) else { continue };
        let work = Work::new();
        let without = Demand::new(&processor, &contention, None, 0, &work);
        for _ in 0..4 {
            let deadline = ns(rng.within(1, 800));
            let Some(gc) = processor.gc(deadline, false) else { continue };
            let demand = Demand::new(&processor, &contention, Some(gc), 0, &work);
            for _ in 0..16 {
                let length = ns(rng.within(1, 1_000));
                let (fewer, more) = (without.at(length), demand.at(length));
                assert!(fewer <= more, "seed {seed}: {more} and {fewer} at {length}, by {gc:?}");
                let fails = without.fails_at(length);
                assert!(!fails || demand.fails_at(length), "seed {seed}: at {length}, by {gc:?}");
                failing += u32::from(fails);
            }
        }
    }
    assert!(failing > 5_000, "{failing}");
}

/// A test that is given up says so, and nothing else.
#[test]
fn with_fewer_iterations_it_is_given_up() {
    let mut given_up = [0; 4];
    for seed in 0..4_000 {
        let Some(Drawn { processor, contention, gc, .. }) = Drawn::new(seed) else { continue };
        let work = Work::new();
        let demand = Demand::new(&processor, &contention, gc, 0, &work);
        let verdict = demand.test();
        for (iterations, given_up) in [0, 1, 2, 4].into_iter().zip(&mut given_up) {
            let within = demand.test_within(iterations);
            assert!(within == verdict || within == DemandVerdict::TooLong, "seed {seed}: {within:?} for {verdict:?}");
            // Without one there is nothing to say, but of the load.
            assert!(
                iterations > 0 || within == DemandVerdict::TooLong || verdict == DemandVerdict::Overloaded,
                "seed {seed}"
            );
            *given_up += u32::from(within == DemandVerdict::TooLong);
        }
    }
    assert!(given_up.is_sorted_by(|more, less| more > less) && given_up[3] > 50, "{given_up:?}");
}

/// Up to the longest relative deadline.
#[test]
fn the_tightest_interval_is_that_of_all() {
    let (mut held, mut failed) = (0, 0);
    for seed in 0..20_000 {
        let Some(Drawn { processor, contention, gc, .. }) = Drawn::new(seed) else { continue };
        let work = Work::new();
        let demand = Demand::new(&processor, &contention, gc, 0, &work);
        let Some(tightest) = demand.tightest() else { continue };
        let [first, last] = [demand.segments[0], demand.segments[demand.segments.len() - 1]].map(|each| each.from);
        assert!((first..=last).contains(&tightest.length), "seed {seed}: {tightest:?}");
        assert_eq!(demand.look(tightest.length, demand.blocking(tightest.length)), tightest, "seed {seed}");
        let slack = least(&demand, first.as_ns()..=last.as_ns());
        if tightest.slack >= 0 {
            assert_eq!(slack, Some(tightest.slack), "seed {seed}");
        }
        held += u32::from(tightest.slack >= 0);
        failed += u32::from(tightest.slack < 0);
    }
    assert!(held > 500 && failed > 2_000, "{held} {failed}");
}

/// The share that is sure, term by term.
fn plain_share(demand: &Demand<'_>) -> f64 {
    let double = |span: Span| span.as_ns() as f64;
    let at = |&Segment { from, blocking }: &Segment| {
        let length = double(from);
        let (mut load, mut constant, mut transfers, mut early) = (0.0, 0.0, 0.0, 0.0);
        for item in demand.processor.tasks.iter().filter(|item| item.window() <= from) {
            let (pages, chips) = item.transfers.rate();
            let (cost, period) = (item.step_cost.to_f64(), double(item.period));
            let mean = pages as f64 / chips as f64;
            // A page at most of a stream is rounded up.
            let more = mean * (1.0 - double(item.window()) / period) + 1.0 - 1.0 / chips as f64;
            let turn = demand.turnaround.to_f64();
            load += (cost * mean + turn) / period;
            constant += cost * more + turn * (1.0 - double(item.window()) / period);
            // An erase that is suspended for each job with a page there.
            let seldom = mean < 1.0;
            let (jobs, jobs_more) = if seldom { (mean, more) } else { (1.0, 1.0 - double(item.window()) / period) };
            load += demand.preemption.to_f64() * jobs / period;
            constant += demand.preemption.to_f64() * jobs_more;
            // Programs of a chip with two page registers are charged in full.
            let counts = demand.processor.registers().is_none() || !item.writes;
            let asks = if counts {
                demand.contention.asks(Waiter { gc: None, ..demand.waiter() }).of(item) as f64
            } else {
                0.0
            };
            transfers += asks * mean / period;
            early += asks * more;
        }
        if let Some(gc) = demand.gc.filter(|gc| gc.deadline.is_some_and(|within| within <= from)) {
            let within = gc.deadline.map_or(0.0, double);
            let cost = (gc.cost.to_f64() + demand.turnaround.to_f64()) / gc.reclaimed as f64;
            let (mut pages, mut rate) = (gc.reclaimed as f64 - 1.0, 0.0);
            for writer in &demand.processor.write_streams {
                let (of_a_job, chips) = writer.pages.rate();
                let w = of_a_job as f64 / chips as f64;
                let (t, j) = (double(writer.period), double(writer.jitter));
                load += cost * w / t;
                pages += w * (1.0 - (within - j) / t) + 1.0 - 1.0 / chips as f64;
                rate += w / t;
            }
            let commands = demand.contention.asks(demand.waiter()).pass as f64 / gc.reclaimed as f64;
            transfers += commands * rate;
            early += commands * pages.max(0.0);
            constant += cost * pages;
        }
        // Longer intervals have no more than the rate where this is below zero.
        transfers += early.max(0.0) / length;
        load + demand.contention.share(demand.processor, length, transfers)
            + (constant.max(0.0) + blocking.to_f64()) / length
    };
    demand.segments.iter().map(at).fold(0.0, f64::max)
}

/// A certificate may state any deadline; what is due at once is never sure to be in time.
#[test]
fn nothing_is_sure_of_passes_that_are_due_at_once() {
    let mut looked = 0;
    for seed in 0..2_000 {
        let Some(Drawn { processor, contention, gc: Some(gc), .. }) = Drawn::new(seed) else { continue };
        let Some(_) = gc.deadline else { continue };
        let at_once = ChosenGc { deadline: Some(Span::ZERO), ..gc };
        let work = Work::new();
        let demand = Demand::new(&processor, &contention, Some(at_once), 0, &work);
        assert!(!demand.surely_holds() && demand.test() != DemandVerdict::Holds, "seed {seed}");
        looked += 1;
    }
    assert!(looked > 500, "{looked}");
}

#[test]
fn the_sure_share_is_that_of_its_terms() {
    let mut compared = 0;
    for seed in 0..6_000 {
        let Some(Drawn { processor, contention, gc, mut rng, .. }) = Drawn::new(seed) else { continue };
        let server = rng.small(0, 1) * rng.small(1, 200);
        let work = Work::new();
        let demand = Demand::new(&processor, &contention, gc, server, &work);
        let (share, plain) = (demand.needed_share(), plain_share(&demand));
        assert!((share - plain).abs() < 1e-7 * (1.0 + plain), "seed {seed}: {share} for {plain}");
        assert!(share >= plain || demand.segments.is_empty(), "seed {seed}: roundings are on the sure side");
        assert_eq!(demand.surely_holds(), share <= demand.share as f64 / 1_000.0, "seed {seed}");
        compared += 1;
    }
    assert!(compared > 3_000, "{compared}");
}

/// A share is added up as far as it is no more than what is enough.
#[test]
fn beyond_what_is_enough_nothing_is_added_up() {
    let (mut compared, mut more) = (0, 0);
    for seed in 0..6_000 {
        let Some(Drawn { processor, contention, gc, .. }) = Drawn::new(seed) else { continue };
        let work = Work::new();
        let demand = Demand::new(&processor, &contention, gc, 0, &work);
        let (shares, all) = (demand.shares(), demand.needed_share());
        // At the first interval it is more than this in any case.
        let first = shares.share_up_to(gc, -1.0);
        if !first.is_finite() || demand.segments.is_empty() {
            continue;
        }
        for enough in [0.5 * first, first - 1e-9] {
            assert_eq!(shares.share_up_to(gc, enough).to_bits(), first.to_bits(), "seed {seed}: {enough}");
        }
        for enough in [first, 0.5 * (first + all)] {
            let found = shares.share_up_to(gc, enough);
            assert!(if all > enough { found > enough && found <= all } else { found == all }, "seed {seed}: {found}");
        }
        compared += 1;
        more += u32::from(all > first + 1e-6);
    }
    assert!(compared > 3_000 && more > 1_000, "{compared} {more}");
}

/// The measure of roundings in the line's constant is the sum of all its parts, however much they
/// take from each other.
#[test]
fn the_magnitude_of_a_line_is_that_of_its_parts() {
    let (mut compared, mut far) = (0, 0);
    for seed in 0..4_000 {
        let Some(Drawn { processor, contention, gc: Some(gc), .. }) = Drawn::new(seed) else { continue };
        let Some(deadline) = gc.deadline else { continue };
        let work = Work::new();
        let demand = Demand::new(&processor, &contention, Some(gc), 0, &work);
        let Some(line) = demand.line::<f64>() else { continue };
        let double = |span: Span| span.as_ns() as f64;
        let per_page = gc.cost.to_f64() / gc.reclaimed as f64;
        let parts = |writer: &crate::organisation::processor::WriteStream| {
            let (pages, period) = (writer.pages.mean(), double(writer.period));
            [pages, pages * double(deadline) / period, pages * double(writer.jitter) / period]
        };
        let least: f64 = demand.processor.write_streams.iter().flat_map(parts).sum::<f64>() * per_page;
        assert!(line.magnitude >= least * (1.0 - 1e-9), "seed {seed}: {} for {least}", line.magnitude);
        assert!(line.magnitude >= line.constant.abs() * (1.0 - 1e-9), "seed {seed}");
        compared += 1;
        far += u32::from(least > 4.0 * line.constant.abs());
    }
    assert!(compared > 500 && far > 20, "{compared} {far}");
}
