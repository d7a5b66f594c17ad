//! Algorithm 1 under demand tests against the loop that is printed in the thesis.

use std::cmp::Reverse;

use rtflash_alloc::allocator::{Allocator, ClusteringBfd, Outcome};
use rtflash_analysis::certified::{Contention, Processor, SharedBus, WorkloadCurve, choose};
use rtflash_analysis::{Fraction, Rational, Work, analysis_relying_on, verdict};
use rtflash_model::random::Stream;
use rtflash_model::{Cluster, Placement, Reliance, Task, TaskId, TaskSet};

use crate::common::draw;

/// The processors that a cluster of these tasks on so many chips may have, as busy as the bus can
/// be.
fn units(set: &TaskSet, placements: &[Placement], tasks: &[TaskId], chips: u32) -> Vec<(Placement, Processor)> {
    let device = set.device();
    let ways = device.chips_per_channel().min(device.chips());
    let compact = chips.is_multiple_of(ways) || ways.is_multiple_of(chips);
    let stripes = placements.contains(&Placement::Stripe);
    let all = [
        (Placement::Stripe, SharedBus::anywhere(device), true),
        (Placement::Superblock, SharedBus::compact(device, chips), compact),
        (Placement::Superblock, SharedBus::anywhere(device), chips > 1 || !stripes),
    ];
    let possible = all.into_iter().filter(|(placement, _, possible)| *possible && placements.contains(placement));
    let unit = |(placement, bus, _): (Placement, SharedBus, bool)| {
        let tasks = tasks.iter().map(|&task| &set.tasks()[task]);
        Some((placement, Processor::new(device, tasks, chips, placement, bus)?))
    };
    possible.filter_map(unit).collect()
}

fn holds(set: &TaskSet, placements: &[Placement], tasks: &[TaskId], chips: u32) -> bool {
    let holds = |(placement, unit): &(Placement, Processor)| {
        set.space(tasks, chips, Some(*placement)).fits() && choose(unit, &[Contention::none()], 0, &Work::new()).holds()
    };
    units(set, placements, tasks, chips).iter().any(holds)
}

/// The substitute for U: whether there is none, and its value.
type Load = (bool, Rational);

/// The least long-run load, garbage collection at its shortest deadline; above all numbers where
/// there is none.
fn load(set: &TaskSet, placements: &[Placement], tasks: &[TaskId], chips: u32) -> Load {
    let load = |(_, unit): (Placement, Processor)| {
        // A page in the long run, of a stream one of its chips' share.
        let term = |time: u64, pages: WorkloadCurve, each: u128| {
            let (pages, chips) = pages.rate();
            Fraction::new(u128::from(time) * u128::from(pages), each * u128::from(chips))
        };
        let own =
            unit.tasks.iter().map(|item| term(item.step_cost.as_ns(), item.transfers, item.period.as_ns().into()));
        let mut terms: Vec<Fraction> = own.collect();
        if let Some(shortest) =
            unit.write_streams.iter().filter_map(|writer| writer.period.checked_sub(writer.jitter)).min()
        {
            let gc = unit.gc(shortest, false)?;
            let each = |period: rtflash_model::Span| u128::from(gc.reclaimed) * u128::from(period.as_ns());
            let writers = unit.write_streams.iter();
            terms.extend(writers.map(|writer| term(gc.cost.as_ns(), writer.pages, each(writer.period))));
        }
        Some(Rational::sum(&terms))
    };
    let least = units(set, placements, tasks, chips).into_iter().filter_map(load).min();
    least.map_or((true, Fraction::new(0, 1).into()), |load| (false, load))
}

