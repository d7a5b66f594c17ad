//! A server that gets no more jobs, and is left out: a task then comes that had no room beside it.

use std::collections::BTreeMap;
use std::sync::Arc;

use rtflash_alloc::admission::{
    AddedHow, Admitted, CollectionStage, Decision, LeftOutServers, RunningDevice, admit, servers_left_out,
};
use rtflash_alloc::allocator::{Allocator, Global};
use rtflash_analysis::{Work, analysis_relying_on};
use rtflash_judge::{Checks, Finding, merge};
use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Arrivals, Certificate, Device, DeviceSpec, Instant, Job, LogicalRatio, Reliance, Request, Shortest, Span,
    Task, TaskId, TaskSet,
};
use rtflash_plan::{Aging, NoServers, Options, Pattern, Placed, Plan, Victims};
use rtflash_run::History;
use rtflash_sim::{RunError, run, run_traced};
use rtflash_trace::{Kind, Record};

use crate::drawn::{ns, times};

fn device(rng: &mut Stream) -> Option<Device> {
    let [page_read, page_program, block_erase, page_transfer] = [20, 40, 60, 12].map(|most| ns(rng.within(1, most)));
    let profile = Device::profile("dgist-2021")?.spec();
    Device::new(DeviceSpec {
        chips: rng.small(1, 4),
        chips_per_channel: rng.small(1, 4),
        blocks_per_chip: rng.small(16, 50),
        pages_per_block: rng.small(1, 8),
        page_size: 512,
        shortest: Shortest::default(),
        erase_cycles: None,
        command: (rng.within(0, 5) == 0).then(|| ns(rng.within(1, 4))),
        page_registers: (rng.within(0, 3) == 0).then_some(2),
        spare_blocks: None,
        program_failures: None,
        logical_ratio: LogicalRatio::from_decimal(rng.within(10, 60).into(), 2).ok()?,
        page_read,
        page_program,
        block_erase,
        page_transfer,
        ..profile
    })
    .ok()
}

fn task(rng: &mut Stream, name: &str, writes: bool) -> Option<Task> {
    let access = rng.one_of(&[Access::Random, Access::Sequential, Access::Stream]);
    let request = Request::new(rng.within(1, 5), ns(rng.within(300, 6_000)))?.with_access(access);
    let (read, write) = if writes { (None, Some(request)) } else { (Some(request), None) };
    Some(Task { name: name.into(), read, write, data_pages: None })
}

/// When the server is left out, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tampering {
    None,
    /// The task comes at once, while there are jobs.
    NoWait,
}

struct Drawn {
    set: TaskSet,
    running: RunningDevice,
    left_out: LeftOutServers,
    admitted: Admitted,
}

/// A device with a server whose jobs end, and a task that is admitted without it alone.
fn draw(case: u64) -> Option<Drawn> {
    let mut rng = Stream::numbered(1, b"left-out", case);
    let device = device(&mut rng)?;
    let number = rng.within(3, 12);
    let at = (0..number).map(|job| Some(Instant::START.saturating_add(ns(job * rng.within(1, 900)))));
    let mut at: Vec<Instant> = at.collect::<Option<_>>()?;
    at.sort_unstable();
    let job = Job {
        name: "j".into(),
        read_pages: rng.within(0, 4),
        write_pages: rng.within(1, 9),
        arrivals: Arrivals::At(at),
    };
    let tasks = [task(&mut rng, "t0", true)?, task(&mut rng, "t1", case.is_multiple_of(2))?];
    let writes = rng.within(0, 1) == 0;
    let new = task(&mut rng, "t2", writes)?;
    let granted = rng.one_of(&[Reliance::Nothing, Reliance::Neighbours, Reliance::Queue]);
    let analysis = analysis_relying_on(rng.one_of(&["stripe", "superblock"]), granted)?;
    let test = analysis.demand_test()?;
    let begun = TaskSet::new(device, tasks.to_vec(), vec![job.clone()]).ok()?;
    let outcome = Global.allocate(&begun, analysis);
    let running = RunningDevice::new(&begun, outcome.allocation()?)?;
    let work = Work::new();
    // As busy as there is room for.
    let mut found = None;
    for _ in 0..20 {
        let faster = found.as_ref().map_or(new.clone(), |of: &Drawn| crate::drawn::busier(&of.set.tasks()[TaskId(2)]));
        let all = [&tasks[..], &[faster]].concat();
        let set = TaskSet::new(device, all, vec![job.clone()]).ok()?;
        let left_out = servers_left_out(&set, &running, &[0], granted, &work)?;
        match admit(test, &set, &left_out.running, TaskId(2), &work) {
            Decision::Admitted(admitted) => {
                found = Some(Drawn { set, running: running.clone(), left_out, admitted: *admitted })
            }
            Decision::Refused(_) => break,
        }
    }
    found.filter(|of| !matches!(admit(test, &of.set, &of.running, TaskId(2), &work), Decision::Admitted(_)))
}

