//! Sets at the limit of one test: (T) and (T') for stripes, (T'') for chips that share a bus, (T)
//! for superblocks, (T') for stripes beside superblocks, and all three for streams; the same where
//! commands use the bus, (T2) where chips have two page registers, and (T) and (T') for zones.
//! Devices are small, a unit of time is a nanosecond, and each set is run many times.

use rtflash_alloc::allocator::{Allocator, EqualSplit, Global};
use rtflash_analysis::certified::reliances;
use rtflash_analysis::{Analysis, analysis_relying_on};
use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Allocation, Cluster, Device, DeviceSpec, Placement, Reliance, Request, Shortest, Span, Task, TaskId,
    TaskSet,
};
use rtflash_run::soak::{jobs, with_deadlines};

use super::prescribed::{ALTERNATING, Prescribed, ZONES_BESIDE_STRIPES};
use super::queued::{self, Queued};
use super::{SmallWorld, devices};
use crate::small_device::SmallDevice;

pub(super) struct LimitSet {
    pub(super) set: TaskSet,
    pub(super) allocator: &'static dyn Allocator,
    pub(super) analysis: &'static dyn Analysis,
    pub(super) allocation: Allocation,
    pub(super) varies: bool,
    /// Whether the reads of the last task are those that were brought to the limit.
    pub(super) watches_last: bool,
}

/// A breach by the other terms is looked for in sets that the test rejects.
fn is_stated(term: &str) -> bool {
    ["arrivals", "server-reserve", "reserve-page", "victim-page", "servers", "spare-blocks"].contains(&term)
}

/// The subject of a test: how tasks and chips are divided does not change with requests.
struct Tested {
    clusters: Vec<Cluster>,
    placements: Vec<Placement>,
    granted: Reliance,
}

impl Tested {
    fn new(set: &TaskSet, allocator: &dyn Allocator, analysis: &dyn Analysis) -> Option<Tested> {
        let (clusters, test) = (clusters(set, allocator, analysis)?, analysis.demand_test()?);
        let placements = match Prescribed::named(allocator.name()) {
            Some(prescribed) => prescribed.placements(&clusters),
            None => vec![test.idle(); clusters.len()],
        };
        Some(Tested { clusters, placements, granted: test.rely_on })
    }

    fn allocation(&self, set: &TaskSet, left_out: Option<&'static str>) -> Option<Allocation> {
        let certificates = crate::certify(left_out, set, &self.clusters, &self.placements, self.granted)?;
        let allocation = Allocation::new(set.device().chips(), set.tasks().len(), &self.clusters).ok()?;
        Some(allocation.with_certificates(certificates))
    }
}

pub(super) fn accepted(
    set: &TaskSet,
    allocator: &dyn Allocator,
    analysis: &dyn Analysis,
    left_out: Option<&'static str>,
) -> Option<Allocation> {
    Tested::new(set, allocator, analysis)?.allocation(set, left_out)
}

fn clusters(set: &TaskSet, allocator: &dyn Allocator, analysis: &dyn Analysis) -> Option<Vec<Cluster>> {
    let allocator: &dyn Allocator = match Prescribed::named(allocator.name()) {
        Some(prescribed) => prescribed.divides(),
        None => allocator,
    };
    Some(allocator.allocate(set, analysis).allocation()?.clusters())
}

/// A set has the form of stripes, streams or superblocks, where a world has several of these.
fn one_kind(rng: &mut Stream, world: SmallWorld) -> SmallWorld {
    use SmallWorld::{
        Command, Failing, Levelling, Mixed, Register, RegisterCommand, Stream as Streams, Stripe, Superblock,
        Suspending,
    };
    match world {
        Failing | Suspending | Levelling | Command => rng.one_of(&[Stripe, Stripe, Streams, Superblock, Mixed]),
        Register | RegisterCommand => {
            rng.one_of(&[Stripe, Stripe, Stripe, Streams, Mixed, Superblock, Superblock, Superblock])
        }
        world => world,
    }
}

