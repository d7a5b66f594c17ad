//! The field's own schemes: the figures of their papers, and every verdict against rational
//! arithmetic that is written apart.

use rtflash_alloc::allocator::{Allocator, Global, Limit, Outcome, allocator};
use rtflash_analysis::{
    Analysis, BASELINES, Baseline, BaselineTerm, Chang, ClusterVerdict, FIFO_DRIVE, Fraction, Gftl, LazyRtgc, Rftl,
    Thesis, Work, baseline, cluster_verdict, report_cluster, test_cluster,
};
use rtflash_model::random::Stream;
use rtflash_model::{
    Allocation, Cluster, Device, DeviceSpec, LogicalRatio, Request, Span, Task, TaskId, TaskSet, format_ns,
};
use rtflash_testkit::{cases, ns};
use rtflash_verify::{BaselineScheme, verify_baseline};

#[test]
fn the_drive_without_deadlines_has_two_names() {
    assert_eq!(baseline(FIFO_DRIVE).expect("a scheme").name(), "stock");
}

/// One chip with these times in tenths of a microsecond, π, and a λ of so many hundredths.
fn chip(times: [u64; 3], pages: u32, hundredths: u128) -> Device {
    let [page_read, page_program, block_erase] = times.map(|time| ns(time * 100));
    Device::new(DeviceSpec {
        chips: 1,
        chips_per_channel: 1,
        blocks_per_chip: 1000,
        pages_per_block: pages,
        page_size: 4096,
        logical_ratio: LogicalRatio::from_decimal(hundredths, 2).expect("a ratio"),
        page_read,
        page_program,
        block_erase,
        page_transfer: ns(1),
        ..DeviceSpec::default()
    })
    .expect("a device")
}

/// The five chips of Table II of the paper on Lazy-RTGC.
const TABLE_II: [([u64; 3], u32); 5] = [
    ([250, 2_000, 20_000], 64),
    ([250, 3_000, 30_000], 64),
    ([600, 8_000, 15_000], 128),
    ([500, 16_000, 55_000], 256),
    ([2_500, 27_000, 40_000], 192),
];

/// The chip of its Table IV.
const TABLE_IV: ([u64; 3], u32) = ([290, 2_209, 20_000], 64);

/// The usable share of a chip in thousandths of a per cent, rounded down, where λ allows 99 %.
fn usable(scheme: &dyn Baseline, (times, pages): ([u64; 3], u32)) -> u128 {
    let device = chip(times, pages, 98);
    scheme.usable_pages(&device, 1) * 100_000 / (1000 * u128::from(pages))
}

#[test]
fn usable_space_of_table_iii() {
    // GFTL prints 92.9, 92.9, 68.8, 84.2 and 59.6 %: the first two are cut, the others rounded.
    assert_eq!(TABLE_II.map(|of| usable(&Gftl, of)), [92_968, 92_968, 68_750, 84_179, 59_635]);
    // And "about 92.18 %" for the chip of Table IV.
    assert_eq!(usable(&Gftl, TABLE_IV), 92_187);
    // RFTL prints 33.3 % of each: 333 of 1,000 blocks.
    assert_eq!(TABLE_II.map(|of| usable(&Rftl, of)), [33_300; 5]);
}

