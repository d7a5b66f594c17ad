//! Analyses that are none of ours: whatever they say is what allocators and reports go by, and what
//! the algorithms make of it is what they make of it written down plainly.

use proptest::prelude::*;
use rtflash_alloc::allocator::{
    ALLOCATORS, Allocator, ClusteringBfd, EqualSplit, Exact, FullIsolation, Global, Limit, Outcome, tested, unplaceable,
};
use rtflash_analysis::{
    Analysis, ClusterTest, ClusterVerdict, Fraction, GcDemand, LinearTest, Rational, StreamDemand, TaskDemand, Test,
    Thesis, UtilizationTest, Work, fits_alone, server_share, test_cluster, verdict,
};
use rtflash_model::generate::PageCosts;
use rtflash_model::{
    AllocationError, ChipId, Cluster, Device, DeviceSpec, LogicalRatio, Request, Span, Task, TaskId, TaskSet,
};
use rtflash_testkit::ns;

/// Numbers that look random and are always the same.
fn mixed(seed: u64, parts: &[u64]) -> u64 {
    parts.iter().fold(seed ^ 0x9E37_79B9_7F4A_7C15, |state, part| {
        let state = (state ^ part).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (state ^ (state >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB)
    }) >> 11
}

fn numbers(task: &Task) -> [u64; 4] {
    let of = |request: Option<Request>| request.map_or((0, 0), |request| (request.pages(), request.period().as_ns()));
    let ((r, read), (w, write)) = (of(task.read), of(task.write));
    [r, read, w, write]
}

/// Page costs and a delay that jumps up and down with the chips.
#[derive(Debug)]
struct Linear(u64);

impl Analysis for Linear {
    fn name(&self) -> &'static str {
        "own-linear"
    }

    fn summary(&self) -> &'static str {
        "another delay"
    }

    fn page_costs(&self, device: &Device) -> PageCosts {
        PageCosts {
            read: ns(device.page_read().as_ns() * (self.0 % 3)),
            write: ns(device.page_program().as_ns() + self.0 % 5),
        }
    }

    fn test(&self) -> Test<'_> {
        Test::Linear(self)
    }
}

impl LinearTest for Linear {
    fn transfer_delay(&self, _: &Device, chips: u32) -> Span {
        ns(mixed(self.0, &[chips.into()]) % 6)
    }
}

/// Utilizations that are neither linear in pages nor monotone in chips, with periods and costs of
/// garbage collection of their own.
#[derive(Debug)]
struct Own(u64);

impl Analysis for Own {
    fn name(&self) -> &'static str {
        "own-utilization"
    }

    fn summary(&self) -> &'static str {
        "other utilizations"
    }

    fn test(&self) -> Test<'_> {
        Test::Utilization(self)
    }
}

impl UtilizationTest for Own {
    fn demand(&self, device: &Device, task: &Task, chips: u32) -> TaskDemand {
        let [r, read, w, write] = numbers(task);
        let stream = |pages: u64, period: u64, salt: u64| StreamDemand {
            pages,
            service: ns(pages * pages / u64::from(chips) + mixed(self.0, &[pages, chips.into(), salt]) % 9),
            delay: ns(mixed(self.0, &[salt, chips.into()]) % 4 * pages),
            period: ns(period),
        };
        let gc = GcDemand {
            cost: ns(device.gc_pass().as_ns() % 50),
            period: Fraction::new(u128::from(mixed(self.0, &[w, chips.into()]) % 900 + 30), 1 + u128::from(w % 3)),
        };
        TaskDemand {
            read: task.read.map(|_| stream(r, read, 1)),
            write: task.write.map(|_| stream(w, write, 2)),
            gc: task.write.filter(|_| self.0.is_multiple_of(2)).map(|_| gc),
        }
    }
}

/// Yes and no as the rng fall: neither more tasks nor more chips mean anything, and loads have
/// nothing to do with verdicts. The larger `.1`, the more often no.
#[derive(Debug)]
struct Rng(u64, u64);

impl Analysis for Rng {
    fn name(&self) -> &'static str {
        "own-rng"
    }

    fn summary(&self) -> &'static str {
        "yes or no"
    }

    fn test(&self) -> Test<'_> {
        Test::Cluster(self)
    }
}

