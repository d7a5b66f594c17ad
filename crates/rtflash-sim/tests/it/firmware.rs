//! The state machine that firmware links does what the executor does: operation for operation.

use std::collections::{HashMap, HashSet};

use rtflash_ftl::image::Image;
use rtflash_ftl::{
    AtStart, BusQueue, FlashPage, Ftl, FtlMemory, Geometry, NandChips, OperationPurpose, PassOutcome, RequestHost,
    SpareBytes,
};
use rtflash_model::random::Stream;
use rtflash_model::{ChipId, ClusterId, Instant, Placement};
use rtflash_plan::{
    Arbitration, ChannelId, ColumnId, NoImage, Pattern, PeriodicTrim, Promise, Requests, Service, SourceId, Ties,
    Victims, Waits, initial_pages, initial_zones, job_pages,
};
use rtflash_sim::Lengths;
use rtflash_testkit::cases;
use rtflash_trace::{Action, JobId, Kind, NONE as NO_PAGE, Record};

use crate::common::World;
use crate::placed_worlds::engine;

/// The work done on a chip: its times, its place and its page.
type Done = (u64, u64, u32, Action, u32, u32, u32, Kind);

/// The next work of a chip.
#[derive(Debug, Clone, Copy)]
enum Next {
    /// Senses a page behind its command.
    Senses,
    /// Moves a page: what is read then is over, what is programmed goes on.
    Moves {
        programs: bool,
    },
    /// Copies inside the chip, to another page.
    Copies(FlashPage),
    Erases,
}

/// The work of a chip.
#[derive(Debug, Clone, Copy)]
struct Work {
    started: u64,
    action: Action,
    at: FlashPage,
    lpn: u32,
    kind: Kind,
    next: Next,
}

/// The content of the two page registers of a chip, each with the instant at which that is sensed,
/// or has been moved, once it is known.
#[derive(Debug, Clone, Copy, Default)]
struct Registers {
    array: Option<(Work, Option<u64>)>,
    cache: Option<(Work, Option<u64>)>,
    /// The chip whose page the command of a read goes with.
    with: Option<u32>,
}

/// Chips and buses, nanosecond by nanosecond.
struct Device<'w> {
    world: &'w World,
    lengths: Lengths,
    now: u64,
    work: Vec<Option<Work>>,
    ends: Vec<Option<u64>>,
    buses: Vec<Vec<(u64, u32)>>,
    free_at: Vec<u64>,
    done: Vec<Done>,
    sequence: u64,
    /// The operations that fail: the chip, and the end.
    fails: HashSet<(u32, u64)>,
    /// Chips whose erases are being suspended, and what is left of those that are.
    suspends: HashSet<u32>,
    left: HashMap<u32, u64>,
    registers: Vec<Registers>,
    /// Chips that send a page that has just been granted its bus.
    granted: Vec<u32>,
}

/// Lengths do not depend on whose an operation is.
const JOB: JobId = JobId { source: SourceId(0), index: 0 };

fn instant(ns: u64) -> Instant {
    Instant::from_ns(ns).expect("a short time")
}

