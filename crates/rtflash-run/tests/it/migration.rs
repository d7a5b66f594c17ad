//! Data that move while a device runs: what `migrate` says, executed.

use std::collections::BTreeMap;
use std::sync::Arc;

use rtflash_alloc::admission::RunningDevice;
use rtflash_alloc::allocator::{Allocator, BestFit, EqualSplit, Global};
use rtflash_alloc::migration::{Migration, MigrationOptions, MigrationRefusal, MovedBy, Stage, StageRefusal, migrate};
use rtflash_analysis::{Analysis, DemandTest, Work, analysis_relying_on};
use rtflash_judge::{Checks, Finding, merge};
use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Allocation, Arrivals, Certificate, ChipId, Cluster, ClusterId, Device, DeviceSpec, Instant, Job,
    LogicalRatio, Reliance, Request, Span, Task, TaskId, TaskSet,
};
use rtflash_plan::{Aging, NoServers, Options, Pattern, Placed, Plan, Promise, SourceId, Victims};
use rtflash_run::{MovedRun, StageRun};
use rtflash_sim::{RunError, run, run_traced};
use rtflash_trace::{Action, Kind, Record};
use rtflash_verify::verify_certified;

use crate::drawn::{busier, ns, times};

fn device(rng: &mut Stream) -> Option<Device> {
    let [page_read, page_program, block_erase, page_transfer] = [20, 40, 60, 12].map(|most| ns(rng.within(1, most)));
    let command = (rng.within(0, 7) == 0).then(|| ns(rng.within(1, 4)));
    Device::new(DeviceSpec {
        chips: rng.small(3, 9),
        chips_per_channel: rng.small(1, 4),
        blocks_per_chip: rng.small(12, 40),
        pages_per_block: rng.small(3, 8),
        page_size: 512,
        command,
        page_registers: (rng.within(0, 3) == 0).then_some(2),
        logical_ratio: LogicalRatio::from_decimal(rng.within(15, 75).into(), 2).ok()?,
        page_read,
        page_program,
        block_erase,
        page_transfer,
        ..DeviceSpec::default()
    })
    .ok()
}

fn task(rng: &mut Stream, number: u64) -> Task {
    let request = |rng: &mut Stream| {
        let longest = rng.one_of(&[6_000, 6_000, 6_000, 60_000]);
        let period = rng.within(300, longest);
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
    // Whole rows of clusters of up to six chips, mostly.
    let data_pages = match rng.within(0, 5) {
        0 => None,
        1 => Some(rng.within(10, 130)),
        _ => Some(60),
    };
    Task { name: format!("t{number}"), read, write, data_pages }
}

/// Jobs for servers, or none.
fn jobs(rng: &mut Stream) -> Vec<Job> {
    let gap = ns(rng.within(5_000, 60_000));
    let arrivals = rng.one_of(&[0, 1]);
    let arrivals = if arrivals == 0 { Arrivals::Every(gap) } else { Arrivals::Uniform(ns(1), gap) };
    let job = Job { name: "j".into(), read_pages: rng.within(0, 2), write_pages: rng.within(1, 2), arrivals };
    (0..rng.within(0, 1)).map(|_| job.clone()).collect()
}

/// The analysis that an allocation is made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    /// Stripes and superblocks.
    Plain,
    /// Zones, before or behind or both.
    Zones,
}

/// The task as one that can own zones.
fn in_zones(task: Task) -> Task {
    let stream = |request: Request| request.with_access(Access::Stream);
    Task { write: task.write.map(stream), ..task }
}

fn analysis_of(rng: &mut Stream, on: On) -> &'static dyn Analysis {
    let name = match on {
        On::Plain => rng.one_of(&["stripe", "superblock", "sound"]),
        On::Zones => rng.one_of(&["zoned", "zoned", "zoned", "stripe"]),
    };
    let granted = rng.one_of(&[Reliance::Nothing, Reliance::Neighbours, Reliance::Queue]);
    analysis_relying_on(name, granted).expect("an analysis")
}

