//! Totals, refusals, and any options at all.

use proptest::prelude::*;

use crate::generate::{
    Accesses, Aperiodic, AperiodicArrivals, Exhausted, Generator, MAX_DRAWS, MAX_TASKS, OptionsError, PageCosts,
    PeriodRange, Refusal, SetOptions, SetSpec, Utilization, Writes,
};
use crate::{Access, Device, Request, Span, Task, TaskSet};

pub(super) fn spec(generator: Generator, writes: Writes) -> SetSpec {
    let device = Device::profile("dgist-2021").unwrap();
    let page_costs = PageCosts { read: device.page_read(), write: device.page_program() };
    SetSpec {
        device,
        tasks: 3,
        generator,
        page_costs,
        writes,
        accesses: Accesses::Random,
        deadlines: None,
        periods: PeriodRange::default(),
        pages: None,
        seed: 42,
    }
}

/// The generators that divide a total utilization.
const DIVIDING: [Generator; 4] =
    [Generator::UUniFast, Generator::UUniFastDiscard, Generator::RandFixedSum, Generator::IntegerShares];

fn at(text: &str) -> Utilization {
    text.parse().unwrap()
}

pub(super) fn draw(spec: SetSpec, utilization: &str, index: u64) -> TaskSet {
    SetOptions::new(spec).unwrap().draw(at(utilization), index, |_, _| true).unwrap()
}

/// Utilization of each task in reads and writes, as the pages and periods have it.
fn achieved(spec: &SetSpec, set: &TaskSet) -> Vec<(f64, f64)> {
    let of = |request: Option<crate::Request>, cost: Span| {
        request.map_or(0.0, |request| (request.pages() * cost.as_ns()) as f64 / request.period().as_ns() as f64)
    };
    set.tasks().iter().map(|t| (of(t.read, spec.page_costs.read), of(t.write, spec.page_costs.write))).collect()
}

#[test]
fn a_set_depends_on_its_own_coordinates_alone() {
    let options = SetOptions::new(SetSpec { tasks: 8, ..spec(Generator::UUniFast, Writes::Drawn) }).unwrap();
    let coordinates = [("0.1", 0), ("0.1", 1), ("0.2", 0), ("4", 0), ("4", 99)];
    let one = |(utilization, index)| options.draw(at(utilization), index, |_, _| true).unwrap();
    let forward: Vec<TaskSet> = coordinates.into_iter().map(one).collect();
    let mut backward: Vec<TaskSet> = coordinates.into_iter().rev().map(one).collect();
    backward.reverse();
    assert_eq!(forward, backward);
    let other_seed = SetOptions::new(SetSpec { seed: 43, ..*options.spec() }).unwrap();
    let mut all = forward.clone();
    all.push(other_seed.draw(at("0.1"), 0, |_, _| true).unwrap());
    for (i, set) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|other| other != set));
    }
}

#[test]
fn pages_and_periods_make_up_the_utilization() {
    for generator in DIVIDING {
        for (tasks, utilization) in [(1, "0.3"), (8, "0.1"), (8, "2"), (8, "4"), (8, "6"), (32, "10"), (100, "50")] {
            let spec = SetSpec { tasks, ..spec(generator, Writes::Drawn) };
            if generator == Generator::UUniFastDiscard && tasks > 8 {
                // Discards all that are drawn in a test's time.
                continue;
            }
            for index in 0..20 {
                let set = draw(spec, utilization, index);
                let total: f64 = achieved(&spec, &set).iter().map(|(read, write)| read + write).sum();
                assert!((total - at(utilization).to_f64()).abs() < 1e-6, "{total} of {utilization}");
                assert_eq!((set.tasks().len(), set.jobs().len()), (tasks as usize, 0));
            }
        }
    }
}

