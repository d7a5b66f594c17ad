//! Two executors of certificates, one truth: the event-driven engine says what the cycle-by-cycle
//! one says, record for record.

use std::collections::{BTreeMap, HashMap, HashSet};

use rtflash_judge::{Checks, Finding};
use rtflash_model::{ChipId, ClusterId, Instant, PerId};
use rtflash_plan::{Arbitration, NoServers, Pattern, Phases, Promise, Service, Ties, Victims, Waits};
use rtflash_sim::run;
use rtflash_testkit::cases;
use rtflash_trace::{Action, JobId, Kind, NONE, Observer, Record};

use crate::common::{ALWAYS_HOLD, Broken, World, agree};
use crate::placed_worlds::engine;

/// How often the cases did what is worth comparing.
#[derive(Debug, Default)]
struct Seen {
    records: usize,
    stripes: usize,
    background: usize,
    erases: usize,
    copies: usize,
    starved: usize,
    served: usize,
    server_passes: usize,
    /// Resets of zones, and pages that are programmed there.
    resets: usize,
    in_zones: usize,
    worst: usize,
    fullest: usize,
    at_erases: usize,
    sporadic: usize,
    round_robin: usize,
    ties: usize,
    policed: usize,
    misbehave: usize,
    /// The transfers on devices that count commands.
    commands: usize,
    /// Operations of chips with two page registers, and those of them that begin before the one
    /// before them ends.
    cached: usize,
    beside: usize,
    /// Changes of terms, and extra GC jobs.
    changed: usize,
    extra: usize,
    /// Those that begin so where commands are counted.
    told_beside: usize,
    /// Clusters in which a task has the pages of another one.
    shared: usize,
    /// Programs and erases that failed, of superblocks too; and blocks that pages are moved from.
    failed_programs: usize,
    failed_erases: usize,
    failed_rows: usize,
    moves: usize,
    /// Blocks that pages are moved from so that wear is level.
    levelled: usize,
    /// Programs and resets that failed where tasks own zones, and the latter.
    failed_in_zones: usize,
    failed_resets: usize,
    /// Erases that were suspended, of superblocks too.
    suspended: usize,
    suspended_rows: usize,
    /// Pages that were trimmed, those of them that go on holding what they hold, and pages that
    /// jobs found so.
    trimmed: usize,
    kept: usize,
    empty: usize,
}