/// The clusters that an allocator finds on some of the chips, turned by `turn` chips round the
/// device.
fn certified(
    set: &TaskSet,
    analysis: &'static dyn Analysis,
    rng: &mut Stream,
    (turn, several): (u32, bool),
) -> Option<RunningDevice> {
    let device = set.device();
    let part = DeviceSpec { chips: rng.small(1, device.chips().div_ceil(2) + 1), ..device.spec() };
    let part = set.on(Device::new(part).ok()?).ok()?;
    let allocator: &dyn Allocator = match rng.within(0, 3) {
        _ if several => &EqualSplit,
        0 => &EqualSplit,
        1 => &Global,
        _ => &BestFit,
    };
    let outcome = allocator.allocate(&part, analysis);
    let found: &Allocation = outcome.allocation()?;
    let chips = device.chips();
    let turned = |cluster: Cluster| {
        let mut of: Vec<ChipId> = cluster.chips.iter().map(|chip| ChipId((chip.0 + turn) % chips)).collect();
        of.sort_unstable();
        Cluster { chips: of, tasks: cluster.tasks }
    };
    let clusters: Vec<Cluster> = found.clusters().into_iter().map(turned).collect();
    with_certificates(set, analysis, &clusters)
}

fn with_certificates(set: &TaskSet, analysis: &'static dyn Analysis, clusters: &[Cluster]) -> Option<RunningDevice> {
    let allocation = Allocation::new(set.device().chips(), set.tasks().len(), clusters).ok()?;
    let test: DemandTest = analysis.demand_test()?.on(set.device());
    let (allocation, certification) = test.certified(set, &allocation, &Work::new());
    if certification.failing.is_empty() { RunningDevice::new(set, &allocation) } else { None }
}

/// These clusters with one task served by another of them.
fn one_moved(
    set: &TaskSet,
    analysis: &'static dyn Analysis,
    old: &RunningDevice,
    rng: &mut Stream,
) -> Option<RunningDevice> {
    let mut clusters = old.clusters.clone();
    let all = clusters.len() as u64;
    if all < 2 {
        return None;
    }
    let from = usize::try_from(rng.within(0, all - 1)).expect("a place");
    let to = (from + usize::try_from(rng.within(1, all - 1)).expect("a place")) % clusters.len();
    let task = rng.one_of(&clusters[from].tasks);
    clusters[from].tasks.retain(|&other| other != task);
    let place = clusters[to].tasks.partition_point(|&other| other < task);
    clusters[to].tasks.insert(place, task);
    clusters.retain(|cluster| !cluster.tasks.is_empty());
    with_certificates(set, analysis, &clusters)
}

/// An action that differs from those that the theorems demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tampering {
    None,
    /// Pages are copied while requests that wrote to the old place alone are not over.
    CopiesAtOnce,
    /// Four times as many pages a period.
    Hurried,
    /// Requests go to the new place when half of the pages are there.
    SwitchedEarly,
    /// The mirror's writes begin when some pages have been copied.
    LateMirror,
}

#[derive(Debug, Default)]
struct Seen {
    migrations: usize,
    refused: usize,
    /// The cases in which a job stream would have had no server in the end.
    unserved: usize,
    /// The cases in which servers were left out first.
    left_out: usize,
    /// The cases in which servers went on.
    serving: usize,
    fresh: usize,
    joined: usize,
    staged: usize,
    erased: usize,
    moves: usize,
    /// By their own writes.
    rounds: usize,
    /// Stages to zones, and tasks that leave zones.
    to_zones: usize,
    from_zones: usize,
    states: usize,
    runs: usize,
    compared: usize,
    pages: u64,
    broken: usize,
    stale: usize,
}

struct Drawn {
    set: TaskSet,
    old: RunningDevice,
    migration: Migration,
    granted: Reliance,
}

