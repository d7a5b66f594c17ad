//! Small random worlds with certificates that say anything.

#![allow(dead_code)] // Each test file uses its own part of this.

use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Certificate, Cluster, ClusterId, Collection, Device, DeviceSpec, Id, Instant, LogicalRatio, Placement,
    Request, Task, TaskSet,
};
use rtflash_plan::{
    Aging, Arbitration, ArrivalQueue, ClusterTerms, CollectionChange, Dispatch, NoServers, Options, Pattern,
    PeriodicTrim, Phases, Placed, Plan, Promise, Service, SharedPages, Ties, Times, Timing, Victims, Waits,
};
use rtflash_sim::{RunError, run_traced};
use rtflash_trace::{Kind, Record};

use crate::common::{World, allocation, draw_adversaries, jobs, ns, ranges};

fn device(rng: &mut Stream) -> Option<(Device, Times)> {
    let [read, program, erase, transfer] = [5, 12, 30, 4].map(|most| rng.within(1, most));
    let (times, shortest) = ranges(rng, [read, program, erase, transfer]);
    let spec = DeviceSpec {
        chips: rng.small(1, 6),
        chips_per_channel: rng.small(1, 3),
        blocks_per_chip: rng.small(4, 10),
        pages_per_block: rng.small(1, 5),
        page_size: 512,
        shortest,
        logical_ratio: LogicalRatio::from_decimal(rng.within(20, 80).into(), 2).ok()?,
        page_read: ns(read),
        page_program: ns(program),
        block_erase: ns(erase),
        page_transfer: ns(transfer),
        ..DeviceSpec::default()
    };
    Some((Device::new(spec).ok()?, times))
}

fn tasks(rng: &mut Stream) -> Vec<Task> {
    let request = |rng: &mut Stream, most: u64| {
        let request = Request::new(rng.within(1, most), ns(rng.within(20, 400)))?;
        let request = request.with_access(rng.one_of(&Access::ALL));
        if rng.within(0, 2) > 0 {
            return Some(request);
        }
        // Some wait in a buffer of several.
        let (period, buffered) = (request.period().as_ns(), rng.one_of(&[1, 1, 4]));
        let deadline = rng.within(1, buffered * period);
        request.with_deadline(Some(ns(deadline)))?.with_jitter(ns(rng.within(0, deadline.min(period) - 1)))
    };
    let task = |number: u32, rng: &mut Stream| {
        let kinds = rng.within(0, 3);
        let read = (kinds != 0).then(|| request(rng, 10)).flatten();
        let write = (kinds != 1).then(|| request(rng, 6)).flatten();
        let data_pages = (rng.within(0, 2) == 0).then(|| rng.within(1, 8));
        Task { name: format!("t{number}"), read, write, data_pages }
    };
    (0..rng.small(0, 4)).map(|number| task(number, rng)).collect()
}

fn certificate(rng: &mut Stream, set: &TaskSet, cluster: &Cluster) -> Certificate {
    let stripe = rng.one_of(&[true, false]);
    let placement = match stripe {
        true if set.device().has_cache_register() => Placement::CachedStripe,
        true => Placement::Stripe,
        false => Placement::Superblock,
    };
    let width = if stripe { 1 } else { u64::from(cluster.size()) };
    let block = width * u64::from(set.device().pages_per_block());
    let writes = cluster.tasks.iter().any(|&task| set.tasks()[task].write.is_some());
    let victim_pages = rng.within(0, block - 1);
    let collection = (writes || rng.within(0, 1) == 0).then(|| Collection {
        deadline: (writes || rng.within(0, 1) == 0).then(|| ns(rng.within(20, 500))),
        reclaimed_pages: if rng.within(0, 3) == 0 { rng.within(1, block) } else { block - victim_pages },
        reserve_pages: rng.within(0, 3 * block),
        victim_pages,
        open_blocks: rng.within(1, 5),
    });
    let server_thousandths = if collection.is_some() { rng.one_of(&[0, 100, 500, 1_000]) } else { 0 };
    Certificate { placement, collection, server_thousandths, backfill: true, tightest: None }
}

