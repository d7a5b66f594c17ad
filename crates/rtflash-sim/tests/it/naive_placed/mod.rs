//! A second executor of clusters with certificates, nanosecond by nanosecond, with lists that are
//! searched from end to end. It shares with the engine the plan, what is drawn (addresses, the
//! device at the start), and nothing else.

mod pages;
mod processor;
mod registers;
mod servers;

use rtflash_model::{ChipId, ClusterId, Id, Instant, Lpn, Placement, Span};
use rtflash_plan::{
    Arbitration, Arrival, Certified, ChannelId, ColumnId, Options, Phases, Plan, Promise, Recurrence, Releases,
    RequestPattern, Requests, Service, SourceId, Ties, Waits, job_pages, random_chip_place, release_gap,
    release_jitter, release_offset,
};
use rtflash_sim::Lengths;
use rtflash_trace::{Complete, JobId, Kind, Operation, Record, Release, Transfer, Trimmed};

use processor::{Part, Processor};

/// The stage of a chip's work for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Senses { until: u64 },
    Waits { since: u64 },
    Transfers { until: u64 },
    Works { until: u64 },
}

/// The work of a chip behind a command on the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    Senses,
    /// Reads inside the chip, and programs there.
    Copies {
        program: Operation,
    },
    Erases,
    /// Senses in an array with two page registers.
    Told,
    /// Its work was recorded when the command had the bus.
    Works {
        until: u64,
    },
}

/// A chip of the device.
#[derive(Debug, Default)]
pub struct Chip {
    pub stage: Option<Stage>,
    /// The command that it waits for, or receives.
    pub behind: Option<Behind>,
    /// The operation whose end is not known yet.
    pub operation: Option<Operation>,
    /// Whether its operation goes through two page registers: what it programs is recorded when
    /// the array begins.
    pub through_registers: bool,
    /// The read whose command goes with the page that waits.
    pub carries: Option<Operation>,
}

/// A job with parts left.
#[derive(Debug)]
struct Job {
    id: JobId,
    parts: usize,
}

/// A task's requests.
struct Source<'a> {
    number: u32,
    kind: Kind,
    cluster: usize,
    pages: u64,
    period: u64,
    deadline: u64,
    jitter: Span,
    /// The pages stated for them.
    stated: Option<&'a RequestPattern>,
    next: u64,
    /// When the next one arrives nominally, or the earliest that it may.
    ready: u64,
    /// When the one before was released: none overtakes it.
    released: u64,
    /// When it will be, because an erase has begun.
    fires: Option<u64>,
    requests: Requests,
}

/// Everything but the processors.
pub struct World<'a> {
    pub plan: &'a Plan,
    pub options: &'a Options,
    pub lengths: Lengths,
    pub now: u64,
    pub chips: Vec<Chip>,
    jobs: Vec<Job>,
    pub records: Vec<Record>,
    /// Clusters in which an erase has begun at this nanosecond.
    pub erased: Vec<usize>,
    /// The chip that each bus served last.
    served: Vec<Option<usize>>,
    /// Reads through two page registers that have been told, and when they will have sensed.
    pub told: Vec<(Operation, u64)>,
}

pub fn instant(ns: u64) -> Instant {
    Instant::from_ns(ns).expect("a short time")
}

