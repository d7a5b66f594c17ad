//! Allocations found under the sound analyses pass the independent judge, certificate by certificate, and those found wanting do not.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rtflash::alloc::allocator::{Outcome, allocator};
use rtflash::alloc::analysis::{Analysis, analysis};
use rtflash::check::judge_sound;
use rtflash::model::{Access, Allocation, Device, DeviceSpec, LogicalRatio, Placement, Request, Span, Task, TaskSet};

fn span(nanoseconds: u64) -> Span {
    Span::from_ns(nanoseconds).expect("a short time")
}

fn of(name: &str) -> &'static dyn Analysis {
    analysis(name).expect("an analysis of that name")
}

/// Devices of which every number is small; `scale` stretches all times.
fn device(scale: impl Strategy<Value = u64>) -> impl Strategy<Value = Device> {
    let times = (1u64..6, 1u64..12, 1u64..40, 1u64..4, scale);
    (1u32..=6, 1u32..5, 6u32..80, 2u32..18, 5u32..96, times).prop_filter_map(
        "a GC pass frees something",
        |(chips, ways, blocks, pages, ratio, (read, write, erase, transfer, scale))| {
            Device::new(DeviceSpec {
                chips,
                chips_per_channel: ways,
                blocks_per_chip: blocks,
                pages_per_block: pages,
                page_size: 4096,
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

/// Pages, and a share of a chip in percent that they are to take; whether sequential.
fn request() -> impl Strategy<Value = Option<(u64, u64, bool)>> {
    proptest::option::weighted(0.7, (1u64..12, 2u64..40, any::<bool>()))
}

fn set(scale: impl Strategy<Value = u64>) -> impl Strategy<Value = TaskSet> {
    let task = (request(), request(), proptest::option::weighted(0.4, 1u64..200), 0u64..4);
    (device(scale), prop::collection::vec(task, 0..6)).prop_filter_map("data fits on the device", |(device, tasks)| {
        let tasks = tasks.into_iter().filter(|(read, write, ..)| read.is_some() || write.is_some());
        let tasks = tasks.enumerate().map(|(index, (read, write, data, odd))| {
            let request = |it: Option<(u64, u64, bool)>, page: Span| {
                let (pages, percent, sequential) = it?;
                let period = pages * (page.as_ns() + device.page_transfer().as_ns()) * 100 / percent + odd;
                let access = if sequential { Access::Sequential } else { Access::Random };
                Request::new(pages, span(period)).map(|request| request.with_access(access))
            };
            let (read, write) = (request(read, device.page_read()), request(write, device.page_program()));
            let most = read.iter().chain(&write).map(Request::pages).max().unwrap_or(1);
            Task { name: format!("t{index}"), read, write, data_pages: data.map(|data| data.max(most)) }
        });
        TaskSet::new(device, tasks.collect(), vec![]).ok()
    })
}

/// Each certificate is true. The slack that it states may be less than there is where a cluster is on several channels: the analysis charges each
/// page the waits of the channel with most strangers, and those for the known neighbours of its own channel on top.
fn assert_approved(set: &TaskSet, allocation: &Allocation, analysis: &dyn Analysis) {
    let judgement = judge_sound(set, allocation, analysis.placements());
    for (position, cluster) in judgement.clusters.iter().enumerate() {
        let certificate = allocation.certificate(position);
        let stated = certificate.and_then(|certificate| certificate.tightest).map(|tightest| tightest.slack_ns.into());
        let slack = cluster.shares.map(|shares| shares.slack_ns);
        let channels = cluster.cluster.chips.iter().map(|&chip| set.device().channel_of(chip));
        let understated = slack > stated && channels.collect::<BTreeSet<_>>().len() > 1;
        assert!(
            cluster.holds == Some(true) && cluster.complaints.len() <= usize::from(understated),
            "{cluster:?}\nwith {certificate:?}\nin {allocation:?}\nof {set:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_schedulable_is_approved(set in prop_oneof![set(Just(1)), set(1u64..10_000)]) {
        for name in ["stripe", "superblock", "sound"] {
            for algorithm in ["clustering-bfd", "full-isolation", "equal-split", "exact", "global"] {
                let algorithm = allocator(algorithm).expect("an algorithm of that name");
                match algorithm.allocate(&set, of(name)) {
                    Outcome::Schedulable(allocation) => {
                        prop_assert!(allocation.is_certified() || allocation.clusters().iter().all(|it| it.tasks.is_empty()));
                        assert_approved(&set, &allocation, of(name));
                    }
                    Outcome::NotSchedulable(failure) => {
                        if let Some(allocation) = failure.overloaded.filter(|_| algorithm.name() == "global") {
                            let judgement = judge_sound(&set, &allocation, of(name).placements());
                            prop_assert_eq!(judgement.holds(), Some(false), "{:?}\n{:?}", allocation, set);
                        }
                    }
                    Outcome::CannotTell(_) | Outcome::Partitioned(_) => {}
                }
            }
        }
    }
}

/// The tests are not all of one kind.
#[test]
fn both_verdicts_and_both_placements_are_drawn() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut schedulable, mut not, mut placements) = (0, 0, [0; 2]);
    for _ in 0..300 {
        let set = set(Just(1)).new_tree(&mut runner).expect("a set").current();
        let outcome = allocator("clustering-bfd").expect("an algorithm").allocate(&set, of("sound"));
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
