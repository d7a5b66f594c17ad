//! Each term of the tests is there for something: with it left out, sets are accepted that break.
//! With all terms none does. `rtflash soak --world … --without all` counts how many.

use rtflash_lab::climb::rows::{LeftOutOfRow, TABLE, allocation};
use rtflash_lab::climb::{ClimbOptions, climb};
use rtflash_lab::world::{SmallSearch, SmallWorld, case, judge, soak_small};
use rtflash_run::soak::SoakOutcome;

use rtflash_testkit::cases;

/// A run that breaks something with a term left out: world, term, whether releases are climbed, the
/// number of the run, a check that fails. The runs are those of seed 1 that `soak` names first.
#[rustfmt::skip] // A run is a line.
const BROKEN: &[(SmallWorld, &str, bool, u64, &str)] = &[
    (SmallWorld::Stripe, "blocking", false, 88, "deadlines"),
    (SmallWorld::Stripe, "step-wait", false, 4_941, "deadlines"),
    (SmallWorld::Stripe, "transfer", false, 23, "deadlines"),
    (SmallWorld::Stripe, "window", false, 176, "deadlines"),
    (SmallWorld::Stripe, "arrivals", false, 0, "reserve"),
    (SmallWorld::Stripe, "server-reserve", false, 6_242, "overdue"),
    (SmallWorld::Stripe, "reserve-page", false, 113, "overdue"),
    (SmallWorld::Stripe, "victim-page", false, 50, "overdue"),
    (SmallWorld::Stripe, "servers", false, 731, "deadlines"),
    (SmallWorld::Superblock, "blocking", false, 274, "deadlines"),
    (SmallWorld::Superblock, "step-wait", false, 82_490, "deadlines"),
    (SmallWorld::Superblock, "transfer", false, 23, "deadlines"),
    (SmallWorld::Superblock, "window", false, 183, "deadlines"),
    (SmallWorld::Superblock, "arrivals", false, 0, "reserve"),
    (SmallWorld::Superblock, "server-reserve", false, 10_066, "overdue"),
    (SmallWorld::Superblock, "reserve-page", false, 3_024, "overdue"),
    (SmallWorld::Superblock, "victim-page", false, 136, "overdue"),
    (SmallWorld::Superblock, "beside", false, 1_006, "deadlines"),
    (SmallWorld::Superblock, "copies", false, 11_728, "deadlines"),
    (SmallWorld::Superblock, "pass-wait", false, 92_249, "deadlines"),
    (SmallWorld::Mixed, "blocking", false, 1, "deadlines"),
    (SmallWorld::Mixed, "transfer", false, 48, "deadlines"),
    (SmallWorld::Mixed, "copies", false, 44_765, "deadlines"),
    (SmallWorld::Stream, "blocking", false, 114, "deadlines"),
    (SmallWorld::Stream, "transfer", false, 23, "deadlines"),
    (SmallWorld::Stream, "stream-page", false, 23, "deadlines"),
    (SmallWorld::Command, "blocking", false, 273, "deadlines"),
    (SmallWorld::Command, "transfer", false, 66, "deadlines"),
    (SmallWorld::Command, "commands", false, 69, "deadlines"),
    (SmallWorld::Command, "command-wait", false, 1_552, "deadlines"),
    (SmallWorld::QueueCommand, "blocking", false, 1_488, "deadlines"),
    (SmallWorld::QueueCommand, "transfer", false, 32, "deadlines"),
    (SmallWorld::QueueCommand, "queued-programs", false, 27_168, "deadlines"),
    (SmallWorld::QueueCommand, "commands", false, 0, "deadlines"),
    (SmallWorld::Register, "blocking", false, 48, "deadlines"),
    (SmallWorld::Register, "turnaround", false, 541, "deadlines"),
    (SmallWorld::Register, "commit", false, 49, "deadlines"),
    (SmallWorld::Register, "first-rank", false, 832, "deadlines"),
    (SmallWorld::Register, "own-row", false, 416, "deadlines"),
    (SmallWorld::Register, "pass-step", false, 881, "deadlines"),
    (SmallWorld::Register, "transfer", false, 66, "deadlines"),
    (SmallWorld::Register, "arrivals", false, 0, "reserve"),
    (SmallWorld::RegisterCommand, "blocking", false, 66, "deadlines"),
    (SmallWorld::RegisterCommand, "turnaround", false, 537, "deadlines"),
    (SmallWorld::RegisterCommand, "commit", false, 944, "deadlines"),
    (SmallWorld::RegisterCommand, "transfer", false, 1, "deadlines"),
    (SmallWorld::RegisterCommand, "told-read", false, 48, "deadlines"),
    (SmallWorld::RegisterCommand, "pass-step", false, 82, "deadlines"),
    (SmallWorld::RegisterCommand, "commands", false, 209, "deadlines"),
    (SmallWorld::Zoned, "blocking", false, 101, "deadlines"),
    (SmallWorld::Zoned, "step-wait", false, 2_098, "deadlines"),
    (SmallWorld::Zoned, "transfer", false, 0, "deadlines"),
    (SmallWorld::Zoned, "window", false, 96, "deadlines"),
    (SmallWorld::Zoned, "stream-page", false, 1, "deadlines"),
    (SmallWorld::Zoned, "carry-in", false, 83_009, "deadlines"),
    (SmallWorld::Zoned, "commands", false, 633_990, "deadlines"),
    (SmallWorld::Zoned, "command-wait", false, 103_345, "deadlines"),
    (SmallWorld::Zoned, "resets", false, 1, "deadlines"),
    (SmallWorld::Zoned, "reset-page", false, 1, "deadlines"),
    (SmallWorld::Zoned, "reset-step", false, 101, "deadlines"),
    (SmallWorld::Failing, "blocking", false, 1_786, "deadlines"),
    (SmallWorld::Failing, "transfer", false, 64, "deadlines"),
    (SmallWorld::Failing, "repeats", false, 84, "deadlines"),
    (SmallWorld::Failing, "spare-blocks", false, 756, "overdue"),
    (SmallWorld::Failing, "repeated-transfers", false, 39_843, "deadlines"),
    (SmallWorld::Suspending, "suspend", false, 100, "deadlines"),
    (SmallWorld::Suspending, "resume", false, 5_604, "overdue"),
    (SmallWorld::Suspending, "blocking", false, 210, "deadlines"),
    (SmallWorld::Suspending, "pass-step", false, 9_914, "deadlines"),
    (SmallWorld::Queue, "min-fresh", true, 417, "deadlines"),
    (SmallWorld::Queue, "sum-fresh", true, 1_089, "deadlines"),
    (SmallWorld::Queue, "shared-fresh", true, 417, "deadlines"),
    (SmallWorld::Queue, "ranked-fresh", true, 417, "deadlines"),
    (SmallWorld::Queue, "ranked-writes", true, 961, "deadlines"),
    (SmallWorld::Queue, "served-twice", true, 577, "deadlines"),
    (SmallWorld::Queue, "sigma-of-one", true, 593, "deadlines"),
    (SmallWorld::Queue, "carry-in", true, 1_657, "deadlines"),
    (SmallWorld::Stripe, "carry-in", true, 1_657, "deadlines"),
    (SmallWorld::Register, "carry-in", true, 902, "deadlines"),
    (SmallWorld::Superblock, "carry-in", true, 3_144, "deadlines"),
    (SmallWorld::Mixed, "carry-in", true, 1_569, "deadlines"),
    (SmallWorld::Register, "last-page", false, 24, "deadlines"),
];

