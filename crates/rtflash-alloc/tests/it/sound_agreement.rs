//! Allocations found under the sound analyses pass the independent verifier, certificate by
//! certificate, and those found wanting do not.

use proptest::prelude::*;
use rtflash_alloc::allocator::{Outcome, allocator};
use rtflash_analysis::{Analysis, analysis_relying_on};
use rtflash_model::{
    Access, Allocation, Device, DeviceSpec, LogicalRatio, Placement, Reliance, Request, Shortest, Span, Task, TaskSet,
    read_task_set,
};
use rtflash_verify::{CertifiedVerification, verify_certified};

use rtflash_testkit::cases;

fn span(nanoseconds: u64) -> Span {
    Span::from_ns(nanoseconds).expect("a short time")
}

fn of(name: &str, granted: Reliance) -> &'static dyn Analysis {
    analysis_relying_on(name, granted).expect("an analysis of that name")
}

fn granted() -> impl Strategy<Value = Reliance> {
    prop::sample::select(&Reliance::ALL[..])
}

/// t_c, where it is counted.
fn command() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![3 => Just(None), 1 => (0u64..3).prop_map(Some)]
}

/// Page registers of a chip.
fn registers() -> impl Strategy<Value = Option<u32>> {
    prop::sample::select(&[None, Some(1), Some(2)][..])
}

/// Spare blocks, and of them those that programs may need at once.
fn failures() -> impl Strategy<Value = (Option<u32>, Option<u32>)> {
    prop_oneof![2 => Just((None, None)), 1 => (1u32..3, prop::option::of(0u32..3)).prop_map(|(spare, at_once)| (Some(spare), at_once.map(|at_once| at_once.min(spare))))]
}

/// t_s and t_u, of devices that suspend erases.
fn suspensions() -> impl Strategy<Value = Option<(u64, u64)>> {
    prop_oneof![2 => Just(None), 1 => (1u64..5, 0u64..3).prop_map(Some)]
}

/// Devices of which every number is small; `scale` stretches all times.
fn device(scale: impl Strategy<Value = u64>) -> impl Strategy<Value = Device> {
    let times = (1u64..6, 1u64..12, 1u64..40, 1u64..4, (command(), registers(), failures(), suspensions()), scale);
    (1u32..=6, 1u32..5, 6u32..80, 2u32..18, 5u32..96, times).prop_filter_map(
        "a GC pass frees something",
        |(
            chips,
            ways,
            blocks,
            pages,
            ratio,
            (
                read,
                write,
                erase,
                transfer,
                (command, page_registers, (spare_blocks, program_failures), suspends),
                scale,
            ),
        )| {
            Device::new(DeviceSpec {
                chips,
                chips_per_channel: ways,
                blocks_per_chip: blocks,
                pages_per_block: pages,
                page_size: 4096,
                shortest: Shortest::default(),
                erase_cycles: None,
                command: command.map(|command| span(command * scale)),
                page_registers,
                spare_blocks,
                program_failures,
                wear_gap: read.is_multiple_of(4).then_some(1),
                wear_passes: read.is_multiple_of(4).then_some(2 + blocks % 5),
                erase_suspend: suspends
                    .filter(|&(suspend, _)| suspend < erase)
                    .map(|(suspend, _)| span(suspend * scale)),
                erase_resume: suspends
                    .filter(|&(suspend, resume)| suspend < erase && resume <= erase)
                    .map(|(_, resume)| span(resume * scale)),
                page_read_includes_transfer: None,
                page_program_includes_transfer: None,
                times: None,
                logical_ratio: LogicalRatio::from_decimal(ratio.into(), 2).ok()?,
                page_read: span(read * scale),
                page_program: span(write * scale + scale / 3),
                block_erase: span(erase * scale),
                page_transfer: span(transfer * scale),
            })
            .ok()
        },
    )
}

