//! Small worlds, a third of them, or all: up to three tasks on up to three chips, engine against
//! twin, and the checkers on both.

use rtflash_judge::Finding;
use rtflash_model::{
    Allocation, ChipId, Cluster, Device, DeviceSpec, Instant, LogicalRatio, Request, Task, TaskId, TaskSet,
};
use rtflash_plan::{
    Aging, ClusterTerms, Dispatch, Options, Pattern, Phases, Plan, Recurrence, Service, Ties, Times, Timing, Victims,
};
use rtflash_testkit::cases;
use rtflash_testkit::ns;
use rtflash_trace::Record;

use crate::common::{ALWAYS_HOLD, World, is_event, judged};
use crate::worlds::{engine, gc_period};

const READ: u64 = 2;
const PROGRAM: u64 = 4;
const ERASE: u64 = 5;

fn device(chips: u32, pages: u32) -> Device {
    let spec = DeviceSpec {
        chips,
        chips_per_channel: 1,
        blocks_per_chip: 10,
        pages_per_block: pages,
        page_size: 512,
        logical_ratio: LogicalRatio::HALF,
        page_read: ns(READ),
        page_program: ns(PROGRAM),
        block_erase: ns(ERASE),
        page_transfer: ns(1),
        ..DeviceSpec::default()
    };
    Device::new(spec).expect("a small device")
}

/// Every task there is here: a reader, a writer or both.
fn kinds() -> Vec<(Option<Request>, Option<Request>)> {
    let request = |pages, period| Request::new(pages, ns(period));
    let reads = [None, request(1, 12), request(3, 40)];
    let writes = [None, request(1, 30), request(2, 90), request(5, 170)];
    let all = reads.into_iter().flat_map(|read| writes.into_iter().map(move |write| (read, write)));
    all.filter(|&(read, write)| read.is_some() || write.is_some()).collect()
}

/// Every way to divide `tasks` tasks among clusters of these sizes.
fn placements(tasks: usize, clusters: usize) -> Vec<Vec<usize>> {
    (0..tasks).fold(vec![Vec::new()], |placed, _| {
        let extend = |placed: Vec<usize>| {
            (0..clusters).map(move |cluster| placed.iter().copied().chain([cluster]).collect::<Vec<usize>>())
        };
        placed.into_iter().flat_map(extend).collect()
    })
}

/// Every composition of this many chips: sizes of clusters, in order.
fn compositions(chips: u32) -> Vec<Vec<u32>> {
    if chips == 0 {
        return vec![Vec::new()];
    }
    let first = |size| compositions(chips - size).into_iter().map(move |rest| [vec![size], rest].concat());
    (1..=chips).flat_map(first).collect()
}

/// Theorem 1 as it is printed, in integers: all terms over a common denominator.
fn accepted(device: &Device, tasks: &[&Task], chips: u32) -> bool {
    let reclaimed = u64::from(device.reclaimed_per_chip()) * u64::from(chips);
    let pass = u128::from(device.gc_pass().as_ns());
    let mut terms: Vec<(u128, u128)> = Vec::new();
    // A period is a numerator over a denominator.
    let mut shortest: Option<(u128, u128)> = None;
    let mut add = |cost: u128, numerator: u128, denominator: u128| {
        terms.push((cost * denominator, numerator));
        if shortest.is_none_or(|(n, d)| numerator * d < n * denominator) {
            shortest = Some((numerator, denominator));
        }
    };
    for task in tasks {
        for (request, cost) in [(task.read, READ), (task.write, PROGRAM)] {
            if let Some(request) = request {
                add(u128::from(request.pages() * cost), request.period().as_ns().into(), 1);
            }
        }
        if let Some(write) = task.write {
            let period = u128::from(write.period().as_ns());
            if write.pages() > reclaimed {
                add(pass, period, write.pages().div_ceil(reclaimed).into());
            } else {
                add(pass, period * u128::from(reclaimed / write.pages()), 1);
            }
        }
    }
    if let Some((numerator, denominator)) = shortest {
        terms.push((u128::from(ERASE) * denominator, numerator));
    }
    let common: u128 = terms.iter().map(|&(_, denominator)| denominator).product();
    terms.iter().map(|&(numerator, denominator)| common / denominator * numerator).sum::<u128>() <= common
}

