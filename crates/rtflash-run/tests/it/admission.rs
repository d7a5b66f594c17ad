//! Tasks that are added and removed while a device runs: what `admit` says, executed.

use std::sync::Arc;

use rtflash_alloc::admission::{
    AddedHow, AdmissionRefusal, Admitted, CollectionStage, Decision, RunningDevice, admit, removable_within,
};
use rtflash_alloc::allocator::{Allocator, BestFit, EqualSplit, Global};
use rtflash_analysis::{Analysis, DemandTest, Work, analysis_relying_on};
use rtflash_judge::{Checks, Finding, merge};
use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Allocation, Collection, Device, DeviceSpec, Instant, LogicalRatio, Reliance, Request, Span, Task, TaskId,
    TaskSet,
};
use rtflash_plan::{
    Aging, NoServers, Options, Pattern, Phases, Placed, Plan, PlanError, ReleasePattern, Times, Victims,
};
use rtflash_run::{History, PlanRefusal};
use rtflash_sim::{RunError, run, run_traced};
use rtflash_trace::{Observer, Record, TermsChange};

use crate::drawn::{busier, ns, times};

/// The kind of certificates that a history runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    /// Stripes and superblocks.
    Plain,
    /// Stripes and superblocks on devices with blocks that fail, and erases that are suspended.
    Odd,
    /// Tasks that own zones.
    Zones,
}

fn device(rng: &mut Stream, on: On) -> Option<Device> {
    let plain = plain_device(rng)?;
    let spec = plain.spec();
    let odd = match on {
        On::Plain => return Some(plain),
        On::Zones => DeviceSpec { wear_gap: None, wear_passes: None, ..spec },
        On::Odd => {
            let spare_blocks = rng.small(0, 2);
            let suspends = rng.within(0, 1) == 0;
            let time = |rng: &mut Stream| suspends.then(|| ns(rng.within(1, 10)));
            DeviceSpec {
                spare_blocks: (spare_blocks > 0).then_some(spare_blocks),
                program_failures: (spare_blocks > 0 && rng.within(0, 1) == 0).then_some(1),
                erase_suspend: time(rng),
                erase_resume: time(rng),
                block_erase: if suspends { ns(rng.within(60, 400)) } else { spec.block_erase },
                ..spec
            }
        }
    };
    Device::new(odd).ok()
}

fn plain_device(rng: &mut Stream) -> Option<Device> {
    let [page_read, page_program, block_erase, page_transfer] = [20, 40, 60, 12].map(|most| ns(rng.within(1, most)));
    let command = (rng.within(0, 5) == 0).then(|| ns(rng.within(1, 4)));
    // Some level wear as soon as blocks differ, and leave a half of the GC jobs for that.
    let levels = page_program.as_ns().is_multiple_of(4);
    Device::new(DeviceSpec {
        chips: rng.small(1, 6),
        chips_per_channel: rng.small(1, 4),
        blocks_per_chip: rng.small(8, 40),
        pages_per_block: rng.small(1, 8),
        page_size: 512,
        command,
        page_registers: (rng.within(0, 3) == 0).then_some(2),
        wear_gap: levels.then_some(1),
        wear_passes: levels.then_some(2),
        logical_ratio: LogicalRatio::from_decimal(rng.within(10, 75).into(), 2).ok()?,
        page_read,
        page_program,
        block_erase,
        page_transfer,
        ..DeviceSpec::default()
    })
    .ok()
}

fn task(rng: &mut Stream, number: u64, on: On) -> Task {
    let task = any_task(rng, number);
    match on {
        On::Plain | On::Odd => task,
        On::Zones => Task { write: task.write.map(|write| write.with_access(Access::Stream)), ..task },
    }
}

fn any_task(rng: &mut Stream, number: u64) -> Task {
    let request = |rng: &mut Stream| {
        let period = rng.within(200, 4_000);
        let request = Request::new(rng.within(1, 5), ns(period))?;
        let request = request.with_access(rng.one_of(&[Access::Random, Access::Sequential, Access::Stream]));
        if rng.within(0, 3) > 0 {
            return Some(request);
        }
        let longest = period * rng.one_of(&[1, 1, 3]);
        let deadline = rng.within(period / 2, longest);
        request.with_deadline(Some(ns(deadline)))?.with_jitter(ns(rng.within(0, deadline / 4)))
    };
    let kinds = rng.within(0, 3);
    let read = (kinds != 0).then(|| request(rng)).flatten();
    let write = (kinds != 1 || read.is_none()).then(|| request(rng)).flatten();
    Task { name: format!("t{number}"), read, write, data_pages: None }
}

