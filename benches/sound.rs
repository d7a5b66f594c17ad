//! How many cluster tests and allocations a second the sound analyses make.
//!
//! `cargo bench --bench sound`. A cluster test is one demand test of 8 tasks with a given deadline
//! of garbage collection; sets cover total utilizations from 0.1 to 4.0.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rtflash::alloc::Work;
use rtflash::alloc::allocator::{Allocator, BestFit, ClusteringBfd, Exact};
use rtflash::alloc::analysis::{Analysis, Sound, Thesis, fits_alone};
use rtflash::alloc::certified::{Choice, ChosenGc, Contention, Demand, Processor, SharedBus, choose};
use rtflash::model::Reliance;
use rtflash::model::generate::{Accesses, Generator, PeriodRange, SetOptions, SetSpec, Utilization, Writes};
use rtflash::model::{Device, DeviceSpec, Placement, TaskSet};

/// As much is relied on as can be, which takes the longest.
const SOUND: Sound = Sound::relying_on(Reliance::Queue);

fn options(chips: u32, tasks: u32) -> SetOptions {
    let profile = Device::profile("dgist-2021").expect("the profile").spec();
    options_on(DeviceSpec { chips, ..profile }, tasks, Accesses::Sequential)
}

fn options_on(device: DeviceSpec, tasks: u32, accesses: Accesses) -> SetOptions {
    let device = Device::new(device).expect("a device");
    let page_costs = Thesis.page_costs(&device);
    let (generator, writes) = (Generator::UUniFast, Writes::Drawn);
    SetOptions::new(SetSpec {
        device,
        tasks,
        generator,
        page_costs,
        writes,
        accesses,
        deadlines: None,
        periods: PeriodRange::default(),
        pages: None,
        seed: 1,
    })
    .expect("options")
}

fn draw(options: &SetOptions, tenths: u64, index: u64) -> TaskSet {
    let utilization = Utilization::from_billionths(tenths * 100_000_000).expect("a utilization");
    options.draw(utilization, index, |device, task| fits_alone(&Thesis, device, task)).expect("a set")
}

/// Clusters of all 8 tasks of a set, of the smallest size at which the test is not sure, or fails.
fn tests(criterion: &mut Criterion) {
    let options = options(16, 8);
    let mut clusters: Vec<(Processor, Option<ChosenGc>)> = Vec::new();
    let work = Work::new();
    for tenths in 1..=40 {
        for index in 0..5 {
            let set = draw(&options, tenths, index);
            for chips in 1..=16 {
                let bus = SharedBus::anywhere(set.device());
                let unit =
                    Processor::new(set.device(), set.tasks(), chips, Placement::Stripe, bus).expect("small numbers");
                if let Choice::Holds(gc) = choose(&unit, &[Contention::none()], 0, &work) {
                    clusters.push((unit, gc));
                    break;
                }
            }
        }
    }
    let nobody = Contention::none();
    let mut group = criterion.benchmark_group("tests of clusters of 8 tasks");
    group.throughput(Throughput::Elements(clusters.len() as u64));
    group.bench_function("exact, by segmented QPA", |bencher| {
        bencher.iter(|| {
            for (unit, gc) in &clusters {
                black_box(Demand::new(unit, &nobody, *gc, 0, &work).test());
            }
        });
    });
    group.bench_function("cheap", |bencher| {
        bencher.iter(|| {
            for (unit, gc) in &clusters {
                black_box(Demand::new(unit, &nobody, *gc, 0, &work).surely_holds());
            }
        });
    });
    group.bench_function("with the search for a deadline of garbage collection", |bencher| {
        bencher.iter(|| {
            for (unit, _) in &clusters {
                black_box(choose(unit, std::slice::from_ref(&nobody), 0, &work));
            }
        });
    });
    group.finish();
}

fn allocations(criterion: &mut Criterion) {
    for (tasks, chips, step, each) in [(8, 16, 1, 5), (1_000, 1_024, 1_000, 1)] {
        let options = options(chips, tasks);
        let tenths = if tasks == 8 { (1..=40).step_by(step) } else { (1_000..=3_000).step_by(step) };
        let sets: Vec<TaskSet> = tenths
            .flat_map(|tenths| (0..each).map(move |index| (tenths, index)))
            .map(|(tenths, index)| draw(&options, tenths, index))
            .collect();
        let mut group = criterion.benchmark_group(format!("{tasks} tasks on {chips} chips, sound"));
        group.sample_size(10);
        group.throughput(Throughput::Elements(sets.len() as u64));
        group.bench_function("clustering-bfd", |bencher| {
            bencher.iter(|| sets.iter().for_each(|set| drop(black_box(ClusteringBfd.allocate(set, &SOUND)))));
        });
        if tasks == 8 {
            group.bench_function("exact", |bencher| {
                bencher.iter(|| sets.iter().for_each(|set| drop(black_box(Exact.allocate(set, &SOUND)))));
            });
        }
        group.finish();
    }
}

/// Sets of 10,000 tasks on 4,096 chips, 8 a channel, just above what best fit finds room for: the
/// load is that part of what the chips can do by the thesis.
fn at_the_edge(criterion: &mut Criterion) {
    let profile = Device::profile("dgist-2021").expect("the profile").spec();
    let mut group = criterion.benchmark_group("10000 tasks on 4096 chips at the edge, sound");
    group.sample_size(10);
    for (page_registers, accesses, percent) in [
        (1, Accesses::Sequential, 20),
        (1, Accesses::Stream, 20),
        (1, Accesses::Random, 18),
        (2, Accesses::Sequential, 24),
        (2, Accesses::Random, 20),
    ] {
        let chips = 4096;
        let device = DeviceSpec { chips, chips_per_channel: 8, page_registers: Some(page_registers), ..profile };
        let set = draw(&options_on(device, 10_000, accesses), u64::from(chips) * percent / 10, 0);
        group.bench_function(format!("{accesses:?}, {page_registers} page registers, {percent} %"), |bencher| {
            bencher.iter(|| black_box(BestFit.allocate(&set, &SOUND)));
        });
    }
    group.finish();
}

criterion_group!(benches, tests, allocations, at_the_edge);
criterion_main!(benches);
