//! Random cases: a device, a task set, policies and a workload, all from one number.

use rtflash_alloc::allocator::{ALLOCATORS, Allocator};
use rtflash_analysis::{Analysis, Thesis, ThesisEvaluated};
use rtflash_model::random::Stream;
use rtflash_model::{Arrivals, Device, DeviceSpec, Instant, Job, LogicalRatio, Reliance, Request, Span, Task, TaskSet};
use rtflash_plan::{Aging, Arbitration, Dispatch, Options, Pattern, Phases, Recurrence, Service, Ties, Times, Victims};

/// A case as it was drawn.
#[derive(Clone)]
pub struct Case {
    /// The number it was drawn from, with [`Case::run`].
    pub seed: u64,
    /// Which of the seed's cases it is.
    pub run: u64,
    /// Device, tasks and jobs.
    pub set: TaskSet,
    /// The allocator that divides the chips.
    pub allocator: &'static dyn Allocator,
    /// Whose promises are tested.
    pub analysis: &'static dyn Analysis,
    /// Policies and workload.
    pub options: Options,
}

/// The readings of Theorem 1.
const THEOREM_1: [&dyn Analysis; 2] = [&Thesis, &ThesisEvaluated];

/// A world that cases are drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// Everything: shared channels, every dispatch, service, aging and address pattern.
    Any,
    /// As Theorem 1 supposes: no shared channel, serial dispatch, uniform addresses, only tasks.
    Supposed,
    /// At the limit of the demand tests, under whatever is meant to break them; some with two page
    /// registers, commands, or failing blocks.
    Sound,
}

impl World {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            World::Any => "any",
            World::Supposed => "supposed",
            World::Sound => "sound",
        }
    }
}

fn device(rng: &mut Stream, world: World) -> Option<Device> {
    let chips = rng.small(1, 8);
    let read = rng.small(20, 100);
    let spec = DeviceSpec {
        chips,
        chips_per_channel: if world == World::Supposed { 1 } else { rng.small(1, 4) },
        blocks_per_chip: rng.small(16, 96),
        pages_per_block: rng.small(4, 64),
        page_size: 4096,
        logical_ratio: LogicalRatio::from_decimal(rng.within(20, 90).into(), 2).ok()?,
        page_read: Span::from_us(read),
        page_program: Span::from_us(rng.small(200, 800)),
        block_erase: Span::from_us(rng.small(1_000, 8_000)),
        page_transfer: Span::from_us(rng.small(1, read)),
        ..DeviceSpec::default()
    };
    Device::new(spec).ok()
}

/// A request of pages every period that takes about this share of a chip.
fn request(rng: &mut Stream, share: f64, cost: Span) -> Option<Request> {
    let period = rng.within(5_000, 200_000) * 1_000;
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let pages = (share * period as f64 / cost.as_ns() as f64) as u64;
    Request::new(pages.max(1), Span::from_ns(period)?)
}

fn tasks(rng: &mut Stream, device: &Device, load: f64) -> Vec<Task> {
    let count = rng.small(1, 6);
    let mut shares: Vec<f64> = (0..count).map(|_| rng.unit() + 0.05).collect();
    let total: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share *= load / total);
    let task = |(number, &share): (usize, &f64)| {
        let kinds = rng.within(0, 3);
        let split = rng.unit();
        let read = (kinds != 1).then(|| request(rng, share * split, device.page_read())).flatten();
        // Garbage collection costs about as much again.
        let write = (kinds != 0).then(|| request(rng, share * (1.0 - split) / 3.0, device.page_program())).flatten();
        Task { name: format!("t{}", number + 1), read, write, data_pages: None }
    };
    shares.iter().enumerate().map(task).collect()
}

fn jobs(rng: &mut Stream) -> Vec<Job> {
    if rng.within(0, 2) == 0 {
        return Vec::new();
    }
    let gap = |rng: &mut Stream| Span::from_us(rng.small(1_000, 50_000));
    let arrivals = if rng.within(0, 1) == 0 {
        Arrivals::Every(gap(rng))
    } else {
        let (a, b) = (gap(rng), gap(rng));
        Arrivals::Uniform(a.min(b), a.max(b))
    };
    let (read_pages, write_pages) = (rng.within(0, 20), rng.within(1, 20));
    vec![Job { name: "j1".into(), read_pages, write_pages, arrivals }]
}

