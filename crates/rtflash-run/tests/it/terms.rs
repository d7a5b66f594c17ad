//! Each term of the tests is there for something: with it left out, sets are accepted that break.
//! With all terms none does. `rtflash soak --world … --without all` counts how many.

use rtflash_analysis::certified::Term;
use rtflash_run::climb::rows::{LeftOutOfRow, TABLE, allocation};
use rtflash_run::climb::{ClimbOptions, climb};
use rtflash_run::soak::{Search, SoakOutcome, World, draw, judge, soak};

use crate::cases::cases;

/// A run that breaks something with a term left out: world, term, whether releases are climbed, the
/// number of the run, a check that fails. The runs are those of seed 1 that `soak` names first.
#[rustfmt::skip] // A run is a line.
const BROKEN: &[(World, Term, bool, u64, &str)] = &[
    (World::Stripe, Term::Blocking, false, 88, "deadlines"),
    (World::Stripe, Term::StepWait, false, 4_941, "deadlines"),
    (World::Stripe, Term::Transfer, false, 23, "deadlines"),
    (World::Stripe, Term::Window, false, 176, "deadlines"),
    (World::Stripe, Term::Arrivals, false, 0, "reserve"),
    (World::Stripe, Term::ServerReserve, false, 6_242, "overdue"),
    (World::Stripe, Term::ReservePage, false, 113, "overdue"),
    (World::Stripe, Term::VictimPage, false, 50, "overdue"),
    (World::Stripe, Term::Servers, false, 731, "deadlines"),
    (World::Superblock, Term::Blocking, false, 274, "deadlines"),
    (World::Superblock, Term::StepWait, false, 82_490, "deadlines"),
    (World::Superblock, Term::Transfer, false, 23, "deadlines"),
    (World::Superblock, Term::Window, false, 183, "deadlines"),
    (World::Superblock, Term::Arrivals, false, 0, "reserve"),
    (World::Superblock, Term::ServerReserve, false, 10_066, "overdue"),
    (World::Superblock, Term::ReservePage, false, 3_024, "overdue"),
    (World::Superblock, Term::VictimPage, false, 136, "overdue"),
    (World::Superblock, Term::Beside, false, 1_006, "deadlines"),
    (World::Superblock, Term::Copies, false, 11_728, "deadlines"),
    (World::Superblock, Term::PassWait, false, 92_249, "deadlines"),
    (World::Mixed, Term::Blocking, false, 1, "deadlines"),
    (World::Mixed, Term::Transfer, false, 48, "deadlines"),
    (World::Mixed, Term::Copies, false, 44_765, "deadlines"),
    (World::Stream, Term::Blocking, false, 114, "deadlines"),
    (World::Stream, Term::Transfer, false, 23, "deadlines"),
    (World::Stream, Term::StreamPage, false, 23, "deadlines"),
    (World::Command, Term::Blocking, false, 273, "deadlines"),
    (World::Command, Term::Transfer, false, 66, "deadlines"),
    (World::Command, Term::Commands, false, 69, "deadlines"),
    (World::Command, Term::CommandWait, false, 1_552, "deadlines"),
    (World::QueueCommand, Term::Blocking, false, 1_488, "deadlines"),
    (World::QueueCommand, Term::Transfer, false, 32, "deadlines"),
    (World::QueueCommand, Term::QueuedPrograms, false, 27_168, "deadlines"),
    (World::QueueCommand, Term::Commands, false, 0, "deadlines"),
    (World::Register, Term::Blocking, false, 48, "deadlines"),
    (World::Register, Term::Turnaround, false, 541, "deadlines"),
    (World::Register, Term::Commit, false, 49, "deadlines"),
    (World::Register, Term::FirstRank, false, 832, "deadlines"),
    (World::Register, Term::OwnRow, false, 416, "deadlines"),
    (World::Register, Term::PassStep, false, 881, "deadlines"),
    (World::Register, Term::Transfer, false, 66, "deadlines"),
    (World::Register, Term::Arrivals, false, 0, "reserve"),
    (World::RegisterCommand, Term::Blocking, false, 66, "deadlines"),
    (World::RegisterCommand, Term::Turnaround, false, 537, "deadlines"),
    (World::RegisterCommand, Term::Commit, false, 944, "deadlines"),
    (World::RegisterCommand, Term::Transfer, false, 1, "deadlines"),
    (World::RegisterCommand, Term::ToldRead, false, 48, "deadlines"),
    (World::RegisterCommand, Term::PassStep, false, 82, "deadlines"),
    (World::RegisterCommand, Term::Commands, false, 209, "deadlines"),
    (World::Zoned, Term::Blocking, false, 101, "deadlines"),
    (World::Zoned, Term::StepWait, false, 2_098, "deadlines"),
    (World::Zoned, Term::Transfer, false, 0, "deadlines"),
    (World::Zoned, Term::Window, false, 96, "deadlines"),
    (World::Zoned, Term::StreamPage, false, 1, "deadlines"),
    (World::Zoned, Term::CarryIn, false, 83_009, "deadlines"),
    (World::Zoned, Term::Commands, false, 633_990, "deadlines"),
    (World::Zoned, Term::CommandWait, false, 103_345, "deadlines"),
    (World::Zoned, Term::Resets, false, 1, "deadlines"),
    (World::Zoned, Term::ResetPage, false, 1, "deadlines"),
    (World::Zoned, Term::ResetStep, false, 101, "deadlines"),
    (World::Failing, Term::Blocking, false, 1_786, "deadlines"),
    (World::Failing, Term::Transfer, false, 64, "deadlines"),
    (World::Failing, Term::Repeats, false, 84, "deadlines"),
    (World::Failing, Term::SpareBlocks, false, 756, "overdue"),
    (World::Failing, Term::RepeatedTransfers, false, 39_843, "deadlines"),
    (World::Suspending, Term::Suspend, false, 100, "deadlines"),
    (World::Suspending, Term::Resume, false, 5_604, "overdue"),
    (World::Suspending, Term::Blocking, false, 210, "deadlines"),
    (World::Suspending, Term::PassStep, false, 9_914, "deadlines"),
    (World::Queue, Term::MinFresh, true, 417, "deadlines"),
    (World::Queue, Term::SumFresh, true, 1_089, "deadlines"),
    (World::Queue, Term::SharedFresh, true, 417, "deadlines"),
    (World::Queue, Term::RankedFresh, true, 417, "deadlines"),
    (World::Queue, Term::RankedWrites, true, 961, "deadlines"),
    (World::Queue, Term::ServedTwice, true, 577, "deadlines"),
    (World::Queue, Term::SigmaOfOne, true, 593, "deadlines"),
    (World::Queue, Term::CarryIn, true, 1_657, "deadlines"),
    (World::Stripe, Term::CarryIn, true, 1_657, "deadlines"),
    (World::Register, Term::CarryIn, true, 902, "deadlines"),
    (World::Superblock, Term::CarryIn, true, 3_144, "deadlines"),
    (World::Mixed, Term::CarryIn, true, 1_569, "deadlines"),
    (World::Register, Term::LastPage, false, 24, "deadlines"),
];

