//! Clusters of one chip on a channel, each of which holds only next to the others.

use rtflash_analysis::Work;
use rtflash_analysis::certified::{certified, certify, holding};
use rtflash_model::random::Stream;
use rtflash_model::{
    Allocation, Certificate, Cluster, Collection, Device, DeviceSpec, LogicalRatio, Placement, Reliance, Request, Span,
    Task, TaskSet,
};

fn us(micros: u64) -> Span {
    Span::from_us(u32::try_from(micros).expect("short"))
}

/// A task that reads and writes for each chip of a channel, periods in thousandths of what was
/// drawn.
fn draw(number: u64, scale: u64) -> Option<TaskSet> {
    let mut stream = Stream::numbered(11, b"m34_____", number);
    let mut rng = move |low: u64, high: u64| low + stream.below(high - low + 1);
    let mut count = |low, high| u32::try_from(rng(low, high)).ok();
    let (chips, blocks, pages) = (count(2, 4)?, count(12, 60)?, count(4, 16)?);
    let device = Device::new(DeviceSpec {
        chips,
        chips_per_channel: chips,
        blocks_per_chip: blocks,
        pages_per_block: pages,
        page_size: 4096,
        logical_ratio: LogicalRatio::from_decimal(rng(2, 8).into(), 1).ok()?,
        page_read: us(rng(10, 80)),
        page_program: us(rng(20, 200)),
        block_erase: us(rng(50, 1000)),
        page_transfer: us(rng(5, 60)),
        ..DeviceSpec::default()
    })
    .ok()?;
    let tasks = (0..chips).map(|chip| {
        let [reads, read_time] = [rng(1, 40), rng(300, 1000)];
        let [writes, write_time] = [rng(1, 30), rng(300, 1000)];
        Task {
            name: format!("t{chip}"),
            read: Request::new(reads, us(reads * read_time * scale / 1_000)),
            write: Request::new(writes, us(writes * write_time * scale / 500)),
            data_pages: None,
        }
    });
    TaskSet::new(device, tasks.collect(), vec![]).ok()
}

/// A certified allocation holds by its certificates, looked at afresh: also if the deadline of one
/// cluster's garbage collection is changed after a neighbour was tested, which then meets more of
/// its passes.
#[test]
fn a_changed_deadline_is_tested_with_the_neighbours() {
    // At these, two clusters would both pass if the first were not tested again.
    let near = [(4599, 496), (4599, 495), (29832, 455), (36178, 833), (53114, 583), (57160, 445)];
    let mut accepted = 0;
    let random = (0..300).flat_map(|number| (400..900).step_by(100).map(move |scale| (number, scale)));
    for (number, scale) in near.into_iter().chain(random) {
        let Some(set) = draw(number, scale) else { continue };
        let cluster = |chip: u32| Cluster::of([chip], [chip]);
        let clusters: Vec<Cluster> = (0..set.device().chips()).map(cluster).collect();
        let certified =
            certify(&set, &clusters, &vec![Placement::Stripe; clusters.len()], Reliance::Queue, &Work::new());
        if certified.failing.is_empty() {
            let allocation = Allocation::new(set.device().chips(), set.tasks().len(), &clusters).expect("a partition");
            let allocation = allocation.with_certificates(certified.certificates);
            assert!(
                holding(&set, &allocation, Reliance::Queue, &Work::new()).into_iter().all(|holds| holds),
                "{number} at {scale}"
            );
            accepted += 1;
        }
    }
    assert!(accepted > 300, "{accepted}");
}

/// A superblock that comes with a certificate is charged for copies on the bus as it is: 23 ms a
/// pass here, where by itself a pass would take 6.6 ms and the load would be light.
#[test]
fn a_given_superblock_is_charged_for_the_bus_that_it_shares() {
    let device = Device::new(DeviceSpec {
        chips: 4,
        chips_per_channel: 4,
        blocks_per_chip: 256,
        pages_per_block: 32,
        page_size: 4096,
        logical_ratio: LogicalRatio::from_decimal(7, 1).expect("a ratio"),
        page_read: us(10),
        page_program: us(10),
        block_erase: us(500),
        page_transfer: us(100),
        ..DeviceSpec::default()
    });
    let task = |name: &str, read, write| Task { name: name.into(), read, write, data_pages: None };
    let tasks = vec![task("a", None, Request::new(8, us(8_000))), task("b", Request::new(1, us(50_000)), None)];
    let set = TaskSet::new(device.expect("a device"), tasks, vec![]).expect("a set");
    let given = Certificate {
        placement: Placement::Superblock,
        collection: Some(Collection {
            deadline: Some(us(272_000)),
            reclaimed_pages: 18,
            reserve_pages: 335,
            victim_pages: 46,
            open_blocks: 6,
        }),
        server_thousandths: 0,
        backfill: true,
        tightest: None,
    };
    let clusters = [Cluster::of([0, 1], [0]), Cluster::of([2, 3], [1])];
    let allocation = Allocation::new(4, 2, &clusters).expect("an allocation");
    let allocation = allocation.with_certificates(vec![Some(given), None]);
    for granted in Reliance::ALL {
        let (_, found) = certified(&set, &allocation, &Placement::COLLECTING, granted, &Work::new());
        assert_eq!(found.failing, [0], "{granted:?}");
    }
}