#[test]
fn usable_space_of_table_ii() {
    // Lazy-RTGC prints U(σ) = (π − 1)a/((a + 1)π): 0.875, 0.886, 0.496, 0.747, 0.497.
    let printed = TABLE_II.map(|(times, pages)| {
        let copies = LazyRtgc.copies(&chip(times, pages, 50));
        (1000 * (u128::from(pages) - 1) * copies + (copies + 1) * u128::from(pages) / 2)
            / ((copies + 1) * u128::from(pages))
    });
    assert_eq!(printed, [875, 886, 496, 747, 497]);
    // A victim has a whole number of valid pages, ⌈σπ⌉. At the printed σ that is one too many on
    // four of the five: more steps than reclaimed pages.
    let steps = TABLE_II.map(|(times, pages)| {
        let device = chip(times, pages, 50);
        let (copies, pages) = (LazyRtgc.copies(&device), u128::from(pages));
        let victim = ((pages - 1) * copies).div_ceil(copies + 1);
        let surplus = |victim: u128| (victim.div_ceil(copies) + 1, pages - victim);
        let most = LazyRtgc.victim_pages(&device);
        let (steps, reclaimed) = surplus(most);
        assert!(steps <= reclaimed, "{most} valid pages");
        let (steps, reclaimed) = surplus(most + 1);
        assert!(steps > reclaimed, "{most} valid pages are not the most");
        surplus(victim)
    });
    assert_eq!(steps, [(8, 8), (8, 7), (65, 64), (65, 64), (97, 96)]);
    assert_eq!(TABLE_II.map(|of| usable(&LazyRtgc, of)), [87_500, 87_500, 49_218, 74_609, 49_479]);
}

#[test]
fn worst_responses_of_the_evaluation() {
    let (times, pages) = TABLE_IV;
    let device = chip(times, pages, 50);
    let worst: Vec<u128> = BASELINES.iter().map(|scheme| scheme.worst_response(&device)).collect();
    // Printed: GFTL 3,885 µs, Lazy-RTGC 2,220.9 µs, which is 42.83 % less; RFTL a spare area more.
    assert_eq!(worst[1..4], [3_885_000, 2_249_900, 2_220_900]);
    assert_eq!((worst[1] - worst[3]) * 10_000 / worst[1], 4_283);
    // Chang, at ⌈0.75 · 64⌉ = 48 valid pages: 48 copies of 249.9 µs, an erase and the write.
    assert_eq!(Chang.worst_response(&chip(times, pages, 75)), 48 * 249_900 + 2_000_000 + 220_900);
}

/// Figure 1 of the paper on Lazy-RTGC: 12 valid pages of 16 take 4,988 µs, and the write behind
/// them answers after 5,208; with 2 it is 2,498 and 2,718.
#[test]
fn the_pass_of_figure_1() {
    for (valid, hundredths, answers) in [(12, 75, 5_208), (2, 12, 2_718)] {
        let device = chip([290, 2_200, 20_000], 16, hundredths);
        assert_eq!((device.valid_pages_bound(), Chang.worst_response(&device)), (valid, answers * 1000));
    }
}

fn writer(pages: u64, period_us: u32) -> Task {
    Task { name: "w".into(), read: None, write: Request::new(pages, Span::from_us(period_us)), data_pages: None }
}

/// A set of one device.
fn set(device: Device, tasks: Vec<Task>) -> TaskSet {
    let named = tasks.into_iter().enumerate().map(|(at, task)| Task { name: format!("t{at}"), ..task });
    TaskSet::new(device, named.collect(), vec![]).expect("a task set")
}

fn terms(scheme: &dyn Baseline, device: &Device, task: &Task) -> Vec<(&'static str, u128, u128, Fraction)> {
    let term = |of: BaselineTerm| (of.what, of.times, of.cost, of.period);
    scheme.terms(device, &[task], 1).into_iter().map(term).collect()
}

#[test]
fn changs_collectors_by_hand() {
    // α = 16 − 12 = 4; a pass is 12 · 249 + 2000 µs.
    let device = chip([290, 2_200, 20_000], 16, 75);
    let ms = |ms: u128, over: u128| Fraction::new(ms * 1_000_000, over);
    let of = |pages| terms(&Chang, &device, &writer(pages, 30_000));
    let pass = 4_988_000;
    // 9 pages a period are three passes of 4 pages; blocking goes by the collector's period.
    let three = ms(30, 3);
    assert_eq!(of(9), [("write", 9, 220_000, ms(30, 1)), ("gc", 1, pass, three), ("blocking", 1, 2_000_000, three)]);
    // 2 pages a period are one pass every two.
    assert_eq!(of(2)[1], ("gc", 1, pass, ms(60, 1)));
    assert_eq!(of(2)[2], ("blocking", 1, 2_000_000, ms(30, 1)));
    // Free are 16,000 − 12,000 pages. A writer of 9 pages holds 9 + 12 of them, and one of 2 pages
    // twice 2 and 12: all that it writes until the collector's deadline.
    let reserve = |pages| Chang.rooms(&device, &[&writer(pages, 30_000)], 1)[1];
    assert_eq!((reserve(9).needed, reserve(2).needed, reserve(3).needed, reserve(9).there), (21, 16, 15, 4_000));
}

