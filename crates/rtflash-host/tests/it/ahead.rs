//! k2-ahead: what it hands out, by a slow twin; what is inside when a real-time request comes; what
//! it gains.

use std::collections::HashMap;

use rtflash_host::bound::bounds;
use rtflash_host::run::{
    Attach, Emmc, EmmcCost, Host, HostDevice, Job, JobPattern, JobReleases, JobReport, RunEvent, Scenario, Watch,
    WriteBack, run, run_watched,
};
use rtflash_host::scheduler::{Cut, Ends, K2Settings, SchedulerSettings, Split, TimeBySize};
use rtflash_host::{Class, Command, Op};
use rtflash_model::random::Stream;
use rtflash_model::{Instant, Span};

use crate::draws::{at, ns};

const PAGE: u64 = 4 << 10;

fn ahead(max_inflight: u32, max_inflight_ahead: u32, pages: u64) -> K2Settings {
    let split = Split { cut: Cut::Rest, max_sectors: pages * PAGE, multiples: false };
    K2Settings { max_inflight, split: Some(split), max_inflight_ahead: Some(max_inflight_ahead), ..K2Settings::ahead() }
}

/// The rules of k2-ahead, page by page.
struct Twin {
    settings: K2Settings,
    read: TimeBySize,
    write: TimeBySize,
    /// Requests as they came, and how much of each has gone.
    queued: Vec<(Command, u64)>,
    inside: Vec<Command>,
    free: u64,
}

impl Twin {
    fn cost(&self, op: Op, size: u64) -> u64 {
        let line = if op == Op::Read { self.read } else { self.write };
        line.begin.as_ns() + (size * line.per_kib.as_ns()).div_ceil(1_024)
    }

    fn ask(&mut self, now: u64, earliest: Option<u64>) -> Option<Command> {
        let inside = u32::try_from(self.inside.len()).expect("a few");
        let urgent = (0..8).find_map(|level| {
            self.queued.iter().position(|(command, _)| command.is_real_time() && command.level == level)
        });
        let (place, size) = if let Some(place) = urgent {
            if inside >= self.settings.max_inflight {
                return None;
            }
            (place, self.queued[place].0.size)
        } else {
            let (request, gone) = *self.queued.first()?;
            let left = request.size - gone;
            let starts = self.free.max(now);
            let ends_in_time = |size: &u64| {
                earliest.is_none_or(|earliest| starts < earliest && starts + self.cost(request.op, *size) <= earliest)
            };
            let sizes = (1..=left / PAGE).map(|pages| pages * PAGE).filter(|&size| size < left).chain([left]);
            let longest = sizes.filter(ends_in_time).max();
            let least = self.settings.split.expect("it cuts").max_sectors;
            let size = if inside < self.settings.max_inflight {
                longest.unwrap_or(0).max(least.min(left))
            } else if inside < self.settings.max_inflight_ahead.expect("it looks ahead") {
                longest?
            } else {
                return None;
            };
            (0, size)
        };
        let (request, gone) = &mut self.queued[place];
        let handed = Command { from: request.from + *gone, size, ..*request };
        *gone += size;
        if *gone == request.size {
            self.queued.remove(place);
        }
        self.free = self.free.max(now) + self.cost(handed.op, size);
        self.inside.push(handed);
        Some(handed)
    }
}

#[test]
fn what_is_handed_out_is_what_a_slow_twin_hands_out() {
    let (mut handed, mut cut, mut beyond) = (0, 0, 0);
    for seed in 0..3_000 {
        let mut rng = Stream::numbered(seed, b"ahead---", 0);
        let mut line = || TimeBySize { begin: ns(rng.within(1, 90)), per_kib: ns(rng.within(0, 9)) };
        let (read, write) = (line(), line());
        let settings = ahead(rng.small(1, 3), rng.small(1, 5), rng.within(1, 3));
        let mut scheduler = SchedulerSettings::K2(settings).scheduler();
        scheduler.foretell(Ends::InTurn { read, write });
        assert!(scheduler.looks_ahead());
        let mut twin = Twin { settings, read, write, queued: vec![], inside: vec![], free: 0 };
        let mut now = 0;
        for id in 0..60 {
            now += rng.within(0, 120);
            if rng.within(0, 2) > 0 {
                let class = rng.one_of(&[Class::RealTime, Class::BestEffort, Class::Idle, Class::Idle]);
                let command = Command {
                    id,
                    op: rng.one_of(&[Op::Read, Op::Write]),
                    from: rng.within(0, 99) * PAGE,
                    size: rng.within(1, 60) << 10,
                    class,
                    level: u8::try_from(rng.within(0, 7)).expect("a level"),
                    cpu: 0,
                    job: 0,
                    user_centric: false,
                };
                assert_eq!(scheduler.piece(&command), None);
                scheduler.insert(command, at(now));
                twin.queued.push((command, 0));
            }
            for _ in 0..rng.within(0, 3) {
                let earliest = (rng.within(0, 9) > 0).then_some(now + rng.within(0, 700));
                scheduler.foresee(earliest.map(at));
                let expected = twin.ask(now, earliest);
                assert_eq!(scheduler.ask(at(now)), expected, "seed {seed} at {now} ns");
                handed += u32::from(expected.is_some());
                cut += u32::from(expected.is_some_and(|command| command.size > 3 * PAGE && !command.is_real_time()));
                beyond += u32::from(twin.inside.len() > settings.max_inflight as usize);
            }
            if rng.within(0, 1) == 0 && !twin.inside.is_empty() {
                let command = twin.inside.remove(0);
                scheduler.completed(&command, at(now));
                if twin.inside.is_empty() {
                    twin.free = now;
                }
            }
        }
    }
    assert!(handed > 40_000 && cut > 10_000 && beyond > 5_000, "{handed} {cut} {beyond}");
}

