//! How many allocations a second.
//!
//! `cargo bench --bench allocation`. Task sets are parsed beforehand; each size covers total
//! utilizations from 0.1 to 4.0.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rtflash::alloc::allocator::{Allocator, ClusteringBfd, Exact};
use rtflash::alloc::analysis::{Analysis, Thesis, ThesisEvaluated, fits_alone};
use rtflash::model::generate::{Accesses, Generator, PeriodRange, SetOptions, SetSpec, Utilization, Writes};
use rtflash::model::{Allocation, Device, DeviceSpec, TaskSet, read_task_set, write_task_set};

fn options(chips: u32, tasks: u32, analysis: &dyn Analysis) -> SetOptions {
    let profile = Device::profile("dgist-2021").expect("the profile").spec();
    let device = Device::new(DeviceSpec { chips, ..profile }).expect("a device");
    let page_costs = analysis.page_costs(&device);
    let spec = SetSpec {
        device,
        tasks,
        generator: Generator::UUniFast,
        page_costs,
        writes: Writes::Drawn,
        accesses: Accesses::Random,
        deadlines: None,
        periods: PeriodRange::default(),
        pages: None,
        seed: 1,
    };
    SetOptions::new(spec).expect("options")
}

fn draw(options: &SetOptions, analysis: &dyn Analysis, tenths: u64, index: u64) -> TaskSet {
    let utilization = Utilization::from_billionths(tenths * 100_000_000).expect("a utilization");
    options.draw(utilization, index, |device, task| fits_alone(analysis, device, task)).expect("a set")
}

/// `each` sets at each of the utilizations 0.1, 0.2 … 4.0.
fn sets(chips: u32, tasks: u32, analysis: &dyn Analysis, each: u64) -> Vec<TaskSet> {
    let options = options(chips, tasks, analysis);
    let numbers = (1..=40).flat_map(|tenths| (0..each).map(move |index| (tenths, index)));
    numbers.map(|(tenths, index)| draw(&options, analysis, tenths, index)).collect()
}

fn clustering_bfd(criterion: &mut Criterion) {
    let analyses: [&dyn Analysis; 2] = [&Thesis, &ThesisEvaluated];
    for analysis in analyses {
        for (tasks, chips, each) in [(8, 16, 25), (32, 256, 10)] {
            let mut group = criterion.benchmark_group(format!("{tasks} tasks on {chips} chips, {}", analysis.name()));
            let many = sets(chips, tasks, analysis, each);
            group.throughput(Throughput::Elements(many.len() as u64));
            group.bench_function("clustering-bfd", |bencher| {
                bencher.iter(|| many.iter().for_each(|set| drop(black_box(ClusteringBfd.allocate(set, analysis)))));
            });
            group.finish();
        }
    }
}

fn exact(criterion: &mut Criterion) {
    let many = sets(16, 8, &Thesis, 5);
    let mut group = criterion.benchmark_group("8 tasks on 16 chips, thesis");
    group.throughput(Throughput::Elements(many.len() as u64));
    group.bench_function("exact", |bencher| {
        bencher.iter(|| many.iter().for_each(|set| drop(black_box(Exact.allocate(set, &Thesis)))));
    });
    group.finish();
}

/// From the text of a file to an allocation: 10,000 tasks on 4,096 chips, at utilization 1000.
fn large_file(criterion: &mut Criterion) {
    let set = draw(&options(4096, 10_000, &Thesis), &Thesis, 10_000, 0);
    let text = write_task_set(&set, None);
    let mut group = criterion.benchmark_group("10000 tasks on 4096 chips, thesis");
    group.sample_size(10);
    group.bench_function("from file to answer", |bencher| {
        bencher.iter(|| {
            let file = read_task_set(&text).expect("a task set");
            let outcome = ClusteringBfd.allocate(&file.set, &Thesis);
            black_box(outcome.allocation().map(Allocation::clusters))
        });
    });
    group.finish();
}

criterion_group!(benches, clustering_bfd, exact, large_file);
criterion_main!(benches);
