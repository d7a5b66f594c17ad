//! H2 (docs/host.md) in front of the simulated drive: I/Os of several commands, latencies,
//! merging, levels. Phases and think times are moved while a run comes closer to a bound.

use std::collections::{BTreeMap, HashMap};

use rtflash_host::bound::{Rule, bounds};
use rtflash_host::run::{
    Host, HostDevice, Job, JobPattern, JobReleases, RunEvent, Scenario, Watch, WriteBack, read_scenario, run_watched,
};
use rtflash_host::scheduler::{Cut, K2Settings, Levels, SchedulerSettings, Split};
use rtflash_host::{Class, Op};
use rtflash_model::random::Stream;
use rtflash_model::{Instant, Span};
use rtflash_testkit::cases;

use crate::draws::{at, ns};

/// Drives whose flash is quick, and slow.
fn drive(program: &str, buffer: u32) -> Scenario {
    let text = format!(
        r#"{{ "device": {{ "kind": "nvme",
            "flash": {{ "chips": 4, "chips_per_channel": 1, "blocks_per_chip": 80, "pages_per_block": 16,
                "page_size": 4096, "logical_ratio": 0.6, "page_read": "30ns", "page_program": "{program}",
                "block_erase": "300ns", "page_transfer": "5ns" }},
            "read": {{ "controller": "5us" }}, "write": {{ "controller": "9us" }}, "buffer": {buffer} }},
        "jobs": [ {{ "name": "r", "op": "read", "size": "4KiB" }} ], "duration": "60ms" }}"#
    );
    read_scenario(&text, None).expect("a scenario")
}

fn job(rng: &mut Stream, class: Class, number: u64) -> Job {
    let size = rng.within(1, 20) << 10;
    let random = rng.within(0, 2) == 0;
    let releases = match rng.within(0, 5) {
        0 => JobReleases::Every { period: ns(rng.within(4_000, 40_000)), jitter: ns(rng.one_of(&[0, 0, 900])) },
        1 => JobReleases::WriteBack(WriteBack { rate: rng.within(1, 8) << 30, flush: ns(rng.within(4_000, 20_000)) }),
        _ => JobReleases::Closed { depth: rng.one_of(&[1, 1, 1, 2]), think: ns(rng.one_of(&[0, 1, 200, 2_000])) },
    };
    Job {
        name: number.to_string(),
        op: rng.one_of(&[Op::Read, Op::Write]),
        pattern: if random { JobPattern::Random } else { JobPattern::Sequential },
        from: rng.one_of(&[0, 0, 4, size >> 10, 1 << 8]) << 10,
        span: Some(size * rng.one_of(&[1, 4, 16])),
        size,
        class,
        level: u8::try_from(rng.within(0, 2)).expect("a level"),
        cpu: 0,
        user_centric: false,
        is_async: false,
        until: None,
        pace: None,
        deadline: None,
        releases,
        phase: at(rng.within(0, 4_000)),
        count: (rng.within(0, 3) == 0).then_some(rng.within(1, 30)),
        ..Job::default()
    }
}

fn scenario(drives: &[Scenario], seed: u64) -> Scenario {
    let mut rng = Stream::numbered(seed, b"h-climbs", 0);
    let drive = usize::try_from(rng.within(0, drives.len() as u64 - 1)).expect("a position");
    let mut scenario = drives[drive].clone();
    let max_inflight = rng.small(1, 8);
    let HostDevice::Nvme(nvme) = &mut scenario.device else { panic!("a drive") };
    let mut cost = || (rng.one_of(&[1, 10, 60, 200]), rng.one_of(&[0, 3]), rng.one_of(&[0, 100, 900, 900]));
    let costs = [cost(), cost(), cost(), cost()];
    let places = [&mut nvme.read.sequential, &mut nvme.read.random, &mut nvme.write.sequential, &mut nvme.write.random];
    for (place, (controller, per_kib, latency)) in places.into_iter().zip(costs) {
        (place.controller, place.per_kib, place.latency) = (ns(controller), ns(per_kib), ns(latency));
    }
    nvme.inside = max_inflight + rng.small(0, 2);
    nvme.entries = rng.small(1, 4);
    nvme.read_ahead = rng.one_of(&[0, 0, 2]);
    scenario.host = Host {
        cpus: 1,
        max_sectors: rng.within(1, 8) << 10,
        requests: 10_000,
        turnaround: ns(rng.one_of(&[0, 0, 7, 150])),
        merge: rng.within(0, 1) == 0,
        ..Host::default()
    };
    let split = Split { cut: Cut::Rest, max_sectors: 4_096, multiples: false };
    scenario.scheduler = SchedulerSettings::K2(K2Settings {
        max_inflight,
        max_inflight_rest: (rng.within(0, 2) == 0).then_some(rng.small(1, 4)),
        levels: rng.one_of(&[Levels::Eight, Levels::Eight, Levels::Eight, Levels::One]),
        split: (rng.within(0, 3) == 0).then_some(split),
        ..K2Settings::k2()
    });
    let (urgent, rest) = (rng.within(1, 4), rng.within(0, 2));
    scenario.jobs = (0..urgent).map(|number| job(&mut rng, Class::RealTime, number)).collect();
    scenario.jobs.extend((urgent..urgent + rest).map(|number| job(&mut rng, Class::Idle, number)));
    scenario.duration = at(60_000);
    scenario
}