/// The events in the histories that were run.
#[derive(Debug, Default)]
struct Seen {
    histories: usize,
    kept: usize,
    direct: usize,
    raised: usize,
    new_clusters: usize,
    refused: usize,
    removed: usize,
    /// Histories with a broken check, or a late end.
    broken: usize,
}

/// An action that differs from those that the theorems demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tampering {
    /// Nothing.
    None,
    /// The last terms hold at once, whatever is free.
    NoReserve,
    /// No extra passes.
    NoExtra,
    /// All extra passes at once, and the task as if they had taken no time.
    PassesAtOnce,
    /// The first request comes at once.
    NoWait,
    /// A task that is refused is added all the same, where the certificate is kept.
    Refused,
}

impl Tampering {
    /// The change that a faulty history records instead of what was admitted; `None` if it is no
    /// fault here.
    fn of(self, mut admitted: Admitted) -> Option<Admitted> {
        let AddedHow::Staged(stages) = &mut admitted.change else { return None };
        match self {
            Tampering::None | Tampering::Refused => return None,
            Tampering::NoReserve => {
                let last = stages.pop()?;
                let collection = Collection { reserve_pages: 0, ..last.collection };
                *stages = vec![CollectionStage { collection, ..last }];
            }
            Tampering::NoExtra => stages.first_mut()?.extra.as_mut()?.passes = 0,
            Tampering::PassesAtOnce => {
                let extra = stages.first_mut()?.extra.as_mut()?;
                extra.spacing = Span::NANOSECOND;
            }
            Tampering::NoWait => admitted.ready_within = Span::ZERO,
        }
        Some(admitted)
    }
}

/// A history: what began, every task that ever runs, and what became of them.
struct Drawn {
    set: TaskSet,
    history: History,
    duration: Instant,
}

fn analysis_of(rng: &mut Stream, on: On) -> &'static dyn Analysis {
    let name = match on {
        On::Plain | On::Odd => rng.one_of(&["stripe", "superblock", "sound"]),
        On::Zones => "zoned",
    };
    let granted = rng.one_of(&[Reliance::Nothing, Reliance::Neighbours, Reliance::Queue]);
    analysis_relying_on(name, granted).expect("an analysis")
}

fn certified(set: &TaskSet, analysis: &dyn Analysis, rng: &mut Stream) -> Option<RunningDevice> {
    let allocator: &dyn Allocator = match rng.within(0, 3) {
        0 => &EqualSplit,
        1 => &Global,
        _ => &BestFit,
    };
    let outcome = allocator.allocate(set, analysis);
    let found: &Allocation = outcome.allocation()?;
    let test = analysis.demand_test()?.on(set.device());
    let (found, certification) = test.certified(set, found, &Work::new());
    if certification.failing.is_empty() { RunningDevice::new(set, &found) } else { None }
}