/// `None` where it is accepted at no load, or shows nothing of the world or of the term.
pub(super) fn draw(seed: u64, number: u64, world: SmallWorld, left_out: Option<&'static str>) -> Option<LimitSet> {
    let mut rng = Stream::numbered(seed, b"limit\0\0\0", number);
    let mut ranges = Stream::numbered(seed, b"ranges\0\0", number);
    let cached = matches!(world, SmallWorld::Register | SmallWorld::RegisterCommand);
    let (drawn, world) = (world, one_kind(&mut rng, world));
    let in_zones = drawn == SmallWorld::Failing && Stream::numbered(seed, b"in-zones", number).within(0, 4) == 0;
    let world = if in_zones { SmallWorld::Zoned } else { world };
    let varies = if world == SmallWorld::Queue { &mut ranges } else { &mut rng }.within(0, 2) == 0;
    let (analysis, granted) = match world {
        SmallWorld::Queue => ("stripe", Reliance::Queue),
        SmallWorld::Superblock => ("superblock", rng.one_of(&[Reliance::Nothing, Reliance::Neighbours])),
        SmallWorld::Mixed => ("sound", Reliance::Neighbours),
        SmallWorld::Stream => {
            ("stripe", rng.one_of(&[Reliance::Nothing, Reliance::Neighbours, Reliance::Queue, Reliance::Queue]))
        }
        SmallWorld::Zoned => ("zoned", rng.one_of(&[Reliance::Nothing, Reliance::Neighbours, Reliance::Neighbours])),
        _ => ("stripe", rng.one_of(&[Reliance::Nothing, Reliance::Neighbours, Reliance::Neighbours])),
    };
    let analysis = analysis_relying_on(analysis, granted)?;
    let (allocator, device, tasks): (&dyn Allocator, _, _) = match world {
        SmallWorld::Queue => {
            let Queued { device, tasks } = Queued::new(&mut rng)?;
            let device = if varies { queued::steady(&mut ranges, &device)? } else { device };
            (&EqualSplit, device, tasks)
        }
        _ => {
            let shape = Shape::new(&mut rng, world);
            let device = shape.device(&mut rng, varies)?;
            let device = devices::of_world(&mut rng, device, drawn, world)?;
            let superblocks = world == SmallWorld::Superblock;
            let cached = cached.then(|| Prescribed::cached(shape.allocator, superblocks));
            let allocator: &dyn Allocator = cached.map_or(shape.allocator, |cached| cached);
            let tasks = tasks(&mut rng, shape.tasks, world)?;
            (allocator, device, with_deadlines(&mut rng, tasks, false)?)
        }
    };
    // Zones have no server.
    let served =
        world != SmallWorld::Queue && (world != SmallWorld::Zoned || allocator.name() == ZONES_BESIDE_STRIPES.name());
    // Beside a server nothing is suspended.
    let served = served && (drawn != SmallWorld::Suspending || rng.within(0, 3) == 0);
    let jobs = if served && rng.within(0, 2) == 0 { jobs(&mut rng, &device) } else { Vec::new() };
    let set = TaskSet::new(device, tasks, jobs).ok()?;
    let limited = limited(&mut rng, set, allocator, analysis, left_out, world == SmallWorld::Queue)?;
    let limit = LimitSet { varies, ..limited };
    let queues = || reliances(&limit.set, &limit.allocation).contains(&Some(Reliance::Queue));
    let shows = left_out.is_some() || world != SmallWorld::Queue || queues();
    shows.then_some(limit)
}

/// By its last task's reads alone or by all requests; `None` where it is accepted at no load, or
/// shows nothing of the term that is left out.
pub(super) fn limited(
    rng: &mut Stream,
    set: TaskSet,
    allocator: &'static dyn Allocator,
    analysis: &'static dyn Analysis,
    left_out: Option<&'static str>,
    watches_last: bool,
) -> Option<LimitSet> {
    let tested = Tested::new(&set, allocator, analysis)?;
    let accepts = |set: &TaskSet| tested.allocation(set, left_out).is_some();
    let set = at_the_limit(rng, set, &accepts, watches_last)?;
    let allocation = tested.allocation(&set, left_out)?;
    let shows = left_out.is_none_or(|term| is_stated(term) || tested.allocation(&set, None).is_none());
    shows.then_some(LimitSet { set, allocator, analysis, allocation, varies: false, watches_last })
}

