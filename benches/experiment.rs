//! How many task sets a second an experiment draws, allocates and counts.
//!
//! `cargo bench --bench experiment`: UUniFast sets of total utilization 0.1 to 4.0 and
//! Clustering-BFD, on one thread and on two; and the four algorithms of Figure V.1a on its 4,000
//! sets, with the figure drawn.

use std::hint::black_box;
use std::io;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rtflash::alloc::allocator::allocator;
use rtflash::alloc::analysis::{Analysis, Thesis, ThesisEvaluated};
use rtflash::draw::figures;
use rtflash::exec::Service;
use rtflash::experiment::output::tables;
use rtflash::experiment::plan::{Contender, Measure, Spec};
use rtflash::experiment::{Plan, Progress, Shard, Watcher, run};
use rtflash::model::generate::{Accesses, Generator, PeriodRange, SetSpec, Utilization, UtilizationRange, Writes};
use rtflash::model::{Device, DeviceSpec};

struct Nobody;

impl Watcher for Nobody {
    fn advance(&mut self, _: u64) {}

    fn keep(&mut self, _: &Progress) -> io::Result<()> {
        Ok(())
    }
}

fn plan(
    tasks: u32,
    chips: u32,
    sets: u64,
    generator: Generator,
    analysis: &'static dyn Analysis,
    names: &[&str],
) -> Plan {
    let profile = Device::profile("dgist-2021").expect("the profile").spec();
    let device = Device::new(DeviceSpec { chips, ..profile }).expect("a device");
    let page_costs = analysis.page_costs(&device);
    let range: UtilizationRange = "0.1..4.0".parse().expect("a range");
    let contender =
        |name: &&str| Contender { allocator: allocator(name).expect("an algorithm"), analysis, service: Service::Tbs };
    let spec = Spec {
        measure: Measure::Schedulability,
        sets: SetSpec {
            device,
            tasks,
            generator,
            page_costs,
            writes: Writes::Drawn,
            accesses: Accesses::Random,
            deadlines: None,
            periods: PeriodRange::default(),
            pages: None,
            seed: 1,
        },
        sets_per_point: sets,
        analysis: Some(analysis),
        utilizations: range.points(Utilization::TENTH).expect("points"),
        sweep: None,
        contenders: names.iter().map(contender).collect(),
    };
    Plan::new(spec).expect("a plan")
}

fn work(plan: &Plan) -> Progress {
    run(plan, Progress::new(plan, "", Shard::WHOLE), &mut Nobody).expect("nothing is kept")
}

fn pipeline(criterion: &mut Criterion) {
    for (tasks, chips, sets) in [(8, 16, 1_250), (32, 256, 250)] {
        let plan = plan(tasks, chips, sets, Generator::UUniFast, &Thesis, &["clustering-bfd"]);
        let mut group = criterion.benchmark_group(format!("experiment, {tasks} tasks on {chips} chips"));
        group.throughput(Throughput::Elements(plan.sets()));
        group.sample_size(20);
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            group.bench_function(format!("threads: {threads}"), |bencher| {
                bencher.iter(|| pool.install(|| black_box(work(&plan))));
            });
        }
        group.finish();
    }
}

fn figure(criterion: &mut Criterion) {
    let names = ["clustering-bfd", "equal-split", "part-ftl", "global"];
    let plan = plan(8, 16, 100, Generator::IntegerShares, &ThesisEvaluated, &names);
    let mut group = criterion.benchmark_group("figure V.1a");
    group.sample_size(20);
    group.bench_function("4,000 sets, four algorithms, tables and figures", |bencher| {
        bencher.iter(|| {
            let done = work(&plan);
            let files: Vec<_> =
                figures(&plan, done.tallies()).iter().map(|figure| figure.files().expect("files")).collect();
            black_box((files, tables(&plan, done.tallies())))
        });
    });
    group.finish();
}

criterion_group!(benches, pipeline, figure);
criterion_main!(benches);