/// D in thousandths of T, and J in thousandths of D.
fn due() -> impl Strategy<Value = (u64, u64)> + Clone {
    prop_oneof![
        3 => Just((1_000, 0)),
        1 => (300u64..1_000, Just(0)),
        2 => (300u64..=1_000, 0u64..700),
        1 => (1_001u64..4_000, 0u64..700),
    ]
}

/// The request with these.
fn with_due(request: Request, (deadline, jitter): (u64, u64)) -> Option<Request> {
    let part = |of: Span, thousandths: u64| span(of.as_ns() * thousandths / 1_000);
    let deadline = (deadline != 1_000).then(|| part(request.period(), deadline).max(span(1)));
    let request = request.with_deadline(deadline)?;
    request.with_jitter(part(request.deadline().min(request.period()), jitter))
}

/// Pages, and a share of a chip in percent that they are to take; which pages; when due.
fn request() -> impl Strategy<Value = Option<(u64, u64, Access, (u64, u64))>> {
    proptest::option::weighted(0.7, (1u64..12, 2u64..40, prop::sample::select(Access::ALL.to_vec()), due()))
}

fn set(scale: impl Strategy<Value = u64>) -> impl Strategy<Value = TaskSet> {
    let task = (request(), request(), proptest::option::weighted(0.4, 1u64..200), 0u64..4);
    (device(scale), prop::collection::vec(task, 0..6)).prop_filter_map("data fits on the device", |(device, tasks)| {
        let tasks = tasks.into_iter().filter(|(read, write, ..)| read.is_some() || write.is_some());
        let tasks = tasks.enumerate().map(|(index, (read, write, data, odd))| {
            let request = |it: Option<(u64, u64, Access, (u64, u64))>, page: Span| {
                let (pages, percent, access, due) = it?;
                let period = pages * (page.as_ns() + device.page_transfer().as_ns()) * 100 / percent + odd;
                with_due(Request::new(pages, span(period))?.with_access(access), due)
            };
            let (read, write) = (request(read, device.page_read()), request(write, device.page_program()));
            let most = read.iter().chain(&write).map(Request::pages).max().unwrap_or(1);
            Task { name: format!("t{index}"), read, write, data_pages: data.map(|data| data.max(most)) }
        });
        TaskSet::new(device, tasks.collect(), vec![]).ok()
    })
}

/// Each certificate is true to the nanosecond.
fn assert_approved(set: &TaskSet, allocation: &Allocation, analysis: &dyn Analysis) -> CertifiedVerification {
    let verification = verify_certified(set, allocation, analysis.placements(), analysis.relies_on());
    for (position, cluster) in verification.clusters.iter().enumerate() {
        let certificate = allocation.certificate(position);
        assert!(
            cluster.holds == Some(true) && cluster.discrepancies.is_empty() && cluster.notes.is_empty(),
            "{cluster:?}\nwith {certificate:?}\nin {allocation:?}\nof {set:?}"
        );
    }
    verification
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_schedulable_is_approved(set in prop_oneof![set(Just(1)), set(1u64..10_000)], granted in granted()) {
        for name in ["stripe", "superblock", "sound"] {
            for algorithm in ["clustering-bfd", "full-isolation", "equal-split", "exact", "global"] {
                let algorithm = allocator(algorithm).expect("an algorithm of that name");
                match algorithm.allocate(&set, of(name, granted)) {
                    Outcome::Schedulable(allocation) => {
                        prop_assert!(allocation.is_certified() || allocation.clusters().iter().all(|it| it.tasks.is_empty()));
                        assert_approved(&set, &allocation, of(name, granted));
                    }
                    Outcome::NotSchedulable(failure) => {
                        if let Some(allocation) = failure.overloaded.filter(|_| algorithm.name() == "global") {
                            let verification = verify_certified(&set, &allocation, of(name, granted).placements(), granted);
                            prop_assert_eq!(verification.holds(), Some(false), "{:?}\n{:?}", allocation, set);
                        }
                    }
                    Outcome::CannotTell(_) | Outcome::Partitioned(_) | Outcome::Impossible(_) => {}
                }
            }
        }
    }
}