impl World<'_> {
    pub fn at(&self) -> Instant {
        instant(self.now)
    }

    /// t_r, t_w, t_e and t_d, at the longest.
    pub fn times(&self) -> [u64; 4] {
        let device = self.plan.device();
        let spans = [device.page_read(), device.page_program(), device.block_erase(), device.page_transfer()];
        spans.map(Span::as_ns)
    }

    /// t_c; zero where commands are not counted.
    pub fn command(&self) -> u64 {
        self.plan.device().command().as_ns()
    }

    /// The longest that one request holds the bus.
    pub fn hold(&self) -> u64 {
        let [.., transfer] = self.times();
        transfer + self.command()
    }

    /// The record of an operation inside a chip that goes on behind its command then: it gives the
    /// end.
    pub fn works_inside(&mut self, operation: Operation, behind: Behind, from: u64) -> u64 {
        let (id, chip) = (operation.job, operation.chip.0);
        let Behind::Copies { program } = behind else {
            let end = from + self.lengths.erase(id, ChipId(chip), instant(from)).as_ns();
            self.records.push(Record::Operation(Operation { end: instant(end), ..operation }));
            return end;
        };
        let middle = from + self.read(id, chip, from);
        let end = middle + self.program(id, chip, middle);
        self.records.push(Record::Operation(Operation { end: instant(middle), ..operation }));
        self.records.push(Record::Operation(Operation { start: instant(middle), end: instant(end), ..program }));
        end
    }

    /// A read through two page registers is told to begin: its command is on the bus from now on.
    pub fn tells(&mut self, read: Operation, channel: u32) {
        let over = self.now + self.command();
        let Operation { cluster, chip, job, kind, .. } = read;
        let (start, end, channel) = (self.at(), instant(over), ChannelId(channel));
        self.records.push(Record::Transfer(Transfer { start, end, channel, cluster, chip, job, kind }));
        self.told.push((read, over + self.lengths.sensing(job, chip, end).as_ns()));
    }

    /// A page read of a job that begins then takes so long.
    pub fn read(&self, job: JobId, chip: u32, at: u64) -> u64 {
        self.lengths.read(job, ChipId(chip), instant(at)).as_ns()
    }

    /// A page program, likewise.
    pub fn program(&self, job: JobId, chip: u32, at: u64) -> u64 {
        self.lengths.program(job, ChipId(chip), instant(at)).as_ns()
    }

    /// A page on the bus of a chip, likewise.
    pub fn transfer(&self, job: JobId, chip: u32, at: u64) -> u64 {
        self.lengths.transfer(job, ChannelId(self.plan.device().channel_of(chip)), instant(at)).as_ns()
    }

    /// All chips on the channel of one, itself included.
    pub fn sharing(&self, chip: u32) -> u64 {
        let device = self.plan.device();
        (0..device.chips()).filter(|&other| device.channel_of(other) == device.channel_of(chip)).count() as u64
    }

    /// A part of a job is over.
    pub fn part_over(&mut self, id: JobId) {
        let at = self.jobs.iter().position(|job| job.id == id).expect("a pending job");
        self.jobs[at].parts -= 1;
        if self.jobs[at].parts == 0 {
            self.jobs.remove(at);
            if self.now <= self.options.duration.as_ns() {
                self.records.push(Record::Complete(Complete { at: self.at(), job: id }));
            }
        }
    }
}

/// All records of a run, in the order of a trace. `arrivals` are the jobs that are not real-time,
/// in order.
pub fn run(plan: &Plan, options: &Options, arrivals: &[Arrival]) -> Vec<Record> {
    let mut servers = servers::Servers::new(plan, options);
    let arrivals: Vec<Arrival> = arrivals
        .iter()
        .map(|arrival| {
            let grant = if options.service == Service::Tbs { servers.grant(arrival) } else { None };
            Arrival { grant, ..*arrival }
        })
        .collect();
    let chips: Vec<Chip> = (0..plan.device().chips()).map(|_| Chip::default()).collect();
    let (jobs, records, erased) = (Vec::new(), Vec::new(), Vec::new());
    let lengths = Lengths::new(plan, options);
    let served = vec![None; plan.device().channels() as usize];
    let mut world = World { plan, options, lengths, now: 0, chips, jobs, records, erased, served, told: Vec::new() };
    let mut processors: Vec<Vec<Processor>> =
        (0..plan.clusters().len()).map(|cluster| Processor::all(plan, options, cluster)).collect();
    let mut sources = sources(plan, options);
    let duration = options.duration.as_ns();
    loop {
        if world.now < duration {
            for processor in processors.iter_mut().flatten() {
                processor.advance(&mut world);
            }
            release(&mut world, &mut processors, &mut sources, &arrivals);
        }
        end_transfers(&mut world);
        for processor in processors.iter_mut().flatten() {
            processor.end(&mut world);
        }
        if world.now < duration {
            trim(&mut world, &mut processors);
            for processor in processors.iter_mut().flatten() {
                processor.dispatch(&mut world);
                processor.change(&mut world);
            }
        }
        grant(&mut world);
        for cluster in std::mem::take(&mut world.erased) {
            for source in sources.iter_mut().filter(|source| source.cluster == cluster) {
                if source.ready <= world.now && source.fires.is_none() {
                    source.fires = Some(world.now + 1);
                }
            }
        }
        if world.now >= duration && processors.iter().flatten().all(Processor::is_idle) {
            break;
        }
        world.now += 1;
    }
    world.records.sort_by_key(Record::order);
    world.records
}

