//! Two executors, one truth: the event-driven engine says what the cycle-by-cycle one says, record
//! for record.

mod common;
mod naive;
mod worlds;

use std::ops::ControlFlow;

use common::{ALWAYS_HOLD, Broken, World, agree};
use rtflash_exec::check::Checks;
use rtflash_exec::trace::{Action, Kind, Observer, Record};
use rtflash_exec::{Dispatch, Service, Victims};
use rtflash_model::ClusterId;
use worlds::engine;

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
}

impl Seen {
    fn look(&mut self, world: &World, records: &[Record]) {
        self.records += records.len();
        self.parallel += usize::from(world.options.dispatch == Dispatch::Parallel);
        self.background += usize::from(world.options.service == Service::Background && !world.plan.jobs().is_empty());
        self.worst += usize::from(world.options.victims == Victims::Worst);
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
    let twin = |world: &World| naive::run(&world.plan, &world.options, &world.arrivals);
    agree(cases, |case| World::draw(seed, case), engine, twin, |world, records| seen.look(world, records));
    seen
}

#[test]
fn the_engine_agrees_with_the_cycle_by_cycle_executor() {
    let halves = [1, 2].map(|seed| std::thread::spawn(move || compare(seed, 6_000)));
    for half in halves {
        let seen = half.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // The comparison is worth as much as what happens in it.
        assert!(seen.records > 400_000, "{seen:?}");
        assert!(seen.parallel > 2_000 && seen.background > 1_000 && seen.worst > 2_000, "{seen:?}");
        assert!(seen.erases > 20_000 && seen.left_out > 100 && seen.starved > 400, "{seen:?}");
        assert!(seen.waits > 8_000 && seen.unserved > 200, "{seen:?}");
    }
}

/// Whatever a server grants, the device does what its rules say: in the run, and in its trace.
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
        broken.note(case, &checks.finish(world.options.duration), &ALWAYS_HOLD);
        broken.note(case, &worlds::judged(&world), &ALWAYS_HOLD);
        judged += 1;
    }
    broken.assert_none();
    assert!(judged > 1_000, "{judged}");
}

#[test]
fn the_result_depends_on_neither_windows_nor_threads() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let (one, four) = (pool(1), pool(4));
    let mut compared = 0;
    let _ = (0..400).try_for_each(|case| {
        let Some(world) = World::draw(3, case) else { return ControlFlow::Continue(()) };
        assert_eq!(one.install(|| engine(&world)), four.install(|| engine(&world)), "case {case}");
        let mut untraced = four.install(|| worlds::untraced(&world));
        untraced.sort_by_key(Record::order);
        assert_eq!(engine(&world)[1..], untraced[..], "case {case}, all but how it was made");
        compared += 1;
        if compared == 60 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(compared, 60);
}