impl Device<'_> {
    fn channel(&self, chip: u32) -> usize {
        self.world.plan.device().channel_of(chip) as usize
    }

    fn ask(&mut self, chip: u32, since: u64) {
        let channel = self.channel(chip);
        let mut memory = vec![(0, 0); self.work.len()];
        let mut bus = BusQueue::new(&mut memory);
        for (since, chip) in std::mem::take(&mut self.buses[channel]) {
            assert!(bus.ask(since, chip));
        }
        assert!(bus.ask(since, chip));
        while let Some(first) = bus.first() {
            assert_eq!(bus.grant(), Some(first.1));
            self.buses[channel].push(first);
        }
    }

    fn command(&self) -> u64 {
        self.lengths.command().as_ns()
    }

    fn begins(&mut self, chip: u32, (action, at, lpn, kind): (Action, FlashPage, u32, Kind), next: Next) {
        assert!(self.work[chip as usize].is_none(), "chip {chip} is idle");
        self.work[chip as usize] = Some(Work { started: self.now, action, at, lpn, kind, next });
        match next {
            Next::Moves { programs: false } => {
                let sensing = self.lengths.sensing(JOB, ChipId(chip), instant(self.now)).as_ns();
                self.ask(chip, self.now + sensing);
            }
            Next::Moves { programs: true } => self.ask(chip, self.now),
            _ if self.command() > 0 => self.ask(chip, self.now),
            _ => self.goes_on_inside(chip, self.now),
        }
    }

    /// A command is over.
    fn goes_on_inside(&mut self, chip: u32, from: u64) {
        let work = self.work[chip as usize].expect("a chip that works");
        let (number, at) = (ChipId(chip), instant(from));
        match work.next {
            Next::Senses => {
                let sensing = self.lengths.sensing(JOB, number, at).as_ns();
                self.work[chip as usize] = Some(Work { next: Next::Moves { programs: false }, ..work });
                self.ask(chip, from + sensing);
            }
            Next::Copies(to) => {
                let middle = from + self.lengths.read(JOB, number, at).as_ns();
                let end = middle + self.lengths.program(JOB, number, instant(middle)).as_ns();
                self.done.push((
                    work.started,
                    middle,
                    chip,
                    Action::Read,
                    work.at.block,
                    work.at.page,
                    work.lpn,
                    work.kind,
                ));
                self.done.push((middle, end, chip, Action::Program, to.block, to.page, work.lpn, work.kind));
                self.ends[chip as usize] = Some(end);
            }
            Next::Erases => self.ends_at(chip, from + self.lengths.erase(JOB, number, at).as_ns()),
            Next::Moves { .. } => unreachable!("a page has no command of its own"),
        }
    }

    fn ends_at(&mut self, chip: u32, end: u64) {
        let work = self.work[chip as usize].expect("a chip that works");
        self.done.push((work.started, end, chip, work.action, work.at.block, work.at.page, work.lpn, work.kind));
        self.ends[chip as usize] = Some(end);
    }

    /// A chip that uses two registers is granted its bus, if it is one that waits for it. Gives
    /// the instant from which on the bus is free again.
    fn grants_cached(&mut self, chip: u32, number: ChannelId) -> Option<u64> {
        let of = &mut self.registers[chip as usize];
        let (now, command) = (self.now, self.lengths.command().as_ns());
        let sensing = |chip, from| from + self.lengths.sensing(JOB, ChipId(chip), instant(from)).as_ns();
        let moved = |from| from + self.lengths.transfer(JOB, number, instant(from)).as_ns();
        match (&mut of.cache, &mut of.array) {
            (Some((work, over @ None)), _) if work.action == Action::Program => {
                *over = Some(moved(now) + command);
                *over
            }
            (Some((_, None)), _) => {
                let mut from = now;
                let told = (0..).zip(&mut self.registers).find(|(_, of)| of.with == Some(chip));
                if let Some((next, of)) = told {
                    from += command;
                    of.with = None;
                    of.array.as_mut().expect("it is to be sensed").1 = Some(sensing(next, from));
                }
                let end = moved(from);
                let (work, over) = self.registers[chip as usize].cache.as_mut().expect("it is sent");
                *over = Some(end);
                let Work { started, action, at, lpn, kind, .. } = *work;
                self.done.push((started, end, chip, action, at.block, at.page, lpn, kind));
                self.granted.push(chip);
                Some(end)
            }
            (_, Some((_, over @ None))) => {
                *over = Some(sensing(chip, now + command));
                Some(now + command)
            }
            _ => None,
        }
    }

    fn is_at_work(&self) -> bool {
        let holds = |of: &Registers| of.array.is_some() || of.cache.is_some();
        self.work.iter().any(Option::is_some) || self.registers.iter().any(holds)
    }

    fn grants(&mut self) {
        for channel in 0..self.buses.len() {
            while self.free_at[channel] <= self.now
                && let Some(&(since, chip)) = self.buses[channel].first()
                && since <= self.now
            {
                self.buses[channel].remove(0);
                let number = ChannelId(u32::try_from(channel).expect("few channels"));
                if let Some(until) = self.grants_cached(chip, number) {
                    self.free_at[channel] = until;
                    continue;
                }
                let work = self.work[chip as usize].expect("a chip that works");
                let Next::Moves { programs } = work.next else {
                    self.free_at[channel] = self.now + self.command();
                    self.goes_on_inside(chip, self.now + self.command());
                    continue;
                };
                let mut over = self.now + self.lengths.transfer(JOB, number, instant(self.now)).as_ns();
                let mut end = over;
                if programs {
                    over += self.command();
                    end = over + self.lengths.programming(JOB, ChipId(chip), instant(over)).as_ns();
                }
                self.free_at[channel] = over;
                self.ends_at(chip, end);
            }
        }
    }
}

fn kind_of(world: &World, purpose: OperationPurpose, action: Kind) -> Kind {
    match purpose {
        OperationPurpose::Collection => Kind::Gc,
        OperationPurpose::Request { source, .. } => match world.plan.sources()[SourceId(source)].kind {
            Kind::Server => Kind::Server,
            _ => action,
        },
    }
}