/// Draws a history, and counts what it has.
fn draw((seed, case): (u64, u64), on: On, tampering: Tampering, seen: &mut Seen) -> Option<Drawn> {
    let mut rng = Stream::numbered(seed, b"history\0", case);
    let device = device(&mut rng, on)?;
    let mut tasks: Vec<Task> = (0..rng.within(1, 3)).map(|number| task(&mut rng, number, on)).collect();
    let first = tasks.len();
    tasks.extend((0..rng.within(1, 6)).map(|number| task(&mut rng, 10 + number, on)));
    let analysis = analysis_of(&mut rng, on);
    let test: DemandTest = analysis.demand_test()?.on(&device);
    let mut running = None;
    for _ in 0..rng.one_of(&[1, 4, 12]) {
        let begun = TaskSet::new(device, tasks[..first].to_vec(), Vec::new()).ok()?;
        let Some(holds) = certified(&begun, analysis, &mut rng) else { break };
        running = Some((holds, tasks[..first].to_vec()));
        tasks[..first].iter_mut().for_each(|task| *task = busier(task));
    }
    let (mut running, begun) = running?;
    tasks[..first].clone_from_slice(&begun);
    let mut set = TaskSet::new(device, tasks.clone(), Vec::new()).ok()?;
    let mut history = History::new(&running);
    let work = Work::new();
    let mut now = Instant::START.saturating_add(ns(rng.within(1, 3_000)));
    let mut next = u32::try_from(first).expect("few");
    let (mut changed, mut over) = (false, false);
    while !over && (next as usize) < tasks.len() {
        let runs: Vec<TaskId> = running.clusters.iter().flat_map(|cluster| cluster.tasks.clone()).collect();
        if runs.len() > 1 && rng.within(0, 2) == 0 {
            let task = rng.one_of(&runs);
            if let Some(within) = removable_within(&set, &running, task, test.rely_on, &work) {
                history.remove(now, task);
                for cluster in &mut running.clusters {
                    cluster.tasks.retain(|&other| other != task);
                }
                now = now.saturating_add(within);
                seen.removed += 1;
            }
        }
        let new = TaskId(next);
        next += 1;
        for _ in 0..rng.one_of(&[0, 6, 16]) {
            let mut other = tasks.clone();
            other[new.index()] = busier(&other[new.index()]);
            let busier = TaskSet::new(device, other.clone(), Vec::new()).ok()?;
            if matches!(admit(test, &busier, &running, new, &work), Decision::Refused(_)) {
                break;
            }
            (tasks, set) = (other, busier);
        }
        match admit(test, &set, &running, new, &work) {
            Decision::Admitted(admitted) => {
                match &admitted.change {
                    AddedHow::Kept => seen.kept += 1,
                    AddedHow::Staged(stages) if stages.len() == 1 => seen.direct += 1,
                    AddedHow::Staged(_) => seen.raised += 1,
                    AddedHow::NewCluster => seen.new_clusters += 1,
                }
                let tampered = tampering.of((*admitted).clone());
                over = tampered.is_some();
                now = history.admit(now, new, tampered.as_ref().unwrap_or(&admitted));
                running = admitted.running;
                changed |= tampering == Tampering::None || over;
            }
            Decision::Refused(clusters) if tampering == Tampering::Refused => {
                let late = clusters.iter().find(|(_, refusal)| *refusal == AdmissionRefusal::Late);
                if let Some(&(cluster, _)) = late {
                    let (change, ready_within) = (AddedHow::Kept, Span::ZERO);
                    now =
                        history.admit(now, new, &Admitted { cluster, change, ready_within, running: running.clone() });
                    (changed, over) = (true, true);
                }
            }
            Decision::Refused(_) => seen.refused += 1,
        }
        now = now.saturating_add(ns(rng.within(0, 3_000)));
    }
    let duration = now.saturating_add(ns(rng.within(2_000, 8_000)));
    // A task that was refused is in no cluster.
    let mut served: Vec<TaskId> = runs_of(&history, &set);
    served.sort_unstable();
    if served.len() < tasks.len() {
        let (set, history) = without_others(&set, history, &served)?;
        return changed.then_some(Drawn { set, history, duration });
    }
    changed.then_some(Drawn { set, history, duration })
}

fn runs_of(history: &History, set: &TaskSet) -> Vec<TaskId> {
    set.tasks().enumerate().map(|(id, _)| id).filter(|&id| history.serves(id)).collect()
}

/// The set of the tasks that ever run, and the history with their numbers there.
fn without_others(set: &TaskSet, history: History, served: &[TaskId]) -> Option<(TaskSet, History)> {
    let tasks = served.iter().map(|&id| set.tasks()[id].clone()).collect();
    let set = TaskSet::new(*set.device(), tasks, Vec::new()).ok()?;
    let renamed = |id: TaskId| served.binary_search(&id).ok().and_then(|at| u32::try_from(at).ok()).map(TaskId);
    Some((set, history.renamed(renamed)))
}

fn options(rng: &mut Stream, drawn: &Drawn) -> Options {
    let most = rng.one_of(&[0, 0, 8, 600]);
    let tight = rng.within(0, 1) == 0;
    let mut gaps = Stream::numbered(rng.within(0, u64::MAX - 1), b"gaps\0\0\0\0", 0);
    let mut offsets = Stream::numbered(rng.within(0, u64::MAX - 1), b"offsets\0", 0);
    let releases: ReleasePattern = drawn.history.releases(
        &drawn.set,
        drawn.duration,
        |_, _| if tight { Span::ZERO } else { ns(offsets.within(0, 400)) },
        |_, _| ns(gaps.within(0, most)),
    );
    Options {
        duration: drawn.duration,
        victims: rng.one_of(&[Victims::Actual, Victims::Worst]),
        aging: rng.one_of(&[Aging::Worst, Aging::Worst, Aging::Worst, Aging::Random]),
        pattern: rng.one_of(&[Pattern::Uniform, Pattern::HotCold, Pattern::OneChip, Pattern::Fullest]),
        times: Times::Worst,
        phases: Phases::Periodic,
        seed: rng.within(0, u64::MAX - 1),
        placed: Placed { backfill: rng.within(0, 1) == 0, faults: faults(rng, &drawn.set), ..Placed::default() },
        releases: Some(Arc::new(releases)),
        ..Options::default()
    }
}

