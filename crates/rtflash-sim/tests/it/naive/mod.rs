//! A second executor, written from `docs/executor.md` and `SPEC.md` alone: nanosecond by
//! nanosecond, with lists that are searched from end to end. It is slow, and short enough to be
//! read in full. The engine must write its records, one for one.

mod chip;
mod cluster;
mod pages;

use rtflash_model::{ChipId, Instant, Span};
use rtflash_plan::{
    Arbitration, Arrival, ChannelId, Options, Phases, Plan, Recurrence, Releases, RequestPattern, Service, Source,
    SourceId, Ties, random_chip_place, release_gap, release_offset,
};
use rtflash_sim::Lengths;
use rtflash_trace::{JobId, Kind, Record, Release, Transfer};

use chip::Stage;
use cluster::{Cluster, Job};

/// All records of a run, in the order of [`Record::order`].
///
/// `arrivals` are the jobs that are not real-time, all that arrive before the end of the run, in
/// order.
pub fn run(plan: &Plan, options: &Options, arrivals: &[Arrival]) -> Vec<Record> {
    assert!(plan.timing().transfer() > Span::ZERO, "a transfer that takes no time would never be seen to end");
    let duration = options.duration.as_ns();
    let lengths = Lengths::new(plan, options);
    let next = (0..plan.sources().len()).map(|source| first(plan, options, source)).collect();
    let released = vec![0; plan.sources().len()];
    let served = vec![None; plan.device().channels() as usize];
    let mut world = World { plan, options, lengths, now: 0, released, next, served, records: Vec::new() };
    let mut clusters: Vec<Cluster> =
        (0..plan.clusters().len()).map(|position| Cluster::new(plan, options, position)).collect();
    loop {
        if world.now < duration {
            release(&mut world, &mut clusters, arrivals);
        }
        for cluster in &mut clusters {
            cluster.ends(&mut world);
        }
        if world.now < duration {
            for cluster in &mut clusters {
                cluster.dispatch(&mut world);
            }
        }
        grant(&mut world, &mut clusters);
        if world.now >= duration && clusters.iter().all(Cluster::is_idle) {
            break;
        }
        world.now += 1;
    }
    world.records.sort_by_key(Record::order);
    world.records
}

/// The state that every part of the executor can read.
pub struct World<'a> {
    /// The plan that runs.
    pub plan: &'a Plan,
    /// How.
    pub options: &'a Options,
    /// How long things take.
    pub lengths: Lengths,
    /// The nanosecond that it is.
    pub now: u64,
    /// How many jobs each source has released, job streams aside.
    pub released: Vec<u64>,
    /// When the next one is due to be released.
    pub next: Vec<u64>,
    /// The chip that each bus served last.
    pub served: Vec<Option<u32>>,
    /// All that has happened; operations and transfers once they have ended.
    pub records: Vec<Record>,
}

impl World<'_> {
    /// Now, as records have it.
    pub fn instant(&self) -> Instant {
        instant(self.now)
    }
}

/// A point in time, as records have it.
pub fn instant(nanoseconds: u64) -> Instant {
    Instant::from_ns(nanoseconds).expect("a run is shorter than 2^63 ns")
}

/// A count or position, as records have it.
pub fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("a device has fewer than 2^32 of anything")
}

/// The pages stated for the requests of a source.
fn stated<'a>(plan: &Plan, options: &'a Options, source: usize) -> Option<&'a RequestPattern> {
    let of = &plan.sources().as_slice()[source];
    options.releases.as_ref()?.of(of)
}

/// When a source releases its first job. Garbage collection begins with what its task writes.
fn first(plan: &Plan, options: &Options, source: usize) -> u64 {
    let of = &plan.sources().as_slice()[source];
    if of.kind == Kind::Gc {
        let writes = |other: &Source| other.kind == Kind::Write && other.owner == of.owner;
        let writer = plan.sources().iter().position(writes).expect("somebody writes");
        return first(plan, options, writer);
    }
    if let Some(stated) = stated(plan, options, source) {
        if let Some(at) = stated.releases.first() {
            return at.as_ns();
        }
        if let Some(offset) = stated.offset {
            return offset.as_ns();
        }
    }
    match (of.releases, options.phases) {
        (Releases::Periodic(period), Phases::Random) => {
            release_offset(options.seed, SourceId(narrow(source)), span(period.release(1))).as_ns()
        }
        _ => 0,
    }
}

/// How long after the start of the run.
fn span(at: Instant) -> Span {
    at.since(Instant::START)
}

/// When the request behind this one comes.
fn next_request(world: &World, source: usize, index: u64, period: Span) -> u64 {
    let allowed = world.now + period.as_ns();
    let stated = stated(world.plan, world.options, source);
    match stated.and_then(|stated| stated.releases.iter().zip(0..).find(|(_, number)| *number == index + 1)) {
        Some((at, _)) if world.options.police => allowed.max(at.as_ns()),
        Some((at, _)) => world.now.max(at.as_ns()),
        None => allowed + gap(world, source, index, period),
    }
}

/// How many pages a request has.
fn pages(world: &World, source: usize, index: u64) -> u64 {
    let of = &world.plan.sources().as_slice()[source];
    let declared = of.read_pages + of.write_pages;
    let stated = stated(world.plan, world.options, source);
    let stated = stated.and_then(|stated| stated.pages.iter().zip(0..).find(|(_, number)| *number == index));
    match stated {
        Some((&pages, _)) if world.options.police => declared.min(pages),
        Some((&pages, _)) => pages,
        None => declared,
    }
}