/// Without a device it is K2-split.
#[test]
fn without_a_device_it_cuts_as_k2_split_does() {
    let request = |class, size: u64| Command {
        id: 0,
        op: Op::Write,
        from: 0,
        size,
        class,
        level: 0,
        cpu: 0,
        job: 0,
        user_centric: false,
    };
    let (one, other) =
        (SchedulerSettings::K2(ahead(1, 4, 1)).scheduler(), SchedulerSettings::named("k2-split").expect("it is"));
    assert_eq!(SchedulerSettings::named("k2-ahead").map(|settings| settings.name()), Some("k2-ahead"));
    assert_eq!(one.piece(&request(Class::Idle, 10 << 10)), Some(PAGE));
    assert_eq!(one.piece(&request(Class::RealTime, 10 << 10)), None);
    assert_eq!(other.scheduler().piece(&request(Class::BestEffort, 10 << 20)), None);
}

fn us(microseconds: u32) -> Span {
    Span::from_us(microseconds)
}

/// A real-time reader of 64 KiB, and a writer of `kib` KiB that always has four requests
/// outstanding.
fn workload(releases: JobReleases, kib: u64, turnaround: Span, scheduler: K2Settings) -> Scenario {
    let reader = Job {
        name: "reader".into(),
        op: Op::Read,
        pattern: JobPattern::Random,
        from: 0,
        span: Some(1 << 30),
        size: 64 << 10,
        class: Class::RealTime,
        level: 0,
        cpu: 0,
        user_centric: false,
        is_async: false,
        releases,
        phase: at(0),
        count: None,
        until: None,
        pace: None,
        ..Job::default()
    };
    let writer = Job {
        name: "writer".into(),
        op: Op::Write,
        pattern: JobPattern::Sequential,
        span: None,
        size: kib << 10,
        class: Class::Idle,
        releases: JobReleases::Closed { depth: 4, think: Span::ZERO },
        ..reader.clone()
    };
    Scenario {
        device: HostDevice::Emmc(Box::new(Emmc {
            attach: Attach::default(),
            depth: 4,
            read: EmmcCost { first: us(200), next: us(100), per_kib: us(10), slow: None },
            write: EmmcCost { first: us(500), next: us(300), per_kib: us(15), slow: None },
            discard: None,
            cache: None,
            slow: None,
        })),
        host: Host { cpus: 1, max_sectors: 1_280 << 10, requests: 1_024, turnaround, merge: false, ..Host::default() },
        scheduler: SchedulerSettings::K2(scheduler),
        jobs: vec![reader, writer],
        duration: at(3_000_000_000),
        warmup: Instant::START,
    }
}

fn every(milliseconds: u32, jitter: Span) -> JobReleases {
    JobReleases::Every { period: us(milliseconds * 1_000), jitter }
}

fn k2_split() -> K2Settings {
    K2Settings {
        max_inflight: 1,
        split: Some(Split { cut: Cut::Rest, max_sectors: PAGE, multiples: false }),
        ..K2Settings::k2()
    }
}

fn bound(scenario: &Scenario) -> u64 {
    bounds(scenario)[0].terms.as_ref().expect("a bound").bound().as_ns()
}

fn ran(scenario: &Scenario) -> Vec<JobReport> {
    run(scenario, 1).expect("a short run")
}

