//! Random cases for the sound analyses: sets at the very limit of what they accept, run under
//! whatever is meant to break them.

use rtflash_alloc::allocator::{Allocator, BestFit, EqualSplit, Exact, Global};
use rtflash_analysis::{Analysis, analysis_relying_on};
use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Arrivals, Device, DeviceSpec, Instant, Job, LogicalRatio, Reliance, Request, Shortest, Span, Task, TaskSet,
};
use rtflash_plan::{Aging, Dispatch, Options, Pattern, Phases, Placed, Service, Times, Victims, Waits};

use super::draw::Case;

/// Pages that a run may take, about.
const PAGES: u64 = 3_000;

/// The case of this seed and number; `None` where what was drawn cannot be accepted at any load.
pub fn draw(seed: u64, run: u64) -> Option<Case> {
    let mut rng = Stream::numbered(seed, b"sound\0\0\0", run);
    let times = rng.one_of(&[Times::Worst, Times::Worst, Times::Best, Times::Random]);
    let device = with_more(&mut Stream::numbered(seed, b"more\0\0\0\0", run), &device(&mut rng, times)?)?;
    // The most that may be relied on is relied on, so that as much as can be is accepted: the queue
    // where reads are steady, the neighbours' load where they are not.
    let granted = Reliance::Queue;
    let analysis = rng.one_of(&["stripe", "superblock", "sound"]);
    let analysis = analysis_relying_on(analysis, granted)?;
    let allocator: &dyn Allocator = rng.one_of(&[&BestFit as &dyn Allocator, &Global, &Global, &EqualSplit, &Exact]);
    // Drawn apart: what else is drawn does not depend on it.
    let mut due = Stream::numbered(seed, b"due\0\0\0\0\0", run);
    let tasks = with_deadlines(&mut due, tasks(&mut rng, &device)?, true)?;
    let jobs = if rng.within(0, 2) == 0 { jobs(&mut rng, &device) } else { Vec::new() };
    let set = TaskSet::new(device, tasks, jobs).ok()?;
    let set = at_the_limit(&set, allocator, analysis)?;
    let pages: f64 = set
        .tasks()
        .iter()
        .flat_map(|task| [task.read, task.write])
        .flatten()
        .map(|request| request.pages() as f64 / request.period().as_ns() as f64)
        .sum();
    let longest = set
        .tasks()
        .iter()
        .flat_map(|task| [task.read, task.write])
        .flatten()
        .map(|request| request.period().as_ns())
        .max()?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Saturates, which is meant.
    let duration = (PAGES as f64 / pages) as u64;
    let duration = duration.clamp(longest.saturating_mul(3), longest.saturating_mul(400));
    let options = Options {
        duration: Instant::from_ns(duration)?,
        dispatch: Dispatch::Serial,
        service: rng.one_of(&[Service::Tbs, Service::Tbs, Service::Background]),
        victims: rng.one_of(&[Victims::Actual, Victims::Worst]),
        aging: rng.one_of(&[Aging::Worst, Aging::Worst, Aging::Worst, Aging::Random, Aging::Fresh]),
        pattern: rng.one_of(&[
            Pattern::Uniform,
            Pattern::Sequential,
            Pattern::HotCold,
            Pattern::OneChip,
            Pattern::Fullest,
            Pattern::Fullest,
        ]),
        times,
        seed: rng.within(0, u64::MAX - 1),
        placed: Placed {
            backfill: rng.within(0, 1) == 0,
            waits: rng.one_of(&[Waits::Actual, Waits::Worst]),
            faults: faults(&set, seed, run),
        },
        phases: rng.one_of(&[Phases::Periodic, Phases::AtErases]),
        ..Options::default()
    };
    Some(Case { seed, run, set, allocator, analysis, options })
}

