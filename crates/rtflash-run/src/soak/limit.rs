//! Sets at the limit of one test: (T) and (T') for stripes, (T'') for chips that share a bus, (T)
//! for superblocks, (T') for stripes beside superblocks, and all three for streams; the same where
//! commands use the bus, (T2) where chips have two page registers, and (T) and (T') for zones.
//! Devices are small, a unit of time is a nanosecond, and each set is run many times.

use rtflash_alloc::allocator::{Allocator, EqualSplit, Global};
use rtflash_analysis::certified::{Certification, Term, certify_leaving_out, reliances};
use rtflash_analysis::{Analysis, DemandTest, Work, analysis_relying_on};
use rtflash_model::{
    Access, Allocation, Cluster, Device, DeviceSpec, LogicalRatio, Placement, Reliance, Request, Shortest, Span, Task,
    TaskId, TaskSet,
};

use super::certified::{jobs, with_deadlines};
use super::draw::Rng;
use super::prescribed::{ALTERNATING, Prescribed, ZONES_BESIDE_STRIPES};
use super::queued::{self, Queued};
use super::{World, devices};

/// A set at the limit of what a test accepts.
pub(super) struct LimitSet {
    pub(super) set: TaskSet,
    pub(super) allocator: &'static dyn Allocator,
    pub(super) analysis: &'static dyn Analysis,
    pub(super) left_out: Option<Term>,
    pub(super) allocation: Allocation,
    /// Whether operations may be shorter than stated.
    pub(super) varies: bool,
    /// Whether the reads of the last task are those that were brought to the limit.
    pub(super) watches_last: bool,
}

/// Whether certificates state other numbers, or servers, where this term is left out. What the
/// other terms let pass beyond the test is looked for in sets that the test rejects.
fn is_stated(term: Term) -> bool {
    matches!(
        term,
        Term::Arrivals | Term::ServerReserve | Term::ReservePage | Term::VictimPage | Term::Servers | Term::SpareBlocks
    )
}

/// What is tested: how tasks and chips are divided does not change with requests.
struct Tested {
    clusters: Vec<Cluster>,
    placements: Vec<Placement>,
    test: DemandTest,
    left_out: Option<Term>,
}

impl Tested {
    fn new(
        clusters: Vec<Cluster>,
        allocator: &dyn Allocator,
        analysis: &dyn Analysis,
        left_out: Option<Term>,
    ) -> Option<Tested> {
        let test = analysis.demand_test()?;
        let placements = match Prescribed::named(allocator.name()) {
            Some(prescribed) => prescribed.placements(&clusters),
            None => vec![test.idle(); clusters.len()],
        };
        Some(Tested { clusters, placements, test, left_out })
    }

    fn certified(&self, set: &TaskSet, left_out: Option<Term>) -> Option<Certification> {
        let work = Work::new();
        let found = certify_leaving_out(left_out, set, &self.clusters, &self.placements, self.test.rely_on, &work);
        (found.failing.is_empty() && !found.given_up).then_some(found)
    }

    fn accepts(&self, set: &TaskSet) -> bool {
        self.certified(set, self.left_out).is_some()
    }

    fn allocation(&self, set: &TaskSet) -> Option<Allocation> {
        let certificates = self.certified(set, self.left_out)?.certificates;
        let allocation = Allocation::new(set.device().chips(), set.tasks().len(), &self.clusters).ok()?;
        Some(allocation.with_certificates(certificates))
    }
}

/// What an analysis says of a set with a term left out, if it accepts it.
pub(super) fn accepted(
    set: &TaskSet,
    allocator: &dyn Allocator,
    analysis: &dyn Analysis,
    left_out: Term,
) -> Option<Allocation> {
    let clusters = clusters(set, allocator, analysis)?;
    Tested::new(clusters, allocator, analysis, Some(left_out))?.allocation(set)
}

/// How an algorithm divides the chips, whether or not the clusters hold.
fn clusters(set: &TaskSet, allocator: &dyn Allocator, analysis: &dyn Analysis) -> Option<Vec<Cluster>> {
    let allocator: &dyn Allocator = match Prescribed::named(allocator.name()) {
        Some(prescribed) => prescribed.divides(),
        None => allocator,
    };
    Some(allocator.allocate(set, analysis).allocation()?.clusters())
}