#[test]
fn reserves_have_to_fit() {
    // 24 of 96 pages are free. ρ = 12 + 12 fits, 13 + 12 does not.
    let spec = DeviceSpec { blocks_per_chip: 6, ..chip([290, 2_200, 20_000], 16, 75).spec() };
    let of = |pages| {
        let set = set(Device::new(spec).expect("a device"), vec![writer(pages, 10_000_000)]);
        test_cluster(&set, &Chang, &[TaskId(0)], 1)
    };
    assert!(of(12) && !of(13));
}

/// With one chip a channel and a cluster, Theorem 1 is Chang's test without the reserves.
#[test]
fn theorem_1_is_changs_test_on_a_chip() {
    let (mut rng, mut yes, mut apart) = (Stream::new([31; 32]), 0, 0);
    for _ in 0..4_000 {
        let Some(drawn) = draw(&mut rng) else { continue };
        let spec = DeviceSpec { chips: 1, chips_per_channel: 1, ..drawn.device().spec() };
        let set = set(
            Device::new(spec).expect("a device"),
            drawn.tasks().iter().map(|task| Task { data_pages: None, ..task.clone() }).collect(),
        );
        let tasks: Vec<TaskId> = set.tasks().ids().collect();
        if tasks.is_empty() || drawn.device().page_read_includes_transfer().is_some() {
            continue;
        }
        let members: Vec<&Task> = set.tasks().iter().collect();
        let theorem = test_cluster(&set, &Thesis, &tasks, 1);
        let fits = Chang.rooms(set.device(), &members, 1).iter().all(|room| room.fits());
        assert_eq!(test_cluster(&set, &Chang, &tasks, 1), theorem && fits);
        yes += u32::from(theorem && fits);
        apart += u32::from(theorem && !fits);
    }
    assert!(yes > 100 && apart > 10, "{yes} {apart}");
}

/// Small numbers, so that sums of exactly one and rooms of exactly enough are frequent.
fn draw(rng: &mut Stream) -> Option<TaskSet> {
    let mut number = |low: u64, high: u64| rng.within(low, high);
    let few = |number: u64| u32::try_from(number).expect("few");
    let device = Device::new(DeviceSpec {
        chips: few(number(1, 4)),
        chips_per_channel: few(number(1, 4)),
        blocks_per_chip: few(number(1, 40)),
        pages_per_block: few(number(2, 20)),
        page_size: 4096,
        logical_ratio: LogicalRatio::from_decimal(number(1, 99).into(), 2).ok()?,
        page_read: ns(number(1, 3)),
        page_program: ns(number(1, 5)),
        block_erase: ns(number(1, 40)),
        page_transfer: ns(1),
        ..DeviceSpec::default()
    })
    .ok()?;
    let logical = u64::try_from(device.logical_pages()).ok()?.min(60);
    let periods = [60, 120, 240, 360, 720, 5040];
    let tasks = (0..number(1, 4)).map(|_| {
        let mut request = || {
            let period = if number(0, 1) == 0 {
                periods[usize::try_from(number(0, 5)).expect("few")]
            } else {
                number(40, 4_000)
            };
            Request::new(number(1, 12), ns(period)).filter(|_| number(0, 3) > 0)
        };
        let (read, write) = (request(), request());
        let data_pages = Some(number(1, logical.max(1))).filter(|_| logical > 0 && number(0, 2) == 0);
        Task { name: String::new(), read, write, data_pages }
    });
    let tasks: Vec<Task> = tasks.filter(|task| task.read.is_some() || task.write.is_some()).collect();
    Some(set(device, tasks))
}