/// The plan, with changes of garbage collection in some clusters that can make them.
fn changed(mut plan: Plan, rng: &mut Stream) -> Plan {
    for cluster in plan.clusters().ids().collect::<Vec<_>>() {
        let Promise::Certified(certified) = plan.promise() else { return plan };
        let by = &certified[cluster];
        let width = if by.is_stripe() { 1 } else { u64::from(plan.clusters()[cluster].layout.chips()) };
        let block = width * u64::from(plan.device().pages_per_block());
        let change = |rng: &mut Stream| {
            let victim_pages = rng.within(0, block - 1);
            let reserve_pages = rng.within(0, 2 * block);
            let collection = Collection {
                deadline: Some(ns(rng.within(20, 500))),
                reclaimed_pages: if rng.within(0, 3) == 0 { rng.within(1, block) } else { block - victim_pages },
                reserve_pages,
                victim_pages,
                open_blocks: rng.within(1, 5),
            };
            CollectionChange {
                not_before: Instant::START.saturating_add(ns(rng.within(1, 1_000))),
                collection,
                goal_pages: reserve_pages + rng.within(0, block),
                extra_passes: rng.within(0, 3),
                spacing: ns(rng.within(1, 200)),
            }
        };
        let changes: Vec<CollectionChange> = (0..rng.within(0, 3)).map(|_| change(rng)).collect();
        plan = plan.clone().with_changes(cluster, &changes).unwrap_or(plan);
    }
    plan
}

/// Tasks of some clusters that use the pages of another one, and write where it does, each as far
/// as it can be planned, from its request of some number on.
fn sharing(
    clusters: &[Cluster],
    rng: &mut Stream,
    can_be_planned: impl Fn(&[SharedPages]) -> bool,
) -> (Vec<SharedPages>, Vec<(SharedPages, u64)>) {
    let (mut shared, mut mirrors) = (Vec::new(), Vec::new());
    for (position, Cluster { tasks, .. }) in clusters.iter().enumerate() {
        let (Some(&whose), Some(&task)) = (tasks.first(), tasks.get(1)) else { continue };
        if rng.within(0, 3) == 0 {
            let pages = SharedPages { cluster: ClusterId::from_index(position), task, whose };
            shared.push(pages);
            if !can_be_planned(&shared) {
                shared.pop();
            }
            mirrors.push((pages, rng.within(0, 3)));
        }
    }
    (shared, mirrors)
}

/// The trims of tasks, if any trim.
fn trims(plan: &Plan, rng: &mut Stream) -> Vec<PeriodicTrim> {
    let mut trims = Vec::new();
    for source in plan.sources().iter().filter(|source| matches!(source.kind, Kind::Read | Kind::Write)) {
        let (Some(task), pages) = (source.task(), plan.pages_of(source)) else { continue };
        if rng.within(0, 5) == 0 && pages > 0 {
            let (most, every) = (rng.small(1, 2) * pages.div_ceil(2), ns(rng.within(1, 300)));
            trims.push(PeriodicTrim { task, pages: rng.small(1, most.min(pages)), every });
        }
    }
    trims
}

/// The kinds of a world.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WorldKind {
    Any,
    Unsuspended,
    Superblocks,
    Failing,
    Overwriting,
}

impl World {
    /// The world of this seed and number, if what was drawn can be run.
    pub fn draw_certified(seed: u64, case: u64) -> Option<World> {
        World::draw_with(seed, case, true)
    }

    /// Draws a world in which erases are not suspended, and wear is not levelled.
    pub fn draw_unsuspended(seed: u64, case: u64) -> Option<World> {
        World::draw_with(seed, case, false)
    }

    /// Draws a world of superblocks alone, of which nothing fails and no erase is suspended, whose
    /// pages ask for their buses once, in the order of which they are served.
    pub fn draw_superblocks(seed: u64, case: u64) -> Option<World> {
        World::draw_of(seed, case, WorldKind::Superblocks)
    }

    /// Draws a world of superblocks alone, on up to twelve chips, which fail.
    pub fn draw_failing(seed: u64, case: u64) -> Option<World> {
        World::draw_of(seed, case, WorldKind::Failing)
    }