#[test]
fn periods_start_uniform_and_grow_only_where_a_page_is_missing() {
    let spec = SetSpec { tasks: 8, ..spec(Generator::UUniFast, Writes::Drawn) };
    let mut periods: Vec<u64> =
        (0..500).flat_map(|i| draw(spec, "4", i).tasks().clone()).map(|t| t.read.unwrap().period().as_ns()).collect();
    periods.sort_unstable();
    // 4000 periods, uniform in [100, 500) ms but for a page or so.
    let quarter = |i: usize| periods[i * periods.len() / 4].abs_diff((100 + 100 * i as u64) * 1_000_000);
    assert!((1..4).all(|i| quarter(i) < 8_000_000), "{} {} {}", quarter(1), quarter(2), quarter(3));
    assert!(periods[periods.len() * 99 / 100] < 500_000_000);
}

#[test]
fn write_heavy_tasks_come_first() {
    for generator in DIVIDING {
        for heavy in 0..=3 {
            let spec = spec(generator, Writes::Heavy(heavy));
            for index in 0..300 {
                for (position, (read, write)) in (0..).zip(achieved(&spec, &draw(spec, "2", index))) {
                    // Whole nanoseconds move a part by less than 1e-7.
                    let part = write / (read + write);
                    let (low, high) = if position < heavy { (0.5 - 1e-7, 1.0) } else { (0.0, 0.5 + 1e-7) };
                    assert!((low..high).contains(&part), "{generator} {heavy} {position}: {part}");
                }
            }
        }
    }
}

/// Heavy tasks only write, from 0.5 to 0.7; the others read and write, below 0.25, and read as many
/// pages as they would write.
#[test]
fn heavy_writers_have_utilizations_of_their_own() {
    for heavy in 0..=3 {
        let spec = spec(Generator::HeavyWriters, Writes::Heavy(heavy));
        let options = SetOptions::new(spec).unwrap();
        let mean = options.mean_utilization().unwrap();
        let (mut total, mut shortest, mut longest) = (0.0, u64::MAX, 0);
        for index in 0..2_000 {
            let set = options.draw(mean, index, |_, _| true).unwrap();
            for ((position, task), (read, write)) in (0..).zip(set.tasks()).zip(achieved(&spec, &set)) {
                let range = if position < heavy { 0.5..0.7 } else { 0.0..0.25 };
                assert!(range.contains(&write) && (0.0..0.25).contains(&read), "{heavy} {position}: {read} {write}");
                assert_eq!(task.read.is_none(), position < heavy);
                total += read + write;
            }
            // A page is read in a tenth of the time that it is written in.
            for request in set.tasks().iter().filter_map(|task| task.read).filter(|request| request.pages() > 9) {
                shortest = shortest.min(request.period().as_ns());
                longest = longest.max(request.period().as_ns());
            }
        }
        assert!((total / 2_000.0 - mean.to_f64()).abs() < 0.01, "{heavy}: {total}");
        assert!(heavy == 3 || (shortest < 10_500_000 && (49_000_000..=50_000_000).contains(&longest)));
    }
    assert_eq!(SetOptions::new(spec(Generator::UUniFast, Writes::Heavy(2))).unwrap().mean_utilization(), None);
}

#[test]
fn a_fixed_share_is_written_by_every_task() {
    for share in ["0", "0.25", "1"] {
        let spec = spec(Generator::UUniFast, Writes::Share(share.parse().unwrap()));
        for index in 0..100 {
            let set = draw(spec, "2", index);
            for (task, (read, write)) in set.tasks().iter().zip(achieved(&spec, &set)) {
                assert_eq!((task.read.is_some(), task.write.is_some()), (share != "1", share != "0"));
                assert!((write / (read + write) - share.parse::<f64>().unwrap()).abs() < 1e-7);
            }
        }
    }
}