/// The set of this number; `None` where what was drawn is accepted at no load, or shows nothing of
/// the world or of the term that is left out.
pub(super) fn draw(seed: u64, number: u64, world: World, left_out: Option<Term>) -> Option<LimitSet> {
    let mut rng = Rng::new(seed, b"limit\0\0\0", number);
    let mut ranges = Rng::new(seed, b"ranges\0\0", number);
    let cached = matches!(world, World::Register | World::RegisterCommand);
    let drawn = world;
    let world = match world {
        World::Failing | World::Suspending | World::Levelling => {
            rng.one_of(&[World::Stripe, World::Stripe, World::Stream, World::Superblock, World::Mixed])
        }
        World::Command => rng.one_of(&[World::Stripe, World::Stripe, World::Stream, World::Superblock, World::Mixed]),
        World::Register | World::RegisterCommand => {
            let stripes = [World::Stripe, World::Stripe, World::Stripe, World::Stream];
            let superblocks = [World::Mixed, World::Superblock, World::Superblock, World::Superblock];
            rng.one_of(&[stripes, superblocks].concat())
        }
        world => world,
    };
    let in_zones = drawn == World::Failing && Rng::new(seed, b"in-zones", number).within(0, 4) == 0;
    let world = if in_zones { World::Zoned } else { world };
    let varies = if world == World::Queue { &mut ranges } else { &mut rng }.within(0, 2) == 0;
    let (analysis, granted) = match world {
        World::Queue => ("stripe", Reliance::Queue),
        World::Superblock => ("superblock", rng.one_of(&[Reliance::Nothing, Reliance::Neighbours])),
        World::Mixed => ("sound", Reliance::Neighbours),
        World::Stream => {
            ("stripe", rng.one_of(&[Reliance::Nothing, Reliance::Neighbours, Reliance::Queue, Reliance::Queue]))
        }
        World::Zoned => ("zoned", rng.one_of(&[Reliance::Nothing, Reliance::Neighbours, Reliance::Neighbours])),
        _ => ("stripe", rng.one_of(&[Reliance::Nothing, Reliance::Neighbours, Reliance::Neighbours])),
    };
    let analysis = analysis_relying_on(analysis, granted)?;
    let (allocator, device, tasks): (&dyn Allocator, _, _) = match world {
        World::Queue => {
            let Queued { device, tasks } = Queued::new(&mut rng)?;
            let device = if varies { queued::steady(&mut ranges, &device)? } else { device };
            (&EqualSplit, device, tasks)
        }
        _ => {
            let shape = Shape::new(&mut rng, world);
            let device = shape.device(&mut rng, varies)?;
            let device = devices::of_world(&mut rng, device, drawn, world)?;
            let superblocks = world == World::Superblock;
            let cached = cached.then(|| Prescribed::cached(shape.allocator, superblocks));
            let allocator: &dyn Allocator = cached.map_or(shape.allocator, |cached| cached);
            let tasks = tasks(&mut rng, shape.tasks, world)?;
            (allocator, device, with_deadlines(&mut rng, tasks)?)
        }
    };
    // Zones have no server.
    let served = world != World::Queue && (world != World::Zoned || allocator.name() == ZONES_BESIDE_STRIPES.name());
    // Beside a server nothing is suspended.
    let served = served && (drawn != World::Suspending || rng.within(0, 3) == 0);
    let jobs = if served && rng.within(0, 2) == 0 { jobs(&mut rng, &device) } else { Vec::new() };
    let set = TaskSet::new(device, tasks, jobs).ok()?;
    let limited = limited(&mut rng, set, allocator, analysis, left_out, world == World::Queue)?;
    let limit = LimitSet { varies, ..limited };
    let queues = || reliances(&limit.set, &limit.allocation).contains(&Some(Reliance::Queue));
    let shows = left_out.is_some() || world != World::Queue || queues();
    shows.then_some(limit)
}

/// A set brought to the limit, by its last task's reads alone or by all requests; `None` where it
/// is accepted at no load, or shows nothing of the term that is left out.
pub(super) fn limited(
    rng: &mut Rng,
    set: TaskSet,
    allocator: &'static dyn Allocator,
    analysis: &'static dyn Analysis,
    left_out: Option<Term>,
    watches_last: bool,
) -> Option<LimitSet> {
    let tested = Tested::new(clusters(&set, allocator, analysis)?, allocator, analysis, left_out)?;
    let set = at_the_limit(rng, set, &tested, watches_last)?;
    let allocation = tested.allocation(&set)?;
    let shows = left_out.is_none_or(|term| is_stated(term) || tested.certified(&set, None).is_none());
    shows.then_some(LimitSet { set, allocator, analysis, left_out, allocation, varies: false, watches_last })
}

/// How many tasks and chips there are, and who divides them.
pub(super) struct Shape {
    pub(super) tasks: u32,
    chips: u32,
    pub(super) allocator: &'static dyn Allocator,
}

impl Shape {
    pub(super) fn new(rng: &mut Rng, world: World) -> Shape {
        if world == World::Mixed {
            let tasks = rng.small(2, 4);
            return Shape { tasks, chips: tasks * rng.small(2, 3), allocator: &ALTERNATING };
        }
        let tasks = rng.small(1, 4);
        let is_one = rng.within(0, 3) == 0;
        let allocator: &dyn Allocator = if is_one { &Global } else { &EqualSplit };
        // Stripes beside zones, where there are several clusters.
        if world == World::Zoned && !is_one && tasks > 1 && rng.within(0, 1) == 0 {
            return Shape { tasks, chips: tasks * rng.small(1, 2), allocator: &ZONES_BESIDE_STRIPES };
        }
        let each = match world {
            World::Superblock => rng.small(2, 3),
            World::Stream => rng.small(2, 4),
            World::Zoned => rng.small(1, 3),
            _ => rng.one_of(&[1, 1, 1, 2]),
        };
        let chips = if is_one { rng.small(1, 4) } else { tasks * each };
        Shape { tasks, chips, allocator }
    }