impl NandChips for Device<'_> {
    fn read(&mut self, chip: u32, at: FlashPage, lpn: u32, purpose: OperationPurpose) {
        let next = if self.command() > 0 { Next::Senses } else { Next::Moves { programs: false } };
        self.begins(chip, (Action::Read, at, lpn, kind_of(self.world, purpose, Kind::Read)), next);
    }

    fn program(&mut self, chip: u32, at: FlashPage, spare: SpareBytes, purpose: OperationPurpose) {
        assert!(spare.sequence >= self.sequence, "sequence numbers ascend");
        self.sequence = spare.sequence + 1;
        self.begins(
            chip,
            (Action::Program, at, spare.lpn, kind_of(self.world, purpose, Kind::Write)),
            Next::Moves { programs: true },
        );
    }

    fn copyback(&mut self, chip: u32, from: FlashPage, to: FlashPage, spare: SpareBytes) {
        assert!(spare.sequence >= self.sequence, "sequence numbers ascend");
        self.sequence = spare.sequence + 1;
        self.begins(chip, (Action::Read, from, spare.lpn, Kind::Gc), Next::Copies(to));
    }

    fn erase(&mut self, chip: u32, block: u32, purpose: OperationPurpose) {
        let at = FlashPage { block, page: NO_PAGE };
        self.begins(chip, (Action::Erase, at, NO_PAGE, kind_of(self.world, purpose, Kind::Write)), Next::Erases);
    }

    /// An erase that is over before it could be suspended goes on.
    fn suspend(&mut self, chip: u32) {
        let of = self.world.plan.device();
        let until = self.now + of.erase_suspend().expect("erases are suspended").as_ns();
        let end = self.ends[chip as usize].expect("it erases");
        if end <= until {
            return;
        }
        let erase = self.done.iter_mut().rfind(|done| done.2 == chip).expect("it has begun");
        (erase.1, erase.3) = (until, Action::ErasePart);
        self.ends[chip as usize] = Some(until);
        assert!(self.suspends.insert(chip));
        assert!(self.left.insert(chip, end - self.now + of.erase_resume().as_ns()).is_none());
    }

    fn resume(&mut self, chip: u32, block: u32) {
        let at = FlashPage { block, page: NO_PAGE };
        let left = self.left.remove(&chip).expect("its erase is suspended");
        assert!(self.work[chip as usize].is_none(), "chip {chip} is idle");
        let (started, action, next) = (self.now, Action::Erase, Next::Erases);
        self.work[chip as usize] = Some(Work { started, action, at, lpn: NO_PAGE, kind: Kind::Gc, next });
        self.ends_at(chip, self.now + left);
    }

    fn sense(&mut self, chip: u32, at: FlashPage, lpn: u32, purpose: OperationPurpose, with: Option<u32>) {
        assert!(self.work[chip as usize].is_none(), "its array is idle");
        let kind = kind_of(self.world, purpose, Kind::Read);
        let work = Work { started: self.now, action: Action::Read, at, lpn, kind, next: Next::Senses };
        let sensing = self.lengths.sensing(JOB, ChipId(chip), instant(self.now)).as_ns();
        let over = (self.command() == 0).then_some(self.now + sensing);
        assert!(with.is_none() || over.is_none(), "commands are counted");
        let of = &mut self.registers[chip as usize];
        assert!(of.array.replace((work, over)).is_none() && of.with.is_none(), "its array is idle");
        of.with = with;
        if let Some(before) = with {
            let waits = self.registers[before as usize].cache.is_some_and(|(_, over)| over.is_none());
            assert!(waits && self.channel(before) == self.channel(chip), "a page of the channel waits");
        } else if over.is_none() {
            self.ask(chip, self.now);
        }
    }

    fn send(&mut self, chip: u32) {
        let of = &mut self.registers[chip as usize];
        let (work, over) = of.array.take().expect("a page has been sensed");
        assert!(over.is_some_and(|over| over <= self.now), "it has been sensed");
        assert!(of.cache.replace((work, None)).is_none(), "its cache register is empty");
        self.ask(chip, self.now);
    }

    fn load(&mut self, chip: u32, at: FlashPage, spare: SpareBytes, purpose: OperationPurpose) {
        assert!(spare.sequence >= self.sequence, "sequence numbers ascend");
        self.sequence = spare.sequence + 1;
        let kind = kind_of(self.world, purpose, Kind::Write);
        let (action, next) = (Action::Program, Next::Moves { programs: true });
        let work = Work { started: self.now, action, at, lpn: spare.lpn, kind, next };
        let cache = &mut self.registers[chip as usize].cache;
        assert!(cache.replace((work, None)).is_none(), "its cache register is empty");
        self.ask(chip, self.now);
    }

    fn program_loaded(&mut self, chip: u32) {
        let of = &mut self.registers[chip as usize];
        let (work, over) = of.cache.take().expect("a page is there");
        assert!(of.array.is_none() && over.is_some_and(|over| over <= self.now), "it is there");
        assert!(self.work[chip as usize].replace(work).is_none(), "its array is idle");
        let end = self.now + self.lengths.programming(JOB, ChipId(chip), instant(self.now)).as_ns();
        self.ends_at(chip, end);
    }
}

/// When a pass was due, on which processor, of which stream's server or of none, and of which job;
/// and the block that it takes with its valid pages, or the free pages with which it is left out.
type Pass = (u64, u32, Option<u32>, u64, Result<(u32, u32), u64>);

/// Requests that are over: source, number and deadline.
#[derive(Debug, Default)]
struct Over {
    now: u64,
    over: Vec<(u64, u32, u64)>,
    due: Vec<(u32, u64, u64)>,
    starved: usize,
    levelled: usize,
    server_passes: usize,
    passes: Vec<Pass>,
    /// When, processor, a, f and b where pages to be written have come.
    reserves: Vec<(u64, u32, u64, u32, u64)>,
}

impl RequestHost for Over {
    fn complete(&mut self, source: u32, index: u64, due_ns: u64) {
        self.over.push((self.now, source, index));
        self.due.push((source, index, due_ns));
    }

    fn pass(&mut self, processor: u32, server: Option<u32>, job: u64, outcome: PassOutcome) {
        self.levelled += usize::from(matches!(outcome, PassOutcome::Levelling(_)));
        self.server_passes += usize::from(server.is_some() && matches!(outcome, PassOutcome::Selected(_)));
        let outcome = match outcome {
            PassOutcome::Selected(of) | PassOutcome::Moving(of) | PassOutcome::Levelling(of) => {
                Ok((of.block, of.valid))
            }
            PassOutcome::LeftOut(free) => Err(free.into()),
        };
        self.passes.push((self.now, processor, server, job, outcome));
    }

    fn starved(&mut self, _: u32) {
        self.starved += 1;
    }
}