/// How much later than a period after a request the next one comes.
fn gap(world: &World, source: usize, index: u64, period: Span) -> u64 {
    let gaps = stated(world.plan, world.options, source).map_or(&[][..], |stated| &stated.gaps);
    match (gaps.iter().zip(0..).find(|(_, number)| *number == index), world.options.recurrence) {
        (Some((gap, _)), _) => gap.as_ns(),
        (None, Recurrence::Sporadic) => {
            release_gap(world.options.seed, SourceId(narrow(source)), index, period).as_ns()
        }
        (None, Recurrence::Periodic) => 0,
    }
}

/// Releases what is released now. Job streams are the last sources and `arrivals` has them in
/// order, so all come by source, then by number.
fn release(world: &mut World, clusters: &mut [Cluster], arrivals: &[Arrival]) {
    for (source, position) in world.plan.sources().iter().zip(0..) {
        let Releases::Periodic(period) = source.releases else { continue };
        let number = position as usize;
        // More than one may come early.
        while world.next[number] == world.now {
            let index = world.released[number];
            let pages = pages(world, number, index);
            let deadline;
            if source.kind == Kind::Gc {
                let start = first(world.plan, world.options, number);
                deadline = start + period.deadline(index).as_ns();
                world.next[number] = start + period.release(index + 1).as_ns();
            } else {
                deadline = world.now + source.deadline.expect("a request is due").as_ns();
                world.next[number] = next_request(world, number, index, span(period.release(1)));
            }
            world.released[number] += 1;
            let cluster = source.cluster.expect("a task is in a cluster");
            let job = Job {
                id: JobId { source: SourceId(position), index },
                kind: source.kind,
                deadline: Some(instant(deadline)),
                passes: u64::from(source.kind == Kind::Gc),
                reads: if source.kind == Kind::Read { pages } else { 0 },
                writes: if source.kind == Kind::Write { pages } else { 0 },
                unfinished: pages,
                released: world.now,
                starved: false,
                waits: false,
            };
            clusters[cluster.index()].release(world, job);
        }
    }
    let now = world.instant();
    for arrival in arrivals.iter().filter(|arrival| arrival.at == now) {
        arrive(world, clusters, arrival);
    }
}

/// A job that is not real-time arrives.
fn arrive(world: &mut World, clusters: &mut [Cluster], arrival: &Arrival) {
    let pages = arrival.read_pages + arrival.write_pages;
    let placed = match world.options.service {
        Service::Tbs => arrival.grant.map(|grant| (grant.cluster.index(), Some(grant.deadline), grant.gc_passes)),
        Service::Background => {
            // The first of the least ones.
            let cluster = (0..clusters.len()).min_by_key(|&cluster| clusters[cluster].unfinished_background());
            cluster.map(|cluster| (cluster, None, clusters[cluster].background_passes(world, arrival.write_pages)))
        }
    };
    let Some((cluster, deadline, passes)) = placed else {
        let (at, job, kind) = (arrival.at, arrival.job, Kind::Server);
        world.records.push(Record::Release(Release { at, job, kind, deadline: None, pages, cluster: None }));
        return;
    };
    let job = Job {
        id: arrival.job,
        kind: Kind::Server,
        deadline,
        passes,
        reads: arrival.read_pages,
        writes: arrival.write_pages,
        unfinished: pages,
        released: world.now,
        starved: false,
        waits: false,
    };
    clusters[cluster].release(world, job);
}

/// Each bus that is idle takes the request that has waited longest.
fn grant(world: &mut World, clusters: &mut [Cluster]) {
    let device = world.plan.device();
    for channel in 0..device.channels() {
        let chips = clusters.iter_mut().flat_map(|cluster| cluster.chips.iter_mut());
        let on_channel: Vec<_> = chips.filter(|chip| device.channel_of(chip.number) == channel).collect();
        if on_channel.iter().any(|chip| matches!(chip.stage(), Some(Stage::Transfers { .. }))) {
            continue;
        }
        let waits_since = |stage| match stage {
            Some(Stage::Waits { since }) => Some(since),
            _ => None,
        };
        let waiting = on_channel.into_iter().filter(|chip| waits_since(chip.stage()).is_some());
        let waiting: Vec<_> = waiting.collect();
        let next = match world.options.arbitration {
            Arbitration::Fifo => waiting.into_iter().min_by_key(|chip| {
                let since = waits_since(chip.stage()).expect("it waits");
                let tie = match world.options.ties {
                    Ties::Lowest => i128::from(chip.number),
                    Ties::Highest => -i128::from(chip.number),
                    Ties::Random => random_chip_place(world.options.seed, ChipId(chip.number), instant(since)).into(),
                };
                (since, tie)
            }),
            Arbitration::RoundRobin => {
                // Those behind the last one first.
                let behind = world.served[channel as usize].map_or(0, |last| last + 1);
                waiting.into_iter().min_by_key(|chip| (chip.number < behind, chip.number))
            }
        };
        if let Some(chip) = next {
            world.served[channel as usize] = Some(chip.number);
            let job = chip.busy.as_ref().expect("it waits").job;
            let until = world.now + world.lengths.transfer(job, ChannelId(channel), world.instant()).as_ns();
            chip.set_stage(Stage::Transfers { from: world.now, until });
        }
    }
}

/// The record of a transfer that ends now.
fn transferred(world: &World, operation: &rtflash_trace::Operation, from: u64) -> Record {
    Record::Transfer(Transfer {
        start: instant(from),
        end: world.instant(),
        channel: ChannelId(world.plan.device().channel_of(operation.chip.0)),
        cluster: operation.cluster,
        chip: operation.chip,
        job: operation.job,
        kind: operation.kind,
    })
}