fn device(rng: &mut Stream, times: Times) -> Option<Device> {
    let us = |rng: &mut Stream, low: u32, high: u32| Span::from_us(rng.small(low, high));
    let [page_read, page_program, block_erase, page_transfer] =
        [(1, 60), (5, 400), (10, 800), (1, 50)].map(|(low, high)| us(rng, low, high));
    let mut shortest = |max: Span| {
        let min = Span::from_ns(rng.within(1, max.as_ns()));
        min.filter(|_| times != Times::Worst)
    };
    let exact = (page_read.as_ns() / 1_000).is_multiple_of(2);
    let shortest = Shortest {
        page_read: shortest(page_read),
        page_program: shortest(page_program),
        block_erase: shortest(block_erase),
        page_transfer: shortest(page_transfer).filter(|_| !exact),
    };
    Device::new(DeviceSpec {
        chips: rng.small(1, 8),
        chips_per_channel: rng.small(1, 4),
        blocks_per_chip: rng.small(10, 60),
        pages_per_block: rng.small(2, 16),
        page_size: 4096,
        shortest,
        logical_ratio: LogicalRatio::from_decimal(rng.within(10, 80).into(), 2).ok()?,
        page_read,
        page_program,
        block_erase,
        page_transfer,
        ..DeviceSpec::default()
    })
    .ok()
}

/// In a third of the cases two page registers, in a third commands no longer than a transfer, in a
/// ninth both; in quarters one or two blocks that can fail, suspended erases, and (with one page
/// register) levelled wear.
fn with_more(rng: &mut Stream, device: &Device) -> Option<Device> {
    let page_registers = (rng.within(0, 2) == 0).then_some(2);
    let command = Span::from_ns(rng.within(1, device.page_transfer().as_ns())).filter(|_| rng.within(0, 2) == 0);
    let spare_blocks = (rng.within(0, 3) == 0).then(|| rng.small(1, 2));
    let program_failures = spare_blocks.filter(|_| rng.within(0, 1) == 0).map(|_| 1);
    let suspends = rng.within(0, 3) == 0 && device.block_erase() > Span::from_us(1);
    let erase_suspend = Span::from_ns(rng.within(1, device.block_erase().as_ns() / 2)).filter(|_| suspends);
    let erase_resume = Span::from_ns(rng.within(0, device.block_erase().as_ns() / 4)).filter(|_| suspends);
    let spec = DeviceSpec { page_registers, command, spare_blocks, program_failures, ..device.spec() };
    let wear_gap = (rng.within(0, 3) == 0 && page_registers.is_none()).then(|| rng.small(1, 4));
    let wear_passes = wear_gap.and_then(|_| (rng.within(0, 1) == 0).then(|| rng.small(2, 8)));
    let spec = DeviceSpec { erase_suspend, erase_resume, wear_gap, wear_passes, ..spec };
    let blocks_per_chip = device.blocks_per_chip() + spec.blocks_kept_back();
    Device::new(DeviceSpec { blocks_per_chip, ..spec }).ok()
}

/// Requests that are long beside an erase, most of them, so that what blocks does not matter much.
fn tasks(rng: &mut Stream, device: &Device) -> Option<Vec<Task>> {
    let count = rng.small(1, 5);
    let sequential = rng.within(0, 2);
    let unit = device.block_erase().max(device.page_program()).as_ns();
    let tasks = (0..count).map(|number| {
        let kinds = rng.within(0, 4);
        let mut request = |cost: u64| {
            let period = unit * rng.within(8, 120) + rng.within(0, unit);
            let share = rng.within(1, 100) as f64 / 100.0;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Above zero, and small.
            let pages = (share * period as f64 / cost.max(1) as f64 / f64::from(count)) as u64;
            let access = match sequential {
                0 => Access::Random,
                1 => Access::Sequential,
                _ => rng.one_of(&[Access::Random, Access::Sequential, Access::Stream]),
            };
            Some(Request::new(pages.max(1), Span::from_ns(period)?)?.with_access(access))
        };
        let bus = device.page_transfer().as_ns();
        let read = if kinds == 0 { None } else { request(device.page_read().as_ns() + bus) };
        let write = if kinds == 1 { None } else { request(2 * device.page_program().as_ns() + bus) };
        Task { name: format!("t{}", number + 1), read, write, data_pages: None }
    });
    Some(tasks.collect())
}

