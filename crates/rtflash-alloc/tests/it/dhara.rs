//! Dhara's analysis against the verifier's, which is written apart.

use std::collections::VecDeque;

use rtflash_alloc::allocator::{Outcome, allocator};
use rtflash_alloc::sizing::cost;
use rtflash_analysis::{Analysis, Baseline, Dhara, RoomUnit, Work, cluster_verdict};
use rtflash_dhara::costs::CallCost;
use rtflash_dhara::history::{Call, DharaRun};
use rtflash_model::random::Stream;
use rtflash_model::{Allocation, Cluster, Device, DeviceSpec, LogicalRatio, Request, Task, TaskId, TaskSet, format_ns};
use rtflash_testkit::{cases, ns};
use rtflash_verify::{BaselineScheme, verify_baseline};

const ALL: [Dhara; 4] = [Dhara::FOUR, Dhara::FIFTEEN, Dhara::FOUR_BY_PERIOD, Dhara::FIFTEEN_BY_PERIOD];

/// A device of chips that Dhara takes, mostly.
fn device(rng: &mut Stream) -> Option<Device> {
    let mut draw = |from: u64, to: u64| rng.within(from, to);
    let pages = 1 << draw(1, 7);
    let odd = u64::from(draw(0, 20) == 0);
    let small = |number: u64| u32::try_from(number).expect("small");
    Device::new(DeviceSpec {
        chips: small(draw(1, 3)),
        chips_per_channel: 1,
        blocks_per_chip: small(draw(10, 300)),
        pages_per_block: small(pages + odd),
        page_size: 1 << draw(8, 13),
        logical_ratio: LogicalRatio::from_decimal(u128::from(draw(30, 95)), 2).expect("a ratio"),
        page_read: ns(draw(1, 100_000)),
        page_program: ns(draw(1, 900_000)),
        block_erase: ns(draw(1, 9_000_000)),
        page_transfer: ns(draw(1, 90_000)),
        ..DeviceSpec::default()
    })
    .ok()
}

fn set(rng: &mut Stream) -> Option<TaskSet> {
    let device = device(rng)?;
    let request = |rng: &mut Stream, scale: u64| {
        let pages = rng.within(1, 20);
        let period = rng.within(1, 40) * pages * scale * if rng.within(0, 1) == 0 { 1 } else { 30 };
        if rng.within(0, 2) == 0 { None } else { Request::new(pages, ns(period.max(1))) }
    };
    let mut task = |nth: u64| Task {
        name: format!("t{nth}"),
        read: request(rng, 100_000),
        write: request(rng, 5_000_000),
        data_pages: (rng.within(0, 1) == 0).then(|| rng.within(1, 6_000)),
    };
    let tasks: Vec<Task> = (0..3).map(&mut task).filter(|task| task.read.is_some() || task.write.is_some()).collect();
    TaskSet::new(device, tasks, vec![]).ok()
}

#[test]
fn verdicts_are_those_of_the_verifier() {
    let (mut rng, mut counts, mut late, mut by_priority_alone) = (Stream::new([68; 32]), [[0_u32; 2]; 4], 0, 0);
    for nth in 0..cases(6_000_u32) {
        let Some(set) = set(&mut rng) else { continue };
        // Every other set has other ratios.
        let ratios = Dhara::with_any_ratio();
        let [any_order, by_priority] = [0, 1].map(|callers| ratios[nth as usize * 2 % ratios.len() + callers]);
        let others = [Dhara::FOUR, any_order, Dhara::FOUR_BY_PERIOD, by_priority];
        let schemes = if nth % 2 == 0 { ALL } else { others };
        let chips = set.device().chips();
        let all = set.tasks().count();
        let one_and_rest = [Cluster::of(0..1, 0..all.div_ceil(2)), Cluster::of(1..chips, all.div_ceil(2)..all)];
        let clusters = if chips == 1 { vec![Cluster::of(0..1, 0..all)] } else { one_and_rest.to_vec() };
        let Ok(allocation) = Allocation::new(chips, set.tasks().len(), &clusters) else { continue };
        let mut passed = Vec::new();
        for (scheme, count) in schemes.iter().zip(&mut counts) {
            let kind = BaselineScheme::from_name(scheme.name()).expect("the verifier knows it");
            let judged = verify_baseline(&set, &allocation, kind);
            for (cluster, judged) in allocation.clusters().iter().zip(&judged.clusters) {
                let verdict = cluster_verdict(&set, scheme, &cluster.tasks, cluster.size(), &Work::new());
                assert_eq!(verdict.passes, judged.in_time, "{}: {set:?} {cluster:?}", scheme.name());
                count[usize::from(verdict.passes)] += 1;
                passed.push(verdict.passes);
                let tasks: Vec<&Task> = cluster.tasks.iter().map(|&task| &set.tasks()[task]).collect();
                let rooms = scheme.rooms(set.device(), &tasks, cluster.size());
                let Some(obstacle) = judged.obstacle.as_ref().filter(|of| of.starts_with("one request")) else {
                    continue;
                };
                let mut response = rooms.iter().filter(|room| room.unit == RoomUnit::Nanoseconds);
                let time = format_ns(u64::try_from(response.next().expect("a response").needed).expect("a time"));
                assert!(obstacle.contains(&time), "{obstacle}: {rooms:?} {set:?}");
                late += 1;
            }
        }
        // Schemes are in the order of `ALL`. One that holds in any order of callers holds by
        // priority, too.
        let (any_order, by_priority) = passed.split_at(passed.len() / 2);
        assert!(any_order.iter().zip(by_priority).all(|(any, prior)| prior >= any), "{set:?}");
        by_priority_alone += by_priority.iter().zip(any_order).filter(|(prior, any)| prior > any).count();
    }
    assert!(counts.iter().flatten().all(|&count| count > 400) && late > 200, "{counts:?} {late}");
    assert!(by_priority_alone > 40, "{by_priority_alone}");
}