#[test]
fn the_checkers_hold_in_every_small_world_that_theorem_1_accepts() {
    let kinds = kinds();
    let (mut all, mut promised, mut missed) = (0_u32, 0_u32, 0_u32);
    // All of them take long.
    let every = if cases(1_u32) > 1 { 1 } else { 3 };
    for (chips, count) in [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2), (1, 3), (2, 3), (3, 3)] {
        let sizes = compositions(chips);
        // Which tasks, whatever their order.
        for choice in placements(count, kinds.len()).into_iter().filter(|choice| choice.is_sorted()) {
            let tasks: Vec<Task> = choice
                .iter()
                .enumerate()
                .map(|(number, &kind)| Task {
                    name: format!("t{number}"),
                    read: kinds[kind].0,
                    write: kinds[kind].1,
                    data_pages: None,
                })
                .collect();
            for sizes in &sizes {
                for placement in placements(count, sizes.len()) {
                    let device = device(chips, 2 + chips % 2);
                    let set = TaskSet::new(device, tasks.clone(), vec![]).expect("a small set");
                    let mut next = 0..chips;
                    let clusters: Vec<Cluster> = sizes
                        .iter()
                        .enumerate()
                        .map(|(cluster, &size)| Cluster {
                            chips: next.by_ref().take(size as usize).map(ChipId).collect(),
                            tasks: set.tasks().ids().filter(|task| placement[task.index()] == cluster).collect(),
                        })
                        .collect();
                    let allocation = Allocation::new(chips, count, &clusters).expect("a partition");
                    let terms: Vec<ClusterTerms> = clusters
                        .iter()
                        .map(|cluster| {
                            let gc = |&task: &TaskId| {
                                set.tasks()[task].write.and_then(|write| gc_period(&device, write, cluster.size()))
                            };
                            ClusterTerms::Utilization {
                                page_delay: ns(0),
                                gc_periods: cluster.tasks.iter().map(gc).collect(),
                            }
                        })
                        .collect();
                    let timing = Timing::new(ns(READ), ns(PROGRAM), ns(1)).expect("a transfer is shorter");
                    let Ok(plan) = Plan::new(&set, &allocation, timing, &terms) else { continue };
                    let promises = clusters.iter().all(|cluster| {
                        let tasks: Vec<&Task> = cluster.tasks.iter().map(|&task| &set.tasks()[task]).collect();
                        accepted(&device, &tasks, cluster.size())
                    });
                    all += 1;
                    if !all.is_multiple_of(every) {
                        continue;
                    }
                    let way = all % 4;
                    let options = Options {
                        duration: Instant::from_ns(700).expect("a short time"),
                        dispatch: if way == 3 { Dispatch::Parallel } else { Dispatch::Serial },
                        service: Service::Tbs,
                        victims: if way % 2 == 0 { Victims::Actual } else { Victims::Worst },
                        aging: Aging::Worst,
                        pattern: Pattern::Uniform,
                        times: Times::Worst,
                        seed: all.into(),
                        phases: if all / 4 % 5 > 2 { Phases::Random } else { Phases::Periodic },
                        recurrence: if all / 4 % 5 > 1 { Recurrence::Sporadic } else { Recurrence::Periodic },
                        ties: [Ties::Lowest, Ties::Highest, Ties::Random][all as usize / 4 % 3],
                        ..Options::default()
                    };
                    let world = World { plan, options: options.clone(), arrivals: Vec::new() };
                    let records = engine(&world);
                    // The twin is slow: it has a look at every fourth world.
                    if all.is_multiple_of(4) || way == 3 {
                        let events: Vec<Record> = records.iter().copied().filter(is_event).collect();
                        assert_eq!(events, crate::naive::run(&world.plan, &world.options, &[]), "{world:?}");
                    }
                    let findings = judged(&world);
                    let broken = |name: &str| {
                        findings.iter().any(|finding| finding.assumption.name() == name && !finding.gauge.holds())
                    };
                    for is_valid in ALWAYS_HOLD {
                        assert!(!broken(is_valid), "{is_valid}: {world:?}");
                    }
                    let late = broken("deadlines") || broken("overdue");
                    missed += u32::from(late);
                    if promises && options.dispatch == Dispatch::Serial {
                        promised += 1;
                        let failed: Vec<&Finding> = findings.iter().filter(|finding| !finding.gauge.holds()).collect();
                        let starved = records.iter().any(|record| matches!(record, Record::Starved(_)));
                        assert!(failed.is_empty() && !starved, "{failed:?} in {world:?}");
                    }
                }
            }
        }
    }
    assert!(
        all > 15_000 && promised * every > 1_500 && missed * every > 2_500,
        "{all} worlds, {promised} promised, {missed} late"
    );
}