/// In half of the cases from three tenths of the period on, some released late. If `buffers`, a
/// third of these has deadlines of up to four periods.
pub fn with_deadlines(rng: &mut Stream, tasks: Vec<Task>, buffers: bool) -> Option<Vec<Task>> {
    if rng.within(0, 1) == 0 {
        return Some(tasks);
    }
    let late = rng.within(0, 2) > 0;
    let longest = if buffers { rng.one_of(&[1_000, 1_000, 4_000]) } else { 1_000 };
    let mut request = |request: Option<Request>| {
        let Some(request) = request else { return Some(None) };
        let period = request.period().as_ns();
        let deadline = (period * rng.within(300, longest) / 1_000).max(1);
        let latest = deadline.min(period);
        let jitter = match rng.within(0, 2) {
            0 => 0,
            1 => latest * rng.within(0, 300) / 1_000,
            _ => rng.within(0, latest - 1),
        };
        let jitter = if late { jitter } else { 0 };
        let request = request.with_deadline(Some(Span::from_ns(deadline)?))?;
        Some(Some(request.with_jitter(Span::from_ns(jitter)?)?))
    };
    let task = |task: Task| Some(Task { read: request(task.read)?, write: request(task.write)?, ..task });
    tasks.into_iter().map(task).collect()
}

/// A source of jobs, no two of which come sooner than an erase or a program takes.
pub fn jobs(rng: &mut Stream, device: &Device) -> Vec<Job> {
    let unit = device.block_erase().max(device.page_program()).as_ns();
    let low = unit * rng.within(1, 20);
    let high = low + unit * rng.within(0, 40);
    let arrivals = match (Span::from_ns(low), Span::from_ns(high)) {
        (Some(low), Some(high)) => Arrivals::Uniform(low, high),
        _ => return Vec::new(),
    };
    let (read_pages, write_pages) = (rng.within(0, 12), rng.within(1, 12));
    vec![Job { name: "j1".into(), read_pages, write_pages, arrivals }]
}

/// Periods, deadlines and jitters as short as the analysis accepts, to a thousandth.
fn at_the_limit(set: &TaskSet, allocator: &dyn Allocator, analysis: &dyn Analysis) -> Option<TaskSet> {
    let scaled = |thousandths: u64| {
        let part = |of: Span| {
            let part = u128::from(of.as_ns()) * u128::from(thousandths) / 1_000;
            Span::from_ns(u64::try_from(part).ok()?)
        };
        let shorter = |request: Request| {
            let deadline = match request.stated_deadline() {
                None => None,
                Some(deadline) => Some(part(deadline)?),
            };
            let plain = request.with_jitter(Span::ZERO)?.with_deadline(None)?.with_period(part(request.period())?)?;
            plain.with_deadline(deadline)?.with_jitter(part(request.jitter())?)
        };
        let task = |task: &Task| {
            let (read, write) = (task.read.map(shorter), task.write.map(shorter));
            (read != Some(None) && write != Some(None)).then(|| Task {
                read: read.flatten(),
                write: write.flatten(),
                ..task.clone()
            })
        };
        let tasks = set.tasks().iter().map(task).collect::<Option<Vec<Task>>>()?;
        let set = TaskSet::new(*set.device(), tasks, set.jobs().to_vec()).ok()?;
        (allocator.allocate(&set, analysis).is_schedulable() == Some(true)).then_some(set)
    };
    let (mut failing, mut passing) = (0, 16_000);
    let mut best = scaled(passing)?;
    while failing + 1 + passing / 1_000 < passing {
        let middle = u64::midpoint(failing, passing);
        match scaled(middle) {
            Some(set) => (best, passing) = (set, middle),
            None => failing = middle,
        }
    }
    Some(best)
}

/// As soon as may be, or now and then, when there are more requests that failures can make late.
pub fn faults(set: &TaskSet, seed: u64, run: u64) -> u16 {
    match set.device().spare_blocks() {
        0 => 0,
        _ => Stream::numbered(seed, b"failing\0", run).one_of(&[1_000, 300, 100, 30, 10]),
    }
}