#[test]
fn three_times_the_throughput_under_the_same_bound() {
    for releases in [20, 35, 50, 70, 100].map(|period| every(period, Span::ZERO)) {
        let split = workload(releases, 512, Span::ZERO, k2_split());
        let ahead = workload(releases, 512, Span::ZERO, K2Settings::ahead());
        assert_eq!(bound(&split), bound(&ahead));
        let (one, other) = (ran(&split), ran(&ahead));
        assert!(other[0].latencies.max().is_some_and(|max| max <= bound(&split)));
        assert!(other[1].bytes_per_s > 3 * one[1].bytes_per_s, "{releases:?}");
    }
    // Releases that are late by any time up to three quarters of a period leave it a quarter, and
    // what it learns from them.
    let late = every(20, us(15_000));
    let split = workload(late, 512, Span::ZERO, k2_split());
    let ahead = workload(late, 512, Span::ZERO, K2Settings::ahead());
    assert!(ran(&ahead)[1].bytes_per_s > 2 * ran(&split)[1].bytes_per_s);
    assert!(ran(&ahead)[0].latencies.max().is_some_and(|max| max <= bound(&split)));
}

#[test]
fn more_inside_gains_where_the_host_takes_its_time() {
    let written_back = |settings| {
        let mut scenario = workload(every(20, Span::ZERO), 4, us(200), settings);
        scenario.host.requests = 10_000;
        scenario.jobs[1].releases = JobReleases::WriteBack(WriteBack { rate: 7_000_000, flush: us(100_000) });
        scenario
    };
    let k2 = written_back(K2Settings { max_inflight: 1, ..K2Settings::k2() });
    let more = written_back(ahead(1, 4, 1));
    assert_eq!(bound(&k2), bound(&more));
    let (one, other) = (ran(&k2), ran(&more));
    assert!(other[0].latencies.max().is_some_and(|max| max <= bound(&k2)));
    assert!(5 * other[1].bytes_per_s > 6 * one[1].bytes_per_s, "{} {}", one[1].bytes_per_s, other[1].bytes_per_s);
}

/// The commands inside when a real-time I/O is released.
struct Guard<'a> {
    settings: &'a K2Settings,
    scenario: &'a Scenario,
    inside: HashMap<u64, Vec<Command>>,
    longer: u32,
    released: u32,
}

impl Watch for Guard<'_> {
    fn see(&mut self, now: Instant, what: &RunEvent<'_>) {
        match *what {
            RunEvent::HandedOver(command) | RunEvent::PartHandedOver(command) => {
                self.longer += u32::from(command.size > self.settings.split.expect("it cuts").max_sectors);
                self.inside.entry(command.id).or_default().push(*command);
            }
            RunEvent::Ended(command) => {
                let parts = self.inside.get_mut(&command.id).expect("it is inside");
                parts.retain(|part| part != command);
            }
            RunEvent::Released { job, .. } if self.scenario.jobs[job].is_real_time() => {
                self.released += 1;
                let inside: Vec<&Command> = self.inside.values().flatten().collect();
                assert!(inside.len() <= self.settings.max_inflight as usize, "{now}: {inside:?}");
                let longest = self.settings.split.expect("it cuts").max_sectors;
                assert!(inside.iter().all(|command| command.is_real_time() || command.size <= longest), "{now}");
            }
            _ => {}
        }
    }
}

#[test]
fn nothing_long_and_no_more_than_agreed_is_inside_when_a_real_time_request_comes() {
    let (mut longer, mut released) = (0, 0);
    for seed in 0..300 {
        let mut rng = Stream::numbered(seed, b"guard---", 0);
        let settings = ahead(rng.small(1, 2), rng.small(1, 4), rng.within(1, 3));
        let mut draw = || match rng.within(0, 2) {
            0 => JobReleases::Closed { depth: rng.small(1, 2), think: us(rng.small(0, 9_000)) },
            _ => {
                let period = rng.small(5, 40);
                every(period, us(rng.small(0, period * 500) * rng.small(0, 1)))
            }
        };
        let (one, other) = (draw(), draw());
        let turnaround = us(rng.one_of(&[0, 0, 30, 400]));
        let mut scenario = workload(one, rng.within(1, 800), turnaround, settings);
        let second = Job {
            name: "second".into(),
            level: 3,
            releases: other,
            phase: at(rng.within(0, 9_999_999)),
            until: (rng.within(0, 3) == 0).then_some(at(100_000_000)),
            count: (rng.within(0, 3) == 0).then_some(7),
            ..scenario.jobs[0].clone()
        };
        scenario.jobs.push(second);
        scenario.duration = at(200_000_000);
        let mut guard =
            Guard { settings: &settings, scenario: &scenario, inside: HashMap::new(), longer: 0, released: 0 };
        run_watched(&scenario, seed, &mut guard).expect("a short run");
        longer += guard.longer;
        released += guard.released;
    }
    assert!(longer > 1_000 && released > 3_000, "{longer} {released}");
}
