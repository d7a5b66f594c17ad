//! An observer receives true progress, and changes nothing.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use rtflash_model::Instant;
use rtflash_plan::{DEFAULT_MEMORY, Options, Plan};
use rtflash_run::soak::{Broken, Search, SoakWatch, World, draw, soak};
use rtflash_run::{Executed, RunWatch, Sink, execute, execute_watched};
use rtflash_trace::{Action, Record};

/// The outcome of a run, in words, but for how long chips and buses were busy. In which order a
/// stream's responses were seen does not matter: it is served by several clusters, each with a
/// clock of its own.
fn words(run: &Executed) -> String {
    let report = &run.report;
    let sources = report.sources.iter().map(|source| {
        let responses = [1, 250, 500, 750, 990, 1_000].map(|per_mille| source.responses.percentile(per_mille));
        (source.released, source.completed, source.misses, source.overdue, responses)
    });
    let sources: Vec<_> = sources.collect();
    let chips: Vec<_> = report.chips.iter().map(|chip| chip.operations).collect();
    format!("{:?} {sources:?} {:?} {chips:?} {}", run.findings, report.clusters, report.operations().transfers)
}

fn busy(run: &Executed) -> String {
    format!("{:?} {:?}", run.report.chips, run.report.channels)
}

#[test]
fn a_watched_run_is_the_same_run() {
    let mut looks = 0;
    for (number, world) in (0..20).flat_map(|number| [World::Any, World::Sound].map(|world| (number, world))) {
        let Some(case) = draw(Search { seed: 31, world }, number) else { continue };
        let outcome = case.allocator.allocate(&case.set, case.analysis);
        let Some(allocation) = outcome.allocation() else { continue };
        let Ok(alone) = execute(&case.set, allocation, case.analysis, &case.options, None) else { continue };
        let all = alone.report.operations();
        let all = all.reads + all.programs + all.erases;
        for is_traced in [false, true] {
            let mut told: Vec<(Instant, u64)> = Vec::new();
            let mut watch = |now: Instant, operations: u64| {
                told.push((now, operations));
                ControlFlow::Continue(())
            };
            let mut recorded = 0;
            let mut keep = |_: &Plan, record: &Record| -> io::Result<()> {
                recorded += u64::from(matches!(record, Record::Operation(of) if of.action != Action::ErasePart));
                Ok(())
            };
            let sink: Option<Sink<'_>> = if is_traced { Some(&mut keep) } else { None };
            let watch = RunWatch { sink, progress: Some(&mut watch), checkpoint: None };
            let (set, options) = (&case.set, &case.options);
            let run = execute_watched(DEFAULT_MEMORY, set, allocation, case.analysis, options, watch);
            let run = run.expect("it ran before");
            assert_eq!((words(&run), busy(&run)), (words(&alone), busy(&alone)), "run {number}, {world:?}");
            assert_eq!(run.stopped, None);
            assert!(told.is_sorted(), "run {number}, {world:?}: {told:?}");
            assert!(told.iter().all(|&(_, operations)| operations <= all));
            assert_eq!(told.last(), Some(&(Instant::END, all)), "run {number}, {world:?}");
            if is_traced {
                assert_eq!(recorded, all, "run {number}, {world:?}");
            }
            looks += told.len();
        }
    }
    println!("{looks} looks");
    assert!(looks > 200, "{looks} looks");
}

/// A run that is stopped is a run that was to end then, and its records are that one's.
#[test]
fn a_stopped_run_is_a_shorter_run() {
    let mut stopped = 0;
    for (number, world) in (0..30).flat_map(|number| [World::Any, World::Sound].map(|world| (number, world))) {
        let Some(case) = draw(Search { seed: 32, world }, number) else { continue };
        let outcome = case.allocator.allocate(&case.set, case.analysis);
        let Some(allocation) = outcome.allocation() else { continue };
        // The first call is in front of the run.
        let (mut left, set) = (2 + number % 3, &case.set);
        let is_traced = number % 2 == 0;
        let mut watch = |_: Instant, _: u64| {
            left = left.saturating_sub(1);
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let (mut records, mut of_shorter) = (Vec::new(), Vec::new());
        let mut keep = |_: &Plan, record: &Record| -> io::Result<()> {
            records.push(format!("{record:?}"));
            Ok(())
        };
        let sink: Option<Sink<'_>> = if is_traced { Some(&mut keep) } else { None };
        let watch = RunWatch { sink, progress: Some(&mut watch), checkpoint: None };
        let run = execute_watched(DEFAULT_MEMORY, set, allocation, case.analysis, &case.options, watch);
        let Ok(run) = run else { continue };
        let Some(at) = run.stopped else { continue };
        assert!(at < case.options.duration);
        let options = Options { duration: at, ..case.options.clone() };
        let mut keep = |_: &Plan, record: &Record| -> io::Result<()> {
            of_shorter.push(format!("{record:?}"));
            Ok(())
        };
        let sink: Option<Sink<'_>> = if is_traced { Some(&mut keep) } else { None };
        let shorter = execute(set, allocation, case.analysis, &options, sink).expect("it ran before");
        assert_eq!(words(&run), words(&shorter), "run {number}, {world:?}");
        // The first states how long the run was to be.
        assert_eq!(records.get(1..), of_shorter.get(1..), "run {number}, {world:?}");
        stopped += 1;
    }
    assert!(stopped > 20, "{stopped} runs");
}

/// A search that is stopped is a search of fewer cases.
#[test]
fn a_search_can_be_stopped() {
    struct After(AtomicU64);
    impl SoakWatch for After {
        fn over(&self, cases: u64) {
            self.0.fetch_sub(cases.min(self.0.load(Ordering::Relaxed)), Ordering::Relaxed);
        }
        fn stops(&self) -> bool {
            self.0.load(Ordering::Relaxed) == 0
        }
    }
    let watched = soak(Search { seed: 7, world: World::Any }, 10_000_000, &After(AtomicU64::new(20)));
    assert!((20..10_000).contains(&watched.cases), "{}", watched.cases);
    assert!(watched.judged > 0 && watched.judged <= watched.cases);
    let fewer = soak(Search { seed: 7, world: World::Any }, watched.cases, &|_: u64| ());
    assert_eq!((watched.cases, watched.judged, watched.load), (fewer.cases, fewer.judged, fewer.load));
    // Broken cases are left as they were drawn.
    let drawn = |broken: &Broken| draw(Search { seed: 7, world: World::Any }, broken.first).expect("a case").set;
    assert!(!watched.broken.is_empty() && watched.broken.iter().all(|broken| broken.smallest.set == drawn(broken)));
    assert!(fewer.broken.iter().any(|broken| broken.smallest.set != drawn(broken)));
}

#[test]
fn every_case_of_a_search_is_counted() {
    let over = AtomicU64::new(0);
    let watched = soak(Search { seed: 7, world: World::Any }, 60, &|_: u64| {
        over.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(over.into_inner(), 60);
    let alone = soak(Search { seed: 7, world: World::Any }, 60, &|_: u64| ());
    assert_eq!((watched.cases, watched.judged, watched.broken.len()), (60, alone.judged, alone.broken.len()));
}
