//! Bounds against runs, and against the form of them that is commonly stated (docs/host.md).

use rtflash_host::bound::{Assumptions, Bound, Why, bounds};
use rtflash_host::run::{
    Attach, Between, Emmc, EmmcCost, Host, HostDevice, Job, JobPattern, JobReleases, Scenario, Slow, WriteBack, cut,
    read_scenario, run, run_by, run_watched,
};
use rtflash_host::scheduler::{Cut, K2Settings, Levels, SchedulerSettings, Split};
use rtflash_host::{Class, Command, Op, Scheduler};
use rtflash_model::random::Stream;
use rtflash_model::{Instant, Span};
use rtflash_testkit::cases;

use crate::draws::{at, ns};
use crate::sums::{self, Without};

pub fn job(rng: &mut Stream, class: Class, number: u64) -> Job {
    let real_time = class == Class::RealTime;
    let size = (rng.within(1, 10) << 10) * if real_time { 1 } else { rng.within(1, 3) };
    Job {
        name: number.to_string(),
        op: rng.one_of(&[Op::Read, Op::Write]),
        pattern: JobPattern::Sequential,
        from: rng.one_of(&[0, 0, 4, 8, size >> 10]) << 10,
        span: (rng.within(0, 2) == 0).then_some(size),
        size,
        class,
        level: u8::try_from(rng.within(0, 3)).expect("a level"),
        cpu: 0,
        user_centric: false,
        is_async: false,
        until: None,
        pace: None,
        deadline: None,
        releases: if rng.within(0, 7) == 0 {
            JobReleases::WriteBack(WriteBack { rate: rng.within(1, 8) << 30, flush: ns(rng.within(300, 3_000)) })
        } else if rng.within(0, 2) == 0 {
            let jitter = rng.one_of(&[0, 0, 60]);
            JobReleases::Every { period: ns(rng.within(400, 3_000)), jitter: ns(jitter) }
        } else {
            let depth = if real_time { rng.one_of(&[1, 1, 1, 2]) } else { rng.small(1, 3) };
            JobReleases::Closed { depth, think: ns(rng.one_of(&[0, 1, 50, 300, 1_000])) }
        },
        phase: at(rng.within(0, 500)),
        count: (rng.within(0, 5) == 0).then_some(rng.within(1, 9)),
        ..Job::default()
    }
}

fn scheduler(rng: &mut Stream) -> SchedulerSettings {
    let split = Split { cut: Cut::Rest, max_sectors: 4_096 * rng.within(1, 3), multiples: false };
    let max_inflight = rng.small(1, 3);
    let max_inflight_rest = (rng.within(0, 3) == 0).then_some(rng.small(1, 3));
    let levels = rng.one_of(&[Levels::Eight, Levels::Eight, Levels::One]);
    let k2 = K2Settings { max_inflight, max_inflight_rest, levels, ..K2Settings::k2() };
    let k2_split = K2Settings { split: Some(split), ..k2 };
    let k2_ahead = K2Settings { max_inflight_ahead: Some(rng.small(1, 4)), ..k2_split };
    rng.one_of(&[
        SchedulerSettings::None,
        SchedulerSettings::K2(k2),
        SchedulerSettings::K2(k2_split),
        SchedulerSettings::K2(k2_ahead),
        SchedulerSettings::K2(k2_ahead),
    ])
}

