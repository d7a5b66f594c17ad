//! Small random worlds with certificates that say anything.

use crate::common::{Dice, World, allocation, jobs, ns, ranges};

use rtflash_exec::dispatch::{ArrivalQueue, NoServers};
use rtflash_exec::trace::Record;
use rtflash_exec::{
    Aging, ClusterTerms, Dispatch, Options, Pattern, Phases, Placed, Plan, RunError, Service, Times, Timing, Victims,
    Waits, run_traced,
};
use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Certificate, Cluster, Collection, Device, DeviceSpec, Instant, LogicalRatio, Placement, Request, Task,
    TaskSet,
};

fn device(dice: &mut Dice) -> Option<(Device, Times)> {
    let [read, program, erase, transfer] = [5, 12, 30, 4].map(|most| dice.within(1, most));
    let (times, shortest) = ranges(dice, [read, program, erase, transfer]);
    let spec = DeviceSpec {
        chips: dice.small(1, 6),
        chips_per_channel: dice.small(1, 3),
        blocks_per_chip: dice.small(4, 10),
        pages_per_block: dice.small(1, 5),
        page_size: 512,
        shortest,
        erase_cycles: None,
        logical_ratio: LogicalRatio::from_decimal(dice.within(20, 80).into(), 2).ok()?,
        page_read: ns(read),
        page_program: ns(program),
        block_erase: ns(erase),
        page_transfer: ns(transfer),
    };
    Some((Device::new(spec).ok()?, times))
}

fn tasks(dice: &mut Dice) -> Vec<Task> {
    let request = |dice: &mut Dice, most: u64| {
        let request = Request::new(dice.within(1, most), ns(dice.within(20, 400)))?;
        let request = request.with_access(dice.one_of(&[Access::Random, Access::Sequential]));
        if dice.within(0, 2) > 0 {
            return Some(request);
        }
        let deadline = dice.within(1, request.period().as_ns());
        request.with_deadline(Some(ns(deadline)))?.with_jitter(ns(dice.within(0, deadline - 1)))
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
        let (device, times) = device(&mut dice)?;
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
            times,
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
