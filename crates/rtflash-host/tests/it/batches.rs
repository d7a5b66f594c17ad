//! Bounds on measured drives, which take commands together, against runs.

use rtflash_host::bound::bounds;
use rtflash_host::run::{
    AfterIdle, Attach, HostDevice, Job, JobReleases, MeasuredCost, MeasuredDrive, ReplayedCommand, Scenario,
    SizeServices, StallWindow, read_scenario, replay, run,
};
use rtflash_host::scheduler::{K2Settings, SchedulerSettings};
use rtflash_host::{Class, Op};
use rtflash_model::random::Stream;
use rtflash_testkit::cases;

use crate::bounds::{scenario, searched};
use crate::draws::ns;

/// Services of three sizes that are in no order: the longest of a small one can be above those of a
/// large one.
fn cost(rng: &mut Stream) -> MeasuredCost {
    let per_kib = rng.within(0, 6);
    let services = [1, 4, 12].map(|kib| {
        let base = rng.within(5, 60) + kib * per_kib;
        let ns = (0..rng.within(2, 6)).map(|_| base + rng.below(60)).collect();
        SizeServices::new(kib << 10, ns).expect("services").with_usual(base + rng.below(60))
    });
    let (first, next) = (ns(rng.within(5, 60)), ns(rng.within(5, 60)));
    MeasuredCost { first, next, per_kib: ns(per_kib), services: services.into() }
}

/// The scenario of a seed on a measured drive that takes up to `together` commands together.
fn measured(seed: u64) -> Scenario {
    let mut rng = Stream::numbered(seed, b"h-batchs", 0);
    let (read, write) = (cost(&mut rng), cost(&mut rng));
    let services = [&read, &write].into_iter().flat_map(|cost| &cost.services);
    let shortest = services.flat_map(|of| of.ns().iter().copied()).min().expect("services");
    let idle = (rng.below(3) == 0).then(|| AfterIdle { after: ns(rng.within(1, 300)), extra: ns(rng.within(1, 60)) });
    let device = MeasuredDrive {
        attach: if seed.is_multiple_of(2) { Attach::Budget } else { Attach::Tags },
        depth: rng.small(1, 6),
        together: rng.small(1, 4),
        each: ns(rng.within(0, shortest)),
        each_per_kib: (rng.below(2) == 0).then(|| ns(rng.within(0, 6))),
        idle,
        stalls: Vec::new(),
        read,
        write,
    };
    let mut scenario = scenario(seed);
    if rng.below(2) == 0 {
        // Little is ahead of the last command, and a longer one joins its batch.
        scenario.jobs.truncate(1);
        let background = JobReleases::Closed { depth: 1, think: ns(0) };
        let (class, size, count) = (Class::Idle, rng.within(4, 12) << 10, None);
        let name = "background".to_owned();
        scenario.jobs.push(Job { name, class, size, count, releases: background, ..scenario.jobs[0].clone() });
    }
    if let SchedulerSettings::K2(k2) = scenario.scheduler {
        scenario.scheduler = SchedulerSettings::K2(K2Settings { max_inflight: rng.small(1, 6), ..k2 });
    }
    Scenario { device: HostDevice::Measured(Box::new(device)), ..scenario }
}

/// The bounds, in ns, by job, as if the device took one command at a time.
fn serial(scenario: &Scenario) -> Vec<(usize, u64)> {
    let HostDevice::Measured(device) = &scenario.device else { panic!("a measured drive") };
    let device = MeasuredDrive { together: 1, ..(**device).clone() };
    let scenario = Scenario { device: HostDevice::Measured(Box::new(device)), ..scenario.clone() };
    let found = bounds(&scenario).into_iter();
    found.filter_map(|bound| Some((bound.job, bound.terms.ok()?.bound().as_ns()))).collect()
}

/// The scenario of a seed on a drive that takes one command at a time, and limits its stalls.
fn stalling(seed: u64) -> Scenario {
    let mut rng = Stream::numbered(seed, b"h-stalls", 0);
    let mut scenario = measured(seed);
    let HostDevice::Measured(device) = &mut scenario.device else { panic!("a measured drive") };
    device.together = 1;
    let limits = rng.within(1, 2);
    device.stalls =
        (0..limits).map(|_| StallWindow { most: rng.small(1, 3), within: ns(rng.within(50, 3_000)) }).collect();
    scenario
}