impl ClusterTest for Rng {
    fn verdict(&self, _: &Device, tasks: &[&Task], chips: u32) -> ClusterVerdict {
        assert!(!tasks.is_empty(), "clusters without tasks are not asked for");
        let state = tasks.iter().fold(self.0, |state, task| mixed(state, &numbers(task)));
        let number = mixed(state, &[chips.into()]);
        // Few different loads, so that ties are common.
        ClusterVerdict::new(number % 8 >= self.1, Fraction::new((number / 8 % 6).into(), 3))
    }

    fn server_share(&self, _: &Device, _: &[&Task], chips: u32) -> Option<Rational> {
        (chips > 1).then(|| Fraction::new(u128::from(chips), 3).into())
    }
}

/// The verdict of an analysis on a cluster, worked out here from its parts.
fn says(set: &TaskSet, analysis: &dyn Analysis, tasks: &[TaskId], chips: u32) -> (bool, Rational) {
    let mut tasks = tasks.to_vec();
    tasks.sort_unstable();
    let members: Vec<&Task> = tasks.iter().map(|&task| &set.tasks()[task]).collect();
    let device = set.device();
    let quotient = |time: u128, (times, over): (u128, u128)| Rational::product([time, over], [times]);
    let mut terms: Vec<Rational> = Vec::new();
    let mut blocking: Option<Rational> = None;
    let mut period = |of: (u128, u128)| {
        let share = quotient(device.block_erase().as_ns().into(), of);
        blocking = blocking.clone().into_iter().chain([share]).max();
    };
    for task in &members {
        let [r, read, w, write] = numbers(task).map(u128::from);
        match analysis.test() {
            Test::Linear(test) => {
                let (costs, delay) = (test.page_costs(device), u128::from(test.transfer_delay(device, chips).as_ns()));
                for (pages, each, cost) in [(r, read, costs.read), (w, write, costs.write)] {
                    if pages > 0 {
                        terms.push(quotient(pages * (u128::from(cost.as_ns()) + delay), (each, 1)));
                        period((each, 1));
                    }
                }
                if w > 0 {
                    let reclaimed = u128::from(device.reclaimed_per_chip()) * u128::from(chips);
                    let of = if w > reclaimed { (write, w.div_ceil(reclaimed)) } else { (write * (reclaimed / w), 1) };
                    terms.push(quotient(device.gc_pass().as_ns().into(), of));
                    period(of);
                }
            }
            Test::Utilization(test) => {
                let demand = test.demand(device, task, chips);
                for stream in [demand.read, demand.write].into_iter().flatten() {
                    let of = (u128::from(stream.period.as_ns()), 1);
                    terms.push(quotient(u128::from(stream.service.as_ns() + stream.delay.as_ns()), of));
                    period(of);
                }
                if let Some(gc) = demand.gc {
                    let of = (gc.period.numerator(), gc.period.denominator());
                    terms.push(quotient(gc.cost.as_ns().into(), of));
                    period(of);
                }
            }
            Test::Cluster(test) => {
                let verdict = test.verdict(device, &members, chips);
                return (verdict.passes, verdict.load);
            }
            Test::Demand { .. } => unreachable!("none of these analyses"),
        }
    }
    let load = Rational::sum(&terms.into_iter().chain(blocking).collect::<Vec<_>>());
    (load.cmp_one().is_le(), load)
}

/// U_i(1) without blocking, or the load alone.
fn alone(set: &TaskSet, analysis: &dyn Analysis, task: TaskId, chips: u32) -> Rational {
    match analysis.demand(set.device(), &set.tasks()[task], chips) {
        Some(demand) => Rational::sum(&demand.utilizations().collect::<Vec<_>>()),
        None => says(set, analysis, &[task], chips).1,
    }
}

fn order(set: &TaskSet, analysis: &dyn Analysis) -> Vec<TaskId> {
    let mut order: Vec<TaskId> = set.tasks().ids().collect();
    order.sort_by(|&a, &b| alone(set, analysis, b, 1).cmp(&alone(set, analysis, a, 1)).then(a.cmp(&b)));
    order
}