/// The longest time of a command, and how many are merged.
#[derive(Debug, Default)]
struct Times {
    begun: HashMap<u64, Instant>,
    longest: Span,
    merged: u64,
}

impl Watch for Times {
    fn see(&mut self, now: Instant, what: &RunEvent<'_>) {
        match what {
            RunEvent::HandedOver(command) => {
                self.begun.insert(command.id, now);
            }
            RunEvent::Ended(command) => {
                let begun = self.begun.remove(&command.id).expect("it was handed over");
                self.longest = self.longest.max(now.since(begun));
            }
            RunEvent::Merged { .. } => self.merged += 1,
            _ => {}
        }
    }
}

/// A job's longest latency in a run, and its bound.
#[derive(Debug, Clone, Copy)]
struct Pair {
    latency: u64,
    bound: u64,
}

impl Pair {
    fn ratio(self) -> f64 {
        self.latency as f64 / self.bound as f64
    }
}

/// Runs a scenario. Its drive states what its slowest command took in this run: the least limit
/// that it keeps. For each job that has a bound: its longest latency, or age, beside it.
fn pairs(scenario: &Scenario, seed: u64, merged: &mut u64) -> BTreeMap<usize, Pair> {
    let mut times = Times::default();
    let reports = run_watched(scenario, seed, &mut times).expect("a short run");
    *merged += times.merged;
    let ages = times.begun.values().map(|&begun| scenario.duration.since(begun));
    let limit = ages.fold(times.longest, Span::max);
    let mut stated = scenario.clone();
    let HostDevice::Nvme(nvme) = &mut stated.device else { panic!("a drive") };
    nvme.ends_within = Some(limit.max(ns(1)));
    let mut found = BTreeMap::new();
    for bound in bounds(&stated) {
        assert_eq!(bound.rule, Rule::H2);
        let Ok(terms) = bound.terms else { continue };
        let report = &reports[bound.job];
        let latency = report.latencies.max().unwrap_or(0).max(report.oldest.as_ns());
        let bound_ns = terms.bound().as_ns();
        assert!(latency <= bound_ns, "seed {seed}, job {}: {latency} ns, {terms:?}\n{stated:#?}", bound.job);
        found.insert(bound.job, Pair { latency, bound: bound_ns });
    }
    found
}

/// Moves the phase or the think time of a job.
fn moved(rng: &mut Stream, scenario: &Scenario) -> Scenario {
    let mut next = scenario.clone();
    let job = usize::try_from(rng.within(0, next.jobs.len() as u64 - 1)).expect("a position");
    let near = |rng: &mut Stream, time: u64| match rng.within(0, 1) {
        0 => (time + rng.within(0, 40)).saturating_sub(20),
        _ => rng.within(0, 4_000),
    };
    let of = &mut next.jobs[job];
    match &mut of.releases {
        JobReleases::Closed { think, .. } if rng.within(0, 2) == 0 => *think = ns(near(rng, think.as_ns())),
        _ => of.phase = at(near(rng, of.phase.as_ns())),
    }
    next
}

/// No run of a drive exceeds a bound; some come to more than 0.97 of one.
#[test]
fn no_run_of_the_drive_exceeds_a_bound() {
    let drives = [drive("60ns", 64), drive("60ns", 4), drive("2us", 64)];
    let (mut ratios, mut merged, mut several) = (Vec::new(), 0, 0);
    for seed in 0..cases(RUNS) {
        let begin = scenario(&drives, seed);
        let mut rng = Stream::numbered(seed, b"h-climbs", 1);
        let targets: Vec<usize> = pairs(&begin, seed, &mut merged).into_keys().collect();
        for target in targets {
            let (mut here, mut best) = (begin.clone(), 0.0);
            for _ in 0..MOVES {
                let next = moved(&mut rng, &here);
                if let Some(pair) = pairs(&next, seed, &mut merged).get(&target)
                    && pair.ratio() >= best
                {
                    (here, best) = (next, pair.ratio());
                }
            }
            several += u32::from(here.jobs.iter().any(|job| job.size > here.host.max_sectors));
            ratios.push(best);
        }
    }
    ratios.sort_by(f64::total_cmp);
    let (median, most) = (ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
    eprintln!(
        "{} bounds, {several} with several commands, {merged} merged, median {median}, most {most}",
        ratios.len()
    );
    assert!(ratios.len() > 100 && several > 50 && merged > 70, "{} {several} {merged}", ratios.len());
    assert!(median > 0.4 && most > 0.97, "{median} {most}");
}

const RUNS: u64 = 100;
const MOVES: u32 = 20;