/// A random scenario on an eMMC.
pub fn scenario(seed: u64) -> Scenario {
    let mut rng = Stream::numbered(seed, b"h-bounds", 0);
    let mut cost = || EmmcCost {
        first: ns(rng.within(1, 60)),
        next: ns(rng.within(1, 60)),
        per_kib: ns(rng.within(0, 9)),
        slow: None,
    };
    let (mut read, mut write) = (cost(), cost());
    let between = Between { shortest: ns(50), longest: ns(2_000) };
    let slow = (rng.within(0, 3) == 0).then(|| Slow { every: between, length: between, extra: ns(rng.within(1, 50)) });
    let mut its = Stream::numbered(seed, b"h-slower", 0);
    for cost in [&mut read, &mut write] {
        let is_slow = its.within(0, 7) == 0;
        cost.slow = is_slow.then(|| Slow { every: between, length: between, extra: ns(its.within(1, 50)) });
    }
    let mut jobs: Vec<Job> = (0..rng.within(1, 3)).map(|number| job(&mut rng, Class::RealTime, number)).collect();
    for number in 0..rng.within(0, 2) {
        let class = rng.one_of(&[Class::BestEffort, Class::Idle]);
        jobs.push(job(&mut rng, class, 10 + number));
    }
    Scenario {
        device: HostDevice::Emmc(Box::new(Emmc {
            attach: Attach::Budget,
            depth: rng.small(1, 3),
            read,
            write,
            discard: None,
            cache: None,
            slow,
        })),
        host: Host {
            cpus: 1,
            max_sectors: rng.within(4, 16) << 10,
            requests: 100,
            turnaround: ns(rng.one_of(&[0, 0, 3, 40])),
            overhead: ns(if seed.is_multiple_of(8) { 70 } else { 0 }),
            merge: rng.within(0, 3) == 0,
            ..Host::default()
        },
        scheduler: scheduler(&mut rng),
        jobs,
        duration: at(8_000),
        warmup: at(0),
    }
}

/// The longest latency of each job that has a bound, what is open at the end included; asserts that
/// none is above its bound.
pub fn worst(scenario: &Scenario, bounds: &[Bound], seed: u64) -> Vec<u64> {
    let mut seen = Assumptions::new(scenario);
    let reports = run_watched(scenario, seed, &mut seen).expect("short runs");
    if !bounds.is_empty() && bounds.iter().all(|bound| bound.terms.is_ok()) {
        assert!(
            seen.found().all(|seen| seen.broken.is_none()),
            "{:?}\n{scenario:#?}",
            seen.found().collect::<Vec<_>>()
        );
    }
    let with_bound = bounds.iter().filter_map(|bound| Some((bound.job, bound.terms.as_ref().ok()?.bound())));
    with_bound
        .map(|(job, bound)| {
            let longest = reports[job].latencies.max().unwrap_or(0).max(reports[job].oldest.as_ns());
            assert!(longest <= bound.as_ns(), "job {job}: {longest} ns, and {bound} at most:\n{scenario:#?}");
            longest
        })
        .collect()
}

/// The names of what a run by this scheduler does not keep to.
fn broken(scenario: &Scenario, by: &Scenario) -> Vec<&'static str> {
    broken_by(scenario, by.scheduler.scheduler(), by)
}

/// The names of what `by` is seen to break of what the bounds of `scenario` suppose.
fn broken_by(scenario: &Scenario, scheduler: Box<dyn Scheduler>, by: &Scenario) -> Vec<&'static str> {
    let mut seen = Assumptions::new(scenario);
    run_by(by, scheduler, 1, &mut seen).expect("a short run");
    seen.found().filter(|seen| seen.broken.is_some()).map(|seen| seen.name).collect()
}

/// The longest latency of each job that has a bound over phases: at random at first, then changed
/// one by one.
pub fn searched(scenario: &Scenario, bounds: &[Bound], seed: u64, rounds: u64) -> Vec<u64> {
    let mut rng = Stream::numbered(seed, b"h-phases", 0);
    let mut scenario = scenario.clone();
    let mut best = worst(&scenario, bounds, seed);
    let targets = best.len();
    for target in 0..targets {
        let mut here = best[target];
        for _ in 0..rounds {
            let changed = usize::try_from(rng.within(0, scenario.jobs.len() as u64 - 1)).expect("a position");
            let before = scenario.jobs[changed].phase;
            let near = rng.within(0, 1) == 0;
            let phase =
                if near { (before.as_ns() + rng.within(0, 40)).saturating_sub(20) } else { rng.within(0, 3_000) };
            scenario.jobs[changed].phase = at(phase);
            let now = worst(&scenario, bounds, seed);
            best.iter_mut().zip(&now).for_each(|(best, now)| *best = (*best).max(*now));
            if now[target] >= here {
                here = now[target];
            } else {
                scenario.jobs[changed].phase = before;
            }
        }
    }
    best
}

/// Another job's place: its level, the cost of an I/O, and the least time to the next one.
type Other = (u8, u64, u64);

