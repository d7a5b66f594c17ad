//! Bounds on measured drives, which take commands together, against runs.

use rtflash_host::bound::bounds;
use rtflash_host::run::{
    AfterIdle, Attach, HostDevice, MeasuredCost, MeasuredDrive, Scenario, SizeServices, read_scenario, run,
};
use rtflash_host::scheduler::{K2Settings, SchedulerSettings};
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
        SizeServices::new(kib << 10, ns).expect("services")
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
        attach: Attach::default(),
        depth: rng.small(1, 6),
        together: rng.small(1, 4),
        each: ns(rng.within(0, shortest)),
        idle,
        read,
        write,
    };
    let mut scenario = scenario(seed);
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

/// By hand: a write of 100 ns has just begun. The read behind it joins a batch with the next write,
/// and ends 105 ns after that begins. The first write is all that can be ahead of the read.
#[test]
fn a_later_command_delays_its_batch() {
    let text = |together: u32| {
        format!(
            r#"{{ "device": {{ "kind": "measured", "depth": 2, "together": {together}, "each": "5ns",
                "read": {{ "first": "10ns", "next": "10ns", "per_kib": "0ns", "services": [ {{ "size": "4KiB", "ns": [10] }} ] }},
                "write": {{ "first": "100ns", "next": "100ns", "per_kib": "0ns", "services": [ {{ "size": "4KiB", "ns": [100] }} ] }} }},
            "scheduler": {{ "name": "k2", "max_inflight": 2 }}, "duration": "20us",
            "jobs": [ {{ "name": "log", "op": "write", "size": "4KiB", "class": "idle" }},
                {{ "name": "rt", "op": "read", "size": "4KiB", "class": "rt", "every": "1us", "phase": "1ns" }} ] }}"#
        )
    };
    let found = |together| {
        let scenario = read_scenario(&text(together), None).expect("a scenario");
        let bound = bounds(&scenario)[0].terms.as_ref().expect("a bound").bound().as_ns();
        (bound, run(&scenario, 1).expect("a short run")[1].latencies.max())
    };
    assert_eq!(found(1), (110, Some(109)));
    assert_eq!(found(2), (205, Some(204)));
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
    assert!(together > 200 && beyond > 0, "{together} {beyond}");
    assert!(median >= 0.4 && most >= 0.99, "{median} {most}");
}