fn draw((seed, case): (u64, u64), on: On, seen: &mut Seen) -> Option<Drawn> {
    let mut rng = Stream::numbered(seed, b"migrate\0", case);
    let device = device(&mut rng)?;
    let mut tasks: Vec<Task> = (0..rng.within(1, 4)).map(|number| task(&mut rng, number)).collect();
    let (analysis, other) = (analysis_of(&mut rng, on), rng.within(0, 2) == 0);
    let granted = analysis.demand_test()?.rely_on;
    let aim = match on {
        On::Plain if other => analysis_relying_on("sound", granted)?,
        On::Plain => analysis,
        On::Zones if other && analysis.name() == "zoned" => analysis_relying_on("sound", granted)?,
        On::Zones => analysis_relying_on("zoned", granted)?,
    };
    if on == On::Zones {
        tasks = tasks.into_iter().map(in_zones).collect();
    }
    let turn = rng.one_of(&[0, 0, 0, 1, 2, device.chips() - 1]);
    let jobs = jobs(&mut Stream::numbered(seed, b"jobs\0\0\0\0", case));
    // Zones have no server.
    let jobs = if on == On::Zones { Vec::new() } else { jobs };
    let mut found = None;
    for _ in 0..rng.one_of(&[1, 6, 20]) {
        let set = TaskSet::new(device, tasks.clone(), jobs.clone()).ok()?;
        let mut choice = Stream::numbered(seed, b"choices\0", case);
        let Some(old) = certified(&set, analysis, &mut choice, (0, turn == 0)) else { break };
        let new = if turn == 0 {
            one_moved(&set, aim, &old, &mut choice)
        } else {
            certified(&set, aim, &mut choice, (turn, false))
        };
        let Some(new) = new else { break };
        let placements = aim.demand_test()?.on(&device).placements;
        let options = MigrationOptions { placements, granted, buffer_pages: rng.one_of(&[2, 8, 64]) };
        match migrate(&set, &old, &new, options, &Work::new()) {
            Ok(migration) => {
                if !migration.stages.is_empty() {
                    found = Some(Drawn { set, old, migration, granted });
                }
            }
            Err(MigrationRefusal::NoWay(..)) => {
                seen.refused += 1;
                break;
            }
            Err(MigrationRefusal::Stream(..)) => {
                seen.unserved += 1;
                break;
            }
            Err(MigrationRefusal::NotInTime(..)) => break,
            Err(other) => panic!("{other:?}"),
        }
        tasks.iter_mut().for_each(|task| *task = busier(task));
    }
    found
}

fn options(rng: &mut Stream, drawn: &StageRun, duration: Instant) -> (Options, Plan) {
    let most = rng.one_of(&[0, 0, 8, 600]);
    let tight = rng.within(0, 1) == 0;
    let mut gaps = Stream::numbered(rng.within(0, u64::MAX - 1), b"gaps\0\0\0\0", 0);
    let mut offsets = Stream::numbered(rng.within(0, u64::MAX - 1), b"offsets\0", 0);
    let offset = |_, _| if tight { Span::ZERO } else { ns(offsets.within(0, 400)) };
    let releases = drawn.releases(duration, offset, |_, _| ns(gaps.within(0, most)));
    let plan = drawn.plan(&releases);
    let plan = plan.unwrap_or_else(|why| panic!("a stage can be run: {why:?} {:?}", drawn.history));
    let options = Options {
        duration,
        victims: rng.one_of(&[Victims::Actual, Victims::Worst]),
        aging: rng.one_of(&[Aging::Worst, Aging::Worst, Aging::Random]),
        pattern: rng.one_of(&[Pattern::Uniform, Pattern::HotCold, Pattern::Sequential, Pattern::Fullest]),
        seed: rng.within(0, u64::MAX - 1),
        placed: Placed { backfill: rng.within(0, 1) == 0, ..Placed::default() },
        releases: Some(Arc::new(releases)),
        ..Options::default()
    };
    (options, plan)
}

fn judged(plan: &Plan, options: &Options) -> Vec<Finding> {
    let checks = |group: &[ClusterId]| Checks::new(plan, options.dispatch, group);
    let checks = run(plan, options, &mut NoServers, checks).expect("no limit is reached");
    merge(checks.into_iter().map(|checks| checks.finish(options.duration)))
}