/// The common form of H1, nothing clever in it: nanoseconds for a real-time job of a scheduler with
/// levels; `None` where it has no end.
fn plain_h1(scenario: &Scenario, job: usize) -> Option<u64> {
    let SchedulerSettings::K2(k2) = scenario.scheduler else { return None };
    let HostDevice::Emmc(emmc) = &scenario.device else { panic!("an eMMC") };
    let scheduler = scenario.scheduler.scheduler();
    let costs = |job: usize| -> Vec<u64> {
        let whole = scenario.whole(job, 0).expect("a command");
        let pieces = scenario
            .requests(whole)
            .flat_map(|request| cut(request, scheduler.piece(&request).unwrap_or(request.size)).collect::<Vec<_>>());
        let cost = |(number, piece)| emmc.service(&piece, number == 0).as_ns() + scenario.host.turnaround.as_ns();
        pieces.enumerate().map(cost).collect()
    };
    let level = |job: &Job| match (job.class, k2.levels) {
        (Class::RealTime, Levels::Eight) => job.level,
        (Class::RealTime, Levels::One) => 0,
        _ => 8,
    };
    let depth = |job: &Job| match job.releases {
        JobReleases::Closed { depth, .. } => depth as usize,
        JobReleases::Every { .. } if job.class == Class::RealTime => 1,
        JobReleases::Every { .. } | JobReleases::WriteBack(_) | JobReleases::Flusher => 9,
    };
    let own = &scenario.jobs[job];
    let mut outstanding: Vec<u64> = Vec::new();
    let mut others: Vec<Other> = Vec::new();
    for (number, other) in scenario.jobs.iter().enumerate() {
        let several = depth(other) - usize::from(number == job);
        let services: Vec<u64> = costs(number);
        let all: u64 = services.iter().sum();
        let apart = match other.releases {
            JobReleases::Every { period, jitter } => period.as_ns() - jitter.as_ns(),
            JobReleases::Closed { think, .. } => {
                think.as_ns() + all - scenario.host.turnaround.as_ns() * services.len() as u64
            }
            JobReleases::WriteBack(written) => written.flush.as_ns(),
            JobReleases::Flusher => panic!("none is drawn"),
        };
        for _ in 0..several {
            outstanding.extend(&services);
            if other.class == Class::RealTime && level(other) <= level(own) {
                others.push((level(other), all, apart));
            }
        }
    }
    outstanding.sort_unstable();
    let inside: u64 = outstanding.iter().rev().take(k2.max_inflight.min(emmc.depth) as usize).sum();
    let services = costs(job);
    let (all, last): (u64, u64) = (services.iter().sum(), *services.last()?);
    let least = |arrived: &dyn Fn(u64, &Other) -> u64| {
        let mut s = 0;
        loop {
            let next = inside + all - last + others.iter().map(|other| arrived(s, other) * other.1).sum::<u64>();
            if next == s {
                return Some(s + last);
            }
            if next > 1_000_000 {
                return None;
            }
            s = next;
        }
    };
    let one = least(&|s, other| s / other.2 + 1);
    let other = least(&|s, other| if other.0 == level(own) { 1 } else { s / other.2 + 2 });
    one.into_iter().chain(other).min()
}

