//! Chips that share a bus, where a neighbour's request that starts late and the next one that
//! starts at once move their pages within one short interval: the smallest case of
//! docs/analysis.md, Section 6, its numbers changed. Chance seldom finds it among other sets: what
//! the neighbour moves has to be much, and to be kept waiting for long by a step of its own, and
//! its requests have to be about as far apart as the interval is long.

use rtflash_alloc::allocator::{Allocator, EqualSplit};
use rtflash_analysis::analysis_relying_on;
use rtflash_model::random::Stream;
use rtflash_model::{Device, DeviceSpec, Reliance, Request, Span, Task, TaskSet};

use super::SmallWorld;
use super::limit::{LimitSet, limited};
use super::prescribed::{ALTERNATING, Prescribed};
use crate::small_device::SmallDevice;

/// The set of this number, at the limit by the last task's reads alone.
pub(super) fn draw(seed: u64, number: u64, world: SmallWorld, left_out: Option<&'static str>) -> Option<LimitSet> {
    let mut rng = Stream::numbered(seed, b"carried\0", number);
    let cached = world == SmallWorld::Register;
    let world = if cached { rng.one_of(&[SmallWorld::Stripe, SmallWorld::Stripe, SmallWorld::Mixed]) } else { world };
    let (analysis, granted, allocator): (_, _, &dyn Allocator) = match world {
        SmallWorld::Queue => ("stripe", Reliance::Queue, &EqualSplit),
        SmallWorld::Mixed => ("sound", Reliance::Neighbours, &ALTERNATING),
        SmallWorld::Superblock => ("superblock", Reliance::Neighbours, &EqualSplit),
        _ => ("stripe", Reliance::Neighbours, &EqualSplit),
    };
    let allocator = if cached { Prescribed::cached(allocator, false) } else { allocator };
    let analysis = analysis_relying_on(analysis, granted)?;
    let carried = Carried::new(&mut rng, world, cached)?;
    let first = limited(&mut rng, carried.set(None)?, allocator, analysis, left_out, true)?;
    // The neighbours' next requests come a little later than the last task's next one: one of them
    // counts in a window of that length, and pages of two are moved there.
    let period = first.set.tasks().iter().last()?.read?.period().as_ns();
    let often = period + rng.within(0, carried.long / 2);
    limited(&mut rng, carried.set(Some(often))?, allocator, analysis, left_out, true)
}

struct Carried {
    device: Device,
    tasks: Vec<Task>,
    long: u64,
}

struct Places {
    tasks: u32,
    chips: u32,
    ways: u32,
}

impl Places {
    /// The last task's chip, or one of them, shares its channel with the task before.
    fn new(rng: &mut Stream, world: SmallWorld, cached: bool) -> Places {
        match world {
            // Two, two and one: the second cluster is a superblock.
            SmallWorld::Mixed if cached => Places { tasks: 3, chips: 5, ways: rng.one_of(&[3, 3, 5]) },
            // One each: all that a superblock of one chip reads is on that chip.
            SmallWorld::Mixed => Places { tasks: 3, chips: 3, ways: 3 },
            _ => {
                let tasks = rng.one_of(&[2, 2, 3]);
                Places { tasks, chips: tasks, ways: tasks }
            }
        }
    }

    fn each(&self) -> u64 {
        self.chips.div_ceil(self.tasks).into()
    }
}

impl Carried {
    fn new(rng: &mut Stream, world: SmallWorld, cached: bool) -> Option<Carried> {
        let places = Places::new(rng, world, cached);
        let rows = world == SmallWorld::Mixed && cached;
        let device = device(rng, &places, rows, cached)?;
        let [read, program, transfer] =
            [device.page_read(), device.page_program(), device.page_transfer()].map(Span::as_ns);
        let long = device.block_erase().as_ns().max(program);
        let (mut tasks, mut most) = (Vec::new(), 0);
        for number in 1..places.tasks {
            let is_superblock = rows && number == 2;
            let steps = rng.within(2, if cached { 24 } else { 10 });
            // Rows are on all chips of a superblock alike; where its reads are, is not known.
            let writes = is_superblock || rng.within(0, 3) == 0;
            let busy = steps * (if writes { program } else { read } + 2 * transfer);
            most = most.max(busy + long);
            let pages = if is_superblock { steps * places.each() } else { steps };
            let often = Request::new(pages, Span::from_ns(4 * (busy + long))?);
            let seldom = Request::new(1, Span::from_ns(rng.within(4, 16) * (busy + long))?);
            let (read, write) = if writes { (None, often) } else { (often, seldom) };
            tasks.push(Task { name: format!("t{number}"), read, write, data_pages: None });
        }
        // The last task's reads take as long as a neighbour's pages and what keeps these waiting.
        let pages = (most + rng.within(0, most)) / (read + transfer) + 1;
        let reads = Request::new(pages, Span::from_ns(4 * most)?);
        tasks.push(Task { name: format!("t{}", places.tasks), read: reads, write: None, data_pages: None });
        Some(Carried { device, tasks, long })
    }

    /// The set, the neighbours' pages coming so far apart.
    fn set(&self, often: Option<u64>) -> Option<TaskSet> {
        let mut tasks = self.tasks.clone();
        if let Some(often) = often.and_then(Span::from_ns) {
            let neighbours = tasks.len() - 1;
            for task in &mut tasks[..neighbours] {
                let request = if task.read.is_some() { &mut task.read } else { &mut task.write };
                *request = Some((*request)?.with_period(often)?);
            }
        }
        TaskSet::new(self.device, tasks, Vec::new()).ok()
    }
}

/// Times with which a step of programming or collecting is long beside the pages that are moved.
fn device(rng: &mut Stream, places: &Places, rows: bool, cached: bool) -> Option<Device> {
    // If rows are moved, only an erase is long.
    let program = if rows { 12 } else { 120 };
    let times = [(1, 4), (4, program), (3, 10), (40, 240)].map(|(least, most)| rng.within(least, most));
    let pages = if rows { rng.small(4, 24) } else { rng.one_of(&[1, 2, 16]) };
    // With this number of blocks, a victim has next to no valid pages.
    let small = SmallDevice { chips: places.chips, ways: places.ways, blocks: 48, pages, logical: 10, times };
    Device::new(DeviceSpec { page_registers: cached.then_some(2), ..small.spec()? }).ok()
}