fn source(plan: &Plan, task: Option<TaskId>, kind: Kind) -> Option<SourceId> {
    let task = task?;
    let is = |source: &rtflash_plan::Source| source.task() == Some(task) && source.kind == kind;
    plan.sources().enumerate().find(|(_, source)| is(source)).map(|(number, _)| number)
}

/// The first page of a task in its cluster, and the number of its pages.
fn range(plan: &Plan, cluster: ClusterId, task: TaskId) -> (u32, u32) {
    let Promise::Certified(certified) = plan.promise() else { panic!("certificates") };
    let place = plan.clusters()[cluster].tasks.binary_search(&task).expect("it is served there");
    let range = &certified[cluster].ranges[place];
    (range.start.0, range.end.0 - range.start.0)
}

/// The write request by which each page was written last; the first ones are what was there.
type Versions = BTreeMap<u32, Option<u64>>;

/// Whether each page of a task that moves has at its new place, from the switch on, what it has at
/// its old one. `None` where the addresses of both are not alike.
fn is_coherent(
    run: &StageRun,
    of: &MovedRun,
    from: ClusterId,
    pages: u64,
    (plan, options): (&Plan, &Options),
) -> Option<bool> {
    let task = &run.set.tasks()[of.task];
    let is_drawn = |request: Request| request.access() == Access::Random && options.pattern == Pattern::Fullest;
    if task.write.is_some_and(|write| write.jitter() > Span::ZERO || is_drawn(write)) {
        return None;
    }
    let (old_start, old_length) = range(plan, from, of.task);
    let (new_start, new_length) = range(plan, run.cluster(), of.copies.map(|copies| copies[1]).or(of.mirror)?);
    if of.copies.is_some() && (old_length != new_length || u64::from(old_length) < pages) {
        return None;
    }
    let written = source(plan, Some(of.task), Kind::Write);
    let mirrored = source(plan, of.mirror, Kind::Write);
    let copied = |number: usize, kind| source(plan, of.copies.map(|copies| copies[number]), kind);
    let copied = (copied(0, Kind::Read), copied(1, Kind::Write));
    let mut records = Vec::new();
    let sink = |record: &Record| {
        records.push(*record);
        Ok(())
    };
    run_traced::<Vec<Record>, RunError>(plan, options, &mut NoServers, |_| Vec::new(), sink).expect("it runs");
    let releases = options.releases.as_ref().expect("they are stated");
    let count = |task: TaskId| releases.request(task, Kind::Write).map_or(0, |of| of.gaps.len() as u64);
    let begins = of.mirror.and_then(|mirror| run.history.begins(mirror));
    let nominal = |record: &Record| match record {
        Record::Release(release) if Some(release.job.source) == written => Some(release.at),
        _ => None,
    };
    let skipped = records.iter().filter_map(nominal).filter(|&at| begins.is_some_and(|from| at < from)).count() as u64;
    let old_count = count(of.task);
    if let (None, Some(mirror), Some(write), Some(begins)) = (of.copies, mirrored, task.write, begins) {
        // A round takes as long as is said if its requests come each period.
        let released = |record: &Record| match record {
            Record::Release(release) if release.job.source == mirror => Some(release.at),
            _ => None,
        };
        let before = records.iter().filter_map(released).filter(|&at| at < run.switched).collect::<Vec<Instant>>();
        let is_next = |pair: &[Instant]| pair[1].since(pair[0]) == write.period();
        let soon = before.first().is_some_and(|first| first.since(begins) <= write.period());
        let last = before.last().is_some_and(|last| run.switched.since(*last) <= write.period());
        if !(soon && last && before.windows(2).all(is_next)) {
            return None;
        }
    }
    let (mut old, mut new, mut buffer): (Versions, Versions, Versions) = Default::default();
    let mut by_mirror = std::collections::BTreeSet::new();
    for record in &records {
        let Record::Operation(operation) = record else { continue };
        let (page, action) = (operation.lpn.0, operation.action);
        if Some(operation.job.source) == written && action == Action::Program && operation.kind == Kind::Write {
            old.insert(page - old_start, Some(operation.job.index));
        } else if Some(operation.job.source) == mirrored && action == Action::Program && operation.kind == Kind::Write {
            // In the order of the requests, rule M3. A page that is written later is not at the old
            // place.
            if operation.job.index + skipped < old_count {
                new.insert(page - new_start, Some(operation.job.index + skipped));
            }
            by_mirror.insert(page - new_start);
        } else if Some(operation.job.source) == copied.0 && action == Action::Read {
            let at = page - old_start;
            buffer.insert(at, old.get(&at).copied().flatten());
        } else if Some(operation.job.source) == copied.1 && action == Action::Program && operation.kind == Kind::Write {
            let at = page - new_start;
            // Rule M2.
            if !by_mirror.contains(&at)
                && let Some(&version) = buffer.get(&at)
                && operation.start < run.switched
            {
                new.insert(at, version);
            }
        }
    }
    if let (None, Some(write)) = (of.copies, task.write) {
        // The last pages of the stream, each where it belongs at the new place, which begins its
        // range with another page.
        let (first, end) = (skipped * write.pages(), old_count * write.pages());
        let [was, is] = [old_length, new_length].map(u64::from);
        return Some((end.saturating_sub(was.min(is))..end).all(|page| {
            let place = |of: u64, length: u64| u32::try_from(of % length).expect("a page of the range");
            let written = Some(Some(page / write.pages()));
            let there = page >= first && new.get(&place(page - first, is)).copied() == written;
            there && old.get(&place(page, was)).copied() == written
        }));
    }
    let pages = u32::try_from(pages).expect("few pages");
    Some((0..pages).all(|page| match (new.get(&page), by_mirror.contains(&page)) {
        (Some(version), _) => *version == old.get(&page).copied().flatten(),
        // Written at the new place alone, after the switch, and never copied: it was not there.
        (None, _) => false,
    }))
}

