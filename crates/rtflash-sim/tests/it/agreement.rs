//! Two executors, one truth: the event-driven engine says what the cycle-by-cycle one says, record
//! for record.

use std::collections::HashSet;
use std::ops::ControlFlow;

use rtflash_judge::{Checks, Finding};
use rtflash_model::{ChipId, ClusterId, Instant};
use rtflash_plan::{Arbitration, ChannelId, Dispatch, Options, Pattern, Releases, Service, Ties, Times, Victims};
use rtflash_sim::Lengths;
use rtflash_testkit::cases;
use rtflash_trace::{Action, JobId, Kind, Observer, Record};

use crate::common::{ALWAYS_HOLD, Broken, World, agree};
use crate::worlds::engine;

/// How often the cases did what is worth comparing.
#[derive(Debug, Default)]
struct Seen {
    records: usize,
    parallel: usize,
    background: usize,
    erases: usize,
    left_out: usize,
    starved: usize,
    worst: usize,
    waits: usize,
    unserved: usize,
    sporadic: usize,
    round_robin: usize,
    ties: usize,
    policed: usize,
    misbehave: usize,
    fullest: usize,
}

impl Seen {
    fn look(&mut self, world: &World, records: &[Record]) {
        self.records += records.len();
        self.parallel += usize::from(world.options.dispatch == Dispatch::Parallel);
        self.background += usize::from(world.options.service == Service::Background && !world.plan.jobs().is_empty());
        self.worst += usize::from(world.options.victims == Victims::Worst);
        self.sporadic += usize::from(world.options.is_sporadic());
        self.round_robin += usize::from(world.options.arbitration == Arbitration::RoundRobin);
        self.ties += usize::from(world.options.ties != Ties::Lowest);
        self.policed += records.iter().filter(|record| matches!(record, Record::Policed(_))).count();
        self.fullest += usize::from(world.options.pattern == Pattern::Fullest);
        self.misbehave += usize::from(world.misbehaves());
        let gc_jobs = records.iter().filter(|record| matches!(record, Record::Release(job) if job.kind == Kind::Gc));
        let mut erases = 0;
        for record in records {
            match record {
                Record::Operation(operation) => {
                    erases += usize::from(operation.action == Action::Erase);
                    let alone = match operation.action {
                        Action::Read => world.plan.timing().read(),
                        _ => world.plan.timing().program(),
                    };
                    let waited = operation.kind != Kind::Gc && operation.end.since(operation.start) > alone;
                    self.waits += usize::from(waited);
                }
                Record::Starved(_) => self.starved += 1,
                Record::Release(job) => self.unserved += usize::from(job.cluster.is_none()),
                _ => {}
            }
        }
        self.erases += erases;
        self.left_out += usize::from(erases == 0 && gc_jobs.count() > 2);
    }
}

/// Compares the two on cases drawn from a seed.
fn compare(seed: u64, cases: u64) -> Seen {
    let mut seen = Seen::default();
    let twin = |world: &World| crate::naive::run(&world.plan, &world.options, &world.arrivals);
    agree(cases, |case| World::draw(seed, case), engine, twin, |world, records| seen.look(world, records));
    seen
}

#[test]
fn the_engine_agrees_with_the_cycle_by_cycle_executor() {
    let halves = [1, 2].map(|seed| std::thread::spawn(move || compare(seed, cases(3_000))));
    for half in halves {
        let seen = half.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // The comparison is worth as much as what happens in it.
        assert!(seen.records > 200_000, "{seen:?}");
        assert!(seen.parallel > 1_000 && seen.background > 500 && seen.worst > 1_000, "{seen:?}");
        assert!(seen.erases > 10_000 && seen.left_out > 50 && seen.starved > 200, "{seen:?}");
        assert!(seen.waits > 4_000 && seen.unserved > 100, "{seen:?}");
        assert!(seen.sporadic > 1_000 && seen.round_robin > 500 && seen.ties > 1_000, "{seen:?}");
        assert!(seen.policed > 300 && seen.misbehave > 150 && seen.fullest > 250, "{seen:?}");
    }
}

/// The device obeys its rules under any grants of a server: in the run, and in its trace.
#[test]
fn what_is_valid_is_found_valid() {
    let mut judged = 0;
    let mut broken = Broken::default();
    for case in 0..3_000 {
        let Some(world) = World::draw(9, case) else { continue };
        let records = engine(&world);
        let all: Vec<ClusterId> = world.plan.clusters().ids().collect();
        let mut checks = Checks::of_trace(&world.plan, world.options.dispatch, &all);
        records.iter().for_each(|record| checks.record(record));
        broken.note_in(&world, case, &checks.finish(world.options.duration), &ALWAYS_HOLD);
        broken.note_in(&world, case, &crate::worlds::judged(&world), &ALWAYS_HOLD);
        judged += 1;
    }
    broken.assert_none();
    assert!(judged > 1_000, "{judged}");
}

/// The checkers of a trace.
fn judged(world: &World, records: &[Record]) -> Vec<Finding> {
    let all: Vec<ClusterId> = world.plan.clusters().ids().collect();
    let mut checks = Checks::of_trace(&world.plan, world.options.dispatch, &all);
    records.iter().for_each(|record| checks.record(record));
    checks.finish(world.options.duration)
}

fn breaks(findings: &[Finding], name: &str) -> bool {
    findings.iter().any(|finding| finding.assumption.name() == name && !finding.gauge.holds())
}