/// Some tasks that read a lot, and some that write a little, on the chips of up to three channels;
/// sequentially, by and large. The chips have about as much to do as they can.
fn reading_set(scale: impl Strategy<Value = u64>) -> impl Strategy<Value = TaskSet> {
    // If commands use the bus the queue is relied on in another way.
    let seldom = prop_oneof![3 => Just(None), 1 => command()];
    let device = (1u32..=3, 2u32..=5, 0u32..3, 2u64..30, 1u64..90, 1u64..20, 5u64..60, (seldom, scale));
    let device = device.prop_map(|(channels, ways, missing, read, write, transfer, ratio, (command, scale))| {
        Device::new(DeviceSpec {
            chips: channels * ways - missing.min(ways - 2),
            chips_per_channel: ways,
            blocks_per_chip: 100,
            pages_per_block: 64,
            page_size: 4096,
            command: command.map(|command| span(command * scale)),
            logical_ratio: LogicalRatio::from_decimal(ratio.into(), 2).expect("less than one"),
            page_read: span(read * scale + scale / 3),
            page_program: span(write * scale),
            block_erase: span(write * 3 * scale),
            page_transfer: span(transfer * scale),
            ..DeviceSpec::default()
        })
        .expect("a device")
    });
    // Pages of a read and of a write, percent of the bus for the one and of a chip for the other,
    // and of ten requests how many are sequential, and how many streams.
    let task = (20u64..800, 1u64..40, 3u64..40, 0u64..9, 0u32..10, 0u64..4, due());
    let tasks = move |device: Device| {
        let channels = usize::try_from(device.channels()).expect("a few");
        (Just(device), prop::collection::vec(task.clone(), 1..=4 * channels))
    };
    device.prop_flat_map(tasks).prop_filter_map("data fits on the device", |(device, tasks)| {
        let tasks = tasks.into_iter().enumerate().map(|(index, (reads, writes, bus, share, sequential, odd, due))| {
            let access = match sequential {
                0 => Access::Random,
                1..=6 => Access::Sequential,
                _ => Access::Stream,
            };
            let request = |pages: u64, page: Span, percent: u64| {
                let period = pages * page.as_ns() * 100 / percent + odd;
                with_due(Request::new(pages, span(period))?.with_access(access), due)
            };
            let program = span(device.page_program().as_ns() + device.page_transfer().as_ns());
            let write = if share > 3 { request(writes, program, share) } else { None };
            Task {
                name: format!("t{index}"),
                read: request(reads, device.page_transfer(), bus),
                write,
                data_pages: None,
            }
        });
        TaskSet::new(device, tasks.collect(), vec![]).ok()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn what_reads_near_the_limit_is_approved(set in prop_oneof![reading_set(Just(1)), reading_set(1u64..10_000)], granted in granted()) {
        for algorithm in ["clustering-bfd", "full-isolation", "equal-split", "exact", "global"] {
            let algorithm = allocator(algorithm).expect("an algorithm of that name");
            match algorithm.allocate(&set, of("stripe", granted)) {
                Outcome::Schedulable(allocation) => { assert_approved(&set, &allocation, of("stripe", granted)); }
                Outcome::NotSchedulable(failure) => {
                    if let Some(allocation) = failure.overloaded.filter(|_| algorithm.name() == "global") {
                        let verification = verify_certified(&set, &allocation, of("stripe", granted).placements(), granted);
                        prop_assert_eq!(verification.holds(), Some(false), "{:?}\n{:?}", allocation, set);
                    }
                }
                Outcome::CannotTell(_) | Outcome::Partitioned(_) | Outcome::Impossible(_) => {}
            }
        }
    }
}

/// An analysis that grants more refuses no set that is found under less, whatever divides the
/// chips.
#[test]
fn granting_more_never_refuses_more() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let drawn = prop_oneof![set(Just(1)), reading_set(Just(1)), reading_set(1u64..10_000)];
    // Found where less is granted alone, and where more is.
    let (mut found, mut more) = (0, 0);
    for _ in 0..cases(80_u32) {
        let set = drawn.new_tree(&mut runner).expect("a set").current();
        for name in ["stripe", "superblock", "sound"] {
            for algorithm in ["best-fit", "clustering-bfd", "clustering-search", "equal-split", "global", "exact"] {
                let algorithm = allocator(algorithm).expect("an algorithm of that name");
                let outcome = |granted| algorithm.allocate(&set, of(name, granted)).is_schedulable() == Some(true);
                let answers = Reliance::ALL.map(outcome);
                assert!(answers.is_sorted(), "{name}, {}: {answers:?} {set:?}", algorithm.name());
                found += u32::from(answers[0]);
                more += u32::from(answers[0] != answers[2]);
            }
        }
    }
    assert!(found > 100 && more > 5, "{found} {more}");
}

/// A set of which no cluster is found by the deadlines of garbage collection that are tried beside
/// a queue, but by those beside neighbours.
#[test]
fn what_the_queue_does_not_find_is_found_beside_neighbours() {
    let file = read_task_set(include_str!("beside-neighbours.json")).expect("a set");
    for algorithm in ["best-fit", "clustering-bfd", "exact"] {
        let algorithm = allocator(algorithm).expect("an algorithm of that name");
        for granted in [Reliance::Neighbours, Reliance::Queue] {
            let outcome = algorithm.allocate(&file.set, of("sound", granted));
            let Outcome::Schedulable(allocation) = outcome else { panic!("{} {granted:?}", algorithm.name()) };
            let verification = assert_approved(&file.set, &allocation, of("sound", granted));
            assert!(verification.clusters.iter().any(|of| of.relies_on == Some(Reliance::Neighbours)));
        }
    }
}

/// Many of what is accepted owes it to the order in which the bus is given, also on several
/// channels.
#[test]
fn the_queue_for_the_bus_decides_many() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    // The shares of all, of one channel, of several.
    let granted = Reliance::Queue;
    let (mut schedulable, mut owed) = (0, [0; 2]);
    for _ in 0..1000 {
        let set = reading_set(Just(1000)).new_tree(&mut runner).expect("a set").current();
        for algorithm in ["clustering-bfd", "global"] {
            let outcome = allocator(algorithm).expect("an algorithm").allocate(&set, of("stripe", granted));
            let Outcome::Schedulable(allocation) = outcome else { continue };
            schedulable += 1;
            let verification = assert_approved(&set, &allocation, of("stripe", granted));
            let shares = verification.clusters.iter().filter_map(|cluster| cluster.shares);
            if shares.into_iter().any(|shares| shares.saved_ns > shares.slack_ns) {
                owed[usize::from(set.device().chips() > set.device().chips_per_channel())] += 1;
            }
        }
    }
    assert!(schedulable > 100 && owed[0] > 20 && owed[1] > 20, "{schedulable} {owed:?}");
}

/// The tests are not all of one kind.
#[test]
fn both_verdicts_and_both_placements_are_drawn() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut schedulable, mut not, mut placements) = (0, 0, [0; 2]);
    for _ in 0..300 {
        let set = set(Just(1)).new_tree(&mut runner).expect("a set").current();
        let outcome =
            allocator("clustering-bfd").expect("an algorithm").allocate(&set, of("sound", Reliance::default()));
        let Outcome::Schedulable(allocation) = outcome else {
            not += 1;
            continue;
        };
        schedulable += 1;
        for cluster in 0..allocation.len() {
            if let Some(certificate) = allocation.certificate(cluster) {
                placements[usize::from(certificate.placement == Placement::Superblock)] += 1;
            }
        }
    }
    assert!(
        schedulable > 60 && not > 60 && placements[0] > 60 && placements[1] > 10,
        "{schedulable} {not} {placements:?}"
    );
}
