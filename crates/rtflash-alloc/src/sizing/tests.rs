use rtflash_analysis::{Analysis, Sound, Thesis};
use rtflash_model::{
    Access, Arrivals, ChipId, Device, DeviceSpec, Instant, Job, LogicalRatio, Request, Span, Task, TaskId, TaskSet,
};

use super::{Limits, MOST_LOAD, SizingLimit, size};
use crate::allocator::{Allocator, ClusteringBfd, Exact, FullIsolation, Global, PartFtlTest};

fn request(pages: u64, us: u32) -> Option<Request> {
    Request::new(pages, Span::from_us(us))
}

fn task(name: &str, read: Option<Request>, write: Option<Request>) -> Task {
    Task { name: name.into(), read, write, data_pages: None }
}

fn on(chips: u32, tasks: Vec<Task>, jobs: Vec<Job>) -> TaskSet {
    let spec = Device::profile("dgist-2021").unwrap().spec();
    let device = Device::new(DeviceSpec { chips, chips_per_channel: 2, erase_cycles: Some(3_000), ..spec }).unwrap();
    TaskSet::new(device, tasks, jobs).unwrap()
}

/// The thesis's case study (tasksets/case-study.json).
fn case_study(chips: u32) -> TaskSet {
    let other = |name| task(name, request(80, 36_000), request(12, 130_000));
    let first = task("t1", request(40, 36_000), request(24, 30_000));
    let job = |name: &str, arrivals| Job { name: name.into(), read_pages: 0, write_pages: 128, arrivals };
    let jobs = vec![
        job("j1", Arrivals::Uniform(Span::from_us(5_000), Span::from_us(20_000))),
        job("j2", Arrivals::At(vec![Instant::START])),
    ];
    on(chips, vec![first, other("t2"), other("t3"), other("t4")], jobs)
}

/// The reported value passes, and the next step does not, by changes made here and not by the
/// search.
fn check(set: &TaskSet, allocator: &dyn Allocator, analysis: &dyn Analysis, limits: &Limits) {
    let passes = |set: TaskSet| allocator.allocate(&set, analysis).is_schedulable() == Some(true);
    let device = |change: &dyn Fn(DeviceSpec) -> DeviceSpec| {
        Device::new(change(set.device().spec())).ok().and_then(|device| set.on(device).ok()).is_some_and(passes)
    };
    if let SizingLimit::At(fewest) = limits.chips {
        assert!(fewest.all_tried && device(&|spec| DeviceSpec { chips: fewest.chips, ..spec }));
        assert!((1..fewest.chips).all(|chips| !device(&|spec| DeviceSpec { chips, ..spec })));
    }
    if let SizingLimit::At(ratio) = limits.logical_ratio {
        let with = |logical_ratio| device(&|spec| DeviceSpec { logical_ratio, ..spec });
        let larger = (1..1_000).filter_map(|step| LogicalRatio::from_decimal(step, 3).ok());
        assert!(with(ratio.ratio) && ratio.steps == 1_000);
        assert!(larger.filter(|&larger| larger > ratio.ratio).all(|larger| !with(larger)));
    }
    let with_tasks = |change: &dyn Fn(TaskId, &mut Task)| {
        let mut tasks = set.tasks().clone();
        set.tasks().ids().for_each(|id| change(id, &mut tasks[id]));
        TaskSet::new(*set.device(), tasks.into_vec(), vec![]).is_ok_and(passes)
    };
    if let SizingLimit::At(permille) = limits.load_permille {
        let loaded = |permille: u32| {
            with_tasks(&|_, task| {
                let longer = |request: Request| {
                    let period = request.period().as_ns() * 1_000;
                    let period = Span::from_ns(period.div_ceil(permille.into())).unwrap();
                    Request::new(request.pages(), period).unwrap().with_access(request.access())
                };
                (task.read, task.write) = (task.read.map(longer), task.write.map(longer));
            })
        };
        assert!(loaded(permille) && (permille == MOST_LOAD || !loaded(permille + 1)), "{permille}");
    }
    for (position, limits) in set.tasks().ids().zip(&limits.tasks) {
        for (limits, writes) in [(limits.read, false), (limits.write, true)] {
            let Some(limits) = limits else { continue };
            let task = &set.tasks()[position];
            let now = if writes { task.write } else { task.read }.unwrap();
            let with = |pages: u64, period: u64| {
                with_tasks(&|at, task| {
                    let changed =
                        || Some(Request::new(pages, Span::from_ns(period).unwrap()).unwrap().with_access(now.access()));
                    match writes {
                        _ if at != position => {}
                        true => task.write = changed(),
                        false => task.read = changed(),
                    }
                })
            };
            if let SizingLimit::At(period) = limits.period {
                let (period, own) = (period.as_ns(), now.period().as_ns());
                assert!(with(now.pages(), period));
                // One part in a thousand less.
                assert!(!with(now.pages(), period.min(own) * 999 / 1_000) || period > own, "{period}");
                assert!(period <= own || !with(now.pages(), period * 999 / 1_000));
            }
            if let SizingLimit::At(more) = limits.more_pages {
                let pages = now.pages().checked_add_signed(more).unwrap();
                assert!(with(pages, now.period().as_ns()) && !with(pages + 1, now.period().as_ns()));
            }
        }
    }
}