/// The clusters in the end, the task that fits nowhere, if one does, and how many merges there were
/// of clusters with tasks.
fn plainly(set: &TaskSet, placements: &[Placement]) -> (Vec<Cluster>, Option<TaskId>, u32) {
    let mut clusters: Vec<Cluster> = (0..set.device().chips()).map(|chip| Cluster::of([chip], [])).collect();
    let mut order: Vec<TaskId> = set.tasks().ids().collect();
    order.sort_by_key(|&task| (Reverse(load(set, placements, &[task], 1)), task));
    let mut merges = 0;
    for task in order {
        loop {
            let mut best: Option<(usize, Load)> = None;
            for (position, cluster) in clusters.iter().enumerate() {
                let tasks = [cluster.tasks.as_slice(), &[task]].concat();
                let full = load(set, placements, &tasks, cluster.size());
                if holds(set, placements, &tasks, cluster.size()) && best.as_ref().is_none_or(|(_, most)| full > *most)
                {
                    best = Some((position, full));
                }
            }
            if let Some((position, _)) = best {
                clusters[position].tasks.push(task);
                break;
            }
            if clusters.len() == 1 {
                return (clusters, Some(task), merges);
            }
            let mut lowest: Option<(usize, usize, Option<Load>)> = None;
            for lower in 0..clusters.len() {
                for upper in lower + 1..clusters.len() {
                    let tasks = [clusters[lower].tasks.as_slice(), &clusters[upper].tasks].concat();
                    let size = clusters[lower].size() + clusters[upper].size();
                    // Clusters without tasks first.
                    let load = (!tasks.is_empty()).then(|| load(set, placements, &tasks, size));
                    if lowest.as_ref().is_none_or(|(_, _, least)| load < *least) {
                        lowest = Some((lower, upper, load));
                    }
                }
            }
            let (lower, upper, _) = lowest.expect("two clusters");
            let away = clusters.remove(upper);
            merges += u32::from(!away.tasks.is_empty() && !clusters[lower].tasks.is_empty());
            clusters[lower].chips.extend(away.chips);
            clusters[lower].tasks.extend(away.tasks);
        }
    }
    (clusters, None, merges)
}

/// Tasks and number of chips of each cluster that has tasks.
fn divided(clusters: &[Cluster]) -> Vec<(Vec<TaskId>, u32)> {
    let busy = clusters.iter().filter(|cluster| !cluster.tasks.is_empty());
    let of = |cluster: &Cluster| {
        let mut tasks = cluster.tasks.clone();
        tasks.sort_unstable();
        (tasks, cluster.size())
    };
    let mut all: Vec<(Vec<TaskId>, u32)> = busy.map(of).collect();
    all.sort_unstable();
    all
}

/// A set in which some tasks are equal.
fn with_twins(set: &TaskSet, rng: &mut Stream) -> Option<TaskSet> {
    let mut tasks = set.tasks().as_slice().to_vec();
    let first = tasks.first()?.clone();
    for copy in 0..rng.within(0, 3) {
        tasks.push(Task { name: format!("twin{copy}"), ..first.clone() });
    }
    TaskSet::new(*set.device(), tasks, vec![]).ok()
}

#[test]
fn as_it_is_printed() {
    let (mut found, mut stuck, mut overloaded, mut merged) = (0, 0, 0, 0);
    for number in 0..700 {
        let mut rng = Stream::numbered(3, b"printed_", number);
        let Some(set) = draw(&mut rng, 9, 5).and_then(|set| with_twins(&set, &mut rng)) else { continue };
        for name in ["stripe", "superblock", "sound"] {
            let analysis = analysis_relying_on(name, Reliance::Nothing).expect("an analysis");
            let placements = analysis.demand_test().expect("a demand test").placements;
            let (clusters, unplaced, merges) = plainly(&set, placements);
            let fails = |cluster: &Cluster| {
                !cluster.tasks.is_empty() && !holds(&set, placements, &cluster.tasks, cluster.size())
            };
            let failing = clusters.iter().find(|cluster| fails(cluster));
            merged += merges;
            match ClusteringBfd.allocate(&set, analysis) {
                Outcome::Schedulable(allocation) => {
                    assert_eq!((unplaced, failing), (None, None), "{name} {number}");
                    assert_eq!(divided(&allocation.clusters()), divided(&clusters), "{name} {number}");
                    assert!(verdict::passing(&set, analysis, &allocation).into_iter().all(|passes| passes));
                    // If more may be relied on, that is only asked if this fails.
                    let more = analysis_relying_on(name, Reliance::Queue).expect("an analysis");
                    let same = ClusteringBfd.allocate(&set, more).allocation().map(|found| divided(&found.clusters()));
                    assert_eq!(same, Some(divided(&clusters)), "{name} {number}");
                    found += 1;
                }
                Outcome::NotSchedulable(failure) if failure.by_merge => {
                    assert_eq!(unplaced, None, "{name} {number}");
                    assert!(failing.is_some_and(|cluster| cluster.tasks.contains(&failure.unplaced.task)));
                    overloaded += 1;
                }
                Outcome::NotSchedulable(failure) => {
                    assert_eq!(Some(failure.unplaced.task), unplaced, "{name} {number}");
                    stuck += 1;
                }
                other => panic!("{name} {number}: {other:?}"),
            }
        }
    }
    assert!(found > 400 && stuck > 400 && merged > 200, "{found} {stuck} {overloaded} {merged}");
}