/// Tasks trim their pages of this nanosecond.
fn trim(world: &mut World, processors: &mut [Vec<Processor>]) {
    for trim in &world.options.trims {
        let every = trim.every.as_ns();
        let of = world.plan.clusters().enumerate().find(|(_, of)| of.tasks.contains(&trim.task));
        let Some((cluster, of)) = of.filter(|_| world.now > 0 && world.now.is_multiple_of(every)) else { continue };
        let by = certified(world.plan, cluster.index());
        let has_requests = world.plan.sources().iter().any(|source| source.task() == Some(trim.task));
        if by.is_zoned() || world.options.placed.faults > 0 || !has_requests {
            continue;
        }
        let place = of.tasks.iter().position(|&task| task == trim.task).expect("it is one of them");
        let range: Vec<u32> = (by.ranges[place].start.0..by.ranges[place].end.0).collect();
        let before = (world.now / every - 1) * u64::from(trim.pages);
        let mut last: Option<Trimmed> = None;
        for page in before..before + u64::from(trim.pages) {
            let lpn = Lpn(range[usize::try_from(page % range.len() as u64).expect("a page")]);
            let count = processors[cluster.index()].len();
            let kept = processors[cluster.index()][lpn.index() % count].pages.trim(lpn);
            let follows = |last: &Trimmed| last.kept == kept && last.lpn.0 + last.pages == lpn.0;
            if !last.as_ref().is_some_and(follows) {
                world.records.extend(last.take().map(Record::Trimmed));
                last = Some(Trimmed { at: instant(world.now), cluster, lpn, pages: 0, kept });
            }
            last.iter_mut().for_each(|last| last.pages += 1);
        }
        world.records.extend(last.map(Record::Trimmed));
    }
}

fn sources<'a>(plan: &Plan, options: &'a Options) -> Vec<Source<'a>> {
    let mut sources = Vec::new();
    for (number, source) in (0..).zip(plan.sources()) {
        let Releases::Periodic(period) = source.releases else { continue };
        let cluster = source.cluster.expect("a task is somewhere").index();
        let pattern = options.releases.as_ref();
        let stated = pattern.and_then(|pattern| pattern.of(source));
        let period = u64::try_from(period.numerator()).expect("a short period");
        let first = stated.and_then(|stated| stated.releases.first());
        let offset = first.map(|at| at.since(Instant::START)).or(stated.and_then(|stated| stated.offset));
        let ready = match (offset, options.phases) {
            (Some(offset), _) => offset.as_ns(),
            (None, Phases::Random) => {
                let period = Span::from_ns(period).expect("a short period");
                release_offset(options.seed, SourceId(number), period).as_ns()
            }
            (None, _) => 0,
        };
        sources.push(Source {
            number,
            kind: source.kind,
            cluster,
            pages: source.read_pages + source.write_pages,
            period,
            deadline: source.deadline.expect("a request is due").as_ns(),
            jitter: source.jitter,
            stated,
            next: 0,
            ready,
            released: 0,
            fires: None,
            requests: Requests::of_source(plan, SourceId(number), options),
        });
    }
    sources
}

