//! How long a decision takes on whether a task may be added to what runs.
//!
//! `cargo bench --bench admission`. Seven tasks run on 16 chips, divided by `best-fit`; whether an
//! eighth may be added is asked, at total utilizations from 0.4 to 6.0.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rtflash::alloc::Work;
use rtflash::alloc::allocator::{Allocator, BestFit};
use rtflash::alloc::analysis::{Analysis, DemandTest, analysis_relying_on, fits_alone};
use rtflash::alloc::certified::admission::{Decision, RunningDevice};
use rtflash::model::generate::{Accesses, Generator, PeriodRange, SetOptions, SetSpec, Utilization, Writes};
use rtflash::model::{Device, DeviceSpec, LogicalRatio, Reliance, TaskId, TaskSet};

const TASKS: u32 = 8;

fn options(analysis: &dyn Analysis) -> SetOptions {
    let profile = Device::profile("dgist-2021").expect("the profile").spec();
    let logical_ratio = LogicalRatio::from_decimal(75, 2).expect("a ratio");
    let device = Device::new(DeviceSpec { chips: 16, logical_ratio, ..profile }).expect("a device");
    let spec = SetSpec {
        device,
        tasks: TASKS,
        generator: Generator::UUniFast,
        page_costs: analysis.page_costs(&device),
        writes: Writes::Drawn,
        accesses: Accesses::Sequential,
        deadlines: None,
        periods: PeriodRange::default(),
        pages: None,
        seed: 1,
    };
    SetOptions::new(spec).expect("options")
}

/// Sets of which seven tasks run.
fn asked(analysis: &dyn Analysis) -> Vec<(TaskSet, RunningDevice)> {
    let options = options(analysis);
    let numbers = (1..=15).flat_map(|step| (0..20).map(move |index| (4 * step, index)));
    let draw = |(tenths, index): (u64, u64)| {
        let utilization = Utilization::from_billionths(tenths * 100_000_000)?;
        let set = options.draw(utilization, index, |device, task| fits_alone(analysis, device, task)).ok()?;
        let few = set.tasks().as_slice()[..TASKS as usize - 1].to_vec();
        let begun = TaskSet::new(*set.device(), few, Vec::new()).ok()?;
        let outcome = BestFit.allocate(&begun, analysis);
        Some((RunningDevice::new(&begun, outcome.allocation()?)?, set)).map(|(running, set)| (set, running))
    };
    numbers.filter_map(draw).collect()
}

/// The shortest time of ten.
fn shortest(decide: impl Fn()) -> Duration {
    let time = || {
        let start = Instant::now();
        decide();
        start.elapsed()
    };
    (0..10).map(|_| time()).min().expect("ten times")
}

fn decisions(criterion: &mut Criterion) {
    for (name, granted) in [
        ("stripe", Reliance::Nothing),
        ("stripe", Reliance::Neighbours),
        ("sound", Reliance::Neighbours),
        ("stripe", Reliance::Queue),
        ("superblock", Reliance::Neighbours),
    ] {
        let analysis = analysis_relying_on(name, granted).expect("an analysis");
        let test: DemandTest = analysis.demand_test().expect("a demand test");
        let asked = asked(analysis);
        let decide =
            |(set, running): &(TaskSet, RunningDevice)| test.admit(set, running, TaskId(TASKS - 1), &Work::new());
        let yes = |it: &&(TaskSet, RunningDevice)| matches!(decide(it), Decision::Admitted(_));
        let (admitted, refused): (Vec<_>, Vec<_>) = asked.iter().partition(yes);
        let times = |sets: &[&(TaskSet, RunningDevice)]| -> Vec<Duration> {
            sets.iter().map(|it| shortest(|| drop(black_box(decide(it))))).collect()
        };
        for (what, times) in [("admitted", times(&admitted)), ("refused", times(&refused))] {
            let mean = times.iter().sum::<Duration>() / u32::try_from(times.len().max(1)).expect("few");
            let longest = times.iter().max().copied().unwrap_or_default();
            println!("{name}, {granted:?}: {} {what}, {mean:?} each, none in more than {longest:?}", times.len());
        }
        let mut group = criterion.benchmark_group(format!("a task more, {name} {granted:?}"));
        for (what, sets) in [("admitted", admitted), ("refused", refused)] {
            if sets.is_empty() {
                continue;
            }
            group.throughput(Throughput::Elements(sets.len() as u64));
            group.sample_size(10);
            group.bench_function(what, |bencher| {
                bencher.iter(|| sets.iter().for_each(|set| drop(black_box(decide(set)))));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, decisions);
criterion_main!(benches);
