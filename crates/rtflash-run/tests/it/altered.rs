//! Honest traces pass, altered ones do not: of the thesis's organisation under both dispatches, of
//! stripes and of superblocks.

mod alterations;
mod failures;
mod suspensions;
mod trims;
mod wear;
mod worlds;

use std::collections::BTreeSet;

use alterations::{ALTERATIONS, Alteration};
use failures::FAILURES;
use rtflash_judge::Assumption;
use rtflash_model::{ClusterId, Instant, Span};
use rtflash_plan::{BlockId, Victims, Waits};
use rtflash_trace::{Action, Failed, Kind, LeftOut, NONE, Operation, Record, Transfer};
use suspensions::SUSPENSIONS;
use trims::TRIMS;
use wear::WEAR;
use worlds::{
    Organisation, World, cached_worlds, failing_erases, failing_worlds, levelling_worlds, other_worlds,
    suspending_worlds, told_worlds, trimming_worlds, worlds, zoned_worlds,
};

/// The checks that fail once an alteration has changed a world's trace; `None` where there is
/// nothing to be altered.
fn broken(world: &World, alteration: &Alteration) -> Option<Vec<&'static str>> {
    let mut records = world.records.clone();
    (alteration.alter)(&mut records)?;
    assert_ne!(records, world.records, "{}: nothing is altered", alteration.name);
    // An alteration may move things in time; a trace is in order.
    records.sort_by_key(Record::order);
    Some(world.judge(&records))
}

