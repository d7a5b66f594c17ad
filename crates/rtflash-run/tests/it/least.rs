//! Negative controls: each assumption of the sound analyses, weakened by the least amount, is
//! caught.

use rtflash_testkit::ns;
use std::collections::BTreeMap;

use rtflash_analysis::certified::{ChannelContention, Demand, DemandVerdict, choose};
use rtflash_analysis::{Sound, Work};
use rtflash_model::random::Stream;
use rtflash_model::{
    Allocation, Certificate, Cluster, Collection, Device, DeviceSpec, Instant, LogicalRatio, Placement, Reliance,
    Request, Task, TaskSet,
};
use rtflash_plan::{Aging, Dispatch, Options, Pattern, Phases, Service, Times, Victims};
use rtflash_run::execute;

/// [t_r, t_w, t_e, t_d], chips, chips a channel, blocks, pages a block, λ in hundredths.
fn device(times: [u64; 4], chips: u32, ways: u32, blocks: u32, pages: u32, ratio: u64) -> Option<Device> {
    let [page_read, page_program, block_erase, page_transfer] = times.map(ns);
    Device::new(DeviceSpec {
        chips,
        chips_per_channel: ways,
        blocks_per_chip: blocks,
        pages_per_block: pages,
        page_size: 512,
        logical_ratio: LogicalRatio::from_decimal(ratio.into(), 2).ok()?,
        page_read,
        page_program,
        block_erase,
        page_transfer,
        ..DeviceSpec::default()
    })
    .ok()
}

fn task(name: &str, read: Option<(u64, u64)>, write: Option<(u64, u64)>) -> Task {
    let request = |(pages, period): (u64, u64)| Request::new(pages, ns(period));
    Task { name: name.into(), read: read.and_then(request), write: write.and_then(request), data_pages: None }
}

fn options(duration: u64, pattern: Pattern, phases: Phases, seed: u64) -> Options {
    Options {
        duration: Instant::from_ns(duration).expect("a short run"),
        dispatch: Dispatch::Serial,
        service: Service::Tbs,
        victims: Victims::Actual,
        aging: Aging::Worst,
        pattern,
        times: Times::Worst,
        seed,
        phases,
        ..Options::default()
    }
}

/// The checks that break in a run.
fn broken(set: &TaskSet, clusters: &[Cluster], certificates: &[Certificate], options: &Options) -> Vec<&'static str> {
    let allocation = Allocation::new(set.device().chips(), set.tasks().len(), clusters).expect("an allocation");
    let allocation = allocation.with_certificates(certificates.iter().copied().map(Some).collect());
    let Ok(executed) = execute(set, &allocation, &Sound::default(), options, None) else { return vec![] };
    let broken = executed.findings.iter().filter(|finding| !finding.gauge.holds());
    broken.map(|finding| finding.assumption.name()).collect()
}

fn cluster(chips: &[u32], tasks: &[u32]) -> Cluster {
    Cluster::of(chips.iter().copied(), tasks.iter().copied())
}

/// Random clusters of a chip whose demand fits with some deadline of garbage collection: how often
/// which check breaks when the certificate is changed.
fn broken_by(change: fn(&mut Collection)) -> BTreeMap<&'static str, u32> {
    let mut all = BTreeMap::new();
    for case in 0..6_000u64 {
        let mut rng = Stream::numbered(1, b"least\0\0\0", case);
        let mut within = |low: u64, high: u64| low + rng.below(high - low + 1);
        let times = [within(1, 3), within(1, 6), within(1, 6), within(1, 2)];
        let small = |number: u64| u32::try_from(number).expect("a small number");
        let (blocks, pages, ratio) = (small(within(4, 12)), small(within(1, 4)), within(10, 80));
        let Some(device) = device(times, 1, 1, blocks, pages, ratio) else { continue };
        let writer = |name, pages: u64, period: u64| task(name, None, Some((pages, period)));
        let tasks = vec![writer("a", within(1, 6), within(8, 200)), writer("b", within(1, 6), within(8, 200))];
        let set = TaskSet::new(device, tasks, vec![]).expect("a task set");
        let clusters = [cluster(&[0], &[0, 1])];
        let work = Work::new();
        let site = ChannelContention::new(&set, &clusters, vec![Placement::Stripe], vec![0], Reliance::Nothing, &work);
        let placed = site.in_the_worst_case(0).expect("small numbers");
        let Some(gc) = placed.processor.gc(ns(within(1, 200)), false) else { continue };
        if Demand::new(&placed.processor, &placed.contentions[0], Some(gc), 0, &work).test() != DemandVerdict::Holds {
            continue;
        }
        let mut collection = gc.to_collection();
        change(&mut collection);
        let patterns = [Pattern::Fullest, Pattern::Uniform, Pattern::Sequential];
        let phases = [Phases::Periodic, Phases::AtErases];
        let choice = usize::try_from(within(0, 5)).expect("a small number");
        let options = options(4_000, patterns[choice % 3], phases[choice / 3], case);
        for name in broken(&set, &clusters, &[stripe(Some(collection))], &options) {
            *all.entry(name).or_default() += 1;
        }
    }
    all
}