#[test]
fn integer_shares_are_integer_ratios_below_one() {
    let spec = SetSpec { tasks: 4, ..spec(Generator::IntegerShares, Writes::Drawn) };
    for index in 0..100 {
        let set = draw(spec, "3", index);
        let shares: Vec<f64> = achieved(&spec, &set).iter().map(|(read, write)| read + write).collect();
        assert!(shares.iter().all(|&share| share < 1.0 - 1e-3), "{shares:?}");
        let is_whole = |scale: i32| {
            let a = |share: f64| share * f64::from(scale) / 3.0;
            shares.iter().all(|&share| (a(share) - a(share).round()).abs() < 1e-5)
        };
        assert!((4..=40).any(is_whole), "{shares:?}");
    }
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let options = |tasks, generator| SetOptions::new(SetSpec { tasks, ..spec(generator, Writes::Drawn) }).unwrap();
    let two = options(2, Generator::UUniFast);
    let error = two.draw(at("0.5"), 3, |_, _| false).unwrap_err();
    assert_eq!((error.draws, error.mostly, error.index), (MAX_DRAWS, Refusal::Alone, 3));
    assert_eq!(
        error.to_string(),
        "no set found: 1000000 draws of 2 tasks with utilization 0.5 (generator uunifast, index 3, seed 42) were \
         refused, \
         mostly because a task did not fit on the whole device alone; ask for less utilization, more tasks or a \
         device with more chips"
    );
    let error = two.draw(at("2.1"), 0, |_, _| true).unwrap_err();
    assert_eq!((error.draws, error.mostly), (0, Refusal::Share));
    assert_eq!(error.to_string(), "no set of 2 tasks has utilization 2.1: with uunifast, each task has at most 1");
    let error = options(2, Generator::IntegerShares).draw(at("2"), 0, |_, _| true).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no set of 2 tasks has utilization 2: with integer-shares, each task has less than 1"
    );
    let error = options(8, Generator::IntegerShares).draw(at("7.999999999"), 0, |_, _| true).unwrap_err();
    assert_eq!((error.draws, error.mostly), (MAX_DRAWS, Refusal::Share));
    let error = two.draw(at("0.000000001"), 0, |_, _| true).unwrap_err();
    assert_eq!((error.draws, error.mostly), (MAX_DRAWS, Refusal::Period));
    // A utilization of n leaves one set of shares, and UUniFast finds it.
    for tasks in [1, 2, 100] {
        assert!(options(tasks, Generator::UUniFast).draw(at(&tasks.to_string()), 0, |_, _| true).is_ok());
    }
}

/// Work is in proportion to the number of tasks, however many of them are refused.
#[test]
fn one_refused_task_of_many_is_drawn_again_by_itself() {
    let options = |tasks| SetOptions::new(SetSpec { tasks, ..spec(Generator::UUniFast, Writes::Drawn) }).unwrap();
    for (tasks, utilization) in [(1_000, "0.1"), (2_500, "4"), (5_000, "4"), (10_000, "4"), (10_000, "0.1")] {
        let looks = std::cell::Cell::new(0usize);
        let fits_alone = |_: &Device, _: &Task| {
            looks.set(looks.get() + 1);
            !looks.get().is_multiple_of(5)
        };
        let set = options(tasks).draw_at_most(16, at(utilization), 0, fits_alone).expect("soon drawn");
        assert!(looks.get() < 3 * tasks as usize, "{tasks}: {}", looks.get());
        let drawn: f64 = achieved(options(tasks).spec(), &set).iter().map(|(read, write)| read + write).sum();
        assert!((drawn / utilization.parse::<f64>().unwrap() - 1.0).abs() < 1e-6, "{tasks}: {drawn}");
    }
    let error = options(1_000).draw(at("0.0001"), 0, |_, _| true).unwrap_err();
    assert!(error.draws < 20_000 && error.to_string().ends_with("ask for more utilization or fewer tasks"), "{error}");
}

#[test]
fn a_refused_set_is_drawn_afresh() {
    let calls = std::cell::Cell::new(0);
    let options = SetOptions::new(spec(Generator::UUniFast, Writes::Drawn)).unwrap();
    let third = |_: &Device, _: &crate::Task| {
        calls.set(calls.get() + 1);
        calls.get() >= 3
    };
    let set = options.draw(at("1"), 0, third).unwrap();
    assert_eq!(calls.get(), 5);
    assert_ne!(set, draw(*options.spec(), "1", 0));
}