impl Source<'_> {
    /// When the request behind the next one, which arrives nominally then, may arrive.
    fn ready_after(&self, nominal: u64, options: &Options) -> u64 {
        let index = usize::try_from(self.next).expect("few requests");
        let allowed = nominal + self.period;
        match self.stated.and_then(|stated| stated.releases.get(index + 1)) {
            Some(at) if options.police => at.as_ns().max(allowed),
            Some(at) => at.as_ns().max(nominal),
            None => allowed + self.gap(options),
        }
    }

    /// Pages of the next request.
    fn pages_now(&self, options: &Options) -> u64 {
        let index = usize::try_from(self.next).expect("few requests");
        match self.stated.and_then(|stated| stated.pages.get(index)) {
            Some(&pages) if options.police => pages.min(self.pages),
            Some(&pages) => pages,
            None => self.pages,
        }
    }

    /// How much later than a period after the next request the one behind it may arrive.
    fn gap(&self, options: &Options) -> u64 {
        let index = usize::try_from(self.next).expect("few requests");
        if let Some(stated) = self.stated
            && index < stated.gaps.len()
        {
            return stated.gaps[index].as_ns();
        }
        if options.recurrence == Recurrence::Periodic {
            return 0;
        }
        let period = Span::from_ns(self.period).expect("a short period");
        release_gap(options.seed, SourceId(self.number), self.next, period).as_ns()
    }
}