fn stripe(collection: Option<Collection>) -> Certificate {
    Certificate { placement: Placement::Stripe, collection, server_thousandths: 0, backfill: true, tightest: None }
}

#[test]
fn a_page_of_reserve_and_a_copy_are_missed() {
    assert_eq!(broken_by(|_| {}), BTreeMap::new());
    let reserve = broken_by(|of| of.reserve_pages = of.reserve_pages.saturating_sub(1));
    assert!(reserve.get("reserve").is_some_and(|&times| times >= 10), "{reserve:?}");
    let copy = broken_by(|of| of.victim_pages = of.victim_pages.saturating_sub(1));
    assert!(copy.get("victim-bound").is_some_and(|&times| times >= 10), "{copy:?}");
}

/// Whether stripes hold whatever their neighbours do.
fn holds(set: &TaskSet, clusters: &[Cluster]) -> bool {
    let (placements, servers) = (vec![Placement::Stripe; clusters.len()], vec![0; clusters.len()]);
    let work = Work::new();
    let site = ChannelContention::new(set, clusters, placements, servers, Reliance::Nothing, &work);
    let all = (0..clusters.len()).map(|position| site.in_the_worst_case(position).expect("small numbers"));
    all.into_iter().all(|placed| choose(&placed.processor, &placed.contentions, 0, &work).holds())
}

/// Reads of a page on two chips of a channel, released together: the second waits for the first's
/// transfer, and has no time to spare.
#[test]
fn a_transfer_is_missed() {
    let device = device([50, 500, 5_000, 40], 2, 2, 64, 8, 50).expect("a device");
    let clusters = [cluster(&[0], &[0]), cluster(&[1], &[1])];
    let set = |period: u64| {
        let tasks = vec![task("a", Some((1, 1_000)), None), task("b", Some((1, period)), None)];
        TaskSet::new(device, tasks, vec![]).expect("a task set")
    };
    let options = options(10_000, Pattern::Uniform, Phases::Periodic, 1);
    let certificates = [stripe(None), stripe(None)];
    // t_r + 2 t_d; with one t_d it would be 90 that are accepted.
    assert!(holds(&set(131), &clusters) && !holds(&set(129), &clusters));
    assert!(broken(&set(131), &clusters, &certificates, &options).is_empty());
    assert!(broken(&set(129), &clusters, &certificates, &options).contains(&"deadlines"));
}

/// A chip that serves nothing but reads of 3 pages, and now and then one of a page that is begun a
/// nanosecond before three are asked for.
#[test]
fn a_step_of_blocking_is_missed() {
    let device = device([50, 500, 5_000, 40], 1, 1, 64, 8, 50).expect("a device");
    let clusters = [cluster(&[0], &[0, 1])];
    let set = |period: u64| {
        // The second job of `b` comes a nanosecond before a job of `a`.
        let tasks = vec![task("a", Some((3, period)), None), task("b", Some((1, 7 * period - 1)), None)];
        TaskSet::new(device, tasks, vec![]).expect("a task set")
    };
    let options = options(20_000, Pattern::Uniform, Phases::Periodic, 1);
    // 3 (t_r + t_d) and a step of blocking, t_r + t_d: 360. A nanosecond of it is not needed, as
    // time is whole; demand alone, 270, would accept 358.
    assert!(holds(&set(360), &clusters) && !holds(&set(358), &clusters));
    assert!(broken(&set(360), &clusters, &[stripe(None)], &options).is_empty());
    assert!(broken(&set(359), &clusters, &[stripe(None)], &options).is_empty());
    assert!(broken(&set(358), &clusters, &[stripe(None)], &options).contains(&"deadlines"));
}