#[test]
fn every_altered_trace_is_caught_by_its_checker() {
    let worlds = worlds();
    for world in &worlds {
        assert_eq!(world.judge(&world.records), Vec::<&str>::new(), "{}: an honest trace", world.name);
    }
    let mut caught: [BTreeSet<&str>; 4] = Default::default();
    let mut missed = Vec::new();
    for alteration in ALTERATIONS {
        let mut applied = 0;
        for world in &worlds {
            let Some(broken) = broken(world, alteration) else { continue };
            applied += 1;
            if alteration.caught_by.iter().any(|name| broken.contains(name)) {
                caught[world.organisation as usize].insert(alteration.name);
            } else {
                missed.push((world.name, alteration.name, broken));
            }
        }
        if applied == 0 {
            missed.push(("nowhere", alteration.name, Vec::new()));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
    for (organisation, caught) in caught.iter().enumerate() {
        assert!(caught.len() >= 40, "organisation {organisation}: {} alterations are caught", caught.len());
    }
}

/// Some checker sees an alteration in other runs, too, but not always the expected one: a sporadic
/// request can come at other times. A missing last request is invisible there.
#[test]
fn alterations_of_other_runs_are_caught() {
    let mut missed = Vec::new();
    let mut caught = 0;
    for world in other_worlds() {
        assert_eq!(world.judge(&world.records), Vec::<&str>::new(), "{}: an honest trace", world.name);
        for alteration in ALTERATIONS {
            let Some(broken) = broken(&world, alteration) else { continue };
            let is_caught = alteration.caught_by.iter().any(|name| broken.contains(name));
            caught += usize::from(is_caught);
            let is_seen = if world.options.is_sporadic() { !broken.is_empty() } else { is_caught };
            if !is_seen {
                missed.push((world.name, alteration.name));
            }
        }
    }
    let open =
        ["serial", "parallel", "stripe", "superblock"].map(|name| (name, "the last request of a task is missing"));
    assert_eq!(missed, open);
    assert!(caught > 600, "{caught}");
}

/// No fault passes on chips with two page registers either, if not always by the same checker.
#[test]
fn alterations_with_two_page_registers_are_seen() {
    are_seen(&cached_worlds());
}

/// Nor where commands use the bus.
#[test]
fn alterations_with_commands_and_two_page_registers_are_seen() {
    are_seen(&told_worlds());
}

fn are_seen(worlds: &[World]) {
    let mut seen = BTreeSet::new();
    let mut missed = Vec::new();
    for world in worlds {
        assert_eq!(world.judge(&world.records), Vec::<&str>::new(), "{}: an honest trace", world.name);
        for alteration in ALTERATIONS {
            match broken(world, alteration) {
                Some(broken) if broken.is_empty() => {
                    missed.push((world.name, world.options.placed.waits, alteration.name))
                }
                Some(_) => drop(seen.insert((world.name, alteration.name))),
                None => {}
            }
        }
        for (what, broken) in world.elsewhere() {
            assert!(!broken.is_empty(), "{}: {what} is not refused", world.name);
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(seen.len() > 150, "{}", seen.len());
}

/// Nor where blocks fail.
#[test]
fn alterations_where_blocks_fail_are_seen() {
    are_seen(&failing_worlds());
}

/// Faults in the records of blocks that fail are caught by the checkers that are for them.
#[test]
fn failures_are_what_they_are_said_to_be() {
    let mut caught = BTreeSet::new();
    for world in failing_worlds() {
        let failed = world.records.iter().filter(|record| matches!(record, Record::Failed(_))).count();
        assert!(failed > 1, "{}: {failed}", world.name);
        for (what, by, alter) in FAILURES {
            let mut records = world.records.clone();
            if alter(&mut records).is_none() {
                continue;
            }
            records.sort_by_key(Record::order);
            let broken = world.judge(&records);
            assert!(by.iter().any(|name| broken.contains(name)), "{}: {what}: {broken:?}", world.name);
            caught.insert(what);
        }
    }
    assert_eq!(caught.len(), FAILURES.len(), "{caught:?}");
}

/// An erase that fails is the chip's last one, of that job and block; its step is over, and it
/// fails once.
#[test]
fn a_failed_erase_is_tied_to_its_erase() {
    for world in failing_erases() {
        assert_eq!(world.judge(&world.records), Vec::<&str>::new(), "{}: an honest trace", world.name);
        let is_erase = |record: &Record| matches!(record, Record::Failed(failed) if failed.page == NONE);
        let at = world.records.iter().position(is_erase).expect("an erase fails");
        let Record::Failed(failed) = world.records[at] else { unreachable!("it is one") };
        let next = world.records[at..].iter().find_map(|record| match record {
            Record::Operation(of) if of.chip == failed.chip => Some(of.end),
            _ => None,
        });
        let next = next.expect("the chip goes on");
        let shifted = |ns: i64| Instant::from_ns(failed.at.as_ns().saturating_add_signed(ns)).expect("a moment");
        let changes = [
            ("another block", Failed { block: BlockId(failed.block.0 ^ 1), ..failed }),
            ("a nanosecond earlier", Failed { at: shifted(-1), ..failed }),
            ("a nanosecond later", Failed { at: shifted(1), ..failed }),
            ("at the end of the chip's next operation", Failed { at: next, ..failed }),
        ];
        for (what, changed) in changes {
            let mut records = world.records.clone();
            records[at] = Record::Failed(changed);
            records.sort_by_key(Record::order);
            let broken = world.judge(&records);
            assert!(broken.contains(&"conservation"), "{}: {what}: {broken:?}", world.name);
        }
        let mut records = world.records.clone();
        records.insert(at, records[at]);
        assert!(world.judge(&records).contains(&"conservation"), "{}: twice", world.name);
    }
}

/// Faults in the records of suspended erases are caught by the checkers that are for them.
#[test]
fn suspensions_are_what_they_are_said_to_be() {
    let mut caught = BTreeSet::new();
    for world in suspending_worlds() {
        let parts = |record: &&Record| matches!(record, Record::Operation(it) if it.action == Action::ErasePart);
        let parts = world.records.iter().filter(parts).count();
        assert!(parts > 1, "{}: {parts}", world.name);
        assert_eq!(world.judge(&world.records), Vec::<&str>::new(), "{}: an honest trace", world.name);
        for (what, by, alter) in SUSPENSIONS {
            let mut records = world.records.clone();
            if alter(&mut records).is_none() {
                continue;
            }
            records.sort_by_key(Record::order);
            let broken = world.judge(&records);
            assert!(by.iter().any(|name| broken.contains(name)), "{}: {what}: {broken:?}", world.name);
            caught.insert(what);
        }
    }
    assert_eq!(caught.len(), SUSPENSIONS.len(), "{caught:?}");
}

/// Faults in the records of levelled wear are caught by the checkers that are for them.
#[test]
fn wear_is_levelled_as_it_is_said_to_be() {
    let mut caught = BTreeSet::new();
    for world in levelling_worlds() {
        assert_eq!(world.judge(&world.records), Vec::<&str>::new(), "{}: an honest trace", world.name);
        for (what, by, alter) in WEAR {
            let mut records = world.records.clone();
            if alter(&mut records).is_none() {
                continue;
            }
            records.sort_by_key(Record::order);
            let broken = world.judge(&records);
            assert!(by.iter().any(|name| broken.contains(name)), "{}: {what}: {broken:?}", world.name);
            caught.insert(what);
        }
    }
    assert_eq!(caught.len(), WEAR.len(), "{caught:?}");
}

/// Faults in the records of trimmed pages are caught by the checkers that are for them; and other
/// faults are seen as well.
#[test]
fn what_is_trimmed_holds_nothing() {
    let worlds = trimming_worlds();
    let mut caught = BTreeSet::new();
    for world in &worlds {
        assert_eq!(world.judge(&world.records), Vec::<&str>::new(), "{}: an honest trace", world.name);
        for (what, by, alter) in TRIMS {
            let mut records = world.records.clone();
            if alter(&mut records).is_none() {
                continue;
            }
            records.sort_by_key(Record::order);
            let broken = world.judge(&records);
            assert!(by.iter().any(|name| broken.contains(name)), "{}: {what}: {broken:?}", world.name);
            caught.insert((world.name, what));
        }
    }
    assert_eq!(caught.len(), worlds.len() * TRIMS.len(), "{caught:?}");
    are_seen(&worlds);
}

/// The places of two transfers, a read's command and the page before it, in one turn.
fn joined(records: &[Record]) -> Option<(usize, usize)> {
    let transfers = records.iter().enumerate().filter_map(|(at, record)| match record {
        Record::Transfer(it) => Some((at, *it)),
        _ => None,
    });
    let transfers: Vec<(usize, Transfer)> = transfers.collect();
    let is_command = |it: &Transfer| it.end.since(it.start).as_ns() == 1_000;
    transfers.iter().skip(transfers.len() / 2).find_map(|&(command, told)| {
        let page = |&&(_, it): &&(usize, Transfer)| {
            it.start == told.end && it.channel == told.channel && it.kind == Kind::Read
        };
        let page = transfers.iter().find(page).filter(|_| is_command(&told) && told.kind == Kind::Read)?;
        Some((command, page.0))
    })
}

/// Faults of a command and the page that it goes with are caught.
#[test]
fn commands_that_go_with_pages_do_so() {
    type Change = fn(&mut Vec<Record>, usize, usize);
    fn of(records: &mut [Record], at: usize) -> &mut Transfer {
        let Record::Transfer(it) = &mut records[at] else { unreachable!("a transfer") };
        it
    }
    let changes: [(&str, Change); 6] = [
        ("the page goes first", |records, command, page| {
            let (start, end) = (of(records, command).start, of(records, page).end);
            let between = Instant::from_ns(end.as_ns() - 1_000).expect("a moment");
            (of(records, command).start, of(records, command).end) = (between, end);
            (of(records, page).start, of(records, page).end) = (start, between);
        }),
        ("no command", |records, command, _| {
            records.remove(command);
        }),
        ("no page", |records, _, page| {
            records.remove(page);
        }),
        ("the command twice", |records, command, _| records.insert(command, records[command])),
        ("a shorter command", |records, command, _| {
            let it = of(records, command);
            it.end = Instant::from_ns(it.end.as_ns() - 1).expect("a moment");
        }),
        ("the page a nanosecond later", |records, _, page| {
            let it = of(records, page);
            it.start = it.start.saturating_add(Span::NANOSECOND);
        }),
    ];
    for world in told_worlds().iter().filter(|world| world.options.placed.waits == Waits::Actual) {
        let (command, page) = joined(&world.records).expect("commands go with pages");
        for (what, change) in changes {
            let mut records = world.records.clone();
            change(&mut records, command, page);
            records.sort_by_key(Record::order);
            assert!(!world.judge(&records).is_empty(), "{}: {what}", world.name);
        }
    }
}

/// An alteration is seen as well if tasks own zones.
#[test]
fn alterations_of_zones_are_seen() {
    let mut seen = BTreeSet::new();
    let mut missed = Vec::new();
    for world in zoned_worlds() {
        assert_eq!(world.judge(&world.records), Vec::<&str>::new(), "{}: an honest trace", world.name);
        for alteration in ALTERATIONS.iter().filter(|it| it.name != "victims are said to be the worst") {
            let mut records = world.records.clone();
            // Victims cannot be altered here.
            if (alteration.alter)(&mut records).is_none() || records == world.records {
                continue;
            }
            match broken(&world, alteration) {
                Some(broken) if broken.is_empty() => {
                    missed.push((world.name, world.options.placed.waits, alteration.name))
                }
                Some(_) => drop(seen.insert((world.name, alteration.name))),
                None => {}
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(seen.len() > 40, "{}", seen.len());
}

/// The resets of zones: each belongs where the ring goes on, to who writes there, and none is
/// missing or needless.
#[test]
fn resets_belong_to_the_ring() {
    for world in zoned_worlds() {
        let resets = |record: &Record| matches!(record, Record::Operation(it) if it.action == Action::Erase);
        let at = world.records.iter().rposition(resets).expect("a zone is reset");
        let Record::Operation(reset) = world.records[at] else { unreachable!("it is one") };
        let changed = |records: &[Record]| {
            let mut records = records.to_vec();
            records.sort_by_key(Record::order);
            world.judge(&records)
        };
        let instead = |other: Operation| {
            let mut records = world.records.clone();
            records[at] = Record::Operation(other);
            changed(&records)
        };
        let elsewhere = instead(Operation { block: BlockId(reset.block.0 ^ 1), ..reset });
        assert!(elsewhere.contains(&"page-order"), "{}: another block: {elsewhere:?}", world.name);
        let missing = changed(&[&world.records[..at], &world.records[at + 1..]].concat());
        assert!(missing.contains(&"page-order"), "{}: none: {missing:?}", world.name);
        // The block is reset again, in the time of what comes next on the chip.
        let again =
            Operation { start: reset.end, end: reset.end.saturating_add(reset.end.since(reset.start)), ..reset };
        let twice = changed(&[&world.records[..=at], &[Record::Operation(again)], &world.records[at + 1..]].concat());
        assert!(twice.contains(&"page-order"), "{}: twice: {twice:?}", world.name);
        // The next page of the ring is another one.
        let behind = |record: &Record| matches!(record, Record::Operation(it) if it.chip == reset.chip && it.block == reset.block && it.page == 0);
        let next = at + world.records[at..].iter().position(behind).expect("what it was reset for");
        let mut records = world.records.clone();
        if let Record::Operation(program) = &mut records[next] {
            program.block = BlockId(program.block.0 ^ 1);
        }
        let astray = changed(&records);
        assert!(astray.contains(&"page-order"), "{}: another page: {astray:?}", world.name);
    }
}

/// A pass that is left out in another cluster is none of the job's own.
#[test]
fn passes_are_left_out_in_their_own_cluster() {
    let world = World::new("two clusters", (Organisation::Serial, Victims::Actual, Waits::Actual), "equal-split");
    let at = world.records.iter().rposition(|record| matches!(record, Record::LeftOut(_))).expect("one is left out");
    let Record::LeftOut(own) = world.records[at] else { unreachable!("it is one") };
    let clusters = world.allocation.clusters();
    let cluster = ClusterId(1 - own.cluster.0);
    let chip = clusters[cluster.index()].chips[0];
    let mut records = world.records.clone();
    let elsewhere = LeftOut { cluster, chip, free: u64::MAX, ..own };
    records.splice(at..=at, [Record::LeftOut(elsewhere), Record::LeftOut(own)]);
    assert!(world.judge(&records).contains(&"conservation"));
}

/// A checker that never speaks guards nothing: each refuses something.
#[test]
fn every_checker_refuses_something() {
    let worlds = worlds();
    for certified in [false, true] {
        let mut refused: BTreeSet<&str> = BTreeSet::new();
        let is_certified =
            |world: &&World| matches!(world.organisation, Organisation::Stripe | Organisation::Superblock) == certified;
        for world in worlds.iter().filter(is_certified) {
            for alteration in ALTERATIONS {
                refused.extend(broken(world, alteration).unwrap_or_default());
            }
            for (what, broken) in world.elsewhere() {
                assert!(!broken.is_empty(), "{}: {what} is not refused", world.name);
                refused.extend(broken);
            }
        }
        let last = if certified { Assumption::Reserve } else { Assumption::DataFit };
        let all = Assumption::ALL.iter().filter(|&&assumption| assumption <= last);
        let silent: Vec<&str> = all.map(|of| of.name()).filter(|name| !refused.contains(name)).collect();
        assert!(silent.is_empty(), "these never speak (certified: {certified}): {silent:?}");
    }
}

/// The trace of a run is judged by another plan: other periods, another device, other certificates.
#[test]
fn a_trace_of_something_else_is_refused() {
    let mut missed = Vec::new();
    for world in worlds() {
        for (what, broken) in world.elsewhere() {
            let expected = match what {
                "other periods" | "another D_g" | "another alpha" | "another server" => "releases",
                "slower reads" | "slower programs" | "slower erases" => "operation-lengths",
                "another v" => "victim-bound",
                "no backfill" => "bus-wait",
                "another F" => "open-blocks",
                "another H" => "gc-left-out",
                "too much data" => "data-fit",
                "a longer run" => "releases",
                _ => unreachable!("{what}"),
            };
            if !broken.contains(&expected) {
                missed.push((world.name, what, broken));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}