fn release(world: &mut World, processors: &mut [Vec<Processor>], sources: &mut [Source<'_>], arrivals: &[Arrival]) {
    let mut at = 0;
    while let Some(source) = sources.get_mut(at) {
        let late = release_jitter(world.options.seed, SourceId(source.number), source.next, source.jitter).as_ns();
        let due = match world.options.phases {
            Phases::Periodic | Phases::Random => world.now == source.released.max(source.ready + late),
            Phases::AtErases => {
                world.now == source.released.max(source.ready) + source.period || source.fires == Some(world.now)
            }
        };
        if !due {
            at += 1;
            continue;
        }
        let id = JobId { source: SourceId(source.number), index: source.next };
        let nominal = match world.options.phases {
            Phases::Periodic | Phases::Random => source.ready,
            Phases::AtErases => source.ready.max(world.now.saturating_sub(late)),
        };
        let (pages, ready) = (source.pages_now(world.options), source.ready_after(nominal, world.options));
        (source.next, source.ready, source.fires, source.released) = (source.next + 1, ready, None, world.now);
        let processors = &mut processors[source.cluster];
        let stripe = processors[0].stripe;
        let mut lpns = Vec::new();
        if source.kind == Kind::Write && source.requests.is_for_fullest() {
            lpns = processors[0].pages.fullest(&source.requests.range(), pages);
        }
        let left = pages - lpns.len() as u64;
        source.requests.draw(left, &mut lpns, |lpn| {
            if stripe {
                ColumnId(0)
            } else {
                let column = processors[0].pages.column_of(lpn);
                column.map_or(ColumnId(u32::MAX), |column| ColumnId(u32::try_from(column).expect("few chips")))
            }
        });
        let (kind, deadline) = (source.kind, nominal + source.deadline);
        world.records.push(Record::Release(Release {
            at: world.at(),
            job: id,
            kind,
            deadline: Some(instant(deadline)),
            pages,
            cluster: Some(ClusterId(u32::try_from(source.cluster).expect("few clusters"))),
        }));
        let reads = if kind == Kind::Read { lpns.len() } else { 0 };
        enter(world, processors, id, kind, deadline, &lpns, reads);
        if kind == Kind::Write {
            for processor in processors {
                processor.collect(world);
            }
        }
    }
    let now = world.at();
    for arrival in arrivals.iter().filter(|arrival| arrival.at == now) {
        arrive(world, processors, arrival);
    }
}

/// Divides a job among the processors of its cluster. The first `reads` pages are read, the others
/// written.
fn enter(
    world: &mut World,
    processors: &mut [Processor],
    id: JobId,
    kind: Kind,
    deadline: u64,
    lpns: &[Lpn],
    reads: usize,
) {
    let count = processors.len();
    let mut parts = 0;
    for (at, processor) in processors.iter_mut().enumerate() {
        let here =
            |lpns: &[Lpn]| -> Vec<Lpn> { lpns.iter().filter(|&&lpn| lpn.index() % count == at).copied().collect() };
        let (reads, writes) = (here(&lpns[..reads]), here(&lpns[reads..]));
        if reads.len() + writes.len() > 0 {
            parts += 1;
            if kind == Kind::Write {
                processor.pending += writes.len() as u64;
                processor.arrived += writes.len() as u64;
            }
            let unfinished = reads.len() + writes.len();
            let (owes, starved, waits) = (false, false, false);
            processor.queue.push(Part { deadline, kind, id, reads, writes, unfinished, owes, starved, waits });
        }
    }
    world.jobs.push(Job { id, parts });
}

/// A GC job is pending.
pub fn enter_gc(world: &mut World, id: JobId) {
    world.jobs.push(Job { id, parts: 1 });
}

/// Whether a cluster may serve jobs at all.
fn serves(world: &World, cluster: usize) -> bool {
    certified(world.plan, cluster).certificate.server_thousandths > 0
}

fn arrive(world: &mut World, processors: &mut [Vec<Processor>], arrival: &Arrival) {
    let pages = arrival.read_pages + arrival.write_pages;
    let background = |processors: &Vec<Processor>| processors.iter().map(Processor::background_pages).sum::<usize>();
    let cluster = match world.options.service {
        Service::Tbs => arrival.grant.map(|grant| grant.cluster.index()),
        // The first of the least ones.
        Service::Background => (0..processors.len())
            .filter(|&cluster| serves(world, cluster))
            .min_by_key(|&cluster| background(&processors[cluster])),
    };
    let deadline = arrival.grant.map(|grant| grant.deadline);
    world.records.push(Record::Release(Release {
        at: world.at(),
        job: arrival.job,
        kind: Kind::Server,
        deadline,
        pages,
        cluster: cluster.map(ClusterId::from_index),
    }));
    let Some(cluster) = cluster else { return };
    let of = &world.plan.clusters().as_slice()[cluster];
    let stream = world.plan.sources()[arrival.job.source].stream().expect("a job is a stream's");
    let range = &certified(world.plan, cluster).ranges[of.tasks.len() + stream];
    let (number, job) = (ClusterId::from_index(cluster), arrival.job);
    let lpns = job_pages(world.options.seed, number, job, pages, range);
    let reads = usize::try_from(arrival.read_pages).expect("few pages");
    let deadline = deadline.map_or(processor::BACKGROUND + world.now, Instant::as_ns);
    enter(world, &mut processors[cluster], arrival.job, Kind::Server, deadline, &lpns, reads);
}

/// Chips whose stage is over go on to the next one, as far as buses are not needed for it.
fn end_transfers(world: &mut World) {
    let now = world.now;
    for (number, chip) in (0..).zip(&mut world.chips) {
        chip.stage = match chip.stage {
            Some(Stage::Senses { until }) if until == now => Some(Stage::Waits { since: now }),
            Some(Stage::Transfers { until }) if until == now && chip.behind.is_some() => {
                let operation = chip.operation.expect("an operation on the bus");
                Some(match chip.behind.take() {
                    Some(Behind::Works { until }) => {
                        chip.operation = None;
                        Stage::Works { until }
                    }
                    Some(Behind::Told) => {
                        (chip.operation, chip.stage) = (None, None);
                        continue;
                    }
                    _ => Stage::Senses {
                        until: now + world.lengths.sensing(operation.job, ChipId(number), instant(now)).as_ns(),
                    },
                })
            }
            Some(Stage::Transfers { until }) if until == now => {
                let operation = chip.operation.take().expect("an operation on the bus");
                let writes = operation.action == rtflash_trace::Action::Program;
                let program = world.lengths.programming(operation.job, ChipId(number), instant(now)).as_ns();
                if writes && program > 0 && !chip.through_registers {
                    Some(Stage::Works { until: now + program })
                } else {
                    None
                }
            }
            Some(Stage::Works { until }) if until == now => None,
            stage => stage,
        };
    }
}

/// Each bus that is idle takes the request that has waited longest, the lowest chip among equals.
fn grant(world: &mut World) {
    for channel in 0..world.plan.device().channels() {
        let on_channel = |chip: &usize| world.plan.device().channel_of(u32::try_from(*chip).expect("few")) == channel;
        let chips: Vec<usize> = (0..world.chips.len()).filter(on_channel).collect();
        if chips.iter().any(|&chip| matches!(world.chips[chip].stage, Some(Stage::Transfers { .. }))) {
            continue;
        }
        let small = |chip: usize| u32::try_from(chip).expect("few chips");
        let last = world.served[channel as usize];
        let order = |chip: usize| match world.chips[chip].stage {
            Some(Stage::Waits { since }) => Some(match (world.options.arbitration, world.options.ties) {
                // Those behind the last one first.
                (Arbitration::RoundRobin, _) => (u64::from(last.is_some_and(|last| chip <= last)), 0, chip),
                (Arbitration::Fifo, Ties::Lowest) => (since, chip as u64, chip),
                (Arbitration::Fifo, Ties::Highest) => (since, (world.chips.len() - chip) as u64, chip),
                (Arbitration::Fifo, Ties::Random) => {
                    (since, random_chip_place(world.options.seed, ChipId(small(chip)), instant(since)), chip)
                }
            }),
            _ => None,
        };
        let Some((.., chip)) = chips.into_iter().filter_map(order).min() else { continue };
        world.served[channel as usize] = Some(chip);
        let operation = world.chips[chip].operation.expect("an operation that waits");
        let carried = world.chips[chip].carries.take();
        let from = world.now + carried.map_or(0, |_| world.command());
        if let Some(read) = carried {
            world.tells(read, channel);
        }
        let moved = world.lengths.transfer(operation.job, ChannelId(channel), instant(from)).as_ns();
        let program = operation.action == rtflash_trace::Action::Program;
        let behind = world.chips[chip].behind;
        let until = from
            + if behind.is_some() || program { world.command() } else { 0 }
            + if behind.is_some() { 0 } else { moved };
        world.chips[chip].stage = Some(Stage::Transfers { until });
        let end = match operation.action {
            rtflash_trace::Action::Program => {
                until + world.lengths.programming(operation.job, operation.chip, instant(until)).as_ns()
            }
            _ => until,
        };
        let (start, cluster, job, kind) = (instant(from), operation.cluster, operation.job, operation.kind);
        match behind {
            Some(Behind::Told) => {
                world.tells(operation, channel);
                continue;
            }
            None if program && world.chips[chip].through_registers => {}
            None => world.records.push(Record::Operation(Operation { end: instant(end), ..operation })),
            Some(Behind::Senses) => {}
            Some(behind) => {
                let until = world.works_inside(operation, behind, until);
                world.chips[chip].behind = Some(Behind::Works { until });
            }
        }
        let chip = operation.chip;
        world.records.push(Record::Transfer(Transfer {
            start,
            end: instant(until),
            channel: ChannelId(channel),
            cluster,
            chip,
            job,
            kind,
        }));
    }
}

/// Whether waits are the worst ones.
pub fn waits_are_worst(world: &World) -> bool {
    world.options.placed.waits == Waits::Worst
}

/// Whether a cluster is a stripe.
pub fn certified(plan: &Plan, cluster: usize) -> &Certified {
    let Promise::Certified(certified) = plan.promise() else { panic!("certificates") };
    &certified.as_slice()[cluster]
}

/// Whether its chips use two page registers.
pub fn is_cached(plan: &Plan, cluster: usize) -> bool {
    certified(plan, cluster).certificate.placement.is_cached()
}

pub fn is_stripe(plan: &Plan, cluster: usize) -> bool {
    matches!(
        certified(plan, cluster).certificate.placement,
        Placement::Stripe | Placement::CachedStripe | Placement::Zoned
    )
}