/// No run exceeds a bound that counts stalls, some bounds are shorter for it, and without the
/// stalls some runs exceed them.
#[test]
fn stalls_are_counted() {
    let (mut shorter, mut beyond, mut ratios) = (0, 0, Vec::new());
    for seed in 0..cases(400) {
        let scenario = stalling(seed);
        let HostDevice::Measured(device) = &scenario.device else { panic!("a measured drive") };
        let with = |device: MeasuredDrive| {
            let scenario = Scenario { device: HostDevice::Measured(Box::new(device)), ..scenario.clone() };
            found(&scenario)
        };
        let longest = with(MeasuredDrive { stalls: Vec::new(), ..(**device).clone() });
        let usual = |cost: &MeasuredCost| {
            let services = cost.services.iter().map(|of| {
                let ns = of.ns().iter().map(|&ns| ns.min(of.usual())).collect();
                SizeServices::new(of.size(), ns).expect("services")
            });
            MeasuredCost { services: services.collect(), ..cost.clone() }
        };
        let (read, write) = (usual(&device.read), usual(&device.write));
        let without = with(MeasuredDrive { stalls: Vec::new(), read, write, ..(**device).clone() });
        let bounds = bounds(&scenario);
        let seen = searched(&scenario, &bounds, seed, 25);
        for (&(job, bound), &seen) in found(&scenario).iter().zip(&seen) {
            let of = |all: &[(usize, u64)]| all.iter().find(|(of, _)| *of == job).map(|&(_, bound)| bound);
            shorter += u32::from(of(&longest).is_none_or(|longest| bound < longest));
            beyond += u32::from(of(&without).is_some_and(|without| seen > without));
            ratios.push(seen as f64 / bound as f64);
        }
    }
    ratios.sort_by(f64::total_cmp);
    let most = ratios[ratios.len() - 1];
    eprintln!("{} bounds, {shorter} shorter by stalls, {beyond} beyond the usual, most {most}", ratios.len());
    assert!(shorter > 20 && beyond > 20 && most >= 0.95, "{shorter} {beyond} {most}");
}

/// The bounds that there are, in ns, by job.
fn found(scenario: &Scenario) -> Vec<(usize, u64)> {
    let found = bounds(scenario).into_iter();
    found.filter_map(|bound| Some((bound.job, bound.terms.ok()?.bound().as_ns()))).collect()
}

/// An example by hand. A read of 10 ns joins a write of 100 ns while 10 ns of it are left. Behind
/// that it waits, and takes 105 ns in a batch with the next write: 114 ns. The bound grants no read
/// to join the write under way: it is 100 ns and 105 ns. Two commands can be inside, however many
/// the drive takes together. A command of the batch adds 5 ns and its bytes, but no more than the
/// longest command: with 1 ns per KiB, 1,280 KiB would add 1,285 ns.
#[test]
fn a_later_command_delays_its_batch() {
    let text = |together: u32, [read, write]: [u32; 2]| {
        format!(
            r#"{{ "device": {{ "kind": "measured", "depth": 2, "together": {together}, "each": "5ns",
                "read": {{ "first": "10ns", "next": "10ns", "per_kib": "{read}ns", "services": [ {{ "size": "4KiB", "ns": [10] }} ] }},
                "write": {{ "first": "100ns", "next": "100ns", "per_kib": "{write}ns", "services": [ {{ "size": "4KiB", "ns": [100] }} ] }} }},
            "scheduler": {{ "name": "k2", "max_inflight": 2 }}, "duration": "20us",
            "jobs": [ {{ "name": "log", "op": "write", "size": "4KiB", "class": "idle" }},
                {{ "name": "rt", "op": "read", "size": "4KiB", "class": "rt", "every": "1us", "phase": "1ns" }} ] }}"#
        )
    };
    let found = |together, per_kib| {
        let scenario = read_scenario(&text(together, per_kib), None).expect("a scenario");
        let bound = bounds(&scenario)[0].terms.as_ref().expect("a bound").bound().as_ns();
        (bound, run(&scenario, 1).expect("a short run")[1].latencies.max())
    };
    assert_eq!(found(1, [0, 0]), (110, Some(109)));
    assert_eq!(found(2, [0, 0]), (205, Some(114)));
    assert_eq!(found(4, [0, 0]), (205, Some(114)));
    assert_eq!(found(2, [1, 0]), (300, Some(117)));
    assert_eq!(found(2, [0, 1]), (300, Some(114)));
}