/// No run exceeds a bound, the bound is what the formula says, and each term is needed: without it
/// some run exceeds it. So does some run a bound that is 3 % less.
#[test]
fn no_latency_exceeds_a_bound() {
    let mut ratios = Vec::new();
    let (mut looser, mut compared) = (0, 0);
    let mut exceeded = [0_u32; Without::TERMS.len()];
    for seed in 0..cases(RUNS) {
        let scenario = scenario(seed);
        let bounds = bounds(&scenario);
        let bounded: Vec<(usize, u64)> =
            bounds.iter().filter_map(|bound| Some((bound.job, bound.terms.as_ref().ok()?.bound().as_ns()))).collect();
        let longest = searched(&scenario, &bounds, seed, 25);
        for (&(job, bound), &longest) in bounded.iter().zip(&longest) {
            ratios.push(longest as f64 / bound as f64);
            // A window of a device that is nearly full takes more steps than the plain form goes.
            if !sums::is_plain(&scenario) || bound >= 100_000 {
                continue;
            }
            assert_eq!(Some(bound), sums::plain(&scenario, job, Without::Nothing), "seed {seed}, job {job}");
            for (without, exceeded) in Without::TERMS.into_iter().zip(&mut exceeded) {
                *exceeded += u32::from(sums::plain(&scenario, job, without).is_some_and(|less| less < longest));
            }
            if is_common(&scenario)
                && let Some(h1) = plain_h1(&scenario, job)
            {
                compared += 1;
                looser += u32::from(bound > h1);
            }
        }
    }
    ratios.sort_by(f64::total_cmp);
    let (median, most) = (ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
    eprintln!(
        "{} bounds, median {median}, most {most}; {looser} of {compared} looser than H1; without {:?}",
        ratios.len(),
        Without::TERMS.iter().zip(exceeded).collect::<Vec<_>>()
    );
    assert!(looser * 100 <= compared, "{looser} of {compared}");
    assert!(ratios.len() > 600 && median >= 0.7 && most >= 0.99, "{} {median} {most}", ratios.len());
    assert!(exceeded.iter().all(|&exceeded| exceeded > 0), "{exceeded:?}");
}

const RUNS: u64 = 500;

/// Whether the common form of H1 speaks of a scenario.
fn is_common(scenario: &Scenario) -> bool {
    let HostDevice::Emmc(emmc) = &scenario.device else { panic!("an eMMC") };
    let slow = [emmc.slow, emmc.read.slow, emmc.write.slow].iter().any(Option::is_some);
    let written = scenario.jobs.iter().any(|job| matches!(job.releases, JobReleases::WriteBack(_)));
    !(scenario.host.merge || slow || written)
}

/// Reads of `kib` KiB that cost 1 us and 3 us each KiB, one command at a time.
fn reader(level: u8, kib: u64, releases: JobReleases, phase: u64) -> Job {
    Job {
        name: format!("level {level}"),
        op: Op::Read,
        pattern: JobPattern::Sequential,
        from: 0,
        span: None,
        size: kib << 10,
        class: Class::RealTime,
        level,
        cpu: 0,
        user_centric: false,
        is_async: false,
        releases,
        phase: at(phase),
        count: None,
        until: None,
        pace: None,
        ..Job::default()
    }
}

fn readers(jobs: Vec<Job>) -> Scenario {
    let cost = EmmcCost { first: Span::from_us(1), next: Span::from_us(1), per_kib: Span::from_us(3), slow: None };
    Scenario {
        device: HostDevice::Emmc(Box::new(Emmc {
            attach: Attach::default(),
            depth: 1,
            read: cost,
            write: cost,
            discard: None,
            cache: None,
            slow: None,
        })),
        host: Host {
            cpus: 1,
            max_sectors: 1_280 << 10,
            requests: 1_000,
            turnaround: Span::ZERO,
            merge: false,
            ..Host::default()
        },
        scheduler: SchedulerSettings::K2(K2Settings { max_inflight: 1, ..K2Settings::k2() }),
        jobs,
        duration: at(1_000_000),
        warmup: Instant::START,
    }
}

fn every(us: u32) -> JobReleases {
    JobReleases::Every { period: Span::from_us(us), jitter: Span::ZERO }
}

const LOOP: JobReleases = JobReleases::Closed { depth: 1, think: Span::ZERO };

fn found(scenario: &Scenario) -> Vec<Result<u64, Why>> {
    bounds(scenario).into_iter().map(|bound| bound.terms.map(|terms| terms.bound().as_ns())).collect()
}

fn longest(scenario: &Scenario, job: usize) -> u64 {
    run(scenario, 1).expect("a short run")[job].latencies.max().expect("some I/Os")
}

/// If no other command is as long as an own request, H1 leaves out that the own one before may have
/// been inside when the others began to wait.
#[test]
fn the_own_request_before_counts() {
    let scenario = readers(vec![reader(3, 3, LOOP, 0), reader(1, 1, every(15), 1), reader(2, 1, every(18), 1)]);
    let h1 = plain_h1(&scenario, 0).expect("it ends");
    let (longest, found) = (longest(&scenario, 0), found(&scenario));
    assert!(longest > h1, "{longest} {h1}");
    let without = sums::plain(&scenario, 0, Without::Earlier);
    assert!(without.is_some_and(|without| longest > without), "{longest} {without:?}");
    assert!(found[0].as_ref().is_ok_and(|&bound| longest <= bound), "{longest} {found:?}");
}

/// By hand: a write of 22 us may just have begun, two reads of 4 us go ahead, and its own takes 10
/// us.
#[test]
fn a_bound_that_is_reached() {
    let background = Job { class: Class::Idle, size: 7 << 10, ..reader(0, 7, LOOP, 0) };
    let early = |level, us| reader(level, 1, every(us), 44_001);
    let scenario = readers(vec![background, reader(3, 3, every(500), 44_001), early(1, 300), early(2, 400)]);
    assert_eq!(found(&scenario), [Ok(40_000), Ok(26_000), Ok(30_000)]);
    assert_eq!(longest(&scenario, 1), 39_999);
}

/// A scheduler that hands over what is real-time with something of another class in it.
#[derive(Debug)]
struct Merging(Box<dyn Scheduler>);

impl Scheduler for Merging {
    fn insert(&mut self, command: Command, now: Instant) {
        self.0.insert(command, now);
    }

    fn ask(&mut self, now: Instant) -> Option<Command> {
        let command = self.0.ask(now)?;
        Some(Command { size: command.size + if command.is_real_time() { 32 << 10 } else { 0 }, ..command })
    }

    fn completed(&mut self, command: &Command, now: Instant) {
        self.0.completed(command, now);
    }
}

#[test]
fn bounds_break_with_what_they_suppose() {
    let background = |size: u64, depth| Job {
        class: Class::Idle,
        size: size << 10,
        releases: JobReleases::Closed { depth, think: Span::ZERO },
        ..reader(0, 7, LOOP, 0)
    };
    let scenario = readers(vec![reader(0, 1, every(200), 30_001), background(7, 6)]);
    let Ok(bound) = found(&scenario)[0] else { panic!("no bound") };
    assert!(longest(&scenario, 0) <= bound);
    assert!(broken(&scenario, &scenario).is_empty());
    // Tags.
    let mut few = scenario.clone();
    few.host.requests = 3;
    assert!(longest(&few, 0) > bound);
    assert_eq!(broken(&scenario, &few), ["tags", "bounds"]);
    assert_eq!(found(&few), [Err(Why::Tags { wanted: Some(7), there: 3 })]);
    // As many inside as was said.
    let mut more = scenario.clone();
    more.scheduler = SchedulerSettings::K2(K2Settings { max_inflight: 3, ..K2Settings::k2() });
    more.device = HostDevice::Emmc(Box::new(Emmc {
        attach: Attach::default(),
        depth: 3,
        ..match more.device {
            HostDevice::Emmc(emmc) => *emmc,
            _ => panic!("an eMMC"),
        }
    }));
    assert!(longest(&more, 0) > bound);
    assert_eq!(broken(&scenario, &more), ["inside", "bounds"]);
    // Each I/O over before the next one.
    let mut often = scenario.clone();
    often.jobs[0].releases = every(3);
    assert!(longest(&often, 0) > bound);
    assert_eq!(broken(&scenario, &often), ["one-pending", "bounds"]);
    let late = Why::Late { job: "level 0".into(), takes: Ok(ns(bound)), apart: Span::from_us(3) };
    let digits = Why::Late { job: "x".into(), takes: Ok(ns(242_777_179)), apart: Span::from_us(3) };
    assert!(digits.to_string().contains(" may take 243ms,"), "{digits}");
    assert_eq!(found(&often), [Err(late)]);
    // Nothing of another class in a request.
    let merging = || Box::new(Merging(scenario.scheduler.scheduler()));
    let reports = run_by(&scenario, merging(), 1, &mut ()).expect("a short run");
    assert!(reports[0].latencies.max().is_some_and(|max| max > bound));
    assert_eq!(broken_by(&scenario, merging(), &scenario), ["classes-apart", "bounds"]);
}

/// A scheduler that keeps what is real-time.
#[derive(Debug)]
struct Keeping(Box<dyn Scheduler>);

impl Scheduler for Keeping {
    fn insert(&mut self, command: Command, now: Instant) {
        if !command.is_real_time() {
            self.0.insert(command, now);
        }
    }

    fn ask(&mut self, now: Instant) -> Option<Command> {
        self.0.ask(now)
    }

    fn completed(&mut self, command: &Command, now: Instant) {
        self.0.completed(command, now);
    }
}

/// A command that is open at the end of a run is late if it is older than its bound.
#[test]
fn a_bound_breaks_with_what_does_not_end() {
    let scenario = |phase| readers(vec![reader(0, 1, every(900), phase)]);
    let Ok(bound) = found(&scenario(0))[0] else { panic!("no bound") };
    let broken = |phase| {
        let scenario = scenario(phase);
        broken_by(&scenario, Box::new(Keeping(scenario.scheduler.scheduler())), &scenario)
    };
    assert_eq!(broken(1_000_000 - bound), Vec::<&str>::new());
    assert_eq!(broken(1_000_000 - bound - 1), ["bounds"]);
    let reports = run_by(&scenario(600_000), Box::new(Keeping(scenario(0).scheduler.scheduler())), 1, &mut ());
    assert_eq!(reports.map(|of| (of[0].open, of[0].oldest)), Ok((1, ns(400_000))));
}

#[test]
fn jobs_without_bounds() {
    let bounded = readers(vec![reader(0, 1, every(200), 0), reader(1, 3, LOOP, 0)]);
    assert!(found(&bounded).iter().all(Result::is_ok));
    let mut other = bounded.clone();
    other.scheduler = SchedulerSettings::named("kyber").expect("a scheduler");
    assert_eq!(found(&other), vec![Err(Why::Scheduler { name: "kyber" }); 2]);
    // The commands ahead of a loop need all the time that passes.
    let full = readers(vec![reader(0, 3, LOOP, 0), reader(1, 1, LOOP, 0), reader(1, 1, LOOP, 0)]);
    assert_eq!(
        found(&full)[1..],
        [Err(Why::Overload { thousandths: 1_000 }), Err(Why::Overload { thousandths: 1_000 })]
    );
    assert!(found(&full)[0].is_ok());
    // A writer that is not real-time and writes more than the device does: its I/Os pile up until
    // the tags are gone.
    let mut piling = bounded.clone();
    piling.jobs.push(Job { class: Class::BestEffort, ..reader(0, 3, every(5), 0) });
    piling.host.requests = 64;
    assert_eq!(found(&piling)[0], Err(Why::Tags { wanted: Some(203), there: 64 }));
    piling.host.requests = 203;
    assert!(found(&piling).iter().all(Result::is_ok));
    assert!(found(&readers(vec![])).is_empty());
}

/// A scenario's longest latencies beside its bounds, if it has such.
fn beside(text: &str) -> Vec<(Option<u64>, Result<u64, Why>)> {
    let scenario = read_scenario(text, None).expect("a scenario");
    let reports = run(&scenario, 1).expect("a short run");
    let longest = |job: usize| reports[job].latencies.max();
    let bounds = bounds(&scenario).into_iter();
    bounds.map(|bound| (longest(bound.job), bound.terms.map(|terms| terms.bound().as_ns()))).collect()
}

/// Two writers of 12 KiB touch; what becomes of their second requests is 8 KiB long, and the first
/// of no I/O.
#[test]
fn what_is_merged_may_be_the_first_of_no_io() {
    let scenario = |first: &str, next: &str, phase: &str| {
        let cost = format!(r#"{{ "first": "{first}", "next": "{next}", "per_kib": "10us" }}"#);
        let writer = |name: &str, from: &str| {
            format!(
                r#"{{ "name": "{name}", "op": "write", "size": "12KiB", "from": "{from}", "span": "12KiB", "every": "10ms" }}"#
            )
        };
        format!(
            r#"{{ "device": {{ "kind": "emmc", "read": {cost}, "write": {cost} }},
            "host": {{ "max_sectors": "8KiB", "merge": true }}, "scheduler": {{ "name": "k2", "max_inflight": 1 }},
            "jobs": [ {{ "name": "rt", "op": "read", "size": "4KiB", "class": "rt", "level": 0, "every": "10ms",
                "phase": "{phase}", "from": "1GiB" }}, {}, {} ], "duration": "100ms" }}"#,
            writer("A", "0B"),
            writer("B", "4KiB")
        )
    };
    // 8 KiB that are no first take 580 us; the read 41 us.
    let text = scenario("1us", "500us", "170us");
    assert_eq!(beside(&text), [(Some(613_000), Ok(621_000))]);
    let slow_next = read_scenario(&text, None).expect("a scenario");
    let plain = |without| sums::plain(&slow_next, 0, without);
    assert_eq!(plain(Without::Nothing), Some(621_000));
    assert_eq!([Without::Next, Without::Merged].map(plain), [Some(581_000); 2]);
    let slow_first = beside(&scenario("500us", "1us", "10us"));
    assert!(matches!(slow_first[..], [(Some(max), Ok(1_120_000))] if max > 1_000_000), "{slow_first:?}");
}