fn search(world: World, left_out: Option<Term>, climbs: bool) -> Search {
    Search { left_out, climbs, ..Search::new(1, world) }
}

fn failing(search: Search, run: u64) -> Vec<&'static str> {
    let case = draw(search, run).unwrap_or_else(|| panic!("{search:?}, {run}: no case"));
    let SoakOutcome::Judged { findings, .. } = judge(&case) else { panic!("{search:?}, {run}: not accepted") };
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
        (World::Stripe, false, 400, 250),
        (World::Superblock, false, 400, 250),
        (World::Mixed, false, 400, 225),
        (World::Stream, false, 400, 225),
        (World::Command, false, 400, 225),
        (World::Register, false, 400, 225),
        (World::RegisterCommand, false, 400, 225),
        (World::Zoned, false, 400, 225),
        (World::Zoned, true, 80, 25),
        (World::Failing, false, 800, 450),
        (World::Failing, true, 40, 10),
        (World::Suspending, false, 400, 200),
        (World::Queue, false, 400, 75),
        (World::QueueCommand, false, 800, 200),
        (World::QueueCommand, true, 80, 15),
        (World::Stripe, true, 24, 15),
        (World::Superblock, true, 24, 15),
        (World::Queue, true, 80, 15),
    ] {
        let soaked = soak(search(world, None, climbs), cases(runs));
        let broken: Vec<_> =
            soaked.broken.iter().map(|broken| (broken.finding.assumption.name(), broken.first)).collect();
        assert_eq!(broken, [], "{world:?}");
        assert!(soaked.judged >= judged, "{world:?}: {} runs", soaked.judged);
    }
}

/// What the search accepts with all terms is what an allocator accepts.
#[test]
fn the_search_tests_as_an_allocator_does() {
    const SMALL: [World; 12] = [
        World::Stripe,
        World::Queue,
        World::Superblock,
        World::Mixed,
        World::Stream,
        World::Command,
        World::QueueCommand,
        World::Register,
        World::RegisterCommand,
        World::Zoned,
        World::Failing,
        World::Suspending,
    ];
    for world in SMALL {
        let cases = (0..60).filter_map(|set| draw(search(world, None, false), set * world.runs_of_a_set()));
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