    /// Draws a world with few logical pages, of which many requests are and many programs fail.
    pub fn draw_overwriting(seed: u64, case: u64) -> Option<World> {
        World::draw_of(seed, case, WorldKind::Overwriting)
    }

    fn draw_with(seed: u64, case: u64, in_executor: bool) -> Option<World> {
        World::draw_of(seed, case, if in_executor { WorldKind::Any } else { WorldKind::Unsuspended })
    }

    fn draw_of(seed: u64, case: u64, of: WorldKind) -> Option<World> {
        let (in_executor, superblocks) = (of != WorldKind::Unsuspended, of == WorldKind::Superblocks);
        let mut rng = Stream::numbered(seed, b"placed\0\0", case);
        let (device, times) = device(&mut rng)?;
        let mut rng_of_commands = Stream::numbered(seed, b"commands", case);
        let command = (rng_of_commands.within(0, 2) == 0).then(|| ns(rng_of_commands.within(0, 3)));
        // Half of the others have two page registers.
        let page_registers = (rng_of_commands.within(0, 1) == 0).then_some(2);
        // Some chips keep a block or two back, and some of these blocks fail.
        let mut rng_of_faults = Stream::numbered(seed, b"failing\0", case);
        let spare_blocks = (rng_of_commands.within(0, 2) == 0).then(|| rng_of_faults.small(1, 2));
        let program_failures = spare_blocks.filter(|_| rng_of_faults.within(0, 1) == 0).map(|_| 1);
        let faults = if spare_blocks.is_some() { rng_of_faults.one_of(&[0, 100, 300, 1_000]) } else { 0 };
        // Some suspend erases, those that count no commands.
        let mut rng_of_erases = Stream::numbered(seed, b"suspends", case);
        let erase = device.block_erase().as_ns();
        let erase_suspend = (in_executor && erase > 1 && rng_of_erases.within(0, 2) > 0)
            .then(|| ns(rng_of_erases.within(1, (erase - 1).min(4))));
        let erase_resume = erase_suspend.map(|_| ns(rng_of_erases.within(0, 1) * rng_of_erases.within(0, erase)));
        let device = DeviceSpec { command, page_registers, spare_blocks, program_failures, ..device.spec() };
        // Some level wear.
        let mut rng_of_wear = Stream::numbered(seed, b"levelled", case);
        let wear_gap = (in_executor && rng_of_wear.within(0, 2) == 0).then(|| rng_of_wear.small(1, 3));
        let wear_passes = wear_gap.filter(|_| rng_of_wear.within(0, 1) == 0).map(|_| 4);
        let device = match superblocks {
            // Wear may be levelled all the same.
            true => DeviceSpec {
                command: None,
                page_registers: None,
                spare_blocks: None,
                program_failures: None,
                wear_gap,
                wear_passes,
                ..device
            },
            false => DeviceSpec { erase_suspend, erase_resume, wear_gap, wear_passes, ..device },
        };
        let overwriting = of == WorldKind::Overwriting;
        let failing = of == WorldKind::Failing || overwriting;
        let device = match of {
            WorldKind::Overwriting => DeviceSpec {
                chips: rng_of_faults.small(2, 6),
                chips_per_channel: rng_of_faults.small(1, 5),
                blocks_per_chip: rng_of_faults.small(80, 120),
                page_registers: None,
                spare_blocks: Some(12),
                program_failures: rng_of_faults.one_of(&[None, None, Some(1)]),
                logical_ratio: LogicalRatio::from_decimal(2, 2).ok()?,
                ..device
            },
            WorldKind::Failing => DeviceSpec {
                chips: rng_of_faults.small(2, 12),
                chips_per_channel: rng_of_faults.small(1, 5),
                blocks_per_chip: rng_of_faults.small(12, 40),
                page_registers: None,
                spare_blocks: Some(1),
                program_failures: Some(1),
                logical_ratio: LogicalRatio::from_decimal(20, 2).ok()?,
                ..device
            },
            _ => device,
        };
        let faults = if overwriting {
            rng_of_faults.one_of(&[200, 500, 900])
        } else if failing {
            300
        } else {
            faults
        };
        let device = Device::new(device).ok()?;
        let mut tasks = tasks(&mut rng);
        // In some all that writes is a stream, so that it may own zones.
        let mut rng_of_zones = Stream::numbered(seed, b"of-zones", case);
        let zones = rng_of_zones.within(0, 3) == 0;
        for task in tasks.iter_mut().filter(|_| zones) {
            task.write = task.write.map(|write| write.with_access(Access::Stream));
        }
        // Small requests, of which several are pending.
        for task in tasks.iter_mut().filter(|_| overwriting) {
            task.write = Request::new(rng_of_faults.within(1, 2), ns(rng_of_faults.within(5, 30)));
            task.data_pages = Some(rng_of_faults.within(1, 2));
        }
        let set = TaskSet::new(device, tasks, jobs(&mut rng)?).ok()?;
        let allocation = allocation(&mut rng, &set)?;
        let terms: Vec<ClusterTerms> = allocation
            .clusters()
            .iter()
            .map(|cluster| {
                let backfill = rng_of_commands.within(0, 2) > 0 || overwriting;
                let drawn = certificate(&mut rng, &set, cluster);
                // If there are two page registers some superblocks use both.
                let placement = match drawn.placement {
                    _ if overwriting && rng_of_faults.within(0, 4) == 0 => Placement::Stripe,
                    _ if superblocks || failing => Placement::Superblock,
                    Placement::Superblock if device.has_cache_register() && rng_of_commands.within(0, 2) > 0 => {
                        Placement::CachedSuperblock
                    }
                    as_drawn => as_drawn,
                };
                if zones && !superblocks && !failing && rng_of_zones.within(0, 3) > 0 {
                    let (placement, server_thousandths) = (Placement::Zoned, 0);
                    let collection = drawn.collection.filter(|_| rng_of_zones.within(0, 1) == 0);
                    return ClusterTerms::Certified(Certificate { placement, server_thousandths, collection, ..drawn });
                }
                ClusterTerms::Certified(Certificate { placement, backfill, ..drawn })
            })
            .collect();
        let planned =
            |shared: &[SharedPages]| Plan::sharing(&set, &allocation, Timing::of_device(&device), &terms, shared);
        let mut rng_of_shares = Stream::numbered(seed, b"sharing\0", case);
        let (shared, mirrors) = sharing(&allocation.clusters(), &mut rng_of_shares, |shared| planned(shared).is_ok());
        let plan = changed(planned(&shared).ok()?, &mut Stream::numbered(seed, b"changes\0", case));
        let plan = mirrors.into_iter().fold(plan, |plan, (SharedPages { task, whose, .. }, skipped)| {
            plan.clone().with_mirror(task, whose, skipped).unwrap_or(plan)
        });
        let patterns = [Pattern::Uniform, Pattern::Sequential, Pattern::HotCold, Pattern::OneChip, Pattern::Fullest];
        let mut options = Options {
            duration: Instant::from_ns(rng.within(200, 2_500))?,
            dispatch: rng.one_of(&[Dispatch::Serial, Dispatch::Parallel]),
            service: rng.one_of(&[Service::Tbs, Service::Tbs, Service::Background]),
            victims: rng.one_of(&[Victims::Actual, Victims::Worst]),
            aging: rng.one_of(&[Aging::Worst, Aging::Worst, Aging::Random, Aging::Fresh]),
            pattern: rng.one_of(&patterns),
            times,
            seed: case,
            placed: Placed {
                backfill: rng.within(0, 2) > 0,
                waits: rng.one_of(&[Waits::Actual, Waits::Actual, Waits::Worst]),
                faults,
            },
            phases: rng.one_of(&[Phases::Periodic, Phases::AtErases]),
            ..Options::default()
        };
        draw_adversaries(&mut options, &set, (seed, case));
        options.trims = trims(&plan, &mut Stream::numbered(seed, b"trimming", case));
        if superblocks {
            (options.arbitration, options.ties) = (Arbitration::Fifo, Ties::Lowest);
            options.placed = Placed { waits: Waits::Actual, faults: 0, ..options.placed };
            if options.phases == Phases::AtErases {
                options.phases = Phases::Random;
            }
        }
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