/// The content of the chips when a run of the executor begins.
struct Start<'w> {
    world: &'w World,
    /// Cluster and column of each processor.
    processors: Vec<(ClusterId, u32)>,
}

impl Start<'_> {
    fn certified(&self) -> &rtflash_model::PerId<ClusterId, rtflash_plan::Certified> {
        let Promise::Certified(certified) = self.world.plan.promise() else { panic!("certificates") };
        certified
    }

    fn zones(&self, processor: u32) -> rtflash_plan::ZonesAtStart {
        let (cluster, column) = self.processors[processor as usize];
        let (of, options) = (&self.world.plan.clusters()[cluster], &self.world.options);
        initial_zones(of, &self.certified()[cluster], ColumnId(column), options.aging, options.seed)
    }
}

impl AtStart for Start<'_> {
    fn pages(&mut self, processor: u32, lpns: &mut [u32]) -> u32 {
        let (cluster, column) = self.processors[processor as usize];
        let (of, by, options) = (&self.world.plan.clusters()[cluster], &self.certified()[cluster], &self.world.options);
        if by.is_zoned() {
            let pages = of.layout.pages() as usize;
            for (block, held) in self.zones(processor).blocks.iter().enumerate() {
                for (to, lpn) in lpns[block * pages..].iter_mut().zip(held) {
                    *to = lpn.0;
                }
            }
            return 0;
        }
        let chip = of.chips[column as usize];
        let mut stream = Stream::numbered(options.seed, b"initial\0", chip.into());
        let held = initial_pages(&of.layout, by.certificate.placement, ColumnId(column), options.aging, &mut stream);
        for (to, lpn) in lpns.iter_mut().zip(&held) {
            *to = lpn.0;
        }
        held.count()
    }

    fn ring(&mut self, processor: u32, ring: u32) -> u32 {
        self.zones(processor).next[ring as usize]
    }

    fn is_written(&mut self, processor: u32, block: u32) -> bool {
        // Those behind are kept back.
        self.zones(processor).blocks.get(block as usize).is_some_and(|held| !held.is_empty())
    }
}

/// A request of the run: when, of which source (by position in the image), nominally when, and the
/// pages.
type Released = (u64, u32, u64, Vec<u32>);

/// A job: when it arrived, of which stream (by position in the image), what it reads and writes,
/// and its deadline.
type Granted = (u64, u32, Vec<u32>, Vec<u32>, u64);

/// The jobs that the executor granted, with the pages that it drew.
fn jobs(world: &World, records: &[Record], image: &Image<'_>) -> Vec<Granted> {
    let Promise::Certified(certified) = world.plan.promise() else { panic!("certificates") };
    let released = records.iter().filter_map(|record| match record {
        Record::Release(release) if release.kind == Kind::Server => Some((release, release.cluster?)),
        _ => None,
    });
    released
        .map(|(release, cluster)| {
            let (of, source) = (&world.plan.clusters()[cluster], &world.plan.sources()[release.job.source]);
            let range = &certified[cluster].ranges[of.tasks.len() + source.stream().expect("of a stream")];
            let pages = job_pages(world.options.seed, cluster, release.job, release.pages, range);
            let is_it = |&position: &u32| {
                let of = image.job_stream(position).expect("a stream");
                (of.number, of.cluster) == (release.job.source.0, cluster.0)
            };
            let position = (0..image.job_streams()).find(is_it).expect("the stream is served there");
            let pages: Vec<u32> = pages.into_iter().map(|lpn| lpn.0).collect();
            let (reads, writes) = pages.split_at(usize::try_from(source.read_pages).expect("few pages"));
            let due = release.deadline.expect("a deadline is granted").as_ns();
            (release.at.as_ns(), position, reads.to_vec(), writes.to_vec(), due)
        })
        .collect()
}

/// The requests that the executor released, with the pages that it drew.
fn releases(world: &World, records: &[Record], image: &Image<'_>) -> Vec<Released> {
    let mut sources: Vec<(u32, u64, Requests)> = (0..image.sources())
        .map(|position| {
            let source = image.source(position).expect("a source");
            let requests = Requests::of_source(&world.plan, SourceId(source.number), &world.options);
            (source.number, source.deadline_ns, requests)
        })
        .collect();
    let released = records.iter().filter_map(|record| match record {
        Record::Release(release) if matches!(release.kind, Kind::Read | Kind::Write) => Some(release),
        _ => None,
    });
    released
        .map(|release| {
            let number = release.job.source.0;
            let position = sources.iter().position(|source| source.0 == number).expect("a source of the image");
            let (_, deadline, requests) = &mut sources[position];
            let mut pages = Vec::new();
            requests.draw(release.pages, &mut pages, |_| ColumnId(0));
            let nominal = release.deadline.expect("a request has a deadline").as_ns() - *deadline;
            let position = u32::try_from(position).expect("few sources");
            (release.at.as_ns(), position, nominal, pages.into_iter().map(|lpn| lpn.0).collect())
        })
        .collect()
}

/// The operations that fail in a run: the chip, and the end, at or before the end of its step.
fn failing(records: &[Record]) -> HashSet<(u32, u64)> {
    let mut last = HashMap::new();
    let mut fails = HashSet::new();
    for record in records {
        match record {
            Record::Operation(of) => {
                last.insert((of.chip, of.action == Action::Erase), of.end.as_ns());
            }
            Record::Failed(failed) => {
                fails.insert((failed.chip.0, last[&(failed.chip, failed.page == NO_PAGE)]));
            }
            _ => {}
        }
    }
    fails
}