/// The change of terms by which the server is left out, and then the task is added.
fn changes(drawn: &Drawn) -> Admitted {
    let collection = drawn.left_out.running.certificates[0].collection.expect("it collects");
    let first = CollectionStage { collection, goal_pages: collection.reserve_pages, extra: None };
    let stages = match &drawn.admitted.change {
        AddedHow::Staged(stages) => [&[first], &stages[..]].concat(),
        _ => vec![first],
    };
    let ready = drawn.left_out.within.saturating_add(drawn.admitted.ready_within);
    Admitted { change: AddedHow::Staged(stages), ready_within: ready, ..drawn.admitted.clone() }
}

fn options(rng: &mut Stream, duration: Instant) -> Options {
    Options {
        duration,
        victims: rng.one_of(&[Victims::Actual, Victims::Worst]),
        aging: rng.one_of(&[Aging::Worst, Aging::Worst, Aging::Random]),
        pattern: rng.one_of(&[Pattern::Uniform, Pattern::HotCold, Pattern::Sequential, Pattern::Fullest]),
        seed: rng.within(0, u64::MAX - 1),
        placed: Placed { backfill: rng.within(0, 1) == 0, ..Placed::default() },
        ..Options::default()
    }
}

/// When the last job of a server is over.
fn last_job(plan: &Plan, options: &Options) -> Instant {
    let mut last = Instant::START;
    let sink = |record: &Record| {
        if let Record::Complete(complete) = record
            && plan.sources().enumerate().any(|(number, of)| number == complete.job.source && of.kind == Kind::Server)
        {
            last = last.max(complete.at);
        }
        Ok(())
    };
    run_traced::<Vec<Record>, RunError>(plan, options, &mut NoServers, |_| Vec::new(), sink).expect("it runs");
    last
}

fn broken_in(plan: &Plan, options: &Options) -> Vec<Finding> {
    let checks = run(plan, options, &mut NoServers, |group| Checks::new(plan, options.dispatch, group));
    let checks = checks.expect("no limit is reached").into_iter();
    let mut findings = merge(checks.map(|checks| checks.finish(options.duration)));
    findings.retain(|finding| !finding.gauge.holds());
    findings
}