/// A number of programs, copies and erases that fail out of a thousand; 0 if no blocks can fail.
fn faults(rng: &mut Stream, set: &TaskSet) -> u16 {
    match set.device().spare_blocks() {
        0 => 0,
        _ => rng.one_of(&[0, 50, 1_000]),
    }
}

fn judged(plan: &Plan, options: &Options) -> Vec<Finding> {
    let checks = |group: &[rtflash_model::ClusterId]| Checks::new(plan, options.dispatch, group);
    let checks = run(plan, options, &mut NoServers, checks).expect("no limit is reached");
    merge(checks.into_iter().map(|checks| checks.finish(options.duration)))
}

/// Runs histories, each some times, until a check breaks, and says what was seen.
fn run_histories(seed: u64, cases: std::ops::Range<u64>, on: On, tampering: Tampering) -> Seen {
    let mut seen = Seen::default();
    for case in cases {
        let Some(drawn) = draw((seed, case), on, tampering, &mut seen) else { continue };
        let plan = match drawn.history.plan(&drawn.set) {
            // All that ever ran has no page each, though what ran at one time had.
            Err(PlanRefusal::Plan(PlanError::NoRoom { .. })) => continue,
            plan => plan.expect("what was admitted can be run"),
        };
        let mut is_broken = false;
        let mut rng = Stream::numbered(seed, b"runs\0\0\0\0", case);
        for _ in 0..2 {
            let options = options(&mut rng, &drawn);
            let findings = judged(&plan, &options);
            let broken: Vec<&Finding> = findings.iter().filter(|finding| !finding.gauge.holds()).collect();
            is_broken |= !broken.is_empty();
            if tampering == Tampering::None {
                assert!(broken.is_empty(), "seed {seed}, case {case}: {broken:?}\n{options:?}\n{plan:?}");
            }
        }
        seen.histories += 1;
        seen.broken += usize::from(is_broken);
        if is_broken {
            break;
        }
    }
    seen
}

#[test]
fn what_is_admitted_is_in_time() {
    let cases = 1_000 * times();
    let halves = [0..cases, cases..2 * cases];
    let halves = halves.map(|cases| std::thread::spawn(move || run_histories(1, cases, On::Plain, Tampering::None)));
    for half in halves {
        let seen = half.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        println!("{seen:?}");
        assert!(seen.histories > 330 && seen.kept > 200 && seen.direct > 60, "{seen:?}");
        assert!(seen.raised > 12 && seen.removed > 60 && seen.new_clusters > 200, "{seen:?}");
    }
}

#[test]
fn what_is_admitted_on_odd_devices_is_in_time() {
    let seen = run_histories(5, 0..1_500 * times(), On::Odd, Tampering::None);
    println!("{seen:?}");
    assert!(seen.histories > 400 && seen.kept > 200 && seen.direct + seen.raised > 50, "{seen:?}");
    assert!(seen.removed > 100 && seen.new_clusters > 200, "{seen:?}");
}

/// Nothing is collected in zones, so that no terms change there.
#[test]
fn what_is_admitted_to_zones_is_in_time() {
    let seen = run_histories(7, 0..1_500 * times(), On::Zones, Tampering::None);
    println!("{seen:?}");
    assert!(seen.histories > 400 && seen.kept > 300 && seen.new_clusters > 100 && seen.removed > 100, "{seen:?}");
    assert_eq!(seen.direct + seen.raised, 0, "{seen:?}");
    let refused = run_histories(7, 0..20_000, On::Zones, Tampering::Refused);
    println!("{refused:?}");
    assert!(refused.broken > 0, "{refused:?}");
}

/// Each part of the rules is there for something.
#[test]
fn without_a_rule_some_histories_break() {
    let all =
        [Tampering::NoReserve, Tampering::NoExtra, Tampering::PassesAtOnce, Tampering::NoWait, Tampering::Refused];
    for tampering in all {
        let seen = run_histories(2, 0..20_000, On::Plain, tampering);
        println!("{tampering:?} {} of {}", seen.broken, seen.histories);
        assert!(seen.broken > 0, "{tampering:?}: {seen:?}");
    }
}

