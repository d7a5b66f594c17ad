//! Chains: steps that wait for each other, with think times and flushes, and their bounds.

use rtflash_host::bound::{Bound, bounds};
use rtflash_host::run::{
    ChainStep, ChainWork, HostDevice, Job, JobPattern, JobReleases, JobReport, RunEvent, Scenario, Watch, cut,
    read_scenario, run, run_watched,
};
use rtflash_host::scheduler::{Levels, SchedulerSettings};
use rtflash_host::{Class, Command, Op};
use rtflash_model::random::Stream;
use rtflash_model::{Instant, Span};
use rtflash_testkit::cases;

use crate::draws::ns;
use crate::{bounds, deadlines};

/// A device of which each read takes 10 µs and each write 20 µs, one at a time.
fn text(jobs: &str, duration: &str) -> String {
    format!(
        r#"{{ "device": {{ "kind": "emmc", "attach": "usb", "read": {{ "first": "10us", "next": "10us", "per_kib": "0us" }},
            "write": {{ "first": "20us", "next": "20us", "per_kib": "0us" }} }}, "host": {{ "max_sectors": "64KiB" }},
            "jobs": [{jobs}], "duration": "{duration}" }}"#
    )
}

fn scenario(jobs: &str, duration: &str) -> Scenario {
    let text = text(jobs, duration);
    read_scenario(&text, None).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"))
}

/// I/Os, the longest and the sum of all, in microseconds.
fn of(latencies: &rtflash_host::run::Latencies) -> (u64, u64, u64) {
    let sum = u64::try_from(latencies.sum()).expect("a short sum");
    (latencies.count(), latencies.max().unwrap_or(0) / 1_000, sum / 1_000)
}

