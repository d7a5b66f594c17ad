//! Small worlds out of a fuzzer's bytes: every input is a task set that is read, most of them ones
//! that matter.
//!
//! A task set in JSON is hardly ever still one after a mutation. Here each byte is a number that
//! some field takes, so mutations stay inside what is possible, and coverage leads to the edges of
//! the analyses instead of those of the parser.

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use rtflash::alloc::allocator::{ALLOCATORS, Allocator};
use rtflash::alloc::analysis::{ANALYSES, Analysis, analysis_relying_on};
use rtflash::exec::{Aging, Dispatch, Options, Pattern, Phases, Placed, Recurrence, Service, Times, Victims, Waits};
use rtflash::model::{
    Access, Arrivals, Device, DeviceSpec, Instant, Job, LogicalRatio, Reliance, Request, Shortest, Span, Task, TaskSet,
};

/// Pages that a run may take, about: a fuzzer has little time.
const PAGES: u64 = 400;

/// A small task set; `None` where the numbers make none.
pub fn task_set(bytes: &mut Unstructured) -> Result<Option<TaskSet>> {
    let Some(device) = device(bytes)? else { return Ok(None) };
    let mut tasks = Vec::new();
    for number in 0..bytes.int_in_range(1..=4)? {
        let read = if bytes.ratio(3, 4)? { request(bytes)? } else { None };
        let write = if read.is_none() || bytes.ratio(3, 4)? { request(bytes)? } else { None };
        let data_pages = if bytes.ratio(1, 3)? { Some(bytes.int_in_range(1..=400)?) } else { None };
        tasks.push(Task { name: format!("t{number}"), read, write, data_pages });
    }
    let jobs = if bytes.ratio(1, 4)? { vec![job(bytes)?] } else { Vec::new() };
    Ok(TaskSet::new(device, tasks, jobs).ok())
}

fn device(bytes: &mut Unstructured) -> Result<Option<Device>> {
    let mut time = |most: u32| -> Result<Span> { Ok(Span::from_us(bytes.int_in_range(1..=most)?)) };
    let (page_read, page_program, block_erase, page_transfer) = (time(60)?, time(400)?, time(800)?, time(50)?);
    let ranges: bool = bytes.arbitrary()?;
    let mut shortest = |most: Span| -> Result<Option<Span>> {
        Ok(if ranges { Span::from_ns(bytes.int_in_range(1..=most.as_ns())?) } else { None })
    };
    let shortest = Shortest {
        page_read: shortest(page_read)?,
        page_program: shortest(page_program)?,
        block_erase: shortest(block_erase)?,
        page_transfer: shortest(page_transfer)?,
    };
    let command = if bytes.ratio(1, 4)? { Some(Span::from_us(bytes.int_in_range(0..=10)?)) } else { None };
    let Ok(logical_ratio) = LogicalRatio::from_decimal(bytes.int_in_range(5..=95u128)?, 2) else { return Ok(None) };
    let wear_gap = if bytes.ratio(1, 4)? { Some(bytes.int_in_range(1..=3)?) } else { None };
    let spec = DeviceSpec {
        chips: bytes.int_in_range(1..=8)?,
        chips_per_channel: bytes.int_in_range(1..=4)?,
        blocks_per_chip: bytes.int_in_range(3..=40)?,
        pages_per_block: bytes.int_in_range(2..=16)?,
        page_size: 4096,
        logical_ratio,
        page_read,
        page_program,
        block_erase,
        page_transfer,
        shortest,
        command,
        page_registers: if bytes.ratio(1, 3)? { Some(2) } else { None },
        spare_blocks: if bytes.ratio(1, 4)? { Some(bytes.int_in_range(0..=2)?) } else { None },
        wear_gap,
        wear_passes: if wear_gap.is_some() && bytes.ratio(1, 2)? { Some(bytes.int_in_range(2..=9)?) } else { None },
        erase_suspend: if bytes.ratio(1, 4)? { Some(Span::from_us(bytes.int_in_range(1..=400)?)) } else { None },
        ..DeviceSpec::default()
    };
    Ok(Device::new(spec).ok())
}

fn request(bytes: &mut Unstructured) -> Result<Option<Request>> {
    let pages = bytes.int_in_range(1..=64)?;
    let period = Span::from_us(bytes.int_in_range(100..=60_000)?);
    let access = bytes.choose(&Access::ALL)?;
    Ok(Request::new(pages, period).map(|request| request.with_access(*access)))
}

fn job(bytes: &mut Unstructured) -> Result<Job> {
    let gap = Span::from_us(bytes.int_in_range(500..=50_000)?);
    let (read_pages, write_pages) = (bytes.int_in_range(0..=12)?, bytes.int_in_range(1..=12)?);
    Ok(Job { name: "j".into(), read_pages, write_pages, arrivals: Arrivals::Every(gap) })
}

/// One of the analyses that have a name, its promises relying on anything.
pub fn analysis(bytes: &mut Unstructured) -> Result<&'static dyn Analysis> {
    let (named, granted) = (*bytes.choose(&ANALYSES)?, *bytes.choose(&Reliance::ALL)?);
    Ok(analysis_relying_on(named.name(), granted).unwrap_or(named))
}

/// One of the algorithms that have a name.
pub fn allocator(bytes: &mut Unstructured) -> Result<&'static dyn Allocator> {
    Ok(*bytes.choose(&ALLOCATORS)?)
}

/// Options of a run of a few hundred pages of this set; `None` where it has none so short.
pub fn options(set: &TaskSet, bytes: &mut Unstructured) -> Result<Option<Options>> {
    let requests = || set.tasks().iter().flat_map(|task| [task.read, task.write]).flatten();
    let rate: f64 = requests().map(|request| request.pages() as f64 / request.period().as_ns() as f64).sum();
    let longest = requests().map(|request| request.period().as_ns()).max().unwrap_or(1);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Saturates, which is meant.
    let duration = ((PAGES as f64 / rate) as u64).clamp(longest, longest.saturating_mul(100));
    let Some(duration) = Instant::from_ns(duration) else { return Ok(None) };
    Ok(Some(Options {
        duration,
        dispatch: *bytes.choose(&[Dispatch::Serial, Dispatch::Parallel])?,
        service: *bytes.choose(&[Service::Tbs, Service::Background])?,
        victims: *bytes.choose(&[Victims::Actual, Victims::Worst])?,
        aging: *bytes.choose(&[Aging::Worst, Aging::Random, Aging::Fresh])?,
        pattern: *bytes.choose(&[
            Pattern::Uniform,
            Pattern::Sequential,
            Pattern::HotCold,
            Pattern::OneChip,
            Pattern::Fullest,
        ])?,
        times: *bytes.choose(&[Times::Worst, Times::Best, Times::Random])?,
        seed: bytes.arbitrary()?,
        placed: Placed { backfill: bytes.arbitrary()?, waits: Waits::Actual, faults: *bytes.choose(&[0, 30, 1_000])? },
        phases: *bytes.choose(&[Phases::Periodic, Phases::AtErases, Phases::Random])?,
        recurrence: *bytes.choose(&[Recurrence::Periodic, Recurrence::Sporadic])?,
        ..Options::default()
    }))
}