pub(super) struct Shape {
    pub(super) tasks: u32,
    chips: u32,
    pub(super) allocator: &'static dyn Allocator,
}

impl Shape {
    pub(super) fn new(rng: &mut Stream, world: SmallWorld) -> Shape {
        if world == SmallWorld::Mixed {
            let tasks = rng.small(2, 4);
            return Shape { tasks, chips: tasks * rng.small(2, 3), allocator: &ALTERNATING };
        }
        let tasks = rng.small(1, 4);
        let is_one = rng.within(0, 3) == 0;
        let allocator: &dyn Allocator = if is_one { &Global } else { &EqualSplit };
        // Stripes beside zones, where there are several clusters.
        if world == SmallWorld::Zoned && !is_one && tasks > 1 && rng.within(0, 1) == 0 {
            return Shape { tasks, chips: tasks * rng.small(1, 2), allocator: &ZONES_BESIDE_STRIPES };
        }
        let each = match world {
            SmallWorld::Superblock => rng.small(2, 3),
            SmallWorld::Stream => rng.small(2, 4),
            SmallWorld::Zoned => rng.small(1, 3),
            _ => rng.one_of(&[1, 1, 1, 2]),
        };
        let chips = if is_one { rng.small(1, 4) } else { tasks * each };
        Shape { tasks, chips, allocator }
    }

    pub(super) fn device(&self, rng: &mut Stream, varies: bool) -> Option<Device> {
        let [read, program, erase, transfer] = [20, 40, 60, 12].map(|most| rng.within(1, most));
        let mut shortest = |most: u64| Span::from_ns(rng.within(1, most)).filter(|_| varies);
        let shortest = Shortest {
            page_read: shortest(read),
            page_program: shortest(program),
            block_erase: shortest(erase),
            page_transfer: shortest(transfer),
        };
        let (ways, blocks, pages) = (rng.small(1, 5), rng.small(6, 24), rng.small(1, 8));
        let (chips, logical, times) = (self.chips, rng.within(10, 80), [read, program, transfer, erase]);
        let spec = SmallDevice { chips, ways, blocks, pages, logical, times }.spec()?;
        Device::new(DeviceSpec { shortest, ..spec }).ok()
    }
}

/// A request of 1 to 4 pages every 40 to 1,200 ns.
fn request(rng: &mut Stream, world: SmallWorld) -> Option<Request> {
    let access = if world == SmallWorld::Stream {
        rng.one_of(&[Access::Stream, Access::Stream, Access::Stream, Access::Sequential])
    } else {
        rng.one_of(&[Access::Random, Access::Sequential])
    };
    Some(Request::new(rng.within(1, 4), Span::from_ns(rng.within(40, 1_200))?)?.with_access(access))
}

fn task(number: u32, read: Option<Request>, write: Option<Request>) -> Task {
    Task { name: format!("t{}", number + 1), read, write, data_pages: None }
}

pub(super) fn tasks(rng: &mut Stream, count: u32, world: SmallWorld) -> Option<Vec<Task>> {
    let mut drawn = |number: u32| {
        let kinds = rng.within(0, 4);
        let read = if kinds == 0 { None } else { Some(request(rng, world)?) };
        let write = if kinds == 1 { None } else { Some(request(rng, world)?) };
        if world == SmallWorld::Zoned {
            return in_zones(rng, task(number, read, write));
        }
        Some(task(number, read, write))
    };
    (0..count).map(&mut drawn).collect()
}

/// This task as one that can own zones, few or many of them.
fn in_zones(rng: &mut Stream, task: Task) -> Option<Task> {
    let write = task.write.map(|write| write.with_access(Access::Stream));
    let streams = rng.within(0, 1) == 0;
    let read = task.read.map(|read| if streams { read.with_access(Access::Stream) } else { read });
    let data_pages = (rng.within(0, 2) == 0).then(|| rng.within(1, 12));
    Some(Task { read, write, data_pages, ..task })
}