/// Histories that were run, and those in which something broke.
fn run_histories(cases: u64, tampering: Tampering) -> (usize, usize, usize) {
    let (mut histories, mut staged, mut broken) = (0, 0, 0);
    for case in 0..cases {
        let Some(drawn) = draw(case) else { continue };
        if drawn.left_out.within.saturating_add(drawn.admitted.ready_within) > ns(2_000_000) {
            continue;
        }
        let mut rng = Stream::numbered(2, b"left-out", case);
        let without = drawn.set.tasks().as_slice()[..2].to_vec();
        let without = TaskSet::new(*drawn.set.device(), without, drawn.set.jobs().to_vec()).expect("a set");
        let most = rng.one_of(&[0, 0, 8, 600]);
        // Before the change requests come alike.
        let gaps = || {
            let mut of: BTreeMap<(TaskId, bool), Stream> = BTreeMap::new();
            move |id: TaskId, writes: bool| {
                let stream = || Stream::numbered(case, b"gaps\0\0\0\0", u64::from(2 * id.0 + u32::from(writes)));
                ns(of.entry((id, writes)).or_insert_with(stream).within(0, most))
            }
        };
        let first = History::new(&drawn.running);
        let Ok(plan) = first.plan(&without) else { continue };
        let duration = Instant::START.saturating_add(ns(200_000));
        let releases = first.releases(&without, duration, |_, _| Span::ZERO, gaps());
        let before = Options { releases: Some(Arc::new(releases)), ..options(&mut rng, duration) };
        assert!(broken_in(&plan, &before).is_empty(), "case {case}: before the change");
        let over = last_job(&plan, &before);
        let mut history = History::new(&drawn.running);
        let admitted = changes(&drawn);
        staged += usize::from(matches!(&admitted.change, AddedHow::Staged(stages) if stages.len() > 1));
        let from = match tampering {
            Tampering::None => history.admit(over, TaskId(2), &admitted),
            Tampering::NoWait => {
                let now = Admitted { ready_within: Span::ZERO, change: AddedHow::Kept, ..admitted.clone() };
                history.admit(Instant::START, TaskId(2), &now)
            }
        };
        let duration = from.saturating_add(ns(rng.within(20_000, 60_000)));
        let releases = history.releases(&drawn.set, duration, |_, _| Span::ZERO, gaps());
        let Ok(plan) = history.plan(&drawn.set) else { continue };
        let options = Options { duration, releases: Some(Arc::new(releases)), ..before };
        let mut found = broken_in(&plan, &options);
        // The promises to its own jobs are listed beside the tasks that ran then.
        found.retain(|finding| finding.assumption.name() != "server-deadlines");
        if tampering == Tampering::None {
            assert!(found.is_empty(), "case {case}: {found:?}\n{admitted:?}\n{options:?}");
        }
        (histories, broken) = (histories + 1, broken + usize::from(!found.is_empty()));
        if tampering != Tampering::None && broken > 0 {
            break;
        }
    }
    (histories, staged, broken)
}

/// Theorem 14 of docs/admission.md.
#[test]
fn a_server_is_left_out_and_its_time_is_used() {
    let seen = run_histories(2_000 * times(), Tampering::None);
    println!("{seen:?}");
    assert!(seen.0 > 100 && seen.1 > 10, "{seen:?}");
}

#[test]
fn the_task_waits_until_the_server_is_left_out() {
    let seen = run_histories(2_000, Tampering::NoWait);
    println!("{seen:?}");
    assert!(seen.2 > 0, "{seen:?}");
}

/// A cluster that would suspend erases without its server does not go on without it.
#[test]
fn nothing_is_said_of_who_would_suspend_erases() {
    let mut refused = 0;
    for case in 0..400 {
        let Some(Drawn { set, running, .. }) = draw(case) else { continue };
        let spec = DeviceSpec { erase_suspend: Some(Span::NANOSECOND), ..set.device().spec() };
        let Ok(device) = Device::new(spec) else { continue };
        let certificate = Certificate { server_thousandths: 0, ..running.certificates[0] };
        if !certificate.suspends_erases(&device) {
            continue;
        }
        let set = TaskSet::new(device, set.tasks().as_slice().to_vec(), set.jobs().to_vec()).expect("the same tasks");
        let left_out = servers_left_out(&set, &running, &[0], Reliance::Nothing, &Work::new());
        assert!(left_out.is_none(), "case {case}");
        // The server of a set without jobs is not left out either.
        let alone = TaskSet::new(device, set.tasks().as_slice().to_vec(), vec![]).expect("the same tasks");
        let kept = RunningDevice::of_parts(&alone, running.clusters.clone(), running.certificates.clone());
        assert_eq!(kept.certificates, running.certificates, "case {case}");
        refused += 1;
    }
    assert!(refused > 20, "{refused}");
}
