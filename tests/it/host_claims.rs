//! Claims of docs/host-claims.md, by the code that writes its tables, with one of its seeds.

#[allow(dead_code)] // `cargo run --release --example host_claims` writes the tables.
#[path = "../../examples/host_claims/main.rs"]
mod example;

use example::park_lee::{Answers, Bound, Column, Drives, claims};
use example::{Claims, Kind, answers, holds, orders, profile};
use rtflash::host::SchedulerSettings;
use rtflash::host::run::{Scenario, run};
use rtflash::host::scheduler::KyberSettings;
use rtflash::model::Span;

#[test]
fn what_must_hold_does() {
    let mut all = Claims::all();
    all.claims.retain(|claim| claim.kind == Kind::Must);
    assert_eq!(all.claims.len(), 135);
    // Slow episodes of reads come every 2 s to 4 s: shorter runs have more or fewer of them than
    // usual.
    let answers = answers(&all, &profile().expect("the profile"), 20, &[1]).expect("short runs");
    let failed = all.claims.iter().filter(|claim| holds(claim, &answers) != Some(true));
    let failed: Vec<String> =
        failed.map(|claim| format!("{}: {} is {}", claim.place, claim.text, claim.ours(&answers[0]))).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

/// The rows of a table behind its head.
fn rows(table: &str) -> Vec<&str> {
    table.lines().skip(1).collect()
}

#[test]
fn the_page_has_these_claims() {
    let rows = rows(include_str!("../../docs/host-claims/koshiba.csv"));
    let all = Claims::all();
    let begins: Vec<String> = all.claims.iter().map(|claim| example::beginning(claim, claim.unit())).collect();
    // If this fails: cargo run --release --example host_claims, and read the page.
    assert_eq!(rows.len(), begins.len());
    for (row, begin) in rows.iter().zip(&begins) {
        assert!(row.starts_with(begin), "{row}\n{begin}");
    }
    assert_eq!(all.claims.iter().filter(|claim| claim.is_fitted).count(), 11);
}

/// Three points of each of six curves of Park and Lee (2021), with one seed, and the claims that
/// they decide.
#[test]
fn what_must_hold_of_park_and_lee_does() {
    use Column::{FullRandomWrite, FullSequentialWrite, RandomRead, RandomWrite, SequentialRead, SequentialWrite};
    let some: [Bound; 3] = [Some(1), Some(2), None];
    let mut which: Vec<(Column, Bound)> = Vec::new();
    for column in [SequentialRead, RandomRead, SequentialWrite, RandomWrite, FullSequentialWrite, FullRandomWrite] {
        which.extend(some.map(|bound| (column, bound)));
    }
    let drives = Drives::read().expect("the drives");
    let points = drives.points(&which, 3, 1).expect("short runs");
    let answers = Answers { points, ..Answers::default() };
    let all = claims();
    let must: Vec<_> = all.iter().filter(|claim| claim.kind == Kind::Must).collect();
    let known: Vec<_> = must.iter().filter_map(|claim| Some((claim, claim.ours(&answers)?))).collect();
    let failed = known.iter().filter(|(claim, ours)| claim.holds(*ours) != Some(true));
    let failed: Vec<String> = failed.map(|(claim, ours)| format!("{} is {ours}", claim.text)).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!((must.len(), known.len()), (43, 23));
}

#[test]
fn the_page_has_the_claims_of_park_and_lee() {
    let rows = rows(include_str!("../../docs/host-claims/park-lee.csv"));
    let begins: Vec<String> = claims().iter().map(|claim| example::beginning(claim, claim.unit())).collect();
    // If this fails: cargo run --release --example host_claims, and read the page.
    assert_eq!(rows.len(), begins.len());
    for (row, begin) in rows.iter().zip(&begins) {
        assert!(row.starts_with(begin), "{row}\n{begin}");
    }
    assert_eq!(claims().iter().filter(|claim| claim.is_fitted).count(), 18);
}

/// Cells at the edges of the table: reads gain if the read target is at most 500 µs and the write
/// target at least 10 ms, and in no other cell.
#[test]
fn targets_of_kyber_help_where_they_did() {
    let scenario = orders::scenario("kyber-targets").expect("the scenario");
    let mean = |read: u32, write: u32| {
        let [read, write] = [read, write].map(Span::from_us);
        let targets = [read, write, KyberSettings::default().targets[2]];
        let scheduler = SchedulerSettings::Kyber(KyberSettings { targets, ..KyberSettings::default() });
        let reports = run(&Scenario { scheduler, ..scenario.clone() }, 1).expect("a short run");
        reports[0].latencies.mean().expect("reads")
    };
    let gains = [(50, 100_000), (500, 10_000)].map(|(read, write)| mean(read, write));
    assert!(gains.into_iter().all(|mean| mean < 350_000), "{gains:?}");
    let others = [(500, 100), (10_000, 10_000)].map(|(read, write)| mean(read, write));
    assert!(others.into_iter().all(|mean| mean > 500_000), "{others:?}");
}

/// A setting each of minimal-effort write and of user-centric queues; and that other schedulers
/// would fail there.
#[test]
fn orders_hold() {
    let fast = ["Koshiba, Fig. 8", "Park 2018, mlc, flush 200 ms", "Kim 2020, long queues", "Kim 2020, entries 2"];
    let mut all = orders::all().expect("the scenarios");
    all.retain(|orders| fast.contains(&orders.place.as_str()));
    assert_eq!(all.len(), fast.len());
    for mut orders in all {
        // A fifth of what the page has, behind the same warm-up.
        for scenario in &mut orders.scenarios {
            let fifth = Span::from_ns(scenario.duration.since(scenario.warmup).as_ns() / 5).expect("shorter");
            scenario.duration = scenario.warmup.saturating_add(fifth);
        }
        let mut said = orders.said(&[1]).expect("short runs");
        assert_eq!(orders.failed(&said), Vec::<String>::new());
        said[0].reverse();
        assert!(!orders.failed(&said).is_empty(), "{}", orders.place);
    }
}

#[test]
fn the_page_has_these_orders() {
    let rows = rows(include_str!("../../docs/host-claims/orders.csv"));
    let all = orders::all().expect("the scenarios");
    let begins = all.iter().flat_map(|orders| orders.claims.iter().map(|claim| orders.beginning(claim)));
    let begins: Vec<String> = begins.collect();
    // If this fails: cargo run --release --example host_claims, and read the page.
    assert_eq!(rows.len(), begins.len());
    for (row, begin) in rows.iter().zip(&begins) {
        assert!(row.starts_with(begin), "{row}\n{begin}");
        assert!(row.ends_with(",yes") || begin.contains(",shown,") || begin.contains(",also,"), "{row}");
    }
}