impl Seen {
    fn look(&mut self, world: &World, records: &[Record]) {
        let options = &world.options;
        self.records += records.len();
        if let Promise::Certified(certified) = world.plan.promise() {
            self.stripes += certified.iter().filter(|cluster| cluster.is_stripe()).count();
            let pairs = certified.iter().filter(|of| !of.is_zoned()).map(|of| of.ranges.first().zip(of.ranges.get(1)));
            self.shared += pairs.flatten().filter(|(first, second)| first == second).count();
        }
        self.background += usize::from(options.service == Service::Background && !world.plan.jobs().is_empty());
        self.worst += usize::from(options.victims == Victims::Worst && options.placed.waits == Waits::Worst);
        self.fullest += usize::from(options.pattern == Pattern::Fullest);
        self.at_erases += usize::from(options.phases == Phases::AtErases);
        self.sporadic += usize::from(options.is_sporadic());
        self.round_robin += usize::from(options.arbitration == Arbitration::RoundRobin);
        self.ties += usize::from(options.ties != Ties::Lowest);
        self.misbehave += usize::from(world.misbehaves());
        let mut ends = PerId::<ChipId, Instant>::filled(Instant::START, world.plan.device().chips());
        let (mut retired, mut chosen) = (Vec::new(), HashSet::new());
        for record in records {
            match record {
                Record::Policed(_) => self.policed += 1,
                Record::Changed(change) if change.extra == 0 => self.changed += 1,
                Record::Changed(_) => self.extra += 1,
                Record::Failed(failed) => {
                    self.failed_programs += usize::from(failed.page != NONE);
                    self.failed_erases += usize::from(failed.page == NONE);
                    let superblock =
                        matches!(world.plan.promise(), Promise::Certified(by) if !by[failed.cluster].is_stripe());
                    self.failed_rows += usize::from(superblock && failed.page != NONE);
                    if matches!(world.plan.promise(), Promise::Certified(by) if by[failed.cluster].is_zoned()) {
                        self.failed_in_zones += 1;
                        self.failed_resets += usize::from(failed.page == NONE);
                    }
                    retired.push((failed.cluster, failed.block));
                }
                Record::Selected(of) if retired.contains(&(of.cluster, of.block)) => self.moves += 1,
                Record::Selected(of) if world.plan.device().wear_gap().is_some() => _ = chosen.insert(of.job),
                Record::Transfer(_) => self.commands += usize::from(world.plan.device().has_commands()),
                Record::Operation(operation) => {
                    if matches!(world.plan.promise(), Promise::Certified(by) if by[operation.cluster].is_cached()) {
                        self.cached += 1;
                        let beside = operation.start < ends[operation.chip];
                        self.beside += usize::from(beside);
                        self.told_beside += usize::from(beside && world.plan.device().has_commands());
                        ends[operation.chip] = operation.end;
                    }
                    if operation.action == Action::ErasePart {
                        self.suspended += 1;
                        self.suspended_rows += usize::from(
                            matches!(world.plan.promise(), Promise::Certified(by) if !by[operation.cluster].is_stripe()),
                        );
                        continue;
                    }
                    let erase = operation.action == Action::Erase;
                    if erase {
                        chosen.remove(&operation.job);
                    }
                    let gc = operation.kind == Kind::Gc;
                    let server = world.plan.sources()[operation.job.source].kind == Kind::Server;
                    self.erases += usize::from(erase);
                    let zoned =
                        matches!(world.plan.promise(), Promise::Certified(by) if by[operation.cluster].is_zoned());
                    self.resets += usize::from(zoned && erase);
                    self.in_zones += usize::from(zoned && operation.action == Action::Program);
                    self.copies += usize::from(gc && !erase);
                    self.served += usize::from(operation.kind == Kind::Server);
                    self.server_passes += usize::from(erase && server);
                }
                Record::Starved(_) => self.starved += 1,
                Record::Trimmed(of) if of.kept => self.kept += 1,
                Record::Trimmed(of) => self.trimmed += of.pages as usize,
                Record::EmptyPage(_) => self.empty += 1,
                _ => {}
            }
        }
        // Jobs that have chosen a block, and erased none.
        self.levelled += chosen.len();
    }
}

/// Compares the two on cases drawn from a seed.
fn compare(seed: u64, cases: u64) -> Seen {
    let mut seen = Seen::default();
    let twin = |world: &World| crate::naive_placed::run(&world.plan, &world.options, &world.arrivals);
    agree(cases, |case| World::draw_certified(seed, case), engine, twin, |world, records| seen.look(world, records));
    seen
}

#[test]
fn the_engine_agrees_with_the_cycle_by_cycle_executor() {
    let halves = [1, 2].map(|seed| std::thread::spawn(move || compare(seed, cases(4_000))));
    for half in halves {
        let seen = half.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // The comparison is worth as much as what happens in it.
        assert!(seen.records > 500_000 && seen.stripes > 2_000 && seen.starved > 10_000, "{seen:?}");
        assert!(seen.erases > 20_000 && seen.copies > 35_000 && seen.background > 400, "{seen:?}");
        assert!(seen.served > 40_000 && seen.server_passes > 4_000 && seen.worst > 400, "{seen:?}");
        assert!(seen.fullest > 500 && seen.at_erases > 1_000, "{seen:?}");
        assert!(seen.sporadic > 1_500 && seen.round_robin > 800 && seen.ties > 1_500, "{seen:?}");
        assert!(seen.commands > 50_000, "{seen:?}");
        assert!(seen.cached > 50_000 && seen.beside > 20_000, "{seen:?}");
        assert!(seen.suspended > 200 && seen.suspended_rows > 80, "{seen:?}");
        assert!(seen.changed > 500 && seen.extra > 500, "{seen:?}");
        assert!(seen.told_beside > 1_000 && seen.shared > 150, "{seen:?}");
        assert!(seen.resets > 4_000 && seen.in_zones > 15_000, "{seen:?}");
        assert!(seen.failed_programs > 300 && seen.failed_erases > 30, "{seen:?}");
        assert!(seen.failed_rows > 100 && seen.moves > 100, "{seen:?}");
        assert!(seen.failed_in_zones > 50 && seen.failed_resets > 10, "{seen:?}");
        assert!(seen.levelled > 100, "{seen:?}");
        assert!(seen.policed > 500 && seen.misbehave > 200, "{seen:?}");
        assert!(seen.trimmed > 50_000 && seen.kept > 500 && seen.empty > 5_000, "{seen:?}");
    }
}