fn tampered(stage: &Stage, run: &StageRun, set: &TaskSet, tampering: Tampering, begins: Instant) -> Option<StageRun> {
    let mut other = stage.clone();
    match tampering {
        Tampering::None => return Some(run.clone()),
        // If the terms of a cluster change first, copies come in time or not at all.
        Tampering::CopiesAtOnce if !stage.joins.is_empty() => return None,
        Tampering::CopiesAtOnce => {
            for of in &mut other.moves {
                let write = set.tasks()[of.parts.task].write.map_or(Span::ZERO, |write| write.deadline());
                of.copying_after = of.copying_after.saturating_sub(write);
            }
        }
        Tampering::Hurried => {
            for of in &mut other.moves {
                if let MovedBy::Copies(server) = &mut of.by {
                    server.pages = server.pages.saturating_mul(4).min(of.pages);
                }
            }
        }
        Tampering::SwitchedEarly => {
            let of = other.moves.last()?;
            let half = match of.by {
                MovedBy::Copies(server) => server.period.checked_mul(server.requests(of.pages) / 2)?,
                MovedBy::Round(requests) => set.tasks()[of.parts.task].write?.period().checked_mul(requests / 2)?,
            };
            other.switched_within = of.copying_after.checked_add(half)?;
        }
        Tampering::LateMirror => {
            let first = other.moves.first()?.copied_within;
            if !other.joins.is_empty() {
                return None;
            }
            other.erase = Some(first);
        }
    }
    StageRun::new(set, &other, begins)
}