/// Operations, and requests that are over, as the state machine has them.
fn firmware(world: &World, bytes: &[u8], records: &[Record]) -> Ran {
    let image = Image::read(bytes).expect("an image that is sound");
    let late = 1_000;
    let geometry = Geometry::of(&image, late).expect("a small world");
    let (mut words, mut bits) = (vec![7; geometry.words()], vec![7; geometry.bits()]);
    let mut gc_jobs = vec![Default::default(); geometry.gc_jobs];
    let mut processors: Vec<_> = (0..geometry.processors).map(|_| None).collect();
    let mut clusters = vec![Default::default(); geometry.clusters];
    let mut sources = vec![Default::default(); geometry.sources];
    let mut requests = vec![Default::default(); geometry.requests];
    let memory = FtlMemory {
        words: &mut words,
        bits: &mut bits,
        gc_jobs: &mut gc_jobs,
        processors: &mut processors,
        clusters: &mut clusters,
        sources: &mut sources,
        requests: &mut requests,
    };
    let mut start = Start { world, processors: Vec::new() };
    for cluster in 0..image.clusters() {
        let of = image.cluster(cluster).expect("a cluster");
        start.processors.extend((0..of.processors()).map(|column| (ClusterId(cluster), column)));
    }
    let mut ftl = Ftl::new(&image, late, memory, &mut start).expect("enough memory");
    let device = world.plan.device();
    let chips = device.chips() as usize;
    let mut nand = Device {
        world,
        lengths: Lengths::new(&world.plan, &world.options),
        now: 0,
        work: vec![None; chips],
        ends: vec![None; chips],
        buses: vec![Vec::new(); device.channels() as usize],
        free_at: vec![0; device.channels() as usize],
        done: Vec::new(),
        sequence: 0,
        fails: failing(records),
        suspends: HashSet::new(),
        left: HashMap::new(),
        registers: vec![Registers::default(); chips],
        granted: Vec::new(),
    };
    let mut host = Over::default();
    let mut notified = vec![0; geometry.processors];
    let mut released = releases(world, records, &image).into_iter().peekable();
    let mut granted = jobs(world, records, &image).into_iter().peekable();
    let (duration, mut trimmed) = (world.options.duration.as_ns(), 0);
    while nand.now < duration || nand.is_at_work() {
        host.now = nand.now;
        while let Some((_, source, nominal, pages)) = released.next_if(|released| released.0 == nand.now) {
            let taken = ftl.request(source, Some(nominal), nand.now, &pages);
            let of = image.source(source).expect("a source");
            assert_eq!(taken.expect("as declared").due_ns, nominal + of.deadline_ns);
        }
        while let Some((_, stream, reads, writes, due)) = granted.next_if(|granted| granted.0 == nand.now) {
            assert_eq!(ftl.job(stream, nand.now, &reads, &writes).expect("it is its own").due_ns, due);
        }
        for chip in 0..chips {
            let number = u32::try_from(chip).expect("few chips");
            let Registers { array, cache, .. } = nand.registers[chip];
            if array.is_some_and(|(_, over)| over == Some(nand.now)) {
                assert!(ftl.sensed(number) && !ftl.sensed(number));
            }
            if let Some((work, over)) = cache.filter(|(_, over)| *over == Some(nand.now)) {
                if work.action == Action::Read {
                    nand.registers[chip].cache = None;
                }
                assert!(ftl.moved(number, &mut host) && !ftl.moved(number, &mut host), "{over:?}");
            }
            if nand.ends[chip] == Some(nand.now) {
                (nand.ends[chip], nand.work[chip]) = (None, None);
                let taken = if nand.suspends.remove(&number) {
                    ftl.suspended(number, &mut host)
                } else if nand.fails.remove(&(number, nand.now)) {
                    ftl.failed(number, &mut host)
                } else {
                    ftl.ended(number, &mut host)
                };
                assert!(taken && !ftl.ended(number, &mut host) && !ftl.failed(number, &mut host));
                assert!(!ftl.suspended(number, &mut host));
            }
        }
        if nand.now < duration {
            trimmed += trim(&mut ftl, &image, world, nand.now);
            for (processor, notified) in (0..).zip(&mut notified) {
                let (arrived, free, pending) = ftl.reserve(processor).expect("a processor");
                if std::mem::replace(notified, arrived) != arrived {
                    host.reserves.push((nand.now, processor, arrived, free, pending));
                }
            }
            ftl.dispatch(&mut nand, &mut host);
        } else {
            ftl.carry_on(&mut nand);
        }
        nand.grants();
        for chip in nand.granted.drain(..).filter(|_| device.has_commands()) {
            assert!(ftl.granted(chip) && !ftl.granted(chip));
        }
        nand.now += 1;
    }
    for &(source, index, due) in &host.due {
        let release = records.iter().find_map(|record| match record {
            Record::Release(release) if release.job == (JobId { source: SourceId(source), index }) => Some(release),
            _ => None,
        });
        assert_eq!(release.and_then(|release| release.deadline).map(Instant::as_ns), Some(due));
    }
    let first = |(cluster, column): (ClusterId, u32)| world.plan.clusters()[cluster].chips[column as usize].0;
    let chips = start.processors.iter().map(|&processor| first(processor)).collect();
    let zoned = start.processors.iter().map(|&(cluster, _)| start.certified()[cluster].is_zoned()).collect();
    let streams = (0..image.job_streams()).map(|stream| image.job_stream(stream).expect("a stream").number).collect();
    Ran { done: nand.done, host, chips, zoned, streams, trimmed }
}