/// Superblocks alone, which run ahead while nothing is released, agree too.
#[test]
fn superblocks_that_run_ahead_agree_with_the_cycle_by_cycle_executor() {
    let mut seen = Seen::default();
    let twin = |world: &World| crate::naive_placed::run(&world.plan, &world.options, &world.arrivals);
    let look = |world: &World, records: &[Record]| seen.look(world, records);
    agree(cases(1_200), |case| World::draw_superblocks(3, case), engine, twin, look);
    assert!(seen.records > 300_000 && seen.stripes == 0 && seen.at_erases == 0, "{seen:?}");
    assert!(seen.starved > 300 && seen.erases > 3_000 && seen.copies > 3_000, "{seen:?}");
    assert!(seen.served > 3_000 && seen.server_passes > 300 && seen.levelled > 10, "{seen:?}");
    assert!(seen.sporadic > 200 && seen.changed > 50 && seen.extra > 50, "{seen:?}");
    assert!(seen.trimmed > 5_000 && seen.kept > 50 && seen.empty > 500, "{seen:?}");
}

/// The device obeys its rules under any certificate.
#[test]
fn the_flash_keeps_the_rules_under_any_certificate() {
    let mut judged = 0;
    let mut broken = Broken::default();
    for case in 0..cases(9_000) {
        let Some(world) = World::draw_certified(4, case) else { continue };
        // In blocks of one page a trace does not say which of two programs of a page in one row
        // came last.
        if world.plan.device().pages_per_block() == 1 {
            continue;
        }
        // Two requests at a time of a task that owns zones, which it does not declare, go in any
        // order.
        let zoned = matches!(world.plan.promise(), Promise::Certified(by) if by.iter().any(|of| of.is_zoned()));
        if zoned && world.misbehaves() && world.options.ties != Ties::Lowest {
            continue;
        }
        let findings = crate::common::judged(&world);
        let all: Vec<ClusterId> = world.plan.clusters().ids().collect();
        let mut traced = Checks::of_trace(&world.plan, world.options.dispatch, &all);
        engine(&world).iter().for_each(|record| traced.record(record));
        let traced = traced.finish(world.options.duration);
        for findings in [findings, traced] {
            broken.note_in(&world, case, &findings, &ALWAYS_HOLD);
            broken.note_in(&world, case, &findings, &CERTIFIED);
        }
        judged += 1;
    }
    broken.assert_none();
    assert!(judged > 3_000, "{judged}");
}

/// Jobs with pages of one logical page that failed in one step, where they are different ones, and
/// when what they were to hold failed, for the first time or once more.
fn failed_together(records: &[Record]) -> Vec<(Vec<Instant>, Vec<JobId>)> {
    let (mut last, mut failed) = (HashMap::new(), BTreeMap::<_, BTreeMap<Instant, Vec<JobId>>>::new());
    for record in records {
        match record {
            Record::Operation(of) if of.action == Action::Program => drop(last.insert(of.chip, of.lpn)),
            Record::Failed(of) if of.page != NONE => {
                failed.entry((of.cluster, last[&of.chip])).or_default().entry(of.at).or_default().push(of.job);
            }
            _ => {}
        }
    }
    let of_page = failed.values().flat_map(|times| {
        let different = times.iter().filter(|(_, jobs)| jobs.iter().any(|job| *job != jobs[0]));
        different.map(|(&at, jobs)| (times.range(at..).map(|(&at, _)| at).collect(), jobs.clone()))
    });
    of_page.collect()
}

/// When a page failed last that was programmed once more, and where.
fn last_repeated(records: &[Record]) -> Option<(Instant, ClusterId)> {
    let (mut last, mut failed, mut repeated) = (HashMap::new(), HashSet::new(), None);
    for record in records {
        match record {
            Record::Operation(of) if of.action == Action::Program => {
                if failed.contains(&(of.start, of.job, of.lpn)) {
                    repeated = Some((of.start, of.cluster));
                }
                last.insert(of.chip, of.lpn);
            }
            Record::Failed(of) if of.page != NONE => _ = failed.insert((of.at, of.job, last[&of.chip])),
            _ => {}
        }
    }
    repeated
}

