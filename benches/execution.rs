//! How many flash operations (reads, programs, erases) a second the executor does, with FTL, buses
//! and all checkers.
//!
//! `cargo bench --bench execution`. The device is `dgist-2021`: 16 chips of 1,024 blocks of 256
//! pages, four chips on a channel. Making the device, full and aged, is part of what is measured.
//! The last two cases are dispatched by the certificates of their analyses.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rtflash::alloc::allocator::allocator;
use rtflash::alloc::analysis::analysis;
use rtflash::exec::{Aging, Dispatch, Options, Pattern, Service, Times, Victims};
use rtflash::model::{Device, Instant, Request, Span, Task, TaskSet};
use rtflash::run::{Executed, execute};

/// Writers alone, so that about as many pages are copied as written.
fn writers(count: u32) -> TaskSet {
    let device = Device::profile("dgist-2021").expect("the profile");
    let write = Request::new(u64::from(800 / count), Span::from_us(150_000));
    let task = |number| Task { name: format!("w{number}"), read: None, write, data_pages: None };
    TaskSet::new(device, (0..count).map(task).collect(), vec![]).expect("a set")
}

fn run(set: &TaskSet, (algorithm, by): (&str, &str), dispatch: Dispatch, seconds: u64) -> Executed {
    let by = analysis(by).expect("the analysis");
    let outcome = allocator(algorithm).expect("the algorithm").allocate(set, by);
    let options = Options {
        duration: Instant::from_ns(seconds * 1_000_000_000).expect("a duration"),
        dispatch,
        service: Service::Tbs,
        victims: Victims::Worst,
        aging: Aging::Worst,
        pattern: Pattern::Uniform,
        times: Times::Worst,
        seed: 1,
        ..Options::default()
    };
    execute(set, outcome.allocation().expect("an allocation"), by, &options, None).expect("a run")
}

fn execution(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("flash operations, worst victims");
    group.sample_size(10);
    let cases = [
        ("8 clusters that share channels", 8, ("equal-split", "thesis"), Dispatch::Serial, 300),
        ("4 clusters with a channel each", 4, ("equal-split", "thesis"), Dispatch::Serial, 300),
        ("1 cluster of 16 chips", 1, ("global", "thesis"), Dispatch::Serial, 300),
        ("8 clusters, parallel dispatch", 8, ("equal-split", "thesis"), Dispatch::Parallel, 100),
        ("8 tasks under stripe", 8, ("equal-split", "stripe"), Dispatch::Serial, 300),
        ("8 tasks under superblock", 8, ("equal-split", "superblock"), Dispatch::Serial, 300),
    ];
    for (name, tasks, by, dispatch, seconds) in cases {
        let set = writers(tasks);
        let done = run(&set, by, dispatch, seconds).report.operations();
        group.throughput(Throughput::Elements(done.reads + done.programs + done.erases));
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let name = format!("{name}, threads: {threads}");
            group.bench_function(name, |bench| {
                bench.iter(|| pool.install(|| black_box(run(&set, by, dispatch, seconds))));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, execution);
criterion_main!(benches);