#[derive(Debug, Clone, Copy)]
struct RequestOf {
    task: TaskId,
    writes: bool,
}

fn changed(set: &TaskSet, of: RequestOf, change: impl Fn(Request) -> Option<Request>) -> Option<TaskSet> {
    let mut tasks = set.tasks().as_slice().to_vec();
    let task = tasks.get_mut(of.task.0 as usize)?;
    let request = if of.writes { &mut task.write } else { &mut task.read };
    *request = Some(change((*request)?)?);
    TaskSet::new(*set.device(), tasks, set.jobs().to_vec()).ok()
}

/// One after another in an order that is drawn, as long as the set is accepted.
fn at_the_limit(
    rng: &mut Stream,
    set: TaskSet,
    accepts: &dyn Fn(&TaskSet) -> bool,
    watches_last: bool,
) -> Option<TaskSet> {
    let mut set = slower(set, accepts)?;
    let of = |(id, task): (TaskId, &Task)| {
        task.requests().map(move |(_, writes)| RequestOf { task: id, writes }).collect::<Vec<_>>()
    };
    let mut requests: Vec<RequestOf> = set.tasks().enumerate().flat_map(of).collect();
    // The watched request comes first, and no request is enlarged.
    let last = requests.iter().rposition(|request| !request.writes);
    match last.filter(|_| watches_last) {
        Some(last) => requests.swap(0, last),
        None => {
            for from in (1..requests.len()).rev() {
                let to = rng.within(0, from as u64);
                requests.swap(from, usize::try_from(to).expect("a place in the list"));
            }
            for step in [6, 2, 1] {
                for &request in &requests {
                    let more = |set: &TaskSet| changed(set, request, |of| of.with_pages(of.pages() + step));
                    while let Some(larger) = more(&set).filter(|larger| accepts(larger)) {
                        set = larger;
                    }
                }
            }
        }
    }
    let shortened = if watches_last { 1 } else { requests.len() };
    for &request in &requests[..shortened] {
        set = shortest(set, request, accepts);
    }
    Some(set)
}

/// The set with all periods doubled until it is accepted, if it ever is.
fn slower(mut set: TaskSet, accepts: &dyn Fn(&TaskSet) -> bool) -> Option<TaskSet> {
    const DOUBLED: u32 = 7;
    for _ in 0..DOUBLED {
        if accepts(&set) {
            return Some(set);
        }
        let twice = |of: Request| {
            let twice = |of: Span| of.checked_mul(2);
            let deadline = match of.stated_deadline() {
                Some(deadline) => Some(twice(deadline)?),
                None => None,
            };
            of.with_period(twice(of.period())?)?.with_deadline(deadline)?.with_jitter(twice(of.jitter())?)
        };
        let tasks = set.tasks().iter().map(|task| Task {
            read: task.read.and_then(twice),
            write: task.write.and_then(twice),
            ..task.clone()
        });
        set = TaskSet::new(*set.device(), tasks.collect(), set.jobs().to_vec()).ok()?;
    }
    None
}

/// As it is where the request has a jitter or an early deadline.
fn shortest(set: TaskSet, request: RequestOf, accepts: &dyn Fn(&TaskSet) -> bool) -> TaskSet {
    let task = &set.tasks()[request.task];
    let Some(of) = (if request.writes { task.write } else { task.read }).filter(Request::has_a_whole_period) else {
        return set;
    };
    let at = |period: u64| {
        let shorter = changed(&set, request, |of| of.with_period(Span::from_ns(period)?));
        shorter.filter(|shorter| accepts(shorter))
    };
    let (mut failing, mut passing, mut best) = (0, of.period().as_ns(), None);
    while failing + 1 < passing {
        let middle = u64::midpoint(failing, passing);
        match at(middle) {
            Some(shorter) => (best, passing) = (Some(shorter), middle),
            None => failing = middle,
        }
    }
    best.unwrap_or(set)
}
