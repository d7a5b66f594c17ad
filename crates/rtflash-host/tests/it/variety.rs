//! Jobs of several kinds of I/Os, with paces, bursts, chance, and waits for other jobs.

use rtflash_host::bound::{Why, bounds};
use rtflash_host::run::{JobReport, RunEvent, Scenario, Watch, read_scenario, run_watched};
use rtflash_host::{Command, Op};
use rtflash_model::Instant;

/// A device in front of which nothing waits for long: 10 µs a read, 20 µs a write.
fn scenario(scheduler: &str, jobs: &str) -> Scenario {
    let text = format!(
        r#"{{ "device": {{ "kind": "emmc", "depth": 64, "read": {{ "first": "10us", "next": "10us", "per_kib": "0us" }},
            "write": {{ "first": "20us", "next": "20us", "per_kib": "0us" }} }}, "host": {{ "max_sectors": "64KiB", "requests": 1024 }},
            "scheduler": {scheduler}, "jobs": [{jobs}], "duration": "1s" }}"#
    );
    read_scenario(&text, None).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"))
}

/// Releases of each job, in microseconds, and its commands.
#[derive(Default)]
struct Seen {
    released: Vec<Vec<u64>>,
    commands: Vec<Vec<Command>>,
}

impl Watch for Seen {
    fn see(&mut self, now: Instant, what: &RunEvent<'_>) {
        match *what {
            RunEvent::Released { job, .. } => self.released[job].push(now.as_ns() / 1_000),
            RunEvent::Queued { command, .. } => self.commands[command.job as usize].push(*command),
            _ => {}
        }
    }
}

fn ran(scenario: &Scenario) -> (Seen, Vec<JobReport>) {
    let number = scenario.jobs.len();
    let mut seen = Seen { released: vec![Vec::new(); number], commands: vec![Vec::new(); number] };
    let reports = run_watched(scenario, 3, &mut seen).expect("a run");
    (seen, reports)
}

