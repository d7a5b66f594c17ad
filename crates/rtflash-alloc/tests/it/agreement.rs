//! The fast paths give the answers of the plain algorithms in exact rationals: clusters, verdicts,
//! reasons, tie for tie.

use num_traits::ToPrimitive;
use proptest::prelude::*;
use rtflash_alloc::allocator::{
    ALLOCATORS, Allocator, ClusteringBfd, ClusteringSearch, EqualSplit, Exact, FullIsolation, Global, Outcome,
    allocator,
};
use rtflash_analysis::{Analysis, PartFtl, analysis, report_cluster, test_cluster};
use rtflash_model::{Cluster, Device, DeviceSpec, LogicalRatio, Request, Span, Task, TaskId, TaskSet};
use rtflash_verify::{Equations, verify, verify_part_ftl};

use rtflash_testkit::cases;

use crate::plain::{self, PlainOutcome, Rational};

type Plain = fn(&TaskSet, Equations) -> PlainOutcome;

const TWINS: [(&dyn Allocator, Plain); 4] = [
    (&ClusteringBfd, plain::clustering_bfd),
    (&FullIsolation, plain::full_isolation),
    (&Global, plain::global),
    (&EqualSplit, plain::equal_split),
];

const EQUATIONS: [Equations; 2] = [Equations::Thesis, Equations::ThesisEvaluated];

fn span(nanoseconds: u64) -> Span {
    Span::from_ns(nanoseconds).expect("a short time")
}

/// The statements of a device about its reads and programs: that they contain the transfer, that
/// they do not, or nothing.
fn says() -> impl Strategy<Value = (Option<bool>, Option<bool>)> {
    let of = || proptest::sample::select(vec![None, None, Some(false), Some(true)]);
    (of(), of())
}

/// Devices of which every number is small: with them, ties and utilizations of exactly one are
/// common.
fn small_device(max_chips: u32) -> impl Strategy<Value = Device> {
    let times = (1u64..5, 1u64..8, 1u64..30, 1u64..5);
    (1..=max_chips, 1u32..7, 2u32..20, 1u32..100, times, says()).prop_filter_map(
        "a GC pass frees something",
        |(chips, ways, pages, ratio, times, says)| {
            Device::new(DeviceSpec {
                chips,
                chips_per_channel: ways,
                blocks_per_chip: 64,
                pages_per_block: pages,
                page_size: 4096,
                logical_ratio: LogicalRatio::from_decimal(ratio.into(), 2).ok()?,
                page_read: span(times.0),
                page_program: span(times.1),
                block_erase: span(times.2),
                page_transfer: span(times.3),
                page_read_includes_transfer: says.0,
                page_program_includes_transfer: says.1,
                ..DeviceSpec::default()
            })
            .ok()
        },
    )
}

/// Devices like real ones.
fn real_device() -> impl Strategy<Value = Device> {
    let times = (20_000u64..100_000, 100_000u64..2_000_000, 1_000_000u64..10_000_000, 5_000u64..100_000);
    (1u32..=24, 1u32..9, 16u32..600, 5u32..95, times, says()).prop_filter_map(
        "a GC pass frees something",
        |(chips, ways, pages, ratio, times, says)| {
            Device::new(DeviceSpec {
                chips,
                chips_per_channel: ways,
                blocks_per_chip: 1024,
                pages_per_block: pages,
                page_size: 8192,
                logical_ratio: LogicalRatio::from_decimal(ratio.into(), 2).ok()?,
                page_read: span(times.0),
                page_program: span(times.1),
                block_erase: span(times.2),
                page_transfer: span(times.3),
                page_read_includes_transfer: says.0,
                page_program_includes_transfer: says.1,
                ..DeviceSpec::default()
            })
            .ok()
        },
    )
}

fn request(
    pages: impl Strategy<Value = u64>,
    period: impl Strategy<Value = u64>,
) -> impl Strategy<Value = Option<Request>> {
    proptest::option::weighted(
        0.75,
        (pages, period).prop_map(|(pages, period)| Request::new(pages, span(period)).expect("above zero")),
    )
}

/// Tasks with few different parameters, so that many are alike.
fn small_tasks(most: usize) -> impl Strategy<Value = Vec<Task>> {
    let period = || prop_oneof![prop::sample::select(vec![60u64, 120, 240, 360, 720, 5040]), 40u64..400];
    prop::collection::vec((request(1u64..25, period()), request(1u64..25, period())), 0..=most).prop_map(name_tasks)
}