/// Tasks trim their pages of this nanosecond, as far as they may. Says how many pages hold nothing
/// then.
fn trim(ftl: &mut Ftl<'_, '_>, image: &Image<'_>, world: &World, now: u64) -> usize {
    let is_now = |trim: &&PeriodicTrim| now > 0 && now.is_multiple_of(trim.every.as_ns());
    let mut trimmed = 0;
    for trim in world.options.trims.iter().filter(is_now).filter(|_| world.options.placed.faults == 0) {
        let of_task = |&position: &u32| {
            let number = image.source(position).expect("a source").number;
            world.plan.sources()[SourceId(number)].task() == Some(trim.task)
        };
        let Some(position) = (0..image.sources()).find(of_task) else { continue };
        let of = image.source(position).expect("a source");
        let first = (now / trim.every.as_ns() - 1) * u64::from(trim.pages);
        let page = |page| of.first_page + u32::try_from(page % u64::from(of.page_count)).expect("a page");
        let pages: Vec<u32> = (first..first + u64::from(trim.pages)).map(page).collect();
        if ftl.trim(position, &pages).is_ok() {
            trimmed += pages.iter().filter(|&&page| ftl.locate(of.cluster, page).is_none()).count();
        }
    }
    trimmed
}

/// The outcome of a run.
struct Ran {
    done: Vec<Done>,
    host: Over,
    /// The first chip of each processor, and whether it has zones.
    chips: Vec<u32>,
    zoned: Vec<bool>,
    /// Sources of jobs, by their numbers.
    streams: Vec<u32>,
    /// Pages that were trimmed and hold nothing then.
    trimmed: usize,
}

impl Ran {
    /// Victims, passes left out and reserves are those of the executor's records.
    fn collects_like(&self, records: &[Record]) {
        let chip = |processor: u32| self.chips[processor as usize];
        let (mut passes, mut reserves) = (Vec::new(), Vec::new());
        let server = |job: JobId| Some(job.source.0).filter(|source| self.streams.contains(source));
        for record in records {
            match record {
                Record::Selected(of) => {
                    let victim = Ok((of.block.0, of.valid));
                    passes.push((of.at.as_ns(), of.chip.0, server(of.job), of.job.index, victim));
                }
                Record::LeftOut(of) => {
                    passes.push((of.at.as_ns(), of.chip.0, server(of.job), of.job.index, Err(of.free)));
                }
                Record::Reserve(of) => reserves.push((of.at.as_ns(), of.chip.0, of.arrived, of.free, of.pending)),
                _ => {}
            }
        }
        let of = &self.host;
        let mut own: Vec<Pass> = of.passes.iter().map(|&of| (of.0, chip(of.1), of.2, of.3, of.4)).collect();
        own.sort_unstable();
        passes.sort_unstable();
        assert_eq!(own, passes);
        let of_maps = of.reserves.iter().filter(|of| !self.zoned[of.1 as usize]);
        let mut own: Vec<_> = of_maps.map(|of| (of.0, chip(of.1), of.2, u64::from(of.3), of.4)).collect();
        own.sort_unstable();
        reserves.sort_unstable();
        assert_eq!(own, reserves);
    }
}

#[derive(Debug, Default)]
struct Seen {
    worlds: usize,
    stripes: usize,
    zones: usize,
    superblocks: usize,
    operations: usize,
    copies: usize,
    erases: usize,
    resets: usize,
    commands: usize,
    over: usize,
    starved: usize,
    failed: usize,
    failed_erases: usize,
    failed_in_zones: usize,
    suspended: usize,
    levelled: usize,
    starved_while_suspending: usize,
    starved_while_cached: usize,
    starved_jobs: usize,
    starved_while_trimming: usize,
    served: usize,
    server_passes: usize,
    /// Operations that began together with one of another job of their superblock: beside reads,
    /// rows, and rows of passes. The ones among them beside a page that failed.
    beside_reads: usize,
    beside_rows: usize,
    beside_passes: usize,
    beside_failed: usize,
    /// Clusters that use a second page register, and operations there of requests; of them, those
    /// of superblocks, and where commands are counted.
    cached: usize,
    cached_operations: usize,
    cached_rows: usize,
    cached_commands: usize,
    failed_twice: usize,
    trimmed: usize,
    empty: usize,
}

/// The world as firmware runs it.
fn as_firmware(mut world: World) -> World {
    let options = &mut world.options;
    (options.service, options.victims, options.arbitration) = (Service::Tbs, Victims::Actual, Arbitration::Fifo);
    (options.ties, options.releases) = (Ties::Lowest, None);
    options.placed.waits = Waits::Actual;
    if matches!(options.pattern, Pattern::OneChip | Pattern::Fullest) {
        options.pattern = Pattern::Uniform;
    }
    world.arrivals.clear();
    world
}