/// A reader of the next level gets the device as soon as the one above it thinks.
#[test]
fn a_job_that_thinks_is_not_queued() {
    let scenario = |think: &str, turnaround: &str, hi: &str, size: &str, max_sectors: &str| {
        format!(
            r#"{{ "device": {{ "kind": "emmc", "depth": 1,
                "read": {{ "first": "234us", "next": "125us", "per_kib": "10400ns" }},
                "write": {{ "first": "680us", "next": "234us", "per_kib": "14300ns" }} }},
            "host": {{ "turnaround": "{turnaround}", "max_sectors": "{max_sectors}" }},
            "scheduler": {{ "name": "k2", "max_inflight": 1 }},
            "jobs": [ {{ "name": "hi", "op": "read", "size": "{hi}", "class": "rt", "level": 0, "think": "{think}", "span": "1GiB" }},
                {{ "name": "v", "op": "read", "size": "{size}", "class": "rt", "level": 1, "every": "50ms", "jitter": "20ms",
                    "phase": "7346us", "span": "1GiB" }},
                {{ "name": "w", "op": "write", "size": "4KiB", "depth": 2, "span": "1GiB" }} ], "duration": "5s" }}"#
        )
    };
    let close = |found: &[(Option<u64>, Result<u64, Why>)], bound: u64| {
        assert_eq!(found[1].1, Ok(bound));
        assert!(found[1].0.is_some_and(|max| 100 * max > 97 * bound && max <= bound), "{found:?}");
    };
    // A write of 737.2 us, an I/O of `hi` before each command of `v` of 275.6 us, the second one of
    // 166.6 us.
    for think in ["30us", "10us", "1ns"] {
        close(&beside(&scenario(think, "0us", "64KiB", "4KiB", "1280KiB")), 737_200 + 899_600 + 275_600);
        close(&beside(&scenario(think, "0us", "4KiB", "4KiB", "4KiB")), 737_200 + 275_600 + 275_600);
        let found = beside(&scenario(think, "0us", "4KiB", "8KiB", "4KiB"));
        assert_eq!(found[1].1, Ok(737_200 + 275_600 + 275_600 + 275_600 + 166_600), "{think}");
    }
    // It is queued again as soon as the device is free.
    for (think, turnaround) in [("0us", "0us"), ("10us", "10us")] {
        assert!(matches!(beside(&scenario(think, turnaround, "4KiB", "4KiB", "4KiB"))[1].1, Err(Why::Late { .. })));
    }
}

/// k2-ahead foretells ends, which a command that joins a batch can delay.
#[test]
fn k2_ahead_has_no_bound_on_drives_in_batches() {
    let cost = r#"{ "first": "378us", "next": "246us", "per_kib": "2531ns",
        "services": [{ "size": "128KiB", "ns": [400000, 899057] }] }"#;
    let found = |together: u32, scheduler: &str| {
        let text = format!(
            r#"{{ "device": {{ "kind": "measured", "attach": "usb", "depth": 4, "together": {together}, "each": "27us",
                "read": {cost}, "write": {cost} }}, "scheduler": "{scheduler}", "duration": "1s", "warmup": "0s",
                "jobs": [{{ "name": "rt", "op": "read", "pattern": "random", "span": "64MiB", "size": "32KiB",
                "class": "rt", "every": "26ms" }}] }}"#
        );
        bounds(&read_scenario(&text, None).expect("a scenario")).remove(0).terms
    };
    assert!(found(1, "k2-ahead").is_ok() && found(2, "k2").is_ok());
    assert_eq!(found(2, "k2-ahead"), Err(Why::Batches));
}