#[test]
fn bad_options_are_refused() {
    let good = spec(Generator::UUniFast, Writes::Drawn);
    let free = PageCosts { read: Span::ZERO, ..good.page_costs };
    for (spec, error) in [
        (SetSpec { tasks: 0, ..good }, OptionsError::NoTasks),
        (
            SetSpec { tasks: u32::MAX, ..good },
            OptionsError::TooManyTasks { tasks: u32::MAX, generator: Generator::UUniFast },
        ),
        (
            SetSpec { tasks: 1_001, generator: Generator::RandFixedSum, ..good },
            OptionsError::TooManyTasks { tasks: 1_001, generator: Generator::RandFixedSum },
        ),
        (SetSpec { writes: Writes::Heavy(4), ..good }, OptionsError::TooManyWriteHeavy { write_heavy: 4, tasks: 3 }),
        (SetSpec { page_costs: free, ..good }, OptionsError::FreePages),
        (
            SetSpec { writes: Writes::Share("0.5".parse().unwrap()), ..spec(Generator::HeavyWriters, Writes::Drawn) },
            OptionsError::SharedWriters,
        ),
    ] {
        assert_eq!(SetOptions::new(spec), Err(error));
    }
}

/// The patterns of a set, task by task (`-` where there is no request), and the set without them.
fn patterns(set: &TaskSet) -> (String, TaskSet) {
    let of = |request: Option<crate::Request>| match request.map(|request| request.access()) {
        None => '-',
        Some(Access::Random) => 'r',
        Some(Access::Sequential) => 's',
        Some(Access::Stream) => 't',
    };
    let random = |request: Option<crate::Request>| request.map(|request| request.with_access(Access::Random));
    let all = set.tasks().iter().flat_map(|task| [of(task.read), of(task.write)]).collect();
    let without = set.tasks().iter().cloned();
    let without =
        without.map(|task| crate::Task { read: random(task.read), write: random(task.write), ..task }).collect();
    (all, TaskSet::new(*set.device(), without, vec![]).unwrap())
}

#[test]
fn access_changes_nothing_else() {
    for generator in DIVIDING {
        for writes in [Writes::Drawn, Writes::Heavy(2)] {
            let spec = |accesses| SetSpec { accesses, tasks: 8, ..spec(generator, writes) };
            let mut sequential = 0;
            for index in 0..250 {
                let random = draw(spec(Accesses::Random), "2", index);
                assert_eq!(patterns(&random), ("r".repeat(16), random.clone()));
                let all = draw(spec(Accesses::Sequential), "2", index);
                assert_eq!(patterns(&all), ("s".repeat(16), random.clone()));
                let streams = draw(spec(Accesses::Stream), "2", index);
                assert_eq!(patterns(&streams), ("t".repeat(16), random.clone()));
                let mixed = draw(spec(Accesses::Mixed), "2", index);
                assert_eq!(patterns(&mixed).1, random);
                sequential += patterns(&mixed).0.matches('s').count();
            }
            // 4000 even chances, with a standard deviation of 32.
            assert!(sequential.abs_diff(2000) < 150, "{sequential}");
        }
    }
}

#[test]
fn a_pattern_does_not_depend_on_the_requests_that_are_there() {
    let at_share = |share: &str| SetSpec {
        accesses: Accesses::Mixed,
        deadlines: None,
        periods: PeriodRange::default(),
        tasks: 8,
        ..spec(Generator::UUniFast, Writes::Share(share.parse().unwrap()))
    };
    for index in 0..20 {
        let both = patterns(&draw(at_share("0.5"), "2", index)).0;
        for (share, missing) in [("0", 1), ("1", 0)] {
            let one = patterns(&draw(at_share(share), "2", index)).0;
            assert!(
                one.chars()
                    .zip(both.chars())
                    .enumerate()
                    .all(|(position, (one, both))| { one == if position % 2 == missing { '-' } else { both } })
            );
        }
    }
}