/// Every verdict is the one of the verifier, which has the definitions in rationals: 20,000 sets
/// under five schemes, in one cluster and in two.
#[test]
fn verdicts_are_those_of_the_definitions() {
    let (mut rng, mut counts, mut limits) = (Stream::new([7; 32]), [[0u32; 2]; 5], 0u32);
    let mut late = 0u32;
    for _ in 0..cases(8_000_u32) {
        let Some(set) = draw(&mut rng) else { continue };
        let (chips, all) = (set.device().chips(), set.tasks().count());
        let cut = u32::try_from(rng.within(1, chips.into())).expect("few");
        let first = u32::try_from(rng.within(0, all.into())).expect("few");
        let clusters = if cut == chips {
            vec![Cluster::of(0..chips, 0..all)]
        } else {
            vec![Cluster::of(0..cut, 0..first), Cluster::of(cut..chips, first..all)]
        };
        let allocation = Allocation::new(chips, set.tasks().len(), &clusters).expect("an allocation");
        for (baseline, count) in BASELINES.iter().zip(&mut counts) {
            let scheme = BaselineScheme::from_name(baseline.name()).expect("the verifier knows all");
            let judged = verify_baseline(&set, &allocation, scheme);
            for (cluster, judged) in allocation.clusters().iter().zip(&judged.clusters) {
                let is = |analysis: &dyn Analysis| {
                    cluster_verdict(&set, analysis, &cluster.tasks, cluster.size(), &Work::new())
                };
                let ClusterVerdict { passes, load } = is(*baseline);
                assert_eq!(passes, judged.in_time, "{}: {set:?} {cluster:?}", baseline.name());
                let full = judged.utilization <= 1.0 && !passes;
                let agrees = (load.to_f64() - judged.utilization).abs() <= 1e-9 * judged.utilization.max(1.0);
                assert!(agrees || full, "{}: {} {}", baseline.name(), load.to_f64(), judged.utilization);
                count[usize::from(passes)] += 1;
                limits += u32::from(judged.utilization == 1.0);
                // Both find one response, in time or not.
                let tasks: Vec<&Task> = cluster.tasks.iter().map(|&task| &set.tasks()[task]).collect();
                let rooms = baseline.rooms(set.device(), &tasks, cluster.size());
                for room in rooms.iter().filter(|room| room.what == "response of writes" && !room.fits()) {
                    let Some(obstacle) = &judged.obstacle else { panic!("no obstacle: {room:?} {set:?}") };
                    if obstacle.starts_with("a write takes") {
                        let response = format_ns(u64::try_from(room.needed).expect("below 584 years"));
                        assert!(obstacle.contains(&response), "{obstacle}: {room:?} {set:?}");
                        late += 1;
                    }
                }
            }
        }
    }
    assert!(counts.iter().flatten().all(|&count| count > 400) && limits > 8, "{counts:?} {limits}");
    assert!(late > 40, "{late}");
}

/// The verifier accepts each allocation that an algorithm accepts; it rejects each that `global`
/// rejects. Reports have what the terms come to: all of them together, blocking by the shortest
/// period.
#[test]
fn reports_have_the_terms() {
    let mut rng = Stream::new([29; 32]);
    let (mut blocked, mut collected) = (0, 0);
    for _ in 0..2_000 {
        let Some(set) = draw(&mut rng) else { continue };
        let tasks: Vec<TaskId> = set.tasks().ids().collect();
        let chips = set.device().chips();
        for scheme in BASELINES {
            let all: Vec<&Task> = set.tasks().iter().collect();
            let terms = scheme.terms(set.device(), &all, chips);
            let total: f64 = terms.iter().map(|term| term.share().to_f64()).sum();
            let report = report_cluster(&set, scheme, &tasks, chips);
            let sum = report.read + report.write + report.gc + report.blocking;
            assert!((sum - total).abs() <= 1e-9 * total, "{}: {report:?} {terms:?}", scheme.name());
            let blocking = terms.iter().find(|term| term.what == "blocking");
            assert_eq!(report.blocking > 0.0, blocking.is_some(), "{}", scheme.name());
            assert_eq!(report.min_period, terms.iter().map(|term| term.period).min());
            assert!(blocking.is_none_or(|term| Some(term.period) == report.min_period));
            let collectors = terms.iter().filter(|term| scheme.name() == "chang" && term.what == "gc");
            let collectors: Vec<_> = collectors.map(|term| (term.task, term.cost, term.period)).collect();
            let told = report.gc_tasks.iter();
            let told: Vec<_> = told.map(|gc| (Some(gc.task.index()), gc.cost.as_ns().into(), gc.period)).collect();
            assert!(scheme.name() != "chang" || told == collectors, "{report:?}");
            blocked += u32::from(blocking.is_some());
            collected += told.len();
        }
    }
    assert!(blocked > 1_000 && collected > 500, "{blocked} {collected}");
}