/// Algorithm 1 as printed, and full isolation: `None` where a task fits nowhere or a cluster fails
/// in the end.
fn plainly(set: &TaskSet, analysis: &dyn Analysis, merging: bool) -> Option<Vec<Cluster>> {
    let says = |tasks: &[TaskId], chips: u32| says(set, analysis, tasks, chips);
    let mut clusters: Vec<Cluster> = (0..set.device().chips()).map(|chip| Cluster::of([chip], [])).collect();
    for task in order(set, analysis) {
        loop {
            let mut best: Option<(usize, Rational)> = None;
            for (position, cluster) in clusters.iter().enumerate() {
                let (passes, load) = says(&[cluster.tasks.as_slice(), &[task]].concat(), cluster.size());
                if passes && best.as_ref().is_none_or(|(_, most)| load > *most) {
                    best = Some((position, load));
                }
            }
            if let Some((position, _)) = best {
                clusters[position].tasks.push(task);
                break;
            }
            if !merging || clusters.len() == 1 {
                return None;
            }
            let mut lowest: Option<(usize, usize, Option<Rational>)> = None;
            for lower in 0..clusters.len() {
                for upper in lower + 1..clusters.len() {
                    let tasks = [clusters[lower].tasks.as_slice(), &clusters[upper].tasks].concat();
                    let size = clusters[lower].size() + clusters[upper].size();
                    // Clusters without tasks first.
                    let load = (!tasks.is_empty()).then(|| says(&tasks, size).1);
                    if lowest.as_ref().is_none_or(|(_, _, least)| load < *least) {
                        lowest = Some((lower, upper, load));
                    }
                }
            }
            let (lower, upper, _) = lowest.expect("two clusters");
            let away = clusters.remove(upper);
            clusters[lower].chips.extend(away.chips);
            clusters[lower].tasks.extend(away.tasks);
        }
    }
    let sound = clusters.iter().all(|cluster| cluster.tasks.is_empty() || says(&cluster.tasks, cluster.size()).0);
    clusters.iter_mut().for_each(|cluster| cluster.tasks.sort_unstable());
    clusters.iter_mut().for_each(|cluster| cluster.chips.sort_unstable());
    sound.then_some(clusters)
}

/// Whether the tasks of `left` can be divided among so many chips, by trying everything.
fn divisible(set: &TaskSet, analysis: &dyn Analysis, left: u32, chips: u32) -> bool {
    let Some(highest) = left.checked_ilog2() else { return true };
    let others = left & !(1 << highest);
    let mut part = others;
    loop {
        let block = part | 1 << highest;
        let tasks: Vec<TaskId> = TaskId::first(32).filter(|task| block >> task.0 & 1 == 1).collect();
        for size in 1..=chips {
            if says(set, analysis, &tasks, size).0 && divisible(set, analysis, left & !block, chips - size) {
                return true;
            }
        }
        if part == 0 {
            return false;
        }
        part = (part - 1) & others;
    }
}

fn sets() -> impl Strategy<Value = TaskSet> {
    let times = (1u64..5, 1u64..8, 1u64..30, 1u64..5);
    let device = (1u32..=5, 1u32..4, 2u32..20, 1u32..100, times).prop_filter_map(
        "a GC pass frees something",
        |(chips, ways, pages, ratio, times)| {
            Device::new(DeviceSpec {
                chips,
                chips_per_channel: ways,
                pages_per_block: pages,
                logical_ratio: LogicalRatio::from_decimal(ratio.into(), 2).ok()?,
                page_read: ns(times.0),
                page_program: ns(times.1),
                block_erase: ns(times.2),
                page_transfer: ns(times.3),
                ..Device::profile("dgist-2021")?.spec()
            })
            .ok()
        },
    );
    let request = || {
        let period = prop::sample::select(vec![60u64, 120, 240, 360, 720, 5040]);
        prop::option::weighted(
            0.75,
            (1u64..20, period).prop_map(|(pages, period)| Request::new(pages, ns(period)).unwrap()),
        )
    };
    (device, prop::collection::vec((request(), request()), 0..=5)).prop_map(|(device, requests)| {
        let some = requests.into_iter().filter(|(read, write)| read.is_some() || write.is_some());
        let task = |(index, (read, write))| Task { name: format!("t{index}"), read, write, data_pages: None };
        TaskSet::new(device, some.enumerate().map(task).collect(), vec![]).expect("a task set")
    })
}