/// Drawn apart: all else stays what it was.
pub(super) fn with_adversaries(mut case: Case) -> Case {
    let mut rng = Stream::numbered(case.seed, b"releases", case.run);
    let phases = rng.one_of(&[Phases::Periodic, Phases::Random]);
    if case.options.phases == Phases::Periodic {
        case.options.phases = phases;
    }
    case.options.ties = rng.one_of(&[Ties::Lowest, Ties::Lowest, Ties::Highest, Ties::Random]);
    // An analysis that relies on the queue needs a bus that serves first come, first served.
    let queue = case.analysis.relies_on() == Reliance::Queue;
    let arbitration = rng.one_of(&[Arbitration::Fifo, Arbitration::Fifo, Arbitration::RoundRobin]);
    case.options.arbitration = if queue { Arbitration::Fifo } else { arbitration };
    case.options.recurrence = rng.one_of(&[Recurrence::Periodic, Recurrence::Periodic, Recurrence::Sporadic]);
    with_chance_or_bursts(&mut rng, case)
}

/// The case with some streams of jobs that arrive by chance, or in bursts, no more often.
fn with_chance_or_bursts(rng: &mut Stream, mut case: Case) -> Case {
    let changed = case.set.jobs().iter().map(|job| {
        let mean = match job.arrivals {
            Arrivals::Every(gap) => gap,
            Arrivals::Uniform(low, high) => low.max(high),
            _ => return job.clone(),
        };
        let burst = rng.within(2, 5);
        let arrivals = match rng.within(0, 3) {
            0 => Arrivals::Poisson(mean),
            1 => mean.checked_mul(burst).map_or(Arrivals::Every(mean), |every| Arrivals::Bursts { every, burst }),
            _ => job.arrivals.clone(),
        };
        Job { arrivals, ..job.clone() }
    });
    let (jobs, tasks) = (changed.collect(), case.set.tasks().as_slice().to_vec());
    case.set = TaskSet::new(*case.set.device(), tasks, jobs).expect("other arrivals cost as much (invariant)");
    case
}

/// A case for Theorem 1.
pub(super) fn draw(seed: u64, run: u64, world: World) -> Option<Case> {
    let mut rng = Stream::numbered(seed, b"soak\0\0\0\0", run);
    let device = device(&mut rng, world)?;
    let load = (0.2 + 0.8 * rng.unit()) * f64::from(device.chips());
    let tasks = tasks(&mut rng, &device, load);
    let jobs = if world == World::Any { jobs(&mut rng) } else { Vec::new() };
    let set = TaskSet::new(device, tasks, jobs).ok()?;
    let any = world == World::Any;
    let names: &[&str] = if any {
        &["clustering-bfd", "full-isolation", "equal-split", "global"]
    } else {
        &["clustering-bfd", "equal-split", "global"]
    };
    let name = rng.one_of(names);
    let allocator = ALLOCATORS.into_iter().find(|allocator| allocator.name() == name)?;
    let options = Options {
        duration: Instant::from_ns(rng.within(500, 4_000) * 1_000_000)?,
        dispatch: if any {
            rng.one_of(&[Dispatch::Serial, Dispatch::Serial, Dispatch::Parallel])
        } else {
            Dispatch::Serial
        },
        service: if any { rng.one_of(&[Service::Tbs, Service::Background]) } else { Service::Tbs },
        victims: rng.one_of(&[Victims::Actual, Victims::Worst]),
        aging: rng.one_of(if any { &[Aging::Worst, Aging::Random, Aging::Fresh] } else { &[Aging::Worst] }),
        pattern: if any {
            rng.one_of(&[Pattern::Uniform, Pattern::Sequential, Pattern::HotCold, Pattern::OneChip])
        } else {
            Pattern::Uniform
        },
        times: Times::Worst,
        seed: rng.below(u64::MAX),
        ..Options::default()
    };
    Some(Case { seed, run, set, allocator, analysis: rng.one_of(&THEOREM_1), options })
}