/// Bounds on pages keep the utilization: the period follows.
#[test]
fn pages_are_in_their_range_and_make_up_the_utilization() {
    let small: PeriodRange = "5ms..50ms".parse().unwrap();
    let spec = SetSpec { periods: small, tasks: 8, ..spec(Generator::UUniFast, Writes::Drawn) };
    let bounded = SetSpec { pages: Some("2..16".parse().unwrap()), ..spec };
    let cost = |request: &Request, page: Span| {
        u128::from(request.pages()) as f64 * page.as_ns() as f64 / request.period().as_ns() as f64
    };
    let (mut moved, mut kept) = (0, 0);
    for index in 0..200 {
        let sets = [spec, bounded].map(|spec| draw(spec, "3", index));
        for (free, bound) in sets[0].tasks().iter().zip(sets[1].tasks()) {
            let requests =
                [(free.read, bound.read, spec.page_costs.read), (free.write, bound.write, spec.page_costs.write)];
            for (free, bound, page) in requests {
                let (free, bound) = (free.expect("reads and writes"), bound.expect("reads and writes"));
                assert_eq!(bound.pages(), free.pages().clamp(2, 16));
                assert!((cost(&bound, page) - cost(&free, page)).abs() < 1e-6);
                if bound == free { kept += 1 } else { moved += 1 }
            }
        }
    }
    assert!(kept > 500 && moved > 500, "{kept} kept, {moved} moved");
}

/// As the sets themselves; a second implementation gave the same ones here, too.
#[test]
fn mixed_patterns_are_pinned() {
    let mixed = |generator, index| {
        let spec = SetSpec { accesses: Accesses::Mixed, tasks: 8, ..spec(generator, Writes::Drawn) };
        patterns(&draw(spec, "2", index)).0
    };
    assert_eq!(mixed(Generator::UUniFast, 0), "srrssrsrssrsssss");
    assert_eq!(mixed(Generator::IntegerShares, 7), "sssssrrrsrrrssss");
}

