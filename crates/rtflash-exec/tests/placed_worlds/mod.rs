//! Small random worlds with certificates that say anything.

#![allow(dead_code)] // Each test file uses its own part of this.

use rtflash_exec::dispatch::{Arrival, ArrivalQueue, NoServers};
use rtflash_exec::trace::Record;
use rtflash_exec::{
    Aging, ClusterTerms, Dispatch, Options, Pattern, Phases, Placed, Plan, RunError, Service, Timing, Victims, Waits,
    run_traced,
};
use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Allocation, Arrivals, Certificate, Cluster, Collection, Device, DeviceSpec, Instant, Job, LogicalRatio,
    Placement, Request, Span, Task, TaskSet,
};

/// Something to run.
#[derive(Debug)]
pub struct World {
    pub plan: Plan,
    pub options: Options,
    pub arrivals: Vec<Arrival>,
}

/// Random numbers.
pub struct Dice(pub Stream);

impl Dice {
    pub fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    pub fn small(&mut self, low: u32, high: u32) -> u32 {
        u32::try_from(self.within(low.into(), high.into())).expect("between two small numbers")
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.within(0, choices.len() as u64 - 1)).expect("a position")]
    }
}

pub fn ns(nanoseconds: u64) -> Span {
    Span::from_ns(nanoseconds).expect("a short time")
}

fn device(dice: &mut Dice) -> Option<Device> {
    let spec = DeviceSpec {
        chips: dice.small(1, 6),
        chips_per_channel: dice.small(1, 3),
        blocks_per_chip: dice.small(4, 10),
        pages_per_block: dice.small(1, 5),
        page_size: 512,
        erase_cycles: None,
        logical_ratio: LogicalRatio::from_decimal(dice.within(20, 80).into(), 2).ok()?,
        page_read: ns(dice.within(1, 5)),
        page_program: ns(dice.within(1, 12)),
        block_erase: ns(dice.within(1, 30)),
        page_transfer: ns(dice.within(1, 4)),
    };
    Device::new(spec).ok()
}

fn tasks(dice: &mut Dice) -> Vec<Task> {
    let request = |dice: &mut Dice, most: u64| {
        let request = Request::new(dice.within(1, most), ns(dice.within(20, 400)))?;
        Some(request.with_access(dice.one_of(&[Access::Random, Access::Sequential])))
    };
    let task = |number: u32, dice: &mut Dice| {
        let kinds = dice.within(0, 3);
        let read = (kinds != 0).then(|| request(dice, 10)).flatten();
        let write = (kinds != 1).then(|| request(dice, 6)).flatten();
        let data_pages = (dice.within(0, 2) == 0).then(|| dice.within(1, 8));
        Task { name: format!("t{number}"), read, write, data_pages }
    };
    (0..dice.small(0, 4)).map(|number| task(number, dice)).collect()
}

fn jobs(dice: &mut Dice) -> Option<Vec<Job>> {
    let job = |number: u32, dice: &mut Dice| {
        let arrivals = match dice.within(0, 2) {
            0 => Arrivals::Every(ns(dice.within(20, 200))),
            1 => Arrivals::Uniform(ns(dice.within(10, 50)), ns(dice.within(50, 200))),
            _ => Arrivals::At(vec![Instant::START, Instant::from_ns(100)?, Instant::from_ns(100)?]),
        };
        let (read_pages, write_pages) = (dice.within(0, 6), dice.within(1, 6));
        Some(Job { name: format!("j{number}"), read_pages, write_pages, arrivals })
    };
    (0..dice.one_of(&[0, 0, 1, 2])).map(|number| job(number, dice)).collect()
}