#[test]
fn allocations_have_one_chip_a_cluster() {
    let (mut rng, mut accepted, mut refused) = (Stream::new([69; 32]), 0, 0);
    for _ in 0..cases(1_500_u32) {
        let Some(set) = set(&mut rng) else { continue };
        for algorithm in ["clustering-bfd", "best-fit", "clustering-search", "exact"] {
            let algorithm = allocator(algorithm).expect("an algorithm");
            let outcome = algorithm.allocate(&set, &Dhara::FOUR);
            // A larger cluster has no map: its lack of room explains nothing.
            if let Outcome::NotSchedulable(failure) = &outcome {
                assert_eq!(failure.unplaced.chips, 1, "{}: {set:?}", algorithm.name());
                refused += 1;
            }
            let Some(allocation) = outcome.allocation().filter(|_| outcome.is_schedulable() == Some(true)) else {
                continue;
            };
            assert!(
                verify_baseline(&set, allocation, BaselineScheme::Dhara { gc_ratio: 4, by_priority: false })
                    .schedulable()
            );
            let clusters = allocation.clusters();
            assert!(clusters.iter().all(|cluster| cluster.tasks.is_empty() || cluster.size() == 1));
            accepted += 1;
        }
    }
    assert!(accepted > 100 && refused > 100, "{accepted} {refused}");
}

/// By hand, on mt29f4g08abada-slc at a gc_ratio of 4: 16 pages a group, 15 of them users', 60 of a
/// block, a walk of 1 + 18 pages. A walk's page takes 25 + 2.772 µs, a copy 711, a program 668.
#[test]
fn the_costs_of_a_write_by_hand() {
    let device = Device::profile("mt29f4g08abada-slc").expect("a profile");
    let part = 25_000 + 2_772;
    let write = (5 * 20 + 19 + 2) * part + 5 * 711_000 + 2 * 668_000 + 3_000_000;
    assert_eq!(Dhara::FOUR.worst_response(&device), write);
    // There are 240,960 user pages in 4,016 blocks, less one and one in 64.
    assert_eq!(Dhara::FOUR.usable_pages(&device, 1), (3_953 * 60) - (3_953 * 60) / 5 - 512);
}