/// Whether what runs is in time by the certificates, to the verifier, which has an arithmetic of
/// its own and knows nothing of migrations.
fn is_verified(set: &TaskSet, running: &RunningDevice, granted: Reliance) -> bool {
    let mut served: Vec<TaskId> = running.clusters.iter().flat_map(|cluster| cluster.tasks.clone()).collect();
    served.sort_unstable();
    // A task at two places, and one that copies: what they keep is asked for elsewhere.
    let plain = |&task: &TaskId| Task { data_pages: None, ..set.tasks()[task].clone() };
    let only = TaskSet::new(*set.device(), served.iter().map(plain).collect(), Vec::new()).expect("some of the tasks");
    let number = |task: &TaskId| TaskId(u32::try_from(served.binary_search(task).expect("served")).expect("few"));
    let clusters = running
        .clusters
        .iter()
        .map(|cluster| Cluster { chips: cluster.chips.clone(), tasks: cluster.tasks.iter().map(number).collect() });
    let (clusters, certificates): (Vec<Cluster>, Vec<Option<Certificate>>) = clusters
        .zip(&running.certificates)
        .filter(|(cluster, _)| !cluster.tasks.is_empty())
        .map(|(cluster, certificate)| (cluster, Some(*certificate)))
        .unzip();
    let allocation = Allocation::new(set.device().chips(), only.tasks().len(), &clusters).expect("an allocation");
    let mut certificates = certificates;
    // Chips without tasks are clusters behind the others.
    certificates.resize(allocation.clusters().len(), None);
    let allocation = allocation.with_certificates(certificates);
    let sound = analysis_relying_on("sound", granted).and_then(|sound| sound.demand_test());
    let sound = sound.expect("it makes certificates");
    let verified = verify_certified(&only, &allocation, sound.verified(), granted);
    allocation
        .clusters()
        .iter()
        .zip(&verified.clusters)
        .all(|(cluster, of)| cluster.tasks.is_empty() || of.holds == Some(true))
}

/// At any time, or soon behind requests of the tasks that move.
fn begins(rng: &mut Stream, set: &TaskSet, stage: &Stage) -> Instant {
    let write = stage.moves.iter().find_map(|of| set.tasks()[of.parts.task].write);
    let soon = write.filter(|_| rng.within(0, 1) == 0).map(|write| write.period().as_ns() * rng.within(0, 2));
    let at = match soon {
        Some(at) => at + rng.within(1, 30),
        None => rng.within(1, 9_000),
    };
    Instant::START.saturating_add(ns(at))
}