#[test]
fn limits_pass_and_what_is_beyond_fails() {
    for analysis in [&Thesis as &dyn Analysis, &Sound::default()] {
        for allocator in [&ClusteringBfd as &dyn Allocator, &Global, &FullIsolation, &Exact] {
            for chips in [2, 4] {
                let set = case_study(chips);
                let sizing = size(&set, allocator, analysis);
                check(&set, allocator, analysis, &sizing.limits);
                let passes = sizing.outcome.is_schedulable() == Some(true);
                assert_eq!(sizing.limits.load_permille.value().is_some_and(|load| load >= 1_000), passes);
                assert!(!passes || sizing.limits.chips.value().is_some_and(|fewest| fewest.chips <= chips));
                let all = sizing.limits.tasks.iter().flat_map(|task| [task.read, task.write]).flatten();
                assert!(all.filter_map(|limits| limits.more_pages.value()).all(|more| passes == (more >= 0)));
            }
        }
    }
    // Sequential requests on data that ends: no more pages than the data has.
    let film = Task {
        data_pages: Some(30),
        ..task("film", None, request(24, 500_000).map(|write| write.with_access(Access::Sequential)))
    };
    let set = on(2, vec![film], vec![]);
    let sizing = size(&set, &ClusteringBfd, &Sound::default());
    check(&set, &ClusteringBfd, &Sound::default(), &sizing.limits);
    assert_eq!(sizing.limits.tasks[0].write.unwrap().more_pages, SizingLimit::At(6));
    // Nothing to divide: one chip is enough for no task.
    let sizing = size(&on(4, vec![], vec![]), &ClusteringBfd, &Sound::default());
    assert_eq!((sizing.limits.chips.value().unwrap().chips, sizing.limits.load_permille), (1, SizingLimit::Nothing));
    // No chips help.
    let hopeless = on(2, vec![task("h", request(1_000, 1), None)], vec![]);
    assert_eq!(size(&hopeless, &FullIsolation, &Thesis).limits.chips, SizingLimit::Nothing);
    assert_eq!(size(&hopeless, &FullIsolation, &Thesis).cost, None);
    // A test of its own has limits, and no clusters to cost.
    let light = on(16, vec![task("l", request(1, 1_000_000), request(1, 1_000_000))], vec![]);
    let part = size(&light, &PartFtlTest, &Thesis);
    assert!(part.cost.is_none() && part.limits.chips.value().is_some());
}

#[test]
fn work_is_bounded() {
    let tasks = (0..20_000).map(|index| task(&format!("t{index}"), request(1, 1_000_000), None)).collect();
    let sizing = size(&on(256, tasks, vec![]), &ClusteringBfd, &Thesis);
    // The largest ratio is near one, so few steps are tried.
    assert!(matches!(sizing.limits.logical_ratio, SizingLimit::At(_)));
    assert_eq!(sizing.limits.load_permille, SizingLimit::TooMuchWork);
    assert!(sizing.limits.tasks.iter().all(|task| task.read.unwrap().period == SizingLimit::TooMuchWork));
}

