//! Claims of docs/host-claims.md, by the same code as its table, with one of its seeds.

#[allow(dead_code)] // `cargo run --release --example host_claims` prints the whole table.
#[path = "../examples/host_claims/main.rs"]
mod host_claims;

use host_claims::{Claims, Kind, answers, holds, orders, profile};
use rtflash::model::Span;

#[test]
fn what_must_hold_does() {
    let mut all = Claims::all();
    all.claims.retain(|claim| claim.kind == Kind::Must);
    assert_eq!(all.claims.len(), 135);
    // Slow episodes of reads come every 2 s to 4 s: shorter runs have more or fewer of them than usual.
    let answers = answers(&all, &profile().expect("the profile"), 20, &[1]).expect("short runs");
    let failed = all.claims.iter().filter(|claim| holds(claim, &answers) != Some(true));
    let failed: Vec<String> =
        failed.map(|claim| format!("{}: {} is {}", claim.place, claim.text, claim.ours(&answers[0]))).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn the_page_has_these_claims() {
    let page = include_str!("../docs/host-claims.md");
    let is_row = |line: &&str| line.starts_with("| Fig. ") || line.starts_with("| Table 3 ");
    let rows: Vec<&str> = page.lines().filter(is_row).collect();
    let all = Claims::all();
    let begins: Vec<String> = all.claims.iter().map(host_claims::beginning).collect();
    // If this fails: cargo run --release --example host_claims, and read the page.
    assert_eq!(rows.len(), begins.len());
    for (row, begin) in rows.iter().zip(&begins) {
        assert!(row.starts_with(begin), "{row}\n{begin}");
    }
    assert_eq!(all.claims.iter().filter(|claim| claim.is_fitted).count(), 11);
}

/// A setting each of minimal-effort write and of user-centric queues; and that other schedulers would fail there.
#[test]
fn orders_hold() {
    let fast = ["001, mlc, flush 200 ms", "004, long queues", "004, entries 2"];
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
    let page = include_str!("../docs/host-claims.md");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| 00")).collect();
    let all = orders::all().expect("the scenarios");
    let begins = all.iter().flat_map(|orders| orders.claims.iter().map(|claim| orders.beginning(claim)));
    let begins: Vec<String> = begins.collect();
    // If this fails: cargo run --release --example host_claims, and read the page.
    assert_eq!(rows.len(), begins.len());
    for (row, begin) in rows.iter().zip(&begins) {
        assert!(row.starts_with(begin), "{row}\n{begin}");
        assert!(row.ends_with(" yes |") || begin.contains("| shown |"), "{row}");
    }
}