/// Runs stages, each twice, until a check breaks where something was tampered with.
fn run_migrations(seed: u64, cases: std::ops::Range<u64>, on: On, tampering: Tampering) -> Seen {
    let mut seen = Seen::default();
    for case in cases {
        let Some(drawn) = draw((seed, case), on, &mut seen) else { continue };
        let mut rng = Stream::numbered(seed, b"runs\0\0\0\0", case);
        seen.migrations += 1;
        let left_out = drawn.migration.left_out.as_ref();
        assert_eq!(&drawn.migration.stages[0].before, left_out.map_or(&drawn.old, |of| &of.running));
        seen.left_out += usize::from(left_out.is_some());
        let serves = |of: &RunningDevice| of.certificates.iter().any(|of| of.server_thousandths > 0);
        seen.serving += usize::from(serves(&drawn.migration.running));
        if let Some(of) = left_out {
            assert!(is_verified(&drawn.set, &of.running, drawn.granted), "seed {seed}, case {case}: {of:?}");
        }
        for stage in &drawn.migration.stages {
            seen.fresh += usize::from(stage.joins.is_empty());
            seen.joined += usize::from(!stage.joins.is_empty());
            seen.staged += usize::from(stage.joins.iter().any(|join| join.ready_within > Span::ZERO));
            seen.erased += usize::from(stage.erase.is_some());
            seen.moves += stage.moves.len();
            seen.rounds += stage.moves.iter().filter(|of| matches!(of.by, MovedBy::Round(_))).count();
            let is_zoned = |of: &RunningDevice, at: ClusterId| of.certificates[at.index()].placement.is_zoned();
            seen.to_zones += usize::from(is_zoned(&stage.together, stage.cluster));
            seen.from_zones += stage.moves.iter().filter(|of| is_zoned(&stage.before, of.from)).count();
            if tampering == Tampering::None {
                let states = [(&stage.set, &stage.mirrored), (&stage.set, &stage.together), (&drawn.set, &stage.after)];
                let copying = stage.moves.iter().map(|of| (&of.copying_set, &of.copying));
                for (set, running) in states.into_iter().chain(copying) {
                    seen.states += 1;
                    assert!(
                        is_verified(set, running, drawn.granted),
                        "seed {seed}, case {case}: {running:?}\n{stage:?}"
                    );
                }
            }
            if stage.over_within > ns(3_000_000) {
                continue;
            }
            let begins = begins(&mut rng, &drawn.set, stage);
            let run = StageRun::new(&drawn.set, stage, begins).expect("a stage of a short time");
            let Some(run) = tampered(stage, &run, &drawn.set, tampering, begins) else { continue };
            for _ in 0..2 {
                let duration = run.over.saturating_add(ns(rng.within(1, 8_000)));
                let (options, plan) = options(&mut rng, &run, duration);
                let findings = judged(&plan, &options);
                let broken: Vec<&Finding> = findings.iter().filter(|finding| !finding.gauge.holds()).collect();
                seen.runs += 1;
                seen.broken += usize::from(!broken.is_empty());
                if tampering == Tampering::None {
                    assert!(broken.is_empty(), "seed {seed}, case {case}: {broken:?}\n{stage:?}\n{options:?}");
                }
                for (of, moved) in run.moves.iter().zip(&stage.moves) {
                    seen.pages += moved.pages;
                    let coherent = is_coherent(&run, of, moved.from, moved.pages, (&plan, &options));
                    seen.compared += usize::from(coherent.is_some());
                    seen.stale += usize::from(coherent == Some(false));
                    if tampering == Tampering::None {
                        assert_ne!(coherent, Some(false), "seed {seed}, case {case}: {of:?}\n{stage:?}\n{options:?}");
                    }
                }
            }
        }
        let found = if tampering == Tampering::Hurried { seen.broken } else { seen.stale };
        if found > 0 {
            break;
        }
    }
    seen
}

#[test]
fn what_moves_is_in_time_and_as_it_was() {
    let cases = 450 * times();
    let halves = [0..cases, cases..2 * cases];
    let halves = halves.map(|cases| std::thread::spawn(move || run_migrations(1, cases, On::Plain, Tampering::None)));
    for half in halves {
        let seen = half.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        println!("{seen:?}");
        assert!(seen.migrations > 20 && seen.fresh > 20 && seen.joined > 0 && seen.compared > 20, "{seen:?}");
        assert!(seen.left_out > 0 && seen.serving > 0, "{seen:?}");
    }
}

fn breaks(tampering: Tampering, what: impl Fn(&Seen) -> usize) {
    breaks_on(On::Plain, tampering, what);
}

fn breaks_on(on: On, tampering: Tampering, what: impl Fn(&Seen) -> usize) {
    let seen = run_migrations(1, 0..2_000, on, tampering);
    println!("{on:?}, {tampering:?}: {seen:?}");
    assert!(what(&seen) > 0, "{tampering:?} breaks nothing: {seen:?}");
}

#[test]
fn copies_wait_for_what_is_written_to_the_old_place_alone() {
    breaks(Tampering::CopiesAtOnce, |seen| seen.stale);
}

#[test]
fn copies_keep_their_pace() {
    breaks(Tampering::Hurried, |seen| seen.broken);
}

#[test]
fn pages_are_there_before_they_are_read() {
    breaks(Tampering::SwitchedEarly, |seen| seen.stale);
}

#[test]
fn writes_go_to_both_places_before_pages_are_copied() {
    breaks(Tampering::LateMirror, |seen| seen.stale);
}

/// A task that owns zones, or will, goes round once at both places; a task that only reads there is
/// copied.
#[test]
fn what_owns_zones_is_in_time_and_as_it_was() {
    let seen = run_migrations(1, 0..900 * times(), On::Zones, Tampering::None);
    println!("{seen:?}");
    assert!(seen.migrations > 50 && seen.rounds > 30 && seen.to_zones > 30 && seen.from_zones > 10, "{seen:?}");
    assert!(seen.compared > 30 && seen.joined > 0 && seen.moves > seen.rounds, "{seen:?}");
}