/// How often a step programs the same logical page for two jobs and both fail: both are over when
/// the last one of them is programmed.
fn failed_twice(records: &[Record]) -> usize {
    let (mut last, mut failed) = (HashMap::new(), HashMap::new());
    for record in records {
        match record {
            Record::Operation(of) if of.action == Action::Program => {
                last.insert(of.chip, of.lpn);
            }
            Record::Failed(of) if of.page != NO_PAGE => {
                failed.entry((of.cluster, of.at, last[&of.chip])).or_insert(HashSet::new()).insert(of.job);
            }
            _ => {}
        }
    }
    failed.values().filter(|jobs| jobs.len() > 1).count()
}

/// Compares the two in worlds that are drawn, as many as asked for at most.
fn compare(cases: u64, most: usize, draw: impl Fn(u64) -> Option<World>) -> (Seen, usize) {
    let (mut seen, mut unsound) = (Seen::default(), 0);
    for case in 0..cases {
        if seen.worlds == most {
            break;
        }
        let Some(world) = draw(case).map(as_firmware) else { continue };
        let bytes = match world.plan.image(world.options.placed.backfill) {
            Ok(bytes) => bytes,
            Err(NoImage::Changes(_)) => continue,
            Err(NoImage::Unsound(_)) => {
                unsound += 1;
                continue;
            }
            Err(other) => panic!("case {case}: {other}"),
        };
        let records = engine(&world);
        // A write for which no page is free is no reason to suspend an erase: the executor may do
        // so, before it finds out. No certificate of the analyses lets it come to that.
        if world.plan.device().erase_suspend().is_some() && records.iter().any(|of| matches!(of, Record::Starved(_))) {
            seen.starved_while_suspending += 1;
            continue;
        }
        // Nor to wait for the cache register: likewise.
        let Promise::Certified(certified) = world.plan.promise() else { panic!("certificates") };
        let is_cached = certified.iter().any(|by| by.is_cached());
        if is_cached && records.iter().any(|of| matches!(of, Record::Starved(_))) {
            seen.starved_while_cached += 1;
            continue;
        }
        // Nor does it look at other jobs while the pass of one finds no page.
        let is_job = |job: JobId| world.plan.sources()[job.source].kind == Kind::Server;
        if records.iter().any(|of| matches!(of, Record::Starved(of) if is_job(of.job))) {
            seen.starved_jobs += 1;
            continue;
        }
        // Nor at the pass of a GC job that has found no page, before an erase ends: what is trimmed
        // meanwhile need not be copied.
        let is_gc = |job: JobId| world.plan.sources()[job.source].kind == Kind::Gc;
        let is_starved_pass = |of: &Record| matches!(of, Record::Starved(of) if is_gc(of.job));
        if records.iter().any(|of| matches!(of, Record::Trimmed(_))) && records.iter().any(is_starved_pass) {
            seen.starved_while_trimming += 1;
            continue;
        }
        let ran = firmware(&world, &bytes, &records);
        ran.collects_like(&records);
        let trimmed = records.iter().map(|record| match record {
            Record::Trimmed(of) if !of.kept => of.pages as usize,
            _ => 0,
        });
        assert_eq!(ran.trimmed, trimmed.sum::<usize>(), "case {case}");
        seen.trimmed += ran.trimmed;
        seen.empty += records.iter().filter(|record| matches!(record, Record::EmptyPage(_))).count();
        let (mut done, over) = (ran.done, &ran.host.over);
        let operations = records.iter().filter_map(|record| match record {
            Record::Operation(of) => {
                let [start, end] = [of.start, of.end].map(Instant::as_ns);
                Some((start, end, of.chip.0, of.action, of.block.0, of.page, of.lpn.0, of.kind))
            }
            _ => None,
        });
        let mut expected: Vec<Done> = operations.collect();
        let key = |done: &Done| (done.0, done.2, done.1);
        done.sort_by_key(key);
        expected.sort_by_key(key);
        assert_eq!(done, expected, "case {case}: {world:?}");
        let duration = world.options.duration.as_ns();
        let mut over: Vec<_> = over.iter().copied().filter(|over| over.0 <= duration).collect();
        let completed = records.iter().filter_map(|record| match record {
            Record::Complete(complete) => Some((complete.at.as_ns(), complete.job.source.0, complete.job.index)),
            _ => None,
        });
        let is_request = |source: u32| world.plan.sources()[SourceId(source)].kind != Kind::Gc;
        let mut completed: Vec<_> = completed.filter(|over| is_request(over.1)).collect();
        over.sort_unstable();
        completed.sort_unstable();
        let twice = failed_twice(&records);
        assert_eq!(over, completed, "case {case}");
        seen.failed_twice += twice;
        for record in &records {
            if let Record::Failed(failed) = record {
                seen.failed += 1;
                seen.failed_erases += usize::from(failed.page == NO_PAGE);
                let Promise::Certified(by) = world.plan.promise() else { continue };
                seen.failed_in_zones += usize::from(by[failed.cluster].is_zoned());
            }
        }
        seen.look_beside(&world, &records);
        seen.look_cached(&world, &records);
        seen.levelled += ran.host.levelled;
        seen.server_passes += ran.host.server_passes;
        seen.served += done.iter().filter(|done| done.7 == Kind::Server).count();
        seen.look(&world, &done, (over.len(), ran.host.starved));
    }
    println!("{seen:?}");
    (seen, unsound)
}