fn real_tasks(most: usize) -> impl Strategy<Value = Vec<Task>> {
    let period = || 30_000_000u64..800_000_000;
    prop::collection::vec((request(1u64..300, period()), request(1u64..80, period())), 0..=most).prop_map(name_tasks)
}

fn name_tasks(requests: Vec<(Option<Request>, Option<Request>)>) -> Vec<Task> {
    let some = requests.into_iter().filter(|(read, write)| read.is_some() || write.is_some());
    some.enumerate()
        .map(|(index, (read, write))| Task { name: format!("t{index}"), read, write, data_pages: None })
        .collect()
}

fn set(device: Device, tasks: Vec<Task>) -> TaskSet {
    TaskSet::new(device, tasks, vec![]).expect("a task set")
}

fn small_set(chips: u32, tasks: usize) -> impl Strategy<Value = TaskSet> {
    (small_device(chips), small_tasks(tasks)).prop_map(|(device, tasks)| set(device, tasks))
}

fn real_set(tasks: usize) -> impl Strategy<Value = TaskSet> {
    (real_device(), real_tasks(tasks)).prop_map(|(device, tasks)| set(device, tasks))
}

/// Sets whose load is garbage collection for the most part, which falls with the size of a cluster:
/// so that clusters with tasks are merged, again and again, and the merged ones take more tasks.
/// `scale` stretches all times: with 1, ties are common.
fn merging_set(scale: impl Strategy<Value = u64>) -> impl Strategy<Value = TaskSet> {
    let device = (2u32..12, 1u32..4, 20u32..64, 75u32..97, 1u64..4, 1u64..3, scale);
    let tasks = prop::collection::vec(
        (1u64..7, prop::sample::select(vec![15u64, 25, 35, 40, 51, 55, 60, 80]), 0u64..20, 0u64..5),
        4..20,
    );
    (device, tasks).prop_filter_map(
        "a GC pass frees something",
        |((chips, ways, pages, ratio, read, erase, scale), tasks)| {
            let device = Device::new(DeviceSpec {
                chips,
                chips_per_channel: ways,
                blocks_per_chip: 64,
                pages_per_block: pages,
                page_size: 4096,
                logical_ratio: LogicalRatio::from_decimal(ratio.into(), 2).ok()?,
                page_read: span(read * scale),
                page_program: span((read + 3) * scale + scale / 3),
                block_erase: span(erase * 4 * scale),
                page_transfer: span(scale.div_ceil(2)),
                ..DeviceSpec::default()
            })
            .ok()?;
            let write = |&(pages, percent, extra, kind): &(u64, u64, u64, u64)| {
                let reclaimed = u64::from(device.reclaimed_per_chip());
                let pages = pages.min(reclaimed.div_ceil(2));
                let busy = pages * device.page_program().as_ns() + device.gc_pass().as_ns() / (reclaimed / pages);
                // So that U_i(1) is about the percentage; sometimes exactly the same for several
                // tasks, sometimes nearly.
                let period = busy * 100 / percent + if kind == 0 { extra } else { 0 };
                match kind {
                    1 => (Request::new(1, span(period * 2)), Request::new(pages, span(period))),
                    // Load that no merge makes lighter: some clusters get worse by merging, and
                    // stay so.
                    2 => (Request::new(20, span(20 * device.page_read().as_ns() * 100 / percent)), None),
                    _ => (None, Request::new(pages, span(period))),
                }
            };
            Some(set(device, name_tasks(tasks.iter().map(write).collect())))
        },
    )
}

/// Only sets that are small enough to search.
fn few(sets: impl Strategy<Value = TaskSet>, tasks: usize) -> impl Strategy<Value = TaskSet> {
    sets.prop_filter("few tasks", move |set| set.tasks().len() <= tasks)
}

fn of(equations: Equations) -> &'static dyn Analysis {
    analysis(equations.name()).expect("the analysis of that name")
}

fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs().max(1.0)
}

/// Whether each algorithm says what its twin says.
fn agree(set: &TaskSet) {
    for equations in EQUATIONS {
        for (allocator, twin) in TWINS {
            let (fast, plain) = (allocator.allocate(set, of(equations)), twin(set, equations));
            let context = format!("{} under {}", allocator.name(), equations.name());
            assert_eq!(fast.is_schedulable(), Some(plain.schedulable), "{context}");
            if let Some(allocation) = fast.allocation() {
                assert_eq!(allocation.clusters(), plain.clusters, "{context}");
                agree_on_utilization(set, equations, &plain.clusters);
            }
            if let Outcome::NotSchedulable(failure) = &fast {
                let expected = plain.unplaced.expect("a reason");
                assert_eq!(
                    (failure.unplaced.task, failure.unplaced.cluster),
                    (expected.task, expected.cluster),
                    "{context}"
                );
                let reached = failure.unplaced.best_utilization().expect("a utilization");
                assert!(near(reached, expected.best_utilization.to_f64().expect("a finite number")), "{context}");
            }
        }
    }
    agree_on_part_ftl(set);
}