/// One chip, on which t0 writes a page every 4 µs; t1, which writes ten every 8 µs, is to be added.
fn one_chip() -> (TaskSet, RunningDevice, DemandTest) {
    let spec = DeviceSpec {
        chips: 1,
        chips_per_channel: 1,
        blocks_per_chip: 64,
        pages_per_block: 4,
        page_size: 512,
        logical_ratio: LogicalRatio::from_decimal(50, 2).expect("a half"),
        page_read: ns(10),
        page_program: ns(20),
        block_erase: ns(40),
        page_transfer: ns(5),
        ..DeviceSpec::default()
    };
    let device = Device::new(spec).expect("a device");
    let writer = |name: &str, pages, period| Task {
        name: name.into(),
        read: None,
        write: Request::new(pages, ns(period)),
        data_pages: None,
    };
    let tasks = vec![writer("t0", 1, 4_000), writer("t1", 10, 8_000)];
    let set = TaskSet::new(device, tasks.clone(), Vec::new()).expect("two tasks");
    let begun = TaskSet::new(device, tasks[..1].to_vec(), Vec::new()).expect("a task");
    let analysis = analysis_relying_on("stripe", Reliance::Nothing).expect("an analysis");
    let outcome = BestFit.allocate(&begun, analysis);
    let found = outcome.allocation().expect("one writer is in time");
    let mut running = RunningDevice::new(&begun, found).expect("certificates");
    // With the shortest deadline of collection it keeps no more pages than it has to.
    let collection =
        Collection { deadline: Some(ns(4_000)), reclaimed_pages: 2, reserve_pages: 4, victim_pages: 2, open_blocks: 2 };
    running.certificates[0].collection = Some(collection);
    (set, running, analysis.demand_test().expect("a demand test"))
}

/// The free pages with which the first writer's certificate is content are too few for ten pages at
/// once. They are there after some passes, and not before.
#[test]
fn a_writer_waits_for_its_reserve() {
    let (set, running, test) = one_chip();
    let (new, at, work) = (TaskId(1), Instant::from_ns(3_000).expect("early"), Work::new());
    let admission = admit(test, &set, &running, new, &work);
    let Decision::Admitted(admitted) = &admission else { panic!("{admission:?} {running:?}") };
    let AddedHow::Staged(stages) = &admitted.change else { panic!("{admitted:?}") };
    assert_eq!(stages.len(), 2, "{admitted:?}");
    let ends = |admitted: &Admitted| {
        let mut history = History::new(&running);
        let from = history.admit(at, new, admitted);
        let options = Options {
            duration: from.saturating_add(ns(30_000)),
            pattern: Pattern::Fullest,
            releases: Some(Arc::new(history.releases(&set, Instant::END, |_, _| Span::ZERO, |_, _| Span::LONGEST))),
            ..Options::default()
        };
        let findings = judged(&history.plan(&set).expect("a plan"), &options);
        findings.iter().filter(|finding| !finding.gauge.holds()).map(|finding| finding.assumption.name()).collect()
    };
    let none: Vec<&str> = Vec::new();
    assert_eq!(ends(admitted), none);
    let at_once = Tampering::NoReserve.of(Admitted::clone(admitted)).expect("a change");
    let broken: Vec<&str> = ends(&Admitted { ready_within: ns(1), ..at_once });
    assert!(broken.contains(&"reserve"), "{broken:?}");
}