fn search(world: SmallWorld, left_out: Option<&'static str>, climbs: bool) -> SmallSearch {
    SmallSearch { seed: 1, world, left_out, climbs }
}

fn failing(search: SmallSearch, run: u64) -> Vec<&'static str> {
    let case = case(search, run).unwrap_or_else(|| panic!("{search:?}, {run}: no case"));
    let SoakOutcome::Judged { findings, .. } = judge(&case, search.left_out) else {
        panic!("{search:?}, {run}: not accepted")
    };
    findings.iter().filter(|finding| !finding.gauge.holds()).map(|finding| finding.assumption.name()).collect()
}

#[test]
fn a_term_that_is_left_out_is_missed() {
    let mut wrong = Vec::new();
    for &(world, term, climbs, run, check) in BROKEN {
        assert!(world.terms().contains(&term), "{term:?}");
        let failing = failing(search(world, Some(term), climbs), run);
        if !failing.contains(&check) {
            wrong.push((world, term, failing));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Small sets at the limit of each test, under everything that is meant to break them.
#[test]
fn small_sets_at_the_limit_keep_every_promise() {
    for (world, climbs, runs, judged) in [
        (SmallWorld::Stripe, false, 400, 250),
        (SmallWorld::Superblock, false, 400, 250),
        (SmallWorld::Mixed, false, 400, 225),
        (SmallWorld::Stream, false, 400, 225),
        (SmallWorld::Command, false, 400, 225),
        (SmallWorld::Register, false, 400, 225),
        (SmallWorld::RegisterCommand, false, 400, 225),
        (SmallWorld::Zoned, false, 400, 225),
        (SmallWorld::Zoned, true, 80, 25),
        (SmallWorld::Failing, false, 800, 450),
        (SmallWorld::Failing, true, 40, 10),
        (SmallWorld::Suspending, false, 400, 200),
        (SmallWorld::Queue, false, 400, 75),
        (SmallWorld::QueueCommand, false, 800, 200),
        (SmallWorld::QueueCommand, true, 80, 15),
        (SmallWorld::Stripe, true, 24, 15),
        (SmallWorld::Superblock, true, 24, 15),
        (SmallWorld::Queue, true, 80, 15),
    ] {
        let soaked = soak_small(search(world, None, climbs), cases(runs), &|_: u64| ());
        let broken: Vec<_> =
            soaked.broken.iter().map(|broken| (broken.finding.assumption.name(), broken.first)).collect();
        assert_eq!(broken, [], "{world:?}");
        assert!(soaked.judged >= judged, "{world:?}: {} runs", soaked.judged);
    }
}

/// A set that the search accepts with all terms is one that an allocator accepts.
#[test]
fn the_search_tests_as_an_allocator_does() {
    const SMALL: [SmallWorld; 12] = [
        SmallWorld::Stripe,
        SmallWorld::Queue,
        SmallWorld::Superblock,
        SmallWorld::Mixed,
        SmallWorld::Stream,
        SmallWorld::Command,
        SmallWorld::QueueCommand,
        SmallWorld::Register,
        SmallWorld::RegisterCommand,
        SmallWorld::Zoned,
        SmallWorld::Failing,
        SmallWorld::Suspending,
    ];
    for world in SMALL {
        let cases = (0..60).filter_map(|set| case(search(world, None, false), set * SmallWorld::RUNS_OF_A_SET));
        let accepted: Vec<bool> = cases
            .map(|case| case.allocator.allocate(&case.set, case.analysis).is_schedulable() == Some(true))
            .collect();
        assert!(accepted.len() > 15 && accepted.iter().all(|&accepted| accepted), "{world:?}: {accepted:?}");
    }
}

/// The climber finds each counterexample of docs/analysis.md, Section 6.1, on the channel; and on
/// the executor those of which it can run all. `rtflash soak --climb` does the same.
#[test]
fn the_climber_finds_each_row_of_the_table() {
    let options = ClimbOptions { seed: 1, starts: 100, moves: 99, until_late: true };
    let mut on_executor = Vec::new();
    for row in TABLE {
        assert!(climb(&row.on_channel(), 0, options).is_late(), "{row:?}");
        let Some(on) = row.on_executor() else { continue };
        let watched = on.names().position(|name| name == "chip-0.read").expect("chip 0 reads");
        assert!(climb(&on, watched, options).is_late(), "{row:?}");
        on_executor.push(row.left_out.name());
        if row.left_out != LeftOutOfRow::Sensing {
            // The library's test rejects it with all its terms.
            assert!(allocation(&row.set().expect("a set"), None).is_none(), "{row:?}");
        }
    }
    assert_eq!(
        on_executor,
        ["min-fresh", "sum-fresh", "shared-fresh", "ranked-fresh", "served-twice", "sigma-of-one", "Q3"]
    );
}