fn agree_on_utilization(set: &TaskSet, equations: Equations, clusters: &[Cluster]) {
    for cluster in clusters {
        let exact: Rational = plain::utilization(set, equations, &cluster.tasks, cluster.size());
        let report = report_cluster(set, of(equations), &cluster.tasks, cluster.size());
        assert!(near(report.utilization, exact.to_f64().expect("a finite number")));
        let passes = exact <= Rational::from_integer(1.into());
        // The printed number is on the side of one on which the exact number is.
        assert_eq!(report.utilization.partial_cmp(&1.0), Some(exact.cmp(&Rational::from_integer(1.into()))));
        assert_eq!(report.server > 0.0, exact < Rational::from_integer(1.into()));
        assert_eq!(test_cluster(set, of(equations), &cluster.tasks, cluster.size()), passes);
    }
}

fn agree_on_part_ftl(set: &TaskSet) {
    let (fast, plain) = (PartFtl::test(set), verify_part_ftl(set));
    assert_eq!(fast.is_some(), plain.is_some());
    if let Some((fast, plain)) = fast.zip(plain) {
        assert_eq!(fast.schedulable, plain.schedulable);
        assert!(near(fast.read_utilization, plain.read_utilization.to_f64().expect("a finite number")));
        assert!(near(fast.write_utilization, plain.write_utilization.to_f64().expect("a finite number")));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500), ..ProptestConfig::default() })]

    #[test]
    fn on_small_numbers(set in small_set(9, 9)) {
        agree(&set);
    }

    #[test]
    fn on_devices_like_real_ones(set in real_set(12)) {
        agree(&set);
    }

    #[test]
    fn on_more_clusters_than_a_merge_remembers(set in small_set(20, 18)) {
        agree(&set);
    }

    #[test]
    fn every_allocation_passes_and_exact_accepts_what_any_other_does(set in prop_oneof![small_set(9, 8), real_set(8), few(merging_set(1u64..1000), 9)]) {
        for equations in EQUATIONS {
            let exact = Exact.allocate(&set, of(equations));
            for algorithm in ALLOCATORS.iter().filter(|allocator| allocator.name() != "part-ftl") {
                let outcome = algorithm.allocate(&set, of(equations));
                if let Outcome::Schedulable(allocation) = &outcome {
                    prop_assert!(verify(&set, allocation, equations).schedulable(), "{}", algorithm.name());
                    prop_assert_eq!(exact.is_schedulable(), Some(true), "{} accepts", algorithm.name());
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1_000), ..ProptestConfig::default() })]

    #[test]
    fn where_clusters_with_tasks_are_merged(set in prop_oneof![merging_set(Just(1)), merging_set(1_000u64..100_000)]) {
        agree(&set);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(150), ..ProptestConfig::default() })]

    #[test]
    fn exact_is_the_optimum(set in prop_oneof![small_set(6, 5), few(merging_set(Just(1)), 5).prop_filter("few chips", |set| set.device().chips() <= 5)]) {
        for equations in EQUATIONS {
            let optimum = plain::optimum(&set, equations);
            let outcome = Exact.allocate(&set, of(equations));
            prop_assert_eq!(outcome.is_schedulable(), Some(optimum.is_some()));
            if let (Some(optimum), Some(allocation)) = (optimum, outcome.allocation().filter(|_| outcome.is_schedulable() == Some(true))) {
                let clusters = allocation.clusters();
                let cost = clusters.iter().map(|cluster| {
                    let total: Rational = plain::utilization(&set, equations, &cluster.tasks, cluster.size());
                    total + Rational::from_integer((cluster.size() - 1).into())
                });
                let cost: Rational = cost.fold(Rational::from_integer(0.into()), |sum, cost| sum + cost);
                prop_assert!(near(cost.to_f64().expect("a finite number"), optimum.cost.to_f64().expect("a finite number")));
            }
        }
    }

    /// A cluster filled to exactly one by a last task passes; with a period one nanosecond shorter
    /// it does not.
    #[test]
    fn the_boundary_is_exact(set in small_set(5, 5), scale in 1u64..1000) {
        for equations in EQUATIONS {
            let (tasks, chips): (Vec<TaskId>, u32) = (set.tasks().ids().collect(), set.device().chips());
            let used: Rational = plain::utilization(&set, equations, &tasks, chips);
            let room = Rational::from_integer(1.into()) - used;
            if tasks.is_empty() || room <= Rational::from_integer(0.into()) {
                continue;
            }
            // A read of p·k pages, each of cost c, every q·c·k takes exactly p/q. Long periods
            // leave min(T) as it is.
            let fast = of(equations);
            let cost = fast.page_costs(set.device()).read.as_ns() + fast.transfer_delay(set.device(), chips).as_ns();
            let (Ok(p), Ok(q)) = (u64::try_from(room.numer()), u64::try_from(room.denom())) else { continue };
            let k = 10_000 * scale;
            let (Some(pages), Some(period)) = (p.checked_mul(k), q.checked_mul(k).and_then(|period| period.checked_mul(cost))) else { continue };
            if pages >= 1 << 50 || period >= 1 << 62 {
                continue;
            }
            for (shift, schedulable) in [(0i64, true), (-1, false), (1, true)] {
                let mut tasks = set.tasks().as_slice().to_vec();
                let period = span(period.checked_add_signed(shift).expect("a period"));
                tasks.push(Task { name: "last".into(), read: Request::new(pages, period), write: None, data_pages: None });
                let full = TaskSet::new(*set.device(), tasks, vec![]).expect("a task set");
                let outcome = allocator("global").expect("global").allocate(&full, fast);
                prop_assert_eq!(outcome.is_schedulable(), Some(schedulable), "{} at {:+} ns", equations.name(), shift);
                prop_assert_eq!(verify(&full, outcome.allocation().expect("global always gives one"), equations).schedulable(), schedulable);
            }
        }
    }
}