#[test]
fn a_whole_round_comes_before_the_switch() {
    breaks_on(On::Zones, Tampering::SwitchedEarly, |seen| seen.stale);
}

/// A certificate of which nothing is left is none that could be used.
#[test]
fn what_does_not_run_by_its_certificates_is_refused() {
    let mut seen = Seen::default();
    let drawn = (0..200).find_map(|case| draw((3, case), On::Plain, &mut seen)).expect("one that moves");
    let bad = |certificate: &Certificate| {
        let collection = certificate.collection.map(|of| rtflash_model::Collection { reserve_pages: 0, ..of });
        Certificate { collection, ..*certificate }
    };
    let mut old = drawn.old.clone();
    old.certificates.iter_mut().for_each(|certificate| *certificate = bad(certificate));
    let writes = drawn.set.tasks().iter().any(|task| task.write.is_some());
    let options = MigrationOptions {
        placements: analysis_relying_on("sound", Reliance::Nothing)
            .and_then(|of| of.demand_test())
            .map_or(&[], |test| test.placements),
        granted: Reliance::Nothing,
        buffer_pages: 8,
    };
    let found = migrate(&drawn.set, &old, &drawn.migration.running, options, &Work::new());
    assert!(!writes || matches!(found, Err(MigrationRefusal::NotInTime(_, false))), "{found:?}");
}

/// The migration of a writer between stripes of `sizes` chips.
fn between_stripes(access: Access, sizes: [u32; 2], data: Option<u64>) -> Result<Migration, MigrationRefusal> {
    let device = Device::new(DeviceSpec { chips: 16, ..Device::profile("dgist-2021").expect("a profile").spec() });
    let write = Request::new(4, Span::from_us(40_000)).map(|request| request.with_access(access));
    let task = Task { name: "log".into(), read: None, write, data_pages: data };
    let set = TaskSet::new(device.expect("a device"), vec![task], Vec::new()).expect("a set");
    let stripe = analysis_relying_on("stripe", Reliance::Nothing).expect("an analysis");
    let [old, new] = [(0, sizes[0]), (8, sizes[1])].map(|(first, size)| {
        let cluster = Cluster { chips: (first..first + size).map(ChipId).collect(), tasks: vec![TaskId(0)] };
        with_certificates(&set, stripe, &[cluster]).expect("it is in time")
    });
    let placements = stripe.demand_test().map_or(&[][..], |test| test.placements);
    let options = MigrationOptions { placements, granted: Reliance::Nothing, buffer_pages: 64 };
    migrate(&set, &old, &new, options, &Work::new())
}

/// A stream that goes round eight pages would jump where its range is ten. One of the same range,
/// or whose pages may be anywhere, moves.
#[test]
fn who_goes_round_keeps_its_range() {
    let pages = |found: Result<Migration, MigrationRefusal>| match found {
        Ok(migration) => migration.stages.iter().flat_map(|stage| &stage.moves).map(|of| of.pages).sum(),
        Err(MigrationRefusal::NoWay(_, missing)) => {
            assert!(matches!(missing[..], [(_, StageRefusal::Range(_))]), "{missing:?}");
            0
        }
        Err(other) => panic!("{other:?}"),
    };
    for access in [Access::Stream, Access::Sequential] {
        assert_eq!(pages(between_stripes(access, [4, 5], Some(7))), 0);
        assert_eq!(pages(between_stripes(access, [4, 2], Some(7))), 8);
        assert_eq!(pages(between_stripes(access, [4, 4], Some(7))), 8);
        // The range of a task that states no data is not known.
        assert_eq!(pages(between_stripes(access, [4, 4], None)), 0);
    }
    assert_eq!(pages(between_stripes(Access::Random, [4, 5], Some(7))), 7);
}