/// A page that is read takes 15 ns, and an erase 40: behind one that has just begun it takes 54.
/// With a period of 55 a reader is admitted, and never late. With one of 53 it is refused; where it
/// comes all the same, it is late behind an erase.
#[test]
fn what_is_refused_is_late() {
    let (set, running, test) = one_chip();
    let added = |period: u64| {
        let scan = Task { name: "t1".into(), read: Request::new(1, ns(period)), write: None, data_pages: None };
        let tasks = vec![set.tasks()[TaskId(0)].clone(), scan];
        let set = TaskSet::new(*set.device(), tasks, Vec::new()).expect("two tasks");
        let decision = admit(test, &set, &running, TaskId(1), &Work::new());
        (set, decision)
    };
    let late = |set: &TaskSet, admitted: &Admitted, phase: u64| {
        let mut history = History::new(&running);
        let from = history.admit(Instant::from_ns(100).expect("early"), TaskId(1), admitted);
        let duration = from.saturating_add(ns(60_000));
        let offset = |id: TaskId, _| if id == TaskId(1) { ns(phase) } else { Span::ZERO };
        let options = Options {
            duration,
            releases: Some(Arc::new(history.releases(set, duration, offset, |_, _| Span::ZERO))),
            ..Options::default()
        };
        let findings = judged(&history.plan(set).expect("a plan"), &options);
        findings.iter().any(|finding| finding.assumption.name() == "deadlines" && !finding.gauge.holds())
    };
    let (set, decision) = added(55);
    let Decision::Admitted(admitted) = decision else { panic!("{decision:?}") };
    assert_eq!((0..55).filter(|&phase| late(&set, &admitted, phase)).count(), 0);
    let (set, decision) = added(53);
    let Decision::Refused(clusters) = decision else { panic!("{decision:?}") };
    assert!(clusters.iter().any(|(_, refusal)| *refusal == AdmissionRefusal::Late), "{clusters:?}");
    assert!((0..53).any(|phase| late(&set, &admitted, phase)));
}

/// The records of a run in which terms change, and extra jobs are released.
fn recorded() -> (Plan, Options, Vec<Record>) {
    let (set, running, test) = one_chip();
    let (new, at) = (TaskId(1), Instant::from_ns(3_000).expect("early"));
    let admission = admit(test, &set, &running, new, &Work::new());
    let Decision::Admitted(admitted) = admission else { panic!("{admission:?}") };
    let mut history = History::new(&running);
    let from = history.admit(at, new, &admitted);
    let options = Options {
        duration: from.saturating_add(ns(30_000)),
        releases: Some(Arc::new(history.releases(&set, Instant::END, |_, _| Span::ZERO, |_, _| Span::LONGEST))),
        ..Options::default()
    };
    let plan = history.plan(&set).expect("a plan");
    let mut records = Vec::new();
    let sink = |record: &Record| {
        records.push(*record);
        Ok(())
    };
    run_traced::<Vec<Record>, RunError>(&plan, &options, &mut NoServers, |_| Vec::new(), sink).expect("it runs");
    (plan, options, records)
}

/// The checks that the judge of a trace finds broken.
fn broken(plan: &Plan, options: &Options, records: &[Record]) -> Vec<&'static str> {
    let all: Vec<_> = plan.clusters().ids().collect();
    let mut checks = Checks::of_trace(plan, options.dispatch, &all);
    records.iter().for_each(|record| checks.record(record));
    let findings = checks.finish(options.duration);
    findings.iter().filter(|finding| !finding.gauge.holds()).map(|finding| finding.assumption.name()).collect()
}

/// A record that does not say what the processor did is seen, and so is one that is missing.
#[test]
fn altered_changes_are_seen() {
    let (plan, options, records) = recorded();
    assert_eq!(broken(&plan, &options, &records), Vec::<&str>::new());
    let changes: Vec<usize> = (0..records.len()).filter(|&at| matches!(records[at], Record::Changed(_))).collect();
    assert!(changes.len() > 3, "{}", changes.len());
    let alterations: [fn(&mut TermsChange); 9] = [
        |change| change.arrived += 1,
        |change| change.stage += 1,
        |change| change.stage = 0,
        |change| change.extra += 1,
        |change| change.at = change.at.saturating_add(Span::NANOSECOND),
        // Numbers that leave no room for what is counted behind them.
        |change| change.arrived = u64::MAX,
        |change| change.free = u64::MAX,
        |change| change.stage = u32::MAX,
        |change| change.extra = u32::MAX,
    ];
    for &at in &changes {
        let mut without = records.clone();
        let Record::Changed(change) = without.remove(at) else { panic!("a change") };
        assert!(!broken(&plan, &options, &without).is_empty(), "left out: {change:?}");
        for (number, alter) in alterations.iter().enumerate() {
            let mut altered = change;
            alter(&mut altered);
            let mut records = records.clone();
            records[at] = Record::Changed(altered);
            records.sort_by_key(Record::order);
            // When the last of the terms are taken up an instant later, nothing is said of it.
            let is_later = number == 4 && change.extra == 0;
            // With an extra job free pages are not counted, and nothing is said of them.
            let is_unsaid = number == 6 && change.extra > 0;
            assert!(
                is_later || is_unsaid || !broken(&plan, &options, &records).is_empty(),
                "{change:?} as {altered:?}"
            );
        }
    }
}