/// Whether a task's request comes earlier than a period after the one before, or is larger than
/// declared.
fn is_early_or_large(world: &World, records: &[Record]) -> bool {
    let mut last = vec![None; world.plan.sources().len()];
    records.iter().any(|record| {
        let Record::Release(release) = record else { return false };
        let source = &world.plan.sources()[release.job.source];
        let (Some(_), Releases::Periodic(period)) = (source.deadline, source.releases) else { return false };
        let before = last[release.job.source.index()].replace(release.at);
        let early = before.is_some_and(|before| release.at.since(before) < period.release(1).since(Instant::START));
        early || release.pages > source.read_pages + source.write_pages
    })
}

#[test]
fn releases_that_are_not_as_declared_are_found() {
    let (mut found, mut policed) = (0, 0);
    for world in (0..6_000).filter_map(|case| World::draw(11, case)) {
        if world.options.releases.is_none() {
            continue;
        }
        let records = engine(&world);
        let wrong = is_early_or_large(&world, &records);
        assert_eq!(breaks(&judged(&world, &records), "releases"), wrong, "{world:?}");
        assert!(!wrong || world.misbehaves(), "{world:?}");
        found += usize::from(wrong);
        policed += usize::from(records.iter().any(|record| matches!(record, Record::Policed(_))));
    }
    assert!(found > 100 && policed > 100, "{found} {policed}");
}

#[test]
fn lengths_are_between_the_bounds_as_stated() {
    let mut looked_at = 0;
    for world in (0..2_000).filter_map(|case| World::draw(13, case)) {
        let Some(pattern) = &world.options.releases else { continue };
        let at_the_bound =
            |times| Lengths::new(&world.plan, &Options { times, releases: None, ..world.options.clone() });
        let (longest, shortest) = (at_the_bound(Times::Worst), at_the_bound(Times::Best));
        let lengths = Lengths::new(&world.plan, &world.options);
        for (number, source) in world.plan.sources().enumerate() {
            let stated = pattern.of(source);
            let Some(stated) = stated.filter(|stated| !stated.lengths.is_empty()) else { continue };
            for index in 0..5 {
                let thousandths = stated.lengths[usize::min(index, stated.lengths.len() - 1)];
                let job = JobId { source: number, index: index as u64 };
                let parts = |of: &Lengths| {
                    let (chip, at) = (ChipId(0), Instant::START);
                    let inside = [of.read(job, chip, at), of.program(job, chip, at), of.erase(job, chip, at)];
                    let outside = [of.sensing(job, chip, at), of.programming(job, chip, at)];
                    [&inside[..], &outside, &[of.transfer(job, ChannelId(0), at)]].concat()
                };
                for ((long, short), length) in parts(&longest).iter().zip(parts(&shortest)).zip(parts(&lengths)) {
                    let (long, short) = (long.as_ns(), short.as_ns());
                    let share = ((long - short) * u64::from(thousandths)).div_ceil(1_000);
                    assert_eq!(length.as_ns(), short + share, "{world:?}");
                    looked_at += u64::from(0 < share && share < long - short);
                }
            }
        }
    }
    assert!(looked_at > 200, "{looked_at}");
}

#[test]
fn a_bus_that_goes_by_another_rule_is_found() {
    let (mut turns, mut ties) = (0, 0);
    for mut world in (0..3_000).filter_map(|case| World::draw(12, case)) {
        // The longest wait is known only if sensing takes exactly as long as it should.
        (world.options.arbitration, world.options.ties) = (Arbitration::Fifo, Ties::Lowest);
        let mut records = engine(&world);
        let mut broken_as = |arbitration, ties| {
            let Some(Record::Setup(setup)) = records.first_mut() else { panic!("a trace begins with its setup") };
            (setup.arbitration, setup.ties) = (arbitration, ties);
            breaks(&judged(&world, &records), "bus-order")
        };
        assert!(!broken_as(Arbitration::Fifo, Ties::Lowest), "{world:?}");
        turns += usize::from(broken_as(Arbitration::RoundRobin, Ties::Lowest));
        ties += usize::from(broken_as(Arbitration::Fifo, Ties::Highest));
    }
    assert!(turns > 50 && ties > 50, "{turns} {ties}");
}

#[test]
fn the_result_depends_on_neither_windows_nor_threads() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let (one, four) = (pool(1), pool(4));
    let mut compared = 0;
    let _ = (0..400).try_for_each(|case| {
        let Some(world) = World::draw(3, case) else { return ControlFlow::Continue(()) };
        assert_eq!(one.install(|| engine(&world)), four.install(|| engine(&world)), "case {case}");
        let mut untraced = four.install(|| crate::worlds::untraced(&world));
        untraced.sort_by_key(Record::order);
        assert_eq!(engine(&world)[1..], untraced[..], "case {case}, all but how it was made");
        compared += 1;
        if compared == 60 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(compared, 60);
}

/// An observer that wants no order is notified of equal records, of a job's release before its
/// completion.
#[test]
fn records_are_equal_in_the_order_in_which_they_are_known() {
    let (mut compared, mut other_order) = (0, 0);
    for case in 0..200 {
        let Some(world) = World::draw(5, case) else { continue };
        let mut known = crate::worlds::as_known(&world);
        let mut released = HashSet::new();
        for record in &known {
            match record {
                Record::Release(release) => assert!(released.insert(release.job), "case {case}"),
                Record::Complete(complete) => assert!(released.contains(&complete.job), "case {case}"),
                _ => {}
            }
        }
        other_order += usize::from(!known.is_sorted_by_key(Record::order));
        known.sort_by_key(Record::order);
        assert_eq!(engine(&world)[1..], known[..], "case {case}, all but how it was made");
        compared += 1;
    }
    assert!(compared > 50 && other_order > 40, "{compared} {other_order}");
}
