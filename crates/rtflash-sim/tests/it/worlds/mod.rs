//! Small random worlds: devices of a few chips and blocks, nanoseconds long.

#![allow(dead_code)] // Each test file uses its own part of this.

use rtflash_judge::{Checks, Finding, merge};
use rtflash_model::random::Stream;
use rtflash_model::{ClusterId, Device, DeviceSpec, Instant, LogicalRatio, Request, Task, TaskSet};
use rtflash_plan::resume::NoState;
use rtflash_plan::{
    Admission, Aging, Arrival, ArrivalQueue, ClusterTerms, Dispatch, Grant, Options, Pattern, Period, Plan, Service,
    Timing, Victims,
};
use rtflash_sim::{RunError, run, run_traced};
use rtflash_trace::{Observer, Record};

use crate::common::{World, allocation, draw_adversaries, jobs, ns, ranges};

/// T^g, Eq. (IV.4).
pub fn gc_period(device: &Device, write: Request, chips: u32) -> Option<Period> {
    let reclaimed = u64::from(device.reclaimed_per_chip()) * u64::from(chips);
    let period = u128::from(write.period().as_ns());
    if write.pages() > reclaimed {
        Period::new(period, write.pages().div_ceil(reclaimed).into())
    } else {
        Period::new(period * u128::from(reclaimed / write.pages()), 1)
    }
}

/// Grants whatever the rng say.
struct RandomGrants(Stream, u32);

impl Admission for RandomGrants {
    fn admit(&mut self, at: Instant, _: u64, _: u64) -> Option<Grant> {
        if self.0.within(0, 9) == 0 {
            return None;
        }
        let deadline = at.saturating_add(ns(self.0.within(1, 300)));
        Some(Grant { cluster: ClusterId(self.0.small(0, self.1 - 1)), deadline, gc_passes: self.0.within(0, 2) })
    }

    fn state(&self) -> Vec<u64> {
        unreachable!("no run asks for random grants")
    }

    fn go_on(&mut self, _: &[u64]) -> Result<(), NoState> {
        Err(NoState)
    }
}

impl World {
    /// The world of this seed and number, if what was drawn can be run.
    pub fn draw(seed: u64, case: u64) -> Option<World> {
        let mut rng = Stream::numbered(seed, b"worlds\0\0", case);
        let transfer = rng.within(1, 4);
        let read = transfer + rng.within(0, 6);
        let program = transfer + rng.within(0, 15);
        let erase = rng.within(1, 40);
        let (times, shortest) = ranges(&mut rng, [read, program, erase, transfer]);
        let device = Device::new(DeviceSpec {
            chips: rng.small(1, 5),
            chips_per_channel: rng.small(1, 3),
            blocks_per_chip: rng.small(5, 14),
            pages_per_block: rng.small(2, 6),
            page_size: 512,
            logical_ratio: LogicalRatio::from_decimal(rng.within(20, 90).into(), 2).ok()?,
            page_read: ns(read),
            page_program: ns(program),
            block_erase: ns(erase),
            page_transfer: ns(transfer),
            shortest,
            ..DeviceSpec::default()
        })
        .ok()?;
        let request = |rng: &mut Stream, most: u64| Request::new(rng.within(1, most), ns(rng.within(20, 500)));
        let tasks = (0..rng.small(0, 4)).map(|number| {
            let kinds = rng.within(0, 3);
            let read = (kinds != 0).then(|| request(&mut rng, 12)).flatten();
            let write = (kinds != 1).then(|| request(&mut rng, 8)).flatten();
            Task { name: format!("t{number}"), read, write, data_pages: None }
        });
        let tasks: Vec<Task> = tasks.collect();
        let jobs = jobs(&mut rng)?;
        let set = TaskSet::new(device, tasks, jobs).ok()?;
        let allocation = allocation(&mut rng, &set)?;
        let terms: Option<Vec<ClusterTerms>> = allocation
            .clusters()
            .iter()
            .map(|cluster| {
                let gc = cluster.tasks.iter().map(|&task| match set.tasks()[task].write {
                    Some(write) => gc_period(set.device(), write, cluster.size()).map(Some),
                    None => Some(None),
                });
                let (page_delay, gc_periods) = (ns(rng.within(0, 5)), gc.collect::<Option<_>>()?);
                Some(ClusterTerms::Utilization { page_delay, gc_periods })
            })
            .collect();
        let timing = Timing::new(ns(read), ns(program), ns(transfer))?;
        let plan = Plan::new(&set, &allocation, timing, &terms?).ok()?;
        let mut options = Options {
            duration: Instant::from_ns(rng.within(200, 2_500))?,
            dispatch: rng.one_of(&[Dispatch::Serial, Dispatch::Parallel]),
            service: rng.one_of(&[Service::Tbs, Service::Background]),
            victims: rng.one_of(&[Victims::Actual, Victims::Worst]),
            aging: rng.one_of(&[Aging::Worst, Aging::Worst, Aging::Random, Aging::Fresh]),
            pattern: rng.one_of(&[Pattern::Uniform, Pattern::Sequential, Pattern::HotCold, Pattern::OneChip]),
            times,
            seed: case,
            ..Options::default()
        };
        draw_adversaries(&mut options, &set, (seed, case));
        let mut arrivals = Vec::new();
        let clusters = u32::try_from(plan.clusters().len()).ok()?;
        let mut queue = ArrivalQueue::new(&plan, options.seed);
        let mut grants = random_grants(seed, case, clusters);
        let mut nobody = rtflash_plan::NoServers;
        let admission: &mut dyn Admission = match options.service {
            Service::Tbs => &mut grants,
            Service::Background => &mut nobody,
        };
        while let Some(arrival) = queue.next_before(options.duration, admission) {
            arrivals.push(arrival);
        }
        drop(queue);
        Some(World { plan, options, arrivals })
    }
}