/// The read is the longest command of the batch by its line, and its service is 10 ns. The write
/// takes 60 ns at least, so that the batch does, too. The read adds 5 ns.
#[test]
fn no_command_of_a_batch_takes_less_than_its_shortest_service() {
    let text = r#"{ "device": { "kind": "measured", "depth": 2, "together": 2, "each": "5ns",
            "read": { "first": "100ns", "next": "100ns", "per_kib": "0ns", "services": [ { "size": "4KiB", "ns": [10] } ] },
            "write": { "first": "50ns", "next": "50ns", "per_kib": "0ns", "services": [ { "size": "4KiB", "ns": [60] } ] } },
        "scheduler": "none", "duration": "20us",
        "jobs": [ { "name": "reader", "op": "read", "size": "4KiB", "count": 1 },
            { "name": "writer", "op": "write", "size": "4KiB", "count": 1 } ] }"#;
    let scenario = read_scenario(text, None).expect("a scenario");
    let reports = run(&scenario, 1).expect("a short run");
    assert_eq!([0, 1].map(|job: usize| reports[job].latencies.max()), [Some(65); 2]);
}

/// A batch takes the service of the command that is longest by its line, the write: 100 ns, which
/// come before 10. The read adds 5 ns, and its bytes, but no more than its longest service, 20 ns.
#[test]
fn the_longest_command_by_its_line_is_drawn() {
    let found = |per_kib: u32| {
        let text = format!(
            r#"{{ "device": {{ "kind": "measured", "depth": 2, "together": 2, "each": "5ns",
                "read": {{ "first": "20ns", "next": "20ns", "per_kib": "{per_kib}ns", "services": [ {{ "size": "4KiB", "ns": [20] }} ] }},
                "write": {{ "first": "100ns", "next": "100ns", "per_kib": "0ns", "services": [ {{ "size": "4KiB", "ns": [100, 10] }} ] }} }},
            "scheduler": "none", "duration": "20us",
            "jobs": [ {{ "name": "reader", "op": "read", "size": "4KiB", "count": 1 }},
                {{ "name": "writer", "op": "write", "size": "4KiB", "count": 1 }} ] }}"#
        );
        let scenario = read_scenario(&text, None).expect("a scenario");
        run(&scenario, 1).expect("a short run")[0].latencies.max()
    };
    assert_eq!([0, 10].map(found), [Some(105), Some(120)]);
}

/// No run exceeds a bound. Some runs exceed the bound of a device that takes one command at a time:
/// a later command delays its batch.
#[test]
fn no_batch_ends_behind_a_bound() {
    let (mut ratios, mut together, mut beyond) = (Vec::new(), 0, 0);
    for seed in 0..cases(600) {
        let scenario = measured(seed);
        let HostDevice::Measured(device) = &scenario.device else { panic!("a measured drive") };
        let bounds = bounds(&scenario);
        let bounded: Vec<(usize, u64)> =
            bounds.iter().filter_map(|bound| Some((bound.job, bound.terms.as_ref().ok()?.bound().as_ns()))).collect();
        let longest = searched(&scenario, &bounds, seed, 25);
        let serial = serial(&scenario);
        for (&(job, bound), &longest) in bounded.iter().zip(&longest) {
            ratios.push(longest as f64 / bound as f64);
            let exceeds = serial.iter().any(|&(of, serial)| of == job && longest > serial);
            together += u32::from(device.together > 1);
            beyond += u32::from(exceeds);
        }
    }
    ratios.sort_by(f64::total_cmp);
    let (median, most) = (ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
    eprintln!("{} bounds, {together} of batches, median {median}, most {most}; {beyond} beyond serial", ratios.len());
    assert!(together > 200 && beyond > 3, "{together} {beyond}");
    assert!(median >= 0.4 && most >= 0.99, "{median} {most}");
}

/// A command joins a batch that runs while its shortest service is left, but no write joins one
/// that a read began.
#[test]
fn a_command_joins_a_batch_in_time() {
    let services = [(1, 10_000), (4, 1_000_000)].map(|(kib, ns)| SizeServices::new(kib << 10, vec![ns]).expect("one"));
    let cost = MeasuredCost { first: ns(10_000), next: ns(10_000), per_kib: ns(0), services: services.into() };
    let (attach, depth, together, each) = (Attach::Unstated, 8, 8, ns(100));
    let (read, write, idle, stalls) = (cost.clone(), cost, None, Vec::new());
    let drive = MeasuredDrive { attach, depth, together, each, each_per_kib: None, idle, stalls, read, write };
    let device = HostDevice::Measured(Box::new(drive));
    let took = |op: Op, at: u64| {
        let command = |(op, gap, size)| ReplayedCommand { after: 0, gap: ns(gap), op, from: 0, size, is_first: true };
        replay(&device, &[(Op::Read, 0, 4_096), (op, at, 1_024)].map(command), 1)
    };
    assert_eq!(took(Op::Read, 990_000), [ns(1_000_100), ns(10_100)]);
    assert_eq!(took(Op::Read, 990_001), [ns(1_000_000), ns(19_999)]);
    assert_eq!(took(Op::Write, 500_000), [ns(1_000_000), ns(510_000)]);
}
