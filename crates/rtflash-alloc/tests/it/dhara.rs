//! Dhara's analysis against the verifier's, which is written apart.

use rtflash_alloc::allocator::allocator;
use rtflash_analysis::{Analysis, Baseline, Dhara, RoomUnit, Work, cluster_verdict};
use rtflash_model::random::Stream;
use rtflash_model::{Allocation, Cluster, Device, DeviceSpec, LogicalRatio, Request, Task, TaskSet, format_ns};
use rtflash_testkit::{cases, ns};
use rtflash_verify::{BaselineScheme, verify_baseline};

const BOTH: [Dhara; 2] = [Dhara::FOUR, Dhara::FIFTEEN];

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
        let period = rng.within(1, 40) * pages * scale;
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
    let (mut rng, mut counts, mut late) = (Stream::new([68; 32]), [[0_u32; 2]; 2], 0);
    for _ in 0..cases(6_000_u32) {
        let Some(set) = set(&mut rng) else { continue };
        let chips = set.device().chips();
        let all = set.tasks().count();
        let one_and_rest = [Cluster::of(0..1, 0..all.div_ceil(2)), Cluster::of(1..chips, all.div_ceil(2)..all)];
        let clusters = if chips == 1 { vec![Cluster::of(0..1, 0..all)] } else { one_and_rest.to_vec() };
        let Ok(allocation) = Allocation::new(chips, set.tasks().len(), &clusters) else { continue };
        for (scheme, count) in BOTH.iter().zip(&mut counts) {
            let kind = BaselineScheme::from_name(scheme.name()).expect("the verifier knows it");
            let judged = verify_baseline(&set, &allocation, kind);
            for (cluster, judged) in allocation.clusters().iter().zip(&judged.clusters) {
                let verdict = cluster_verdict(&set, scheme, &cluster.tasks, cluster.size(), &Work::new());
                assert_eq!(verdict.passes, judged.in_time, "{}: {set:?} {cluster:?}", scheme.name());
                count[usize::from(verdict.passes)] += 1;
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
    }
    assert!(counts.iter().flatten().all(|&count| count > 400) && late > 200, "{counts:?} {late}");
}

#[test]
fn allocations_have_one_chip_a_cluster() {
    let (mut rng, mut accepted) = (Stream::new([69; 32]), 0);
    for _ in 0..cases(1_500_u32) {
        let Some(set) = set(&mut rng) else { continue };
        for algorithm in ["clustering-bfd", "best-fit", "exact"] {
            let algorithm = allocator(algorithm).expect("an algorithm");
            let outcome = algorithm.allocate(&set, &Dhara::FOUR);
            let Some(allocation) = outcome.allocation().filter(|_| outcome.is_schedulable() == Some(true)) else {
                continue;
            };
            assert!(verify_baseline(&set, allocation, BaselineScheme::Dhara).schedulable());
            let clusters = allocation.clusters();
            assert!(clusters.iter().all(|cluster| cluster.tasks.is_empty() || cluster.size() == 1));
            accepted += 1;
        }
    }
    assert!(accepted > 100, "{accepted}");
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