/// The numbers by hand, on the same chip: 16 programs for 15 pages, and at most four copies a page,
/// or D/(Y − D). D = 50,000 are the pages of data, and Y = 189,232 − 80.
#[test]
fn wear_is_that_of_dharas_copies() {
    let device = Device::profile("mt29f4g08abada-slc").expect("a profile");
    let device = Device::new(DeviceSpec { chips: 1, chips_per_channel: 1, ..device.spec() }).expect("a device");
    for (data_pages, copies) in [(None, 4.0), (Some(50_000), 50_000.0 / 139_152.0)] {
        let write = Request::new(1, ns(864_000_000));
        let tasks = vec![Task { name: "t".into(), read: None, write, data_pages }];
        let set = TaskSet::new(device, tasks, vec![]).expect("a set");
        let allocation = Allocation::new(1, 1, &[Cluster::of(0..1, 0..1)]).expect("an allocation");
        let cost = cost(&set, &Dhara::FOUR, &allocation);
        let [cluster] = &cost.clusters[..] else { panic!("{cost:?}") };
        let programs = (1.0 + copies) * 16.0 / 15.0;
        let found = cluster.write_amplification.expect("writes");
        assert!((found - programs).abs() < 1e-9, "{found} {programs}");
        // 100,000 pages a day, on blocks of 64.
        assert!((cost.tasks.erases - 100_000.0 * programs / 64.0).abs() < 1e-6, "{cost:?}");
        assert!(cluster.in_rings.is_none() && cluster.anywhere.is_none(), "{cost:?}");
    }
}

/// A kind of request, as its thread issues it.
struct Caller {
    request: Request,
    writes: bool,
    /// Requests that arrived, and when the next one does.
    waiting: VecDeque<u128>,
    next: u128,
    /// Pages of the first that are still to be served.
    left: u64,
}

/// Serves callers on Dhara's executor by priority, whole requests or page by page; whether one is
/// late. The chip is full, and the time of each call is that of its operations.
fn serves_in_time(set: &TaskSet, scheme: Dhara, by_page: bool, rng: &mut Stream) -> bool {
    let shape = scheme.shape(set.device()).expect("a chip");
    let times = Dhara::times(set.device());
    let mut run = DharaRun::new(shape.geometry, shape.gc_ratio);
    let sectors = u32::try_from(shape.new_capacity()).expect("a small chip");
    let _ = run.call(Call::Start);
    (0..3 * sectors).for_each(|nth| run.call(Call::Write(nth % sectors)).expect("room"));
    let requests = set.tasks().iter().flat_map(Task::requests);
    let caller = |(request, writes): (Request, bool)| {
        let next = u128::from(rng.within(0, request.period().as_ns() / 4));
        Caller { request, writes, waiting: VecDeque::new(), next, left: request.pages() }
    };
    let mut callers: Vec<Caller> = requests.map(caller).collect();
    callers.sort_by_key(|caller| caller.request.period());
    let mut now = 0;
    for _ in 0..400 {
        for caller in &mut callers {
            while caller.next <= now {
                caller.waiting.push_back(caller.next);
                caller.next += u128::from(caller.request.period().as_ns());
            }
        }
        let Some(caller) = callers.iter_mut().find(|caller| !caller.waiting.is_empty()) else {
            now = callers.iter().map(|caller| caller.next).min().expect("callers");
            continue;
        };
        run.take_log();
        let pages = if by_page { 1 } else { caller.left };
        for _ in 0..pages {
            let sector = u32::try_from(rng.within(0, u64::from(sectors - 1))).expect("a sector");
            run.call(if caller.writes { Call::Write(sector) } else { Call::Read(sector) }).expect("room");
        }
        let did = CallCost::of(&run.take_log());
        now += CallCost { whole: if caller.writes { 0 } else { pages }, ..did }.time(&times);
        caller.left -= pages;
        if caller.left == 0 {
            caller.left = caller.request.pages();
            let arrived = caller.waiting.pop_front().expect("a request");
            if now - arrived > caller.request.period().as_ns().into() {
                return false;
            }
        }
    }
    true
}

#[test]
fn callers_by_priority_are_served_in_time() {
    let (mut rng, mut tried, mut late) = (Stream::new([70; 32]), 0, 0);
    for _ in 0..cases(4_000_u32) {
        let Some(set) = set(&mut rng) else { continue };
        if set.device().blocks_per_chip() > 60 || set.device().chips() > 1 || set.tasks().is_empty() {
            continue;
        }
        let all: Vec<TaskId> = set.tasks().ids().collect();
        for scheme in [Dhara::FOUR_BY_PERIOD, Dhara::FIFTEEN_BY_PERIOD] {
            let passes = cluster_verdict(&set, &scheme, &all, 1, &Work::new()).passes;
            if scheme.shape(set.device()).is_none() {
                continue;
            }
            for by_page in [false, true] {
                let in_time = serves_in_time(&set, scheme, by_page, &mut rng);
                assert!(in_time || !passes, "{} by page {by_page}: {set:?}", scheme.name());
                tried += u32::from(passes);
                late += u32::from(!in_time);
            }
        }
    }
    assert!(tried > 15 && late > 50, "{tried} {late}");
}