#[derive(Debug)]
enum Any {
    Linear(Linear),
    Own(Own),
    Rng(Rng),
}

impl Any {
    fn analysis(&self) -> &dyn Analysis {
        match self {
            Any::Linear(of) => of,
            Any::Own(of) => of,
            Any::Rng(of) => of,
        }
    }
}

fn analyses() -> impl Strategy<Value = Any> {
    prop_oneof![
        any::<u64>().prop_map(|seed| Any::Linear(Linear(seed))),
        any::<u64>().prop_map(|seed| Any::Own(Own(seed))),
        (any::<u64>(), 1u64..8).prop_map(|(seed, no)| Any::Rng(Rng(seed, no))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn what_an_analysis_says_is_what_allocators_go_by(set in sets(), analysis in analyses()) {
        let analysis = analysis.analysis();
        let (chips, count) = (set.device().chips(), set.tasks().len());
        let found = |allocator: &dyn Allocator| match allocator.allocate(&set, analysis) {
            Outcome::Schedulable(allocation) => Some(allocation.clusters()),
            _ => None,
        };
        // As if written down plainly.
        prop_assert_eq!(found(&ClusteringBfd), plainly(&set, analysis, true));
        prop_assert_eq!(found(&FullIsolation), plainly(&set, analysis, false));
        let possible = divisible(&set, analysis, (1 << count) - 1, chips);
        prop_assert_eq!(Exact.allocate(&set, analysis).is_schedulable(), Some(possible));
        for fixed in [&Global as &dyn Allocator, &EqualSplit] {
            let outcome = fixed.allocate(&set, analysis);
            let clusters = outcome.allocation().expect("a division").clusters();
            let passes = |cluster: &Cluster| cluster.tasks.is_empty() || says(&set, analysis, &cluster.tasks, cluster.size()).0;
            prop_assert_eq!(outcome.is_schedulable(), Some(clusters.iter().all(passes)));
        }
        // An accepted allocation has passed, cluster by cluster, and the reports say so.
        for allocator in ALLOCATORS {
            let Outcome::Schedulable(allocation) = allocator.allocate(&set, analysis) else { continue };
            prop_assert!(possible, "{}", allocator.name());
            let reports = verdict::report(&set, analysis, &allocation);
            prop_assert!(verdict::passing(&set, analysis, &allocation).into_iter().all(|passes| passes));
            for (cluster, report) in allocation.clusters().iter().zip(reports) {
                let (passes, load) = match cluster.tasks.as_slice() {
                    [] => (true, Fraction::new(0, 1).into()),
                    tasks => says(&set, analysis, tasks, cluster.size()),
                };
                prop_assert!(passes, "{}: {cluster:?}", allocator.name());
                prop_assert!((report.utilization - load.to_f64()).abs() < 1e-9, "{}: {report:?}", allocator.name());
            }
        }
    }

    #[test]
    fn what_an_analysis_says_is_what_is_reported(set in sets(), analysis in analyses(), tasks in any::<u8>(), chips in 1u32..6) {
        let analysis = analysis.analysis();
        let tasks: Vec<TaskId> = set.tasks().ids().filter(|task| tasks >> task.0 & 1 == 1).collect();
        if let [first, ..] = tasks[..] {
            let (passes, load) = says(&set, analysis, &tasks, chips);
            prop_assert_eq!(test_cluster(&set, analysis, &tasks, chips), passes);
            let left = match analysis.test() {
                Test::Cluster(_) => (chips > 1).then(|| Fraction::new(chips.into(), 3).into()).filter(|share: &Rational| share.cmp_one().is_le()),
                _ => load.complement(),
            };
            prop_assert_eq!(server_share(&set, analysis, &tasks, chips), left);
            let device = set.device();
            let whole = match analysis.test() {
                Test::Cluster(_) => [device.chips(), 1].iter().any(|&chips| says(&set, analysis, &[first], chips).0),
                _ => alone(&set, analysis, first, device.chips()).cmp_one().is_le(),
            };
            prop_assert_eq!(fits_alone(analysis, device, &set.tasks()[first]), whole);
        }
    }
}

/// A division that is none is not taken for an answer.
#[test]
fn a_division_must_be_one() {
    let device = Device::profile("dgist-2021").expect("the profile");
    let task = Task { name: "t".into(), read: Request::new(1, ns(1_000_000_000)), write: None, data_pages: None };
    let set = TaskSet::new(device, vec![task], vec![]).expect("a task set");
    let analysis = Rng(1, 0);
    let outcome = |clusters: &[Cluster]| tested(&set, &analysis, clusters, &Work::new());
    assert_eq!(outcome(&[Cluster::of([0], [0])]).is_schedulable(), Some(true));
    let missing = outcome(&[Cluster::of([0], [])]);
    assert!(matches!(missing, Outcome::CannotTell(_)), "{missing:?}");
    assert_eq!(missing.is_schedulable(), None);
    // Clusters in which a task finds no room are part of a division, or they are nothing.
    let left = |clusters: &[Cluster], task: u32| unplaceable(&set, &Thesis, clusters, TaskId(task), &Work::new());
    assert_eq!(left(&[Cluster::of([0, 1], []), Cluster::of([2], [])], 0).is_schedulable(), Some(false));
    for (clusters, task, error) in [
        (vec![Cluster::of([0, 1], []), Cluster::of([1], [])], 0, AllocationError::ChipTwice(ChipId(1))),
        (vec![Cluster::of([0], []), Cluster::of([], [])], 0, AllocationError::EmptyCluster(1)),
        (vec![Cluster::of([0, 1_000], [])], 0, AllocationError::NoSuchChip(ChipId(1_000))),
        (vec![Cluster::of([0], [3])], 0, AllocationError::NoSuchTask(TaskId(3))),
        (vec![Cluster::of([0], [])], 1, AllocationError::NoSuchTask(TaskId(1))),
    ] {
        assert_eq!(left(&clusters, task), Outcome::CannotTell(Limit::NoDivision(error)), "{clusters:?}");
    }
}

/// One chip for each of a, b, c and d; e goes with c and d on two chips alone, after a and b have
/// been merged, who fail there.
struct LeftOverloaded;

impl Analysis for LeftOverloaded {
    fn name(&self) -> &'static str {
        "left-overloaded"
    }

    fn summary(&self) -> &'static str {
        "a merge that leaves a cluster overloaded"
    }

    fn test(&self) -> Test<'_> {
        Test::Cluster(self)
    }
}