#[test]
fn a_mix_is_drawn_by_its_shares() {
    let mix = r#"{ "name": "a", "mix": [ { "op": "read", "size": "4KiB", "share": 3 }, { "op": "write", "size": "8KiB" } ],
        "pattern": "random", "span": "1MiB", "depth": 4 }"#;
    let (seen, reports) = ran(&scenario(r#""none""#, mix));
    let writes: Vec<&Command> = seen.commands[0].iter().filter(|command| command.op == Op::Write).collect();
    let share = writes.len() as f64 / seen.commands[0].len() as f64;
    assert!((share - 0.25).abs() < 0.005, "{share}");
    assert!(writes.iter().all(|write| write.size == 8_192 && write.from % 8_192 == 0 && write.from < 1 << 20));
    let bytes: u64 = seen.commands[0].iter().map(|command| command.size).sum();
    assert!(u128::from(bytes) - reports[0].bytes <= 4 * 8_192, "{bytes} {}", reports[0].bytes);
}

#[test]
fn poisson_arrivals_have_their_mean_and_are_independent() {
    let jobs = r#"{ "name": "open", "op": "read", "size": "4KiB", "every": "100us", "arrivals": "poisson" },
        { "name": "paced", "op": "read", "size": "4KiB", "depth": 64, "rate_iops": 5000, "arrivals": "poisson" }"#;
    let (seen, _) = ran(&scenario(r#""none""#, jobs));
    for (released, mean) in seen.released.iter().zip([100.0, 200.0]) {
        let gaps: Vec<f64> = released.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let number = gaps.len() as f64;
        let found = gaps.iter().sum::<f64>() / number;
        let variance = gaps.iter().map(|gap| (gap - found).powi(2)).sum::<f64>() / number;
        assert!((found / mean - 1.0).abs() < 0.06, "{found} and {mean}");
        // An exponential time has a coefficient of variation of 1.
        assert!((variance.sqrt() / found - 1.0).abs() < 0.06, "{} and {found}", variance.sqrt());
    }
}

#[test]
fn a_burst_is_released_at_once() {
    let (seen, _) =
        ran(&scenario(r#""none""#, r#"{ "name": "a", "op": "read", "size": "4KiB", "every": "10ms", "burst": 5 }"#));
    let expected: Vec<u64> = (0..=100).flat_map(|period| [period * 10_000; 5]).collect();
    assert_eq!(seen.released[0], expected);
}

#[test]
fn a_job_begins_after_others_and_has_bandwidth_of_its_own_time() {
    let jobs = r#"{ "name": "a", "op": "read", "size": "4KiB", "count": 1000 },
        { "name": "b", "op": "write", "size": "4KiB", "until": "100ms", "phase": "50ms", "think": "3ms" },
        { "name": "c", "op": "read", "size": "4KiB", "after": ["a", "b"], "phase": "20ms", "until": "30ms" },
        { "name": "d", "op": "read", "size": "4KiB", "after": "c", "total": "40KiB", "ramp": "55us" }"#;
    let (seen, reports) = ran(&scenario(r#""none""#, jobs));
    // c begins when b's time is over, and its own time of 10 ms is as much later. So does d.
    assert_eq!((seen.released[2].first(), seen.released[2].last()), (Some(&100_000), Some(&109_990)));
    assert_eq!((seen.released[3].first(), seen.released[3].len()), (Some(&110_000), 10));
    assert_eq!(reports[0].bytes_per_s, 4_096 * 100_000);
    // The first five reads end in the ramp.
    assert_eq!((reports[3].latencies.count(), reports[3].span.as_ns()), (5, 45_000));
}

#[test]
fn a_job_thinks_after_several() {
    let (seen, _) = ran(&scenario(
        r#""none""#,
        r#"{ "name": "a", "op": "read", "size": "4KiB", "depth": 2, "think": "1ms", "think_after": 3, "count": 7 }"#,
    ));
    // Two I/Os begin at once, and one more as the first ends. Then all end, and so on.
    assert_eq!(seen.released[0], [0, 0, 10, 1_030, 1_030, 1_040, 2_060]);
}

/// No latency of real-time jobs with mixes and bursts exceeds its bound, and some reach it.
#[test]
fn mixes_and_bursts_keep_their_bounds() {
    let scheduler = r#"{ "name": "k2", "max_inflight": 1 }"#;
    let mut closest: f64 = 0.0;
    for (share, burst, think) in [(1, 1, "50us"), (9, 2, "100us"), (1, 3, "300us"), (3, 4, "10us")] {
        let jobs = format!(
            r#"{{ "name": "burst", "op": "read", "size": "4KiB", "every": "1ms", "burst": {burst}, "class": "rt", "level": 1 }},
                {{ "name": "mixed", "mix": [ {{ "op": "read", "size": "192KiB", "share": {share} }}, {{ "op": "write", "size": "64KiB" }} ],
                    "class": "rt", "level": 0, "think": "{think}" }},
                {{ "name": "rest", "op": "write", "size": "64KiB", "depth": 2, "class": "idle" }}"#
        );
        let scenario = scenario(scheduler, &jobs);
        let (_, reports) = ran(&scenario);
        for bound in bounds(&scenario) {
            let limit = bound.terms.as_ref().expect("a bound").bound().as_ns();
            let longest = reports[bound.job].latencies.max().expect("I/Os");
            assert!(longest <= limit, "{}: {longest} and {limit}", reports[bound.job].name);
            closest = closest.max(longest as f64 / limit as f64);
        }
    }
    assert!(closest > 0.6, "{closest}");
}

#[test]
fn chance_has_no_bound() {
    let jobs = r#"{ "name": "a", "op": "read", "size": "4KiB", "every": "1ms", "class": "rt" },
        { "name": "b", "op": "read", "size": "4KiB", "every": "1ms", "class": "rt", "arrivals": "poisson" }"#;
    let found = bounds(&scenario(r#"{ "name": "k2", "max_inflight": 1 }"#, jobs));
    assert!(found.iter().all(|bound| bound.terms == Err(Why::Chance { job: "b".into() })), "{found:?}");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let wrong = |job: &str| {
        let text = format!(
            r#"{{ "device": {{ "kind": "emmc", "read": {{ "first": "1us", "next": "1us", "per_kib": "0us" }},
                "write": {{ "first": "1us", "next": "1us", "per_kib": "0us" }} }}, "jobs": [{{ "name": "a", {job} }}], "duration": "1s" }}"#
        );
        read_scenario(&text, None).expect_err(job).to_string()
    };
    for (job, says) in [
        (r#""op": "read", "size": "4KiB", "mix": [{ "op": "read", "size": "4KiB" }]"#, "one of both"),
        (r#""mix": []"#, "from 1 to 4096"),
        (r#""op": "read", "size": "4KiB", "rate": "1MiB", "rate_iops": 5"#, "one of `every`, `rate` and `rate_iops`"),
        (r#""op": "read", "size": "4KiB", "arrivals": "poisson""#, "`every`, `rate` or `rate_iops` beside it"),
        (r#""op": "read", "size": "4KiB", "burst": 2"#, "`every` beside it"),
        (r#""op": "read", "size": "4KiB", "think_after": 2"#, "`think` beside it"),
        (r#""op": "read", "size": "4KiB", "after": "a""#, "no job before this one is called `a`"),
        (r#""op": "read", "size": "4KiB", "pattern": "shuffled""#, "a random job without `span`"),
        (r#""op": "read", "size": "4KiB", "from": ["0B", "18446744073709551615B"]"#, "stay below together"),
    ] {
        let found = wrong(job);
        assert!(found.contains(says), "`{says}` in {found}");
    }
}