/// Many tasks on few chips, at about the load that just fits: where Clustering-BFD is at its worst.
/// `scale` stretches all times.
fn crowded_set(tasks: usize, scale: impl Strategy<Value = u64>) -> impl Strategy<Value = TaskSet> {
    let device = (1u32..4, 1u32..5, 40u32..90, scale);
    let tasks = prop::collection::vec((25u64..46, 0u64..4, prop::sample::select(vec![60u64, 100, 400])), 4..=tasks);
    (device, tasks).prop_filter_map("a GC pass frees something", |((chips, ways, ratio, scale), tasks)| {
        let device = Device::new(DeviceSpec {
            chips,
            chips_per_channel: ways,
            blocks_per_chip: 64,
            pages_per_block: 20,
            page_size: 4096,
            logical_ratio: LogicalRatio::from_decimal(ratio.into(), 2).ok()?,
            page_read: span(100 * scale),
            page_program: span(300 * scale + scale / 3),
            block_erase: span(400 * scale),
            page_transfer: span(scale),
            ..DeviceSpec::default()
        })
        .ok()?;
        // Shares of a chip from 0.2 to 0.6 with eight tasks on three chips, and so on.
        let part = |percent: u64| percent * 8 * u64::from(chips) / (tasks.len() as u64 * 3);
        let request = |&(percent, kind, pages): &(u64, u64, u64)| {
            let reclaimed = u64::from(device.reclaimed_per_chip());
            let write = pages.min(reclaimed);
            let busy = write * device.page_program().as_ns() + device.gc_pass().as_ns() / (reclaimed / write);
            match kind {
                0 => (None, Request::new(write, span(busy * 100 / part(percent).max(1)))),
                _ => (Request::new(pages, span(pages * 100 * scale * 100 / part(percent).max(1))), None),
            }
        };
        Some(set(device, name_tasks(tasks.iter().map(request).collect())))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500), ..ProptestConfig::default() })]

    /// An allocation of Clustering-BFD stays as it is; an allocation found beyond passes the
    /// verifier, and exists. Otherwise the reason is the same.
    #[test]
    fn the_search_lies_between_clustering_bfd_and_exact(set in prop_oneof![crowded_set(8, Just(1)), crowded_set(8, 2u64..100_000), few(merging_set(1u64..1000), 8), real_set(8)]) {
        for equations in EQUATIONS {
            let (first, outcome) = (ClusteringBfd.allocate(&set, of(equations)), ClusteringSearch.allocate(&set, of(equations)));
            prop_assert_eq!(&outcome, &ClusteringSearch.allocate(&set, of(equations)));
            if first.is_schedulable() == outcome.is_schedulable() {
                prop_assert_eq!(&first, &outcome);
            } else {
                prop_assert_eq!(first.is_schedulable(), Some(false));
                let allocation = outcome.allocation().expect("an allocation");
                prop_assert!(verify(&set, allocation, equations).schedulable());
                prop_assert_eq!(Exact.allocate(&set, of(equations)).is_schedulable(), Some(true));
            }
        }
    }

    #[test]
    fn what_the_search_finds_for_many_tasks_passes(set in crowded_set(24, 1u64..1000)) {
        for equations in EQUATIONS {
            if let Outcome::Schedulable(allocation) = ClusteringSearch.allocate(&set, of(equations)) {
                prop_assert!(verify(&set, &allocation, equations).schedulable());
            }
        }
    }
}