/// A page that another one of its step has overwritten is not over before that one, where both have
/// failed.
#[test]
fn what_failed_with_what_overwrote_it_is_over_with_it() {
    let (mut broken, mut judged, mut altered, mut missed) = (Broken::default(), 0, [0; 3], 0);
    for case in 0..cases(15_000) {
        let Some(world) = World::draw_overwriting(6, case) else { continue };
        let all: Vec<ClusterId> = world.plan.clusters().ids().collect();
        let judge = |records: &[Record]| {
            let mut checks = Checks::of_trace(&world.plan, world.options.dispatch, &all);
            records.iter().for_each(|record| checks.record(record));
            checks.finish(world.options.duration)
        };
        let is_found =
            |found: &[Finding]| found.iter().any(|of| of.assumption.name() == "conservation" && !of.gauge.holds());
        let records = engine(&world);
        let findings = judge(&records);
        broken.note_in(&world, case, &findings, &ALWAYS_HOLD);
        broken.note_in(&world, case, &findings, &CERTIFIED);
        judged += 1;
        if let Some((at, cluster)) = last_repeated(&records) {
            // Nothing is done any more.
            let later = |record: &&Record| match record {
                Record::Operation(of) => of.start >= at && of.cluster == cluster,
                Record::Starved(of) => of.cluster == cluster,
                _ => false,
            };
            let starves = records.iter().any(|record| matches!(record, Record::Starved(of) if of.cluster == cluster));
            let fewer: Vec<Record> = records.iter().filter(|record| !later(record)).copied().collect();
            let found = judge(&fewer);
            let of = found.iter().find(|of| of.assumption.name() == "failures").expect("it is looked at");
            altered[2] += usize::from(!starves);
            missed += usize::from(!starves && of.gauge.holds());
        }
        for (times, jobs) in failed_together(&records) {
            // Its page is said to be another job's.
            let mut others = records.clone();
            for record in &mut others {
                if let Record::Failed(of) = record
                    && (of.at, of.job) == (times[0], jobs[0])
                    && let Some(&other) = jobs.iter().find(|&&job| job != of.job)
                {
                    of.job = other;
                }
            }
            assert!(is_found(&judge(&others)), "case {case}: {jobs:?} at {:?}", times[0]);
            for (again, at, job) in
                (0..).zip(&times).flat_map(|(again, at)| jobs.iter().map(move |job| (again, *at, *job)))
            {
                // It is said to be over when its step is, or one that programs once more and fails.
                let mut sooner = records.clone();
                let of = sooner.iter_mut().find_map(|record| match record {
                    Record::Complete(of) if of.job == job => Some(of),
                    _ => None,
                });
                let Some(of) = of.filter(|of| of.at > at) else { continue };
                of.at = at;
                sooner.sort_by_key(Record::order);
                assert!(is_found(&judge(&sooner)), "case {case}: {job:?} at {at:?}");
                altered[usize::from(again > 0)] += 1;
            }
        }
    }
    broken.assert_none();
    // A job may write a page again that it has overwritten: that was no repetition.
    assert!(missed * 100 < altered[2], "{missed} {altered:?}");
    assert!(judged > 500 && altered[0] > 200 && altered[1] > 20 && altered[2] > 200, "{judged} {altered:?}");
}

/// Superblocks agree too whose pages overwrite each other, and fail.
#[test]
fn failing_superblocks_agree_with_the_cycle_by_cycle_executor() {
    let (mut twice, mut records) = (0, 0);
    let twin = |world: &World| crate::naive_placed::run(&world.plan, &world.options, &world.arrivals);
    let look = |_: &World, of: &[Record]| {
        twice += failed_together(of).len();
        records += of.len();
    };
    agree(cases(2_500), |case| World::draw_overwriting(7, case), engine, twin, look);
    assert!(twice > 30 && records > 10_000, "{twice} {records}");
}

/// The checks that hold under certificates as well.
const CERTIFIED: [&str; 3] = ["bus-wait", "service", "failures"];

#[test]
fn the_result_depends_on_neither_windows_nor_threads() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let (one, four) = (pool(1), pool(4));
    let drawn = |case| [World::draw_certified(5, case), World::draw_superblocks(5, case)];
    for world in (0..400).flat_map(drawn).flatten().take(150) {
        let untraced = || {
            let told = run(&world.plan, &world.options, &mut NoServers, |_| Vec::new());
            let mut records: Vec<Record> = told.expect("small worlds reach no limit").concat();
            records.sort_by_key(Record::order);
            records
        };
        let traced = one.install(|| engine(&world));
        assert_eq!(traced, four.install(|| engine(&world)));
        assert_eq!(traced[1..], four.install(untraced)[..], "all but how it was made");
    }
}
