//! `stock` before a small drive, event by event: docs/baselines.md.

use rtflash_lab::STOCK_TERMS;
use rtflash_lab::stock::{STOCK_RUNS, StockCheck, StockSearch, StockSoaked, soak_stock, stock_run, stock_set};

use rtflash_testkit::cases;

fn search(seed: u64, left_out: Option<&'static str>, climbs: bool) -> StockSearch {
    StockSearch { seed, left_out, climbs }
}

fn soaked(search: StockSearch, sets: u64) -> StockSoaked {
    soak_stock(search, sets * STOCK_RUNS, &|_: u64| ())
}

fn late(of: &StockSoaked) -> u64 {
    let late = of.broken.iter().filter(|broken| broken.finding.check == StockCheck::Deadlines);
    late.map(|broken| broken.runs).sum()
}

/// Accepted sets at their limits: none is late, and nothing else is broken.
#[test]
fn nothing_is_late_at_the_limit() {
    let soaked = soaked(search(41, None, false), cases(2_000));
    assert!(soaked.broken.is_empty(), "{:?}", soaked.broken);
    assert!(soaked.sets > 1_600 && soaked.passes > 330_000, "{}, {}", soaked.sets, soaked.passes);
}

/// Accepted sets at their limits, releases, gaps and lengths climbed: none is late.
#[test]
fn nothing_is_late_for_a_climber() {
    let soaked = soaked(search(47, None, true), cases(40));
    assert!(soaked.broken.is_empty(), "{:?}", soaked.broken);
    assert!(soaked.sets > 30, "{}", soaked.sets);
}

/// Without any one of its terms the test accepts sets that are late. A climber finds more of them
/// than chance, run by run.
#[test]
fn each_term_is_needed() {
    let mut found = [0; 2];
    for (term, _) in STOCK_TERMS {
        let by_chance = soaked(search(43, Some(term), false), cases(200));
        let climbed = soaked(search(43, Some(term), true), cases(60));
        let late = [late(&by_chance), late(&climbed)];
        assert!(late.iter().all(|&late| late > 0), "{term:?}: {late:?}");
        found = [found[0] + late[0] * climbed.runs, found[1] + late[1] * by_chance.runs];
    }
    assert!(found[1] > found[0], "{found:?}");
}

/// A run that is shown can be made again, and its set is one that the whole test rejects.
#[test]
fn what_is_shown_breaks_again() {
    let without = search(43, Some("copies"), false);
    let soaked = soaked(without, 40);
    let broken = soaked.broken.first().expect("late");
    let set = stock_set(without, broken.first / STOCK_RUNS).expect("a set");
    let (again, _) = stock_run(without, &set, broken.first);
    assert_eq!(again.map(|finding| finding.check), Some(broken.finding.check));
}