/// The case study by hand.
#[test]
fn costs_of_the_case_study() {
    let near = |one: f64, other: f64| assert!((one / other - 1.0).abs() < 1e-12, "{one} is not {other}");
    let set = case_study(4);
    // Under the thesis: t1 on chips 0 and 1, the others on chip 2, chip 3 free; ⌈λP⌉ = α = 128.
    let cost = size(&set, &ClusteringBfd, &Thesis).cost.unwrap();
    let [first, second, free] = &cost.clusters[..] else { panic!("three clusters") };
    assert_eq!(
        (&first.chips[..], &second.chips[..], &free.chips[..]),
        (&[0, 1].map(ChipId)[..], &[ChipId(2)][..], &[ChipId(3)][..])
    );
    assert_eq!([first, second, free].map(|cluster| cluster.write_amplification), [Some(2.0); 3]);
    // 24 pages every 30 ms are 800 a second.
    near(first.wear.pages, 800.0 * 86_400.0);
    near(first.wear.gc_pages, 800.0 * 86_400.0);
    // 1600 programs a second are 6.25 blocks, on two chips.
    near(first.wear.erases, 3.125 * 86_400.0);
    // 1024 blocks of 3000 erases each.
    near(first.wear.lifetime_years.unwrap(), 1_024.0 * 3_000.0 / 270_000.0 / 365.25);
    near(second.wear.erases, 3.0 * 12.0 / 0.13 * 2.0 / 256.0 * 86_400.0);
    assert_eq!((free.wear.pages, free.wear.lifetime_years), (0.0, None));
    near(cost.tasks.erases, 270_000.0);
    near(cost.tasks.pages, first.wear.pages + second.wear.pages);
    // Jobs: 128 pages every 12.5 ms in the mean, on four chips.
    let with_jobs = cost.with_jobs.unwrap();
    near(with_jobs.pages, cost.tasks.pages + 10_240.0 * 86_400.0);
    near(free.with_jobs.unwrap().erases, 2_560.0 * 2.0 / 256.0 * 86_400.0);
    near(with_jobs.erases, (10_240.0 / 4.0 * 2.0 / 256.0 + 3.125) * 86_400.0);
    assert_eq!(cost.left_out, [1]);
    // Under a sound analysis: by the certificate.
    let sizing = size(&set, &ClusteringBfd, &Sound::default());
    let cost = sizing.cost.unwrap();
    let (fewest, allocation) = (sizing.limits.chips.value().unwrap().chips, sizing.outcome.allocation().cloned());
    let set = if allocation.is_some() { set } else { case_study(fewest) };
    let allocation =
        allocation.or_else(|| ClusteringBfd.allocate(&set, &Sound::default()).allocation().cloned()).unwrap();
    for (position, cluster) in cost.clusters.iter().enumerate() {
        let collection = allocation.certificate(position).unwrap().collection;
        let by_hand = collection.map(|gc| 1.0 + gc.victim_pages as f64 / gc.reclaimed_pages as f64);
        assert_eq!(cluster.write_amplification, by_hand);
    }
    assert_eq!(cost.chips, set.device().chips());
}

/// The wear by the tasks of the case study, by hand: t1 is alone on its chips, beside the range of
/// each job stream.
#[test]
fn rings_of_the_case_study() {
    let near = |one: f64, other: f64| assert!((one / other - 1.0).abs() < 1e-9, "{one} is not {other}");
    let set = case_study(4);
    let cost = size(&set, &ClusteringBfd, &Thesis).cost.unwrap();
    // From a start in order one ring is never copied, and data at rest leave its blocks for good.
    let rings = cost.clusters[0].in_rings.unwrap();
    assert_eq!((rings.amplification.least, rings.amplification.in_order), (1.0, 1.0));
    near(rings.least.erases, 800.0 / 256.0 / 2.0 * 86_400.0);
    near(rings.least.lifetime_years.unwrap(), cost.clusters[0].wear.lifetime_years.unwrap() * 2.0);
    assert_eq!((cost.clusters[2].in_rings, cost.clusters[2].anywhere), (None, None));
    for cluster in cost.clusters.iter().filter(|cluster| !cluster.tasks.is_empty()) {
        let (bound, rings, anywhere) =
            (cluster.write_amplification.unwrap(), cluster.in_rings.unwrap(), cluster.anywhere.unwrap());
        assert!(rings.amplification.most <= anywhere.amplification.most && anywhere.amplification.most <= bound);
        near(anywhere.most.pages, cluster.wear.pages);
    }
    // The device: the shortest lifetime.
    let (all, first) = (cost.in_rings.unwrap(), cost.clusters[0].in_rings.unwrap());
    assert_eq!(all.least.lifetime_years, first.least.lifetime_years);
}