/// Readers of 0.39, 0.39 and four times 0.29 on two chips, with blocking of 0.02: best fit puts the
/// two large ones together, and finds no room for the last of the others. One large one and two
/// others come to 0.99.
#[test]
fn the_search_finds_what_best_fit_does_not() {
    let device = Device::new(DeviceSpec {
        chips: 2,
        chips_per_channel: 1,
        blocks_per_chip: 64,
        pages_per_block: 100,
        page_size: 4096,
        logical_ratio: LogicalRatio::HALF,
        page_read: span(100_000),
        page_program: span(100_000),
        block_erase: span(200_000),
        page_transfer: span(1),
        ..DeviceSpec::default()
    })
    .expect("a device");
    let reader = |pages| (Request::new(pages, span(10_000_000)), None);
    let set = set(device, name_tasks([39, 39, 29, 29, 29, 29].map(reader).to_vec()));
    let Outcome::NotSchedulable(failure) = ClusteringBfd.allocate(&set, of(Equations::Thesis)) else {
        panic!("no room for the last task")
    };
    assert_eq!(failure.unplaced.task, TaskId(5));
    let outcome = ClusteringSearch.allocate(&set, of(Equations::Thesis));
    let clusters = outcome.allocation().expect("an allocation").clusters();
    assert!(verify(&set, outcome.allocation().expect("an allocation"), Equations::Thesis).schedulable());
    let total =
        |cluster: &Cluster| report_cluster(&set, of(Equations::Thesis), &cluster.tasks, cluster.size()).utilization;
    assert!(clusters.len() == 2 && clusters.iter().all(|cluster| near(total(cluster), 0.99)), "{clusters:?}");
}

/// Algorithm 1 merges two clusters beyond one, never looks back, and finds room for the last task
/// elsewhere (decision 5). Two pairs of different sizes have the same U, and doubles order them
/// wrongly: the lower position wins all the same.
#[test]
fn a_merge_tie_that_doubles_take_for_none() {
    let text = include_str!("merge-tie.json");
    let set = rtflash_model::read_task_set(text).expect("a task set").set;
    agree(&set);
    let outcome = rtflash_alloc::allocator::ClusteringBfd.allocate(&set, of(Equations::Thesis));
    let clusters = outcome.allocation().expect("schedulable").clusters();
    let tasks: Vec<Vec<u32>> =
        clusters.iter().map(|cluster| cluster.tasks.iter().map(|task| task.0).collect()).collect();
    assert_eq!(tasks, [&[0, 1, 2][..], &[3, 4, 6], &[5]]);
}

#[test]
fn a_merge_can_overload_a_cluster() {
    let micro = |microseconds: u64| span(microseconds * 1000);
    let device = Device::new(DeviceSpec {
        chips: 5,
        chips_per_channel: 1,
        blocks_per_chip: 64,
        pages_per_block: 100,
        page_size: 4096,
        logical_ratio: LogicalRatio::HALF,
        page_read: micro(99),
        page_program: micro(1),
        block_erase: micro(1),
        page_transfer: micro(1),
        ..DeviceSpec::default()
    })
    .expect("a device");
    // Two readers of 0.53 merge first, to 1.06. Three writers of 0.81, whose GC shrinks as their
    // cluster grows (w = 2.5 alpha), come to 1.08 on two chips but to 0.82 on three, where the last
    // task fits.
    let reader = (Request::new(100, micro(18_679)), None);
    let writer = |period| (None, Request::new(125, micro(period)));
    let tasks = vec![reader, reader, writer(18_677), writer(18_677), writer(18_677), writer(30_256)];
    let set = set(device, name_tasks(tasks));
    agree(&set);
    let Outcome::NotSchedulable(failure) = ClusteringBfd.allocate(&set, of(Equations::Thesis)) else {
        panic!("an overloaded cluster")
    };
    assert_eq!(
        (failure.unplaced.task, failure.unplaced.chips, failure.unplaced.others),
        (TaskId(1), 2, vec![TaskId(0)])
    );
}
