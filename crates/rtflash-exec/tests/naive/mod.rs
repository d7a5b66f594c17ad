//! A second executor, written from `docs/executor.md` alone: nanosecond by nanosecond, with lists
//! that are searched from end to end. It is slow and meant to be seen through at a glance; what it
//! says is what the engine has to say, record for record.

mod chip;
mod cluster;
mod pages;

use rtflash_exec::dispatch::{Arrival, release_gap, release_offset};
use rtflash_exec::trace::{JobId, Kind, Record, Release, Transfer};
use rtflash_exec::{
    ChannelId, Lengths, Options, Phases, Plan, Recurrence, Releases, RequestPattern, Service, Source, SourceId,
};
use rtflash_model::{Instant, Span, TaskId};

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
    let mut world = World { plan, options, lengths, now: 0, released, next, records: Vec::new() };
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
        grant(&world, &mut clusters);
        if world.now >= duration && clusters.iter().all(Cluster::is_idle) {
            break;
        }
        world.now += 1;
    }
    world.records.sort_by_key(Record::order);
    world.records
}

/// What every part of the executor gets to see.
pub struct World<'a> {
    /// What is run.
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

/// What is stated of the requests of a source.
fn stated<'a>(plan: &Plan, options: &'a Options, source: usize) -> Option<&'a RequestPattern> {
    let of = &plan.sources().as_slice()[source];
    options.releases.as_ref()?.request(TaskId(narrow(of.owner)), of.kind)
}

/// When a source releases its first job. Garbage collection begins with what its task writes.
fn first(plan: &Plan, options: &Options, source: usize) -> u64 {
    let of = &plan.sources().as_slice()[source];
    if of.kind == Kind::Gc {
        let writes = |other: &Source| other.kind == Kind::Write && other.owner == of.owner;
        let writer = plan.sources().iter().position(writes).expect("somebody writes");
        return first(plan, options, writer);
    }
    if let Some(offset) = stated(plan, options, source).and_then(|stated| stated.offset) {
        return offset.as_ns();
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
        // At most one: a period is a nanosecond or longer.
        let number = position as usize;
        let index = world.released[number];
        if world.next[number] == world.now {
            let deadline;
            if source.kind == Kind::Gc {
                let start = first(world.plan, world.options, number);
                deadline = start + period.deadline(index).as_ns();
                world.next[number] = start + period.release(index + 1).as_ns();
            } else {
                deadline = world.now + source.deadline.expect("a request is due").as_ns();
                let after = span(period.release(1)).as_ns() + gap(world, number, index, span(period.release(1)));
                world.next[number] = world.now + after;
            }
            world.released[number] += 1;
            let cluster = source.cluster.expect("a task is in a cluster");
            let job = Job {
                id: JobId { source: SourceId(position), index },
                kind: source.kind,
                deadline: Some(instant(deadline)),
                passes: u64::from(source.kind == Kind::Gc),
                reads: source.read_pages,
                writes: source.write_pages,
                unfinished: source.read_pages + source.write_pages,
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
fn grant(world: &World, clusters: &mut [Cluster]) {
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
        if let Some(chip) = waiting.min_by_key(|chip| (waits_since(chip.stage()), chip.number)) {
            let job = chip.busy.as_ref().expect("it waits").job;
            let until = world.now + world.lengths.transfer(job, ChannelId(channel), world.instant()).as_ns();
            chip.set_stage(Stage::Transfers { from: world.now, until });
        }
    }
}

/// The record of a transfer that ends now.
fn transferred(world: &World, operation: &rtflash_exec::trace::Operation, from: u64) -> Record {
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
