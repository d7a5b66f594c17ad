//! How long a decision takes on whether a task may be added to what runs.
//!
//! `cargo bench --bench admission`. Seven tasks run on 16 chips, divided by `best-fit`; whether an
//! eighth may be added is asked, at total utilizations from 0.4 to 6.0; by every organisation, and
//! on devices with all that one may have.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rtflash::alloc::Work;
use rtflash::alloc::admission::{Decision, RunningDevice, admit};
use rtflash::alloc::allocator::{Allocator, BestFit};
use rtflash::alloc::analysis::{Analysis, DemandTest, analysis_relying_on, fits_alone};
use rtflash::model::generate::{Accesses, Generator, PeriodRange, SetOptions, SetSpec, Utilization, Writes};
use rtflash::model::{Device, DeviceSpec, LogicalRatio, Reliance, Span, TaskId, TaskSet};

const TASKS: u32 = 8;

/// An additional property of a device.
#[derive(Debug, Clone, Copy)]
enum With {
    Nothing,
    Commands,
    Registers,
    SpareBlocks,
    Wear,
    Suspension,
}

impl With {
    fn device(self, plain: DeviceSpec) -> DeviceSpec {
        match self {
            With::Nothing => plain,
            With::Commands => DeviceSpec { command: Some(Span::from_us(1)), ..plain },
            With::Registers => DeviceSpec { page_registers: Some(2), ..plain },
            With::SpareBlocks => DeviceSpec { spare_blocks: Some(8), program_failures: Some(2), ..plain },
            With::Wear => DeviceSpec { wear_gap: Some(4), wear_passes: Some(16), ..plain },
            With::Suspension => {
                DeviceSpec { erase_suspend: Some(Span::from_us(100)), erase_resume: Some(Span::from_us(100)), ..plain }
            }
        }
    }
}

fn options(analysis: &dyn Analysis, with: With, accesses: Accesses) -> SetOptions {
    let profile = Device::profile("dgist-2021").expect("the profile").spec();
    let logical_ratio = LogicalRatio::from_decimal(75, 2).expect("a ratio");
    let device = with.device(DeviceSpec { chips: 16, logical_ratio, ..profile });
    let device = Device::new(device).expect("a device");
    let spec = SetSpec {
        device,
        tasks: TASKS,
        generator: Generator::UUniFast,
        page_costs: analysis.page_costs(&device),
        writes: Writes::Drawn,
        accesses,
        deadlines: None,
        periods: PeriodRange::default(),
        pages: None,
        seed: 1,
    };
    SetOptions::new(spec).expect("options")
}

/// Sets of which seven tasks run.
fn asked(analysis: &dyn Analysis, with: With, accesses: Accesses) -> Vec<(TaskSet, RunningDevice)> {
    let options = options(analysis, with, accesses);
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

/// An analysis, what it may lean on, and how sets and devices are drawn for it.
type Asked = (&'static str, Reliance, With, Accesses);

const ASKED: [Asked; 14] = [
    ("stripe", Reliance::Nothing, With::Nothing, Accesses::Sequential),
    ("stripe", Reliance::Neighbours, With::Nothing, Accesses::Sequential),
    ("sound", Reliance::Neighbours, With::Nothing, Accesses::Sequential),
    ("stripe", Reliance::Queue, With::Nothing, Accesses::Sequential),
    ("superblock", Reliance::Neighbours, With::Nothing, Accesses::Sequential),
    ("sound", Reliance::Queue, With::Nothing, Accesses::Stream),
    ("zoned", Reliance::Neighbours, With::Nothing, Accesses::Stream),
    ("sound", Reliance::Neighbours, With::Commands, Accesses::Sequential),
    ("sound", Reliance::Queue, With::Commands, Accesses::Sequential),
    ("sound", Reliance::Neighbours, With::Registers, Accesses::Sequential),
    ("superblock", Reliance::Nothing, With::Registers, Accesses::Sequential),
    ("sound", Reliance::Neighbours, With::SpareBlocks, Accesses::Sequential),
    ("sound", Reliance::Neighbours, With::Wear, Accesses::Sequential),
    ("sound", Reliance::Neighbours, With::Suspension, Accesses::Sequential),
];

fn decisions(criterion: &mut Criterion) {
    for (name, granted, with, accesses) in ASKED {
        let analysis = analysis_relying_on(name, granted).expect("an analysis");
        let test: DemandTest = analysis.demand_test().expect("a demand test");
        let asked = asked(analysis, with, accesses);
        let decide =
            |(set, running): &(TaskSet, RunningDevice)| admit(test, set, running, TaskId(TASKS - 1), &Work::new());
        let yes = |it: &&(TaskSet, RunningDevice)| matches!(decide(it), Decision::Admitted(_));
        let (admitted, refused): (Vec<_>, Vec<_>) = asked.iter().partition(yes);
        let times = |sets: &[&(TaskSet, RunningDevice)]| -> Vec<Duration> {
            sets.iter().map(|it| shortest(|| drop(black_box(decide(it))))).collect()
        };
        for (what, times) in [("admitted", times(&admitted)), ("refused", times(&refused))] {
            let mean = times.iter().sum::<Duration>() / u32::try_from(times.len().max(1)).expect("few");
            let longest = times.iter().max().copied().unwrap_or_default();
            println!(
                "{name}, {granted:?}, {with:?}, {accesses:?}: {} {what}, {mean:?} each, none in more than {longest:?}",
                times.len()
            );
        }
        let mut group = criterion.benchmark_group(format!("a task more, {name} {granted:?} {with:?} {accesses:?}"));
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