fn random_grants(seed: u64, case: u64, clusters: u32) -> RandomGrants {
    RandomGrants(Stream::numbered(seed, b"whim\0\0\0\0", case), clusters)
}

/// A run of the engine, as a trace.
pub fn engine(world: &World) -> Vec<Record> {
    let clusters = u32::try_from(world.plan.clusters().len()).expect("few clusters");
    let mut records = Vec::new();
    let mut admission = replay(world, clusters);
    let sink = |record: &Record| {
        records.push(*record);
        Ok(())
    };
    run_traced::<Vec<Record>, RunError>(&world.plan, &world.options, &mut admission, |_| Vec::new(), sink)
        .expect("small worlds reach no limit");
    records
}

/// The records without a trace: those of which the observers of all groups are notified.
pub fn untraced(world: &World) -> Vec<Record> {
    let clusters = u32::try_from(world.plan.clusters().len()).expect("few clusters");
    let mut admission = replay(world, clusters);
    let told = run(&world.plan, &world.options, &mut admission, |_| Vec::new());
    told.expect("small worlds reach no limit").concat()
}

/// Keeps records as they come, in any order.
struct AsKnown(Vec<Record>);

impl Observer for AsKnown {
    fn record(&mut self, record: &Record) {
        self.0.record(record);
    }

    fn wants_order(&self) -> bool {
        false
    }
}

/// The records of a world, each as soon as it is known.
pub fn as_known(world: &World) -> Vec<Record> {
    let clusters = u32::try_from(world.plan.clusters().len()).expect("few clusters");
    let mut admission = replay(world, clusters);
    let groups = run(&world.plan, &world.options, &mut admission, |_| AsKnown(Vec::new()));
    groups.expect("small worlds reach no limit").into_iter().flat_map(|group| group.0).collect()
}

/// Grants what was granted when the world was drawn.
pub struct Replay(std::vec::IntoIter<Arrival>);

impl Admission for Replay {
    fn admit(&mut self, at: Instant, _: u64, _: u64) -> Option<Grant> {
        let arrival = self.0.next().expect("as many arrivals as before");
        assert_eq!(arrival.at, at);
        arrival.grant
    }

    fn state(&self) -> Vec<u64> {
        vec![self.0.len() as u64]
    }

    fn go_on(&mut self, state: &[u64]) -> Result<(), NoState> {
        while self.0.len() as u64 > state[0] {
            self.0.next();
        }
        Ok(())
    }
}

/// The grants in a run of the engine.
pub fn replay(world: &World, _: u32) -> Replay {
    Replay(world.arrivals.clone().into_iter())
}

/// The findings of the checkers of each group of clusters during the run.
pub fn judged(world: &World) -> Vec<Finding> {
    let clusters = u32::try_from(world.plan.clusters().len()).expect("few clusters");
    let observe = |group: &[ClusterId]| Checks::new(&world.plan, world.options.dispatch, group);
    let checks = run(&world.plan, &world.options, &mut replay(world, clusters), observe);
    let checks = checks.expect("small worlds reach no limit");
    merge(checks.into_iter().map(|checks| checks.finish(world.options.duration)))
}