impl ClusterTest for LeftOverloaded {
    fn verdict(&self, _: &Device, tasks: &[&Task], chips: u32) -> ClusterVerdict {
        let names: String = tasks.iter().map(|task| task.name.as_str()).collect();
        let (passes, halves) = match (names.as_str(), chips) {
            ("a" | "b" | "c" | "d", 1) | ("cde", 2) => (true, 2),
            ("e", 1) | ("ab", 2) => (false, 0),
            ("cd", 2) => (false, 1),
            _ => (false, 2),
        };
        ClusterVerdict::new(passes, Fraction::new(halves, 2))
    }
}

#[test]
fn clusters_that_a_merge_left_overloaded_are_found() {
    let profile = Device::profile("dgist-2021").expect("the profile").spec();
    let device = Device::new(DeviceSpec { chips: 4, ..profile }).expect("a device");
    let task = |name: &str| Task {
        name: name.into(),
        read: Request::new(1, ns(1_000_000_000)),
        write: None,
        data_pages: None,
    };
    let set = TaskSet::new(device, ["a", "b", "c", "d", "e"].map(task).to_vec(), vec![]).expect("a task set");
    let outcome = ClusteringBfd.allocate(&set, &LeftOverloaded);
    assert!(matches!(&outcome, Outcome::NotSchedulable(failure) if failure.by_merge), "{outcome:?}");
}