/// Beside pages of superblocks that fail there are those of others, on many chips.
#[test]
#[cfg_attr(miri, ignore)]
fn firmware_does_what_the_executor_does_where_superblocks_fail() {
    let (seen, _) = compare(cases(50_000), usize::MAX, |case| World::draw_failing(72, case));
    assert!(seen.worlds > 4_000 && seen.beside_failed > 300 && seen.failed > 8_000, "{seen:?}");
}

/// Pages of one logical page fail in one step, and once more.
#[test]
#[cfg_attr(miri, ignore)]
fn firmware_does_what_the_executor_does_where_pages_overwrite_each_other() {
    let (seen, _) = compare(cases(60_000), usize::MAX, |case| World::draw_overwriting(73, case));
    assert!(seen.worlds > 4_000 && seen.failed_twice > 60, "{seen:?}");
}

#[test]
fn firmware_does_what_the_executor_does() {
    // Miri is some thousand times slower.
    let most = if cfg!(miri) { 6 } else { usize::MAX };
    let (seen, unsound) = compare(cases(50_000), most, |case| World::draw_certified(71, case));
    if cfg!(miri) {
        assert!(seen.operations > 0 && seen.over > 0, "{seen:?}");
        return;
    }
    assert!(unsound < seen.worlds, "{unsound}");
    assert!(seen.worlds > 2_000 && seen.operations > 200_000 && seen.commands > 500, "{seen:?}");
    assert!(seen.stripes > 1_000 && seen.zones > 500 && seen.superblocks > 1_000 && seen.erases > 10_000, "{seen:?}");
    assert!(seen.beside_reads > 100 && seen.beside_rows > 100 && seen.beside_passes > 100, "{seen:?}");
    assert!(seen.suspended > 100 && seen.levelled > 100, "{seen:?}");
    assert!(seen.trimmed > 20_000 && seen.empty > 2_000, "{seen:?}");
    assert!(seen.served > 5_000 && seen.server_passes > 300, "{seen:?}");
    assert!(seen.failed > 100 && seen.failed_erases > 10 && seen.failed_in_zones > 30, "{seen:?}");
    assert!(seen.copies > 10_000 && seen.resets > 5_000 && seen.over > 30_000 && seen.starved > 800, "{seen:?}");
}

impl Seen {
    /// Looks for what was done in two page registers.
    fn look_cached(&mut self, world: &World, records: &[Record]) {
        let Promise::Certified(certified) = world.plan.promise() else { return };
        self.cached += certified.iter().filter(|by| by.is_cached()).count();
        for record in records {
            let Record::Operation(of) = record else { continue };
            let by = &certified[of.cluster];
            if by.is_cached() && of.kind != Kind::Gc {
                self.cached_operations += 1;
                self.cached_rows += usize::from(!by.is_stripe());
                self.cached_commands += usize::from(world.plan.device().has_commands());
            }
        }
    }

    /// Looks for what was filled in.
    fn look_beside(&mut self, world: &World, records: &[Record]) {
        let Promise::Certified(certified) = world.plan.promise() else { return };
        let mut steps: HashMap<(ClusterId, Instant), Vec<&rtflash_trace::Operation>> = HashMap::new();
        let mut failed = HashSet::new();
        for record in records {
            match record {
                Record::Operation(of) if certified[of.cluster].certificate.placement == Placement::Superblock => {
                    steps.entry((of.cluster, of.start)).or_default().push(of);
                }
                Record::Failed(of) => {
                    failed.insert((of.chip, of.at));
                }
                _ => {}
            }
        }
        for step in steps.values() {
            // A step of a pass, or one that programs, has nothing but reads beside it.
            let has = |which: &dyn Fn(&rtflash_trace::Operation) -> bool| step.iter().any(|of| which(of));
            let first = step[0].job;
            let others = step.iter().filter(|of| of.job != first).count();
            let to = if has(&|of| of.kind == Kind::Gc) {
                &mut self.beside_passes
            } else if has(&|of| of.action == Action::Program) {
                &mut self.beside_rows
            } else {
                &mut self.beside_reads
            };
            *to += others;
            let end = step.iter().map(|of| of.end).max();
            let fails = step.iter().any(|of| end.is_some_and(|end| failed.contains(&(of.chip, end))));
            self.beside_failed += if fails { others } else { 0 };
        }
    }

    fn look(&mut self, world: &World, done: &[Done], (over, starved): (usize, usize)) {
        let Promise::Certified(certified) = world.plan.promise() else { return };
        let of = |placement| certified.iter().filter(|by| by.certificate.placement == placement).count();
        self.worlds += 1;
        self.stripes += of(Placement::Stripe);
        self.zones += of(Placement::Zoned);
        self.superblocks += of(Placement::Superblock);
        self.operations += done.len();
        self.copies += done.iter().filter(|done| done.7 == Kind::Gc && done.3 == Action::Program).count();
        self.erases += done.iter().filter(|done| done.7 == Kind::Gc && done.3 == Action::Erase).count();
        self.resets += done.iter().filter(|done| done.7 == Kind::Write && done.3 == Action::Erase).count();
        self.suspended += done.iter().filter(|done| done.3 == Action::ErasePart).count();
        self.commands += usize::from(world.plan.device().has_commands());
        self.over += over;
        self.starved += starved;
    }
}