#[test]
fn meta_repeats_the_set() {
    let options = SetOptions::new(spec(Generator::IntegerShares, Writes::Drawn)).unwrap();
    let json = serde_json::to_string(&options.meta(at("0.10"), 5, "thesis")).unwrap();
    assert_eq!(
        json,
        r#"{"utilization":0.1,"index":5,"seed":42,"generator":"integer-shares","tasks":3,"analysis":"thesis"}"#
    );
    let options = SetOptions::new(spec(Generator::UUniFast, Writes::Heavy(2))).unwrap();
    let json = serde_json::to_string(&options.meta(at("4"), 0, "thesis")).unwrap();
    assert!(json.starts_with(r#"{"utilization":4,"#) && json.contains(r#""write_heavy":2,"#), "{json}");
    let options = SetOptions::new(SetSpec { accesses: Accesses::Mixed, ..*options.spec() }).unwrap();
    let json = serde_json::to_string(&options.meta(at("4"), 0, "thesis")).unwrap();
    assert!(json.contains(r#""write_heavy":2,"access":"mixed","#), "{json}");
}

prop_compose! {
    fn any_spec()(
        tasks in prop_oneof![0..40u32, Just(MAX_TASKS), any::<u32>()],
        generator in prop::sample::select(Generator::ALL.to_vec()),
        read in prop_oneof![0..1_000_000u64, 0..1u64 << 63],
        write in prop_oneof![0..1_000_000u64, 0..1u64 << 63],
        writes in prop_oneof![Just(Writes::Drawn), (0..40u32).prop_map(Writes::Heavy), any::<u32>().prop_map(Writes::Heavy), (0..=4u32).prop_map(|quarters| Writes::Share((f64::from(quarters) / 4.0).to_string().parse().unwrap()))],
        page_read in 1..1u64 << 54,
        slow_device in any::<bool>(),
        accesses in prop::sample::select(Accesses::ALL.to_vec()),
        pages in prop::option::of((1..u64::MAX).prop_flat_map(|fewest| (Just(fewest), fewest..=u64::MAX))),
        seed in any::<u64>(),
    ) -> SetSpec {
        let mut device = Device::profile("dgist-2021").unwrap();
        if slow_device {
            device = Device::new(crate::DeviceSpec { page_read: Span::from_ns(page_read).unwrap(), ..device.spec() }).unwrap();
        }
        let page_costs = PageCosts { read: Span::from_ns(read).unwrap(), write: Span::from_ns(write).unwrap() };
        let pages = pages.map(|(fewest, most)| format!("{fewest}..{most}").parse().unwrap());
        SetSpec { device, tasks, generator, page_costs, writes, accesses, deadlines: None, periods: PeriodRange::default(), pages, seed }
    }
}

proptest! {
    #[test]
    fn any_options_are_refused_or_drawn_or_exhausted(
        spec in any_spec(),
        billionths in prop_oneof![1..20_000_000_000u64, 1..1_000_000_000_000_000u64],
        index in any::<u64>(),
    ) {
        let utilization = Utilization::from_billionths(billionths).unwrap();
        if let Ok(options) = SetOptions::new(spec) {
            let drawn = options.draw_at_most(20, utilization, index, |_, task| task.name != "t7777");
            let again = options.draw_at_most(20, utilization, index, |_, task| task.name != "t7777");
            prop_assert_eq!(&drawn, &again);
            match drawn {
                Ok(set) => prop_assert_eq!(set.tasks().len(), spec.tasks as usize),
                Err(Exhausted { draws, .. }) => prop_assert!(draws == 0 || draws == 20),
            }
        }
    }
}

#[test]
fn deadlines_change_nothing_else() {
    for generator in Generator::ALL {
        let plain = SetOptions::new(SetSpec { tasks: 8, ..spec(generator, Writes::Drawn) }).unwrap();
        let deadlines = Some("0.5..1.0".parse().unwrap());
        let due = SetOptions::new(SetSpec { deadlines, ..*plain.spec() }).unwrap();
        for index in 0..20 {
            let utilization = "1.5".parse().unwrap();
            let draw = |options: &SetOptions| options.draw(utilization, index, |_, _| true).unwrap();
            let (plain, due) = (draw(&plain), draw(&due));
            let stripped = due.tasks().iter().map(|task| {
                let strip = |request: Option<Request>| request.and_then(|request| request.with_deadline(None));
                Task { read: strip(task.read), write: strip(task.write), ..task.clone() }
            });
            assert_eq!(stripped.collect::<Vec<_>>(), plain.tasks().as_slice());
            assert!(due.tasks().iter().flat_map(Task::requests).all(|(request, _)| {
                2 * request.deadline().as_ns() + 1 >= request.period().as_ns() && !request.has_a_whole_period()
            }));
        }
    }
}

/// The tasks stay, the streams have their utilization, and writes their share of it.
#[test]
fn aperiodic_requests_stand_beside_the_tasks() {
    let utilization = "2".parse().unwrap();
    for (writes, most) in [
        (Writes::Drawn, None),
        (Writes::Share("0.25".parse().unwrap()), Some(0.25)),
        (Writes::Share("0".parse().unwrap()), Some(0.0)),
    ] {
        let options = SetOptions::new(SetSpec { tasks: 8, ..spec(Generator::UUniFast, writes) }).unwrap();
        let set = options.draw(utilization, 3, |_, _| true).unwrap();
        for arrivals in AperiodicArrivals::ALL {
            let aperiodic = Aperiodic { streams: 3, utilization: "0.6".parse().unwrap(), arrivals };
            let with = options.with_aperiodic(&set, aperiodic, utilization, 3).unwrap();
            assert_eq!((with.tasks(), with.jobs().len()), (set.tasks(), 3));
            assert_eq!(options.with_aperiodic(&set, aperiodic, utilization, 3).unwrap(), with);
            assert_ne!(options.with_aperiodic(&set, aperiodic, utilization, 4).unwrap(), with);
            let costs = options.spec().page_costs;
            for job in with.jobs() {
                let (jobs, time) = job.arrivals.rate().unwrap();
                let [reads, writes] = [(job.read_pages, costs.read), (job.write_pages, costs.write)]
                    .map(|(pages, cost)| (pages * cost.as_ns() * jobs) as f64 / time as f64);
                assert!((reads + writes - 0.2).abs() < 1e-6, "{job:?}");
                // Within a page of each.
                let page = (costs.write.as_ns() * jobs) as f64 / time as f64;
                assert!(most.is_none_or(|share| (writes - 0.2 * share).abs() <= page), "{job:?}");
                assert_eq!(job.write_pages == 0, most == Some(0.0));
            }
        }
    }
}