    pub(super) fn device(&self, rng: &mut Rng, varies: bool) -> Option<Device> {
        let times = [20, 40, 60, 12].map(|most| Span::from_ns(rng.within(1, most)));
        let [page_read, page_program, block_erase, page_transfer] = times;
        let (page_read, page_program) = (page_read?, page_program?);
        let (block_erase, page_transfer) = (block_erase?, page_transfer?);
        let mut shortest = |most: Span| Span::from_ns(rng.within(1, most.as_ns())).filter(|_| varies);
        let shortest = Shortest {
            page_read: shortest(page_read),
            page_program: shortest(page_program),
            block_erase: shortest(block_erase),
            page_transfer: shortest(page_transfer),
        };
        Device::new(DeviceSpec {
            chips: self.chips,
            chips_per_channel: rng.small(1, 5),
            blocks_per_chip: rng.small(6, 24),
            pages_per_block: rng.small(1, 8),
            page_size: 512,
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
}

/// A request of 1 to 4 pages every 40 to 1,200 ns.
fn request(rng: &mut Rng, world: World) -> Option<Request> {
    let access = if world == World::Stream {
        rng.one_of(&[Access::Stream, Access::Stream, Access::Stream, Access::Sequential])
    } else {
        rng.one_of(&[Access::Random, Access::Sequential])
    };
    Some(Request::new(rng.within(1, 4), Span::from_ns(rng.within(40, 1_200))?)?.with_access(access))
}

fn task(number: u32, read: Option<Request>, write: Option<Request>) -> Task {
    Task { name: format!("t{}", number + 1), read, write, data_pages: None }
}

/// Tasks that read, write or do both.
pub(super) fn tasks(rng: &mut Rng, count: u32, world: World) -> Option<Vec<Task>> {
    let mut drawn = |number: u32| {
        let kinds = rng.within(0, 4);
        let read = if kinds == 0 { None } else { Some(request(rng, world)?) };
        let write = if kinds == 1 { None } else { Some(request(rng, world)?) };
        if world == World::Zoned {
            return in_zones(rng, task(number, read, write));
        }
        Some(task(number, read, write))
    };
    (0..count).map(&mut drawn).collect()
}

/// This task as one that can own zones, few or many of them.
fn in_zones(rng: &mut Rng, task: Task) -> Option<Task> {
    let write = task.write.map(|write| write.with_access(Access::Stream));
    let streams = rng.within(0, 1) == 0;
    let read = task.read.map(|read| if streams { read.with_access(Access::Stream) } else { read });
    let data_pages = (rng.within(0, 2) == 0).then(|| rng.within(1, 12));
    Some(Task { read, write, data_pages, ..task })
}

/// One request of a set.
#[derive(Debug, Clone, Copy)]
struct RequestOf {
    task: TaskId,
    writes: bool,
}

/// The set with one request changed.
fn changed(set: &TaskSet, of: RequestOf, change: impl Fn(Request) -> Option<Request>) -> Option<TaskSet> {
    let mut tasks = set.tasks().as_slice().to_vec();
    let task = tasks.get_mut(of.task.0 as usize)?;
    let request = if of.writes { &mut task.write } else { &mut task.read };
    *request = Some(change((*request)?)?);
    TaskSet::new(*set.device(), tasks, set.jobs().to_vec()).ok()
}

/// The set with requests enlarged and periods shortened, one after another in an order that is
/// drawn, as long as it is accepted.
fn at_the_limit(rng: &mut Rng, set: TaskSet, tested: &Tested, watches_last: bool) -> Option<TaskSet> {
    let mut set = slower(set, tested)?;
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
                    while let Some(larger) = more(&set).filter(|larger| tested.accepts(larger)) {
                        set = larger;
                    }
                }
            }
        }
    }
    let shortened = if watches_last { 1 } else { requests.len() };
    for &request in &requests[..shortened] {
        set = shortest(set, request, tested);
    }
    Some(set)
}

/// The set with all periods doubled until it is accepted, if it ever is.
fn slower(mut set: TaskSet, tested: &Tested) -> Option<TaskSet> {
    const DOUBLED: u32 = 7;
    for _ in 0..DOUBLED {
        if tested.accepts(&set) {
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

/// The set with the shortest period of a request with which it is accepted; as it is where the
/// request states a deadline.
fn shortest(set: TaskSet, request: RequestOf, tested: &Tested) -> TaskSet {
    let task = &set.tasks()[request.task];
    let Some(of) = (if request.writes { task.write } else { task.read }).filter(Request::is_implicit) else {
        return set;
    };
    let at = |period: u64| {
        let shorter = changed(&set, request, |of| of.with_period(Span::from_ns(period)?));
        shorter.filter(|shorter| tested.accepts(shorter))
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