/// Any clusters: some chips may be in none.
fn allocation(dice: &mut Dice, set: &TaskSet) -> Option<Allocation> {
    let chips = set.device().chips();
    let most = dice.small(1, chips);
    let mut clusters: Vec<Cluster> = (0..most).map(|_| Cluster::default()).collect();
    for chip in 0..chips {
        let cluster = dice.small(0, most);
        if let Some(cluster) = clusters.get_mut(cluster as usize) {
            cluster.chips.push(chip);
        }
    }
    clusters.retain(|cluster| !cluster.chips.is_empty());
    for task in 0..set.tasks().len() {
        let cluster = dice.within(0, (clusters.len() as u64).checked_sub(1)?);
        clusters[usize::try_from(cluster).ok()?].tasks.push(task);
    }
    if clusters.is_empty() {
        return None;
    }
    Allocation::new(chips, set.tasks().len(), &clusters).ok()
}

fn certificate(dice: &mut Dice, set: &TaskSet, cluster: &Cluster) -> Certificate {
    let placement = dice.one_of(&[Placement::Stripe, Placement::Superblock]);
    let width = if placement == Placement::Stripe { 1 } else { u64::from(cluster.size()) };
    let block = width * u64::from(set.device().pages_per_block());
    let writes = cluster.tasks.iter().any(|&task| set.tasks()[task].write.is_some());
    let victim_pages = dice.within(0, block - 1);
    let collection = (writes || dice.within(0, 1) == 0).then(|| Collection {
        deadline: (writes || dice.within(0, 1) == 0).then(|| ns(dice.within(20, 500))),
        reclaimed_pages: if dice.within(0, 3) == 0 { dice.within(1, block) } else { block - victim_pages },
        reserve_pages: dice.within(0, 3 * block),
        victim_pages,
        open_blocks: dice.within(1, 5),
    });
    let server_thousandths = if collection.is_some() { dice.one_of(&[0, 100, 500, 1_000]) } else { 0 };
    Certificate { placement, collection, server_thousandths, tightest: None }
}

impl World {
    /// The world of this seed and number, if what was drawn can be run.
    pub fn draw(seed: u64, case: u64) -> Option<World> {
        let mut dice = Dice(Stream::numbered(seed, b"placed\0\0", case));
        let device = device(&mut dice)?;
        let set = TaskSet::new(device, tasks(&mut dice), jobs(&mut dice)?).ok()?;
        let allocation = allocation(&mut dice, &set)?;
        let terms: Vec<ClusterTerms> = allocation
            .clusters()
            .iter()
            .map(|cluster| ClusterTerms {
                page_delay: ns(0),
                gc_periods: vec![None; cluster.tasks.len()],
                certificate: Some(certificate(&mut dice, &set, cluster)),
            })
            .collect();
        let plan = Plan::new(&set, &allocation, Timing::of_device(&device), &terms).ok()?;
        let patterns = [Pattern::Uniform, Pattern::Sequential, Pattern::HotCold, Pattern::OneChip, Pattern::Fullest];
        let options = Options {
            duration: Instant::from_ns(dice.within(200, 2_500))?,
            dispatch: dice.one_of(&[Dispatch::Serial, Dispatch::Parallel]),
            service: dice.one_of(&[Service::Tbs, Service::Tbs, Service::Background]),
            victims: dice.one_of(&[Victims::Actual, Victims::Worst]),
            aging: dice.one_of(&[Aging::Worst, Aging::Worst, Aging::Random, Aging::Fresh]),
            pattern: dice.one_of(&patterns),
            seed: case,
            placed: Placed {
                backfill: dice.within(0, 2) > 0,
                waits: dice.one_of(&[Waits::Actual, Waits::Actual, Waits::Worst]),
                phases: dice.one_of(&[Phases::Periodic, Phases::AtErases]),
            },
        };
        let mut arrivals = Vec::new();
        let mut queue = ArrivalQueue::new(&plan, options.seed);
        while let Some(arrival) = queue.next_before(options.duration, &mut NoServers) {
            arrivals.push(arrival);
        }
        drop(queue);
        Some(World { plan, options, arrivals })
    }
}

/// A run of the engine, as a trace.
pub fn engine(world: &World) -> Vec<Record> {
    let mut records = Vec::new();
    let sink = |record: &Record| {
        records.push(*record);
        Ok(())
    };
    run_traced::<Vec<Record>, RunError>(&world.plan, &world.options, &mut NoServers, |_| Vec::new(), sink)
        .expect("small worlds reach no limit");
    records
}