/// A chain alone: the whole, and each step.
#[test]
fn latencies_by_hand() {
    const LOGGER: &str =
        r#"{ "op": "read", "size": "4KiB", "think": "5us" }, { "op": "write", "size": "4KiB" }, { "op": "flush" }"#;
    type Latency = (u64, u64, u64);
    let table: [(&str, String, Latency, &[Latency]); 6] = [
        ("closed", format!(r#""steps": [{LOGGER}], "think": "65us""#), (10, 35, 350), &[
            (10, 10, 100),
            (10, 20, 200),
            (10, 0, 0),
        ]),
        ("open", format!(r#""steps": [{LOGGER}], "every": "100us""#), (10, 35, 350), &[
            (10, 10, 100),
            (10, 20, 200),
            (10, 0, 0),
        ]),
        ("counted", format!(r#""steps": [{LOGGER}], "every": "100us", "count": 3"#), (3, 35, 105), &[
            (3, 10, 30),
            (3, 20, 60),
            (3, 0, 0),
        ]),
        // Times: I/Os one after the other, a think time between each two and before the next step.
        (
            "several",
            r#""steps": [{ "op": "read", "size": "4KiB", "times": 3, "think": "2us" }, { "op": "write", "size": "8KiB" }], "count": 1"#
                .into(),
            (1, 56, 56),
            &[(3, 10, 30), (1, 20, 20)],
        ),
        // The last think time is the job's.
        (
            "thinks",
            r#""steps": [{ "op": "flush", "think": "7us" }, { "op": "read", "size": "4KiB", "think": "1s" }], "think": "83us""#.into(),
            (10, 17, 170),
            &[(11, 0, 0), (10, 10, 100)],
        ),
        // Open chains overlap: the second one waits for the device at 20 and at 30 µs.
        (
            "overlapping",
            r#""steps": [{ "op": "write", "size": "4KiB" }, { "op": "write", "size": "4KiB" }], "every": "15us", "count": 2"#.into(),
            (2, 65, 125),
            &[(2, 25, 45), (2, 40, 80)],
        ),
    ];
    for (name, fields, whole, steps) in table {
        let scenario = scenario(&format!(r#"{{ "name": "a", {fields} }}"#), "1ms");
        let reports = run(&scenario, 1).expect("a short run");
        assert_eq!(of(&reports[0].latencies), whole, "{name}");
        let found: Vec<Latency> = reports[0].steps.iter().map(|step| of(&step.latencies)).collect();
        assert_eq!(found, steps, "{name}");
    }
}

#[test]
fn a_deadline_is_one_of_the_whole() {
    let chain = |deadline: &str| {
        // The think time of the last step is no part of a chain.
        let steps = r#"[{ "op": "read", "size": "4KiB" }, { "op": "write", "size": "4KiB", "think": "1s" }]"#;
        let fields = format!(r#""class": "rt", "every": "100us", "deadline": "{deadline}""#);
        scenario(&format!(r#"{{ "name": "a", "steps": {steps}, {fields} }}"#), "1ms")
    };
    for (deadline, late) in [("30us", 0), ("29us", 10), ("19us", 10)] {
        let scenario = chain(deadline);
        assert_eq!(run(&scenario, 1).expect("a short run")[0].late, late, "{deadline}");
        let found = bounds(&scenario);
        assert_eq!(found[0].terms.as_ref().map(|terms| terms.bound()), Ok(ns(30_000)));
        assert_eq!(found[0].is_in_time(&scenario), Some(late == 0));
    }
}

/// I/Os of a step lie where it says, whatever others do.
#[test]
fn each_step_has_its_places() {
    struct Places(Vec<Vec<u64>>);
    impl Watch for Places {
        fn see(&mut self, _: Instant, what: &RunEvent<'_>) {
            if let RunEvent::Queued { command, .. } = what {
                let at = [Op::Read, Op::Write, Op::Discard].iter().position(|&op| op == command.op);
                self.0[at.expect("an operation of a step")].push(command.from);
            }
        }
    }
    let steps = r#"[{ "op": "read", "size": "4KiB", "pattern": "shuffled", "span": "32KiB", "times": 4 },
        { "op": "write", "size": "8KiB", "from": "1MiB", "span": "20KiB" },
        { "op": "discard", "size": "4KiB", "pattern": "shuffled", "span": "32KiB", "times": 4 }]"#;
    let mut places = Places(vec![Vec::new(); 3]);
    run_watched(&scenario(&format!(r#"{{ "name": "a", "steps": {steps}, "count": 4 }}"#), "1ms"), 1, &mut places)
        .expect("a short run");
    let [reads, writes, discards] = &places.0[..] else { panic!("three operations") };
    // Two chains read each of eight places once, in two orders.
    for round in reads.chunks(8) {
        let mut round = round.to_vec();
        round.sort_unstable();
        assert_eq!(round, (0..8).map(|place| place << 12).collect::<Vec<u64>>());
    }
    assert_ne!(reads[..8], reads[8..]);
    // Each step has orders of its own.
    assert_ne!(reads, discards);
    // A third write of 8 KiB does not fit into 20 KiB.
    let begin = 1 << 20;
    assert_eq!(writes[..], [begin, begin + (8 << 10), begin, begin + (8 << 10)]);
    // Random places of a step are none of the other one's, in any chain.
    let steps = r#"[{ "op": "read", "size": "4KiB", "pattern": "random", "span": "1GiB" },
        { "op": "write", "size": "4KiB", "pattern": "random", "span": "1GiB" }]"#;
    let mut places = Places(vec![Vec::new(); 3]);
    run_watched(&scenario(&format!(r#"{{ "name": "a", "steps": {steps}, "count": 8 }}"#), "1ms"), 1, &mut places)
        .expect("a short run");
    let [reads, writes, _] = &places.0[..] else { panic!("three operations") };
    assert!(reads.len() == 8 && writes.len() == 8 && reads.iter().all(|from| !writes.contains(from)));
}

/// Chains of one read of 10 µs follow each other. An overhead of 5 µs is between two of them, and
/// ends before the warm-up do not count.
#[test]
fn chains_have_the_overhead_and_the_warmup() {
    let counts = |host: &str, warmup: &str| {
        let text = text(r#"{ "name": "a", "steps": [{ "op": "read", "size": "4KiB" }] }"#, "100us")
            .replace(r#""64KiB""#, &format!(r#""64KiB"{host}"#))
            .replace(r#""100us""#, &format!(r#""100us", "warmup": "{warmup}""#));
        let scenario = read_scenario(&text, None).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
        let report = run(&scenario, 1).expect("a short run").remove(0);
        (report.latencies.count(), report.steps[0].latencies.count())
    };
    assert_eq!(counts("", "0us"), (10, 10));
    assert_eq!(counts(r#", "overhead": "5us""#, "0us"), (7, 7));
    assert_eq!(counts("", "55us"), (5, 5));
}

#[test]
fn faults_are_named() {
    const READ: &str = r#"{ "op": "read", "size": "4KiB" }"#;
    let table = [
        (r#""steps": []"#.to_owned(), "0 entries"),
        (r#""steps": [{ "op": "flush" }]"#.into(), "a chain without an I/O"),
        (r#""steps": [{ "op": "flush", "size": "4KiB" }]"#.into(), "a flush has no place and no size"),
        (r#""steps": [{ "op": "read" }]"#.into(), "missing field `size`"),
        (r#""steps": [{ "op": "read", "size": "4KiB", "pattern": "random" }]"#.into(), "a random step without `span`"),
        (r#""steps": [{ "op": "read", "size": "4KiB", "times": 20000 }]"#.into(), "a chain of 20000 I/Os"),
        (format!(r#""steps": [{READ}], "size": "4KiB""#), "`size` of a job with `steps`"),
        (format!(r#""steps": [{READ}], "depth": 2"#), "`depth` of a job with `steps`"),
        (format!(r#""steps": [{READ}], "rate": "1MB""#), "`rate` of a job with `steps`"),
    ];
    for (fields, problem) in table {
        let wrong = read_scenario(&text(&format!(r#"{{ "name": "a", {fields} }}"#), "1ms"), None);
        let wrong = wrong.expect_err("a fault").to_string();
        assert!(wrong.contains(problem), "{fields}: {wrong}");
    }
}

/// Some jobs become chains: the first one, and others unless the window by hand is to cover these.
fn chained(rng: &mut Stream, mut scenario: Scenario) -> Scenario {
    let is_plain = rng.within(0, 1) == 0;
    if is_plain {
        scenario.host.merge = false;
        if let HostDevice::Emmc(emmc) = &mut scenario.device {
            (emmc.slow, emmc.read.slow, emmc.write.slow) = (None, None, None);
        }
    }
    for at in 0..scenario.jobs.len() {
        let job = &mut scenario.jobs[at];
        if at > 0 && is_plain && !matches!(job.releases, JobReleases::Closed { .. }) {
            job.releases = JobReleases::Closed { depth: 1, think: ns(rng.one_of(&[0, 60, 400, 2_000])) };
        }
        if at > 0 && (is_plain || rng.within(0, 1) == 0) {
            continue;
        }
        let real_time = job.class == Class::RealTime;
        let mut steps = Vec::new();
        for _ in 0..rng.within(1, 3) {
            let work = match rng.within(0, 6) {
                0 => ChainWork::Flush,
                _ => ChainWork::Io { op: rng.one_of(&[Op::Read, Op::Write]), size: rng.within(1, 9) << 10 },
            };
            let think = ns(rng.one_of(&[0, 0, 1, 60, 300]));
            let from = rng.one_of(&[0, 4, 8]) << 10;
            let (pattern, times) = (JobPattern::Sequential, rng.one_of(&[1, 1, 1, 2]));
            steps.push(ChainStep { work, pattern, from, span: Some(32 << 10), times, think, fua: false });
        }
        steps.push(ChainStep {
            work: ChainWork::Io { op: Op::Read, size: rng.within(1, 9) << 10 },
            pattern: JobPattern::Sequential,
            from: 0,
            span: None,
            times: 1,
            think: Span::ZERO,
            fua: false,
        });
        job.steps = steps;
        job.releases = match rng.within(0, 2) {
            0 => JobReleases::Every { period: ns(rng.within(1_500, 6_000)), jitter: ns(rng.one_of(&[0, 60])) },
            _ => {
                JobReleases::Closed { depth: 1, think: ns(rng.one_of(&[0, 50, 300, if real_time { 900 } else { 0 }])) }
            }
        };
    }
    scenario
}

/// No chain, no step and no job beside them exceeds a bound. Some run comes near to one.
#[test]
fn no_chain_exceeds_a_bound() {
    let mut exceeded = [0_u32; Without::TERMS.len()];
    for (name, of) in [("queues", bounds::scenario as fn(u64) -> Scenario), ("by position", deadlines::scenario)] {
        let (mut ratios, mut windows, mut by_hand) = (Vec::new(), 0, 0);
        for seed in 0..cases(RUNS) {
            let mut rng = Stream::numbered(seed, b"h-chains", 0);
            let scenario = chained(&mut rng, of(seed));
            let found = bounds(&scenario);
            let bounded: Vec<&Bound> = found.iter().filter(|bound| bound.terms.is_ok()).collect();
            let longest = bounds::searched(&scenario, &found, seed, 12);
            for (bound, &longest) in bounded.iter().zip(&longest).filter(|(bound, _)| !bound.steps.is_empty()) {
                let terms = bound.terms.as_ref().expect("a bound").bound().as_ns();
                let sum = sum_of_steps(&scenario, bound);
                assert!(terms <= sum, "{name}, seed {seed}");
                windows += u32::from(terms < sum);
                ratios.push(longest as f64 / terms as f64);
                if let Some(joint) = window(&scenario, bound.job, Without::Nothing) {
                    by_hand += 1;
                    assert_eq!(terms, joint.min(sum), "{name}, seed {seed}, job {}: {scenario:#?}", bound.job);
                    for (without, exceeded) in Without::TERMS.into_iter().zip(&mut exceeded) {
                        let less = window(&scenario, bound.job, without);
                        *exceeded += u32::from(less.is_some_and(|less| less < longest));
                    }
                }
            }
        }
        ratios.sort_by(f64::total_cmp);
        let (number, most) = (ratios.len(), ratios[ratios.len() - 1]);
        eprintln!(
            "{name}: {number} bounds, {windows} by a window, {by_hand} by hand, most {most}; without {exceeded:?}"
        );
        assert!(number > 100 && windows > 20 && by_hand > 10 && most > 0.99, "{name}");
    }
    assert!(exceeded.iter().all(|&exceeded| exceeded > 0), "{exceeded:?}");
}

const RUNS: u64 = 200;

/// The longest time of all I/Os of a chain, by the bounds of its steps.
fn sum_of_steps(scenario: &Scenario, bound: &Bound) -> u64 {
    let steps = &scenario.jobs[bound.job].steps;
    let ios = bound.steps.iter().map(|(at, terms)| u64::from(steps[*at].times) * terms.bound().as_ns());
    ios.sum::<u64>() + thinks(&scenario.jobs[bound.job])
}

fn thinks(job: &Job) -> u64 {
    let all = job.steps.iter().map(|step| u64::from(step.times) * step.think.as_ns()).sum::<u64>();
    all - job.steps.last().expect("steps").think.as_ns()
}

/// A term of the window that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Without {
    Nothing,
    /// Commands inside as any step but the first is released.
    Inside,
    /// The think times.
    Thinks,
    /// Commands of others of the class.
    Others,
    /// The own I/Os but the last one.
    Own,
}

impl Without {
    const TERMS: [Without; 4] = [Without::Inside, Without::Thinks, Without::Others, Without::Own];
}

/// The window of docs/host.md, nothing clever in it, in nanoseconds; `None` where others are more
/// than it covers: chains, places that pile up, merging, slow episodes, and requests that get old.
fn window(scenario: &Scenario, job: usize, without: Without) -> Option<u64> {
    let HostDevice::Emmc(emmc) = &scenario.device else { return None };
    let is_slow = [emmc.slow, emmc.read.slow, emmc.write.slow].iter().any(Option::is_some);
    let others = || scenario.jobs.iter().enumerate().filter(|&(at, _)| at != job);
    let covers = |other: &Job| !other.is_chain() && matches!(other.releases, JobReleases::Closed { .. });
    if is_slow || scenario.host.merge || others().any(|(_, other)| !covers(other)) {
        return None;
    }
    let (x, by_position) = match scenario.scheduler {
        SchedulerSettings::K2(k2) if k2.max_inflight_rest.is_none() => (k2.max_inflight.min(emmc.depth), false),
        SchedulerSettings::None => (emmc.depth, false),
        SchedulerSettings::MqDeadline(of) if of.prio_aging_expire.as_ns() > 8_000 => (emmc.depth, true),
        _ => return None,
    };
    let queue = |job: &Job| match scenario.scheduler {
        SchedulerSettings::None => 0,
        SchedulerSettings::K2(k2) if job.is_real_time() && k2.levels == Levels::One => 0,
        SchedulerSettings::K2(_) if job.is_real_time() => job.level,
        _ if job.is_real_time() => 0,
        _ => 8,
    };
    // A job's commands for an I/O, each with its turnaround.
    let turnaround = scenario.host.turnaround.as_ns();
    let costs = |whole: Command| -> Vec<u64> {
        let scheduler = scenario.scheduler.scheduler();
        let pieces = scenario
            .requests(whole)
            .flat_map(|request| cut(request, scheduler.piece(&request).unwrap_or(request.size)).collect::<Vec<_>>());
        pieces.enumerate().map(|(at, piece)| emmc.service(&piece, at == 0).as_ns() + turnaround).collect()
    };
    // By position any command can be the first one, and the last one is the shortest.
    if by_position && scenario.jobs.iter().flat_map(Job::ios).any(|io| io.size > scenario.host.max_sectors) {
        return None;
    }
    let own = &scenario.jobs[job];
    let ios: Vec<Vec<u64>> = own
        .steps
        .iter()
        .filter_map(|step| Some((step.times, step.io()?)))
        .flat_map(|(times, io)| vec![costs(scenario.whole_of(job, io, 0).expect("an I/O")); times as usize])
        .collect();
    let number = ios.len() as u64;
    let last = ios.last()?.last()? - turnaround;
    let all = ios.iter().flatten().sum::<u64>() - number * turnaround + thinks(own);
    let mut lower = Vec::new();
    let mut higher = Vec::new();
    for (at, other) in others() {
        let JobReleases::Closed { depth, think } = other.releases else { return None };
        let commands = costs(scenario.whole(at, other.from).expect("an I/O"));
        let cost = commands.iter().sum::<u64>();
        let services = cost - commands.len() as u64 * turnaround;
        let places = u64::from(depth).min(other.count.unwrap_or(u64::MAX));
        if queue(other) > queue(own) {
            (0..places).for_each(|_| lower.extend(&commands));
        } else {
            let is_equal = queue(other) == queue(own) && !by_position;
            let most = if is_equal { number * places } else { u64::MAX }.min(other.count.unwrap_or(u64::MAX));
            higher.push((cost, places, most, services, think.as_ns() + services));
        }
    }
    lower.sort_unstable();
    let inside = lower.iter().rev().take(x as usize).sum::<u64>();
    let mut fixed = inside * if without == Without::Inside { 1 } else { number } + all - last;
    match without {
        Without::Thinks => fixed -= thinks(own),
        Without::Own => fixed -= all - last - thinks(own),
        _ => {}
    }
    let mut s = fixed;
    for _ in 0..10_000 {
        let sent = higher
            .iter()
            .map(|(cost, places, most, services, apart)| cost * (((s + services) / apart + 1) * places).min(*most));
        let next = fixed + if without == Without::Others { 0 } else { sent.sum() };
        if next == s {
            return Some(s + last);
        }
        s = next;
    }
    None
}

/// Reports of the whole command carry the steps in order.
#[test]
fn reports_have_a_line_for_each_step() {
    let steps = r#"[{ "op": "write", "size": "4KiB" }, { "op": "flush" }, { "op": "read", "size": "8KiB" }]"#;
    let reports = run(&scenario(&format!(r#"{{ "name": "a", "steps": {steps} }}"#), "1ms"), 1).expect("a run");
    let names = |report: &JobReport| report.steps.iter().map(|step| step.op).collect::<Vec<_>>();
    assert_eq!(names(&reports[0]), ["write", "flush", "read"]);
    assert_eq!((reports[0].bytes, reports[0].latencies.count()), (33 * (12 << 10), 33));
}