#[test]
fn allocations_are_those_of_the_definitions() {
    let (mut rng, mut accepted) = (Stream::new([19; 32]), [0u32; 5]);
    let named = |name| allocator(name).expect("an algorithm");
    for _ in 0..1_500 {
        let Some(set) = draw(&mut rng) else { continue };
        for (baseline, accepted) in BASELINES.iter().zip(&mut accepted) {
            let scheme = BaselineScheme::from_name(baseline.name()).expect("the verifier knows all");
            for algorithm in ["clustering-bfd", "best-fit", "exact"].map(named) {
                let Outcome::Schedulable(allocation) = algorithm.allocate(&set, *baseline) else { continue };
                assert!(verify_baseline(&set, &allocation, scheme).schedulable(), "{}", algorithm.name());
                *accepted += 1;
            }
            let outcome = Global.allocate(&set, *baseline);
            if let Some(allocation) = outcome.allocation() {
                let judged = verify_baseline(&set, allocation, scheme).schedulable();
                assert_eq!(outcome.is_schedulable(), Some(judged), "{set:?}");
            }
        }
    }
    assert!(accepted.iter().all(|&count| count > 200), "{accepted:?}");
}

#[test]
fn a_step_without_time_for_a_copy_leaves_no_scheme() {
    // t_er < t_rd + t_wr.
    let set = set(chip([600, 8_000, 5_000], 128, 30), vec![writer(1, 1_000_000)]);
    let outcome = Global.allocate(&set, &LazyRtgc);
    assert!(matches!(&outcome, Outcome::CannotTell(Limit::Untestable(_))), "{outcome:?}");
    assert!(!test_cluster(&set, &LazyRtgc, &[TaskId(0)], 1));
    assert_eq!(Global.allocate(&set, &Rftl).is_schedulable(), Some(true));
}

/// The largest times and counts that a device and a task may have.
#[test]
fn nothing_overflows() {
    let most = u64::MAX >> 2;
    let spec = DeviceSpec {
        blocks_per_chip: u32::MAX,
        pages_per_block: u32::MAX,
        page_read: ns(1),
        page_program: ns(1),
        block_erase: ns(most),
        ..chip([10, 10, 10], 64, 50).spec()
    };
    let slow = DeviceSpec { page_read: ns(most >> 33), page_program: ns(most >> 33), block_erase: ns(1), ..spec };
    for spec in [spec, slow] {
        let device = Device::new(spec).expect("a device");
        let request = Request::new(1 << 20, ns(most));
        let set =
            set(device, vec![Task { name: "t".into(), read: request, write: request, data_pages: Some(1 << 60) }]);
        let all = Allocation::new(1, 1, &[Cluster::of(0..1, 0..1)]).expect("an allocation");
        for baseline in BASELINES {
            let scheme = BaselineScheme::from_name(baseline.name()).expect("the verifier knows all");
            let judged = verify_baseline(&set, &all, scheme).clusters[0].in_time;
            assert_eq!(test_cluster(&set, baseline, &[TaskId(0)], 1), judged, "{}", baseline.name());
        }
    }
}
